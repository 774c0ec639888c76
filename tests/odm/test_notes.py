"""What a process notes of collections, and what another one makes of it."""

from __future__ import annotations

import pytest

from gatewayfw.odm.notes import COLLECTION, Notes, hash_of
from gatewayfw.storage import Index

A, UNIQUE = Index((("a", 1),)), Index((("b.c", 1), ("a", -1)), {"unique": True})
PARTIAL = Index((("b", 1),), {"unique": True, "partialFilterExpression": {"a": 1}})


@pytest.fixture
def state(storage):
    """The notes of an empty database with two documents."""
    storage.insert("things", [{"_id": 1, "a": 1, "b": {"c": 1}}, {"_id": 2, "a": 1, "b": {"c": 1}}])
    return Notes(storage)


def note(state, *indexes, twins=(1, 2)):
    """A note of things, in which two documents refuse all unique indexes."""
    problems = [index.problem("things", "no", twins) for index in indexes if index.unique]
    return state.note("things", "id", indexes, problems)


def test_notes_are_read_as_they_were_written(state):
    first, second = note(state, A), note(state, UNIQUE)
    assert dict(state.read()) == {}
    state.write({"things": first, "others": first})
    state.write({"things": second})
    assert state.read() == {"things": second, "others": first}


def test_of_two_processes_that_begin_at_once_one_notes(state, storage):
    find, update = note(state, A), storage.update_one
    other = Notes(storage)

    def late(*given):
        storage.update_one = update
        other.write({"others": find})

    storage.update_one = late
    state.write({"things": find})
    assert state.read() == {"others": find}


@pytest.mark.parametrize(
    "other",
    [
        [A],
        [A, UNIQUE, PARTIAL],
        [UNIQUE, A],
        [A, Index(UNIQUE.keys)],
        [A, Index(UNIQUE.keys, {"unique": True, "sparse": True})],
        [A, Index(UNIQUE.keys, UNIQUE.options, instead=A.keys)],
        [A, Index(UNIQUE.keys[::-1], UNIQUE.options)],
    ],
    ids=["fewer", "more", "another order", "not unique", "an option", "another will do", "keys in another order"],
)
def test_a_hash_tells_indexes_apart(other):
    assert hash_of([A, UNIQUE]) != hash_of(other)


def test_a_hash_is_the_same_for_the_same_indexes_in_all_processes():
    options = {"sparse": True, "unique": True}
    assert hash_of([Index(A.keys, options)]) == hash_of([Index(A.keys, dict(reversed(options.items())))])
    assert hash_of([]) == "4f53cda18c2baa0c0354bb5f9a3ecbe5"


def test_an_index_is_refused_as_long_as_both_documents_stay_as_they_are(state, storage):
    known = note(state, A, UNIQUE)
    (problem,) = state.find_refused("things", known, [A, UNIQUE])
    assert (problem, problem.keys, problem.twins) == (
        "things: index {'b.c': 1, 'a': -1} cannot be built: two documents share a value",
        UNIQUE.keys,
        (1, 2),
    )
    storage.update_one("things", {"_id": 1}, {"$set": {"d": 1}}, ())
    assert state.find_refused("things", known, [UNIQUE]) == [problem]
    storage.update_one("things", {"_id": 1}, {"$set": {"b.c": 2}}, ())
    assert state.find_refused("things", known, [UNIQUE]) == []


def test_it_is_not_refused_when_one_of_them_is_gone(state, storage):
    known = note(state, UNIQUE)
    storage.delete_many("things", {"_id": 2})
    assert state.find_refused("things", known, [UNIQUE]) == []


def test_of_an_index_over_some_documents_all_of_both_counts(state, storage):
    known = note(state, PARTIAL)
    assert len(state.find_refused("things", known, [PARTIAL])) == 1
    storage.update_one("things", {"_id": 1}, {"$set": {"a": 2}}, ())
    assert state.find_refused("things", known, [PARTIAL]) == []


def test_nothing_is_refused_for_a_reason_that_documents_do_not_show(state):
    known = note(state, UNIQUE, twins=())
    assert (known["refused"], state.find_refused("things", known, [UNIQUE])) == ([], [])
    assert state.find_refused("things", {}, [UNIQUE]) == []


def test_no_value_of_a_document_is_in_a_note(state, storage):
    storage.update_many("things", {}, {"$set": {"b.c": "secret"}})
    state.write({"things": note(state, UNIQUE)})
    assert "secret" not in repr(list(storage.find(COLLECTION, {})))
