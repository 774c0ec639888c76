"""The models of one gateway: declared once, read by every other part.

Reading needs no lock: every `Schemas.add` builds a new immutable state and swaps it in.
"""

import threading
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, final

from marshmallow.fields import Field

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, NotFound
from gatewayfw.schemas.fields import Constructors, as_field, check_stored_names
from gatewayfw.schemas.get import Level, SelectStruct, Spec, freeze, full_projection, level
from gatewayfw.schemas.kinds.foreign import in_models
from gatewayfw.schemas.maxima import put_maxima
from gatewayfw.schemas.models import ModelSchema, State, closure, own_problems, problems_of
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.relations import RelatedRelation, Relation, check_name, parse_options, parse_relations
from gatewayfw.settings import Settings

T = TypeVar("T")


@final
class Schemas(Constructors):
    """The models of one gateway, and the value kinds under the contract's names."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._state = State()
        #: A number that grows with each added model; for caches.
        self.version = 0
        #: A new object after each change of the gateway's models, acts, services or database.
        self.stamp = object()
        #: Whether anything is restricted for callers of acts.
        self.policies_hold = False
        self._selects: dict[tuple[str, Spec], None] = {}
        self._valid: dict[str, int] = {}
        #: The field, by model, that holds the key of bytes kept elsewhere; they go when the document goes.
        self.bytes_keys: dict[str, str] = {}
        self.note_restrictions()

    def add(self, name: str, pure_fields: object, relations: object = None, options: object = None) -> ModelSchema:
        """Declare a model and return its parsed form.

        Raises:
            DefinitionError: the name is taken, or any part that can be judged without another
                model is wrong.
        """
        check_name(name, f"model {name!r}")
        pure = self._parse_pure(pure_fields, name)
        parsed = parse_relations({} if relations is None else relations, model=name, pure=pure, settings=self.settings)
        model = ModelSchema(
            name=name,
            pure=MappingProxyType(pure),
            relations=MappingProxyType(parsed),
            options=parse_options({} if options is None else options, model=name, pure=pure, relations=parsed),
        )
        alone = State().plus(model)
        if problems := list(own_problems(model, alone)):
            raise DefinitionError("; ".join(problems))
        with self._lock:
            if name in self._state.models:
                raise DefinitionError(f"model {name!r} is already defined")
            self._put(self._state.plus(model))
        return model

    def _put(self, state: State) -> None:
        self._state = state
        self.version = state.version  # after the state, so that no cache files the old one under this version
        self.note_change()

    def add_listing(self, model: str, make: Callable[[int], T]) -> T:
        """Add to a model the listing that ``make`` returns, and return it.

        ``make`` is called with the listing's number, which counts from 0 in each model.
        """
        with self._lock:
            known = self.listings(model)
            made = make(len(known))
            self._put(self._state.changed(listings={**self._state.listings, model: (*known, made)}))
        return made

    def listings(self, model: str) -> tuple[Any, ...]:
        """Return the listings of a model, in the order of their declaration."""
        return self._state.listings.get(model, ())

    def add_migration(self, name: str, migration: Any) -> None:
        """Add a migration; DefinitionError where another one has its name."""
        with self._lock:
            if name in self._state.migrations:
                raise DefinitionError(f"migration {name!r} is already declared")
            self._put(self._state.changed(migrations={**self._state.migrations, name: migration}))

    def migrations(self) -> Mapping[str, Any]:
        """Return all migrations by name, in the order of their declaration."""
        return self._state.migrations

    def add_policy(self, policy: Any) -> None:
        """Add a policy; `gatewayfw.policies` knows what it means."""
        with self._lock:
            self._put(self._state.changed(policies=(*self._state.policies, policy)))
        self.note_restrictions()

    @property
    def policies(self) -> tuple[Any, ...]:
        """All policies, in the order of their declaration."""
        return self._state.policies

    def note_restrictions(self) -> None:
        """Look whether anything is restricted, after a change of policies or settings."""
        # Not as others read it: what only looks does not keep the config of an app from changing it.
        self.policies_hold = bool(self._state.policies) or vars(self.settings)["require_policy"]

    def retired(self, model: str) -> tuple[str, ...] | None:
        """Return the names that migrations take away; None if only functions know them."""
        return self.remembered(_retired, model) if self._state.migrations else ()

    def note_change(self) -> None:
        """Record that a definition of the gateway has changed; see `stamp`."""
        self.stamp = object()

    def _parse_pure(self, given: object, model: str) -> dict[str, Field[Any]]:
        where = f"model {model!r}"
        if not isinstance(given, Mapping):
            raise DefinitionError(f"{where}: pure fields must be a mapping, not {type(given).__name__}")
        pure: dict[str, Field[Any]] = {}
        for name, value in given.items():
            place = f"{where}, field {name!r}"
            field = as_field(value, where, name)
            check_stored_names(field, place)
            pure[check_name(name, place)] = put_maxima(in_models(field, place), self.settings, where, name)
        return pure

    def get_schemas(self) -> dict[str, ModelSchema]:
        """Return all models by name, in the order of their definition."""
        return dict(self._state.models)

    def get_schema(self, name: str) -> ModelSchema:
        """Return one model; NotFound for an unknown one."""
        return _find_model(self._state, name)

    def get_pure(self, name: str) -> dict[str, Field[Any]]:
        """Return the pure fields of a model by name; NotFound for an unknown model."""
        return dict(self.get_schema(name).pure)

    def get_relations(self, name: str) -> dict[str, Relation]:
        """Return the relations a model declares by name; NotFound for an unknown model."""
        return dict(self.get_schema(name).relations)

    def get_related_relations(self, name: str) -> dict[str, RelatedRelation]:
        """Return the reverse relations on a model by name; NotFound for an unknown model."""
        state = self._state
        _find_model(state, name)
        return state.reverses(name)

    def links(self, name: str) -> Mapping[str, Relation | RelatedRelation]:
        """Return relations, then reverse relations, as a cached view; NotFound as there."""
        state = self._state
        _find_model(state, name)
        return state.links(name)

    def level(self, model: str, spec: Spec) -> Level:
        """Return the result of `levels.level`, cached until a model is added."""
        return self.remembered(level, model, spec)

    def remembered(self, make: Callable[..., T], *about: Hashable) -> T:
        """Return ``make(self, *about)``, cached until a model is added."""
        known, key = self._state.remembered, (make, about)
        try:
            return known[key]  # type: ignore[no-any-return]  # what it made
        except KeyError:
            made = known[key] = make(self, *about)
            return made

    def embedders(self, name: str) -> tuple[Relation, ...]:
        """Return every relation of any model that holds copies of the model ``name``.

        Frozen ones are among them: whoever asks decides what holds for these.
        """
        return self._state.embedders.get(name, ())

    def validate(self, name: str) -> None:
        """Check every model reachable from ``name`` against the models it needs.

        Raises:
            DefinitionError: something is wrong; the message names every problem.
            NotFound: there is no model ``name``.
        """
        state = self._state
        if self._valid.get(name) == state.version:
            return
        _find_model(state, name)
        reached = closure(state, name)
        problems = [problem for model in state.models if model in reached for problem in problems_of(state, model)]
        if problems:
            raise DefinitionError("; ".join(dict.fromkeys(problems)))
        self._valid.update(dict.fromkeys(reached, state.version))  # from each of them the same ones are reached

    def problems(self) -> list[str]:
        """Return a message for each mistake in the definitions of all models."""
        state = self._state
        found = [problem for model in state.models for problem in problems_of(state, model)]
        found += [problem for one in state.listings.values() for listing in one for problem in listing.problems()]
        return list(dict.fromkeys(found))

    def select_structs(self) -> list[SelectStruct]:
        """Return the distinct select structs made so far, used or not."""
        return [SelectStruct(self, model, spec) for model, spec in list(self._selects)]

    def select_struct(self, model: str, spec: int | Mapping[str, Any] = 1) -> SelectStruct:
        """Return the field that says what ``get`` may name; resolved on first use.

        ``spec`` 0 allows the pure fields only; n also allows relations and reverse relations n levels
        down. A mapping restricts: naming pure fields with 1 keeps only those, naming some with 0 removes
        those, and only the relations it names remain (each with 1, a number or a mapping for its own
        level). It is read at once and never changed.

        Raises:
            DefinitionError: ``spec`` has none of these forms. Names are checked on first use.
        """
        frozen = freeze(spec, model, self.settings.max_get_depth)
        with self._lock:
            self._selects[model, frozen] = None
        return SelectStruct(self, model, frozen)

    def create_projection(self, model: str, spec: int | Mapping[str, Any] = 1) -> dict[str, Any]:
        """Return the ``get`` that names all that `select_struct` of ``spec`` allows.

        It leaves out excluded fields.

        Raises:
            DefinitionError: ``spec`` is wrong, or the result would name more fields than the
                setting ``max_get_leaves``.
        """
        return full_projection(self, model, freeze(spec, model, self.settings.max_get_depth))

    # The contract's spellings of the methods above.
    getSchemas = get_schemas
    getSchema = get_schema
    getPure = get_pure
    getRelations = get_relations
    getRelatedRelations = get_related_relations
    selectStruct = select_struct
    createProjection = create_projection


def _retired(schemas: Schemas, model: str) -> tuple[str, ...] | None:
    found = [one.retired for one in schemas.migrations().values() if one.model == model]
    return None if None in found else tuple(dict.fromkeys(name for names in found for name in names))


def _find_model(state: State, name: str) -> ModelSchema:
    try:
        return state.models[name]
    except (KeyError, TypeError):
        raise NotFound(messages.NO_MODEL.format(name=shown(name))) from None
