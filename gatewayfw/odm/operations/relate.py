"""Change the relations of one document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gatewayfw.errors import ValidationError
from gatewayfw.odm.operations.handle import Filter, Get, Handle
from gatewayfw.odm.reading.deep import show_one
from gatewayfw.odm.reading.revisions import of_revision, raise_if_stale
from gatewayfw.odm.writing.apply import apply
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.relate import add, remove
from gatewayfw.odm.writing.plan.steps import Plan
from gatewayfw.odm.writing.relation_input import RelationInput, parse_inputs, sources_in
from gatewayfw.schemas.messages import NO_BOOLEAN
from gatewayfw.storage import Document

_Inputs = Mapping[str, RelationInput]


def add_relations(
    model: Handle, wanted: Filter, relations: Mapping[str, Any], rev: int | None, get: Get | None, replace: bool
) -> Document | None:
    """Relate one document to others; return it projected."""
    if not isinstance(replace, bool):
        raise ValidationError({"replace": [NO_BOOLEAN]})
    return _relate(
        model,
        wanted,
        relations,
        rev,
        get,
        lambda attempt, exact, inputs: add(attempt, model.schema, exact, inputs, replace),
    )


def remove_relations(
    model: Handle, wanted: Filter, relations: Mapping[str, Any], rev: int | None, get: Get | None
) -> Document | None:
    """End relations of one document; return it projected."""
    return _relate(
        model, wanted, relations, rev, get, lambda attempt, exact, inputs: remove(attempt, model.schema, exact, inputs)
    )


def _relate(
    model: Handle,
    wanted: Filter,
    relations: Mapping[str, Any],
    rev: int | None,
    get: Get | None,
    plan: Callable[[Attempt, Filter, _Inputs], Plan[Document | None]],
) -> Document | None:
    storage = model.ready()
    projection = model.compile(get)
    inputs = parse_inputs(model.schema, relations)
    if not inputs:
        raise ValidationError({"relations": ["Name at least one relation."]})
    exact = of_revision(wanted, rev)

    def write(attempt: Attempt) -> Document | None:
        document = apply(storage, plan(attempt, exact, inputs))
        return show_one(storage, projection, raise_if_stale(storage, model.name, wanted, rev, document))

    return model.database.run(write, hot=[*model.named(wanted), *sources_in(inputs)]).result
