"""The operators of updates, and what they make of a document. Pure.

Source: https://www.mongodb.com/docs/manual/reference/operator/update/.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import Decimal, localcontext
from functools import partial
from typing import Any, NamedTuple

from bson import Decimal128
from bson.decimal128 import create_decimal128_context

from gatewayfw import messages
from gatewayfw.errors import StorageError, UsageError, ValidationError
from gatewayfw.storage.documents import copy_value, value_at
from gatewayfw.storage.filter_operators import compile_element, has_operators, is_list, matched_place
from gatewayfw.storage.order import is_number, order_key
from gatewayfw.storage.terms import Document, Filter, Update

_ABSENT: Any = object()
#: Stands for anything below a value that is neither an object nor a list.
_BLOCKED: Any = object()
#: What ``$unset`` makes of a value.
_REMOVED: Any = object()
#: What ``$push`` takes beside ``$each``.
MODIFIERS = frozenset({"$position", "$slice", "$sort"})
_WRONG_SORT = "$sort takes 1 or -1, alone or for one field of the elements"
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_DECIMALS = create_decimal128_context()
#: How many nulls MongoDB puts into a list at most, in order to reach a place beyond its end.
_MOST_FILLED = 1_500_000


class UpdateOperator(NamedTuple):
    """An update operator.

    Attributes:
        apply: returns what it makes of a value that is there, or absent, and its operand.
        fits: tells whether it may be applied to a value that is there.
        find_fault: returns what is wrong with an operand; None if nothing is.
    """

    apply: Callable[[Any, Any], Any]
    fits: Callable[[Any], bool] = lambda present: present is not _BLOCKED
    find_fault: Callable[[Any], str | None] = lambda operand: None


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
    for path, name, operand in sorted(changes, key=lambda change: _rank(change[0])):
        names = _locate(path, document, filter)
        present = _value_at(after, names)
        if present is not _ABSENT and not OPERATORS[name].fits(present):
            refused.append(path)
        else:
            value = OPERATORS[name].apply(present, operand)
            if isinstance(value, int) and not _LOWEST <= value <= _HIGHEST:
                beyond.append(path)
            elif value is _REMOVED:
                _remove(after, names)
            elif value is not _ABSENT:
                _put(after, names, value)
    if refused:
        raise update_refusal(refused, messages.MISFIT)
    if beyond:
        raise update_refusal(beyond, messages.BEYOND_64_BITS)
    if order_key(after.get("_id")) != order_key(document["_id"]):
        raise StorageError("an _id cannot be changed")
    return after


def _rank(path: str) -> list[tuple[bool, int, str]]:
    """Return what orders paths as MongoDB adds them: by text, short numbers first."""
    return [(name[:1] > "9", len(name.encode()) if "1" <= name[:1] <= "9" else 0, name) for name in path.split(".")]


def is_each(value: object) -> bool:
    """Tell whether elements in ``$each`` are added, not a single value."""
    return isinstance(value, Mapping) and "$each" in value


def _locate(path: str, document: Document, filter: Filter) -> list[str]:
    """Return the names in a path, with the place for ``$``."""
    head, found, tail = path.partition(".$")
    return f"{head}.{matched_place(filter, document, head)}{tail}".split(".") if found else path.split(".")


def _value_at(value: Any, names: Sequence[str]) -> Any:
    for name in names:
        if isinstance(value, Mapping):
            value = value.get(name, _ABSENT)
        elif isinstance(value, list) and is_number(name):
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
    """Return the result of an operation; with a decimal it is one, as on MongoDB.

    What equals the result stays as it is noted: a zero its sign, a decimal its places.
    """
    if not isinstance(one, Decimal128) and not isinstance(other, Decimal128):
        result = operation(one, other)
    else:
        with localcontext(_DECIMALS):
            result = Decimal128(operation(_to_decimal(one), _to_decimal(other)))
    return one if type(result) is type(one) and order_key(result) == order_key(one) else result


def _to_decimal(number: Any) -> Decimal:
    if isinstance(number, Decimal128):
        return number.to_decimal()
    return Decimal(f"{number:.14e}" if isinstance(number, float) and number else number)


def _choose(choose: Callable[..., Any], present: Any, operand: Any) -> Any:
    return operand if present is _ABSENT else choose(present, operand, key=order_key)


def push(present: Sequence[Any], value: Any) -> list[Any]:
    """Return a list after a ``$push``, as MongoDB pushes: insert, sort, cut.

    Elements that are equal in the sort keep their order.
    """
    if present is _ABSENT:
        present = []
    if not is_each(value):
        return [*present, value]
    place = value.get("$position", len(present))
    if place < 0:
        place = max(0, len(present) + place)
    result = [*present[:place], *value["$each"], *present[place:]]
    if "$sort" in value:
        result = _sorted(result, value["$sort"])
    if "$slice" not in value:
        return result
    most = value["$slice"]
    return result[:most] if most >= 0 else result[most:]


def _sorted(elements: list[Any], order: Any) -> list[Any]:
    path, direction = next(iter(order.items())) if isinstance(order, Mapping) else ("", order)

    def key(element: Any) -> tuple[int, Any]:
        return order_key(value_at(element, path) if path else element)

    return sorted(elements, key=key, reverse=direction == -1)


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
    return present if present is _ABSENT else present[:-1] if end == 1 else present[1:]


def _is_number(present: Any) -> bool:
    return isinstance(present, (int, float, Decimal128)) and not isinstance(present, bool)


def _is_stored_list(present: Any) -> bool:
    return isinstance(present, list)


def _find_wrong_end(operand: Any) -> str | None:
    return None if type(operand) is int and operand in (1, -1) else "takes 1 or -1"


def _find_wrong_addition(value: Any, modifiers: Set[str] = frozenset()) -> str | None:
    if not has_operators(value):
        return None
    more = value.keys() - {"$each"}
    if not is_list(value.get("$each")) or (more and not modifiers):
        return "takes a value, or a list in $each"
    if unknown := more - modifiers:
        return f"knows no {min(map(str, unknown))} beside $each"
    return _find_wrong_modifier(value)


def _find_wrong_modifier(modifiers: Mapping[str, Any]) -> str | None:
    for name in ("$position", "$slice"):
        if name in modifiers and not (type(modifiers[name]) is int and _LOWEST <= modifiers[name] <= _HIGHEST):
            return f"{name} takes a whole number"
    if "$sort" not in modifiers:
        return None
    order = modifiers["$sort"]
    if isinstance(order, Mapping):
        if len(order) != 1 or not all(isinstance(path, str) and _is_path(path) for path in order):
            return _WRONG_SORT
        (order,) = order.values()
    return None if type(order) is int and order in (1, -1) else _WRONG_SORT


def _is_path(path: str) -> bool:
    return "\0" not in path and all(part and not part.startswith("$") for part in path.split("."))


#: All update operators. A new one is a row here, and one in `gatewayfw.odm.writing.operators`.
OPERATORS: Mapping[str, UpdateOperator] = {
    "$set": UpdateOperator(lambda present, value: value),
    "$unset": UpdateOperator(lambda present, value: _REMOVED, lambda present: True),
    "$inc": UpdateOperator(_add, _is_number),
    "$mul": UpdateOperator(_multiply, _is_number),
    "$min": UpdateOperator(partial(_choose, min)),
    "$max": UpdateOperator(partial(_choose, max)),
    "$push": UpdateOperator(push, _is_stored_list, partial(_find_wrong_addition, modifiers=MODIFIERS)),
    "$addToSet": UpdateOperator(_add_to_set, _is_stored_list, _find_wrong_addition),
    "$pull": UpdateOperator(_pull, _is_stored_list),
    "$pop": UpdateOperator(_pop, _is_stored_list, _find_wrong_end),
}


def check_operand(operator: str, operand: Any) -> None:
    """Check what an operator is given; what ``$pull`` is given is a condition.

    Raises:
        UsageError: it is not in the subset.
    """
    if fault := OPERATORS[operator].find_fault(operand):
        raise UsageError(f"update: {operator} {fault}")


def update_refusal(paths: Iterable[str], text: str) -> ValidationError:
    """Return the error that says why an update is refused at paths that it names."""
    return ValidationError({f"update.{path}": [text] for path in paths})
