"""A touch reads, changes and locks documents in one write."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from gatewayfw.storage.base import Storage
from gatewayfw.storage.terms import Document, Filter, Lock, Marked, Update
from gatewayfw.testing.storage_suite.topic import (
    LOCK,
    TOGETHER,
    Topic,
    add_ids,
    collect_ids,
    read_all,
    remove_locks,
    run_at_once,
)

MANY = pytest.mark.parametrize("many", [False, True], ids=["touch", "touch_many"])


class Locks(Topic):
    """A touch reads, changes and locks documents in one write."""

    def test_a_touch_changes_nothing_that_shows(self, storage: Storage) -> None:
        stored = add_ids([{"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}])
        storage.insert("things", stored)
        assert storage.touch("things", {"a.b": 1}, ["a.b"], lock=LOCK) == {"_id": 1, "a": {"b": 1}}
        whole = storage.transaction(lambda: storage.touch("things", {"_id": 2}, None, lock=LOCK))
        assert remove_locks(whole or {}) == stored[1]
        assert storage.touch("things", {"_id": 3}, None, lock=LOCK) is None
        storage.touch_many("things", [], lock=LOCK)
        storage.touch_many("things", [2, 9, 1], lock=LOCK)
        assert read_all(storage) == stored

    @TOGETHER
    def test_touch_changes_what_it_returns(self, storage: Storage, together: bool) -> None:
        storage.insert("things", add_ids([{"a": 1, "list": [1]}, {"a": 2}]))
        run = storage.transaction if together else run_at_once
        update: Update = {"$set": {"b.c": 5}, "$push": {"list": 2}, "$unset": {"a": ""}}
        assert run(lambda: storage.touch("things", {"a": 1}, ["b", "list"], update, lock=LOCK)) == {
            "_id": 1,
            "b": {"c": 5},
            "list": [1, 2],
        }
        assert run(lambda: storage.touch("things", {"a": 1}, None, update, lock=LOCK)) is None
        assert read_all(storage) == [{"_id": 1, "b": {"c": 5}, "list": [1, 2]}, {"_id": 2, "a": 2}]

    @TOGETHER
    def test_touch_many_does_changes_in_order(self, storage: Storage, together: bool) -> None:
        storage.insert("things", add_ids([{"a": 1, "list": [{"b": 1}, {"b": 2}]}, {"a": 1}, {"a": 3}]))
        run = storage.transaction if together else run_at_once
        changes: list[tuple[Filter, Update]] = [
            ({"_id": 1, "list": {"$elemMatch": {"b": 2}}}, {"$set": {"list.$": {"b": 5}}}),
            ({"a": 1}, {"$inc": {"a": 1}}),
            ({"a": 2}, {"$set": {"c": True}}),
        ]
        run(lambda: storage.touch_many("things", [3, 9], changes, lock=LOCK))
        run(lambda: storage.touch_many("things", [], changes[1:2], lock=LOCK))
        assert read_all(storage) == add_ids(
            [{"a": 2, "list": [{"b": 1}, {"b": 5}], "c": True}, {"a": 2, "c": True}, {"a": 3}]
        )

    def test_touch_keeps_a_list_sorted_and_short(self, storage: Storage) -> None:
        """Equal and missing values are ordered by ``_id``; a failure leaves nothing.

        A storage whose locks are no writes is given the whole list instead, as the core does.
        """
        storage.insert("things", [{"_id": 1, "list": [{"_id": 5}, {"_id": 3, "a": 1}]}])
        kept = [{"_id": 2}, {"_id": 5}, {"_id": 3, "a": 1}]
        sorting = {"$each": [{"_id": 4, "a": 1}, {"_id": 2}], "$sort": {"a": 1, "_id": 1}, "$slice": 3}
        update: Update = {"$push": {"list": sorting}} if storage.counts_locks() else {"$set": {"list": kept}}

        def push() -> Document | None:
            return storage.touch("things", {"_id": 1}, ["list"], update, lock=LOCK)

        def fail() -> None:
            push()
            raise KeyError

        with pytest.raises(KeyError):
            storage.transaction(fail)
        assert storage.transaction(push) == {"_id": 1, "list": kept}

    def test_touches_count_where_they_say_so(self, storage: Storage) -> None:
        """The counter goes back when the transaction fails."""
        storage.insert("things", [{"_id": 1}, {"_id": 2}])

        def touch() -> None:
            storage.touch("things", {"_id": 1}, ["a"], lock=Lock(LOCK.counter, 3))
            storage.touch("things", {"_id": 1}, None, lock=LOCK)
            storage.touch_many("things", [1, 2], [({"_id": 2}, {"$set": {"a": 1}})], lock=Lock(LOCK.counter, 2))

        def fail() -> None:
            touch()
            raise KeyError

        with pytest.raises(KeyError):
            storage.transaction(fail)
        storage.transaction(touch)
        found = [document.get("hidden", {}).get("locks") for document in storage.find("things", {}, sort=[("_id", 1)])]
        assert not storage.counts_locks() or found == [6, 2]

    @MANY
    def test_a_document_with_a_mark_is_not_touched(self, storage: Storage, many: bool) -> None:
        """Nor is anything done with it. Without transactions nobody looks."""
        if not storage.has_transactions():
            return
        marked = {"_id": 2, "hidden": {"mark": {"users": 5}}}
        storage.insert("things", [{"_id": 1}, marked, {"_id": 3, "hidden": {"v": 1}}])

        def write(*ids: int) -> None:
            storage.insert("things", [{"_id": 9}])
            update = {"$set": {"a": 1}}
            lock = Lock(LOCK.counter, unmarked="hidden.mark")
            if many:
                storage.touch_many("things", ids, [({"_id": ids[0]}, update)], lock=lock)
            else:
                for id_ in ids:
                    storage.touch("things", {"_id": id_}, None, update, lock=lock)

        with pytest.raises(Marked):
            storage.transaction(lambda: write(1, 2))
        assert read_all(storage) == [{"_id": 1}, marked, {"_id": 3, "hidden": {"v": 1}}]
        storage.transaction(lambda: write(3, 1))
        storage.transaction(lambda: storage.touch("things", {"_id": 2}, None, lock=LOCK))
        storage.transaction(lambda: storage.touch_many("things", [2], lock=LOCK))
        assert read_all(storage)[1:3] == [marked, {"_id": 3, "a": 1, "hidden": {"v": 1}}]

    @MANY
    def test_transactions_that_touch_first_do_not_lose_writes(self, storage: Storage, many: bool) -> None:
        """Each reads a value after the touch and writes what it makes of it elsewhere."""
        storage.insert("things", [{"_id": 1}])

        def copy_count() -> None:
            if many:
                storage.touch_many("things", [1], lock=LOCK)
            else:
                storage.touch("things", {"_id": 1}, [], lock=LOCK)
            storage.insert("others", [{"_id": storage.count("others", {})}])

        def work() -> None:
            for _ in range(5):
                storage.transaction(copy_count)

        storage.ensure("others", [], 10)
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work) for _ in range(4)]:
                done.result()
        assert collect_ids(read_all(storage, "others")) == list(range(20))
