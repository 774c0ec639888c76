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

from gatewayfw.testing.storage_suite.indexes import Indexes
from gatewayfw.testing.storage_suite.locks import Locks
from gatewayfw.testing.storage_suite.reads import Reads
from gatewayfw.testing.storage_suite.transactions import Deadlines, Transactions
from gatewayfw.testing.storage_suite.writes import Writes

__all__ = ["StorageContract"]


class StorageContract(Indexes, Deadlines, Transactions, Locks, Reads, Writes):
    """Subclass it in your tests, and override `storage`."""
