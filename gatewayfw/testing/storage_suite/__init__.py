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


def check_version(stated: int, rules: Mapping[int, str] = RULES) -> None:
    """Tell the author of an adapter which rules are newer than the adapter.

    A version that is not there yet passes: the adapter is newer than this gatewayfw.

    Raises:
        AssertionError: the adapter states an earlier version, or none.
    """
    newer = [f"  {version}: {rule}" for version, rule in rules.items() if version > stated]
    if newer:
        written = f"for version {stated}" if stated else "for an unstated version"
        raise AssertionError(
            f"The adapter was written {written} of gatewayfw.testing.storage_suite, and this is version {max(rules)}.\n"
            "It has these rules to meet besides:\n"
            + "\n".join(newer)
            + f"\nOnce its tests pass, state `suite_version = {max(rules)}` in the class of its tests."
        )


class StorageContract(Indexes, Deadlines, Transactions, Locks, Reads, Writes):
    """Subclass it in your tests: override `storage` and state `suite_version`."""

    #: The version of the suite that the adapter was written for; 0: not stated.
    suite_version: ClassVar[int] = 0

    def test_the_adapter_knows_this_version_of_the_suite(self) -> None:
        check_version(self.suite_version)
