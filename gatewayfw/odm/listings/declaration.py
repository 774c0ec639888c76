"""What an author allows of a listing, and what its names lead to. Pure.

A declaration is judged as far as no model is needed. It is resolved at its first use, once until a model is added:
models that a relation names may be defined after the listing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from marshmallow.fields import Field

from gatewayfw.errors import DefinitionError, NotFound, UsageError
from gatewayfw.odm.reading.paths import Copies, Found, find_in_model
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.sizes import TEXT
from gatewayfw.schemas.relations import Keys
from gatewayfw.storage.order import is_place

#: The operators a filter may be declared with.
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "exists", "prefix", "contains")
#: The largest page that may be declared.
MOST_ROWS = 1_000
#: Rows of a page where the author names no number, and the page may have so many.
DEFAULT_ROWS = 20
#: Bytes of a sort field's value, at most: tokens hold it, and so do index keys.
MOST_SORT_BYTES = 1_024
#: Indexes that one listing wants, at most.
MOST_INDEXES = 12

_RANGES = frozenset({"gt", "gte", "lt", "lte"})
_TEXTS = frozenset({"prefix", "contains"})


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


@dataclass(frozen=True)
class Filtered:
    """One name that clients may filter by.

    Attributes:
        path: where it is stored.
        field: the kind of one value; of a list that of an element.
        is_list: whether a document may have several values there.
    """

    path: str
    field: Field[Any]
    operators: tuple[str, ...]
    is_list: bool = False


@dataclass(frozen=True)
class Resolution:
    """A listing's names among the models.

    Attributes:
        sorts: the kind of each name to sort by, ``default_sort`` and ``_id`` among them.
        problems: what is wrong with the declaration, in words.
        indexes: the keys of the indexes that make its pages fast; ``left_out`` those beyond `MOST_INDEXES`.
        scans: what reads every index key or document, in words.
    """

    filters: Mapping[str, Filtered]
    sorts: Mapping[str, Field[Any]]
    problems: tuple[str, ...]
    indexes: tuple[Keys, ...]
    left_out: tuple[Keys, ...]
    scans: tuple[str, ...]


class _Wrong(Exception):
    """A declared name is wrong; the message says why."""


def resolve(schemas: Schemas, declaration: Declaration) -> Resolution:
    """Resolve the declared names of a listing to fields and indexes."""
    schema = schemas.get_schema(declaration.model)
    filters: dict[str, Filtered] = {}
    sorts: dict[str, Field[Any]] = {}
    problems: list[str] = []
    for name, operators in declaration.filters:
        try:
            filters[name] = _filtered(schemas, schema, name, operators)
        except _Wrong as wrong:
            problems.append(f"{declaration.where}, filter {name!r}: {wrong}")
    for name in dict.fromkeys((*declaration.sorts, declaration.default_sort.removeprefix("-"), "_id")):
        try:
            sorts[name] = _sorted(schemas, schema, name)
        except _Wrong as wrong:
            problems.append(f"{declaration.where}, sort {name!r}: {wrong}")
    wanted = tuple(dict.fromkeys(_indexes(declaration, filters, sorts)))
    scans = tuple(
        f"{declaration.where}: 'contains' on {name} reads every value of it"
        for name, one in filters.items()
        if "contains" in one.operators
    )
    return Resolution(filters, sorts, tuple(problems), wanted[:MOST_INDEXES], wanted[MOST_INDEXES:], scans)


def resolved(schemas: Schemas, declaration: Declaration) -> Resolution:
    """Return the resolution; it is kept until a model is added.

    Raises:
        DefinitionError: the declaration is wrong.
    """
    found = schemas.remembered(resolve, declaration)
    if found.problems:
        raise DefinitionError("; ".join(found.problems))
    return found


def _filtered(schemas: Schemas, schema: ModelSchema, name: str, operators: tuple[str, ...]) -> Filtered:
    path, found = name, _found(schemas, schema, name)
    if isinstance(found, Copies):  # a relation alone is asked for its ids
        path = f"{name}._id"
        found = _found(schemas, schema, path)
    if found is None or isinstance(found, Copies):
        raise _Wrong("nothing is known of its values")
    field = as_kind(found).elements or found
    if not _is_scalar(field):
        raise _Wrong("its values are objects, lists of lists, or of no kind")
    kind = as_kind(field)
    if _RANGES.intersection(operators) and not kind.sorts:
        raise _Wrong(f"values of kind {kind.kind} have no order: no gt, gte, lt and lte")
    if _TEXTS.intersection(operators) and not kind.is_text:
        raise _Wrong("only texts have prefix and contains")
    return Filtered(path, field, operators, _leads_through_list(schemas, schema, path))


def _sorted(schemas: Schemas, schema: ModelSchema, name: str) -> Field[Any]:
    found = _found(schemas, schema, name)
    if _leads_through_list(schemas, schema, name):
        raise _Wrong("it leads through a list")
    if found is None or isinstance(found, Copies):
        raise _Wrong("expected one scalar field; of a relation name a field")
    kind = as_kind(found)
    is_mixed = len(set(map(type, kind.description().get("choices", ())))) > 1
    if not _is_scalar(found) or not kind.sorts or is_mixed:
        raise _Wrong("expected one scalar kind that has an order")
    if kind.largest > TEXT + MOST_SORT_BYTES:
        raise _Wrong(f"values may have more than {MOST_SORT_BYTES} bytes; state a smaller size")
    return found


def _leads_through_list(schemas: Schemas, schema: ModelSchema, name: str) -> bool:
    parts = name.split(".")
    return any(_is_list(_found(schemas, schema, ".".join(parts[:upto]))) for upto in range(1, len(parts) + 1))


def _is_list(found: Found) -> bool:
    if isinstance(found, Copies):
        return found.link.type == "multiple"
    return found is not None and as_kind(found).elements is not None


def _found(schemas: Schemas, schema: ModelSchema, path: str) -> Found:
    head, *below = path.split(".")
    if head in schema.options.excludes:
        raise _Wrong("it is excluded: clients could tell its values from what they find")
    if any(map(is_place, below)):
        raise _Wrong("an element cannot be named by its number")
    try:
        return find_in_model(schemas, schema, path, "listing")
    except UsageError as error:
        raise _Wrong(error.message.removeprefix("listing: ")) from None
    except NotFound as error:
        raise _Wrong(error.message) from None


def _is_scalar(field: Field[Any]) -> bool:
    kind = as_kind(field)
    return not (kind.is_free or kind.is_unknown or kind.elements is not None or kind.sets_parts or kind.parts())


def _indexes(
    declaration: Declaration, filters: Mapping[str, Filtered], sorts: Mapping[str, Field[Any]]
) -> Iterator[Keys]:
    """Yield the keys of the indexes that are wanted, the most useful ones first."""
    names = (declaration.default_sort.removeprefix("-"), *declaration.sorts)
    known = (name for name in dict.fromkeys(names) if name in sorts)
    orders: list[Keys] = [tuple(dict.fromkeys(((name, 1), ("_id", 1)))) for name in known]
    yield from (order for order in orders if order != (("_id", 1),))
    equals = [one.path for one in filters.values() if "eq" in one.operators and one.path != "_id"]
    for order in orders:
        yield from (((path, 1), *order) for path in equals if path != order[0][0])
