"""Reads of the MongoDB adapter: queries, and a faster way to read few documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.errors import AutoReconnect, OperationFailure
from pymongo.read_concern import ReadConcern

from gatewayfw.storage.mongo.replies import Kept, take
from gatewayfw.storage.terms import Document, Filter, Sorting

#: The highest limit of a query that is read with one command.
MOST_LISTED = 10_000
#: Most documents in one reply of the server. Without it 600,000 tiny ones came in a reply of 16 MB, and took 220 MB
#: once they were read.
REPLY_DOCUMENTS = 1_000
#: Reads all documents as they were at one moment.
SNAPSHOT = ReadConcern("snapshot")


class Query(NamedTuple):
    """A query in the driver's terms; ``limit`` 0 means no limit."""

    filter: dict[str, Any]
    projection: dict[str, int] | None
    sort: Sorting
    skip: int
    limit: int

    def cursor(self, collection: Collection[Any], session: ClientSession | None) -> Cursor[Any]:
        """Return the driver's cursor; it sends nothing before it is read."""
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
        """Return the command that reads all documents at once, up to 16 MB."""
        command: dict[str, Any] = {
            "find": collection,
            "filter": self.filter,
            "limit": self.limit,
            # Without it the first reply has 101 documents. One more than the limit lets the server see it is done.
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
    """A source of documents: a PyMongo cursor, or one reply."""

    @property
    def alive(self) -> bool:
        """Whether there may be more."""
        ...

    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...
    def close(self) -> None:
        """Discard the documents not taken yet."""


class Arriving:
    """A source read in pieces.

    So at most one reply of the server (16 MB) is in memory.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def alive(self) -> bool:
        """Whether there may be more."""
        return self._source.alive

    def to_list(self, most: int) -> Sequence[Document]:
        """Return the next documents: fewer where they are large, none at the end."""
        return take(self._source, most)

    def close(self) -> None:
        """Give up what was not read."""
        self._source.close()


class ListedCursor:
    """The cursor of a query with a limit, read with one plain command.

    It costs a quarter less than PyMongo's cursor. PyMongo's cursor takes over where one command is not
    enough: PyMongo does not repeat failed commands, and one reply holds at most 16 MB.

    ``concern`` is another read concern than the collection's. The server refuses `SNAPSHOT` just after a
    collection or an index was made, and is then asked without it.
    """

    alive = False

    def __init__(
        self,
        collection: Collection[Any],
        query: Query,
        session: ClientSession | None,
        concern: ReadConcern | None = None,
    ) -> None:
        self._collection = collection
        self._query = query
        self._session = session
        self._concern = concern
        self._source: Source | None = None

    def to_list(self, most: int) -> Sequence[Document]:
        """Return all documents of a small reply, or at most so many of a large one.

        Returns None when there are no more.
        """
        if self._source is None:
            reply = self._reply()
            if type(reply) is dict:
                found: Sequence[Document] = reply["cursor"]["firstBatch"]
                return found
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
        """Return the reply to one command; None if it is incomplete or must be repeated."""
        collection, session = self._collection, self._session
        command = self._query.command(collection.name)
        if session is None:  # a transaction has its own
            command["readConcern"] = (self._concern or collection.read_concern).document
        database = collection.database
        try:
            reply = database.command(command, codec_options=collection.codec_options, session=session)
        except (AutoReconnect, OperationFailure) as error:
            if session is not None or error.timeout:
                raise
            return None
        rest = reply["cursor"]["id"]
        if rest == 0:
            return reply
        database.command({"killCursors": collection.name, "cursors": [rest]}, session=session)
        if self._concern is not None:
            self._collection = collection.with_options(read_concern=self._concern)
        return None


def count_matches(collection: Collection[Any], filter: Filter, limit: int, session: ClientSession) -> int:
    """Return how many documents match, at most ``limit``, inside a transaction.

    Commands are not repeated there.
    """
    stages: list[dict[str, Any]] = [{"$match": filter}, {"$limit": limit}, {"$group": {"_id": None, "n": {"$sum": 1}}}]
    command = {"aggregate": collection.name, "pipeline": stages if limit else [stages[0], stages[2]], "cursor": {}}
    reply = collection.database.command(command, codec_options=collection.codec_options, session=session)
    return next((int(group["n"]) for group in reply["cursor"]["firstBatch"]), 0)
