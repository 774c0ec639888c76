"""Binary data: base64 in its one way, sizes in bytes."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from bson import Binary

from gatewayfw.schemas import binary, nullable
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.binary import BinaryField, bytes_of
from gatewayfw.schemas.kinds.sizes import BINARY, ENDLESS
from gatewayfw.schemas.structs import check_value
from tests.schemas.calls import checked, refusals
from tests.schemas.kinds.answers import answers, compared


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


BYTES = b"\x00\xff"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *((BYTES, BYTES), ("AP8=", BYTES), ("", b""), (b"", b""), (Binary(BYTES), BYTES), (Binary(BYTES, 5), None)),
        *(("AP8", None), ("AP9=", None), ("é", None), (5, None), (None, None), (bytearray(BYTES), None)),
    ],
)
def test_bytes_are_found_in_every_form(value: Any, found: Any) -> None:
    assert (bytes_of(value), type(bytes_of(value))) == (found, type(found))


def test_bytes_of_the_server_are_taken_and_dumped_as_text() -> None:
    assert [checked(binary(), BYTES, mode) for mode in ("assert", "create")] == [BYTES, BYTES]
    assert [binary().serialize("x", {"x": value}) for value in (BYTES, None)] == ["AP8=", None]
    assert check_value(nullable(binary()), None, "x") is None


def test_filters_compare_with_bytes() -> None:
    wrong = {"x": ["Not valid base64."]}
    assert compared(binary(size=1), "AP8=", BYTES, None, "AP8", 5) == [BYTES, BYTES, None, wrong, wrong]


def test_good_bytes_are_known_and_loaded_quickly() -> None:
    quick: Any = quick_of(binary(size=(1, 2)))
    given = ["AP8=", BYTES, "AAAA", "", "x", 5]
    assert [bool(quick.test(value)) for value in given] == [True, True, False, False, False, False]
    assert [quick.load(value) for value in ("AP8=", BYTES, "AP8", 5)] == [BYTES, BYTES, "AP8", 5]
    own = BinaryField(validate=lambda value: None)  # type: ignore[arg-type,return-value]  # a check
    assert own.quick_test(None) is None  # type: ignore[arg-type]  # it asks for nothing


def test_binary_data_is_as_large_as_it_may_be() -> None:
    common = {"sorts": False, "abilities": [], "sets parts": False, "reads_otherwise": True}
    assert answers(binary(size=5)) == {**common, "largest": BINARY + 5, "unstated": []}
    assert answers(binary()) == {**common, "largest": ENDLESS, "unstated": ["x"]}
    assert as_kind(binary(size=(1, 5))).description() == {"kind": "binary", "minBytes": 1, "maxBytes": 5}
