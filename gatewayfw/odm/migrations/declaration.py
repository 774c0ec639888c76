"""What a migration is, and which declarations are refused.

Each is a condition on stored documents and a change that ends it, so that it can be repeated, interrupted and begun
again. Source: our choice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from gatewayfw.errors import DefinitionError, UsageError, ValidationError
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.relations import check_name
from gatewayfw.storage.filter_operators import Predicate, compile_filter, paths_in
from gatewayfw.storage.subset import Rules

#: What a migration does; with ``function`` a function says it for each document.
Kind = Literal["rename", "copy", "default", "convert", "drop", "relation", "function"]
#: Which value stays where a document has both names of a `rename`.
Prefer = Literal["old", "new"]
#: In which order of bytes UUIDs of subtype 3 were written, which do not say it themselves.
Legacy = Literal["java_legacy", "csharp_legacy", "python_legacy"]
#: Given a stored document in Python's types, returns its ``$set`` and ``$unset``; None to leave and list it.
MigrationFn = Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]] | None]
#: How they are declared.
_GIVEN = ("rename", "copy", "default", "convert", "drop", "relation", "where")
#: What the names of a kind come with.
_VALUES = {"rename": "new names by old ones", "copy": "new names by old ones", "default": "values by name"}
_MOST_NAME = 200


@dataclass(frozen=True, eq=False)
class Migration:
    """One declared migration.

    Attributes:
        names: new names by old ones for ``rename`` and ``copy``, stored values by name for ``default``, names for
            ``convert`` and ``drop``, for ``relation`` the type of each.
        uuid: for ``convert``, how UUIDs of subtype 3 were written; None leaves and lists them.
        prefer: for ``rename``; None lists documents with both names.
        where: the condition of a ``function``.
    """

    name: str
    model: str
    kind: Kind
    names: Mapping[str, Any] = field(default_factory=dict)
    prefer: Prefer | None = None
    uuid: Legacy | None = None
    where: Mapping[str, Any] = field(default_factory=dict)
    function: MigrationFn | None = None

    @cached_property
    def condition(self) -> dict[str, Any]:
        """The stored filter of the documents that are left to change.

        For ``convert`` it also matches those that fit already.
        """
        if self.kind == "function":
            return dict(self.where)
        if self.kind == "relation":
            ways = [_other_form(name, type_) for name, type_ in self.names.items()]
        elif self.kind == "copy":
            ways = [{old: {"$exists": True}, new: {"$exists": False}} for old, new in self.names.items()]
        else:
            ways = [{name: {"$exists": self.kind != "default"}} for name in self.names]
        return {"$or": ways}

    @cached_property
    def meets(self) -> Predicate:
        """Tells whether a stored document meets the condition."""
        return compile_filter(self.condition)

    @property
    def retired(self) -> tuple[str, ...] | None:
        """The names that documents lose; None if only the function knows them."""
        if self.kind == "function":
            return None
        return tuple(self.names) if self.kind in ("rename", "drop") else ()

    @property
    def filled(self) -> frozenset[str]:
        """The fields that documents lack until it has changed them."""
        if self.kind in ("rename", "copy"):
            return frozenset(self.names.values())
        return frozenset(self.names) if self.kind == "default" else frozenset()

    @property
    def fills(self) -> bool:
        """Whether documents may grow by more than a name."""
        return self.kind in ("default", "function", "copy")

    @property
    def fields(self) -> list[str] | None:
        """What of a document the change depends on; None for all of it."""
        if self.kind == "function":
            return None
        return [*self.names, *(self.names.values() if self.kind in ("rename", "copy") else ())]


def parse_migration(
    schemas: Schemas,
    name: str,
    model: str,
    kinds: Mapping[str, Any],
    *,
    prefer: object = None,
    uuid: object = None,
    where: object = None,
) -> Migration:
    """Return a migration; ``kinds`` has what was given by kind.

    With ``where`` it still lacks its function.

    Raises:
        DefinitionError: it is no migration of the model as it is defined now; the text says why.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > _MOST_NAME:
        raise DefinitionError(f"migration {name!r}: the name must be a text of 1 to {_MOST_NAME} characters")
    place = f"migration {name!r}"
    if model not in schemas.get_schemas():
        raise DefinitionError(f"{place}: there is no model {model!r}; define it first")
    schema = schemas.get_schema(model)
    given = [*kinds, *(["where"] if where is not None else [])]
    if len(given) != 1 or given[0] not in _GIVEN:
        raise DefinitionError(f"{place}: give one of {', '.join(_GIVEN)}; given: {' and '.join(given) or 'none'}")
    (kind,) = given
    if prefer is not None and (kind != "rename" or prefer not in get_args(Prefer)):
        raise DefinitionError(f"{place}: prefer is 'old' or 'new', and goes with rename")
    if uuid is not None and (kind != "convert" or uuid not in get_args(Legacy)):
        raise DefinitionError(f"{place}: uuid is one of {', '.join(get_args(Legacy))}, and goes with convert")
    if kind == "where":
        return Migration(name, model, "function", where=_parse_where(where, place))
    if kind == "relation":
        names: dict[str, Any] = _parse_relation(schema, kinds[kind], f"{place}: relation")
    else:
        names = _parse_names(schemas, schema, kind, kinds[kind], f"{place}: {kind}")
    if kind == "default":
        names = _stored_defaults(schema, names, f"{place}: default")
    return Migration(name, model, kind, names, prefer, uuid)  # type: ignore[arg-type]  # they were checked


