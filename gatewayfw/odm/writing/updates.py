"""Pure functions that check updates and return their stored forms."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from marshmallow import fields as mm
from marshmallow.fields import Field

from gatewayfw import messages
from gatewayfw.errors import GatewayError, StorageError, UsageError, ValidationError
from gatewayfw.odm.reading.paths import path_text, takes_any_keys, with_text_paths
from gatewayfw.odm.writing.operators import ANY, ON_INSERT, OPERATORS, SETTING, Given
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.kinds import Ability, as_kind
from gatewayfw.schemas.paths import shown
from gatewayfw.storage import Document
from gatewayfw.storage.filter_operators import has_operators
from gatewayfw.storage.subset import changes_of
from gatewayfw.storage.update_operators import apply_update

#: The highest number in a path where a list may be: MongoDB fills a list with nulls up to it.
_MOST_ELEMENTS = 9_999


@dataclass(frozen=True)
class Change:
    """An update as stored, the pure fields it names, and those to check afterwards."""

    update: dict[str, dict[str, Any]]
    named: frozenset[str]
    recheck: frozenset[str]
    #: What is added or multiplied, by path.
    calculated: tuple[tuple[str, Any], ...] = ()
    #: Whether it takes a name away that the model does not have any more, and any copy may still have.
    retires: bool = False


def stored_update(schema: ModelSchema, update: Mapping[str, Any]) -> Change:
    """Check an update against the model and return it in its stored form.

    ``$set``, ``$unset``, ``$inc`` and ``$mul`` on pure fields and below objects, ``$min`` and ``$max`` on
    numbers and dates there, ``$currentDate`` on dates, ``$push``, ``$addToSet``, ``$pull`` and ``$pop`` on arrays.
    Values that are set are checked here; `gatewayfw.odm.writing.plan.update` judges what an operator
    makes of a stored one. What ``$set`` holds may be a client's, names included; which fields the other operators name
    is up to the server's code. All dates of ``$currentDate`` are the same, in milliseconds.

    Raises:
        UsageError: no operator, an unknown one, or one other than ``$set`` on a field that it does not fit.
        BadRequest: ``$set`` names a path that is changed twice.
        ValidationError: ``$set`` names an unknown or protected field, a field refuses its value, or a part of a path
            that a client may have chosen is no key, leads nowhere, or may be too high a place in a list.
    """
    return change_of(parse_update(schema, update, OPERATORS.keys() - {ON_INSERT}))


def parse_update(schema: ModelSchema, update: Mapping[str, Any], known: Container[str]) -> list[tuple[Given, Any]]:
    """Parse the operands of an update, in order, into their stored form.

    ``known`` are the operators that it may have.

    Raises:
        UsageError, BadRequest, ValidationError: as for `stored_update`.
    """
    now = datetime.now(UTC)
    errors: dict[str, list[str]] = {}
    steps: list[tuple[Given, Any]] = []
    if isinstance(update, Mapping):
        update = {operator: with_text_paths(changes, "update", operator) for operator, changes in update.items()}
    for operator, path, value in changes_of(update, known):
        try:
            given = Given(operator, path, value, _field_of(schema, operator, path), now)
            steps.append((given, OPERATORS[operator].store(given)))
        except ValidationError as error:
            errors.update(error.errors)
    if errors:
        raise ValidationError(errors)
    return steps


def change_of(steps: Iterable[tuple[Given, Any]]) -> Change:
    """Return the change that a parsed update makes."""
    update: dict[str, dict[str, Any]] = {}
    named: set[str] = set()
    recheck: set[str] = set()
    for (operator, path, *_), stored in steps:
        sent_as = OPERATORS[operator].sent_as or operator
        update.setdefault(sent_as, {})[path] = stored
        head = path.partition(".")[0]
        named.add(head)
        if sent_as != "$set" or head != path:
            recheck.add(head)
    arithmetic = [name for name, row in OPERATORS.items() if row.needs is Ability.CALCULATE and name in update]
    calculated = [item for operator in arithmetic for item in update[operator].items()]
    return Change(update, frozenset(named), frozenset(recheck), tuple(calculated))


def _field_of(schema: ModelSchema, operator: str, path: str) -> Field[Any]:
    """Return the field that an operator names.

    Raises:
        ValidationError: there is none, and a client may have chosen the name.
        UsageError: there is none, or one that the operator does not fit.
    """
    try:
        field = named_field(schema, path)
    except LookupError as error:
        if operator in SETTING or isinstance(error, _Chosen):
            raise ValidationError({f"update.{path}": [error.args[0]]}) from None
        raise UsageError(f"update: {operator} {shown(path)}: {error}") from None
    needs = OPERATORS[operator].needs
    if needs is not None and needs not in as_kind(field).abilities:
        raise UsageError(f"update: {operator} {shown(path)}: {needs.value}")
    return field


class _Chosen(LookupError):
    """There is no field at a path in which a client may have chosen a key."""


def named_field(schema: ModelSchema, path: str) -> Field[Any]:
    """Return the field that an update names, outside of lists.

    Where any value is allowed, this is a field that takes anything.

    Raises:
        LookupError: there is no such field; the text says so.
    """
    head, *below = path.split(".")
    if head not in schema.pure:
        raise LookupError(messages.NO_PURE_FIELD)
    field = schema.pure[head]
    refusal: type[LookupError] = LookupError
    for at, part in enumerate(below):
        kind = as_kind(field)
        if kind.is_free:
            first = at + isinstance(field, mm.Mapping)  # what is surely an object has keys
            if any(map(_is_too_high, below[first:])):
                raise _Chosen(messages.MAYBE_PLACE.format(max=_MOST_ELEMENTS))
            return ANY
        inner = kind.part(part) if kind.sets_parts else None
        if inner is None:
            is_place = part.isdecimal() and not kind.sets_parts
            raise refusal(messages.NO_PLACE if is_place else messages.NO_PART)
        refusal = _Chosen if takes_any_keys(field) else refusal
        field = inner
    return field


def _is_too_high(part: str) -> bool:
    return part.isascii() and part.isdigit() and (len(part) > len(str(_MOST_ELEMENTS)) or int(part) > _MOST_ELEMENTS)


def refusal_of(change: Change, error: ValidationError) -> GatewayError:
    """Return the error for a change that the storage refused.

    It names the paths in the change, but not the version, which is incremented in the same update.
    """
    paths = {f"update.{path}" for changes in change.update.values() for path in changes}
    errors = {path: texts for path, texts in error.errors.items() if path in paths}
    refusal = ValidationError(errors) if errors else StorageError()
    refusal.met = error.met
    return refusal


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
        made = given.value if operator.sets else _start(operator.sent_as or given.operator, stored)
        if made is not None or operator.sets:
            _put(first, given.path, made)
    return Upsert(change_of(step for step in steps if step[0].operator != ON_INSERT), first, key)


def _key(schema: ModelSchema, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    named = set(wanted)
    if named != {"_id"} and not any(named == unique for unique in _unique_keys(schema)):
        raise UsageError("upsert: the filter must name _id, or all fields of a unique index, and nothing else")
    if any(has_operators(value) or isinstance(value, list) for value in wanted.values()):
        raise UsageError("upsert: the filter takes one value for each field, no operators or lists")
    if absent := [name for name, value in wanted.items() if value is None]:
        raise ValidationError({f"filter.{name}": [messages.NULL] for name in absent})
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
        raise ValidationError({f"update.{name}": [messages.NOT_AS_FILTERED]})


def _start(operator: str, stored: Any) -> Any:
    """Return what an operator makes of an absent field; None where it stays absent."""
    return apply_update({"_id": None}, {operator: {"made": stored}}, {}).get("made")


def _put(document: Document, path: str, value: Any) -> None:
    """Set a value, with the objects around it."""
    *parts, last = path.split(".")
    node = document
    for part in parts:
        node = node.setdefault(part, {})
    node[last] = value
