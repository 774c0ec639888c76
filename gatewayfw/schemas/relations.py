"""Relations, reverse relations and model options, parsed once and frozen.

A model may be declared with the contract's dictionaries or with the typed constructors of this
module; both go through the same checks. `gatewayfw.schemas.registry.Schemas.validate` checks what
depends on other models.
Source: specification 5, 6.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, cast

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.index_rules import INDEX_OPTIONS, default_name, find_index_fault
from gatewayfw.schemas.values import encodable, storable_key
from gatewayfw.settings import Settings

Cardinality = Literal["single", "multiple"]
Order = Literal["asc", "desc"]

#: The largest ``limit`` of a reverse relation.
REVERSE_CEILING = 10_000
#: The most indexes MongoDB allows in one collection, including the one on ``_id``.
MOST_INDEXES = 64

#: What `get` calls the revision of a document.
REV = "_rev"
#: Names that no field may have.
RESERVED = ("_id", REV)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RELATION_KEYS = ("schemaName", "type", "optional", "relatedRelations", "limit", "sort", "excludes", "frozen", "shared")
_REVERSE_KEYS = ("type", "limit", "sort", "excludes", "default", "shared")
#: The attributes that are not called like the contract's keys.
_ATTRIBUTES = {"schemaName": "schema_name", "relatedRelations": "related_relations"}
_SORT_KEYS = ("field", "order")
_OPTION_KEYS = ("createIndex", "excludes")
_INDEX_KEYS = ("indexSpec", "options")


@dataclass(frozen=True)
class Sort:
    """The order of a list of snapshots.

    Ties are ordered by ``_id`` ascending in a reverse relation; a main list keeps its stored order.
    """

    field: str
    order: Order

    @property
    def direction(self) -> int:
        """Return 1 for ascending, -1 for descending."""
        return 1 if self.order == "asc" else -1


@dataclass(frozen=True)
class Window:
    """What a `multiple` reverse relation keeps: the first members in an order."""

    limit: int
    sort: Sort

    @property
    def order(self) -> tuple[tuple[str, int], ...]:
        """The sort keys of this order; ``_id`` breaks ties."""
        first = (self.sort.field, self.sort.direction)
        return (first,) if self.sort.field == "_id" else (first, ("_id", 1))


@dataclass(frozen=True, kw_only=True)
class RelatedRelation:
    """One reverse relation: what a relation causes on the related model.

    A declaration gives ``type``, ``limit``, ``sort``, ``excludes`` and ``default``; the rest is filled in
    when the model is added. On a ``single`` reverse relation, ``limit`` and ``sort`` have no effect and
    read as None.

    Attributes:
        name: the field on ``target`` that holds the snapshots.
        limit: the most snapshots kept; an int for ``multiple``, None for ``single``.
        default: whether new members are listed, or claim a ``single`` one, if the flag is left out.
        limited: whether the declaration gave the limit; if not, it comes from the setting.
        relation: the name of the relation on ``member``.
        member: the model that declares the relation, whose documents are copied.
        target: the model on which this reverse appears.
        shared: whether copies are shown to callers whom policies do not show their documents.
        of_single: whether that relation is `single`, so that a member has one target only.
    """

    type: Cardinality
    limit: int | None = None
    sort: Sort | None = None
    excludes: frozenset[str] = frozenset()
    name: str = ""
    relation: str = ""
    member: str = ""
    target: str = ""
    of_single: bool = False
    default: bool = False
    limited: bool = field(default=False, compare=False)
    shared: bool = False

    def __hash__(self) -> int:
        """Hash the names alone, because hashing all fields takes five times as long.

        Each write needs several hashes.
        """
        return hash((self.member, self.relation, self.name))

    @cached_property
    def window(self) -> Window | None:
        """The window of a `multiple` one; None for a `single` one."""
        return None if self.limit is None or self.sort is None else Window(self.limit, self.sort)


@dataclass(frozen=True)
class Relation:
    """One relation; ``name`` and ``model`` are filled in when the model is added.

    Attributes:
        limit: the most ids one document may hold; an int for ``multiple``, always None for ``single``.
        sort: the order in which the list is read; None keeps the order given; always None for ``single``.
        name: the field that holds the snapshots.
        model: the model that declares the relation.
        frozen: whether a copy keeps the state that its source had when it was related.
        shared: whether copies are shown to callers whom policies do not show their documents.
    """

    schema_name: str
    type: Cardinality
    optional: bool = False
    related_relations: Mapping[str, RelatedRelation] = field(default_factory=dict)
    limit: int | None = None
    sort: Sort | None = None
    excludes: frozenset[str] = frozenset()
    name: str = ""
    model: str = ""
    frozen: bool = False
    shared: bool = False

    def __hash__(self) -> int:
        """Hash the names alone, as `RelatedRelation` does."""
        return hash((self.model, self.name))


#: The keys of an index: (path, 1 or -1).
Keys = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class IndexSpec:
    """One index: its keys, each with 1 or -1, and options such as ``unique``."""

    keys: Keys
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """The name given, or the one that MongoDB gives."""
        return self.options.get("name") or default_name(dict(self.keys))


@dataclass(frozen=True)
class Options:
    """The options of a model: its indexes, and the pure fields that nobody may read."""

    indexes: tuple[IndexSpec, ...] = ()
    excludes: frozenset[str] = frozenset()


def check_name(name: object, where: str) -> str:
    """Return a name of a model, field or relation.

    Raises:
        DefinitionError: it does not match ``[A-Za-z_]\\w*`` (ASCII), is ``_id`` or ``_rev``, or starts with ``_gw``.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in RESERVED or name.startswith("_gw"):
        raise DefinitionError(
            f"{where}: {name!r} is not a usable name (letters, digits and _, not starting with a digit or _gw, "
            "not _id or _rev)"
        )
    return name


