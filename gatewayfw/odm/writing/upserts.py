"""Pure functions for updates that insert the document where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm.reading.paths import path_text
from gatewayfw.odm.writing.operators import ON_INSERT, OPERATORS, SETTING, Given
from gatewayfw.odm.writing.updates import Change, change_of, parse_update
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.messages import NULL
from gatewayfw.storage import Document
from gatewayfw.storage.subset import has_operators


class Upsert(NamedTuple):
    """An update, and the document to insert where none matches.

    Attributes:
        change: what is done to a document that is there.
        first: the fields of a new one, and its `_id` if the filter names one; not checked as a whole yet. Values are
            as they were given: a user's marshmallow field that loaded them again might change them again.
        key: the fields that the filter names, sorted. An ``_id`` or unique index on them is taken by one document.
    """

    change: Change
    first: Document
    key: tuple[str, ...]


def parse_upsert(
    schema: ModelSchema, wanted: Mapping[str, Any], update: Mapping[str, Any], filter: Mapping[str, Any]
) -> Upsert:
    """Return the update of an existing document, and the document to insert.

    ``wanted`` is the ``filter`` as stored. The new document has what the filter says, and what the operators make of
    absent fields, as in MongoDB: ``$inc $min $max`` their operand, ``$mul`` zero, ``$push`` and ``$addToSet`` a list,
    ``$unset $pull $pop`` nothing.

    Raises:
        UsageError: the filter is no equality on `_id` or all fields of a unique index, the model requires a relation,
            or an operator other than ``$set`` names a field of the filter.
        ValidationError: a field of the filter is null, or would be set to another value.
        UsageError, BadRequest, ValidationError: as for `stored_update`.
    """
    key = _key(schema, wanted)
    if required := [name for name, relation in schema.relations.items() if not relation.optional]:
        raise UsageError(f"upsert: a new {schema.name} needs the relation {required[0]}")
    first = {path_text(name, "filter"): value for name, value in filter.items()}
    steps = parse_update(schema, update, OPERATORS)
    for given, stored in steps:
        _check_key(wanted, given, stored)
        operator = OPERATORS[given.operator]
        if given.path in wanted:
            continue
        if operator.sets:
            _put(first, given.path, given.value)
        elif operator.start is not None:
            _put(first, given.path, operator.start(stored))
    return Upsert(change_of(step for step in steps if step[0].operator != ON_INSERT), first, key)


def _key(schema: ModelSchema, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    named = set(wanted)
    if named != {"_id"} and not any(named == unique for unique in _unique_keys(schema)):
        raise UsageError("upsert: the filter must name _id, or all fields of a unique index, and nothing else")
    if any(has_operators(value) or isinstance(value, list) for value in wanted.values()):
        raise UsageError("upsert: the filter takes one value for each field, no operators or lists")
    if absent := [name for name, value in wanted.items() if value is None]:
        raise ValidationError({f"filter.{name}": [NULL] for name in absent})
    return tuple(sorted(named))


def _unique_keys(schema: ModelSchema) -> list[set[str]]:
    """Return the fields of each index that lets one document have a value.

    A partial one leaves documents out, and one with a collation finds others than the filter does.
    """
    return [
        {name for name, _ in index.keys}
        for index in schema.options.indexes
        if index.options.get("unique") and index.options.keys().isdisjoint(("partialFilterExpression", "collation"))
        if all(name in schema.pure for name, _ in index.keys)
    ]


def _check_key(wanted: Mapping[str, Any], given: Given, stored: Any) -> None:
    """Refuse a change of the fields that the filter names."""
    name = given.path.partition(".")[0]
    if name not in wanted:
        return
    if given.operator not in SETTING or given.path != name:
        raise UsageError(f"upsert: {given.operator} changes {name}, which the filter names")
    if stored != wanted[name]:
        raise ValidationError({f"update.{name}": ["Must be the value in the filter."]})


def _put(document: Document, path: str, value: Any) -> None:
    """Set a value, with the objects around it."""
    *parts, last = path.split(".")
    node = document
    for part in parts:
        node = node.setdefault(part, {})
    node[last] = value
