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

from collections.abc import Mapping
from typing import ClassVar

from gatewayfw.testing.storage_suite.indexes import Indexes
from gatewayfw.testing.storage_suite.locks import Locks
from gatewayfw.testing.storage_suite.reads import Reads
from gatewayfw.testing.storage_suite.transactions import Deadlines, Transactions
from gatewayfw.testing.storage_suite.writes import Writes

__all__ = ["VERSION", "StorageContract"]

#: version: what it asks for beyond the one before
RULES: Mapping[int, str] = {
    1: "everything of gatewayfw 0.1",
    2: "filters have $not, $nor, $all, $size, $regex, and $elemMatch on values; distinct, which has a default",
    3: "updates have $mul, $min, $max and $pop; $push has $position, $slice and $sort, by values or by one field",
    4: "aside, whose writes a transaction that fails does not undo",
    5: "unique indexes know each element of a list, sparse ones know null; ping, which has a default",
    6: "a positional path stands beside a $not on another path",
    7: "identities in place of dropped, and outside, both of which have a default",
    8: "filters have $type, by names",
    9: "find takes at_once and stored, in place of find_at_once and find_stored; it may pass over both",
}

VERSION = max(RULES)


class StorageContract(Indexes, Deadlines, Transactions, Locks, Reads, Writes):
    """Subclass it in your tests: override `storage` and state `suite_version`."""

    #: The version of the suite that the adapter was written for; 0: not stated.
    suite_version: ClassVar[int] = 0

    def test_the_adapter_knows_this_version_of_the_suite(self) -> None:
        """One that is not there yet passes: that adapter is newer than gatewayfw."""
        newer = "".join(f"\n  {version}: {rule}" for version, rule in RULES.items() if version > self.suite_version)
        assert not newer, f"state `suite_version = {VERSION}` once the adapter meets these rules, too:{newer}"