def parse_relations(given: object, *, model: str, pure: Collection[str], settings: Settings) -> dict[str, Relation]:
    """Return the relations of a model by name, limits and sorts resolved.

    Raises:
        DefinitionError: any part that can be checked without other models is wrong.
    """
    where = f"model {model!r}"
    if not isinstance(given, Mapping):
        raise DefinitionError(f"{where}: relations must be a mapping, not {type(given).__name__}")
    parsed: dict[str, Relation] = {}
    for name, value in given.items():
        check_name(name, f"{where}, relation {name!r}")
        if name in pure:
            raise DefinitionError(f"{where}, relation {name!r}: a pure field has this name")
        parsed[name] = _parse_relation(value, model=model, name=name, pure=pure, settings=settings)
    return parsed


def parse_options(given: object, *, model: str, pure: Collection[str], relations: Collection[str]) -> Options:
    """Return the options of a model.

    Raises:
        DefinitionError: an unknown key, a bad index, or an excluded name that is not a pure field.
    """
    if isinstance(given, Options):
        given = {"createIndex": given.indexes, "excludes": given.excludes}
    where = f"model {model!r}, options"
    options = _check_keys(given, _OPTION_KEYS, where)
    indexes = options.get("createIndex", ())
    if isinstance(indexes, (Mapping, IndexSpec)):
        indexes = (indexes,)
    if not isinstance(indexes, Sequence) or isinstance(indexes, str):
        raise DefinitionError(f"{where}, createIndex: expected an object or a list, not {type(indexes).__name__}")
    parsed = [
        _parse_index(index, where=f"{where}, createIndex {number}", pure=pure, relations=relations)
        for number, index in enumerate(indexes)
    ]
    if len({index.keys for index in parsed}) < len(parsed):
        raise DefinitionError(f"{where}, createIndex: two indexes have the same keys")
    if len({index.name for index in parsed}) < len(parsed):
        raise DefinitionError(f"{where}, createIndex: two indexes have the same name")
    return Options(
        indexes=tuple(parsed),
        excludes=check_excludes(_parse_names(options.get("excludes", ()), where), pure, where=where, model=model),
    )


def check_excludes(excludes: frozenset[str], pure: Collection[str], *, where: str, model: str) -> frozenset[str]:
    """Return ``excludes`` if every name in it is a pure field of ``model``.

    Raises:
        DefinitionError: a name is not a pure field.
    """
    unknown = sorted(excludes.difference(pure))
    if unknown:
        raise DefinitionError(f"{where}: excludes names {_join(unknown)}, not a pure field of {model!r}")
    return excludes


def _parse_relation(value: object, *, model: str, name: str, pure: Collection[str], settings: Settings) -> Relation:
    where = f"model {model!r}, relation {name!r}"
    given = _check_keys(_write_out(value), _RELATION_KEYS, where)
    if "schemaName" not in given:
        raise DefinitionError(f"{where}: schemaName is missing")
    schema_name = check_name(given["schemaName"], f"{where}, schemaName")
    needless = [key for key in ("limit", "sort") if key in given and given.get("type") == "single"]
    if needless:
        raise DefinitionError(f"{where}: {' and '.join(needless)}: a single relation holds one document, not a list")
    common = _parse_common(given, settings.relation_limit, settings.relation_limit, where)
    relation = Relation(
        schema_name=schema_name,
        optional=_parse_switch(given, "optional", where),
        name=name,
        model=model,
        frozen=_parse_switch(given, "frozen", where),
        shared=_parse_switch(given, "shared", where),
        **common,
    )
    return replace(relation, related_relations=_parse_reverses(given, relation, pure, settings, where))


