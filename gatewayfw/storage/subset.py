"""The filters and updates that adapters understand.

Operators not named here differ somewhere between the adapters, or let a filter do more than
select. Both bundled adapters (MongoDB 6, mongomock 4.3) treat those named here alike, except in corners
that each adapter may decide and the core does not rely on:

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
- what `gatewayfw.storage.expressions` leaves open about ``$regex``;
- ``$inc`` and ``$mul`` beyond 64 bits: stored, which the core then refuses, or refused with `ValidationError`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
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
#: Update operators.
UPDATES = frozenset({"$set", "$unset", "$inc", "$mul", "$min", "$max", "$push", "$addToSet", "$pull", "$pop"})
#: Pipeline stages that write, or run for ever.
FORBIDDEN_STAGES = frozenset({"$out", "$merge", "$changeStream"})

_DEPTH = 32
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
    _Judge(where).check_filter(filter)


def is_of_values(condition: Mapping[str, Any]) -> bool:
    """Tell whether an ``$elemMatch`` is about values.

    Then it has operators, else fields of objects.
    """
    return any(str(key).startswith("$") and key not in JUNCTIONS for key in condition)


class _Judge:
    """Judges filters.

    ``where`` begins the messages, ``known`` are the operators on one field.
    """

    def __init__(self, where: str, known: frozenset[str] = COMPARISONS) -> None:
        self._where = where
        self._known = known
        self._junctions = JUNCTIONS if known is COMPARISONS else JUNCTIONS - {"$nor"}

    def check_filter(self, filter: Mapping[str, Any], depth: int = _DEPTH) -> None:
        self._check_depth(depth)
        if not isinstance(filter, Mapping):
            raise self._refusal("expected an object")
        for key, value in filter.items():
            if not isinstance(key, str) or "\0" in key or not key:
                raise self._refusal("keys must be non-empty strings")
            if key in self._junctions:
                if not isinstance(value, Sequence) or isinstance(value, (str, bytes)) or not value:
                    raise self._refusal(f"{key} takes a list of filters")
                for part in value:
                    self.check_filter(part, depth - 1)
            elif key.startswith("$"):
                raise self._refusal(f"unknown operator {key}")
            else:
                self.check_condition(key, value, depth - 1)

    def check_condition(self, key: str, value: Any, depth: int = _DEPTH) -> None:
        self._check_value(key, value)
        if not isinstance(value, Mapping):
            return
        operators = [name for name in value if isinstance(name, str) and name.startswith("$")]
        if not operators:
            return
        if len(operators) < len(value):
            raise self._refusal(f"{key} mixes operators and fields")
        for name, operand in value.items():
            self._check_value(key, operand)
            if name not in self._known:
                raise self._refusal(f"unknown operator {name}")
            if name in ("$not", "$elemMatch"):
                self._check_inner(key, name, operand, depth)
            elif name in ("$in", "$nin", "$all"):
                self._check_choices(key, name, operand)
            elif name in ("$regex", "$options"):
                self._check_expression(key, value)
            elif name == "$exists" and not isinstance(operand, bool):
                raise self._refusal("$exists takes true or false")
            elif name == "$size" and (type(operand) is not int or not 0 <= operand <= _MOST_ELEMENTS):
                raise self._refusal("$size takes a whole number from 0")

    def _check_inner(self, key: str, name: str, condition: Any, depth: int) -> None:
        """Check the condition of ``$not`` or ``$elemMatch``."""
        of_values = isinstance(condition, Mapping) and is_of_values(condition)
        if of_values and self._known is COMPARISONS:
            self._check_depth(depth)
            self.check_condition(key, condition, depth - 1)
        elif name == "$not":
            raise self._refusal("$not takes operators")
        else:
            self.check_filter(condition, depth)

    def _check_choices(self, key: str, name: str, choices: Any) -> None:
        """Refuse what is no list of values, nor objects with ``$`` in their keys."""
        if not isinstance(choices, Sequence) or isinstance(choices, (str, bytes)):
            raise self._refusal(f"{name} takes a list")
        for one in choices:
            if isinstance(one, Mapping) and any(str(part).startswith("$") for part in one):
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

    def _check_depth(self, depth: int) -> None:
        if depth <= 0:
            raise self._refusal("nested too deeply")

    def _refusal(self, text: str) -> UsageError:
        return UsageError(f"{self._where}: {text}")


def check_update(update: Mapping[str, Any]) -> None:
    """Check that an update has known operators only and does not name a path twice.

    Raises:
        UsageError: an operator, shape or path is not in the subset; the message names it.
        BadRequest: a path in ``$set`` is invalid or overlaps with an earlier one. The names in ``$set``
            may be a client's input.
    """
    check_operators(update)
    for operator, changes in update.items():
        for path, value in changes.items():
            check_element(operator, path, value)


def check_operators(update: Mapping[str, Any], known: Set[str] = UPDATES) -> None:
    """Check the same as `check_update`, except the values for list elements.

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
        for path in changes:
            if not isinstance(path, str) or "\0" in path or not all(path.split(".")):
                raise refusal(f"update: {operator} names no field")
            # MongoDB refuses overlapping paths (code 40), mongomock 4.3 applies them in some order.
            if any(path == other or path.startswith(other + ".") or other.startswith(path + ".") for other in seen):
                raise refusal(f"update: {path} is changed twice")
            seen.append(path)


def check_element(operator: str, path: str, value: Any) -> None:
    """Check the value for list elements: a value, a condition, or ``$each``.

    ``$push`` may have its modifiers beside ``$each``.

    Raises:
        UsageError: another operator or shape, which is not in the subset.
    """
    if operator == "$pop" and (isinstance(value, (bool, float)) or value not in (1, -1)):
        raise UsageError("update: $pop takes 1 or -1")
    if not isinstance(value, Mapping):
        return
    has_operators = any(isinstance(name, str) and name.startswith("$") for name in value)
    if operator == "$pull" and has_operators:
        # $and and $or among them are refused: mongomock 4.3 does not know them here.
        _Judge("update", _PULLED).check_condition(path, value)
    elif operator == "$pull":
        _Judge("update", _PULLED).check_filter(value)
    elif operator in ("$push", "$addToSet") and has_operators:
        each, more = value.get("$each"), value.keys() - {"$each"}
        if not isinstance(each, Sequence) or isinstance(each, (str, bytes)) or (more and operator == "$addToSet"):
            raise UsageError(f"update: {operator} takes a value, or a list in $each")
        if unknown := more - MODIFIERS:
            raise UsageError(f"update: {operator} knows no {min(map(str, unknown))} beside $each")
        if fault := find_fault(value):
            raise UsageError(f"update: {operator}: {fault}")


def check_pipeline(pipeline: Sequence[Mapping[str, Any]]) -> None:
    """Check that an aggregation pipeline only reads.

    Raises:
        UsageError: a stage writes, at any depth, or the shape is not a pipeline.
    """
    if not isinstance(pipeline, Sequence) or isinstance(pipeline, (str, bytes)):
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
