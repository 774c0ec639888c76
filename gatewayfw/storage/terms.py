"""What an adapter is told and tells in: documents, filters, indexes, locks. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from gatewayfw.errors import StorageError, Unavailable

Document = dict[str, Any]
Filter = Mapping[str, Any]
Update = Mapping[str, Mapping[str, Any]]
Sorting = Sequence[tuple[str, int]]
#: What to read of documents: all for None, else dotted paths of which none lies below another, and always the ``_id``.
Paths = Sequence[str] | None
#: The message where `Storage.distinct` finds too much.
MANY_VALUES = "the distinct values have more than 16 MB; read them by `find`, sorted and by page"
#: An update that changes nothing.
NOTHING: Update = MappingProxyType({})
#: Why a unique index cannot be built. The server's own text would name the values.
COLLISION = "two documents share a value"
#: Why an index is not built that is not unique.
LARGE = "the collection is large"


class Marked(StorageError):
    """A document has a mark that its lock refuses, so nothing was locked."""


class WriteConflict(Unavailable):
    """Another transaction writes what this one was about to write."""


@dataclass(frozen=True)
class Lock:
    """How to lock documents where only a write can lock them.

    Attributes:
        counter: the path of an integer that only locks use, and that may be missing.
        step: how much each lock adds to it, 1 or more.
        unmarked: the path of a mark, an object, that the document must not have; empty for none.
    """

    counter: str
    step: int = 1
    unmarked: str = ""


class IndexProblem(str):
    """Why an index is not built, in words.

    Attributes:
        keys: those of the index.
    """

    __slots__ = ("keys",)

    keys: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Index:
    """An index: ``(field, 1 | -1)`` pairs, and MongoDB's options.

    Attributes:
        instead: the keys of another index that serves as well if it exists already; empty for none.
    """

    keys: tuple[tuple[str, int], ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    instead: tuple[tuple[str, int], ...] = ()

    @property
    def unique(self) -> bool:
        """Whether two documents may not share the indexed values."""
        return bool(self.options.get("unique"))

    @property
    def passes_over_absent(self) -> bool:
        """Whether it may leave out documents that lack a field of it."""
        return "partialFilterExpression" in self.options or (bool(self.options.get("sparse")) and len(self.keys) == 1)

    def problem(self, collection: str, text: str) -> IndexProblem:
        """Return a message about the index of a collection."""
        problem = IndexProblem(f"{collection}: index {dict(self.keys)} {text}")
        problem.keys = self.keys
        return problem


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


@dataclass(frozen=True)
class Trouble:
    """Why a database cannot be reached.

    Attributes:
        kind: ``unreachable``, ``unauthenticated``, ``no_primary`` (of the replica set) or ``wrong_set``
            (no server of the requested replica set).
        text: the same in words, with hosts but without credentials; for logs and `doctor`, not for clients.
    """

    kind: Literal["unreachable", "unauthenticated", "no_primary", "wrong_set"]
    text: str
