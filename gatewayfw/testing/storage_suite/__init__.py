"""The tests that every storage adapter must pass; run them on your own.

Needs nothing but pytest::

    import pytest
    from gatewayfw.testing.storage_suite import StorageContract

    class TestMyStorage(StorageContract):
        @pytest.fixture
        def storage(self):
            with my_empty_database() as database:
                yield MyStorage(database)

What they hold an adapter to is written in `gatewayfw.storage.base` and `gatewayfw.storage.subset`.
An adapter without transactions fails some of them.
"""

from __future__ import annotations

from gatewayfw.testing.storage_suite.deadlines import Deadlines
from gatewayfw.testing.storage_suite.filters import Filters
from gatewayfw.testing.storage_suite.indexes import Indexes
from gatewayfw.testing.storage_suite.locks import Locks
from gatewayfw.testing.storage_suite.reads import Reads
from gatewayfw.testing.storage_suite.transactions import Transactions
from gatewayfw.testing.storage_suite.uniqueness import Uniqueness
from gatewayfw.testing.storage_suite.updates import Updates
from gatewayfw.testing.storage_suite.writes import Writes

__all__ = ["StorageContract"]


class StorageContract(Indexes, Uniqueness, Deadlines, Transactions, Locks, Updates, Reads, Filters, Writes):
    """Subclass it in your tests and override the fixture `storage`."""
