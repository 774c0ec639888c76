"""Whether a process can serve: gatewayfw.odm.readiness."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from types import SimpleNamespace

import mongomock
import pytest

from gatewayfw.errors import StorageError, Timeout, Unavailable
from gatewayfw.odm import Odm, readiness
from gatewayfw.odm.jobs.records import COLLECTION, now
from gatewayfw.odm.readiness import ReadinessState, find_lacking
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from gatewayfw.storage import Index, MockStorage, Trouble
from tests.waiting import wait_until

READY = ReadinessState("ok", 0, 0.0)
#: Seconds: of a look at most, for which it is shared, after which an index is looked for again.
BOUND, SHARED, AGAIN = 1.0, 0.5, 30.0
UNIQUE = {"options": {"unique": True}}


class Shared(MockStorage):
    """Data in memory as a database that others use, which says what it was asked."""

    multi_process = True

    def __init__(self):
        self.db = mongomock.MongoClient().test
        super().__init__(self.db)
        self.asked = []
        self.raised = {}
        self.answer = None

    def ping(self):
        self._ask("ping")
        return self.answer

    def indexes(self, collection):
        self._ask("indexes", collection)
        return super().indexes(collection)

    def find(self, collection, *args, **options):
        self._ask("find", collection)
        return super().find(collection, *args, **options)

    def _ask(self, *what):
        self.asked.append(what)
        if what[0] in self.raised:
            raise self.raised[what[0]]


@pytest.fixture(autouse=True)
def _no_share(monkeypatch):
    """Look each time."""
    monkeypatch.setattr(readiness, "SHARED", 0)


@pytest.fixture
def shared():
    return Shared()


@pytest.fixture
def shop(odm_on, shared):
    """Users with a unique e-mail, books with a unique title, and plain tags; no index is built."""
    odm = odm_on(shared)
    define(odm)
    return odm


def define(odm):
    for name, field, unique in (("book", "title", True), ("tag", "word", False), ("user", "email", True)):
        index = {"indexSpec": {field: 1}, **(UNIQUE if unique else {})}
        odm.new_model(name, {field: string()}, {}, {"createIndex": index})


def asked(storage, what):
    found = [names for kind, *names in storage.asked if kind == what]
    storage.asked.clear()
    return found


# -- the state


def test_a_database_that_has_everything_is_ready(odm):
    define(odm)
    odm.ready()
    assert odm.readiness.state() == READY


def test_without_a_database_there_is_nothing_to_wait_for():
    assert Odm(Schemas(Settings()), Settings()).readiness.state() == READY


@pytest.mark.mongo
def test_an_index_that_was_dropped_is_missing(odm_on, mongo_database, monkeypatch):
    monkeypatch.setattr(readiness, "AGAIN", 0)
    odm = odm_on(mongo_database)
    define(odm)
    odm.ready()
    assert odm.readiness.state() == READY
    mongo_database.book.drop_index("title_1")
    assert odm.readiness.state() == ReadinessState("index_missing", 0, 0.0)


def test_a_look_is_bounded(shop, shared):
    shared.ping = lambda: Trouble("unreachable" if shared.scope.remaining() <= BOUND else "wrong_set", "in words")
    assert shop.readiness.state() == ReadinessState("unreachable")


@pytest.mark.parametrize("kind", ["unreachable", "unauthenticated", "no_primary", "wrong_set"])
def test_what_the_adapter_says_is_passed_on(shop, shared, kind):
    shared.answer = Trouble(kind, "in words")
    assert shop.readiness.state() == ReadinessState(kind)


@pytest.mark.parametrize("what", ["ping", "indexes"])
@pytest.mark.parametrize(
    ("error", "word"), [(Unavailable(), "unreachable"), (Timeout(), "unreachable"), (StorageError(), "error")]
)
def test_what_fails_is_a_word(shop, shared, what, error, word):
    shared.raised[what] = error
    assert shop.readiness.state() == ReadinessState(word)


def test_an_error_is_logged_once(shop, shared, caplog):
    shop.ready()
    for error in (StorageError(), StorageError(), None, StorageError()):
        shared.raised = {} if error is None else {"ping": error}
        shop.readiness.state()
    assert [(record.name, record.getMessage().partition("\n")[0]) for record in caplog.records] == [
        ("gatewayfw.odm", "not ready")
    ] * 2
    assert "StorageError" in caplog.messages[0]


# -- jobs


def test_jobs_are_told_and_do_not_matter(odm):
    odm.ready()
    made = now() - timedelta(seconds=100)
    odm.storage.insert(COLLECTION, [{"_id": str(n), "since": made + timedelta(seconds=n)} for n in range(3)])
    state = odm.readiness.state()
    assert replace(state, oldest=0.0) == ReadinessState("ok", 3, 0.0)
    assert state.oldest >= 100


def test_a_job_of_a_clock_that_goes_ahead_has_no_age(odm):
    odm.ready()
    odm.storage.insert(COLLECTION, [{"_id": "a", "since": now() + timedelta(seconds=1_000)}])
    assert odm.readiness.state() == ReadinessState("ok", 1, 0.0)


@pytest.mark.parametrize("error", [Timeout(), StorageError()])
def test_jobs_that_cannot_be_counted_do_not_matter(shop, shared, error):
    shop.ready()
    shared.raised["find"] = error
    assert shop.readiness.state() == ReadinessState("ok", None, None)


# -- indexes


def test_a_unique_index_that_is_not_there_is_logged_once(shop, caplog):
    words = [shop.readiness.state().word for _ in range(3)]
    text = "not ready: book has no unique index {'title': 1}"
    assert (words, caplog.messages) == (["index_missing"] * 3, [text])


def test_only_collections_with_unique_indexes_are_looked_at_and_then_remembered(shop, shared):
    shop.ready()
    shared.asked.clear()
    first = (shop.readiness.state(), asked(shared, "indexes"))
    assert first == (READY, [["book"], ["user"]])
    assert (shop.readiness.state(), asked(shared, "indexes")) == (READY, [])


def test_one_remembered_collection_is_looked_at_again_with_each_look(shop, shared, monkeypatch):
    monkeypatch.setattr(readiness, "AGAIN", 0)
    shop.ready()
    shop.readiness.state()
    shared.asked.clear()
    for _ in range(3):
        shop.readiness.state()
    assert asked(shared, "indexes") == [["book"], ["user"], ["book"]]
    shared.db.user.drop_indexes()
    assert [shop.readiness.state() for _ in range(3)] == [ReadinessState("index_missing", 0, 0.0)] * 3
    shared.ensure("user", [Index((("email", 1),), {"unique": True})], 10)
    assert shop.readiness.state() == READY


def test_a_look_goes_on_where_the_last_one_ended(shop, shared):
    shop.ready()
    shared.asked.clear()
    ensured, looked = shared.indexes, []

    def slow(collection):
        looked.append(collection)
        if collection == "user" and len(looked) == 2:
            raise Timeout
        return ensured(collection)

    shared.indexes = slow
    words = [shop.readiness.state().word for _ in range(2)]
    assert (words, looked) == (["unreachable", "ok"], ["book", "user", "user"])


def test_new_models_are_looked_at(shop, shared):
    shop.ready()
    assert shop.readiness.state() == READY
    shop.new_model("shelf", {"place": string()}, {}, {"createIndex": {"indexSpec": {"place": 1}, **UNIQUE}})
    assert shop.readiness.state().word == "index_missing"


def test_another_database_is_looked_at_anew(shop):
    shop.ready()
    assert shop.readiness.state() == READY
    shop.set_db(Shared())
    assert shop.readiness.state().word == "index_missing"


def test_missing_indexes_are_built_beside(shop):
    assert shop.readiness.state().word == "index_missing"
    shop.readiness.prepare()
    assert wait_until(lambda: shop.readiness.state() == READY)


def test_indexes_are_built_by_one_thread_that_ends_with_the_process(shop, shared):
    begun, ended, built = threading.Event(), threading.Event(), []

    def ensure(*_):
        built.append(threading.current_thread())
        begun.set()
        ended.wait(10)
        return []

    shared.ensure = ensure
    for _ in range(3):
        shop.readiness.prepare()
    begun.wait(10)
    (thread,) = (one for one in threading.enumerate() if one.name == "gatewayfw-indexes")
    assert built == [thread]
    assert thread.daemon is True
    ended.set()
    thread.join(10)
    assert not thread.is_alive()


def test_a_build_that_fails_is_logged_and_tried_again(shop, shared, caplog):
    ensure = shared.ensure
    shared.ensure = lambda *_: (_ for _ in ()).throw(Unavailable())
    shop.readiness.prepare()
    wait_until(lambda: caplog.messages)
    assert caplog.messages == ["indexes were not built: service unavailable, try again"]
    shared.ensure = ensure
    assert wait_until(lambda: shop.readiness.prepare() or shop.readiness.state() == READY)


@pytest.mark.parametrize(
    ("present", "lacks"),
    [
        ([], True),
        ([Index((("a", 1),))], True),
        ([Index((("a", -1),), {"unique": True})], True),
        ([Index((("a", 1),), {"unique": True})], False),
        ([Index((("a", 1),), {"unique": True, "sparse": True, "name": "x"})], False),
    ],
    ids=["none", "not unique", "other order", "it", "other options"],
)
def test_an_index_is_there_if_it_is_unique(present, lacks):
    wanted = Index((("a", 1),), {"unique": True})
    assert find_lacking([wanted], present) == (wanted if lacks else None)


# -- many who ask


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when a test says so, and looks that are shared."""
    times = [1_000.0]
    monkeypatch.setattr(readiness, "monotonic", lambda: times[0])
    monkeypatch.setattr(readiness, "SHARED", SHARED)
    return times


