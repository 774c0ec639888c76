"""What an author allows of a listing, as written. Pure.

It is judged here as far as no model is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gatewayfw.errors import DefinitionError

#: The operators a filter may be declared with.
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists", "prefix", "contains")
#: The largest page that may be declared.
MOST_ROWS = 1_000
#: Rows of a page where the author names no number, and the page may have so many.
DEFAULT_ROWS = 20


@dataclass(frozen=True)
class Declaration:
    """One listing, as declared.

    Attributes:
        model: whose documents are listed.
        number: which listing of its model it is, from 0: tokens of another one are refused.
        filters: names with the operators allowed.
        sorts: names that clients may sort by.
        default_sort: the order where clients ask for none, such as ``-year``.
        most: rows that one page may have; ``default``: those it has where clients ask for no number.
        count: whether the first page has the number of all matches: True, or how many are counted.
    """

    model: str
    number: int
    filters: tuple[tuple[str, tuple[str, ...]], ...]
    sorts: tuple[str, ...]
    default_sort: str
    most: int
    default: int
    count: bool | int

    @cached_property
    def text(self) -> str:
        """All of it as text, for tokens."""
        return repr(self)

    @property
    def where(self) -> str:
        """The beginning of messages about this listing."""
        return f"listing {self.number + 1} of model {self.model!r}"

    @property
    def orders(self) -> tuple[str, ...]:
        """The orders that clients may choose in ``sort``."""
        return tuple(order for name in self.sorts for order in (name, f"-{name}"))


def declare(
    model: str,
    number: int,
    *,
    filter: Mapping[str, Sequence[str]],
    sort: Sequence[str],
    default_sort: str,
    most: int,
    default: int | None,
    count: bool | int,
) -> Declaration:
    """Return a listing as declared.

    Raises:
        DefinitionError: an argument has the wrong form, or an operator is unknown.
    """
    where = f"listing of model {model!r}"
    if not _is_whole(most, MOST_ROWS):
        raise DefinitionError(f"{where}: most must be an integer in 1..{MOST_ROWS}")
    if default is None:
        default = min(DEFAULT_ROWS, most)
    if not _is_whole(default, most):
        raise DefinitionError(f"{where}: default must be an integer in 1..{most}")
    if not isinstance(count, bool) and not _is_whole(count, 2**31 - 1):
        raise DefinitionError(f"{where}: count must be true, false or how many to count, from 1")
    if not isinstance(filter, Mapping):
        raise DefinitionError(f"{where}: filter must be an object of names to lists of operators")
    filters = tuple(
        (_name(name, where), _operators(given, f"{where}, filter {name!r}")) for name, given in filter.items()
    )
    sorts = tuple(_name(name, where) for name in _list(sort, f"{where}: sort must be a list of names"))
    if len(set(sorts)) < len(sorts):
        raise DefinitionError(f"{where}: sort names a field twice")
    if not isinstance(default_sort, str) or not default_sort.removeprefix("-"):
        raise DefinitionError(f"{where}: default_sort must be the name of a field, or -name")
    return Declaration(model, number, filters, sorts, default_sort, most, default, count)


def _operators(given: Any, where: str) -> tuple[str, ...]:
    names = tuple(_list(given, f"{where}: expected a list of operators"))
    if unknown := [name for name in names if name not in OPERATORS]:
        raise DefinitionError(f"{where}: unknown operator {unknown[0]!r} (known: {', '.join(OPERATORS)})")
    if not names or len(set(names)) < len(names):
        raise DefinitionError(f"{where}: expected different operators, at least one")
    return names


def _list(given: Any, message: str) -> Sequence[Any]:
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        raise DefinitionError(message)
    return given


def _name(given: Any, where: str) -> str:
    if not isinstance(given, str) or not given or given.startswith("-"):
        raise DefinitionError(f"{where}: {given!r} is not the name of a field")
    return given


def _is_whole(value: Any, most: int) -> bool:
    return type(value) is int and 1 <= value <= most
