"""Whether a process can serve: its database answers and has its unique indexes."""

import logging
import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Literal, final

from gatewayfw.environment import patched_by
from gatewayfw.errors import GatewayError, Unavailable
from gatewayfw.logs import traceback_of
from gatewayfw.odm.database import Database
from gatewayfw.odm.jobs.records import Jobs, now
from gatewayfw.odm.notes import MigrationNotes
from gatewayfw.odm.upkeep.indexes import wanted_indexes
from gatewayfw.schemas import Schemas
from gatewayfw.storage import Index, Storage

_LOG = logging.getLogger("gatewayfw.odm")
Word = Literal["ok", "unreachable", "unauthenticated", "no_primary", "wrong_set", "index_missing", "greenlets", "error"]

#: Most seconds of one look at the database.
BOUND = 1.0
#: Seconds for which the result of a look answers everybody: however many ask, a process looks twice a second.
SHARED = 0.5
#: Seconds after which an index that was there is looked for again, in one collection with each look.
AGAIN = 30.0


@final
@dataclass(frozen=True, slots=True)
class ReadinessState:
    """What a look at the database found.

    Attributes:
        word: ``ok``; a kind of `gatewayfw.storage.Trouble`; ``index_missing``: a unique one; ``greenlets``: they have
            replaced threads; ``error``: anything else.
        jobs: how many jobs are pending, `MOST_COUNTED` for at least as many; None if the database did not say.
        oldest: the age of the oldest one in seconds, 0 without any; None if the database did not say.
        unmigrated: how many documents declared migrations had left when they last ended, as noted; None without a note.
    """

    word: Word
    jobs: int | None = None
    oldest: float | None = None
    unmigrated: int | None = None


_AWAY = ReadinessState("unreachable")


@final
class Readiness:
    """Looks at the database of one gateway, for all who ask.

    At most one thread of a process waits for the database. Meanwhile others get the result of the last look, if it is
    not old; else they wait for this one, no longer than `BOUND`.
    """

    def __init__(self, database: Database, prepare: Callable[[], object]) -> None:
        """Look at a database; ``prepare`` builds missing indexes."""
        self._database = database
        self._prepare = prepare
        self._last = (_AWAY, -math.inf)
        self._looking = threading.Lock()
        self._preparing = threading.Lock()
        #: What was true when an index was last looked for: the storage, the definitions and how much was dropped.
        self._definitions: tuple[Storage, int, int] | None = None
        #: collection: when they were last there.
        self._found: dict[str, float] = {}

    def state(self) -> ReadinessState:
        """Return what was found in the last moment, or look; takes `BOUND` at most."""
        last = self._last
        state, looked = last
        age = monotonic() - looked
        if age < SHARED:
            return state
        is_recent = age < SHARED + BOUND
        if not self._looking.acquire(timeout=0 if is_recent else BOUND):
            return state if is_recent else _AWAY
        try:
            if self._last is last:  # else another thread has looked meanwhile
                found = self._look(state.word)
                self._last = (found, monotonic())
            return self._last[0]
        finally:
            self._looking.release()

    def prepare(self) -> None:
        """Start to build what the first use of each model would, unless that runs already."""
        if self._preparing.acquire(blocking=False):
            threading.Thread(target=self._build, name="gatewayfw-indexes", daemon=True).start()

    def _build(self) -> None:
        try:
            self._prepare()
        except GatewayError as error:
            _LOG.warning("indexes were not built: %s", error.message)
        finally:
            self._preparing.release()

    def _look(self, before: Word) -> ReadinessState:
        """Look at the database; log what is wrong if the word ``before`` was another one."""
        if patched_by() is not None:
            if before != "greenlets":
                _LOG.error("not ready: %s has replaced threads by greenlets", patched_by())
            return ReadinessState("greenlets")
        if not self._database.is_set:
            return ReadinessState("ok", 0, 0.0)
        storage = self._database.storage
        try:
            with storage.deadline(BOUND):
                if (trouble := storage.ping()) is not None:  # the adapter has logged it
                    return ReadinessState(trouble.kind)
                if storage.multi_process:
                    self._database.preparation.notice_drops()
                lacking = self._find_lacking(storage) if storage.multi_process else None
                if lacking is not None and before != "index_missing":
                    _LOG.warning("not ready: %s", lacking)
                word: Word = "ok" if lacking is None else "index_missing"
                unmigrated = _count_unmigrated(self._database.schemas, storage)
                jobs, oldest = _count_jobs(storage)
                return ReadinessState(word, jobs, oldest, unmigrated)
        except Unavailable:
            return _AWAY
        except GatewayError as error:
            if before != "error":
                _LOG.error("not ready\n%s", traceback_of(error))
            return ReadinessState("error")

    def _find_lacking(self, storage: Storage) -> str | None:
        """Return a unique index that a collection lacks, in words; None if there is none.

        Looked at are all that were not complete yet, and one that was, but long ago. So a look over a slow network goes
        on where the last one ended.
        """
        schemas = self._database.schemas
        definitions = (storage, schemas.version, self._database.preparation.drops)
        if self._definitions != definitions:
            self._definitions, self._found = definitions, {}
        unique = schemas.remembered(unique_indexes)
        oldest = sorted(self._found, key=self._found.__getitem__)[:1]
        again = [name for name in oldest if monotonic() - self._found[name] >= AGAIN]
        for name in [*(name for name in unique if name not in self._found), *again]:
            waiting = self._database.preparation.waiting.get(name, ())
            wanted = [index for index in unique[name] if index.keys not in waiting]
            lacking = find_lacking(wanted, storage.indexes(name))
            if lacking is not None:
                known = self._database.preparation.problems.get(name, [])
                missing = f"{name} has no unique index {dict(lacking.keys)}"
                return next((problem for problem in known if problem.keys == lacking.keys), missing)
            self._found[name] = monotonic()
        return None


def unique_indexes(schemas: Schemas) -> dict[str, list[Index]]:
    """Return the unique indexes of each model that has some."""
    wanted = {schema.name: wanted_indexes(schemas, schema) for schema in schemas.get_schemas().values()}
    unique = {name: [index for index in indexes if index.unique] for name, indexes in wanted.items()}
    return {name: indexes for name, indexes in unique.items() if indexes}


def find_lacking(wanted: Iterable[Index], present: Iterable[Index]) -> Index | None:
    """Return the first missing unique index, or None; other options do not matter."""
    there = {index.keys for index in present if index.unique}
    return next((index for index in wanted if index.keys not in there), None)


def _count_unmigrated(schemas: Schemas, storage: Storage) -> int | None:
    """Return what is noted as left of the declared migrations; this scans nothing."""
    declared = schemas.migrations()
    if not declared:
        return None
    try:
        left = [note.left for note in MigrationNotes(storage).all().values() if note.name in declared]
    except GatewayError:
        return None
    return sum(left) if left else None


def _count_jobs(storage: Storage) -> tuple[int, float] | tuple[None, None]:
    """Return the number of jobs and the age of the oldest, or None for both.

    Jobs never make a process unready: one that this version cannot work off would take out every process.
    """
    try:
        number, oldest = Jobs(storage).pending()
    except GatewayError:
        return None, None
    return number, 0.0 if oldest is None else max(0.0, (now() - oldest).total_seconds())
