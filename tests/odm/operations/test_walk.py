"""Which documents a walk visits, in which batches, and how long it rests between them."""

from __future__ import annotations

import contextlib

import pytest
from bson import ObjectId

from gatewayfw.errors import TooLarge, Unavailable, ValidationError
from gatewayfw.odm.database import Done
from gatewayfw.odm.operations.walk import FIRST, MOST, QUICK, Pace, Walk, at_attempt, next_size, of_ids
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.storage.terms import WriteConflict

IDS = [ObjectId(f"{number:024x}") for number in range(100)]
#: One id of each type, in MongoDB's order.
TYPES = [None, -1.5, 2, "a", {"a": 1}, b"a", IDS[1], False, True]


class Transactions:
    """Stands for a `Database`: runs each operation as often as the plan says, with a limit for its copies."""

    def __init__(self, storage=None, attempts=(), limit=float("inf")):
        self.storage = storage
        self._attempts = list(attempts)
        self._limit = limit
        self.tried = []

    def run(self, operation):
        for _ in range(self._attempts.pop(0) if self._attempts else 1):
            done = operation(Attempt(None, None, self._limit))
            self.tried.append(len(done))
        return Done(done)


@pytest.fixture
def quick():
    """A pace for which no time passes."""
    return Pace(lambda: 0.0, lambda seconds: None)


def sizes(walk, pages, begin=lambda attempt, effects, ids: lambda id_: id_, counts=lambda result: True):
    return [len(ids) for ids, _done in walk.batches(pages, begin, counts)]


# -- pages


@pytest.mark.parametrize("most", [1, 2, 3, 1_000])
def test_pages_have_the_ids_of_every_type_in_order(storage, quick, monkeypatch, most):
    monkeypatch.setattr("gatewayfw.odm.operations.walk.MOST", most)
    storage.insert("things", [{"_id": id_} for id_ in reversed(TYPES)])
    walk = Walk(Transactions(storage), "things", {}, quick)
    assert [id_ for page in walk.pages() for id_ in page] == TYPES


def test_pages_have_what_matches(storage, quick):
    storage.insert("things", [{"_id": id_, "a": number % 3} for number, id_ in enumerate(IDS[:9])])
    wanted = {"a": 1, "_id": {"$ne": IDS[4]}}
    for walk in (Walk(Transactions(storage), "things", wanted, quick), Walk(Transactions(storage), "things", wanted)):
        assert list(walk.pages()) == [[IDS[1], IDS[7]]]


def test_nothing_matches(storage, quick):
    storage.insert("things", [{"_id": IDS[0]}])
    assert list(Walk(Transactions(storage), "things", {"a": 1}, quick).pages()) == [[]]
    assert list(Walk(Transactions(storage), "things", {"a": 1}).pages()) == [[]]


def test_a_walk_ends_where_it_would_have_ended_at_its_start(storage, quick, monkeypatch):
    """Otherwise it would not end while others insert faster than it visits."""
    monkeypatch.setattr("gatewayfw.odm.operations.walk.MOST", 2)
    storage.insert("things", [{"_id": IDS[at]} for at in (1, 3, 5, 7)])
    pages = Walk(Transactions(storage), "things", {}, quick).pages()
    first = next(pages)
    storage.insert("things", [{"_id": IDS[at]} for at in (2, 4, 6, 8)])
    assert (first, list(pages)) == ([IDS[1], IDS[3]], [[IDS[4], IDS[5]], [IDS[6], IDS[7]]])


