"""The contract of storages, held by both bundled adapters, and in memory on either library."""

from __future__ import annotations

import pytest

from gatewayfw.storage import MockStorage
from gatewayfw.testing.storage_suite import StorageContract


class TestBundledAdapters(StorageContract):
    @pytest.fixture
    def storage(self, storage):
        return storage


class TestMongomockNg(StorageContract):
    @pytest.fixture
    def storage(self):
        return MockStorage(pytest.importorskip("mongomock_ng").MongoClient().test)
