"""The updates of callers, as storage takes them, and what may come of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marshmallow.fields import Field

from gatewayfw.errors import GatewayError, StorageError, UsageError, ValidationError, beyond_64_bits
from gatewayfw.odm.reading.filters import DISGUISED, convert_condition, convert_filter, has_operators
from gatewayfw.odm.reading.operands import Operators, stored_operand
from gatewayfw.odm.reading.paths import find_in_elements, takes_any_keys
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.exactness import REQUIRED
from gatewayfw.schemas.fields import any_
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.paths import shown
from gatewayfw.schemas.structs import check_value
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.storage.subset import check_element, check_operators

_ANY: Field[Any] = any_()
_NO_PURE_FIELD = "Not a pure field of the model."
#: What is wrong with a field that an operator does not fit.
_REFUSED = {"$inc": "Not a number.", **dict.fromkeys(("$push", "$pull", "$addToSet"), "Not a list.")}


@dataclass(frozen=True)
class Change:
    """An update as stored, the pure fields it names, and those to check afterwards."""

    update: dict[str, dict[str, Any]]
    named: frozenset[str]
    recheck: frozenset[str]


def stored_update(schema: ModelSchema, update: Mapping[str, Any]) -> Change:
    """Check an update against the model and return it in its stored form.

    ``$set``, ``$unset`` and ``$inc`` on pure fields and below objects; ``$push``, ``$pull`` and
    ``$addToSet`` on arrays. Values that are set are checked here; what an operator makes of a
    stored value can only be judged by `check_result`. What ``$set`` holds may be a client's, names
    included; which fields the other operators name is up to the server's code.

    Raises:
        UsageError: no operator, an unknown one, or one but ``$set`` on what is no field for it.
        BadRequest: ``$set`` names a path that is changed twice.
        ValidationError: ``$set`` names an unknown or protected field, or a field refuses its value.
    """
    check_operators(update)
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
                result.setdefault(operator, {})[path] = _stored(schema, operator, path, value)
            except ValidationError as error:
                errors.update(error.errors)
    if errors:
        raise ValidationError(errors)
    return Change(result, frozenset(named), frozenset(recheck))


def _stored(schema: ModelSchema, operator: str, path: str, value: Any) -> Any:
    """Return what an operator does to one path in its stored form."""
    where = f"update.{path}"
    try:
        field = _named_field(schema, path)
    except LookupError as error:
        if operator == "$set":
            raise ValidationError({where: [str(error)]}) from None
        raise UsageError(f"update: {operator} {shown(path)}: {error}") from None
    if operator == "$set":
        return check_value(field, value, where)
    if operator == "$unset":
        if path in schema.pure and schema.pure[path].required:
            raise ValidationError({where: [REQUIRED]})
        return ""
    if operator not in as_kind(field).operators:
        raise UsageError(f"update: {operator} {shown(path)}: {_REFUSED[operator]}")
    if operator == "$inc":
        return _increment(field, value, where)
    return _element(field, operator, value, path)


def _named_field(schema: ModelSchema, path: str) -> Field[Any]:
    """Return the field that an update names, outside of lists.

    A field of anything where anything may stand.

    Raises:
        LookupError: there is none; the text says so.
    """
    head, *below = path.split(".")
    if head not in schema.pure:
        raise LookupError(_NO_PURE_FIELD)
    if any(part.startswith("$") for part in below):
        raise LookupError("Keys may not start with $.")
    field = schema.pure[head]
    for part in below:
        kind = as_kind(field)
        if kind.is_free:
            return _ANY
        inner = kind.part(part) if kind.sets_parts else None
        if inner is None:
            raise LookupError("Not a field of this object.")
        field = inner
    return field


def _increment(field: Field[Any], value: Any, where: str) -> Any:
    amount = as_kind(field).amount(value)
    if amount is None:
        raise ValidationError({where: ["Not a valid number."]})
    return amount


def _element(field: Field[Any], operator: str, value: Any, path: str) -> Any:
    """Return what is pushed onto, added to or pulled from a list."""
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
    if isinstance(value, Mapping) and "$each" in value:
        return {"$each": [check_value(inner, one, f"{where}.{at}") for at, one in enumerate(value["$each"])]}
    return check_value(inner, value, where)


def _pulled(field: Field[Any], value: Any, path: str) -> Any:
    """Return the condition on the elements to be pulled, or the value that they have."""
    where, inner = f"update.{path}", _inner(field)
    if not isinstance(value, Mapping):
        return stored_operand(inner, value, where)
    if has_operators(value):
        return convert_condition(inner, value, "update", where)
    return convert_filter(find_in_elements(field, path, "update"), value, "update", where)


def _inner(field: Field[Any]) -> Field[Any]:
    """Return the field of a list's elements; any where no kind describes them."""
    return as_kind(field).elements or _ANY


def refusal_of(change: Change) -> GatewayError:
    """Return the error for a change whose ``$inc`` the storage refused.

    It names those of the change, not the version, which is incremented along.
    """
    paths = change.update.get("$inc")
    return beyond_64_bits(paths) if paths else StorageError()


def check_result(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> None:
    """Check the fields that operators changed, as they are now.

    Raises:
        ValidationError: one no longer fits its field.
    """
    beyond = [path for path in change.update.get("$inc", ()) if _is_beyond(document, path)]
    if beyond:
        raise beyond_64_bits(beyond)
    for name in change.recheck:
        if name in document:
            check_value(schema.pure[name], document[name], f"update.{name}")
        elif schema.pure[name].required:
            raise ValidationError({f"update.{name}": [REQUIRED]})


def _is_beyond(document: Mapping[str, Any], path: str) -> bool:
    """Tell whether a permissive storage holds a number beyond 64 bits there."""
    value: Any = document
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return isinstance(value, int) and not LOWEST <= value <= HIGHEST
