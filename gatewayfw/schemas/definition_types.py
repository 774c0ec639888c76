"""The dictionaries that define models, as type checkers read them.

What is written out in a call is judged key by key. A dictionary that has a name first passes if the checker knows
nothing of its values; else give it one of these types.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NotRequired, Protocol, TypeAlias, TypedDict

from marshmallow import Schema
from marshmallow.fields import Field

from gatewayfw.schemas.relations import Cardinality, IndexSpec, Order, RelatedRelation, Relation, Sort

#: A value kind: with or without its parentheses, a marshmallow field or schema, or a mapping of kinds.
Kind: TypeAlias = Field[Any] | Schema | type[Schema] | Callable[..., Field[Any]] | Mapping[str, "Kind"]

#: Documents in the shape of a `get`: one, one or null, a list.
Word: TypeAlias = Literal["one", "optional", "many"]


class UntypedDict(Protocol):
    """A dictionary whose values a type checker knows as ``object`` or ``Any``."""

    def __setitem__(self, key: str, value: object, /) -> None:
        """Take any value, which no dictionary of known values does."""


class SortShape(TypedDict):
    """The order of a list."""

    field: str
    order: Order


class ReverseShape(TypedDict):
    """A reverse relation: an entry of ``relatedRelations``."""

    type: Cardinality
    limit: NotRequired[int]
    sort: NotRequired[SortShape | Sort]
    excludes: NotRequired[Collection[str]]
    default: NotRequired[bool]
    shared: NotRequired[bool]


class RelationShape(TypedDict):
    """A relation of a model."""

    schemaName: str
    type: Cardinality
    optional: NotRequired[bool]
    relatedRelations: NotRequired[Mapping[str, ReverseShape | RelatedRelation]]
    limit: NotRequired[int]
    sort: NotRequired[SortShape | Sort]
    excludes: NotRequired[Collection[str]]
    frozen: NotRequired[bool]
    shared: NotRequired[bool]


class IndexOptionsShape(TypedDict, total=False):
    """The options of an index."""

    name: str
    unique: bool
    sparse: bool
    expireAfterSeconds: int
    partialFilterExpression: Mapping[str, Any]
    collation: Mapping[str, Any]


class IndexShape(TypedDict):
    """An index."""

    indexSpec: Mapping[str, Literal[1, -1]]
    options: NotRequired[IndexOptionsShape]


class OptionsShape(TypedDict, total=False):
    """The options of a model."""

    createIndex: IndexShape | IndexSpec | Sequence[IndexShape | IndexSpec]
    excludes: Collection[str]


#: The pure fields of a model.
Kinds: TypeAlias = Mapping[str, Kind] | UntypedDict
#: The result of an act, see `gatewayfw.acts.replies.parse_returns`.
ResultShape: TypeAlias = Word | Kind | Mapping[str, Word | Kind] | UntypedDict
#: Relations that were not written out where they are given.
UntypedRelations: TypeAlias = Mapping[str, UntypedDict | RelationShape | Relation] | UntypedDict
