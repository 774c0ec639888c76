"""What clients filter a listing by, as conditions that the storage takes. Pure.

A client's value never becomes an operator: each stands behind one that is written here.
"""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gatewayfw import messages
from gatewayfw.errors import ValidationError
from gatewayfw.odm.listings.declaration import Filtered, Resolution
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.paths import below
from gatewayfw.schemas.values import encodable

#: Characters of what ``contains`` looks for, and ``prefix`` in lists, at most.
MOST_CONTAINED = 200

_LAST = sys.maxunicode
_SURROGATES = (0xD800, 0xE000)

Condition = dict[str, Any]


def conditions_of(found: Resolution, given: object, most_ids: int, where: str) -> list[Condition]:
    """Return the conditions that a client's filter means, all of which must hold.

    ``where`` is the filter's path in the request; lists have at most ``most_ids`` values. Equal
    filters give equal conditions, in whatever order their names stand.

    Raises:
        ValidationError: an undeclared name or operator, or a value that the field cannot have.
    """
    if not isinstance(given, Mapping):
        raise ValidationError({where: [messages.NO_OBJECT]})

    def meant(name: Any, value: Any, path: str) -> list[Condition]:
        field = found.filters.get(name)
        if field is None:
            raise ValidationError({path: [messages.UNKNOWN]})
        return _conditions(field, value, most_ids, path)

    return _of_each(given, where, meant)


def all_of(conditions: Sequence[Condition]) -> Condition:
    """Return one filter of several conditions, each of which stays whole."""
    return {} if not conditions else conditions[0] if len(conditions) == 1 else {"$and": list(conditions)}


def _conditions(field: Filtered, given: Any, most_ids: int, path: str) -> list[Condition]:
    if not isinstance(given, Mapping):
        if "eq" not in field.operators:
            known = list(field.operators)
            raise ValidationError({path: [messages.NO_OPERATORS.format(operators=" or ".join(known), choices=known)]})
        return [_condition(field, "eq", given, most_ids, path)]
    if not given:
        raise ValidationError({path: [messages.EMPTY_OPERATORS.format(choices=list(field.operators))]})

    def meant(name: Any, value: Any, place: str) -> list[Condition]:
        if name not in field.operators:
            raise ValidationError({place: [messages.NO_CHOICE.format(choices=list(field.operators))]})
        return [_condition(field, name, value, most_ids, place)]

    return _of_each(given, path, meant)


def _of_each(
    given: Mapping[Any, Any], where: str, meant: Callable[[Any, Any, str], list[Condition]]
) -> list[Condition]:
    """Return the conditions of all names, in order, or all errors that are shown."""
    conditions: list[Condition] = []
    errors: dict[str, list[str]] = {}
    for name in sorted(given, key=str):
        try:
            conditions += meant(name, given[name], below(where, name))
        except ValidationError as error:
            errors |= error.errors
            if len(errors) > ValidationError.MOST:
                break
    if errors:
        raise ValidationError(errors)
    return conditions


def _condition(field: Filtered, operator: str, value: Any, most_ids: int, path: str) -> Condition:
    if operator == "prefix" and field.is_list:  # two elements might each meet one end of a range
        return {field.path: _first_letters(value, path)}
    if operator in _SPECIAL:
        return {field.path: _SPECIAL[operator](value, path)}
    if operator in ("in", "nin"):
        if not isinstance(value, list):
            raise ValidationError({path: [messages.NO_LIST]})
        if len(value) > most_ids:
            raise ValidationError({path: [messages.TOO_LONG.format(max=most_ids)]})
        return {field.path: {f"${operator}": [_operand(field, one, below(path, at)) for at, one in enumerate(value)]}}
    if value is None and operator not in ("eq", "ne"):
        raise ValidationError({path: [messages.INVALID]})
    return {field.path: {f"${operator}": _operand(field, value, path)}}


def _operand(field: Filtered, value: Any, path: str) -> Any:
    if isinstance(value, (Mapping, Sequence, set, frozenset)) and not isinstance(value, (str, bytes)):
        raise ValidationError({path: [messages.INVALID]})
    return as_kind(field.field).operand(value, path)


def _presence(value: Any, path: str) -> Condition:
    if not isinstance(value, bool):
        raise ValidationError({path: [messages.NO_BOOLEAN]})
    return {"$exists": value}


def _prefix(value: Any, path: str) -> Condition:
    text = _text(value, path)
    end = end_of_prefix(text)
    return {"$gte": text} if end is None else {"$gte": text, "$lt": end}


def _first_letters(value: Any, path: str) -> Condition:
    return {"$regex": f"^{re.escape(_pattern_text(value, path, 0))}"}


def _contained(value: Any, path: str) -> Condition:
    return {"$regex": contained_pattern(_pattern_text(value, path, 1))}


def _pattern_text(value: Any, path: str, least: int) -> str:
    """Return a text that an expression can hold, with at least so many letters."""
    text = _text(value, path)
    if not least <= len(text) <= MOST_CONTAINED:
        told = messages.NO_LENGTH_BETWEEN.format(input=text, min=least, max=MOST_CONTAINED)
        raise ValidationError({path: [told]})
    if "\0" in text:
        raise ValidationError({path: [messages.INVALID]})
    return text


def _text(value: Any, path: str) -> str:
    if not isinstance(value, str) or not encodable(value):
        raise ValidationError({path: [messages.NO_TEXT]})
    return value


def end_of_prefix(prefix: str) -> str | None:
    """Return the first text after all that begin with a prefix; None without one.

    Texts are ordered by code point, as in UTF-8; surrogates are none.
    """
    kept = prefix.rstrip(chr(_LAST))
    if not kept:
        return None
    after = ord(kept[-1]) + 1
    return kept[:-1] + chr(_SURROGATES[1] if after == _SURROGATES[0] else after)


def contained_pattern(text: str) -> str:
    """Return the expression for texts that contain this one, in any case of ASCII."""
    return "".join(
        f"[{letter.lower()}{letter.upper()}]" if letter.isascii() and letter.isalpha() else re.escape(letter)
        for letter in text
    )


_SPECIAL: Mapping[str, Callable[[Any, str], Condition]] = {
    "exists": _presence,
    "prefix": _prefix,
    "contains": _contained,
}
