"""Counters of calls: exact under threads and processes, bounded in memory, safe to fork."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Event
from types import SimpleNamespace

import pytest
from pymongo import MongoClient

from gatewayfw import limits as counters
from gatewayfw.errors import Unavailable
from gatewayfw.limits import MemoryCounters, MongoCounters, RateLimits, database_of


@pytest.fixture
def uri(mongod_uri, mongo_database):
    """The URI of an empty database."""
    return mongod_uri.replace("/?", f"/{mongo_database.name}?")


def parse(text):
    """The one rate that a text means."""
    (rate,) = RateLimits().parse([text])
    return rate


def open_counters(uri, seconds):
    return MongoCounters(uri, database_of(uri), seconds)


@pytest.fixture(params=["memory", pytest.param("mongo", marks=pytest.mark.mongo)])
def counted(request):
    """Counters in memory, and on MongoDB."""
    made = MemoryCounters() if request.param == "memory" else open_counters(request.getfixturevalue("uri"), 2.0)
    yield made
    made.close()


@pytest.fixture
def clock(monkeypatch):
    """The time that counters in memory see; a list of one."""
    now = [1000.0]
    monkeypatch.setattr(counters, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def take(counted, text, key="k"):
    """Take one call; true when it passed."""
    return counted.take(parse(text), key, 5.0) == 0


def test_so_many_calls_pass_and_then_the_wait_is_told(counted):
    rate = parse("3/hour")
    assert [counted.take(rate, "a", 5.0) for _ in range(3)] == [0, 0, 0]
    assert 3500 < counted.take(rate, "a", 5.0) <= 3600
    assert counted.take(rate, "b", 5.0) == 0


def test_spans_of_another_length_or_amount_are_others(counted):
    assert [take(counted, text) for text in ("1/minute", "1/hour", "2/minute", "1 per 2 minutes")] == [True] * 4
    assert [take(counted, text) for text in ("1/minute", "1/hour", "2/minute", "1 per 2 minutes")] == [
        False,
        False,
        True,
        False,
    ]


def test_a_span_frees_its_oldest_call_first(counted):
    assert [take(counted, "2/second") for _ in range(3)] == [True, True, False]
    waits = []
    while wait := counted.take(parse("2/second"), "k", 5.0):
        waits.append(wait)
        Event().wait(wait)
    assert len(waits) <= 3  # one; but another clock may be a little off
    assert max(waits) <= 1


def test_exactly_so_many_of_eight_threads_pass(counted):
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda number: take(counted, "50/hour"), range(200))) == 50


def test_first_calls_at_the_same_time_all_pass(counted):
    with ThreadPoolExecutor(8) as pool:
        calls = [f"key {number // 8}" for number in range(320)]
        assert all(pool.map(lambda key: take(counted, "8/hour", key), calls))


class SlowRate:
    """Five an hour, told so slowly that threads overtake each other."""

    seconds = 3600

    @property
    def calls(self):
        time.sleep(0.005)
        return 5

    def key_for(self, key):
        return key


def test_the_count_in_memory_is_one_step():
    counted = MemoryCounters()
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda number: counted.take(SlowRate(), "k", 5.0) == 0, range(16))) == 5


PROGRAM = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from gatewayfw.limits import RateLimits
from gatewayfw.acts.context import Context
from gatewayfw.errors import RateLimited
from gatewayfw.settings import Settings

limits = RateLimits(Settings(rate_limit_storage=sys.argv[1]))
rates = limits.parse(["100/hour"])

def passed(_):
    try:
        limits.count("main.user.add", rates, Context(Address="192.0.2.1"), lambda: 20.0)
    except RateLimited:
        return 0
    return 1

first = passed(0)
children = []
for _ in range(2):
    reader, writer = os.pipe()
    if os.fork() == 0:
        with ThreadPoolExecutor(8) as pool:
            os.write(writer, str(sum(pool.map(passed, range(100)))).encode())
        os._exit(0)
    os.close(writer)
    children.append(reader)
counts = [int(os.read(reader, 100)) for reader in children]
print(first, sum(counts), *(counts if sys.argv[1] == "memory://" else []))
limits.close()
"""


