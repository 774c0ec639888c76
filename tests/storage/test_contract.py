"""The contract of storages, held by both bundled adapters."""

from __future__ import annotations

import pytest

from gatewayfw.testing.storage_suite import StorageContract


class TestBundledAdapters(StorageContract):
    @pytest.fixture
    def storage(self, storage):
        return storage
