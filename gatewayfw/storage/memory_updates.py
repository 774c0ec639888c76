"""Apply an update to a document as MongoDB would. Pure.

For the updates that `gatewayfw.storage.subset` admits.
Source: https://www.mongodb.com/docs/manual/reference/operator/update/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Any

from bson import Decimal128
from bson.decimal128 import create_decimal128_context

from gatewayfw.errors import StorageError
from gatewayfw.storage.documents import copy_value
from gatewayfw.storage.matching import compile_element, matched_place
from gatewayfw.storage.order import order_key
from gatewayfw.storage.pushes import is_each, push
from gatewayfw.storage.subset import beyond_64_bits, misfits
from gatewayfw.storage.terms import Document, Filter, Update

_ABSENT: Any = object()
#: Stands for anything below a value that is neither an object nor a list.
_BLOCKED: Any = object()
_64_BITS = range(-(2**63), 2**63)
_ON_NUMBERS = frozenset({"$inc", "$mul"})
_ON_LISTS = frozenset({"$push", "$addToSet", "$pull", "$pop"})
_DECIMALS = create_decimal128_context()
#: How many nulls MongoDB puts into a list at most, in order to reach a place beyond its end.
_MOST_FILLED = 1_500_000


def apply_update(document: Document, update: Update, filter: Filter) -> Document:
    """Return a document after an update; the given one stays as it is.

    ``filter`` selected it; its conditions say which element a positional path means.

    Raises:
        ValidationError: an operator does not fit a value that is there, or leaves 64 bits.
        StorageError: the update changes the ``_id``.
    """
    after: Document = copy_value(document)
    refused, beyond = [], []
    changes = [(path, name, operand) for name, operands in update.items() for path, operand in operands.items()]
    for path, name, operand in sorted(changes, key=lambda change: change[0].split(".")):  # new keys in MongoDB's order
        names = _locate(path, document, filter)
        present = _value_at(after, names)
        if not _is_fit(name, present):
            refused.append(path)
        else:
            value = _OPERATORS[name](present, operand)
            if name in _ON_NUMBERS and isinstance(value, int) and value not in _64_BITS:
                beyond.append(path)
            elif name == "$unset":
                _remove(after, names)
            elif value is not _ABSENT:
                _put(after, names, value)
    if refused:
        raise misfits(refused)
    if beyond:
        raise beyond_64_bits(beyond)
    if order_key(after.get("_id")) != order_key(document["_id"]):
        raise StorageError("an _id cannot be changed")
    return after


def _locate(path: str, document: Document, filter: Filter) -> list[str]:
    """Return the names in a path, with the place for ``$``."""
    head, found, tail = path.partition(".$")
    return f"{head}.{matched_place(filter, document, head)}{tail}".split(".") if found else path.split(".")


def _is_fit(name: str, present: Any) -> bool:
    """Tell whether an operator may be applied to what is there."""
    if present is _BLOCKED:
        return name == "$unset"
    if present is _ABSENT:
        return True
    if name in _ON_NUMBERS:
        return isinstance(present, (int, float, Decimal128)) and not isinstance(present, bool)
    return name not in _ON_LISTS or isinstance(present, list)


def _value_at(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if isinstance(value, Mapping):
            value = value.get(name, _ABSENT)
        elif isinstance(value, list) and name.isdigit():
            value = value[int(name)] if int(name) < len(value) else _ABSENT
        elif value is not _ABSENT:
            return _BLOCKED
    return value


def _put(document: Any, names: Sequence[str], value: Any) -> None:
    """Set a value; make the objects above it, and nulls before it in a list."""
    for name, below in zip(names, [*names[1:], ""], strict=True):
        key: Any = name
        if isinstance(document, list):
            key = int(name)
            if key - len(document) > _MOST_FILLED:
                raise StorageError("the place in the list is too far beyond its end")
            document.extend([None] * (key + 1 - len(document)))
        if not below:
            document[key] = copy_value(value)
        elif name not in document if isinstance(document, dict) else document[key] is None:
            document[key] = {}
        document = document[key]


def _remove(document: Any, names: Sequence[str]) -> None:
    """Remove a field; an element of a list becomes null."""
    holder = _value_at(document, names[:-1])
    if isinstance(holder, list) and _value_at(holder, names[-1:]) not in (_ABSENT, _BLOCKED):
        holder[int(names[-1])] = None
    elif isinstance(holder, dict):
        holder.pop(names[-1], None)


def _add(present: Any, amount: Any) -> Any:
    return amount if present is _ABSENT else _calculate(present, amount, lambda one, other: one + other)


def _multiply(present: Any, factor: Any) -> Any:
    return _calculate(0 if present is _ABSENT else present, factor, lambda one, other: one * other)


def _calculate(one: Any, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
    """Return the result of an operation; with a decimal it is one, as on MongoDB."""
    if not isinstance(one, Decimal128) and not isinstance(other, Decimal128):
        return operation(one, other)
    with localcontext(_DECIMALS):
        return Decimal128(operation(_to_decimal(one), _to_decimal(other)))


def _to_decimal(number: Any) -> Decimal:
    if isinstance(number, Decimal128):
        return number.to_decimal()
    return Decimal(f"{number:.14e}" if isinstance(number, float) else number)


def _lower(present: Any, operand: Any) -> Any:
    return operand if present is _ABSENT or order_key(operand) < order_key(present) else present


def _higher(present: Any, operand: Any) -> Any:
    return operand if present is _ABSENT or order_key(operand) > order_key(present) else present


def _push(present: Any, value: Any) -> Any:
    return push([] if present is _ABSENT else present, value)


def _add_to_set(present: Any, value: Any) -> Any:
    result = [] if present is _ABSENT else list(present)
    keys = set(map(order_key, result))
    for one in value["$each"] if is_each(value) else [value]:
        if (key := order_key(one)) not in keys:
            keys.add(key)
            result.append(one)
    return result


def _pull(present: Any, condition: Any) -> Any:
    if present is _ABSENT:
        return present
    is_pulled = compile_element(condition)
    return [one for one in present if not is_pulled(one)]


def _pop(present: Any, end: int) -> Any:
    if present is _ABSENT:
        return present
    return present[:-1] if end == 1 else present[1:]


#: What each operator makes of a value that is there, or absent, and its operand.
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "$set": lambda present, value: value,
    "$unset": lambda present, value: present,
    "$inc": _add,
    "$mul": _multiply,
    "$min": _lower,
    "$max": _higher,
    "$push": _push,
    "$addToSet": _add_to_set,
    "$pull": _pull,
    "$pop": _pop,
}
