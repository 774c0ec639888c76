"""Parsed models, the immutable state of all of them, and what is wrong with it.

Source: specification 6; the rules are our choice.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from marshmallow.fields import Field

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.kinds.foreign import as_kind, reads_otherwise
from gatewayfw.schemas.relations import MOST_INDEXES, Keys, Options, RelatedRelation, Relation, Sort, check_excludes

#: A relation a model declares, or a reverse relation that appears on it.
Link = Relation | RelatedRelation


def copied_model(link: Link) -> str:
    """Return the name of the model whose documents a link copies."""
    return link.schema_name if isinstance(link, Relation) else link.member


@dataclass(frozen=True)
class ModelSchema:
    """One model: its name, pure fields, relations and options."""

    name: str
    pure: Mapping[str, Field[Any]] = field(hash=False)
    relations: Mapping[str, Relation] = field(hash=False)
    options: Options = field(default_factory=Options)
    _copies: dict[frozenset[str], tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def document(self) -> ObjectField:
        """The field of a whole document without its ``_id``, for `check_document`."""
        return ObjectField(self.pure)

    @cached_property
    def read_otherwise(self) -> frozenset[str]:
        """The pure fields whose stored values Python sees in another form."""
        return frozenset(name for name, kind in self.pure.items() if reads_otherwise(kind))

    def copy_fields(self, excludes: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Return the pure fields of a copy, in order.

        Fields that the model or ``excludes`` leaves out are not among them. Every copy has ``_id``,
        which is not in the result either.
        """
        known = self._copies.get(excludes)
        if known is None:
            left_out = self.options.excludes | excludes
            known = self._copies[excludes] = tuple(name for name in self.pure if name not in left_out)
        return known


