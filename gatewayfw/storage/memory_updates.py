"""Pure functions for what MongoDB does in updates and mongomock 4.3 does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Number
from typing import Any

from gatewayfw.storage.pushes import is_each, push
from gatewayfw.storage.subset import beyond_64_bits, misfits
from gatewayfw.storage.terms import Document, Filter, Update

_ABSENT: Any = object()
#: Stands for anything below a value that is neither an object nor a list.
_BLOCKED: Any = object()
#: Operators computed here: mongomock has no ``$mul``, sorts what it pushes in its own order, and fails where others
#: meet null or a missing value.
_COMPUTED = frozenset({"$mul", "$min", "$max", "$pop", "$push"})
_ON_NUMBERS = frozenset({"$inc", "$mul"})
_ON_LISTS = frozenset({"$push", "$addToSet", "$pull", "$pop"})
_64_BITS = range(-(2**63), 2**63)

#: A filter and an update.
Statement = tuple[Filter, dict[str, dict[str, Any]]]


def statements_of(update: Update, filter: Filter, before: Sequence[Document]) -> list[Statement]:
    """Return the statements that apply an update to its matches, given ``before`` it.

    Raises:
        ValidationError: an operator does not fit a value that is there, or leaves 64 bits.
    """
    for document in before:
        if refused := list(_find_misfits(document, update)):
            raise misfits(refused)
        if beyond := list(_find_beyond(document, update.get("$inc", {}))):
            raise beyond_64_bits(beyond)
    common = _rewrite(update)
    computed = {operator: common.pop(operator) for operator in _COMPUTED & common.keys()}
    if not computed:
        return [(filter, common)]
    return [
        (
            {**filter, "_id": document["_id"]},
            {**common, "$set": {**common.get("$set", {}), **_compute_all(computed, document)}},
        )
        for document in before
    ]


def _rewrite(update: Update) -> dict[str, dict[str, Any]]:
    """Return an update rewritten so that mongomock does what MongoDB does.

    A positional path comes last, because mongomock drops the keys after it. ``$addToSet`` with
    ``$each`` names no value twice, because mongomock would add both.
    """
    plain = {operator: dict(changes) for operator, changes in update.items()}
    for path, value in plain.get("$addToSet", {}).items():
        if is_each(value):
            distinct: list[Any] = []
            for one in value["$each"]:
                if one not in distinct:
                    distinct.append(one)
            plain["$addToSet"][path] = {"$each": distinct}
    if "$set" in plain:
        plain["$set"] = dict(sorted(plain["$set"].items(), key=lambda item: ".$" in item[0]))
    return plain


def _find_misfits(document: Document, update: Update) -> Iterator[str]:
    """Yield the paths whose current values do not fit an operator."""
    for operator, changes in update.items():
        for path in changes:
            value = _ABSENT if "$" in path else _value_at(document, path)
            if (
                (value is _BLOCKED and operator != "$unset")
                or (operator in _ON_NUMBERS and not _is_number(value))
                or (operator in _ON_LISTS and not isinstance(value, list) and value is not _ABSENT)
            ):
                yield path


def _find_beyond(document: Document, amounts: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of whole numbers that would leave 64 bits."""
    for path, amount in amounts.items():
        value = _value_at(document, path)
        if isinstance(value, int) and isinstance(amount, int) and value + amount not in _64_BITS:
            yield path


def _is_number(value: Any) -> bool:
    return value is _ABSENT or (isinstance(value, Number) and not isinstance(value, bool))


def _value_at(document: Document, path: str) -> Any:
    value: Any = document
    for part in path.split("."):
        if isinstance(value, Mapping):
            value = value.get(part, _ABSENT)
        elif isinstance(value, list) and part.isdigit():
            value = value[int(part)] if int(part) < len(value) else _ABSENT
        elif value is not _ABSENT:
            return _BLOCKED
    return value


def _compute_all(computed: Mapping[str, Mapping[str, Any]], document: Document) -> dict[str, Any]:
    """Return the new values of a document after these operators, by path."""
    results = {
        path: _compute(operator, _value_at(document, path), operand)
        for operator, changes in computed.items()
        for path, operand in changes.items()
    }
    beyond = [path for path, value in results.items() if isinstance(value, int) and value not in _64_BITS]
    if beyond:
        raise beyond_64_bits(beyond)
    return {path: value for path, value in results.items() if value is not _ABSENT}


def _compute(operator: str, present: Any, operand: Any) -> Any:
    if operator == "$mul":
        return operand * 0 if present is _ABSENT else present * operand
    if operator == "$push":
        return push([] if present is _ABSENT else present, operand)
    if operator == "$pop":
        return _ABSENT if present is _ABSENT else present[:-1] if operand == 1 else present[1:]
    if present is _ABSENT:
        return operand
    is_lower = _is_below(operand, present)
    return operand if is_lower == (operator == "$min") and operand != present else present


def _is_below(one: Any, other: Any) -> bool:
    """Tell whether a value sorts below another; null is the lowest."""
    return other is not None and (one is None or bool(one < other))