def _parse_reverses(
    given: Mapping[str, Any], relation: Relation, pure: Collection[str], settings: Settings, where: str
) -> Mapping[str, RelatedRelation]:
    reverses = given.get("relatedRelations", {})
    if not isinstance(reverses, Mapping):
        raise DefinitionError(f"{where}: relatedRelations must be a mapping, not {type(reverses).__name__}")
    parsed: dict[str, RelatedRelation] = {}
    for name, value in reverses.items():
        place = f"{where}, reverse {name!r}"
        check_name(name, place)
        declared = _check_keys(_write_out(value), _REVERSE_KEYS, place)
        common = _parse_common(declared, settings.reverse_limit, REVERSE_CEILING, place)
        if common["type"] == "multiple" and common["sort"] is None:
            common["sort"] = Sort("_id", "desc")
        parsed[name] = RelatedRelation(
            name=name,
            relation=relation.name,
            member=relation.model,
            target=relation.schema_name,
            of_single=relation.type == "single",
            default=_parse_switch(declared, "default", place),
            shared=_parse_switch(declared, "shared", place),
            limited="limit" in declared,
            **common,
        )
        check_excludes(parsed[name].excludes, pure, where=place, model=relation.model)
    return MappingProxyType(parsed)


def _write_out(value: object) -> object:
    if not isinstance(value, (Relation, RelatedRelation)):
        return value
    keys = _RELATION_KEYS if isinstance(value, Relation) else _REVERSE_KEYS
    written = {key: getattr(value, _ATTRIBUTES.get(key, key)) for key in keys}
    return {key: item for key, item in written.items() if item is not None}


def _parse_common(given: Mapping[str, Any], default: int, ceiling: int, where: str) -> dict[str, Any]:
    """Return what relations and reverse relations have in common, by attribute."""
    if given.get("type") not in ("single", "multiple"):
        raise DefinitionError(f"{where}: type must be 'single' or 'multiple'")
    limit, sort = given.get("limit", default), _parse_sort(given, where)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= ceiling:
        raise DefinitionError(f"{where}: limit must be an integer in 1..{ceiling}")
    bounds = {"limit": limit, "sort": sort} if given["type"] == "multiple" else {"limit": None, "sort": None}
    return {"type": given["type"], "excludes": _parse_names(given.get("excludes", ()), where), **bounds}


def _parse_switch(given: Mapping[str, Any], key: str, where: str) -> bool:
    value = given.get(key, False)
    if not isinstance(value, bool):
        raise DefinitionError(f"{where}: {key} must be true or false")
    return value


def _parse_sort(given: Mapping[str, Any], where: str) -> Sort | None:
    value = given.get("sort")
    if isinstance(value, Sort):
        value = {"field": value.field, "order": value.order}
    if value is None and "sort" not in given:
        return None
    sort = _check_keys(value, _SORT_KEYS, f"{where}, sort")
    if not isinstance(sort.get("field"), str):
        raise DefinitionError(f"{where}, sort: field must be the name of a field")
    if sort.get("order") not in ("asc", "desc"):
        raise DefinitionError(f"{where}, sort: order must be 'asc' or 'desc'")
    return Sort(sort["field"], sort["order"])


def _parse_index(value: object, *, where: str, pure: Collection[str], relations: Collection[str]) -> IndexSpec:
    if isinstance(value, IndexSpec):
        value = {"indexSpec": dict(value.keys), "options": value.options}
    given = _check_keys(value, _INDEX_KEYS, where)
    keys = given.get("indexSpec")
    if not isinstance(keys, Mapping) or not keys:
        raise DefinitionError(f"{where}: indexSpec must be an object of field to direction")
    for name, direction in keys.items():
        if not _is_indexable(name, pure, relations):
            raise DefinitionError(f"{where}: {name!r} is not a pure field, not _id and not below a field or relation")
        if isinstance(direction, bool) or not isinstance(direction, int) or direction not in (1, -1):
            raise DefinitionError(f"{where}: the direction of {name!r} must be 1 or -1")
    options = _check_keys(given.get("options", {}), INDEX_OPTIONS, f"{where}, options")
    for name, value in options.items():
        expected, fits = INDEX_OPTIONS[name]
        if not fits(value):
            raise DefinitionError(f"{where}, options: {name} must be {expected}")
    if fault := find_index_fault(keys, options):
        raise DefinitionError(f"{where}: {fault}")
    return IndexSpec(tuple(keys.items()), MappingProxyType(dict(options)))


def _is_indexable(name: object, pure: Collection[str], relations: Collection[str]) -> bool:
    if not isinstance(name, str):
        return False
    head, *below = name.split(".")
    if not below:
        return head == "_id" or head in pure
    return (head in pure or head in relations) and all(
        part and storable_key(part) and encodable(part) for part in below
    )


def _parse_names(value: object, where: str) -> frozenset[str]:
    fits = isinstance(value, (Sequence, set, frozenset)) and not isinstance(value, (str, bytes))
    if not fits or not all(isinstance(name, str) for name in cast(Iterable[object], value)):
        raise DefinitionError(f"{where}: excludes must be a list of names")
    return frozenset(cast(Iterable[str], value))


def _check_keys(value: object, known: Collection[str], where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DefinitionError(f"{where}: expected an object, not {type(value).__name__}")
    unknown = [key for key in value if key not in known]
    if unknown:
        raise DefinitionError(f"{where}: unknown {_join(unknown)} (known: {', '.join(known)})")
    return value


def _join(names: Iterable[object]) -> str:
    return ", ".join(repr(name) for name in names)
