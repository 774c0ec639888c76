"""One client per process, made lazily, and work outside of its deadlines."""

import os
import threading
import time
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from typing import Any

import pymongo
from bson.codec_options import DEFAULT_CODEC_OPTIONS, DatetimeConversion
from pymongo import MongoClient
from pymongo.collection import Collection
from pymongo.database import Database
from pymongo.errors import ConfigurationError, PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.read_preferences import ReadPreference
from pymongo.uri_parser import parse_uri
from pymongo.write_concern import WriteConcern

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.storage.base import T
from gatewayfw.storage.mongo.outages import Address, Outages, concerns_server, is_conclusive, trouble_of
from gatewayfw.storage.mongo.reads import decode_lazily, decodes_plainly
from gatewayfw.storage.terms import Trouble

MAJORITY = WriteConcern("majority")
#: A command that only a server answers that takes writes and knows the caller; any user may run it.
_PROBE = {"listCollections": 1, "nameOnly": True, "authorizedCollections": True, "filter": {"name": "none"}}
_UNENCODED = "user name and password must be percent-encoded, see urllib.parse.quote_plus"

#: Seconds by which PyMongo 4.20 may exceed the time to find a server: it looks at its watch that often.
_STEP = 0.5
#: The share of the server selection time after which silence counts as an outage.
_ENOUGH = 0.5


class Connection:
    """A database, given by PyMongo or by a URI.

    For a URI it makes the client itself, and a new one after a fork.

    Attributes:
        name: the name of the database.
        outages: whether this process can reach the database.
        is_plain: whether documents are read as plain Python values.
        is_closed: whether its own client was closed and none has been made since.

    Raises:
        DefinitionError: the URI is malformed or names no database.
    """

    def __init__(self, database: Database[Any] | str, settings: Settings) -> None:
        self._uri = database if isinstance(database, str) else None
        self._given = None if isinstance(database, str) else database
        self._settings = settings
        self.name, self._seeds = _parse(database) if isinstance(database, str) else _describe(database)
        self.outages = Outages(self.name)
        self.is_plain = self._given is None or decodes_plainly(self._given.codec_options)
        self._making = threading.Lock()
        self._pid = os.getpid()
        self._database: Database[Any] | None = None
        self._collections: dict[str, Collection[Any]] = {}
        self._readable: dict[str, Collection[Any]] = {}
        self._writable: object = None
        self.is_closed = False

    @property
    def database(self) -> Database[Any]:
        """The database, connected in this process."""
        database = self._database
        if database is not None and self._pid == os.getpid():
            return database
        if self._pid != os.getpid():
            # After a fork a thread that this process does not have may have held the lock.
            self._making, self._pid, self._database = threading.Lock(), os.getpid(), None
            self.outages = Outages(self.name)
        with self._making:
            if self._database is None:
                self._database = self._connect()
                self.is_closed = False
            return self._database

    def collection(self, name: str) -> Collection[Any]:
        """Return a cached collection of this process; the driver would make it each time."""
        database, found = self.database, self._collections.get(name)
        if found is None or found.database is not database:
            found = self._collections[name] = database[name]
        return found

    def readable(self, name: str) -> Collection[Any]:
        """Return a collection whose large replies come `Undecoded`."""
        database, found = self.database, self._readable.get(name)
        if found is None or found.database is not database:
            plain = self.collection(name)
            found = self._readable[name] = plain.with_options(decode_lazily(plain.codec_options))
        return found

    def _connect(self) -> Database[Any]:
        database = self._given
        if database is None:
            client: MongoClient[Any] = MongoClient(
                self._uri,
                appname="gatewayfw",
                serverSelectionTimeoutMS=int(self._settings.server_selection_timeout * 1000),
                waitQueueTimeoutMS=1000,
                connectTimeoutMS=2000,
            )
            database = client[self.name]
        codec = DEFAULT_CODEC_OPTIONS.with_options(
            type_registry=database.codec_options.type_registry,
            uuid_representation=database.codec_options.uuid_representation,
            # A date beyond Python's range, written by another tool, must not make a document unreadable.
            datetime_conversion=DatetimeConversion.DATETIME_AUTO,
        )
        # A transaction reads from the primary only, and a caller must see its own writes.
        return database.with_options(
            codec, ReadPreference.PRIMARY, write_concern=MAJORITY, read_concern=ReadConcern("majority")
        )

    def find_server(self) -> None:
        """Wait for a server, but not the whole deadline; after an error, ping it first.

        PyMongo 4.20 ignores ``serverSelectionTimeoutMS`` inside `pymongo.timeout`.
        """
        known = self.database.client.topology_description
        if known is self._writable:  # Descriptions are immutable: the driver makes a new one for each change.
            return
        if known.has_writable_server() and not self.outages.suspected:
            self._writable = known
            return
        begun = time.monotonic()
        try:
            with pymongo.timeout(self._settings.server_selection_timeout):
                self.database.command(_PROBE)
        except PyMongoError as error:
            # With less time, as at the end of a deadline, the server may be healthy.
            self.note(error, waited=time.monotonic() - begun >= self._settings.server_selection_timeout * _ENOUGH)
            raise
        self.outages.end()

    def ping(self, seconds: float) -> Trouble | None:
        """Ask the server now; return why it does not answer in time, and record it."""
        is_known = self.database.client.topology_description.has_writable_server()
        try:
            with pymongo.timeout(seconds if is_known else max(seconds - _STEP, seconds / 2)):
                self.database.command(_PROBE)
        except PyMongoError as error:
            trouble = self.note(error, waited=True)
            if trouble is None:
                raise
            return trouble
        self.outages.end()
        return None

    def note(self, error: BaseException, *, waited: bool = False) -> Trouble | None:
        """Record what a driver's error says about the server.

        Returns what is wrong, where that is certain.
        ``waited`` means that the server had time to answer. If the error is not conclusive, the next use
        pings the server first.
        """
        if not concerns_server(error):
            return None
        known = None if self._database is None else self._database.client.topology_description
        self._writable, self.outages.suspected = None, True
        if not waited and not is_conclusive(error, known):
            return None
        trouble = trouble_of(error, known, self._seeds)
        self.outages.begin(trouble)
        return trouble

    def close(self) -> None:
        """Close the client if this object made it; the next use connects again."""
        with self._making:
            database, self._database = self._database, None
            self._collections, self._readable = {}, {}
            self.is_closed = self._given is None
        if database is not None and self._given is None:
            database.client.close()


