"""The operators of filters, and which documents they select. Pure.

Compared with MongoDB 6 on random filters.
Source: https://www.mongodb.com/docs/manual/reference/operator/query/.
"""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from bson import MaxKey, MinKey, ObjectId

from gatewayfw.errors import StorageError
from gatewayfw.storage.order import NULL, TYPE_NAMES, is_number, is_place, order_key, spread, type_name
from gatewayfw.storage.regular_expressions import check_expression, compile_expression

T = TypeVar("T")
#: Operators that join filters.
JUNCTIONS = frozenset({"$and", "$or", "$nor"})
#: Operators that hold conditions.
NESTING = frozenset({"$not", "$elemMatch"})
#: MongoDB takes no higher ``$size``.
_MOST_ELEMENTS = 2**31 - 1

#: Tells whether a document, or a value, is selected.
Predicate = Callable[[Any], bool]
#: Tells whether the values found at a path meet a condition. A list among them stands for itself and its elements.
_Condition = Callable[[list[Any]], bool]
#: Makes a condition of what one value must fit: `_any_within`, or `_any_alone` for the elements in an ``$elemMatch``,
#: of which those that are lists count as a whole.
_OnValues = Callable[[Predicate], _Condition]
_Compile = Callable[[Any, _OnValues], _Condition]

_MISSING: Any = object()


class FilterOperator(NamedTuple):
    """An operator on one field of a filter.

    Attributes:
        compile: returns the condition that an operand makes.
        find_fault: returns what is wrong with an operand; None if nothing is.
        pulls: whether ``$pull`` takes it for elements. Nobody has missed the others there.
    """

    compile: _Compile
    find_fault: Callable[[Any], str | None] = lambda operand: None
    pulls: bool = True


class _Whole(list[Any]):
    """A list at a place in a list, which a path names: it stands for itself alone."""


def has_operators(value: object) -> bool:
    """Tell whether a value is an object in which a key starts with ``$``."""
    return isinstance(value, Mapping) and any(isinstance(key, str) and key.startswith("$") for key in value)


