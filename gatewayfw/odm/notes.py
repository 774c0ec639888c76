"""What processes note in the database, for processes that come after them.

A note is not the truth: without one, or with an old one, a process does more than it has to. One document of
`_gw_state` has a note of each collection: its identity, a hash of the indexes that a process wanted when it looked at
them, and the unique ones that two documents kept from being built, which is not tried again: a try reads the whole
collection. `_gw_migrations` has one of each migration; what still meets the condition of one is what is left of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from importlib import metadata
from typing import Any, final

from gatewayfw.errors import DuplicateKey
from gatewayfw.odm.jobs.records import LEASE, claimable, lease_of, now
from gatewayfw.storage import Document, Index, Storage
from gatewayfw.storage.terms import COLLISION, IndexProblem

STATE = "_gw_state"
MIGRATIONS = "_gw_migrations"
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
    found = next(storage.find(STATE, {"_id": id_}, limit=1), {}).get(part)
    return found if isinstance(found, dict) else {}


def write_notes(storage: Storage, id_: str, part: str, notes: Mapping[str, Any]) -> None:
    """Replace some notes in one part of a document of `_gw_state`."""
    update = {"$set": {f"{part}.{name}": note for name, note in notes.items()}}
    if storage.update_one(STATE, {"_id": id_}, update, ()) is None:
        with suppress(DuplicateKey):  # of another process that was faster; then these are noted another time
            storage.insert(STATE, [{"_id": id_, part: dict(notes)}])


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


# -- of migrations


@dataclass(frozen=True)
class MigrationNote:
    """What is noted of one migration.

    Attributes:
        at: when it last ended, naive UTC.
        changed: how many documents all of its runs have changed.
        left: how many met the condition when it last ended.
        version: the version of the framework that ran it last.
    """

    name: str
    model: str
    at: datetime
    changed: int
    left: int
    version: str


@final
class MigrationNotes:
    """The notes in one storage, and the leases of those who run migrations."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def all(self) -> dict[str, MigrationNote]:
        """Return the notes of all migrations that have ended once, by name."""
        found = (_note(one) for one in self._storage.find(MIGRATIONS, {}, sort=[("_id", 1)]))
        return {one.name: one for one in found if one is not None}

    def claim(self, name: str, worker: str, changed: int = 0) -> datetime | None:
        """Lease a migration, or renew the lease; None for success.

        Else this returns until when another one has it. ``changed`` is how many documents more were changed.
        """
        lease = lease_of(worker, LEASE)
        update: Mapping[str, Mapping[str, Any]] = {"$set": {"lease": lease}, "$inc": {"changed": changed}}
        while True:
            if self._storage.update_one(MIGRATIONS, claimable(name, worker), update, ()):
                return None
            for one in self._storage.find(MIGRATIONS, {"_id": name}, ["lease"]):
                until = (one.get("lease") or {}).get("until")
                return until if isinstance(until, datetime) else now()
            try:
                self._storage.insert(MIGRATIONS, [{"_id": name, "changed": changed, "lease": lease}])
            except DuplicateKey:  # another one was faster
                continue
            return None

    def end(self, name: str, worker: str, model: str, left: int) -> None:
        """Note that a run has come to its end, and end its lease."""
        told = {"model": model, "left": left, "version": _version(), "at": now(), "lease": None}
        self._storage.update_one(MIGRATIONS, {"_id": name, "lease.worker": worker}, {"$set": told}, ())

    def release(self, name: str, worker: str) -> None:
        """End a lease, if it is still this one's."""
        self._storage.update_one(MIGRATIONS, {"_id": name, "lease.worker": worker}, {"$set": {"lease": None}}, ())


def _version() -> str:
    try:
        return metadata.version("gatewayfw")
    except metadata.PackageNotFoundError:  # it is used as a folder
        return "unknown"


#: The parts of a note and their types.
_PARTS: dict[str, type] = {"model": str, "at": datetime, "changed": int, "left": int, "version": str}


def _note(stored: Document) -> MigrationNote | None:
    parts: dict[str, Any] = {name: stored.get(name) for name in _PARTS}
    if not isinstance(stored["_id"], str) or not all(isinstance(parts[name], kind) for name, kind in _PARTS.items()):
        return None
    return MigrationNote(stored["_id"], **parts)
