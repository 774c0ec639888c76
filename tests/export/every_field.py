"""A gateway whose one model has all fields that models take, and documents that a client sends."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mongomock
from marshmallow import INCLUDE, Schema, post_load, validate
from marshmallow import fields as mm

from gatewayfw.core import Gateway, gateway
from gatewayfw.odm import Model, Operators
from gatewayfw.schemas import (
    any_,
    array,
    date,
    decimal,
    defaulted,
    enums,
    integer,
    mapping,
    number,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.kinds.descriptions import describe
from tests.fuzz.search import drawn
from tests.meaning import ALSO_TEXT, LEAVES, PARTS, Meaning, meanings

MODES = ("assert", "create")
#: Documents that a client sends: each field has so many values.
DOCUMENTS = 3
#: Kinds of values that are not compared as a whole in a listing.
_PARTS = {"any", "array", "mapping", "object"}


@dataclass(frozen=True)
class Row:
    """A field, and values that a client sends for it.

    Attributes:
        changes: whether a typed dictionary of Python refuses what a reply shows, where another is sent: a list of
            texts is none of texts and numbers, a key that must be there is none that may be left out.
    """

    field: Any
    values: list[Any]
    changes: bool = False


class Address(Schema):
    """A Schema with defaults of each kind."""

    street = mm.String(required=True)
    town = mm.String(load_default="Rome")
    zip = mm.Integer(load_default=lambda: 5, allow_none=True)
    tags = mm.List(mm.String(), load_default=[])
    seen = mm.String(dump_only=True)


class House(Schema):
    """A Schema of Schemas, whose names are words of Python and of JavaScript."""

    address = mm.Nested(Address, required=True, data_key="class")
    rooms = mm.List(mm.Nested(Address), attribute="constructor")
    a_b = mm.Integer(required=True, data_key="a-b")


class Family(Schema):
    """A Schema in itself."""

    name = mm.String()
    parent = mm.Nested(lambda: Family(), allow_none=True)


class Mixed(Schema):
    """A Schema of our kinds, with a hook."""

    count = defaulted(integer(), 3)
    at = optional(date())
    home = mm.Nested(Address)

    @post_load
    def same(self, data: Any, **kwargs: Any) -> Any:
        """Give the same anew."""
        return {**data}


class Rights(enum.Flag):
    """Values of which several may stand together."""

    READ = 1
    WRITE = 2


class Code(enum.Enum):
    """Values of several types."""

    ONE = 1
    TWO = 'a"b'
    THREE = 2.5


STREET, PLACE = {"street": "a"}, {"street": "a", "town": "b", "zip": None, "tags": ["c"]}
HOUSE = {"class": STREET, "a-b": 1}
#: Options of Schemas and of their fields.
OPTIONS = {
    "schema": Row(Address, [STREET, PLACE]),
    "only": Row(mm.Nested(Address, only=["street", "zip"]), [STREET]),
    "only_by_path": Row(mm.Nested(House, only=["address.street", "a_b"]), [HOUSE]),
    "exclude": Row(mm.Nested(Address, exclude=["street"]), [{}, {"town": "b"}]),
    "exclude_by_path": Row(mm.Nested(House(exclude=["address.street"])), [{"class": {}, "a-b": 1}]),
    "partial": Row(mm.Nested(House(partial=True)), [{}, {"class": {}, "rooms": [{}, PLACE]}]),
    "partial_by_path": Row(mm.Nested(House(partial=["a_b", "address.street"])), [{"class": {}}, HOUSE]),
    "many": Row(mm.Nested(House, many=True), [[], [{**HOUSE, "rooms": [STREET]}]]),
    "many_schema": Row(House(many=True), [[HOUSE]]),
    "open": Row(mm.Nested(Address(unknown=INCLUDE)), [{**STREET, "more": [1, {"n": None}]}]),
    "itself": Row(Family, [{"name": "a", "parent": {"parent": None}}, {}]),
    "mixed": Row(Mixed, [{}, {"count": 1, "at": "2026-11-26", "home": STREET}]),
    "list_of": Row(mm.List(mm.Nested(Address, allow_none=True)), [[STREET, None]]),
    "dict_of": Row(mm.Dict(values=mm.Nested(Address)), [{"a b": STREET}]),
    "tuple_of": Row(mm.Tuple((mm.Nested(Address), mm.Integer(allow_none=True))), [[STREET, None]]),
    "codes": Row(mm.Enum(Code, by_value=True), [1, 'a"b', 2.5]),
    "one_of": Row(mm.String(validate=validate.OneOf(["a", "*/"])), ["a", "*/"]),
    "one_value": Row(mm.String(validate=validate.Equal("a")), ["a"]),
    "none_of": Row(mm.String(validate=validate.NoneOf(["a"])), ["b"]),
    "contains_only": Row(mm.List(mm.String(), validate=validate.ContainsOnly(["a", "b"])), [["b", "a", "b"]]),
    "letters": Row(mm.String(validate=validate.ContainsOnly("ab")), ["abba"]),
    "one_address": Row(mm.Email(validate=validate.OneOf(["a@example.org"])), ["a@example.org"]),
    "flags": Row(mm.Enum(Rights, by_value=True), [0, 1, 3]),
    "places": Row(mm.Tuple((mm.Integer(), mm.List(mm.Date()), mm.Email())), [[1, ["2026-11-26"], "a@b.cd"]]),
    "tuples": Row(mm.List(mm.Tuple((mm.Integer(), mm.Nested(Address)))), [[], [[1, STREET], [2, STREET]]]),
    "between": Row(mm.Integer(validate=validate.Range(1, 3, min_inclusive=False, max_inclusive=False)), [2]),
    "above": Row(mm.Float(validate=validate.Range(0, min_inclusive=False)), [0.5, 1]),
    "in_range": Row(mm.Integer(validate=validate.Range(1, 5)), [1, 5]),
    "of_length": Row(mm.List(mm.Integer(), validate=validate.Length(1, 2)), [[1], [1, 2]]),
    "object": Row(object_({"a": optional(mm.Integer()), "schema": Address}), [{"schema": STREET}]),
    "defaults": Row(object_({"a": defaulted(integer(), 3), "b": mm.Integer(load_default=3)}), [{"a": 1, "b": 2}], True),
    "prices": Row(array(object_({"price": decimal(places=2)})), [[{"price": "1.50"}]], True),
    "by_key": Row(mapping(enums("a", 1)), [{"a": "a", "b": 1}]),
    # Beyond the whole numbers that JavaScript's are; it writes the first two as integers.
    "large_number": Row(number(), [2.0**60, 1e20, 1e300, 2**53 - 1]),
    "large_float": Row(mm.Float(), [2.0**60, 1e20, 1e300, 1]),
    "large_in_any": Row(any_(), [2.0**60, [{"a": -1e20}], 1e300, "1" * 20]),
}  # fmt: skip


def every_row() -> dict[str, Row]:
    """Return the fields by name: each by itself, each in two others that have parts, and with options."""
    leaves = [name for name in LEAVES if name not in ALSO_TEXT]
    shapes = itertools.cycle(PARTS)
    rows = {name: _row_of(LEAVES[name]()) for name in leaves}
    for name in (name for name in leaves if name != "decimal"):  # Row.changes
        for shape in (next(shapes), next(shapes)):
            rows[f"{shape} of {name}"] = _row_of(drawn(PARTS[shape](meanings(0, [name])), 5)[-1])
    return {name.replace(" ", "_"): row for name, row in rows.items()} | OPTIONS


def _row_of(made: Meaning) -> Row:
    sent = [json for json, _ in drawn(made.forms.filter(lambda forms: _is_exact(forms[0])), 2 * DOCUMENTS)]
    return Row(made.field, [sent[-place % len(sent)] for place in range(DOCUMENTS)])


def _is_exact(value: Any) -> bool:
    """Tell whether JavaScript has the number, or each one in a value."""
    if isinstance(value, (list, dict)):
        return all(map(_is_exact, value.values() if isinstance(value, dict) else value))
    return type(value) is not int or abs(value) < 2**53


@dataclass(frozen=True)
class Service:
    """A gateway of things, with acts that add, find and list them."""

    rows: dict[str, Row]
    gw: Gateway
    listed: list[str]

    @property
    def documents(self) -> Iterator[dict[str, Any]]:
        """Documents that a client sends."""
        for place in range(DOCUMENTS):
            yield {name: row.values[place % len(row.values)] for name, row in self.rows.items()}


def make_service(rows: dict[str, Row], **options: Any) -> Service:
    """Return a service of some fields."""
    gw = gateway(max_get_leaves=1000, **options)
    gw.odm.set_db(mongomock.MongoClient().test)
    fields = {name: row.field for name, row in rows.items()}
    things = gw.odm.new_model("thing", fields)
    listed = [name for name, field in things.schema.pure.items() if describe(field)["kind"] not in _PARTS]
    listing = things.listing(filter={name: ["eq"] for name in listed}, most=100)

    def add(body: Any) -> Any:
        """Add a thing."""
        return things.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    def find(body: Any) -> Any:
        """Return the names of fields whose values do not find all of some things."""
        given = dict(body["details"]["set"])
        wanted = set(map(str, given.pop("ids")))
        return [name for name, value in given.items() if not wanted <= found(things, name, value)]

    def list_(body: Any) -> Any:
        """List things."""
        return listing.page(body["details"])

    act = {"public": True, "mcp": True}
    for mode in MODES:
        gw.acts.act("thing", f"add_{mode}", set=fields, get=1, mode=mode, returns="one", **act)(add)
        given = {**fields, "ids": array(object_id())}
        gw.acts.act("thing", f"find_{mode}", set=given, mode=mode, returns=array(string()), **act)(find)
    gw.acts.act("thing", "list", set={**listing.set}, get=1, returns=listing.returns, **act)(list_)
    return Service(rows, gw, listed)


def found(things: Model, name: str, value: Any) -> set[str]:
    """Return the ids of the things that a value finds."""
    return {str(one["_id"]) for one in things.find({name: Operators({"$eq": value})}, projection={"_id": 1})}
