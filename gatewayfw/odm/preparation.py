"""Prepare collections: they exist, and have the indexes that the models want.

The first use of a model in a process looks at its indexes and builds what is missing. It does the same for the
collections that its writes reach, unless another process has noted that it did (`gatewayfw.odm.notes`), or they are
empty: those are prepared at their own first use, or before it by the thread of the jobs. That thread builds nothing
where there are documents: the build would wait for the open transactions of others, and all writers for the build.
"""

import logging
import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import monotonic
from typing import final

from gatewayfw.errors import DefinitionError, GatewayError
from gatewayfw.odm.jobs import records
from gatewayfw.odm.notes import Note, find_refused, hash_of, note_of, read_index_notes, write_index_notes
from gatewayfw.odm.upkeep.indexes import wanted_indexes
from gatewayfw.policies.joining import policies_of
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.relations import Keys
from gatewayfw.settings import Settings
from gatewayfw.storage import Index, Storage
from gatewayfw.storage.terms import IndexProblem, find_missing

_LOG = logging.getLogger("gatewayfw.odm")
#: Seconds between two looks at which collections there are.
LOOK = 10.0


@final
class Preparation:
    """What is prepared in one database.

    There is no lock: to prepare twice does no harm, but to wait for a thread that waits for a lost server does.

    Attributes:
        done: the version of the definitions for which a collection was prepared.
        problems: why indexes of a collection were not built.
        drops: how often dropped collections were noticed.
    """

    def __init__(self, schemas: Schemas, storage: Storage, settings: Settings) -> None:
        self._schemas = schemas
        self._storage = storage
        self._settings = settings
        self.done: dict[str, int] = {}
        self.problems: dict[str, list[IndexProblem]] = {}
        self.drops = 0
        #: The keys of unique indexes that wait for migrations, by collection.
        self.waiting: dict[str, set[Keys]] = {}
        #: The indexes of collections that belong to no model.
        self._internal: dict[str, Sequence[Index]] = {}
        self._looked = -math.inf
        self._identities: Mapping[str, str] = {}
        self._notes: Mapping[str, Note] | None = None
        #: The identity of each prepared collection, and the collections to note.
        self._met: dict[str, str | None] = {}
        self._fresh: set[str] = set()
        #: The models that the thread of the jobs has not looked at, for which definitions, after how many drops.
        self._left: list[str] = []
        self._attended: tuple[int, int] | None = None
        #: For which definitions, after how many drops, `prepare_soon` was called.
        self._passed: tuple[int, int] | None = None

    def notice_drops(self) -> None:
        """Look for dropped collections now and then, in memory always; forget them."""
        if self.done:
            self._look_again()

    def prepare(self, names: Iterable[str]) -> None:
        """Prepare models, and what their writes reach.

        Inside a transaction that has to wait, it begins again afterwards.

        Raises:
            DefinitionError: a definition that a model depends on is wrong.
        """
        own, defined = dict.fromkeys(names), self._schemas.get_schemas()
        for name in own:
            self._schemas.validate(name)
            self._refuse_undoing(name)
        reached = [near for name in own for near in neighbours(self._schemas, name) if near in defined]
        if self._storage.multi_process:
            self._storage.has_transactions()  # warns when there are none
            self._internal[records.COLLECTION] = records.INDEXES
            reached.append(records.COLLECTION)
        self._prepare(own, dict.fromkeys(name for name in reached if name not in own))

    def _refuse_undoing(self, name: str) -> None:
        """Refuse policies whose writes may have to be undone, where nothing can be."""
        undoing = [one.where for one in policies_of(self._schemas, name) if one.may_undo]
        if undoing and not self._storage.has_transactions():
            raise DefinitionError(f"{undoing[0]}: rows, check and write need a database with transactions")

    def prepare_collection(self, name: str, indexes: Sequence[Index]) -> None:
        """Prepare a collection that belongs to no model, on its first use."""
        self._internal[name] = indexes
        if name not in self.done:
            self._prepare([name])

    def prepare_soon(self, seconds: Callable[[], float]) -> None:
        """Prepare all models, once and for at most ``seconds()``.

        What is noted, or left by then, is prepared at its first use.
        """
        at = self._schemas.version, self.drops
        if self._passed == at:
            return
        self._passed = at
        until = monotonic() + seconds()
        self._look_again()
        for name in self._schemas.get_schemas():
            if not self._is_done(name) and not self._is_noted(name):
                if monotonic() >= until:
                    return
                self.prepare([name])

    def attend(self, seconds: float) -> int:
        """Prepare models without documents for ``seconds``; return how many are left."""
        until, at = monotonic() + seconds, (self._schemas.version, self.drops)
        if self._attended != at:
            self._left, self._attended = list(self._schemas.get_schemas()), at
            random.shuffle(self._left)  # other processes begin elsewhere
        if self._left:
            self._look_again()
        while self._left and monotonic() < until:
            name = self._left.pop()
            if not self._is_done(name) and not self._is_noted(name) and not self._has_documents(name):
                try:
                    self._schemas.validate(name)
                except DefinitionError:
                    continue  # whoever uses it is told
                self._build([name])
        self._note()
        return len(self._left)

    # -- what there is

    def _look_again(self) -> None:
        # In memory a look costs next to nothing, so nothing dropped is used before it is prepared again.
        if not self._storage.multi_process or monotonic() - self._looked >= LOOK:
            self._look()

    def _look(self) -> None:
        """Read which collections there are; forget all if one was dropped."""
        self._identities = found = self._storage.identities()
        self._looked, self._notes = monotonic(), None
        dropped = [name for name in self.done if self._met.setdefault(name, found.get(name)) != found.get(name)]
        if dropped:
            severity = logging.WARNING if self._storage.multi_process else logging.DEBUG
            _LOG.log(severity, "dropped, and prepared again at the next use: %s", ", ".join(sorted(dropped)))
            self.done, self._met = {}, {}
            self.drops += 1

    def _wanted(self, name: str) -> Sequence[Index]:
        wanted = self._internal[name] if name in self._internal else self._schemas.remembered(_wanted_of, name)
        waiting = self.waiting.get(name)
        return [index for index in wanted if index.keys not in waiting] if waiting else wanted

    def build_waiting(self, name: str) -> None:
        """Build the unique indexes of a model that waited for a migration which has ended."""
        if self.waiting.pop(name, None):
            self.done.pop(name, None)
            self.prepare([name])

    def _find_waiting(self, name: str) -> set[Keys]:
        """Return the keys of the unique indexes that wait for a migration.

        They are missing, and over fields that documents lack until then. Two such documents would keep an index from
        being built; with one, it would refuse the next that an old process writes.
        """
        waiting: set[Keys] = set()
        migrations = [one for one in self._schemas.migrations().values() if one.model == name and one.filled]
        if not migrations or name not in self._identities:
            return waiting
        present = {index.keys for index in self._storage.indexes(name) if index.unique}
        unique = [one for one in self._wanted(name) if one.unique and not one.passes_over_absent]
        missing = [one for one in unique if one.keys not in present]
        for migration in migrations:
            keys = {one.keys for one in missing if not migration.filled.isdisjoint(name for name, _ in one.keys)}
            if keys and self._storage.count(name, migration.condition, 1):
                waiting |= keys
        return waiting

    def _is_done(self, name: str) -> bool:
        return self.done.get(name) == self._schemas.version

    def _note_of(self, name: str) -> Note:
        """Return the note of a collection; an empty one if it is not valid.

        That is one of an earlier collection, or of other indexes.
        """
        if not self._storage.multi_process:
            return {}
        if (notes := self._notes) is None:
            self._notes = notes = read_index_notes(self._storage)
        note, identity = notes.get(name, {}), self._identities.get(name)
        is_valid = note.get("identity") == identity is not None and note.get("wanted") == hash_of(self._wanted(name))
        return note if is_valid else {}

    def _is_noted(self, name: str) -> bool:
        return bool(self._note_of(name))

    def _has_documents(self, name: str) -> bool:
        return name in self._identities and any(self._storage.find(name, {}, [], limit=1))

    # -- what it lacks

    def _prepare(self, own: Collection[str], reached: Iterable[str] = ()) -> None:
        lacking = self._storage.aside(lambda: self._find_lacking(own, reached))
        if lacking:
            self._storage.outside(lambda: self._build(lacking))

    def _find_lacking(self, own: Collection[str], reached: Iterable[str]) -> list[str]:
        """Return the collections to build something in; those that lack nothing are done."""
        self._look_again()
        looked_at = [name for name in own if not self._is_done(name)]
        unknown = [name for name in reached if not self._is_done(name) and not self._is_noted(name)]
        looked_at += [name for name in unknown if name in self._internal or self._has_documents(name)]
        self._wait_for_migrations(looked_at)
        lacking = [name for name in looked_at if not self._is_complete(name)]
        self._note()
        return lacking

    def _wait_for_migrations(self, names: Iterable[str]) -> None:
        for name in names if self._schemas.migrations() else ():
            self.waiting.pop(name, None)
            if waiting := self._find_waiting(name):
                self.waiting[name] = waiting

    def _is_complete(self, name: str) -> bool:
        """Look at the indexes of a collection; it is prepared if none can be built."""
        if name not in self._identities:
            return False
        version, wanted = self._schemas.version, self._wanted(name)
        present = {index.keys: index.unique for index in self._storage.indexes(name)} if wanted else {}
        missing, problems = find_missing(name, wanted, present, lambda: False)
        refused = find_refused(name, self._note_of(name), missing)
        if len(refused) < len(missing):
            return False
        self._finish(name, version, problems + refused)
        return True

    def _build(self, names: Iterable[str]) -> None:
        for name in names:
            version, wanted = self._schemas.version, self._wanted(name)
            refused = find_refused(name, self._note_of(name), wanted)
            keys = {problem.keys for problem in refused}
            tried = [index for index in wanted if index.keys not in keys]
            problems = self._storage.ensure(name, tried, self._settings.index_build_limit)
            self._finish(name, version, refused + problems)
        self._note()

    def _finish(self, name: str, version: int, problems: list[IndexProblem]) -> None:
        for problem in problems:
            _LOG.error("%s", problem)
        self.problems[name] = problems
        self.done[name] = version
        self._fresh.add(name)

    def _note(self) -> None:
        """Note what was prepared since the last time, for other processes and later looks."""
        fresh, self._fresh = self._fresh, set()
        if not fresh:
            return
        found = self._identities
        if not fresh <= found.keys():
            self._identities = found = self._storage.identities()
        self._met.update((name, found.get(name)) for name in fresh)
        if self._storage.multi_process:
            try:
                with self._storage.unrecorded():
                    self._write_notes({name: found[name] for name in fresh & found.keys()})
            except GatewayError as error:
                _LOG.debug("not noted: %s", error.message)

    def _write_notes(self, identities: Mapping[str, str]) -> None:
        notes = {
            name: note_of(identity, self._wanted(name), self.problems[name]) for name, identity in identities.items()
        }
        if changed := {name: note for name, note in notes.items() if note != self._note_of(name)}:
            write_index_notes(self._storage, changed)
            self._notes = {**(self._notes or {}), **changed}


def neighbours(schemas: Schemas, name: str) -> list[str]:
    """Return the other models that embed a model or that it names, also undefined."""
    models = [one.schema_name for one in schemas.get_relations(name).values()]
    models += [relation.model for relation in schemas.embedders(name)]
    return [model for model in dict.fromkeys(models) if model != name]


def _wanted_of(schemas: Schemas, name: str) -> list[Index]:
    return wanted_indexes(schemas, schemas.get_schema(name))
