"""Pure functions that check updates and their results, and return stored forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bson import Decimal128
from marshmallow import fields as mm
from marshmallow.fields import Field

from gatewayfw.errors import GatewayError, StorageError, UsageError, ValidationError
from gatewayfw.odm.reading.filters import DISGUISED, convert_condition, convert_filter, has_operators
from gatewayfw.odm.reading.operands import Operators, stored_operand
from gatewayfw.odm.reading.paths import Found, find_in_elements, is_free, path_text, takes_any_keys, value_at
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.fields import any_
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.checks import plain_message
from gatewayfw.schemas.messages import NO_PART, REQUIRED
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.structs import check_value
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.storage.pushes import is_each
from gatewayfw.storage.subset import UPDATES, beyond_64_bits, check_element, check_operators

_ANY: Field[Any] = any_()
_NO_PURE_FIELD = "Not a pure field of the model."
#: The highest number in a path where a list may be: MongoDB fills a list with nulls up to it.
_MOST_ELEMENTS = 9_999
_TOO_HIGH = f"A number above {_MOST_ELEMENTS} may be a place in a list: set the whole value."
#: Messages about a field that an operator does not fit.
_REFUSED = {
    **dict.fromkeys(("$inc", "$mul"), "Not a number."),
    **dict.fromkeys(("$min", "$max"), "Not a number or a date."),
    "$currentDate": "Not a date.",
    **dict.fromkeys(("$push", "$addToSet", "$pull", "$pop"), "Not a list."),
}
#: The operators of models; the storage gets ``$set`` for the last one.
OPERATORS = UPDATES | {"$currentDate"}
#: The operators that calculate.
_ARITHMETIC = ("$inc", "$mul")


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
    update = with_text_paths(update)
    check_operators(update, OPERATORS)
    now = datetime.now(UTC)
    errors: dict[str, list[str]] = {}
    result: dict[str, dict[str, Any]] = {}
    named: set[str] = set()
    recheck: set[str] = set()
    for operator, changes in update.items():
        for path, value in changes.items():
            head = path.partition(".")[0]
            named.add(head)
            if operator != "$set" or head != path:
                recheck.add(head)
            try:
                if operator == "$currentDate":
                    result.setdefault("$set", {})[path] = _stored_date(schema, path, value, now)
                else:
                    result.setdefault(operator, {})[path] = _stored(schema, operator, path, value)
            except ValidationError as error:
                errors.update(error.errors)
    if errors:
        raise ValidationError(errors)
    calculated = [item for operator in _ARITHMETIC if operator in result for item in result[operator].items()]
    return Change(result, frozenset(named), frozenset(recheck), tuple(calculated))


def with_text_paths(update: Mapping[str, Any]) -> dict[str, Any]:
    """Return an update whose paths are text; see `path_text`.

    Raises:
        ValidationError: a part of a path cannot be a key.
        UsageError: an operator has a path in both forms.
    """
    if not isinstance(update, Mapping):
        return update
    texts: dict[str, Any] = {}
    for operator, changes in update.items():
        if not isinstance(changes, Mapping):
            texts[operator] = changes
            continue
        texts[operator] = {path_text(path, "update"): value for path, value in changes.items()}
        if len(texts[operator]) < len(changes):
            raise UsageError(f"update: {operator} has a path in both forms")
    return texts


def _stored(schema: ModelSchema, operator: str, path: str, value: Any) -> Any:
    """Return an operator's operand for one path, in its stored form."""
    where = f"update.{path}"
    field = _field_of(schema, operator, path)
    if operator == "$set":
        return check_value(field, value, where)
    if operator == "$unset":
        if path in schema.pure and schema.pure[path].required:
            raise ValidationError({where: [REQUIRED]})
        return ""
    if operator in _ARITHMETIC:
        return _amount(field, operator, value, where)
    if operator in ("$min", "$max"):
        return check_value(field, value, where)
    if operator == "$pop":
        if type(value) is not int or value not in (1, -1):
            raise ValidationError({where: ["Must be 1 or -1."]})
        return value
    return _element(field, operator, value, path)


