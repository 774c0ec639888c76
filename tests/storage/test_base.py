"""What the interface itself promises, and what an adapter may leave as it is."""

from __future__ import annotations

import math
from inspect import signature

import mongomock
import pytest

from gatewayfw.errors import StorageError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import MANY_VALUES
from tests.storage.recording import RecordingStorage


@pytest.fixture
def plain():
    """An adapter with no more than the abstract methods, and three documents."""
    plain = RecordingStorage(MockStorage(mongomock.MongoClient().test))
    plain.insert("things", [{"_id": number, "n": -number, "list": [number]} for number in range(3)])
    return plain


def test_an_adapter_must_write_all_abstract_methods():
    class Half(Storage):
        def close(self):
            pass

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_an_adapter_has_what_it_does_not_say_otherwise(plain):
    assert plain.multi_process is True
    assert plain.most_bytes == 16_777_216
    assert plain.name == ""
    assert plain.trouble() is None
    assert plain.ping() is None
    assert Storage.transaction_lifetime(plain) is None
    assert [plain.in_transaction(), plain.counts_locks(), plain.is_closed()] == [False] * 3
    assert plain.aside(lambda: "result") == "result"
    assert plain.scope.reply_bytes is None
    assert plain.scope.remaining() == math.inf


def taken(adapter):
    """Return what the methods of the interface take, by name: each parameter, its kind and its default."""
    methods = [name for name, method in vars(Storage).items() if callable(method) and not name.startswith("_")]
    return {
        name: [(one.name, one.kind, one.default) for one in signature(getattr(adapter, name)).parameters.values()]
        for name in methods
    }


@pytest.mark.parametrize("adapter", [MockStorage, MongoStorage])
def test_adapters_take_what_the_interface_says(adapter):
    assert taken(adapter) == taken(Storage)


def test_distinct_values_are_refused_beyond_what_a_document_holds(plain):
    plain.most_bytes = 39  # what BSON of {"values": [0, 1, 2]} has: 5 + 8 + 5 + 3 * 7
    assert plain.distinct("things", "list", {"n": {"$lt": 0}}) == [1, 2]
    assert plain.distinct("things", "list", {}) == [0, 1, 2]
    plain.most_bytes = 38
    with pytest.raises(StorageError) as caught:
        plain.distinct("things", "list", {})
    assert caught.value.message == MANY_VALUES
