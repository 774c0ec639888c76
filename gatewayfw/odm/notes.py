"""What processes note of collections, for processes that come after them.

One document of `_gw_state` has a note of each collection: its identity, a hash of the indexes that a process wanted
when it looked at them, and the unique ones that two documents kept from being built, which is not tried again: a try
reads the whole collection. Without a note, or with an old one, a process does more than it has to.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any

from gatewayfw.errors import DuplicateKey
from gatewayfw.storage import Index, Storage
from gatewayfw.storage.terms import COLLISION, IndexProblem

COLLECTION = "_gw_state"
_ID = "collections"
#: What to do about a unique index that no process tries to build again.
TRY_AGAIN = "after you have removed duplicates, flask gateway indexes --create tries again"

#: ``{"identity": ..., "wanted": ..., "refused": [keys as text, ...]}``
Note = Mapping[str, Any]


def hash_of(indexes: Iterable[Index]) -> str:
    """Return a text that tells these indexes from others, the same in all processes."""
    parts = [(index.keys, sorted(index.options.items()), index.instead) for index in indexes]
    return sha256(repr(parts).encode()).hexdigest()[:32]


def read_notes(storage: Storage, id_: str, part: str) -> Mapping[str, Any]:
    """Return the notes in one part of a document of `_gw_state`, by name, unchecked."""
    found = next(storage.find(COLLECTION, {"_id": id_}, limit=1), {}).get(part)
    return found if isinstance(found, dict) else {}


def write_notes(storage: Storage, id_: str, part: str, notes: Mapping[str, Any]) -> None:
    """Replace some notes in one part of a document of `_gw_state`."""
    update = {"$set": {f"{part}.{name}": note for name, note in notes.items()}}
    if storage.update_one(COLLECTION, {"_id": id_}, update, ()) is None:
        with suppress(DuplicateKey):  # of another process that was faster; then these are noted another time
            storage.insert(COLLECTION, [{"_id": id_, part: dict(notes)}])


def read_index_notes(storage: Storage) -> Mapping[str, Note]:
    """Return the notes about indexes, by collection, without those of another form."""
    found = read_notes(storage, _ID, "notes")
    return {
        name: note for name, note in found.items() if isinstance(note, dict) and isinstance(note.get("refused"), list)
    }


def write_index_notes(storage: Storage, notes: Mapping[str, Note]) -> None:
    """Replace the notes of some collections."""
    write_notes(storage, _ID, "notes", notes)


def note_of(identity: str, indexes: Sequence[Index], problems: Iterable[IndexProblem]) -> Note:
    """Return a note of a collection: these indexes were wanted, these problems met."""
    refused = [repr(problem.keys) for problem in problems if COLLISION in problem]
    return {"identity": identity, "wanted": hash_of(indexes), "refused": refused}


def find_refused(collection: str, note: Note, indexes: Iterable[Index]) -> list[IndexProblem]:
    """Return the problems of indexes that are not tried again."""
    refused = [index for index in indexes if repr(index.keys) in note.get("refused", ())]
    return [index.problem(collection, f"cannot be built: {COLLISION}; {TRY_AGAIN}") for index in refused]
