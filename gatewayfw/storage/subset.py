"""The filters and updates that adapters understand.

Operators not named here let a filter do more than select, or nobody has missed them. Both bundled adapters treat
those named here alike, but for what `gatewayfw.storage.expressions` leaves open about ``$regex`` and a positional path
of a list on which the filter has several conditions. Another adapter may also decide the following, on which the core
does not rely:

- whether ``True`` equals 1, and whether embedded documents of another key order are equal;
- ``$gte`` and ``$lte`` with null; null on a path below a scalar; ``$in`` with lists in its list;
  an empty ``$elemMatch``;
- the order by a field that holds lists;
- a path of ``fields`` that goes through a list of documents and scalars;
- the order of the keys that an update adds to a document;
- ``$unset`` of an element by its number; ``.$`` of a scalar element;
- ``$min`` and ``$max`` of values of two types, null apart;
- ``$sort`` of a ``$push`` by values that are lists;
- a positional path of a list on which the filter has ``$not $nor $all $size $regex`` or ``$elemMatch`` on values;
- ``$inc`` and ``$mul`` beyond 64 bits: stored, which the core then refuses, or refused with `ValidationError`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson.regex import Regex

from gatewayfw.errors import BadRequest, UsageError, ValidationError
from gatewayfw.storage.expressions import check_expression
from gatewayfw.storage.pushes import MODIFIERS, find_fault

#: Operators on the elements of ``$pull``.
_PULLED = frozenset({"$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$elemMatch"})
#: Operators on one field of a filter.
COMPARISONS = _PULLED | {"$not", "$all", "$size", "$regex", "$options"}
#: Operators that join filters.
JUNCTIONS = frozenset({"$and", "$or", "$nor"})
#: Operators that hold conditions.
NESTING = frozenset({"$not", "$elemMatch"})
#: Update operators.
UPDATES = frozenset({"$set", "$unset", "$inc", "$mul", "$min", "$max", "$push", "$addToSet", "$pull", "$pop"})
#: Pipeline stages that write, or run for ever.
FORBIDDEN_STAGES = frozenset({"$out", "$merge", "$changeStream"})

#: The most filters and conditions inside one another.
DEPTH = 32
#: MongoDB takes no higher ``$size``.
_MOST_ELEMENTS = 2**31 - 1


def projection_of(fields: Sequence[str] | None) -> dict[str, int] | None:
    """Return ``fields`` in MongoDB's form; None for whole documents."""
    return None if fields is None else {"_id": 1, **dict.fromkeys(fields, 1)}


def check_filter(filter: Mapping[str, Any], where: str = "filter") -> None:
    """Check that a filter stays inside the subset; ``where`` begins the messages.

    Raises:
        UsageError: an operator, shape or key is not in the subset; the message names it.
    """
    Rules(where).check_filter(filter)


def has_operators(value: object) -> bool:
    """Tell whether a value is an object in which a key starts with ``$``."""
    return isinstance(value, Mapping) and any(isinstance(key, str) and key.startswith("$") for key in value)


def is_of_values(condition: Mapping[str, Any]) -> bool:
    """Tell whether an ``$elemMatch`` is about values.

    Then it has operators, else fields of objects.
    """
    return any(str(key).startswith("$") and key not in JUNCTIONS for key in condition)


