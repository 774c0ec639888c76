"""Which version of the suite an adapter was written for."""

from __future__ import annotations

from collections.abc import Mapping

#: version: what it asks for beyond the one before
RULES: Mapping[int, str] = {
    1: "everything of gatewayfw 0.1",
    2: "filters have $not, $nor, $all, $size, $regex, and $elemMatch on values; distinct, which has a default",
    3: "updates have $mul, $min, $max and $pop; $push has $position, $slice and $sort, by values or by one field",
    4: "aside, whose writes a transaction that fails does not undo",
    5: "unique indexes know each element of a list, sparse ones know null; ping, which has a default",
    6: "a positional path stands beside a $not on another path",
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