def run(uri):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, uri], capture_output=True, text=True, timeout=120
    )
    return done.stdout.split(), done.stderr


@pytest.mark.mongo
@pytest.mark.slow
def test_two_forked_processes_of_eight_threads_share_one_count(uri):
    assert run(uri) == (["1", "99"], "")


@pytest.mark.slow
def test_forked_processes_count_apart_in_memory(uri):
    assert run("memory://") == (["1", "200", "100", "100"], "")


def test_memory_is_given_back_when_spans_have_passed(clock):
    counted = MemoryCounters()
    for number in range(1000):
        assert take(counted, "5/minute", str(number))
    clock[0] += 61
    for number in range(600):
        assert take(counted, "5/minute", f"new {number}")
    assert counted._keys == 600
    assert counted._entries == 600
    assert sum(map(len, counted._calls.values())) == 600


def test_a_call_is_forgotten_at_the_end_of_its_span_and_not_before(clock):
    counted, rate = MemoryCounters(), parse("2/minute")
    waits = []
    for at in (0.0, 10.0, 20.0, 59.5, 60.0, 60.0, 70.0):
        clock[0] = 1000.0 + at
        waits.append(counted.take(rate, "k", 5.0))
    assert waits == [0.0, 0.0, 40.0, 0.5, 0.0, 10.0, 0.0]


def test_a_caller_whose_last_call_is_as_old_as_the_span_is_forgotten(clock):
    counted = MemoryCounters()
    take(counted, "5/minute", "old")
    clock[0] += 60
    take(counted, "5/minute", "new")
    assert (counted._keys, counted._entries) == (1, 1)


def test_no_call_forgets_more_than_two_others(clock):
    counted, left = MemoryCounters(), []
    for number in range(6):
        take(counted, "5/minute", str(number))
    clock[0] += 61
    for number in range(3):
        take(counted, "5/minute", f"new {number}")
        left.append(counted._keys)
    assert left == [5, 4, 3]


def test_nothing_is_remembered_after_the_end(clock):
    counted = MemoryCounters()
    assert take(counted, "1/minute")
    counted.close()
    assert (counted._keys, counted._entries) == (0, 0)
    assert take(counted, "1/minute")


def test_so_many_callers_and_calls_are_remembered_unless_said_otherwise():
    """Their memory, 35 and 16 MB, is in the documents."""
    bounds = inspect.signature(MemoryCounters).parameters
    assert {name: bound.default for name, bound in bounds.items()} == {"keys": 100_000, "calls": 2_000_000}


def test_the_callers_remembered_are_bounded_and_the_longest_silent_go_first(clock):
    counted = MemoryCounters(keys=10)
    assert take(counted, "1/day", "of another span")
    for number in range(30):
        clock[0] += 0.1
        assert take(counted, "1/minute", str(number))
    assert [take(counted, "1/minute", "29"), take(counted, "1/day", "of another span")] == [False, False]
    assert (counted._keys, counted._entries) == (10, 10)
    assert take(counted, "1/minute", "0")


def test_a_busy_caller_is_not_the_first_to_be_forgotten(clock):
    counted = MemoryCounters(keys=3)
    assert all(take(counted, "2/minute", key) for key in "abcad")
    assert [take(counted, "2/minute", key) for key in "ab"] == [False, True]


def test_what_expired_is_given_back_though_one_caller_stays_busy(clock):
    counted = MemoryCounters()
    for at, key in [(0, "busy"), (0, "b"), (0, "c"), (59, "busy"), (61, "busy")]:
        clock[0] = 1000.0 + at
        assert take(counted, "5/minute", key)
    assert (counted._keys, counted._entries) == (1, 2)


def test_callers_of_one_limit_do_not_crowd_out_the_few_of_another(clock):
    counted = MemoryCounters(keys=10)
    for number in range(10):
        assert take(counted, "1/minute", str(number))
    assert [take(counted, "1/day"), take(counted, "1/day")] == [True, False]


