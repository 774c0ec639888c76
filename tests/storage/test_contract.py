"""The contract of storages, held by both bundled adapters, and in memory on either library."""

from __future__ import annotations

import pytest

from gatewayfw.storage import MockStorage
from gatewayfw.testing.storage_suite import VERSION, StorageContract


class TestBundledAdapters(StorageContract):
    suite_version = VERSION

    @pytest.fixture
    def storage(self, storage):
        return storage


class TestMongomockNg(StorageContract):
    suite_version = VERSION

    @pytest.fixture
    def storage(self):
        return MockStorage(pytest.importorskip("mongomock_ng").MongoClient().test)
