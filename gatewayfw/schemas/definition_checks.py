"""Check the definition of a model, by itself and together with all others.

Source: specification 6; the rules are our choice.
"""

from __future__ import annotations

from collections.abc import Iterator

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.models import ModelSchema, State
from gatewayfw.schemas.relations import MOST_INDEXES, RelatedRelation, Relation, Sort, check_excludes


def own_problems(model: ModelSchema, alone: State) -> Iterator[str]:
    """Yield what is wrong with a model by itself."""
    for target in dict.fromkeys(relation.schema_name for relation in model.relations.values()):
        yield from _collision_problems(alone, target)
    for relation in model.relations.values():
        for reverse in relation.related_relations.values():
            where = f"model {model.name!r}, relation {relation.name!r}, reverse {reverse.name!r}"
            yield from _sort_problem(reverse.sort, model, reverse.excludes, where)
    indexes = _index_count(model)
    if indexes > MOST_INDEXES:
        yield f"model {model.name!r}: {indexes} indexes, more than the {MOST_INDEXES} a collection may have"


def problems_of(state: State, name: str) -> Iterator[str]:
    """Yield what is wrong with a model together with all others."""
    for relation in state.models[name].relations.values():
        where = f"model {name!r}, relation {relation.name!r}"
        target = state.models.get(relation.schema_name)
        if target is None:
            yield f"{where}: schemaName names {relation.schema_name!r}, which is not a model"
            continue
        yield from _excludes_problem(relation, target, where)
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


def _excludes_problem(relation: Relation, target: ModelSchema, where: str) -> Iterator[str]:
    try:
        check_excludes(relation.excludes, target.pure, where=where, model=target.name)
    except DefinitionError as error:
        yield error.message


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


def _index_count(model: ModelSchema) -> int:
    keys: set[tuple[tuple[str, int], ...]] = {(("_id", 1),)}
    keys.update(index.keys for index in model.options.indexes)
    for relation in model.relations.values():
        path = f"{relation.name}._id"
        keys.add(((path, 1), ("_id", 1)))
        for reverse in relation.related_relations.values():
            if reverse.window and reverse.window.sort.field != "_id":
                keys.add(((path, 1), *reverse.window.order))
    return len(keys)
