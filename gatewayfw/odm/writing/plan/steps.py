"""The steps of a plan: one call of the storage each, as plain data.

A plan is a generator. It yields steps, gets what each of them read, and returns the result of its operation. `apply`
sends them, within one transaction; a plan has no storage. Steps are named like the methods of `Storage`, and give what
these return.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from bson import ObjectId

from gatewayfw.errors import GatewayError
from gatewayfw.odm.copies.rules import WindowQuery, copy_of
from gatewayfw.odm.jobs.records import JobKind, Jobs
from gatewayfw.schemas import Relation
from gatewayfw.storage import Storage
from gatewayfw.storage.documents import encode
from gatewayfw.storage.terms import NOTHING, Document, Filter, Lock, Paths, Update

T = TypeVar("T")
#: What changes in documents that match a filter.
FilteredUpdate = tuple[Filter, Update]


class Step(Protocol):
    """A call of the storage that a plan asks for."""

    def send(self, storage: Storage) -> Any:
        """Call the storage, and return what the plan gets."""


#: The steps of an operation, or of a part of one, and its result.
Plan = Generator[Step, Any, T]


class StorageCall(NamedTuple):
    """A call of one method of `Storage`; what is found is a list."""

    method: str
    given: tuple[Any, ...]
    named: Mapping[str, Any] = NOTHING

    def send(self, storage: Storage) -> Any:
        result = getattr(storage, self.method)(*self.given, **self.named)
        return list(result) if self.method == "find" else result


def touch(model: str, filter: Filter, fields: Paths, lock: Lock, update: Update = NOTHING) -> StorageCall:
    """Lock, change and read the first match."""
    return StorageCall("touch", (model, filter, fields, update), {"lock": lock})


def touch_many(model: str, ids: Sequence[object], lock: Lock, changes: Sequence[FilteredUpdate] = ()) -> StorageCall:
    """Lock documents, then apply changes."""
    return StorageCall("touch_many", (model, ids, changes), {"lock": lock})


def find(model: str, filter: Filter, fields: Paths = None, **asked: Any) -> StorageCall:
    """Read all matches into a list; ``asked`` are keywords of `Storage.find`."""
    return StorageCall("find", (model, filter, fields), asked)


def count(model: str, filter: Filter, limit: int = 0) -> StorageCall:
    """Count matches, at most ``limit``."""
    return StorageCall("count", (model, filter, limit))


def insert(model: str, documents: Sequence[Document]) -> StorageCall:
    """Store new documents."""
    return StorageCall("insert", (model, documents))


def update_one(model: str, filter: Filter, update: Update, fields: Paths) -> StorageCall:
    """Change and read the first match."""
    return StorageCall("update_one", (model, filter, update, fields))


def update_many(model: str, filter: Filter, update: Update, most_bytes: int | None = None) -> StorageCall:
    """Change all matches, or those of at most ``most_bytes``; gives their number."""
    return StorageCall("update_many", (model, filter, update), {"most_bytes": most_bytes})


def update_each(model: str, changes: Sequence[tuple[object, Update]]) -> StorageCall:
    """Apply one update each to documents by ``_id``."""
    return StorageCall("update_each", (model, changes))


def delete_many(model: str, filter: Filter) -> StorageCall:
    """Delete all matches."""
    return StorageCall("delete_many", (model, filter))


class Guess(NamedTuple):
    """Touch a document; ``otherwise``, where the ``first`` does not match it.

    Gives the document, or None, and whether the first matched.
    """

    first: StorageCall
    otherwise: StorageCall

    def send(self, storage: Storage) -> tuple[Document | None, bool]:
        document = self.first.send(storage)
        return (document, True) if document is not None else (self.otherwise.send(storage), False)


class FindMembers(NamedTuple):
    """Read the copies in a window, until they have more than ``most_bytes``."""

    query: WindowQuery
    most_bytes: int | None = None
    stored: bool = False

    def send(self, storage: Storage) -> list[Document]:
        query, copies, size = self.query, [], 0
        keys: Any = {"sort": query.sort, "limit": query.limit, "stored": self.stored}
        for document in storage.find(query.collection, query.filter, query.fields, **keys):
            copy = copy_of(document, query.fields)
            copies.append(copy)
            if self.most_bytes is not None and (size := size + len(encode(copy))) > self.most_bytes:
                break
        return copies


class FindBlocked(NamedTuple):
    """Find the ids that no new document may take yet, because of a job."""

    model: str
    ids: Sequence[ObjectId]

    def send(self, storage: Storage) -> list[ObjectId]:
        return Jobs(storage).blocked(self.model, self.ids)


class PutJob(NamedTuple):
    """Leave work to a job; gives its key."""

    kind: JobKind
    source: tuple[str, ObjectId]
    relation: Relation
    version: int
    targets: Sequence[ObjectId] = ()

    def send(self, storage: Storage) -> str:
        return Jobs(storage).put(self.kind, self.source, self.relation, self.version, self.targets)


def apply(storage: Storage, plan: Plan[T]) -> T:
    """Send the steps of a plan, in order, and return its result; nothing else does.

    An error of a step is raised inside the plan, which may go on in another way. Call it inside
    ``storage.transaction``: then all of its writes happen, or none.
    """
    try:
        step = next(plan)
        while True:
            try:
                found = step.send(storage)
            except GatewayError as error:
                step = plan.throw(error)
            else:
                step = plan.send(found)
    except StopIteration as end:
        result: T = end.value
        return result