def is_list(value: object) -> bool:
    """Tell whether a value is a list to BSON."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def paths_in(filter: Mapping[Any, Any]) -> Iterator[Any]:
    """Yield the paths that a filter compares, also those within its junctions."""
    for path, condition in filter.items():
        if path in JUNCTIONS:
            for one in condition:
                yield from paths_in(one)
        else:
            yield path


def is_of_values(condition: Mapping[str, Any]) -> bool:
    """Tell whether an ``$elemMatch`` has operators for values, not fields of objects."""
    return any(str(key).startswith("$") and key not in JUNCTIONS for key in condition)


def compile_filter(filter: Mapping[str, Any]) -> Predicate:
    """Return the function that tells whether the filter selects a document.

    Raises:
        StorageError: an operator is not known.
    """
    return _all_of([_compile_part(key, value) for key, value in filter.items()])


def compile_element(condition: Any) -> Predicate:
    """Return the function that tells whether ``$pull`` takes an element away."""
    if not isinstance(condition, Mapping):
        return _equal_to(condition)
    if has_operators(condition):
        meets = _compile_condition(condition, _any_within)
        return lambda element: meets([element])
    selects = compile_filter(condition)
    return lambda element: isinstance(element, Mapping) and selects(element)


def matched_place(filter: Mapping[str, Any], document: Mapping[str, Any], path: str) -> int:
    """Return the place of the element that a filter's conditions on a list matched.

    ``path`` is that of the list.

    Raises:
        StorageError: there is none.
    """
    elements = next(_values(document, path.split(".")), None)
    conditions = list(_compile_conditions_on(path, filter))
    for place, element in enumerate(elements if isinstance(elements, list) and conditions else ()):
        if all(fits(element) for fits in conditions):
            return place
    raise StorageError("the filter matched no element for the positional path")


def distinct_values(documents: Iterable[Mapping[str, Any]], path: str) -> list[Any]:
    """Return the values at a path, and elements of lists, each once, without null."""
    names, found = path.split("."), dict[Any, Any]()
    for document in documents:
        for value in _values(document, names, place_alone=True):
            for one in value if isinstance(value, list) else [value]:
                if one is not None and one is not _MISSING:
                    found.setdefault(order_key(one), one)
    return list(found.values())


def _all_of(predicates: Sequence[Callable[[T], bool]]) -> Callable[[T], bool]:
    if len(predicates) == 1:
        return predicates[0]

    def fits_all(value: T) -> bool:
        for fits in predicates:  # noqa: SIM110  # all() takes twice as long
            if not fits(value):
                return False
        return True

    return fits_all


def _compile_part(key: str, value: Any) -> Predicate:
    if key == "$and":
        return _all_of([compile_filter(part) for part in value])
    if key in ("$or", "$nor"):
        parts, is_or = [compile_filter(part) for part in value], key == "$or"
        return lambda document: any(selects(document) for selects in parts) == is_or
    if key.startswith("$"):
        raise StorageError(f"unknown operator {key}")
    names = key.split(".")
    meets = _compile_condition(value, _any_within)
    if len(names) == 1:
        return lambda document: meets([document.get(key, _MISSING)])
    return lambda document: meets(list(_values(document, names)))


def _compile_conditions_on(path: str, filter: Mapping[str, Any]) -> Iterator[Predicate]:
    """Yield the conditions of a filter on the list at a path, for one element."""
    for key, value in filter.items():
        if key == "$and":
            for part in value:
                yield from _compile_conditions_on(path, part)
        elif key == path and isinstance(value, Mapping) and "$elemMatch" in value:
            yield _compile_element_match(value["$elemMatch"])
        elif key == path:
            yield compile_element(value)
        elif key.startswith(f"{path}."):
            yield compile_element({key.removeprefix(f"{path}."): value})


def _compile_condition(condition: Any, on_values: _OnValues) -> _Condition:
    if not has_operators(condition):
        return on_values(_equal_to(condition))
    operators = dict(condition)
    if "$regex" in operators:  # the only operator that another one changes
        operators["$regex"] = compile_expression(operators["$regex"], operators.pop("$options", ""))
    return _all_of([OPERATORS[name].compile(operand, on_values) for name, operand in operators.items()])


def _any_within(fits: Predicate) -> _Condition:
    def meets(found: list[Any]) -> bool:
        for value in found:  # noqa: SIM110  # any() takes twice as long
            if fits(value) or (type(value) is list and any(map(fits, value))):
                return True
        return False

    return meets


def _any_alone(fits: Predicate) -> _Condition:
    return lambda found: any(map(fits, found))


def _compile_element_match(condition: Mapping[str, Any]) -> Predicate:
    if is_of_values(condition):
        meets = _compile_condition(condition, _any_alone)
        return lambda element: meets([element])
    selects = compile_filter(condition)

    def fits(element: Any) -> bool:
        if isinstance(element, list):  # to MongoDB an object whose names are the places
            element = {str(place): inner for place, inner in enumerate(element)}
        return isinstance(element, Mapping) and selects(element)

    return fits


def _values(value: Any, names: Sequence[str], *, place_alone: bool = False) -> Iterator[Any]:
    """Yield the values at a path, through objects and lists; lists there as a whole.

    ``place_alone`` says that below a list a number is no name of a field.
    """
    if not names:
        yield value
    elif isinstance(value, list):
        for inner in value if not (place_alone and is_number(names[0])) else ():
            if isinstance(inner, Mapping):
                yield from _values(inner, names, place_alone=place_alone)
        if is_place(names[0]) and int(names[0]) < len(value):
            inner = value[int(names[0])]
            if len(names) == 1:
                yield _Whole(inner) if isinstance(inner, list) else inner
            elif isinstance(inner, (Mapping, list)):  # nothing is below a scalar, not even null
                yield from _values(inner, names[1:], place_alone=place_alone)
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _values(value[names[0]], names[1:], place_alone=place_alone)
    else:
        yield _MISSING


def _equal_to(operand: Any) -> Predicate:
    if operand is None:
        return lambda value: value is None or value is _MISSING
    if isinstance(operand, (str, ObjectId)):  # most conditions are of these
        return lambda value: bool(value == operand)
    key = order_key(operand)
    return lambda value: value is not _MISSING and bool(order_key(value) == key)


def _is_among(operands: Sequence[Any]) -> Predicate:
    keys, has_null = frozenset(map(order_key, operands)), None in operands
    return lambda value: has_null if value is _MISSING else order_key(value) in keys


def _is_ordered(compare: Callable[[Any, Any], bool], operand: Any) -> Predicate:
    """Return a comparison by order, within one type or with the ends of all types."""
    key, is_end = order_key(operand), isinstance(operand, (MinKey, MaxKey))
    of_missing = (operand is None or is_end) and compare(NULL, key)

    def fits(value: Any) -> bool:
        if value is _MISSING:
            return of_missing
        one = order_key(value)
        return (is_end or one[0] == key[0]) and compare(one, key)

    return fits


def _fits_expression(expression: re.Pattern[str]) -> Predicate:
    return lambda value: type(value) is str and expression.search(value) is not None


def _by_value(compare: Callable[[Any], Predicate]) -> _Compile:
    return lambda operand, on_values: on_values(compare(operand))


def _negated(compile: _Compile) -> _Compile:
    def negated(operand: Any, on_values: _OnValues) -> _Condition:
        meets = compile(operand, on_values)
        return lambda found: not meets(found)

    return negated


def _compile_exists(operand: bool, _: _OnValues) -> _Condition:
    return lambda found: any(value is not _MISSING for value in found) == operand


def _compile_all(operand: Sequence[Any], on_values: _OnValues) -> _Condition:
    return _all_of([on_values(_equal_to(one)) for one in operand]) if operand else lambda found: False


def _compile_size(operand: int, _: _OnValues) -> _Condition:
    return _any_alone(lambda value: isinstance(value, list) and len(value) == operand)


def _compile_types(operand: Any, on_values: _OnValues) -> _Condition:
    names = spread(operand)
    return on_values(lambda value: value is not _MISSING and type_name(value) in names)


def _compile_elements(operand: Mapping[str, Any], _: _OnValues) -> _Condition:
    fits = _compile_element_match(operand)
    return _any_alone(lambda value: isinstance(value, list) and any(map(fits, value)))


def _find_wrong_choices(choices: Any) -> str | None:
    if not is_list(choices):
        return "takes a list"
    return "takes values, not operators" if any(map(has_operators, choices)) else None


def _find_wrong_flag(operand: Any) -> str | None:
    return None if isinstance(operand, bool) else "takes true or false"


def _find_wrong_types(operand: Any) -> str | None:
    names = operand if is_list(operand) else [operand]
    are_known = bool(names) and all(isinstance(name, str) and name in TYPE_NAMES for name in names)
    return None if are_known else "takes names of types, such as 'string' or 'objectId'"


def _find_wrong_size(operand: Any) -> str | None:
    is_size = type(operand) is int and 0 <= operand <= _MOST_ELEMENTS
    return None if is_size else "takes a whole number from 0"


def _find_wrong_expression(operand: Any) -> str | None:
    if not isinstance(operand, str):
        return "takes a text"
    try:
        check_expression(operand)
    except ValueError as error:
        return str(error)
    return None


def _find_wrong_options(operand: Any) -> str | None:
    return None if operand == "i" else "takes 'i' alone"


#: All operators on one field. A new one is a row here, and its stored form in `gatewayfw.odm.reading.filters`.
OPERATORS: Mapping[str, FilterOperator] = {
    "$eq": FilterOperator(_by_value(_equal_to)),
    "$ne": FilterOperator(_negated(_by_value(_equal_to))),
    "$gt": FilterOperator(_by_value(partial(_is_ordered, operator.gt))),
    "$gte": FilterOperator(_by_value(partial(_is_ordered, operator.ge))),
    "$lt": FilterOperator(_by_value(partial(_is_ordered, operator.lt))),
    "$lte": FilterOperator(_by_value(partial(_is_ordered, operator.le))),
    "$in": FilterOperator(_by_value(_is_among), _find_wrong_choices),
    "$nin": FilterOperator(_negated(_by_value(_is_among)), _find_wrong_choices),
    "$exists": FilterOperator(_compile_exists, _find_wrong_flag),
    "$elemMatch": FilterOperator(_compile_elements),
    "$type": FilterOperator(_compile_types, _find_wrong_types, pulls=False),
    "$not": FilterOperator(_negated(_compile_condition), pulls=False),
    "$all": FilterOperator(_compile_all, _find_wrong_choices, pulls=False),
    "$size": FilterOperator(_compile_size, _find_wrong_size, pulls=False),
    "$regex": FilterOperator(_by_value(_fits_expression), _find_wrong_expression, pulls=False),
    "$options": FilterOperator(lambda operand, on_values: lambda found: True, _find_wrong_options, pulls=False),
}
