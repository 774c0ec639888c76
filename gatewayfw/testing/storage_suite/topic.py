"""What the tests of all topics begin with."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Event
from typing import Any, TypeVar

import pytest
from bson import ObjectId

from gatewayfw.storage import Document, Lock, Scope, Storage

T = TypeVar("T")
DAY = datetime(2024, 2, 29, 12, 30, 15, 123_000)
ID = ObjectId("65a000000000000000000001")
LATER_ID = ObjectId("65a000000000000000000002")
#: A deadline that no test reaches unless it waits for it.
LONG = 20.0
#: How these tests lock, and where that shows.
LOCK = Lock("hidden.locks")
TOGETHER = pytest.mark.parametrize("together", [False, True], ids=["alone", "in a transaction"])


def parametrize(table: Mapping[str, Any]) -> pytest.MarkDecorator:
    """Run a test once for each row of a table, as `row`."""
    return pytest.mark.parametrize("row", table.values(), ids=table)


def add_ids(documents: Sequence[Document]) -> list[Document]:
    """Give documents the ids 1, 2, 3... in their order."""
    return [{"_id": number, **document} for number, document in enumerate(documents, start=1)]


def read_all(storage: Storage, collection: str = "things") -> list[Document]:
    """Return what a collection holds, ordered by id, without the counter of locks."""
    return [remove_locks(document) for document in storage.find(collection, {}, sort=[("_id", 1)])]


def remove_locks(document: Document) -> Document:
    """Return a document without the counter of locks."""
    hidden = {key: value for key, value in document.pop("hidden", {}).items() if key != "locks"}
    return {**document, "hidden": hidden} if hidden else document


def collect_ids(documents: Sequence[Document]) -> list[Any]:
    """Return the ids of documents in their order."""
    return [document["_id"] for document in documents]


def run_at_once(fn: Callable[[], T]) -> T:
    """Run something outside of transactions."""
    return fn()


def run_elsewhere(fn: Callable[[], T]) -> T:
    """Run in another thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(fn).result()


def wait_for_the_end(scope: Scope) -> None:
    """Wait until nothing of a deadline remains."""
    while scope.remaining():
        Event().wait(scope.remaining())


class Topic:
    """A part of the suite."""

    @pytest.fixture
    def storage(self) -> Storage:
        """An empty storage that has transactions; one of its own for each test."""
        raise NotImplementedError("override the fixture `storage`: return an empty storage")
