"""Storages that call a function at a chosen database command of an operation.

A *point* lies before or after one command: there a second transaction can run, a deadline can
expire or a failure can strike. Commands are counted for each thread on its own.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from pymongo import _csot
from pymongo.database import Database

from gatewayfw.storage import MockStorage, MongoStorage


@dataclass(frozen=True)
class Point:
    """A place in an operation: ``when`` ("before" or "after") its n-th call, from 1, of a storage method.

    ``command`` is the method's name, or "commit".
    """

    command: str
    number: int
    when: str


class Steps(threading.local):
    """The points that the thread has passed since `watched` began."""

    def __init__(self):
        self.passed = None
        self._name = None
        self._counts = Counter()
        self._plan = None

    @contextmanager
    def watched(self, point=None, fn=None):
        """Note the points passed inside in the list given; call ``fn``, once, at ``point``."""
        self.passed, self._plan = [], (point, fn)
        self._counts.clear()
        try:
            yield self.passed
        finally:
            self.passed, self._plan = None, None

    @contextmanager
    def named(self, name):
        """Give commands inside a name; that of the outermost call counts."""
        outer = self._name
        self._name = outer or name
        try:
            yield
        finally:
            self._name = outer

    @contextmanager
    def command(self):
        """Pass the points before and after one command."""
        if self.passed is None or self._name is None:
            yield
            return
        self._counts[self._name] += 1
        name, number = self._name, self._counts[self._name]
        self._pass(Point(name, number, "before"))
        yield
        self._pass(Point(name, number, "after"))

    def _pass(self, point):
        self.passed.append(point)
        wanted, fn = self._plan
        if point == wanted:
            self._plan = (None, None)
            fn()


class _Named:
    """Gives the commands of each method its name."""

    def __init__(self, database):
        super().__init__(database)
        self.steps = Steps()

    def touch(self, *args, **keys):
        with self.steps.named("touch"):
            return super().touch(*args, **keys)

    def touch_many(self, *args, **keys):
        with self.steps.named("touch_many"):
            return super().touch_many(*args, **keys)

    def insert(self, *args, **keys):
        with self.steps.named("insert"):
            return super().insert(*args, **keys)

    def update_one(self, *args, **keys):
        with self.steps.named("update_one"):
            return super().update_one(*args, **keys)

    def update_many(self, *args, **keys):
        with self.steps.named("update_many"):
            return super().update_many(*args, **keys)

    def update_each(self, *args, **keys):
        with self.steps.named("update_each"):
            return super().update_each(*args, **keys)

    def delete_many(self, *args, **keys):
        with self.steps.named("delete_many"):
            return super().delete_many(*args, **keys)

    def count(self, *args, **keys):
        with self.steps.named("count"):
            return super().count(*args, **keys)


class SteppingMongo(_Named, MongoStorage):
    """A `MongoStorage` with points.

    Attributes:
        again: set when a transaction, of any thread, begins for the second time.
    """

    def __init__(self, database):
        super().__init__(database)
        self.again = threading.Event()

    def counts_locks(self):
        """Return False, so that each run of an operation passes the points of the first one."""
        return False

    def transaction(self, fn, *args, **keys):
        runs = []

        def counted():
            runs.append(1)
            if len(runs) == 2:
                self.again.set()
            return fn()

        return super().transaction(counted, *args, **keys)

    def find(self, *args, **keys):
        return iter(list(super().find(*args, **keys)))

    def _drain(self, cursor):
        with self.steps.named("find"):
            yield from super()._drain(cursor)

    @contextmanager
    def _command(self, **options):
        with super()._command(**options) as session, self.steps.command():
            yield session

    def _commit(self, *args, **keys):
        with self.steps.named("commit"), self.steps.command():
            super()._commit(*args, **keys)


class UntouchingMongo(SteppingMongo):
    """A storage that reads where it should touch, to show what the touch is for."""

    def touch(self, collection, filter, fields, update=None, *, lock):
        return self.update_one(collection, filter, update, fields) if update else self._read(collection, filter, fields)

    def touch_many(self, collection, ids, changes=(), *, lock):
        for filter, update in changes:
            self.update_many(collection, filter, update)

    def _read(self, collection, filter, fields):
        return next(self.find(collection, filter, fields, limit=1), None)


class SteppingMock(_Named, MockStorage):
    """A `MockStorage` with points."""

    def locked(self):
        """Return the collections that another client cannot write: here there is none."""
        return []

    def find(self, *args, **keys):
        with self.steps.named("find"):
            return super().find(*args, **keys)

    @contextmanager
    def _driver(self):
        with super()._driver(), self.steps.command():
            yield


def expire(scope):
    """Let the deadline of ``scope`` and those around it be over, for the driver too."""
    scope.end()
    if _csot.DEADLINE.get() < math.inf:
        _csot.DEADLINE.set(time.monotonic() - 1)


class Elsewhere:
    """Runs an operation in a second thread, on a storage of its own, until it is done or has to begin again."""

    def __init__(self, storage, fn):
        self._storage = storage
        self._fn = fn
        self._pool = ThreadPoolExecutor(1)
        self._future = None

    def begin(self):
        """Start it, and return once it is done or has lost against what the caller holds."""
        self._storage.again.clear()
        self._future = self._pool.submit(outcome, self._fn)
        self._future.add_done_callback(lambda _: self._storage.again.set())
        assert self._storage.again.wait(60)

    def result(self):
        """Return its outcome when it is over."""
        with self._pool:
            return self._future.result(60)


def outcome(fn):
    """Return what a call gives, or the class of what it raises."""
    try:
        return fn()
    except (Exception, KeyboardInterrupt) as error:
        return type(error)


class Stored:
    """Everything in a database, to be put back."""

    def __init__(self, database):
        self._database = database
        self._documents = {name: list(database[name].find().sort("_id")) for name in database.list_collection_names()}
        self._states = states_of(database)

    def restore(self):
        """Put the documents back as they were, and remove all others."""
        for name, state in states_of(self._database).items():
            if state != self._states.get(name):
                self._database[name].delete_many({})
                if documents := self._documents.get(name):
                    self._database[name].insert_many([dict(document) for document in documents])


def states_of(database):
    """Return by collection what differs when its documents do: of MongoDB a hash, which is quick to get."""
    if isinstance(database, Database):
        return database.command("dbHash")["collections"]
    return {name: list(database[name].find().sort("_id")) for name in database.list_collection_names()}