def _parse(uri: str) -> tuple[str, tuple[Address, ...]]:
    try:
        parsed = parse_uri(uri)
    except (ConfigurationError, PyMongoError, ValueError) as error:
        raise DefinitionError(f"malformed MongoDB URI: {_problem_of(uri, error)}") from error
    if "@" in uri.partition("://")[2].partition("?")[0].partition("/")[2]:
        # The driver took a part of the password for a host or for the database, and both are named in logs.
        raise DefinitionError(f"malformed MongoDB URI: {_UNENCODED}")
    if not parsed["database"]:
        raise DefinitionError("the MongoDB URI must name a database: mongodb://host:27017/NAME")
    return str(parsed["database"]), tuple(parsed["nodelist"])


def _problem_of(uri: str, error: Exception) -> str:
    """Return what is wrong with a URI, without its user name and password."""
    scheme, _, rest = uri.partition("://")
    if scheme not in ("mongodb", "mongodb+srv"):
        return "it must begin with mongodb:// or mongodb+srv://"
    secret, _, _hosts = rest.rpartition("@")
    if not set(secret).isdisjoint("@/?#") or secret.count(":") > 1:
        return _UNENCODED
    text = str(error)
    if isinstance(error, ConfigurationError) and not any(part and part in text for part in secret.split(":")):
        return text
    return "expected mongodb://user:password@host:27017/NAME?option=value; only host and NAME needed"


def _describe(database: Database[Any]) -> tuple[str, tuple[Address, ...]]:
    return database.name, tuple(database.client.topology_description.server_descriptions())


def run_aside(fn: Callable[[], T], seconds: float | None = None) -> T:
    """Run a function outside of the caller's deadline; return its result.

    ``seconds`` are a deadline of its own. PyMongo can only shorten a deadline. All other variables, such as the current
    span of a tracer, are the caller's.
    """
    kept = [(variable, value) for variable, value in copy_context().items() if variable not in _DEADLINES]

    def run() -> T:
        for variable, value in kept:
            variable.set(value)
        with pymongo.timeout(seconds):
            return fn()

    return Context().run(run)


def _find_deadlines() -> frozenset[ContextVar[Any]]:
    """Return the variables in which PyMongo keeps a deadline."""
    context = Context()
    context.run(pymongo.timeout(1).__enter__)
    return frozenset(context)


_DEADLINES = _find_deadlines()
