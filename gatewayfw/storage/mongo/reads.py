"""Reads of the MongoDB adapter: a query, and the short way to few documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, cast

from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.errors import AutoReconnect, OperationFailure, ServerSelectionTimeoutError

from gatewayfw.storage.base import Document, Filter, Sorting
from gatewayfw.storage.mongo.replies import Kept, take

#: The highest limit of a query whose documents are read by one command.
MOST_LISTED = 10_000
#: Most documents in one reply of the server. Without it 600,000 tiny ones came in a reply of 16 MB, and took 220 MB
#: once they were read.
REPLY_DOCUMENTS = 1_000


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
            batch_size=REPLY_DOCUMENTS,
            session=session,
        )

    def command(self, collection: str) -> dict[str, Any]:
        """Return the command that brings all documents at once, unless they pass 16 MB."""
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


class Source(Protocol):
    """Documents to be taken: a cursor of PyMongo's, or one reply."""

    @property
    def alive(self) -> bool:
        """Whether there may be more."""
        ...

    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...
    def close(self) -> None:
        """Give up what was not taken."""


class Arriving:
    """A source, read in pieces.

    So at most one reply of the server, 16 MB, is waiting to be taken.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def alive(self) -> bool:
        """Whether there may be more."""
        return self._source.alive

    def to_list(self, most: int) -> Sequence[Document]:
        """Return at most so many documents, fewer where they are large, none at the end."""
        return take(self._source, most)

    def close(self) -> None:
        """Give up what was not read."""
        self._source.close()


class Listed:
    """The cursor of a query with a limit: one plain command.

    It costs a quarter less than PyMongo's cursor.

    PyMongo's takes over where that does not do: PyMongo repeats no commands that failed, and one
    reply holds 16 MB at most.
    """

    alive = False

    def __init__(self, collection: Collection[Any], query: Query, session: ClientSession | None) -> None:
        self._collection = collection
        self._query = query
        self._session = session
        self._source: Source | None = None

    def to_list(self, most: int) -> Sequence[Document]:
        """Return all documents of a small reply, at most so many of others.

        None when there are no more.
        """
        if self._source is None:
            reply = self._reply()
            if type(reply) is dict:
                return cast("Sequence[Document]", reply["cursor"]["firstBatch"])
            if reply is None:
                self._source = self._query.cursor(self._collection, self._session)
            else:
                self._source = Kept(reply["cursor"]["firstBatch"])
        documents = take(self._source, most)
        self.alive = self._source.alive
        return documents

    def close(self) -> None:
        """Give up what was not read."""
        if self._source is not None:
            self._source.close()

    def _reply(self) -> Any:
        """Return what one command brings; None where that is not all, or not final.

        It may have to be repeated.
        """
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
        rest = reply["cursor"]["id"]
        if rest == 0:
            return reply
        database.command({"killCursors": collection.name, "cursors": [rest]}, session=session)
        return None


def counted(collection: Collection[Any], filter: Filter, limit: int, session: ClientSession) -> int:
    """Return how many documents match, at most ``limit``, in a transaction.

    Nothing is repeated there.
    """
    stages: list[dict[str, Any]] = [{"$match": filter}, {"$limit": limit}, {"$group": {"_id": 1, "n": {"$sum": 1}}}]
    command = {"aggregate": collection.name, "pipeline": stages if limit else [stages[0], stages[2]], "cursor": {}}
    reply = collection.database.command(command, codec_options=collection.codec_options, session=session)
    return next((int(group["n"]) for group in reply["cursor"]["firstBatch"]), 0)
