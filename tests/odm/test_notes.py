"""What a process notes of collections, and what another one makes of it."""

from __future__ import annotations

import pytest

from gatewayfw.odm.notes import find_refused, hash_of, note_of, read_index_notes, write_index_notes
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