@dataclass(frozen=True)
class Rules:
    """The rules of the subset for filters; refusals are a `UsageError`.

    Attributes:
        where: begins the messages.
        known: the operators on one field.
    """

    where: str
    known: frozenset[str] = COMPARISONS

    def check_filter(self, filter: Any, depth: int = DEPTH) -> None:
        """Check a filter and its parts, down to ``depth`` levels."""
        for key, value in self.conditions(filter, depth):
            if key not in JUNCTIONS:
                self.check_condition(key, value, depth - 1)
                continue
            for part in value:
                self.check_filter(part, depth - 1)

    def check_condition(self, key: str, condition: Any, depth: int = DEPTH) -> None:
        """Check the condition on one field: a value, or operators."""
        for name, operand in self.operators(key, condition):
            if name in NESTING and self.is_condition(name, operand, depth):
                self.check_condition(key, operand, depth - 1)
            elif name in NESTING:
                self.check_filter(operand, depth)

    def conditions(self, filter: Any, depth: int) -> Iterator[tuple[str, Any]]:
        """Yield the names and conditions of a filter; conditions may be anything.

        Behind the name of a junction is a list of filters.
        """
        if depth <= 0:
            raise self._refusal("nested too deeply")
        if not isinstance(filter, Mapping):
            raise self._refusal("expected an object")
        for key, value in filter.items():
            if not isinstance(key, str) or "\0" in key or not key:
                raise self._refusal("keys must be non-empty strings")
            if key in JUNCTIONS and (key != "$nor" or self.known is COMPARISONS):
                if not _is_list(value) or not value:
                    raise self._refusal(f"{key} takes a list of filters")
            elif key.startswith("$"):
                raise self._refusal(f"unknown operator {key}")
            yield key, value

    def operators(self, key: str, condition: Any) -> Iterator[tuple[str, Any]]:
        """Yield the operators on one field with their operands; nothing for a plain value.

        What is inside ``$not`` and ``$elemMatch`` is not looked at.
        """
        self._check_value(key, condition)
        if not has_operators(condition):
            return
        if not all(isinstance(name, str) and name.startswith("$") for name in condition):
            raise self._refusal(f"{key} mixes operators and fields")
        for name, operand in condition.items():
            self._check_value(key, operand)
            if name not in self.known:
                raise self._refusal(f"unknown operator {name}")
            if name in ("$in", "$nin", "$all"):
                self._check_choices(key, name, operand)
            elif name in ("$regex", "$options"):
                self._check_expression(key, condition)
            elif name == "$exists" and not isinstance(operand, bool):
                raise self._refusal("$exists takes true or false")
            elif name == "$size" and (type(operand) is not int or not 0 <= operand <= _MOST_ELEMENTS):
                raise self._refusal("$size takes a whole number from 0")
            yield name, operand

    def is_condition(self, name: str, inner: Any, depth: int) -> bool:
        """Tell whether ``$not`` or ``$elemMatch`` holds a condition, not a filter."""
        of_values = isinstance(inner, Mapping) and is_of_values(inner) and self.known is COMPARISONS
        if name == "$not" and not of_values:
            raise self._refusal("$not takes operators")
        if of_values and depth <= 0:
            raise self._refusal("nested too deeply")
        return of_values

    def _check_choices(self, key: str, name: str, choices: Any) -> None:
        """Refuse anything but a list of values without operators."""
        if not _is_list(choices):
            raise self._refusal(f"{name} takes a list")
        for one in choices:
            if has_operators(one):
                raise self._refusal(f"{key}: {name} takes values, not operators")

    def _check_expression(self, key: str, condition: Mapping[str, Any]) -> None:
        expression = condition.get("$regex")
        if not isinstance(expression, str):
            raise self._refusal(f"{key}: $regex takes a text")
        if condition.get("$options", "i") != "i":
            raise self._refusal(f"{key}: $options takes 'i' alone")
        try:
            check_expression(expression)
        except ValueError as error:
            raise self._refusal(f"{key}: the expression {error}") from None

    def _check_value(self, key: str, value: Any) -> None:
        """Refuse an expression that was compiled: its options are others."""
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, (re.Pattern, Regex)):
                raise self._refusal(f"{key}: write a regular expression as text, in $regex")

    def _refusal(self, text: str) -> UsageError:
        return UsageError(f"{self.where}: {text}")


#: For what is pulled: fewer operators than in filters. Our choice; nobody has missed the others.
PULLED = Rules("update", _PULLED)


