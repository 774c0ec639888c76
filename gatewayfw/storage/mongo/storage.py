"""Storage on MongoDB through PyMongo: indexes and documents."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import pymongo
from bson.raw_bson import RawBSONDocument
from pymongo import ReturnDocument, UpdateMany, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.errors import BulkWriteError, OperationFailure

from gatewayfw.errors import GatewayError, StorageError
from gatewayfw.pieces import Found
from gatewayfw.storage.deadlines import UNLIMITED
from gatewayfw.storage.mongo.connection import run_aside
from gatewayfw.storage.mongo.errors import note_met, refused_update
from gatewayfw.storage.mongo.indexes import build, compare, identities, index_of, list_indexes
from gatewayfw.storage.mongo.reads import (
    MOST_LISTED,
    REPLY_DOCUMENTS,
    SNAPSHOT,
    Piece,
    Query,
    count_matches,
    in_pieces,
    projection_of,
    read,
    read_listed,
    send,
)
from gatewayfw.storage.mongo.transactions import MongoTransactions
from gatewayfw.storage.terms import NOTHING, Document, Filter, Index, IndexProblem, Lock, Marked, Paths, Sorting, Update

#: The server's error code for an operator that does not fit the existing value.
_TYPE_MISMATCH = 14


class MongoStorage(MongoTransactions):
    """A `Storage` over a MongoDB database, given as a PyMongo `Database` or as a URI.

    With a URI the client is made on first use, once per process, so it is safe to create the
    adapter before a fork (gunicorn ``--preload``).

    Raises:
        DefinitionError: the URI is malformed or names no database.
    """

    def ensure(self, collection: str, indexes: Sequence[Index], build_limit: int) -> list[IndexProblem]:
        """Look for missing indexes under the caller's deadline, but build without it.

        Both happen outside the caller's transaction.
        """
        self.scope.check()
        looking = self._settings.operation_timeout if self.scope is UNLIMITED else self.scope.remaining()
        return run_aside(lambda: self._ensure(collection, indexes, build_limit, looking))

    def _ensure(
        self, collection: str, indexes: Sequence[Index], build_limit: int, looking: float
    ) -> list[IndexProblem]:
        with self._translate_errors():
            with pymongo.timeout(looking):
                self._connection.find_server()
                missing, problems = compare(self._db, collection, indexes, build_limit)
            with pymongo.timeout(max(self._settings.operation_timeout, looking)):
                return problems + build(self._collection(collection), missing)

    def identities(self) -> dict[str, str]:
        """Return the collections' UUIDs, with one command for all of them."""
        with self._command():
            return identities(self._db)

    def indexes(self, collection: str) -> list[Index]:
        with self._command():
            known = list_indexes(self._collection(collection))
        return [index_of(one) for one in known if one["name"] != "_id_"]

    def is_sharded(self, collection: str) -> bool:
        """Read the collection's statistics; only a mongos reports sharding."""
        with self._command():
            return bool(self._db.command("collStats", collection).get("sharded"))

    def transaction_lifetime(self) -> float | None:
        """Ask the server, which may refuse to answer."""
        name = "transactionLifetimeLimitSeconds"
        try:
            with self._command():
                return float(self._db.client.admin.command({"getParameter": 1, name: 1})[name])
        except StorageError:
            return None

    def counts_locks(self) -> bool:
        """Tell whether there are transactions: only in one does a lock need a write.

        Without them, a push by a lock could leave copies of documents that a crash kept from being inserted.
        """
        return self.has_transactions()

    def touch(
        self, collection: str, filter: Filter, fields: Paths, update: Update = NOTHING, *, lock: Lock
    ) -> Document | None:
        """Increment the counter: only a real write locks the document."""
        if self.has_transactions():
            try:
                return self._update_one(collection, filter, {**update, **_lock_update(lock)}, fields)
            except StorageError as error:
                raise _as_marked(error, lock) from error
        return super().touch(collection, filter, fields, update, lock=lock)

    def touch_many(
        self, collection: str, ids: Sequence[object], changes: Sequence[tuple[Filter, Update]] = (), *, lock: Lock
    ) -> None:
        """Increment the counter of each document; all in one command."""
        locks = [({"_id": {"$in": list(ids)}}, _lock_update(lock))] if ids and self.has_transactions() else []
        if locks or changes:
            try:
                self._update(collection, changes, locks)
            except StorageError as error:
                raise _as_marked(error, lock) from error

    def insert(self, collection: str, documents: Sequence[Document]) -> None:
        """Store new documents in one command, in a transaction if there are several."""

        def write() -> None:
            with self._change() as session:
                if len(documents) == 1 and self._writes_plainly(session):
                    _send_insert(self._collection(collection), session, documents[0])
                else:
                    copies = [dict(document) for document in documents]  # the driver may change them
                    self._collection(collection).insert_many(copies, session=session)

        if len(documents) > 1:
            self.transaction(write)
        elif documents:
            write()

    def find(
        self,
        collection: str,
        filter: Filter,
        fields: Paths = None,
        *,
        sort: Sorting = (),
        skip: int = 0,
        limit: int = 0,
        at_once: bool = False,
        stored: bool = False,
    ) -> Iterator[Document]:
        """Yield documents as the driver's cursor delivers them.

        A query with a limit is read with a plain command. ``at_once`` is passed over without one, and on a standalone
        server, which has no snapshots.
        """
        query = Query(collection, dict(filter), projection_of(fields), sort, skip, limit)
        session = self._session()
        if stored:
            return self._drain(read(self._undecoded, query, session))
        if not 0 < limit <= MOST_LISTED:
            return self._drain(read(self._connection.readable, query, session))
        is_snapshot = at_once and session is None and self.has_transactions()
        return self._drain(read_listed(self._connection.readable, query, session, SNAPSHOT if is_snapshot else None))

    def _undecoded(self, name: str) -> Collection[Any]:
        plain = self._collection(name)
        return plain.with_options(plain.codec_options.with_options(document_class=RawBSONDocument))

    def _session(self) -> ClientSession | None:
        transaction = self._open.transaction
        return None if transaction is None else transaction.session

    def update_one(self, collection: str, filter: Filter, update: Update, fields: Paths) -> Document | None:
        return self._update_one(collection, filter, update, fields, update)

    def _update_one(
        self, collection: str, filter: Filter, update: Update, fields: Paths, said: Update = NOTHING
    ) -> Document | None:
        """Change one document; a refusal names the paths as the caller ``said`` them."""
        projection = projection_of(fields)
        try:
            with self._change() as session:
                stored = self._collection(collection)
                try:
                    if self._writes_plainly(session):
                        return _send_update_one(stored, session, filter, update, projection)
                    result: Document | None = stored.find_one_and_update(
                        dict(filter), update, projection, return_document=ReturnDocument.AFTER, session=session
                    )
                except OperationFailure as error:
                    raise refused_update(error, said) or error from None
                return result
        except GatewayError as error:
            note_met(error, collection, [filter])
            raise

    def update_many(self, collection: str, filter: Filter, update: Update, *, most_bytes: int | None = None) -> int:
        """Change all matching documents in one command; the server measures their size."""
        if most_bytes is not None:
            filter = {**filter, "$expr": {"$lte": [{"$bsonSize": "$$ROOT"}, most_bytes]}}
        return self._update(collection, [(filter, update)])

    def _update(
        self,
        collection: str,
        changes: Sequence[tuple[Filter, Update]],
        locks: Sequence[tuple[Filter, Update]] = (),
        kind: type[UpdateMany | UpdateOne] = UpdateMany,
    ) -> int:
        """Apply changes in one command, locks first; return how many matched."""
        statements = [*locks, *changes]
        try:
            with self._change() as session:
                stored = self._collection(collection)
                if len(changes) < 2 and self._writes_plainly(session):  # two may not fit into one command
                    return _send_update_many(stored, session, statements)
                requests = [kind(dict(filter), update) for filter, update in statements]
                return stored.bulk_write(requests, session=session).matched_count
        except GatewayError as error:
            note_met(error, collection, [filter for filter, _ in statements])
            raise

    def update_each(self, collection: str, changes: Iterable[tuple[object, Update]]) -> None:
        if statements := [({"_id": id_}, update) for id_, update in changes]:
            self._update(collection, statements, kind=UpdateOne)

    def delete_many(self, collection: str, filter: Filter) -> int:
        with self._change() as session:
            return self._collection(collection).delete_many(dict(filter), session=session).deleted_count

    def count(self, collection: str, filter: Filter, limit: int = 0) -> int:
        with self._command() as session:
            source = self._collection(collection)
            if session is not None:
                return count_matches(source, filter, limit, session)
            bound: dict[str, Any] = {"limit": limit} if limit else {}
            return source.count_documents(dict(filter), **bound)

    def distinct(self, collection: str, field: str, filter: Filter) -> list[Any]:
        """Let the server compare: 6 times as fast for 100,000 documents, 20 with an index."""
        with self._command() as session:
            found = self._collection(collection).distinct(field, dict(filter), session=session)
        return [value for value in found if value is not None]  # an index gives null for missing values, too

    def aggregate(self, collection: str, pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Document]:
        """Yield the results of a pipeline as the driver's cursor delivers them."""
        with self._command() as session:
            source = self._connection.readable(collection)
            cursor = source.aggregate(list(pipeline), session=session, batchSize=REPLY_DOCUMENTS)
        return self._drain(in_pieces(cursor))

    def _writes_plainly(self, session: ClientSession | None) -> TypeGuard[ClientSession]:
        """Tell whether the faster way to write does the same as the driver's."""
        return session is not None and self._connection.is_plain

    def _drain(self, pieces: Iterator[Piece]) -> Iterator[Document]:
        """Return an iterator over documents that come in pieces.

        No deadline of ours applies while the caller's code runs.
        """
        return Found(self._batches(pieces))

    def _batches(self, pieces: Iterator[Piece]) -> Iterator[Sequence[Document]]:
        alive = True
        while alive:
            with self._command():
                batch, alive = next(pieces)
            yield batch