def test_the_calls_remembered_are_bounded(clock):
    counted = MemoryCounters(calls=10)
    for number in range(30):
        assert take(counted, "5/minute", str(number // 4))
    assert counted._entries <= 10
    assert [take(counted, "5/minute", "7") for _ in range(4)] == [True, True, True, False]


@pytest.mark.mongo
def test_the_index_that_forgets_calls_is_made_after_a_failure(uri, mongo_database, monkeypatch):
    counted = open_counters(uri, 2.0)
    with monkeypatch.context() as patch:
        patch.setattr("pymongo.collection.Collection.create_index", lambda *args, **keys: fail())
        with pytest.raises(Unavailable):
            take(counted, "1/minute")
    assert take(counted, "1/minute")
    index = mongo_database["_gw_limits"].index_information()["expireAt_1"]
    assert index["expireAfterSeconds"] == 0
    counted.close()


def fail():
    raise counters.PyMongoError


def test_the_client_of_the_counters_is_one_of_short_patience(monkeypatch):
    asked = []

    class Client(MongoClient[dict]):
        def __init__(self, *words, **names):
            asked.append((words, names))
            super().__init__(*words, **names)

        def __class_getitem__(cls, _):
            return cls

    monkeypatch.setattr(counters, "MongoClient", Client)
    open_counters("mongodb://127.0.0.1/shop", 1.5).close()
    assert asked == [
        (
            ("mongodb://127.0.0.1/shop",),
            {
                "connect": False,
                "appname": "gatewayfw",
                "readPreference": "primary",
                "serverSelectionTimeoutMS": 1500,
                "connectTimeoutMS": 1500,
                "waitQueueTimeoutMS": 1000,
            },
        )
    ]


@pytest.mark.parametrize(("left", "limit"), [(5.0, 2.0), (1.0, 1.0), (0.0, 0.001), (-1.0, 0.001)])
def test_a_call_waits_as_long_as_it_may_and_the_log_says_why_it_failed(monkeypatch, caplog, left, limit):
    waits = []

    def refuse(seconds):
        waits.append(seconds)
        fail()

    monkeypatch.setattr("pymongo.timeout", refuse)
    with pytest.raises(Unavailable):
        open_counters("mongodb://h/shop", 2.0).take(parse("1/minute"), "k", left)
    text = "calls cannot be counted, so rate-limited calls are refused: PyMongoError"
    assert (waits, caplog.record_tuples) == ([limit], [("gatewayfw.acts", logging.WARNING, text)])


@pytest.mark.mongo
def test_what_is_stored_is_the_calls_of_the_span_and_when_to_forget_them(uri, mongo_database, monkeypatch):
    now = [1_000_000.0]
    monkeypatch.setattr(counters, "time", SimpleNamespace(time=lambda: now[0]))
    counted, waits = open_counters(uri, 2.0), []
    for later in (0.0, 20.0, 20.0, 20.0):
        now[0] += later
        waits.append(counted.take(parse("2/minute"), "k", 5.0))
    assert waits == [0.0, 0.0, 20.0, 0.0]  # the first is forgotten at the end of its span, and not before
    (stored,) = mongo_database["_gw_limits"].find()
    assert stored == {
        "_id": "k/2/60",
        "calls": [1_000_020.0, 1_000_060.0],
        "expireAt": datetime(1970, 1, 12, 13, 48, 40),
    }
    counted.close()


def test_threads_do_not_queue_for_a_lost_server(closed_port):
    counted = open_counters(f"mongodb://127.0.0.1:{closed_port}/x", 0.5)

    def lost(_):
        with pytest.raises(Unavailable):
            take(counted, "1/minute")
        return True

    with ThreadPoolExecutor(16) as pool:
        before = time.perf_counter()
        assert all(pool.map(lost, range(16)))
    assert time.perf_counter() - before < 6  # one after the other they would take longer than 8
    counted.close()