def test_pages_are_bounded(storage, quick, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.operations.walk.MOST", 4)
    storage.insert("things", [{"_id": id_} for id_ in IDS[:9]])
    assert list(Walk(Transactions(storage), "things", {}, quick).pages()) == [IDS[:4], IDS[4:8], IDS[8:9]]


def test_a_transaction_takes_so_many_documents_and_no_more(storage, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.operations.walk.MOST", 4)
    storage.insert("things", [{"_id": id_} for id_ in IDS[:4]])
    assert list(Walk(Transactions(storage), "things", {}).pages()) == [IDS[:4]]
    storage.insert("things", [{"_id": IDS[4]}])
    with pytest.raises(TooLarge) as caught:
        next(Walk(Transactions(storage), "things", {}).pages())
    assert caught.value.message == "more than 4 documents of things match, too many for one transaction"


@pytest.mark.parametrize(
    ("wanted", "both"),
    [
        ({"a": 1}, {"a": 1, "_id": 5}),
        ({"a": 1, "_id": 6}, {"$and": [{"a": 1, "_id": 6}, {"_id": 5}]}),
        ({}, {"_id": 5}),
    ],
)
def test_a_condition_on_ids_replaces_none(wanted, both):
    assert of_ids(wanted, 5) == both


# -- batches


def test_batches_grow_while_they_are_quick(quick):
    assert sizes(Walk(Transactions(), "things", {}, quick), [IDS, IDS[:5]]) == [10, 15, 23, 35, 17, 5]


def test_a_batch_is_halved_after_each_conflict_and_the_rest_comes_later(quick):
    database = Transactions(attempts=[1, 3, 1, 5])
    assert sizes(Walk(database, "things", {}, quick), [IDS[:24]]) == [10, 3, 3, 1, 1, 2, 3, 1]
    assert database.tried == [10, 14, 7, 3, 3, 5, 2, 1, 1, 1, 1, 2, 3, 1]


class Losing(Transactions):
    """Begins an operation again after each conflict."""

    def run(self, operation):
        while True:
            with contextlib.suppress(WriteConflict):
                return super().run(operation)


@pytest.mark.parametrize(("number", "first"), [(0, 10), (1, 5), (9, 5)])
def test_a_conflict_in_the_first_visit_has_nothing_to_do_with_the_size(quick, number, first):
    conflicts = [WriteConflict()]

    def visit(id_):
        if id_ == IDS[number] and conflicts:
            raise conflicts.pop()

    found = sizes(Walk(Losing(), "things", {}, quick), [IDS[:20]], lambda attempt, effects, ids: visit)
    assert found[0] == first


def test_every_document_is_visited_once_and_in_order(quick):
    visited = []
    walk = Walk(Transactions(attempts=[1, 1]), "things", {}, quick)
    for ids, done in walk.batches([IDS[:20], IDS[20:33]], lambda attempt, effects, ids: visited.append, bool):
        assert len(ids) == len(done.result)
    assert visited == IDS[:33]


def test_a_batch_ends_where_the_next_document_might_exceed_the_limit(quick):
    def begin(attempt, effects, ids):
        return lambda id_: attempt.spend(3)

    assert sizes(Walk(Transactions(limit=10), "things", {}, quick), [IDS[:8]], begin) == [3, 3, 2]
    assert sizes(Walk(Transactions(limit=2), "things", {}, quick), [IDS[:3]], begin) == [1, 1, 1]


def test_in_a_transaction_all_are_one_batch():
    walk = Walk(Transactions(limit=10), "things", {})
    assert sizes(walk, [IDS[:30]], lambda attempt, effects, ids: lambda id_: attempt.spend(3)) == [30]
    assert walk.done == 0


# -- errors


def failing_at(number, error):
    def begin(attempt, effects, ids):
        def visit(id_):
            if id_ == IDS[number]:
                raise error
            return id_ != IDS[0]

        return visit

    return begin


def test_an_error_says_how_many_are_done_in_earlier_batches(quick):
    walk = Walk(Transactions(), "things", {}, quick)
    with pytest.raises(ValidationError) as caught:
        sizes(walk, [IDS], failing_at(30, ValidationError({})), bool)
    assert (caught.value.done, walk.done) == (24, 24)


def test_an_error_of_the_first_batch_or_of_a_transaction_says_none(quick):
    walks = [Walk(Transactions(), "things", {}, quick), Walk(Transactions(), "things", {})]
    for walk in walks:
        with pytest.raises(Unavailable) as caught:
            sizes(walk, [IDS], failing_at(9, Unavailable()), bool)
        assert caught.value.done == 0


def test_an_error_while_ids_are_read_counts_too(quick):
    def pages():
        yield IDS[:10]
        raise Unavailable()

    with pytest.raises(Unavailable) as caught:
        sizes(Walk(Transactions(), "things", {}, quick), pages())
    assert caught.value.done == 10


class Clock:
    """A clock that only moves when told to, and notes who slept."""

    def __init__(self):
        self.time = 100.0
        self.slept = []

    def now(self):
        return self.time

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.time += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def pace(clock):
    return Pace(clock.now, clock.sleep)


def play(pace, clock, seconds, *, done=None, conflicts=0):
    pace.begin()
    clock.time += seconds
    pace.end(pace.size if done is None else done, conflicts)
    return pace.size


def test_batches_begin_small_and_have_a_maximum(pace):
    assert pace.size == 10
    assert FIRST == 10
    assert MOST == 1_000


@pytest.mark.parametrize(("size", "larger"), [(1, 2), (2, 3), (3, 5), (10, 15), (100, 150), (999, MOST), (MOST, MOST)])
def test_a_quick_batch_is_followed_by_a_larger_one(size, larger):
    assert next_size(size, QUICK - 0.001, 0) == larger
    assert next_size(size, QUICK, 0) == size


@pytest.mark.parametrize(("conflicts", "smaller"), [(1, 50), (2, 25), (3, 12), (6, 1), (7, 1), (1000, 1)])
def test_a_batch_is_halved_for_each_conflict_however_quick(conflicts, smaller):
    assert next_size(100, 0.001, conflicts) == at_attempt(100, conflicts) == smaller


def test_a_batch_that_ended_early_says_nothing_about_larger_ones(pace, clock):
    assert play(pace, clock, 0.001, done=9) == 10
    assert play(pace, clock, 0.001, done=9, conflicts=1) == 5


def test_others_may_write_for_as_long_as_the_last_batch_took(pace, clock):
    for seconds in (0.25, 0.5, 0.125):
        play(pace, clock, seconds)
    assert clock.slept == [0.25, 0.5]


@pytest.mark.parametrize("most", [1, 12])
def test_a_pace_may_have_another_maximum(clock, most):
    pace = Pace(clock.now, clock.sleep, most=most)
    first = pace.size
    assert (first, [play(pace, clock, 0.001) for _ in range(2)]) == (min(10, most), [most, most])


def test_a_deadline_ends_a_rest(clock):
    left = [3.0, 0.5, -1.0]
    pace = Pace(clock.now, clock.sleep, lambda: left.pop(0))
    for _ in range(4):
        play(pace, clock, 2.0)
    assert clock.slept == [2.0, 0.5, 0.0]


def test_a_rest_is_no_part_of_the_next_batch(pace, clock):
    assert play(pace, clock, 4.0) == 10
    assert play(pace, clock, 0.04) == 15


def test_a_pace_finds_its_size_and_keeps_it(pace, clock):
    sizes = [play(pace, clock, pace.size * 0.002) for _ in range(8)]
    assert sizes == [15, 23, 35, 53, 53, 53, 53, 53]


def test_without_a_clock_of_the_test_time_passes():
    pace = Pace()
    pace.begin()
    pace.end(pace.size, 0)
    pace.begin()
    assert pace.size == 15
