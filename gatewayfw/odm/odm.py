"""The object-document mapper of one gateway: its database and its models."""

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, TypeVar, final, overload

from gatewayfw.context_variables import for_later
from gatewayfw.environment import refuse_greenlets
from gatewayfw.errors import DefinitionError, UsageError
from gatewayfw.odm.database import Database
from gatewayfw.odm.jobs.records import Job
from gatewayfw.odm.migrations.declaration import Legacy, MigrationFn, Prefer, parse_migration
from gatewayfw.odm.migrations.plans import Migrated
from gatewayfw.odm.migrations.run import Migrations
from gatewayfw.odm.models import Model
from gatewayfw.odm.readiness import Readiness
from gatewayfw.odm.reading.projection import Projections
from gatewayfw.odm.stored_replies import Replies
from gatewayfw.odm.upkeep.integrity import Integrity
from gatewayfw.schemas import Options, Relation, Schemas
from gatewayfw.schemas.definition_types import Kinds, OptionsShape, RelationShape, UntypedRelations
from gatewayfw.settings import Settings
from gatewayfw.spelling import pythonic
from gatewayfw.storage import Storage

T = TypeVar("T")


@final
class Odm:
    """Models and the database they live in.

    Attributes:
        database: the storage, with what a process does around it.
        replies: the kept replies of idempotent acts.
        readiness: whether the database answers and is complete, for probes.
        migrations: what is declared, how it is planned and run, and what is noted of it.
    """

    def __init__(self, schemas: Schemas, settings: Settings) -> None:
        self.schemas = schemas
        self.database = Database(schemas, settings)
        self._projections = Projections(schemas)
        self._models: dict[str, Model] = {}
        self.migrations = Migrations(self.database)
        self.replies = Replies(self.database)
        self.readiness = Readiness(self.database, self.ready)

    # -- database

    def set_db(self, db: Any, *, memory: bool = False) -> None:
        """Supply the database: a URI, a PyMongo or mongomock database, or a `Storage`.

        Call it before or after you define models; it connects on first use. Data in memory
        (mongomock, a `Storage` without ``multi_process``) causes a warning outside tests and development,
        and is refused in production and in workers of gunicorn, granian and uWSGI, see
        `gatewayfw.environment.judge_memory`; ``memory=True`` allows it everywhere.
        Source: specification 5.4.

        Raises:
            DefinitionError: ``db`` is none of these, such as None, or a URI that names no database,
                or in memory where that is refused.
        """
        if not isinstance(memory, bool):
            raise DefinitionError("set_db: memory: expected true or false")
        self.database.use(db, memory=memory)
        self.schemas.note_change()

    @property
    def storage(self) -> Storage:
        """The adapter in use; DefinitionError before `set_db`."""
        return self.database.storage

    def ready(self) -> list[str]:
        """Prepare the database for every model; return why indexes were not built.

        Raises:
            DefinitionError: a definition is wrong, or no database is set.
        """
        if not (models := self.schemas.get_schemas()):
            return []
        refuse_greenlets()
        preparation = self.database.preparation
        preparation.prepare(models)
        return [problem for problems in preparation.problems.values() for problem in problems]

    # -- models

    @overload
    def new_model(
        self,
        name: str,
        pure_fields: Kinds,
        relations: Mapping[str, RelationShape | Relation] | None = None,
        options: OptionsShape | Options | None = None,
    ) -> Model: ...

    @overload
    def new_model(self, name: str, pure_fields: Kinds, relations: UntypedRelations, options: Any = None) -> Model: ...

    def new_model(self, name: str, pure_fields: Any, relations: Any = None, options: Any = None) -> Model:
        """Define a model and return its operations; its collection has the same name.

        ``pure_fields``: value kinds by field name. ``relations``: by specification 6.1, or `Relation`
        objects; related models may be defined later. ``options``:
        ``{"createIndex": {"indexSpec": {field: 1}, "options": {"unique": True}}, "excludes": [field]}``,
        ``createIndex`` also as a list.

        Raises:
            DefinitionError: a name, field, relation or option is wrong; the message says which.
        """
        model = Model(self.database, self.schemas.add(name, pure_fields, relations, options), self._projections)
        self._models = {**self._models, name: model}
        return model

    def model(self, name: str) -> Model:
        """Return a model by name; NotFound when there is none."""
        self.schemas.get_schema(name)
        return self._models[name]

    # -- operations

    def has_transactions(self) -> bool:
        """Tell whether a failed `transaction` leaves no trace; false without a database."""
        return self.database.is_set and self.storage.has_transactions()

    def transaction(self, fn: Callable[[], T]) -> T:
        """Run several operations as one, all or nothing; return ``fn``'s result.

        ``fn`` may run several times after conflicts, so it should do nothing but database work.
        Nested calls join. An operation that fails in the database makes the whole transaction
        fail: if ``fn`` catches the error, it is raised again at the end. ``fn`` may catch the error of an
        operation refused before that, for example by validation. Our choice.

        Raises:
            DefinitionError: ``fn`` is a generator or async function, which would not run.
        """
        _check_plain("transaction", fn)
        return self.database.transact(fn)

    @contextmanager
    def part(self, scope: Callable[[], AbstractContextManager[object]]) -> Iterator[None]:
        """Let a block be a part of the transaction under way, for batches.

        At its end it raises the error that has failed the transaction, also if the block caught that. ``scope`` is
        opened around each function that the block gives to `after_commit`.
        """
        with self.storage.commits.within(scope):
            yield
            self.storage.transaction(lambda: None)  # raises what has failed it

    def after_commit(self, fn: Callable[[], object]) -> None:
        """Call ``fn`` once, after the transaction under way has committed.

        Use it for what a database cannot undo, such as sending a mail: the function of a `transaction` may run several
        times. Nested transactions, and those of other gateways on the same `Storage`, are a part of the outermost one.
        Outside a transaction ``fn`` is called at once. It is not called after a rollback, or if the outcome of the
        commit is unknown. Several functions are called in the order given, in this thread, each with the rights of
        whoever gave it. An exception in one is logged, and neither undoes nor hides the success.

        Raises:
            DefinitionError: ``fn`` is a generator or async function, which would not run; or no database is set.
            UsageError: the transaction was begun on the storage itself, not by `transaction`.
        """
        _check_plain("after_commit", fn)
        self.storage.commits.call_after(for_later(fn), within=self.storage.in_transaction())

    # -- upkeep

    def jobs(self) -> list[Job]:
        """Return the jobs that bring large changes to all of their copies, oldest first."""
        return self.database.worker.jobs.listed()

    def work(self, seconds: float = math.inf, on_progress: Callable[[Job], None] | None = None) -> int:
        """Work on pending jobs, for at most ``seconds``; return how many are left.

        Jobs that have failed are left while they rest, up to five minutes.
        ``on_progress`` is called with the job after each batch.

        Raises:
            UsageError: inside a transaction, whose snapshot does not show what others have committed.
        """
        if self.database.is_nested:
            raise UsageError("odm.work: not inside a transaction")
        return self.database.worker.work(seconds, on_progress)

    @contextmanager
    def leave_to_jobs(self, beyond: int = 0) -> Iterator[None]:
        """Leave large changes half done inside a block, for tests.

        A change of more than ``beyond`` copies leaves the rest to jobs. Inside the block these wait, on MongoDB and
        mongomock, until you call `work`. The end of the block works on them, unless an exception ends it. This applies
        to all threads that use this gateway, and to no other process. Our choice.

        Raises:
            UsageError: ``beyond`` is not a whole number, or is below 0.
        """
        if type(beyond) is not int or beyond < 0:
            raise UsageError("leave_to_jobs: beyond must be a whole number, 0 or more")
        with self.database.worker.leave(beyond):
            yield
            self.work()

    # -- migrations

    @overload
    def migration(self, name: str, model: str, *, where: Mapping[str, Any]) -> Callable[[MigrationFn], MigrationFn]: ...

    @overload
    def migration(
        self,
        name: str,
        model: str,
        *,
        rename: Mapping[str, str] = ...,
        copy: Mapping[str, str] = ...,
        default: Mapping[str, Any] = ...,
        convert: Iterable[str] = ...,
        drop: Iterable[str] = ...,
        relation: str = ...,
        prefer: Prefer | None = ...,
        uuid: Legacy | None = ...,
    ) -> None: ...

    def migration(
        self,
        name: str,
        model: str,
        *,
        where: Mapping[str, Any] | None = None,
        prefer: Prefer | None = None,
        uuid: Legacy | None = None,
        **kind: Any,
    ) -> Callable[[MigrationFn], MigrationFn] | None:
        """Declare how stored documents follow their definition, for `migrate`.

        Give one of: ``rename``, new names by old ones, which the model does not have any more; ``copy``, the same for
        two names that it has, where the new one is missing; ``default``, values of fields by name, where they are
        missing; ``convert``, names of fields whose stored values do not fit and become what they say without loss;
        ``drop``, names that the model does not have any more; ``relation``, one whose type has changed, once no old
        process runs: a single copy becomes a list, a list of one a copy. With ``where``, a filter, it decorates a
        function that gets a document and returns its ``$set`` and ``$unset``, or None to leave it.

        A document that has both names of a ``rename`` is listed and stays as it is, unless ``prefer`` is ``"old"`` or
        ``"new"``. ``uuid`` says in which order of bytes UUIDs of subtype 3 were written, for ``convert``.

        Raises:
            DefinitionError: it does not fit the model as it is defined now, or another migration has its name.
        """
        parsed = parse_migration(self.schemas, name, model, kind, where=where, prefer=prefer, uuid=uuid)

        def declare(function: MigrationFn) -> MigrationFn:
            _check_plain("migration", function)
            self.schemas.add_migration(name, replace(parsed, function=function))
            return function

        if where is not None:
            return declare
        self.schemas.add_migration(name, parsed)
        return None

    def migrate(self, only: str | None = None, plan: bool = False) -> list[Migrated]:
        """Run what is declared, in order; return what each has changed and left.

        ``changed`` and ``left`` count documents, and holders of frozen copies that have an old name. ``listed`` has the
        first documents that it cannot change, with the reason; they stay as they are. With ``plan`` nothing is changed,
        and ``left`` and ``listed`` say what a run would find. A run can be interrupted, and repeated at any time:
        documents that an old process has written since are found by the next one.

        Raises:
            UsageError: no migration is named ``only``, or this is inside a transaction.
            Conflict: another process runs the same migration.
        """
        run = self.migrations
        return [(run.plan(one).outcome if plan else run.run(one)).told() for one in run.chosen(only)]

    @property
    def integrity(self) -> Integrity:
        """The object that compares and repairs copies, and judges whether documents fit."""
        return Integrity(self.schemas, self.storage)

    # The contract's spellings of the methods above.
    setDb = set_db

    def newModel(self, *args: Any, **keys: Any) -> Model:
        """Define a model: ``newModel(name, pureFields, relations, options)``."""
        return self.new_model(*args, **pythonic(None, keys))


def _check_plain(name: str, fn: Any) -> None:
    if not callable(fn) or inspect.isgeneratorfunction(fn) or inspect.iscoroutinefunction(fn):
        raise DefinitionError(f"{name}: expected a plain function, not a generator or async one")
