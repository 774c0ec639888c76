"""Find and describe missing indexes, for all adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gatewayfw.storage.terms import Index, IndexProblem

#: Why a unique index cannot be built. The server's own text would name the values.
COLLISION = "two documents share a value"
#: Why an index is not built that is not unique.
LARGE = "the collection is large"


def find_missing(
    collection: str,
    indexes: Sequence[Index],
    present: Mapping[tuple[tuple[str, int], ...], bool],
    is_large: Callable[[], bool],
) -> tuple[list[Index], list[IndexProblem]]:
    """Return the indexes to build, and a message for each that is not built.

    ``present`` maps the keys of each existing index to whether it is unique. In a large collection
    only unique indexes are built.
    """
    missing = [index for index in indexes if index.keys not in present and index.instead not in present]
    problems = [
        index.problem(collection, "exists, but is not unique")
        for index in indexes
        if index.unique and not present.get(index.keys, True)
    ]
    if missing and is_large():
        problems += [index.problem(collection, f"is missing; {LARGE}") for index in missing if not index.unique]
        missing = [index for index in missing if index.unique]
    return missing, problems
