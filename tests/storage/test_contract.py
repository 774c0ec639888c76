"""The contract of storages, held by both bundled adapters."""

from __future__ import annotations

import pytest

from gatewayfw.testing.storage_suite import VERSION, StorageContract


class TestBundledAdapters(StorageContract):
    suite_version = VERSION

    @pytest.fixture
    def storage(self, storage):
        return storage
