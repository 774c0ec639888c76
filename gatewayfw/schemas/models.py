"""Models as parsed, and the immutable state that holds all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marshmallow.fields import Field

from gatewayfw.schemas.relations import Options, RelatedRelation, Relation


@dataclass(frozen=True)
class ModelSchema:
    """One model: its name, pure fields, relations and options."""

    name: str
    pure: Mapping[str, Field[Any]] = field(hash=False)
    relations: Mapping[str, Relation] = field(hash=False)
    options: Options = field(default_factory=Options)

    def copy_fields(self, excludes: frozenset[str] = frozenset()) -> tuple[str, ...]:
        """Return the pure fields of a copy, in order: those that neither model nor ``excludes`` leave out.

        ``_id`` is part of every copy and not in the result.
        """
        return tuple(name for name in self.pure if name not in self.options.excludes and name not in excludes)


@dataclass(frozen=True)
class State:
    """All models, and what follows from them; replaced as a whole."""

    version: int = 0
    models: Mapping[str, ModelSchema] = field(default_factory=dict)
    embedders: Mapping[str, tuple[Relation, ...]] = field(default_factory=dict)
    appearing: Mapping[str, tuple[RelatedRelation, ...]] = field(default_factory=dict)

    def plus(self, model: ModelSchema) -> State:
        embedders, appearing = dict(self.embedders), dict(self.appearing)
        for relation in model.relations.values():
            target = relation.schema_name
            embedders[target] = (*embedders.get(target, ()), relation)
            appearing[target] = (*appearing.get(target, ()), *relation.related_relations.values())
        return State(self.version + 1, {**self.models, model.name: model}, embedders, appearing)


def closure(state: State, name: str) -> set[str]:
    """Return the defined models linked to ``name`` by relations in either direction, itself included."""
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
