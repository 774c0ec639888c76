"""Documents as BSON, UUIDs included."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from uuid import UUID

import pytest
from bson import BSON, Binary, DatetimeMS, Decimal128, Int64, InvalidDocument

from gatewayfw.storage.documents import as_stored, bytes_of, encode


def test_a_uuid_is_encoded_as_the_database_holds_it():
    id_ = UUID(int=5)
    assert BSON(encode({"a": [id_]})).decode() == {"a": [Binary.from_uuid(id_)]}
    assert encode({"a": id_}) == encode({"a": Binary.from_uuid(id_)})


def test_what_bson_cannot_hold_is_refused():
    with pytest.raises(InvalidDocument):
        encode({"a": object()})
    with pytest.raises(OverflowError):
        encode({"a": 2**63})


@pytest.mark.parametrize(
    ("document", "size"), [({}, 5), ({"a": 1}, 12), ({"a": object()}, 0), ({"a": 2**64}, 0), ({"a": "\ud800"}, 0)]
)
def test_bytes_are_those_of_bson(document, size):
    assert bytes_of(document) == size


def test_a_copy_has_the_values_that_mongodb_returns():
    there = datetime(2026, 11, 22, 14, 0, 0, 1999, tzinfo=timezone(timedelta(hours=2)))
    given = {"a": (1, b"x"), "b": there, "c": {"d": [Decimal128("1.50"), 2**62]}, "e": DatetimeMS(2**50)}
    copy = as_stored(given)
    assert copy == {
        "a": [1, b"x"],
        "b": datetime(2026, 11, 22, 12, 0, 0, 1000),
        "c": {"d": [Decimal128("1.50"), Int64(2**62)]},
        "e": DatetimeMS(2**50),
    }
    assert copy["c"]["d"] is not given["c"]["d"]
