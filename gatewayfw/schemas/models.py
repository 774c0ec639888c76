"""Parsed models, and the immutable state that holds all of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

from marshmallow.fields import Field

from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.kinds.foreign import reads_otherwise
from gatewayfw.schemas.relations import Options, RelatedRelation, Relation

#: A relation a model declares, or a reverse relation that appears on it.
Link = Relation | RelatedRelation


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
        """The field of a whole document without its ``_id``.

        `gatewayfw.schemas.exactness.check_document` uses it.
        """
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


class Listed(Protocol):
    """What a model needs of a listing; see `gatewayfw.odm.listings`."""

    def problems(self) -> Iterator[str]:
        """Yield a message for each mistake in its declaration."""


@dataclass(frozen=True)
class State:
    """All models, and what follows from them; only ever replaced as a whole.

    Attributes:
        listings: the listings of each model, in the order of their declaration.
        remembered: what other parts derived from these models, by a key of their own.
    """

    version: int = 0
    models: Mapping[str, ModelSchema] = field(default_factory=dict)
    embedders: Mapping[str, tuple[Relation, ...]] = field(default_factory=dict)
    appearing: Mapping[str, tuple[RelatedRelation, ...]] = field(default_factory=dict)
    listings: Mapping[str, tuple[Listed, ...]] = field(default_factory=dict)
    remembered: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    _reverses: dict[str, Mapping[str, RelatedRelation]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _links: dict[str, Mapping[str, Link]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def plus(self, model: ModelSchema) -> State:
        embedders, appearing = dict(self.embedders), dict(self.appearing)
        for relation in model.relations.values():
            target = relation.schema_name
            embedders[target] = (*embedders.get(target, ()), relation)
            appearing[target] = (*appearing.get(target, ()), *relation.related_relations.values())
        models = {**self.models, model.name: model}
        return State(self.version + 1, models, embedders, appearing, self.listings)

    def listing(self, model: str, listing: Listed) -> State:
        """Return the state with one more listing of a model."""
        listings = {**self.listings, model: (*self.listings.get(model, ()), listing)}
        return replace(self, version=self.version + 1, listings=listings)

    def reverses(self, name: str) -> Mapping[str, RelatedRelation]:
        """Return the reverse relations on a model by name; the first where two share one."""
        known = self._reverses.get(name)
        if known is None:
            found: dict[str, RelatedRelation] = {}
            for reverse in self.appearing.get(name, ()):
                found.setdefault(reverse.name, reverse)
            known = self._reverses[name] = MappingProxyType(found)
        return known

    def links(self, name: str) -> Mapping[str, Link]:
        """Return a defined model's relations, then its reverse relations."""
        known = self._links.get(name)
        if known is None:
            relations = self.models[name].relations
            found = {key: reverse for key, reverse in self.reverses(name).items() if key not in relations}
            known = self._links[name] = MappingProxyType({**relations, **found})
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
