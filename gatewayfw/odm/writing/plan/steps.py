"""The steps of a plan: one call of the storage each, as plain data.

A plan is a generator. It yields steps, gets what each of them read, and returns the result of its operation. `apply`
sends them, within one transaction; a plan has no storage. Steps are named like the methods of `Storage`, and give what
these return.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from bson import ObjectId

from gatewayfw.errors import GatewayError
from gatewayfw.odm.copies.rules import WindowQuery, copy_of
from gatewayfw.odm.jobs.records import JobKind, Jobs
from gatewayfw.schemas import Relation
from gatewayfw.storage import Storage
from gatewayfw.storage.documents import encode
from gatewayfw.storage.terms import NOTHING, Document, Filter, Lock, Paths, Sorting, Update

T = TypeVar("T")
#: What changes in documents that match a filter.
FilteredUpdate = tuple[Filter, Update]


class Step(Protocol):
    """A call of the storage that a plan asks for."""

    def send(self, storage: Storage) -> Any:
        """Call the storage, and return what the plan gets."""


#: The steps of an operation, or of a part of one, and its result.
Plan = Generator[Step, Any, T]


class Touch(NamedTuple):
    """Lock, change and read the first match."""

    model: str
    filter: Filter
    fields: Paths
    lock: Lock
    update: Update = NOTHING

    def send(self, storage: Storage) -> Document | None:
        return storage.touch(self.model, self.filter, self.fields, self.update, lock=self.lock)


class Guess(NamedTuple):
    """Touch a document; ``otherwise``, where the ``first`` does not match it.

    Gives the document, or None, and whether the first matched.
    """

    first: Touch
    otherwise: Touch

    def send(self, storage: Storage) -> tuple[Document | None, bool]:
        document = self.first.send(storage)
        return (document, True) if document is not None else (self.otherwise.send(storage), False)


class TouchMany(NamedTuple):
    """Lock documents, then apply changes."""

    model: str
    ids: Sequence[object]
    lock: Lock
    changes: Sequence[FilteredUpdate] = ()

    def send(self, storage: Storage) -> None:
        storage.touch_many(self.model, self.ids, self.changes, lock=self.lock)


class Find(NamedTuple):
    """Read all matches into a list; ``stored`` ones are to be stored elsewhere."""

    model: str
    filter: Filter
    fields: Paths = None
    sort: Sorting = ()
    limit: int = 0
    stored: bool = False

    def send(self, storage: Storage) -> list[Any]:
        found = storage.find(self.model, self.filter, self.fields, sort=self.sort, limit=self.limit, stored=self.stored)
        return list(found)


class FindMembers(NamedTuple):
    """Read the copies in a window, until they have more than ``most_bytes``."""

    query: WindowQuery
    most_bytes: int | None = None
    stored: bool = False

    def send(self, storage: Storage) -> list[Document]:
        query, copies, size = self.query, [], 0
        found = storage.find(
            query.collection, query.filter, query.fields, sort=query.sort, limit=query.limit, stored=self.stored
        )
        for document in found:
            copy = copy_of(document, query.fields)
            copies.append(copy)
            if self.most_bytes is not None and (size := size + len(encode(copy))) > self.most_bytes:
                break
        return copies


class Count(NamedTuple):
    """Count matches, at most ``limit``."""

    model: str
    filter: Filter
    limit: int = 0

    def send(self, storage: Storage) -> int:
        return storage.count(self.model, self.filter, self.limit)


class Insert(NamedTuple):
    """Store new documents."""

    model: str
    documents: Sequence[Document]

    def send(self, storage: Storage) -> None:
        storage.insert(self.model, self.documents)


class UpdateOne(NamedTuple):
    """Change and read the first match."""

    model: str
    filter: Filter
    update: Update
    fields: Paths

    def send(self, storage: Storage) -> Document | None:
        return storage.update_one(self.model, self.filter, self.update, self.fields)


class UpdateMany(NamedTuple):
    """Change all matches, or those of at most ``most_bytes``; gives their number."""

    model: str
    filter: Filter
    update: Update
    most_bytes: int | None = None

    def send(self, storage: Storage) -> int:
        return storage.update_many(self.model, self.filter, self.update, most_bytes=self.most_bytes)


class UpdateEach(NamedTuple):
    """Apply one update each to documents by ``_id``."""

    model: str
    changes: Sequence[tuple[object, Update]]

    def send(self, storage: Storage) -> None:
        storage.update_each(self.model, self.changes)


class DeleteMany(NamedTuple):
    """Delete all matches."""

    model: str
    filter: Filter

    def send(self, storage: Storage) -> int:
        return storage.delete_many(self.model, self.filter)


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
