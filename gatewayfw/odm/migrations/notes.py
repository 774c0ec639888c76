"""What is noted of migrations in the database: a note, not the truth.

What still meets a migration's condition is what is left of it, whatever is noted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from typing import Any, final

from gatewayfw.errors import DuplicateKey
from gatewayfw.odm.jobs.records import LEASE, claimable, lease_of, now
from gatewayfw.storage import Document, Storage

COLLECTION = "_gw_migrations"


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
        found = (_note(one) for one in self._storage.find(COLLECTION, {}, sort=[("_id", 1)]))
        return {one.name: one for one in found if one is not None}

    def claim(self, name: str, worker: str, changed: int = 0) -> datetime | None:
        """Lease a migration, or renew the lease; None for success.

        Else this returns until when another one has it. ``changed`` is how many documents more were changed.
        """
        lease = lease_of(worker, LEASE)
        update: Mapping[str, Mapping[str, Any]] = {"$set": {"lease": lease}, "$inc": {"changed": changed}}
        while True:
            if self._storage.update_one(COLLECTION, claimable(name, worker), update, ()):
                return None
            for one in self._storage.find(COLLECTION, {"_id": name}, ["lease"]):
                until = (one.get("lease") or {}).get("until")
                return until if isinstance(until, datetime) else now()
            try:
                self._storage.insert(COLLECTION, [{"_id": name, "changed": changed, "lease": lease}])
            except DuplicateKey:  # another one was faster
                continue
            return None

    def end(self, name: str, worker: str, model: str, left: int) -> None:
        """Note that a run has come to its end, and end its lease."""
        told = {"model": model, "left": left, "version": _version(), "at": now(), "lease": None}
        self._storage.update_one(COLLECTION, {"_id": name, "lease.worker": worker}, {"$set": told}, ())

    def release(self, name: str, worker: str) -> None:
        """End a lease, if it is still this one's."""
        self._storage.update_one(COLLECTION, {"_id": name, "lease.worker": worker}, {"$set": {"lease": None}}, ())


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