@dataclass(frozen=True)
class State:
    """All models, and what follows from them; only ever replaced as a whole.

    What `gatewayfw.odm` and `gatewayfw.policies` declare is only kept here; they know what it is.

    Attributes:
        listings: the listings of each model, in the order of their declaration.
        migrations: those of all models, by name, in the order of their declaration.
        policies: those of all models, in the order of their declaration.
        remembered: what other parts derived from these models, by a key of their own.
    """

    version: int = 0
    models: Mapping[str, ModelSchema] = field(default_factory=dict)
    embedders: Mapping[str, tuple[Relation, ...]] = field(default_factory=dict)
    appearing: Mapping[str, tuple[RelatedRelation, ...]] = field(default_factory=dict)
    listings: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    migrations: Mapping[str, Any] = field(default_factory=dict)
    policies: tuple[Any, ...] = ()
    remembered: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _links: dict[str, Mapping[str, Link]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def plus(self, model: ModelSchema) -> State:
        embedders, appearing = dict(self.embedders), dict(self.appearing)
        for relation in model.relations.values():
            target = relation.schema_name
            embedders[target] = (*embedders.get(target, ()), relation)
            appearing[target] = (*appearing.get(target, ()), *relation.related_relations.values())
        return self.changed(models={**self.models, model.name: model}, embedders=embedders, appearing=appearing)

    def changed(self, **changes: Any) -> State:
        """Return the next state, with other values of some attributes."""
        return replace(self, version=self.version + 1, **changes)

    def reverses(self, name: str) -> dict[str, RelatedRelation]:
        """Return the reverse relations on a model by name; the first where two share one."""
        found: dict[str, RelatedRelation] = {}
        for reverse in self.appearing.get(name, ()):
            found.setdefault(reverse.name, reverse)
        return found

    def links(self, name: str) -> Mapping[str, Link]:
        """Return a defined model's relations, then its reverse relations."""
        known = self._links.get(name)
        if known is None:
            relations = self.models[name].relations
            known = self._links[name] = MappingProxyType({**relations, **{**self.reverses(name), **relations}})
        return known


def closure(state: State, name: str) -> set[str]:
    """Return all models that relations link to ``name``, in either direction.

    The result includes the model itself and leaves out models that are not defined.
    """
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in found or current not in state.models:
            continue
        found.add(current)
        waiting.extend(relation.schema_name for relation in state.models[current].relations.values())
        waiting.extend(relation.model for relation in state.embedders.get(current, ()))
    return found


def own_problems(model: ModelSchema, alone: State) -> Iterator[str]:
    """Yield what is wrong with a model by itself."""
    for target in dict.fromkeys(relation.schema_name for relation in model.relations.values()):
        yield from _collision_problems(alone, target)
    for relation in model.relations.values():
        for reverse in relation.related_relations.values():
            where = f"model {model.name!r}, relation {relation.name!r}, reverse {reverse.name!r}"
            yield from _sort_problem(reverse.sort, model, reverse.excludes, where)
    count = len({(("_id", 1),), *(index.keys for index in model.options.indexes), *_keys_made(model)})
    if count > MOST_INDEXES:
        yield f"model {model.name!r}: {count} indexes, more than the {MOST_INDEXES} a collection may have"


def problems_of(state: State, name: str) -> Iterator[str]:
    """Yield what is wrong with a model together with all others."""
    for relation in state.models[name].relations.values():
        where = f"model {name!r}, relation {relation.name!r}"
        target = state.models.get(relation.schema_name)
        if target is None:
            yield f"{where}: schemaName names {relation.schema_name!r}, which is not a model"
            continue
        try:
            check_excludes(relation.excludes, target.pure, where=where, model=target.name)
        except DefinitionError as error:
            yield error.message
        yield from _sort_problem(relation.sort, target, relation.excludes, where)
    yield from _collision_problems(state, name)
    yield from _expiry_problem(state, name)


def _expiry_problem(state: State, name: str) -> Iterator[str]:
    """Refuse TTL indexes, which delete documents without our knowledge.

    Frozen copies may outlive their source.
    """
    model = state.models[name]
    if not any("expireAfterSeconds" in index.options for index in model.options.indexes):
        return
    listed = any(relation.related_relations for relation in model.relations.values())
    if listed or any(not relation.frozen for relation in state.embedders.get(name, ())):
        yield f"model {name!r}, createIndex: expireAfterSeconds would delete documents that others embed or list"


def _sort_problem(sort: Sort | None, source: ModelSchema, excludes: frozenset[str], where: str) -> Iterator[str]:
    if sort is None or sort.field == "_id":
        return
    field = source.pure.get(sort.field)
    if field is None or not as_kind(field).sorts or sort.field not in source.copy_fields(excludes):
        yield (
            f"{where}, sort: {sort.field!r} is neither _id nor a scalar pure field"
            f" of {source.name!r} that is not excluded"
        )


def _collision_problems(state: State, target: str) -> Iterator[str]:
    model = state.models.get(target)
    seen: dict[str, RelatedRelation] = {}
    for reverse in state.appearing.get(target, ()):
        where = f"model {reverse.member!r}, relation {reverse.relation!r}, reverse {reverse.name!r}"
        if model and reverse.name in model.pure:
            yield f"{where}: model {target!r} has a pure field of this name"
        elif model and reverse.name in model.relations:
            yield f"{where}: model {target!r} has a relation of this name"
        elif reverse.name in seen:
            first = seen[reverse.name]
            yield (
                f"{where}: relation {first.relation!r} of model {first.member!r}"
                f" already makes a reverse of this name on {target!r}"
            )
        seen.setdefault(reverse.name, reverse)


def _keys_made(model: ModelSchema) -> Iterator[Keys]:
    """Yield the keys of the indexes that relations cause; hidden paths are shortened."""
    for relation in model.relations.values():
        path = f"{relation.name}._id"
        yield ((path, 1), ("_id", 1))
        for reverse in relation.related_relations.values():
            if reverse.window:
                noted = (f"_gw.{relation.name}.{reverse.name}", 1)
                yield ((path, 1), noted, *reverse.window.order)
                if not reverse.of_single:
                    yield (noted, *reverse.window.order)
