"""What processes note of collections, for processes that come after them.

One document of `_gw_state` has a note of each collection: its identity, a hash of the indexes that a process wanted
when it looked at them, and the unique ones that two of its documents keep from being built. A note only says what need
not be looked at or tried again: without it, or with an old one, a process does more than it has to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, final

from gatewayfw.errors import DuplicateKey
from gatewayfw.storage import Index, Storage
from gatewayfw.storage.documents import encode
from gatewayfw.storage.missing_indexes import COLLISION
from gatewayfw.storage.terms import IndexProblem

COLLECTION = "_gw_state"
_ID = "collections"

#: ``{"identity": ..., "wanted": ..., "refused": [{"keys": ..., "ids": [...], "content": ...}]}``
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


@final
class Notes:
    """The notes in one storage."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def read(self) -> Mapping[str, Note]:
        """Return the notes by collection; those of another form are left out."""
        found = read_notes(self._storage, _ID, "notes")
        return {name: note for name, note in found.items() if _is_note(note)}

    def write(self, notes: Mapping[str, Note]) -> None:
        """Replace the notes of some collections."""
        write_notes(self._storage, _ID, "notes", notes)

    def note(self, collection: str, identity: str, indexes: Sequence[Index], problems: Iterable[IndexProblem]) -> Note:
        """Return a note of a collection, after a look at its indexes.

        These ``indexes`` were wanted, and these ``problems`` were met.
        """
        twins = {problem.keys: problem.twins for problem in problems if problem.twins}
        refused = [
            {"keys": repr(index.keys), "ids": list(ids), "content": self._content(collection, index, ids)}
            for index in indexes
            if (ids := twins.get(index.keys))
        ]
        return {"identity": identity, "wanted": hash_of(indexes), "refused": refused}

    def find_refused(self, collection: str, note: Note, indexes: Iterable[Index]) -> list[IndexProblem]:
        """Return the problems of indexes that cannot be built.

        The two documents noted are as they were.
        """
        refused = {one["keys"]: one for one in note.get("refused", ())}
        found = []
        for index in indexes:
            one = refused.get(repr(index.keys))
            if one is not None and one.get("content") == self._content(collection, index, one["ids"]):
                found.append(index.problem(collection, f"cannot be built: {COLLISION}", tuple(one["ids"])))
        return found

    def _content(self, collection: str, index: Index, ids: Sequence[object]) -> str | None:
        """Return a hash of what an index may hold of two documents; None if one is gone."""
        names = {path.partition(".")[0] for path, _ in index.keys} - {"_id"}
        fields = None if "partialFilterExpression" in index.options else sorted(names)
        found = list(self._storage.find(collection, {"_id": {"$in": list(ids)}}, fields, sort=[("_id", 1)]))
        return sha256(b"".join(map(encode, found))).hexdigest()[:32] if len(found) == len(ids) else None


def _is_note(value: Any) -> bool:
    refused = value.get("refused") if isinstance(value, dict) else None
    return isinstance(refused, list) and all(
        isinstance(one, dict) and isinstance(one.get("keys"), str) and isinstance(one.get("ids"), list)
        for one in refused
    )