def _lock_update(lock: Lock) -> Update:
    """Return the update that locks a document, and fails on a marked one.

    ``$pop`` ignores a missing value and refuses one that is not a list, such as a mark.
    """
    counted = {"$inc": {lock.counter: lock.step}}
    return {**counted, "$pop": {lock.unmarked: 1}} if lock.unmarked else counted


def _as_marked(error: StorageError, lock: Lock) -> StorageError:
    return Marked() if lock.unmarked and getattr(error.__cause__, "code", None) == _TYPE_MISMATCH else error


# Writes inside a transaction, as plain commands. They cost a fifth less than the driver's own methods, whose extra work
# is of no use here: nothing is repeated there, and no command has its own write concern. Only writes that fit into one
# command are sent this way; the driver splits the others. A refusal is a `BulkWriteError`, as with the driver.


def _send_insert(collection: Collection[Any], session: ClientSession, document: Document) -> None:
    """Store a new document."""
    _write(collection, session, {"insert": collection.name, "documents": [document]})


def _send_update_one(
    collection: Collection[Any],
    session: ClientSession,
    filter: Filter,
    update: Update,
    projection: Mapping[str, int] | None,
) -> Document | None:
    """Change the first matching document and return it afterwards."""
    command = {"findAndModify": collection.name, "query": filter, "update": update, "new": True}
    if projection is not None:
        command["fields"] = projection
    found: Document | None = _write(collection, session, command)["value"]
    return found


def _send_update_many(
    collection: Collection[Any], session: ClientSession, changes: Sequence[tuple[Filter, Update]]
) -> int:
    """Apply each update to all its matches, in order; return how many matched."""
    statements = [{"q": filter, "u": update, "multi": True} for filter, update in changes]
    return int(_write(collection, session, {"update": collection.name, "updates": statements})["n"])


def _write(collection: Collection[Any], session: ClientSession, command: dict[str, Any]) -> dict[str, Any]:
    reply: dict[str, Any] = send(collection, command, session)
    if reply.get("writeErrors"):  # the reply is otherwise fine, so the command does not raise
        raise BulkWriteError(reply)
    return reply
