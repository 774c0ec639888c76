"""Reads of the MongoDB adapter: a query, and the short way to the one document it is limited to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bson.codec_options import TypeRegistry
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.cursor import Cursor
from pymongo.database import Database
from pymongo.errors import AutoReconnect, OperationFailure, ServerSelectionTimeoutError

from gatewayfw.storage.base import Document, Sorting


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
            session=session,
        )

    def command(self, collection: str) -> dict[str, Any]:
        """Return the command that brings all documents in its reply."""
        command: dict[str, Any] = {"find": collection, "filter": self.filter, "limit": self.limit, "singleBatch": True}
        if self.projection is not None:
            command["projection"] = self.projection
        if self.sort:
            command["sort"] = dict(self.sort)
        if self.skip:
            command["skip"] = self.skip
        return command


class One:
    """The cursor of a query for one document; with a plain command it costs a quarter less than PyMongo's."""

    alive = False

    def __init__(self, collection: Collection[Any], query: Query, session: ClientSession | None) -> None:
        self._collection = collection
        self._query = query
        self._session = session

    def to_list(self, _most: int) -> Sequence[Document]:
        """Return the document in a list, or none. PyMongo repeats no commands: its cursor does what it would do."""
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
            return self._query.cursor(collection, None).to_list()
        found: Sequence[Document] = reply["cursor"]["firstBatch"]
        return found

    def close(self) -> None:
        """Do nothing: the reply held everything."""


def decodes_plainly(database: Database[Any]) -> bool:
    """Tell whether a database has no type codecs of its own; a command's reply is read without them."""
    return bool(database.codec_options.type_registry == TypeRegistry())
