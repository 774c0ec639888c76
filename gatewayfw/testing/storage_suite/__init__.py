"""The tests that every storage adapter must pass; run them on your own.

Needs nothing but pytest::

    import pytest
    from gatewayfw.testing.storage_suite import StorageContract

    class TestMyStorage(StorageContract):
        suite_version = 2

        @pytest.fixture
        def storage(self):
            with my_empty_database() as database:
                yield MyStorage(database)

What they hold an adapter to is written in `gatewayfw.storage.base` and `gatewayfw.storage.subset`.
An adapter without transactions fails some of them.

`suite_version` is the `VERSION` that the adapter was written for. A later gatewayfw may ask for more: then
`test_the_adapter_knows_this_version_of_the_suite` fails and says which rules are new.
"""

from __future__ import annotations

from typing import ClassVar

from gatewayfw.testing.storage_suite.deadlines import Deadlines
from gatewayfw.testing.storage_suite.filters import Filters
from gatewayfw.testing.storage_suite.indexes import Indexes
from gatewayfw.testing.storage_suite.locks import Locks
from gatewayfw.testing.storage_suite.reads import Reads
from gatewayfw.testing.storage_suite.transactions import Transactions
from gatewayfw.testing.storage_suite.uniqueness import Uniqueness
from gatewayfw.testing.storage_suite.updates import Updates
from gatewayfw.testing.storage_suite.version import VERSION, check_version
from gatewayfw.testing.storage_suite.writes import Writes

__all__ = ["VERSION", "StorageContract"]


class StorageContract(Indexes, Uniqueness, Deadlines, Transactions, Locks, Updates, Reads, Filters, Writes):
    """Subclass it in your tests: override `storage` and state `suite_version`."""

    #: The version of the suite that the adapter was written for; 0: not stated.
    suite_version: ClassVar[int] = 0

    def test_the_adapter_knows_this_version_of_the_suite(self) -> None:
        check_version(self.suite_version)