def _parse_names(schemas: Schemas, schema: ModelSchema, kind: str, given: object, place: str) -> dict[str, Any]:
    """Return the names of a kind, with what they come with.

    Those that documents lose are no names of the model, all others are.
    """
    names = _mapping(given, place, _VALUES[kind]) if kind in _VALUES else _names(given, place)
    news = [*names.values()] if isinstance(names, dict) and kind != "default" else []
    for name in names:
        (check_gone if kind in ("rename", "drop") else _check_pure)(schemas, schema, name, place)
    for name in news:
        _check_pure(schemas, schema, name, place)
    if twice := [name for name, count in Counter([*names, *news]).items() if count > 1]:
        raise DefinitionError(f"{place}: {twice[0]!r} is named twice")
    return names if isinstance(names, dict) else dict.fromkeys(names)


def _stored_defaults(schema: ModelSchema, values: Mapping[str, Any], place: str) -> dict[str, Any]:
    try:
        return {name: check_value(schema.pure[name], value, name) for name, value in values.items()}
    except ValidationError as error:
        told = "; ".join(f"{path}: {' '.join(texts)}" for path, texts in error.errors.items())
        raise DefinitionError(f"{place}: {told}") from error


def _parse_relation(schema: ModelSchema, given: object, place: str) -> dict[str, str]:
    if not isinstance(given, str) or given not in schema.relations:
        raise DefinitionError(f"{place}: {given!r} is not a relation of model {schema.name!r}")
    return {given: schema.relations[given].type}


def _other_form(name: str, type_: str) -> dict[str, Any]:
    """Return the filter of documents whose relation has not the declared form."""
    some, listed = {"$exists": True}, {"$elemMatch": {"_id": {"$exists": True}}}
    return {name: listed} if type_ == "single" else {f"{name}._id": some, name: {"$not": listed}}


def _parse_where(given: object, place: str) -> dict[str, Any]:
    try:
        if not isinstance(given, Mapping) or not given:
            raise UsageError("where: expected a filter that names a field")
        Rules("where").check_filter(given)
    except UsageError as error:
        raise DefinitionError(f"{place}: {error.message}") from error
    if any(path.partition(".")[0] == HIDDEN for path in paths_in(given)):
        raise DefinitionError(f"{place}: where: {HIDDEN} is not for filters")
    return dict(given)


def _mapping(given: object, place: str, what: str) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not given:
        raise DefinitionError(f"{place}: expected {what}")
    return dict(given)


def _names(given: object, place: str) -> list[Any]:
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable) or not (names := list(given)):
        raise DefinitionError(f"{place}: expected a list of names")
    return names


def _check_pure(_: Schemas, schema: ModelSchema, name: object, place: str) -> None:
    if not isinstance(name, str) or name not in schema.pure:
        what = "is a relation" if isinstance(name, str) and name in schema.relations else "is not a pure field"
        raise DefinitionError(f"{place}: {name!r} {what} of model {schema.name!r}")


def check_gone(schemas: Schemas, schema: ModelSchema, name: object, place: str) -> None:
    """Refuse an old name that the model has now.

    Raises:
        DefinitionError: it is a pure field, a relation or a reverse relation, or no name.
    """
    check_name(name, place)
    if name in schema.pure or name in schemas.links(schema.name):
        raise DefinitionError(f"{place}: model {schema.name!r} still has {name!r}; take it out of the definition first")
