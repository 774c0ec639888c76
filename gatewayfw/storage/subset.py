"""The filters and updates that adapters understand, and which pipelines only read.

Operators not named here let a filter do more than select, or nobody has missed them. Both bundled adapters treat
those named here alike, but for what `gatewayfw.storage.regular_expressions` leaves open about ``$regex`` and a
positional path of a list on which the filter has several conditions. Another adapter may also decide the following, on
which the core does not rely:

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

import re
from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from bson.regex import Regex

from gatewayfw import messages
from gatewayfw.errors import BadRequest, UsageError
from gatewayfw.storage.filter_operators import JUNCTIONS, NESTING, OPERATORS, has_operators, is_list, is_of_values
from gatewayfw.storage.update_operators import OPERATORS as UPDATES
from gatewayfw.storage.update_operators import check_operand

#: The names of all operators on one field.
COMPARISONS = frozenset(OPERATORS)
#: The most filters and conditions inside one another.
DEPTH = 32
_LEADING_ZEROS = re.compile(r"(?<=\.)0+(?=[0-9]+(?:\.|$))")
#: Stages that write, or run for ever.
FORBIDDEN_STAGES = frozenset({"$out", "$merge", "$changeStream"})


@dataclass(frozen=True)
class Rules:
    """The rules for filters; a refusal is a `UsageError` that names the part.

    Attributes:
        where: begins the messages.
        known: the operators on one field.
    """

    where: str = "filter"
    known: Set[str] = COMPARISONS

    def check_filter(self, filter: Any, depth: int = DEPTH) -> None:
        """Check that a filter stays inside the subset, down to ``depth`` levels."""
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
                if not is_list(value) or not value:
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
        if "$options" in condition and "$regex" not in condition:
            raise self._refusal(f"{key}: $options stands beside $regex")
        for name, operand in condition.items():
            self._check_value(key, operand)
            if name not in self.known:
                raise self._refusal(f"unknown operator {name}")
            if fault := OPERATORS[name].find_fault(operand):
                raise self._refusal(f"{key}: {name} {fault}")
            yield name, operand

    def is_condition(self, name: str, inner: Any, depth: int) -> bool:
        """Tell whether ``$not`` or ``$elemMatch`` holds a condition, not a filter."""
        of_values = isinstance(inner, Mapping) and is_of_values(inner) and self.known is COMPARISONS
        if name == "$not" and not of_values:
            raise self._refusal("$not takes operators")
        if of_values and depth <= 0:
            raise self._refusal("nested too deeply")
        return of_values

    def _check_value(self, key: str, value: Any) -> None:
        """Refuse an expression that was compiled: its options are others."""
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, (re.Pattern, Regex)):
                raise self._refusal(f"{key}: write a regular expression as text, in $regex")

    def _refusal(self, text: str) -> UsageError:
        return UsageError(f"{self.where}: {text}")


#: For what is pulled.
PULLED = Rules("update", frozenset(name for name, row in OPERATORS.items() if row.pulls))


def check_update(update: Mapping[str, Any]) -> None:
    """Check that an update has known operators only and does not name a path twice.

    Raises:
        UsageError: an operator, shape or path is not in the subset; the message names it.
        BadRequest: a path in ``$set`` is invalid or overlaps with an earlier one. The names in ``$set``
            may be a client's input.
    """
    for operator, path, value in changes_of(update):
        check_operand(operator, value)
        if operator == "$pull" and has_operators(value):
            PULLED.check_condition(path, value)
        elif operator == "$pull" and isinstance(value, Mapping):
            PULLED.check_filter(value)


def changes_of(update: Mapping[str, Any], known: Container[str] = UPDATES.keys()) -> Iterator[tuple[str, str, Any]]:
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
            raise refusal(messages.NO_CHANGES.format(operator=operator))
        for path, value in changes.items():
            if not isinstance(path, str) or "\0" in path or not all(path.split(".")):
                raise refusal(messages.NO_FIELD_NAMED.format(operator=operator))
            # MongoDB refuses overlapping paths (code 40); memory would apply them in some order. MongoDB 6 takes `a.01`
            # for `a.1` in a list, but compares them as texts, and the server ends if one update has both.
            place = (_LEADING_ZEROS.sub("", path) if ".0" in path else path) + "."
            if any(place.startswith(other) or other.startswith(place) for other in seen):
                raise refusal(messages.CHANGED_TWICE.format(path=path))
            seen.append(place)
            yield operator, path, value


def check_pipeline(pipeline: Sequence[Mapping[str, Any]]) -> None:
    """Check that an aggregation pipeline only reads.

    Raises:
        UsageError: a stage writes, at any depth, or the shape is not a pipeline.
    """
    if not is_list(pipeline):
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
