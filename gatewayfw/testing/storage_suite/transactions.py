"""All writes of a transaction happen, or none."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from gatewayfw.errors import DuplicateKey, GatewayError, Timeout
from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import Document
from gatewayfw.testing.storage_suite.topic import LOCK, Topic, add_ids, collect_ids, read_all, run_elsewhere


class Transactions(Topic):
    """All writes of a transaction happen, or none."""

    def test_a_storage_says_that_it_has_transactions(self, storage: Storage) -> None:
        assert storage.has_transactions() is True

    def test_a_transaction_commits_all_writes_and_returns_the_result(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{}, {}, {}]))
        assert storage.transaction(lambda: self._write_all(storage)) == "result"
        assert read_all(storage) == [{"_id": 1, "a": 1}, {"_id": 2, "b": 1}, {"_id": 4}]
        assert read_all(storage, "others") == [{"_id": 1}]

    @pytest.mark.parametrize("error", [RuntimeError, GatewayError, KeyboardInterrupt, SystemExit, GeneratorExit])
    def test_any_exception_undoes_all_writes(self, storage: Storage, error: type[BaseException]) -> None:
        storage.insert("things", add_ids([{"a": 0, "c": [1]}, {}, {"a": 3}]))
        raised = error("mine")

        def fail() -> None:
            self._write_all(storage)
            raise raised

        with pytest.raises(error) as caught:
            storage.transaction(fail)
        assert caught.value is raised
        assert (read_all(storage), read_all(storage, "others")) == (add_ids([{"a": 0, "c": [1]}, {}, {"a": 3}]), [])

    @staticmethod
    def _write_all(storage: Storage) -> str:
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

    def test_what_is_written_aside_stays_when_the_transaction_fails(self, storage: Storage) -> None:
        def fail() -> None:
            storage.insert("things", [{"_id": 1}])
            storage.aside(lambda: storage.insert("others", [{"_id": 2}]))
            assert storage.in_transaction() is True
            storage.insert("things", [{"_id": 3}])
            raise KeyError

        storage.insert("others", [{"_id": 1}])
        with pytest.raises(KeyError):
            storage.transaction(fail)
        assert (read_all(storage), read_all(storage, "others")) == ([], [{"_id": 1}, {"_id": 2}])

    def test_a_failure_aside_fails_no_transaction(self, storage: Storage) -> None:
        def work() -> None:
            storage.insert("things", [{"_id": 1}])
            with pytest.raises(DuplicateKey):
                storage.aside(lambda: storage.insert("others", [{"_id": 1}]))

        storage.insert("others", [{"_id": 1}])
        storage.transaction(work)
        assert read_all(storage) == [{"_id": 1}]

    def test_without_a_transaction_aside_is_nothing_special(self, storage: Storage) -> None:
        assert storage.aside(lambda: storage.count("things", {})) == 0

    def test_a_transaction_sees_its_own_writes(self, storage: Storage) -> None:
        storage.insert("things", add_ids([{"a": 1}]))

        def work() -> tuple[list[Document], int]:
            storage.update_many("things", {}, {"$set": {"a": 2}})
            storage.insert("things", [{"_id": 2, "a": 2}])
            return read_all(storage), storage.count("things", {"a": 2})

        assert storage.transaction(work) == (add_ids([{"a": 2}, {"a": 2}]), 2)

    def test_nested_transactions_join(self, storage: Storage) -> None:
        def outer() -> str:
            storage.insert("things", [{"_id": 1}])
            result = storage.transaction(lambda: storage.insert("things", [{"_id": 2}]) or "inner")
            storage.insert("things", [{"_id": 3}])
            return result

        assert (storage.transaction(outer), collect_ids(read_all(storage))) == ("inner", [1, 2, 3])

    def test_what_a_nested_transaction_did_is_undone_with_the_outer_one(self, storage: Storage) -> None:
        def outer() -> None:
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
            raise RuntimeError

        with pytest.raises(RuntimeError):
            storage.transaction(outer)
        assert read_all(storage) == []

    def test_a_nested_failure_dooms_the_outer_one_although_it_was_caught(self, storage: Storage) -> None:
        error = RuntimeError("inner")

        def inner() -> None:
            storage.insert("things", [{"_id": 2}])
            raise error

        def outer() -> None:
            storage.insert("things", [{"_id": 1}])
            with pytest.raises(RuntimeError):
                storage.transaction(inner)

        with pytest.raises(RuntimeError) as caught:
            storage.transaction(outer)
        assert (caught.value is error, read_all(storage)) == (True, [])

    def test_a_failed_write_dooms_the_transaction_although_it_was_caught(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])

        def work() -> None:
            storage.insert("things", [{"_id": 2}])
            with pytest.raises(DuplicateKey):
                storage.insert("things", [{"_id": 1}])

        with pytest.raises(DuplicateKey):
            storage.transaction(work)
        assert read_all(storage) == [{"_id": 1}]

    def test_a_failed_read_dooms_the_transaction_although_it_was_caught(self, storage: Storage) -> None:
        storage.ensure("things", [], 10)

        def work() -> None:
            storage.insert("things", [{"_id": 1}])
            with storage.deadline(0), pytest.raises(Timeout):
                list(storage.find("things", {}))

        with pytest.raises(Timeout):
            storage.transaction(work)
        assert read_all(storage) == []

    def test_every_later_call_in_a_doomed_transaction_raises_its_error(self, storage: Storage) -> None:
        storage.insert("things", [{"_id": 1}])
        raised = []

        def work() -> None:
            for call in (
                lambda: storage.insert("things", [{"_id": 1}]),
                lambda: storage.insert("things", [{"_id": 2}]),
                lambda: list(storage.find("things", {})),
                lambda: storage.transaction(lambda: None),
            ):
                with pytest.raises(DuplicateKey) as caught:
                    call()
                raised.append(caught.value)

        with pytest.raises(DuplicateKey) as caught:
            storage.transaction(work)
        assert {id(error) for error in raised} == {id(caught.value)}
        assert read_all(storage) == [{"_id": 1}]

    def test_after_a_failure_the_next_transaction_works(self, storage: Storage) -> None:
        def fail() -> None:
            storage.insert("things", [{"_id": 1}])
            storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))

        with pytest.raises(DuplicateKey):
            storage.transaction(fail)
        storage.transaction(lambda: storage.insert("things", [{"_id": 1}]))
        storage.insert("things", [{"_id": 2}])
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
