"""All writes of a transaction happen, or none; after a deadline nothing starts."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from gatewayfw.errors import DuplicateKey, GatewayError, StorageError, Timeout
from gatewayfw.storage import Index, Scope, Storage
from gatewayfw.storage.terms import Document
from gatewayfw.testing.storage_suite.topic import (
    LOCK,
    LONG,
    Topic,
    add_ids,
    collect_ids,
    read_all,
    run_elsewhere,
    wait_for_the_end,
)


def write_all(storage: Storage) -> str:
    """Write in each way there is."""
    storage.touch("things", {"_id": 1}, None, lock=LOCK)
    storage.touch_many("things", [1, 2], lock=LOCK)
    storage.update_one("things", {"_id": 1}, {"$set": {"a": 1}}, None)
    storage.update_each("things", [(1, {"$unset": {"c": ""}}), (2, {"$inc": {"b": 1}})])
    storage.insert("things", [{"_id": 4}, {"_id": 5}])
    storage.update_many("things", {"_id": {"$gte": 4}}, {"$set": {"new": True}})
    storage.update_many("things", {}, {"$unset": {"new": ""}})
    storage.delete_many("things", {"_id": {"$in": [3, 5]}})
    storage.insert("others", [{"_id": 1}])
    return "result"


class Transactions(Topic):
    """All writes of a transaction happen, or none."""

    def test_a_transaction_commits_all_writes_and_returns_the_result(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{}, {}, {}]))
        assert storage.has_transactions() is True
        assert storage.transaction(lambda: write_all(storage)) == "result"
        assert read_all(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "b": 1}, {"_id": 4}]
        assert read_all(storage, "others") == [{"_id": 1}]

    def test_what_is_done_outside_waits_for_no_lock_of_the_transaction(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        done: list[str] = []

        def build() -> None:
            storage.ensure("things", [Index((("a", 1),))], 10)
            done.append("outside")

        def work() -> str:
            storage.update_one("things", {"_id": 1}, {"$inc": {"n": 1}}, None)
            if not done:
                storage.outside(build)
            return "result"

        assert storage.transaction(work) == "result"
        assert (done, read_all(storage), len(storage.indexes("things"))) == (["outside"], [{"_id": 1, "n": 1}], 1)
        storage.outside(build)
        assert done == ["outside", "outside"]

    @pytest.mark.parametrize("error", [RuntimeError, GatewayError, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_any_exception_undoes_all_writes(self, storage: Storage, error: type[BaseException]) -> None:
        storage.insert("things", add_ids([{"a": 0, "c": [1]}, {}, {"a": 3}]))
        raised = error("mine")

        def fail() -> None:
            write_all(storage)
            raise raised

        with pytest.raises(error) as caught:
            storage.transaction(fail)
        assert caught.value is raised
        assert (read_all(storage), read_all(storage, "others")) == (add_ids([{"a": 0, "c": [1]}, {}, {"a": 3}]), [])

    def test_what_is_done_aside_stays_and_fails_alone(self, storage: Storage) -> None:
        def fail() -> None:
            storage.insert("things", [{"_id": 1}])
            storage.aside(lambda: storage.insert("others", [{"_id": 2}]))
            with pytest.raises(DuplicateKey):
                storage.aside(lambda: storage.insert("others", [{"_id": 1}]))
            assert storage.in_transaction() is True
            storage.insert("things", [{"_id": 3}])
            raise KeyError

        storage.aside(lambda: storage.insert("others", [{"_id": 1}]))
        with pytest.raises(KeyError):
            storage.transaction(fail)
        assert (read_all(storage), read_all(storage, "others")) == ([], [{"_id": 1}, {"_id": 2}])

    def test_a_transaction_sees_its_own_writes(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1}]))

        def work() -> tuple[list[Document], int, list[Any]]:
            storage.update_many("things", {}, {"$set": {"a": 2}})
            storage.insert("things", [{"_id": 2, "a": 2}])
            return read_all(storage), storage.count("things", {"a": 2}), storage.distinct("things", "a", {})

        assert storage.transaction(work) == (add_ids([{"a": 2}, {"a": 2}]), 2, [2])

    def test_nested_transactions_join(self, storage: Storage) -> None:
        def outer() -> str:
            storage.insert("things", [{"_id": 1}])
            result = storage.transaction(lambda: storage.insert("things", [{"_id": 2}]) or "inner")
            storage.insert("things", [{"_id": 3}])
            return result

        def fail() -> None:
            storage.transaction(lambda: storage.insert("things", [{"_id": 4}]))
            raise RuntimeError

        assert storage.transaction(outer) == "inner"
        with pytest.raises(RuntimeError):
            storage.transaction(fail)
        assert collect_ids(read_all(storage)) == [1, 2, 3]

    @pytest.mark.parametrize("way", ["refused write", "nested failure", "late write", "late read"])
    def test_what_fails_inside_dooms_the_transaction_although_it_was_caught(self, storage: Storage, way: str) -> None:
        """Every later call raises the same error, and so does the end."""
        storage.insert("things", [{"_id": 1}])
        raised: list[BaseException] = []
        later: list[Callable[[], object]] = [
            lambda: storage.insert("things", [{"_id": 3}]),
            lambda: list(storage.find("things", {})),
            lambda: storage.transaction(lambda: None),
        ]

        def fail() -> None:
            storage.insert("things", [{"_id": 2}])
            raise RuntimeError

        def call_late(call: Callable[[], object]) -> None:
            with storage.deadline(0):
                call()

        first: dict[str, Callable[[], object]] = {
            "refused write": lambda: storage.insert("things", [{"_id": 1}]),
            "nested failure": lambda: storage.transaction(fail),
            "late write": lambda: call_late(later[0]),
            "late read": lambda: call_late(later[1]),
        }

        def work() -> None:
            for call in (first[way], *later):
                with pytest.raises((DuplicateKey, RuntimeError, Timeout)) as caught:
                    call()
                raised.append(caught.value)

        with pytest.raises((DuplicateKey, RuntimeError, Timeout)) as caught:
            storage.transaction(work)
        assert {id(error) for error in raised} == {id(caught.value)}
        assert read_all(storage) == [{"_id": 1}]
        storage.transaction(lambda: storage.insert("things", [{"_id": 2}]))
        assert collect_ids(read_all(storage)) == [1, 2]

    def test_other_threads_see_all_of_a_transaction_or_nothing(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)
        with ThreadPoolExecutor(1) as pool:

            def work() -> list[Any]:
                storage.insert("things", [{"_id": 1}])
                seen = pool.submit(lambda: collect_ids(read_all(storage)))
                # An adapter may let readers wait for the end of the transaction.
                Event().wait(0.1)
                storage.insert("things", [{"_id": 2}])
                return [seen]

            seen = storage.transaction(work)[0].result()
        assert seen in ([], [1, 2])
        assert run_elsewhere(lambda: collect_ids(read_all(storage))) == [1, 2]

    def test_other_threads_are_not_in_this_threads_transaction(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)
        with ThreadPoolExecutor(1) as pool:

            def work() -> Any:
                pool.submit(storage.insert, "things", [{"_id": 1}])
                raise RuntimeError

            with pytest.raises(RuntimeError):
                storage.transaction(work)
        assert read_all(storage) == [{"_id": 1}]


class Deadlines(Topic):
    """After a deadline nothing starts, and nothing half done stays."""

    def test_inside_a_deadline_everything_works(self, storage: Storage) -> None:
        with storage.deadline(LONG) as scope:
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
            assert (storage.ping(), storage.trouble(), read_all(storage)) == (None, None, [{"_id": 1}])
            assert 0 < scope.remaining() <= LONG

    def test_after_a_deadline_every_call_raises_timeout(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        calls: list[Callable[[], object]] = [
            lambda: storage.insert("things", [{"_id": 2}]),
            lambda: list(storage.find("things", {})),
            lambda: storage.count("things", {}),
            lambda: storage.touch("things", {}, None, lock=LOCK),
            lambda: storage.update_one("things", {}, {"$set": {"a": 1}}, None),
            lambda: storage.update_many("things", {}, {"$set": {"a": 1}}),
            lambda: storage.update_each("things", [(1, {"$set": {"a": 1}})]),
            lambda: storage.delete_many("things", {}),
            lambda: list(storage.aggregate("things", [])),
            lambda: storage.transaction(lambda: None),
        ]
        with storage.deadline(0):
            for call in calls:
                with pytest.raises(Timeout):
                    call()
            assert run_elsewhere(lambda: storage.count("things", {})) == 1
        assert read_all(storage) == [{"_id": 1}]

    def test_a_transaction_that_outlives_its_deadline_is_undone(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)

        def work(scope: Scope) -> None:
            storage.insert("things", [{"_id": 1}])
            wait_for_the_end(scope)

        with storage.deadline(0.6) as scope, pytest.raises(Timeout):
            storage.transaction(lambda: work(scope))
        assert (scope.committed, read_all(storage)) == (False, [])

    def test_of_nested_deadlines_the_nearer_counts(self, storage: Storage) -> None:
        for outer, inner in ((0, LONG), (LONG, 0)):
            with storage.deadline(outer), storage.deadline(inner) as scope:
                assert scope.remaining() == 0
                with pytest.raises(Timeout):
                    storage.count("things", {})
        with storage.deadline(LONG):
            with storage.deadline(0):
                pass
            assert storage.count("things", {}) == 0

    def test_a_scope_knows_what_committed_inside(self, storage: Storage) -> None:
        with storage.deadline(LONG) as outer:
            with storage.deadline(LONG) as first:
                storage.insert("things", [{"_id": 1}])
            with storage.deadline(LONG) as second:
                storage.transaction(lambda: storage.update_many("things", {}, {"$set": {"a": 1}}))
            with storage.deadline(LONG) as third:
                storage.count("things", {})
        assert [scope.committed for scope in (outer, first, second, third)] == [True, True, True, False]

    def test_what_was_undone_is_not_committed(self, storage: Storage) -> None:
        def work() -> None:
            storage.insert("things", [{"_id": 1}])
            storage.transaction(lambda: storage.insert("things", [{"_id": 2}]))
            raise RuntimeError

        with storage.deadline(LONG) as scope:
            with pytest.raises(RuntimeError):
                storage.transaction(work)
            with pytest.raises(StorageError):
                storage.insert("things", [{"_id": 3, "a": object()}])
        assert scope.committed is False
