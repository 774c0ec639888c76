"""Documents as BSON, UUIDs included."""

from __future__ import annotations

from uuid import UUID

import pytest
from bson import BSON, Binary, InvalidDocument

from gatewayfw.storage.documents import encode


def test_a_uuid_is_encoded_as_the_database_holds_it():
    id_ = UUID(int=5)
    assert BSON(encode({"a": [id_]})).decode() == {"a": [Binary.from_uuid(id_)]}
    assert encode({"a": id_}) == encode({"a": Binary.from_uuid(id_)})


def test_what_bson_cannot_hold_is_refused():
    with pytest.raises(InvalidDocument):
        encode({"a": object()})
    with pytest.raises(OverflowError):
        encode({"a": 2**63})
