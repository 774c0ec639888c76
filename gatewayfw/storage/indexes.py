"""Find and describe missing indexes, for all adapters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gatewayfw.storage.terms import Index


def find_missing(
    collection: str,
    indexes: Sequence[Index],
    present: Mapping[tuple[tuple[str, int], ...], bool],
    is_large: Callable[[], bool],
) -> tuple[list[Index], list[str]]:
    """Return the indexes to build, and a message for each that is not built.

    ``present`` maps the keys of each existing index to whether it is unique. In a large collection
    only unique indexes are built.
    """
    missing = [index for index in indexes if index.keys not in present and index.instead not in present]
    problems = [
        describe(collection, index, "exists, but is not unique")
        for index in indexes
        if index.unique and not present.get(index.keys, True)
    ]
    if missing and is_large():
        large = "is missing; the collection is large"
        problems += [describe(collection, index, large) for index in missing if not index.unique]
        missing = [index for index in missing if index.unique]
    return missing, problems


def describe(collection: str, index: Index, problem: str) -> str:
    """Return a message about an index."""
    return f"{collection}: index {dict(index.keys)} {problem}"


def describe_unbuilt(collection: str, index: Index, reason: str) -> str:
    """Return why an index was not built, without the server's text.

    The server's text would name the values that collide.
    """
    return describe(collection, index, f"cannot be built: {reason}")


#: Why a unique index cannot be built.
COLLISION = "two documents share a value"
