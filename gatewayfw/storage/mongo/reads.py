"""Reads of the MongoDB adapter: queries, and replies decoded bit by bit.

Decoding a reply of 16 MB with nested documents takes up to 400 MB, and a second or more in one go. So small replies
are decoded at once, and the documents of large ones when they are taken.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from bson import decode
from bson.codec_options import CodecOptions, TypeRegistry
from bson.raw_bson import DEFAULT_RAW_BSON_OPTIONS, RawBSONDocument
from pymongo.client_session import ClientSession
from pymongo.collection import Collection
from pymongo.command_cursor import CommandCursor
from pymongo.cursor import Cursor
from pymongo.errors import AutoReconnect, OperationFailure
from pymongo.read_concern import ReadConcern

from gatewayfw.pieces import PIECE
from gatewayfw.storage.terms import Document, Filter, Paths, Sorting

#: The highest limit of a query that is read with one command.
MOST_LISTED = 10_000
#: Most documents in one reply of the server. Without it 600,000 tiny ones came in a reply of 16 MB, and took 220 MB
#: once they were read.
REPLY_DOCUMENTS = 1_000
#: Most bytes to decode at once, except for a single larger document.
AT_ONCE = 256 * 1024
#: A name that no field has, and so no index.
_IN_NO_INDEX = "in no index"
#: Reads all documents as they were at one moment.
SNAPSHOT = ReadConcern("snapshot")

#: Returns a collection to read from, by its name.
Source = Callable[[str], Collection[Any]]
#: Documents, and whether there may be more.
Piece = tuple[Sequence[Document], bool]


class Query(NamedTuple):
    """A query in the driver's terms; ``limit`` 0 means no limit."""

    collection: str
    filter: dict[str, Any]
    projection: dict[str, int] | None
    sort: Sorting = ()
    skip: int = 0
    limit: int = 0

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

    def command(self) -> dict[str, Any]:
        """Return the command that reads all documents at once, up to 16 MB."""
        command: dict[str, Any] = {
            "find": self.collection,
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


def read(source: Source, query: Query, session: ClientSession | None) -> Iterator[Piece]:
    """Yield what a query finds, in pieces; nothing is sent before the first is taken."""
    yield from in_pieces(query.cursor(source(query.collection), session))


def in_pieces(cursor: Cursor[Any] | CommandCursor[Any]) -> Iterator[Piece]:
    """Yield what a cursor of the driver finds, with at most one reply in memory."""
    alive = True
    try:
        while alive:
            documents = take(cursor, PIECE)
            alive = cursor.alive
            yield documents, alive
    finally:
        if alive:
            cursor.close()


def read_listed(
    source: Source, query: Query, session: ClientSession | None, concern: ReadConcern | None = None
) -> Iterator[Piece]:
    """Yield what a query with a limit finds, read with one plain command.

    It costs a quarter less than PyMongo's cursor, which takes over where one command is not enough: PyMongo does not
    repeat failed commands, and one reply holds at most 16 MB.

    ``concern`` is another read concern than the collection's. The server refuses `SNAPSHOT` just after a
    collection or an index was made, and is then asked without it.
    """
    reply = _ask(source(query.collection), query, session, concern)
    if type(reply) is dict:
        yield reply["cursor"]["firstBatch"], False
    elif isinstance(reply, Cursor):
        yield from in_pieces(reply)
    else:
        documents = deque(reply["cursor"]["firstBatch"])
        del reply  # each document is released when it is taken
        taken = (documents.popleft() for _ in range(len(documents)))
        alive = True
        while alive:
            piece = take(taken, PIECE)
            alive = bool(documents)
            yield piece, alive


def send(collection: Collection[Any], command: dict[str, Any], session: ClientSession | None = None) -> Any:
    """Return the reply to a command, read by the collection's codec options."""
    return collection.database.command(command, codec_options=collection.codec_options, session=session)


def _ask(collection: Collection[Any], query: Query, session: ClientSession | None, concern: ReadConcern | None) -> Any:
    """Return the reply to one command; a cursor where that is not enough."""
    command = query.command()
    if session is None:  # a transaction has its own
        command["readConcern"] = (concern or collection.read_concern).document
    database = collection.database
    try:
        reply = send(collection, command, session)
    except (AutoReconnect, OperationFailure) as error:
        if session is not None or error.timeout:
            raise
        return query.cursor(collection, session)
    rest = reply["cursor"]["id"]
    if rest == 0:
        return reply
    database.command({"killCursors": collection.name, "cursors": [rest]}, session=session)
    if concern is not None:
        collection = collection.with_options(read_concern=concern)
    return query.cursor(collection, session)


def projection_of(fields: Paths) -> dict[str, int] | None:
    """Return ``fields`` in MongoDB's form; None for whole documents.

    A query that an index answers alone would give null for fields that are not there, so a name is added that none has.
    """
    if fields is None:
        return None
    found = {"_id": 1, **dict.fromkeys(fields, 1)}
    return found if len(found) == 1 else {**found, _IN_NO_INDEX: 1}


def count_matches(collection: Collection[Any], filter: Filter, limit: int, session: ClientSession) -> int:
    """Return how many documents match, at most ``limit``, inside a transaction.

    Commands are not repeated there.
    """
    stages: list[dict[str, Any]] = [{"$match": filter}, {"$limit": limit}, {"$group": {"_id": None, "n": {"$sum": 1}}}]
    command = {"aggregate": collection.name, "pipeline": stages if limit else [stages[0], stages[2]], "cursor": {}}
    reply = send(collection, command, session)
    return next((int(group["n"]) for group in reply["cursor"]["firstBatch"]), 0)


class Undecoded(RawBSONDocument):
    """A document as the server sent it."""

    __slots__ = ()
    _plain: CodecOptions[Any]

    def decoded(self) -> Document:
        """Return a new plain document."""
        found: Document = decode(self.raw, self._plain)
        return found


def decode_lazily(plain: CodecOptions[Any]) -> CodecOptions[Any]:
    """Return the options that leave large replies `Undecoded`.

    With type codecs every reply stays so, because the codecs are meant for documents, not for the reply around them.
    """
    at_once = AT_ONCE if decodes_plainly(plain) else 0

    class UndecodedPart(Undecoded):
        __slots__ = ()
        _plain = plain

    parts = DEFAULT_RAW_BSON_OPTIONS.with_options(document_class=UndecodedPart)

    class UndecodedReply(UndecodedPart):
        __slots__ = ()

        def __new__(cls, data: bytes | memoryview, options: object = None) -> Any:
            return decode(data, plain) if len(data) <= at_once else UndecodedPart(data, parts)

    return plain.with_options(document_class=UndecodedReply, type_registry=None)


def decodes_plainly(options: CodecOptions[Any]) -> bool:
    """Tell whether there are no type codecs, which a command's reply would skip."""
    return bool(options.type_registry == TypeRegistry())


def take(source: Iterator[Any], most: int) -> list[Document]:
    """Return at most so many documents, fewer if their bytes reach `AT_ONCE`."""
    found: list[Document] = []
    size = 0
    for document in islice(source, most):
        if isinstance(document, Undecoded):
            size += len(document.raw)
            document = document.decoded()
        found.append(document)
        if size >= AT_ONCE:
            break
    return found