def test_a_process_looks_twice_a_second_however_many_ask(shop, shared, clock):
    shop.ready()
    shared.asked.clear()
    looks = []
    for passed in (0, 0.499, 0.5, 0.999, 1.0):
        clock[0] = 1_000.0 + passed
        assert shop.readiness.state() == READY
        looks.append(len(asked(shared, "ping")))
    assert looks == [1, 0, 1, 0, 1]


def test_an_index_is_looked_for_again_after_half_a_minute(shop, shared, clock):
    shop.ready()
    shared.asked.clear()
    looks = []
    for passed in (0, 29.4, 30, 31, 59.9):
        clock[0] = 1_000.0 + passed
        shop.readiness.state()
        looks.append(asked(shared, "indexes"))
    assert looks == [[["book"], ["user"]], [], [["book"]], [["user"]], []]


def test_a_result_is_given_for_as_long_as_another_look_may_take(shop, hanging, clock, monkeypatch):
    shop.ready()
    assert readiness.BOUND == BOUND
    assert readiness.AGAIN == AGAIN
    assert shop.readiness.state() == READY
    monkeypatch.setattr(readiness, "BOUND", 0.05)
    clock[0] += 0.54
    hanging()
    recent = shop.readiness.state()
    clock[0] += 0.02
    assert (recent, shop.readiness.state()) == (READY, ReadinessState("unreachable"))


