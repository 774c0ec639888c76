"""After a deadline nothing starts, and nothing half done stays."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gatewayfw.errors import StorageError, Timeout
from gatewayfw.storage import Scope, Storage
from gatewayfw.testing.storage_suite.topic import LOCK, LONG, Topic, read_all, run_elsewhere, wait_for_the_end


class Deadlines(Topic):
    """After a deadline nothing starts, and nothing half done stays."""

    def test_inside_a_deadline_everything_works(self, storage: Storage) -> None:
        with storage.deadline(LONG) as scope:
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
            assert read_all(storage) == [{"_id": 1}]
            assert 0 < scope.remaining() <= LONG

    def test_a_database_that_answers_has_no_trouble(self, storage: Storage) -> None:
        with storage.deadline(LONG):
            assert (storage.ping(), storage.trouble()) == (None, None)

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
        assert read_all(storage) == [{"_id": 1}]

    def test_a_transaction_that_outlives_its_deadline_is_undone(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)

        def work(scope: Scope) -> None:
            storage.insert("things", [{"_id": 1}])
            wait_for_the_end(scope)

        with storage.deadline(0.6) as scope, pytest.raises(Timeout):
            storage.transaction(lambda: work(scope))
        assert (scope.committed, read_all(storage)) == (False, [])

    @pytest.mark.parametrize(("outer", "inner"), [(0, LONG), (LONG, 0)], ids=["outer", "inner"])
    def test_of_nested_deadlines_the_nearer_counts(self, storage: Storage, outer: float, inner: float) -> None:
        with storage.deadline(outer), storage.deadline(inner) as scope:
            assert scope.remaining() == 0
            with pytest.raises(Timeout):
                storage.count("things", {})

    def test_after_a_nested_deadline_the_outer_one_counts_again(self, storage: Storage) -> None:
        with storage.deadline(LONG):
            with storage.deadline(0), pytest.raises(Timeout):
                storage.count("things", {})
            assert storage.count("things", {}) == 0

    def test_a_deadline_is_for_its_thread(self, storage: Storage) -> None:
        with storage.deadline(0):
            assert run_elsewhere(lambda: storage.count("things", {})) == 0

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
