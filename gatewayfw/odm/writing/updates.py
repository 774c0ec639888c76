"""Pure functions that check updates and their results, and return stored forms."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bson import Decimal128
from marshmallow import fields as mm
from marshmallow.fields import Field

from gatewayfw.errors import GatewayError, StorageError, UsageError, ValidationError
from gatewayfw.odm.reading.paths import takes_any_keys, value_at, with_text_paths
from gatewayfw.odm.writing.operators import ANY, ON_INSERT, OPERATORS, SETTING, Given
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.messages import NO_PART, REQUIRED
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.structs import check_value
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.storage.subset import beyond_64_bits, changes_of

#: The highest number in a path where a list may be: MongoDB fills a list with nulls up to it.
_MOST_ELEMENTS = 9_999
_TOO_HIGH = f"A number above {_MOST_ELEMENTS} may be a place in a list: set the whole value."


@dataclass(frozen=True)
class Change:
    """An update as stored, the pure fields it names, and those to check afterwards."""

    update: dict[str, dict[str, Any]]
    named: frozenset[str]
    recheck: frozenset[str]
    #: What is added or multiplied, by path.
    calculated: tuple[tuple[str, Any], ...] = ()


def stored_update(schema: ModelSchema, update: Mapping[str, Any]) -> Change:
    """Check an update against the model and return it in its stored form.

    ``$set``, ``$unset``, ``$inc`` and ``$mul`` on pure fields and below objects, ``$min`` and ``$max`` on
    numbers and dates there, ``$currentDate`` on dates, ``$push``, ``$addToSet``, ``$pull`` and ``$pop`` on arrays.
    Values that are set are checked here; what an operator makes of a stored value can only be judged by
    `check_result`. What ``$set`` holds may be a client's, names included; which fields the other operators name is
    up to the server's code. All dates of ``$currentDate`` are the same, in milliseconds.

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
    calculated = [item for operator in ("$inc", "$mul") if operator in update for item in update[operator].items()]
    return Change(update, frozenset(named), frozenset(recheck), tuple(calculated))


def _field_of(schema: ModelSchema, operator: str, path: str) -> Field[Any]:
    """Return the field that an operator names.

    Raises:
        ValidationError: there is none, and a client may have chosen the name.
        UsageError: there is none, or one that the operator does not fit.
    """
    try:
        field = _named_field(schema, path)
    except LookupError as error:
        if operator in SETTING or isinstance(error, _Chosen):
            raise ValidationError({f"update.{path}": [str(error)]}) from None
        raise UsageError(f"update: {operator} {shown(path)}: {error}") from None
    needs = OPERATORS[operator].needs
    if needs is not None and needs not in as_kind(field).abilities:
        raise UsageError(f"update: {operator} {shown(path)}: {needs.value}")
    return field


class _Chosen(LookupError):
    """There is no field at a path in which a client may have chosen a key."""


def _named_field(schema: ModelSchema, path: str) -> Field[Any]:
    """Return the field that an update names, outside of lists.

    Where any value is allowed, this is a field that takes anything.

    Raises:
        LookupError: there is no such field; the text says so.
    """
    head, *below = path.split(".")
    if head not in schema.pure:
        raise LookupError("Not a pure field of the model.")
    field = schema.pure[head]
    refusal: type[LookupError] = LookupError
    for at, part in enumerate(below):
        kind = as_kind(field)
        if kind.is_free:
            first = at + isinstance(field, mm.Dict)  # what is surely an object has keys
            if any(map(_is_too_high, below[first:])):
                raise _Chosen(_TOO_HIGH)
            return ANY
        inner = kind.part(part) if kind.sets_parts else None
        if inner is None:
            raise refusal(NO_PART)
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
    errors = {path: messages for path, messages in error.errors.items() if path in paths}
    refusal = ValidationError(errors) if errors else StorageError()
    refusal.met = error.met
    return refusal


def check_result(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> None:
    """Check the current values of the fields that operators changed.

    Raises:
        ValidationError: one no longer fits its field.
    """
    beyond = [path for path, _ in change.calculated if _is_beyond(value_at(document, path))]
    if beyond:
        raise beyond_64_bits(beyond)
    for name in change.recheck:
        if name in document:
            check_value(schema.pure[name], document[name], f"update.{name}")
        elif schema.pure[name].required:
            raise ValidationError({f"update.{name}": [REQUIRED]})


def find_corrections(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the decimals that lack the places of their fields, corrected, by path.

    For example, MongoDB multiplies an absent decimal to 0, without its places.

    Raises:
        ValidationError: one does not fit its field.
    """
    corrections: dict[str, Any] = {}
    for path, amount in change.calculated:
        if isinstance(amount, Decimal128):
            value = value_at(document, path)
            stored = check_value(_named_field(schema, path), value, f"update.{path}")
            if getattr(stored, "bid", None) != value.bid:
                corrections[path] = stored
    return corrections


def _is_beyond(value: Any) -> bool:
    """Tell whether a permissive storage holds a number beyond 64 bits."""
    return isinstance(value, int) and not LOWEST <= value <= HIGHEST
