"""Reads of the MongoDB adapter: a query, and the short way to the documents it is limited to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from bson.codec_options import TypeRegistry
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.database import Database
from pymongo.errors import AutoReconnect, OperationFailure, ServerSelectionTimeoutError

from gatewayfw.storage.base import Document, Filter, Sorting

#: The highest limit of a query whose documents are read by one command.
MOST_LISTED = 10_000
#: Most documents in one reply of the server. Without it 600,000 tiny ones came in a reply of 16 MB, and took 220 MB
#: once they were read.
_REPLY_DOCUMENTS = 1_000


class Query(NamedTuple):
    """What is asked for, in the driver's words; ``limit`` 0 is no limit."""

    filter: dict[str, Any]
    projection: dict[str, int] | None
    sort: Sorting
    skip: int
    limit: int

    def cursor(self, collection: Collection[Any], session: ClientSession | None) -> Cursor[Any]:
        """Return the driver's cursor; nothing is sent before it is read."""
        return collection.find(
            self.filter,
            self.projection,
            sort=list(self.sort) or None,
            skip=self.skip,
            limit=self.limit,
            batch_size=_REPLY_DOCUMENTS,
            session=session,
        )

    def command(self, collection: str) -> dict[str, Any]:
        """Return the command that brings all documents in its reply, unless they exceed 16 MB."""
        command: dict[str, Any] = {
            "find": collection,
            "filter": self.filter,
            "limit": self.limit,
            # Without it the first reply has 101. One more than the limit, so that the server sees that it is done.
            "batchSize": self.limit + 1,
        }
        if self.projection is not None:
            command["projection"] = self.projection
        if self.sort:
            command["sort"] = dict(self.sort)
        if self.skip:
            command["skip"] = self.skip
        return command


class Arriving:
    """PyMongo's cursor, read reply by reply: so never more than one of them, 16 MB, is waiting to be taken.

    PyMongo itself would ask for replies until it has as many documents as it was asked for.
    """

    def __init__(self, cursor: Cursor[Any]) -> None:
        self._cursor = cursor
        self._taken = 0

    @property
    def alive(self) -> bool:
        """Whether there may be more."""
        return self._cursor.alive

    def to_list(self, most: int) -> list[Document]:
        """Return at most so many documents of one reply; none when there are no more."""
        cursor = self._cursor
        found: list[Document] = cursor.to_list(1) if cursor.retrieved == self._taken else []
        ready = min(most, cursor.retrieved - self._taken) - len(found)
        if ready > 0:
            found += cursor.to_list(ready)
        self._taken += len(found)
        return found

    def close(self) -> None:
        """Give up what was not read."""
        self._cursor.close()


class Listed:
    """The cursor of a query with a limit: one plain command, which costs a quarter less than PyMongo's cursor.

    PyMongo's takes over where that does not do: PyMongo repeats no commands that failed, and one
    reply holds 16 MB at most.
    """

    alive = False

    def __init__(self, collection: Collection[Any], query: Query, session: ClientSession | None) -> None:
        self._collection = collection
        self._query = query
        self._session = session
        self._cursor: Arriving | None = None

    def to_list(self, most: int) -> Sequence[Document]:
        """Return all documents of the reply, or at most so many of PyMongo's cursor; none when there are no more."""
        if self._cursor is None:
            found = self._reply()
            if found is not None:
                return found
            self._cursor = Arriving(self._query.cursor(self._collection, self._session))
        documents = self._cursor.to_list(most)
        self.alive = self._cursor.alive
        return documents

    def close(self) -> None:
        """Give up what was not read."""
        if self._cursor is not None:
            self._cursor.close()

    def _reply(self) -> Sequence[Document] | None:
        """Return the documents that one command brings; None where it brings not all, or is to be repeated."""
        collection, session = self._collection, self._session
        command = self._query.command(collection.name)
        if session is None:  # a transaction has its own
            command["readConcern"] = collection.read_concern.document
        database = collection.database
        try:
            reply = database.command(command, codec_options=collection.codec_options, session=session)
        except (AutoReconnect, OperationFailure) as error:
            if session is not None or error.timeout or isinstance(error, ServerSelectionTimeoutError):
                raise
            return None
        rest, found = reply["cursor"]["id"], reply["cursor"]["firstBatch"]
        if rest == 0:
            return cast("Sequence[Document]", found)
        database.command({"killCursors": collection.name, "cursors": [rest]}, session=session)
        return None


def counted(collection: Collection[Any], filter: Filter, limit: int, session: ClientSession) -> int:
    """Return how many documents match, at most ``limit``, in a transaction, where nothing is repeated."""
    stages: list[dict[str, Any]] = [{"$match": filter}, {"$limit": limit}, {"$group": {"_id": 1, "n": {"$sum": 1}}}]
    command = {"aggregate": collection.name, "pipeline": stages if limit else [stages[0], stages[2]], "cursor": {}}
    reply = collection.database.command(command, codec_options=collection.codec_options, session=session)
    return next((int(group["n"]) for group in reply["cursor"]["firstBatch"]), 0)


def decodes_plainly(database: Database[Any]) -> bool:
    """Tell whether a database has no type codecs of its own; a command's reply is read without them."""
    return bool(database.codec_options.type_registry == TypeRegistry())