def check_update(update: Mapping[str, Any]) -> None:
    """Check that an update has known operators only and does not name a path twice.

    Raises:
        UsageError: an operator, shape or path is not in the subset; the message names it.
        BadRequest: a path in ``$set`` is invalid or overlaps with an earlier one. The names in ``$set``
            may be a client's input.
    """
    for operator, path, value in changes_of(update):
        if operator == "$pop" and (isinstance(value, (bool, float)) or value not in (1, -1)):
            raise UsageError("update: $pop takes 1 or -1")
        if operator == "$pull" and has_operators(value):
            PULLED.check_condition(path, value)
        elif operator == "$pull" and isinstance(value, Mapping):
            PULLED.check_filter(value)
        elif operator in ("$push", "$addToSet"):
            check_added(operator, value)


def changes_of(update: Mapping[str, Any], known: Container[str] = UPDATES) -> Iterator[tuple[str, str, Any]]:
    """Yield operator, path and operand of each change; operands may be anything.

    ``known`` are the operators.

    Raises:
        UsageError, BadRequest: as for `check_update`.
    """
    if not isinstance(update, Mapping) or not update:
        raise UsageError("update: expected an object of operators such as $set")
    seen: list[str] = []
    for operator, changes in update.items():
        if operator not in known:
            hint = "" if str(operator).startswith("$") else "; to set a field, write {'$set': {...}}"
            raise UsageError(f"update: unknown operator {operator}{hint}")
        refusal = BadRequest if operator == "$set" else UsageError
        if not isinstance(changes, Mapping):
            raise refusal(f"update: {operator} takes an object")
        for path, value in changes.items():
            if not isinstance(path, str) or "\0" in path or not all(path.split(".")):
                raise refusal(f"update: {operator} names no field")
            # MongoDB refuses overlapping paths (code 40); memory would apply them in some order.
            if any(path == other or path.startswith(other + ".") or other.startswith(path + ".") for other in seen):
                raise refusal(f"update: {path} is changed twice")
            seen.append(path)
            yield operator, path, value


def check_added(operator: str, value: Any) -> None:
    """Check what ``$push`` or ``$addToSet`` adds: a value, or the values in ``$each``.

    ``$push`` may have its modifiers beside ``$each``.

    Raises:
        UsageError: another shape, which is not in the subset.
    """
    if not has_operators(value):
        return
    more = value.keys() - {"$each"}
    if not _is_list(value.get("$each")) or (more and operator == "$addToSet"):
        raise UsageError(f"update: {operator} takes a value, or a list in $each")
    if unknown := more - MODIFIERS:
        raise UsageError(f"update: {operator} knows no {min(map(str, unknown))} beside $each")
    if fault := find_fault(value):
        raise UsageError(f"update: {operator}: {fault}")


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def check_pipeline(pipeline: Sequence[Mapping[str, Any]]) -> None:
    """Check that an aggregation pipeline only reads.

    Raises:
        UsageError: a stage writes, at any depth, or the shape is not a pipeline.
    """
    if not _is_list(pipeline):
        raise UsageError("pipeline: expected a list of stages")
    pending: list[Any] = list(pipeline)
    if any(not isinstance(stage, Mapping) or len(stage) != 1 for stage in pending):
        raise UsageError("pipeline: a stage is an object with one operator")
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            forbidden = FORBIDDEN_STAGES.intersection(value)
            if forbidden:
                raise UsageError(f"pipeline: {min(forbidden)} is not allowed")
            pending.extend(value.values())
        elif isinstance(value, (list, tuple)):
            pending.extend(value)


def beyond_64_bits(paths: Iterable[str]) -> ValidationError:
    """Return the error for increments that would leave 64 bits.

    ``paths`` are those that an update names.
    """
    return ValidationError({f"update.{path}": ["The number would leave 64 bits."] for path in paths})


def misfits(paths: Iterable[str]) -> ValidationError:
    """Return the error for operators that do not fit the values that are there.

    Null, for example. ``paths`` are those that an update names.
    """
    return ValidationError({f"update.{path}": ["Does not fit the value that is there."] for path in paths})
