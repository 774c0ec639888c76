"""Documents as BSON, also those that a database gives with UUIDs as such."""

from __future__ import annotations

from uuid import UUID

import bson
import pytest
from bson import Binary
from bson.errors import BSONError

from gatewayfw.storage.documents import encode


def test_a_uuid_is_encoded_as_it_is_stored():
    one = UUID(int=5)
    assert encode({"u": [one]}) == encode({"u": [Binary.from_uuid(one)]}) == bson.encode({"u": [Binary.from_uuid(one)]})


def test_what_bson_does_not_know_is_refused():
    with pytest.raises(BSONError):
        encode({"x": object()})