def _stored_date(schema: ModelSchema, path: str, value: Any, now: datetime) -> Any:
    """Return the stored form of the time, for ``$currentDate`` of one path."""
    where = f"update.{path}"
    field = _field_of(schema, "$currentDate", path)
    if value is not True and value != {"$type": "date"}:
        raise ValidationError({where: ["Must be true."]})
    return check_value(field, as_kind(field).current(now), where)


def _field_of(schema: ModelSchema, operator: str, path: str) -> Field[Any]:
    """Return the field that an operator names.

    Raises:
        ValidationError: ``$set`` names none.
        UsageError: another operator names none, or one that it does not fit.
    """
    try:
        field = _named_field(schema, path)
    except LookupError as error:
        if operator == "$set" or isinstance(error, _Chosen):
            raise ValidationError({f"update.{path}": [str(error)]}) from None
        raise UsageError(f"update: {operator} {shown(path)}: {error}") from None
    if operator not in ("$set", "$unset") and operator not in as_kind(field).operators:
        raise UsageError(f"update: {operator} {shown(path)}: {_REFUSED[operator]}")
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
        raise LookupError(_NO_PURE_FIELD)
    field = schema.pure[head]
    refusal: type[LookupError] = LookupError
    for at, part in enumerate(below):
        kind = as_kind(field)
        if kind.is_free:
            first = at + isinstance(field, mm.Dict)  # what is surely an object has keys
            if any(map(_is_too_high, below[first:])):
                raise _Chosen(_TOO_HIGH)
            return _ANY
        inner = kind.part(part) if kind.sets_parts else None
        if inner is None:
            raise refusal(NO_PART)
        refusal = _Chosen if takes_any_keys(field) else refusal
        field = inner
    return field


def _is_too_high(part: str) -> bool:
    return part.isascii() and part.isdigit() and (len(part) > len(str(_MOST_ELEMENTS)) or int(part) > _MOST_ELEMENTS)


def _amount(field: Field[Any], operator: str, value: Any, where: str) -> Any:
    """Return the number to add or to multiply by."""
    kind = as_kind(field)
    amount = kind.amount(value) if operator == "$inc" else kind.factor(value)
    if amount is None:
        is_number = operator == "$mul" and kind.amount(value) is not None
        otherwise = plain_message(field, "invalid", "Not a valid number.")
        raise ValidationError({where: ["Must be a whole number." if is_number else otherwise]})
    return amount


def _element(field: Field[Any], operator: str, value: Any, path: str) -> Any:
    """Return the value to push onto, add to or pull from a list."""
    inner = _inner(field)
    where = f"update.{path}"
    if takes_any_keys(inner) and not isinstance(value, Operators):
        if has_operators(value):
            raise ValidationError({where: [DISGUISED]})
        element = check_value(inner, value, where)
        return {"$in": [element]} if operator == "$pull" and isinstance(element, Mapping) else element
    check_element(operator, path, value)
    if operator == "$pull":
        return _pulled(field, value, path)
    if not is_each(value):
        return check_value(inner, value, where)
    if "$sort" in value:
        _check_sort(field, value["$sort"], path)
    return {**value, "$each": [check_value(inner, one, f"{where}.{at}") for at, one in enumerate(value["$each"])]}


def _check_sort(field: Field[Any], order: Any, path: str) -> None:
    """Refuse to sort a list by what has no order, or by a field that is not there.

    Raises:
        UsageError: it does.
    """
    by: Found = _inner(field)
    if isinstance(order, Mapping):
        (name,) = order
        by = find_in_elements(field, path, "update")(name)
    if isinstance(by, Field) and not is_free(by) and not as_kind(by).sorts:
        raise UsageError(f"update: $push {shown(path)}: its $sort names no field that has an order")


def _pulled(field: Field[Any], value: Any, path: str) -> Any:
    """Return the condition on the elements to pull, or their value."""
    where, inner = f"update.{path}", _inner(field)
    if not isinstance(value, Mapping):
        return stored_operand(inner, value, where)
    if has_operators(value):
        return convert_condition(inner, value, "update", where)
    return convert_filter(find_in_elements(field, path, "update"), value, "update", where)


def _inner(field: Field[Any]) -> Field[Any]:
    """Return the field of a list's elements, or one that takes anything."""
    return as_kind(field).elements or _ANY


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
