"""Binary data: base64 in its one way, sizes in bytes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from bson import Binary

from gatewayfw.schemas import binary
from gatewayfw.schemas.structs import check_value
from tests.schemas.calls import checked, refusals


@pytest.mark.parametrize("sent", ["AP8", "AP9=", "AP8=\n", "A P8=", "_-8=", "é", 5, None])
def test_binary_data_is_base64_in_its_one_way(sent: Any) -> None:
    text = "Field may not be null." if sent is None else "Not valid base64."
    assert [checked(binary(), sent, mode) for mode in ("assert", "create")] == [{"set.x": [text]}] * 2


def test_the_size_of_binary_data_counts_bytes() -> None:
    field = binary(size=(1, 2))
    assert [checked(field, "AP8=", mode) for mode in ("assert", "create")] == ["AP8=", b"\x00\xff"]
    assert checked(field, "AAAA", "assert") == {"set.x": ["Length must be between 1 and 2."]}
    assert check_value(field, b"\x00\xff", "x") == check_value(field, "AP8=", "x") == b"\x00\xff"
    assert refusals(check_value, field, Binary.from_uuid(UUID(int=1)), "x") == {"x": ["Not valid base64."]}