def test_a_look_is_shared(shop, shared, monkeypatch):
    shop.ready()
    monkeypatch.setattr(readiness, "SHARED", 1000)
    shared.asked.clear()
    assert ([shop.readiness.state() for _ in range(5)], asked(shared, "ping")) == ([READY] * 5, [[]])


@pytest.fixture
def hanging(shop, shared):
    """A function that makes the database hang, and one thread look at it; it returns what ends that."""
    begun, ended = threading.Event(), threading.Event()
    threads = []

    def hang():
        def ping():
            shared.asked.append(("ping",))
            begun.set()
            ended.wait(60)

        shared.ping = ping
        threads.append(threading.Thread(target=shop.readiness.state))
        threads[0].start()
        begun.wait(60)
        return ended.set

    yield hang
    ended.set()
    for thread in threads:
        thread.join()


def test_while_one_looks_others_get_the_last_result_at_once(shop, hanging, monkeypatch):
    shop.ready()
    assert shop.readiness.state() == READY
    monkeypatch.setattr(readiness, "BOUND", 1000)  # a test that waits for the other one never ends
    hanging()
    begun = monotonic()
    assert [shop.readiness.state() for _ in range(50)] == [READY] * 50
    assert monotonic() - begun < 30


def test_while_one_looks_others_do_not_wait_for_long(shop, hanging, monkeypatch):
    shop.ready()
    monkeypatch.setattr(readiness, "BOUND", 0.05)
    hanging()
    assert [shop.readiness.state() for _ in range(2)] == [ReadinessState("unreachable")] * 2


def test_those_who_wait_get_the_result_of_the_one_that_looks(shop, shared, hanging, monkeypatch):
    shop.ready()
    shared.asked.clear()
    monkeypatch.setattr(readiness, "SHARED", 1000)
    monkeypatch.setattr(readiness, "BOUND", 60)
    end = hanging()
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(shop.readiness.state) for _ in range(4)]
        end()
        assert [one.result() for one in waiting] == [READY] * 4
    assert asked(shared, "ping") == [[]]


def test_a_process_of_greenlets_is_not_ready_and_says_so_once(shop, monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "gevent.monkey", SimpleNamespace(is_module_patched=lambda part: True))
    assert [shop.readiness.state() for _ in range(2)] == [ReadinessState("greenlets")] * 2
    assert caplog.messages == ["not ready: gevent has replaced threads by greenlets"]
