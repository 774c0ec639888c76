"""What a process notes of collections and migrations, and what another one makes of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gatewayfw.odm.jobs.records import now
from gatewayfw.odm.notes import (
    MIGRATIONS,
    MigrationNotes,
    find_refused,
    hash_of,
    note_of,
    read_index_notes,
    write_index_notes,
)
from gatewayfw.storage import Index

A, UNIQUE = Index((("a", 1),)), Index((("b.c", 1), ("a", -1)), {"unique": True})
PARTIAL = Index((("b", 1),), {"unique": True, "partialFilterExpression": {"a": 1}})


def note(*indexes, text="two documents share a value"):
    """A note of things, in which all unique indexes cannot be built."""
    problems = [index.problem("things", f"cannot be built: {text}") for index in indexes if index.unique]
    return note_of("id", indexes, problems)


def test_notes_are_read_as_they_were_written(storage):
    first, second = note(A), note(UNIQUE)
    assert dict(read_index_notes(storage)) == {}
    write_index_notes(storage, {"things": first, "others": first})
    write_index_notes(storage, {"things": second})
    assert read_index_notes(storage) == {"things": second, "others": first}


def test_of_two_processes_that_begin_at_once_one_notes(storage):
    one, update = note(A), storage.update_one

    def late(*given):
        storage.update_one = update
        write_index_notes(storage, {"others": one})

    storage.update_one = late
    write_index_notes(storage, {"things": one})
    assert read_index_notes(storage) == {"others": one}


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


def test_an_index_that_two_documents_refused_is_not_tried_again():
    (problem,) = find_refused("things", note(A, UNIQUE), [A, UNIQUE])
    assert problem == (
        "things: index {'b.c': 1, 'a': -1} cannot be built: two documents share a value; "
        "after you have removed duplicates, flask gateway indexes --create tries again"
    )
    assert find_refused("things", note_of("id", [UNIQUE], [problem]), [UNIQUE]) == [problem]


def test_nothing_is_refused_for_another_reason():
    known = note(UNIQUE, text="server error 67")
    assert (known["refused"], find_refused("things", known, [UNIQUE])) == ([], [])
    assert find_refused("things", {}, [UNIQUE]) == []


def test_a_lease_keeps_others_off_until_it_ends(storage):
    notes = MigrationNotes(storage)
    assert notes.claim("m", "one") is None
    assert notes.claim("m", "one") is None
    assert notes.claim("m", "two") > now()
    notes.release("m", "two")
    assert notes.claim("m", "two") is not None
    notes.release("m", "one")
    assert notes.claim("m", "two") is None


def test_a_lease_of_a_dead_process_passes(storage):
    notes = MigrationNotes(storage)
    notes.claim("m", "one")
    storage.update_one(MIGRATIONS, {"_id": "m"}, {"$set": {"lease.until": now() - timedelta(seconds=1)}}, ())
    assert notes.claim("m", "two") is None
    assert notes.claim("m", "one") is not None


def test_changes_are_counted_by_batch_and_told_once_a_run_has_ended(storage):
    notes = MigrationNotes(storage)
    notes.claim("m", "one", 2)
    notes.claim("m", "one", 3)
    assert notes.all() == {}
    notes.end("m", "one", "item", 7)
    (note,) = notes.all().values()
    assert (note.name, note.model, note.changed, note.left) == ("m", "item", 5, 7)
    assert notes.claim("m", "two") is None


def test_what_another_tool_put_there_is_passed_over(storage):
    strange = [{"_id": 1}, {"_id": "a", "model": 3}, {"_id": "b", "lease": 1}]
    storage.insert(MIGRATIONS, strange)
    notes = MigrationNotes(storage)
    assert notes.all() == {}
    assert notes.claim("b", "one") is None
