"""Marshmallow's own fields, and a user's, in models on both adapters: both forms are taken, loaded ones stored."""

from __future__ import annotations

import enum
import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from bson import Binary, Decimal128, ObjectId
from marshmallow import INCLUDE, Schema, post_load, validate
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError, UsageError, ValidationError
from gatewayfw.odm import Operators
from gatewayfw.schemas import Schemas, array, compile_struct, object_, object_id, optional
from gatewayfw.settings import Settings
from gatewayfw.web.reply import success
from tests.models import read_stored

ID = "0123456789abcdefabcdef00"
TEXT = "01234567-89ab-cdef-0123-456789abcdef"


class Colour(enum.Enum):
    """An enum of numbers."""

    RED = 1
    BLUE = 2


@dataclass
class Point:
    """What a user's Schema makes."""

    at: datetime
    x: Decimal


class PointSchema(Schema):
    """A Schema that makes objects."""

    at = mm.DateTime(required=True)
    x = mm.Decimal(required=True)

    @post_load
    def make(self, data: Any, **_: Any) -> Point:
        """Return the object."""
        return Point(**data)


class Place(Schema):
    """A Schema with a value of each sort inside."""

    day = mm.Date()
    id = mm.UUID()
    colours = mm.List(mm.Enum(Colour))
    of = optional(object_id())


@dataclass
class Case:
    """A field, a value in its JSON form, what create loads of it, what is stored, what is found if that differs."""

    field: Any
    sent: Any
    loaded: Any
    stored: Any
    sorts: bool = field(default=True)
    found: Any = ...


MOMENT = datetime(2026, 11, 22, 10, 0, 0, 5000)
CASES = {
    "String": Case(mm.String(), "a", "a", "a"),
    "Integer": Case(mm.Integer(), "5", 5, 5),
    "Float": Case(mm.Float(), 5, 5.0, 5.0),
    "Decimal": Case(mm.Decimal(), "1.10", Decimal("1.10"), Decimal128("1.10"), found=Decimal("1.10")),
    "Boolean": Case(mm.Boolean(), "yes", True, True),
    "DateTime": Case(mm.DateTime(), "2026-11-22T10:00:00.005", MOMENT, MOMENT),
    "AwareDateTime": Case(mm.AwareDateTime(), "2026-11-22T10:00:00.005+00:00", MOMENT.replace(tzinfo=UTC), MOMENT),
    "Date": Case(mm.Date(), "2026-11-22", date(2026, 11, 22), "2026-11-22"),
    "Time": Case(mm.Time(), "10:00", time(10), "10:00:00"),
    "UUID": Case(mm.UUID(), TEXT.upper(), UUID(TEXT), Binary.from_uuid(UUID(TEXT)), found=UUID(TEXT)),
    "Enum": Case(mm.Enum(Colour), "RED", Colour.RED, "RED"),
    "Enum by value": Case(mm.Enum(Colour, by_value=True), 1, Colour.RED, 1),
    "List": Case(mm.List(mm.Enum(Colour)), ["RED", "BLUE"], [Colour.RED, Colour.BLUE], ["RED", "BLUE"], sorts=False),
    "List of ids": Case(mm.List(object_id()), [ID], [ObjectId(ID)], [ObjectId(ID)], sorts=False),
    "Dict": Case(
        mm.Dict(values=mm.UUID()),
        {"a": TEXT},
        {"a": UUID(TEXT)},
        {"a": Binary.from_uuid(UUID(TEXT))},
        sorts=False,
        found={"a": UUID(TEXT)},
    ),
    "Nested": Case(
        mm.Nested(Place),
        {"day": "2026-11-22", "id": TEXT, "colours": ["RED"], "of": ID},
        {"day": date(2026, 11, 22), "id": UUID(TEXT), "colours": [Colour.RED], "of": ObjectId(ID)},
        {"day": "2026-11-22", "id": Binary.from_uuid(UUID(TEXT)), "colours": ["RED"], "of": ObjectId(ID)},
        sorts=False,
        found={"day": "2026-11-22", "id": UUID(TEXT), "colours": ["RED"], "of": ObjectId(ID)},
    ),
    "open Schema": Case(Place(unknown=INCLUDE), {"more": [1]}, {"more": [1]}, {"more": [1]}, sorts=False),
    "Schema of objects": Case(
        PointSchema,
        {"at": "2026-11-22T10:00:00.005", "x": "5.5"},
        Point(MOMENT, Decimal("5.5")),
        {"at": MOMENT, "x": Decimal128("5.5")},
        sorts=False,
        found={"at": MOMENT, "x": Decimal("5.5")},
    ),
    "array": Case(array(mm.Date()), ["2026-11-22"], [date(2026, 11, 22)], ["2026-11-22"], sorts=False),
    "object_": Case(object_({"d": mm.Time()}), {"d": "10:00"}, {"d": time(10)}, {"d": "10:00:00"}, sorts=False),
}


def refused(function, **arguments):
    """The errors of a call that is refused."""
    with pytest.raises(ValidationError) as caught:
        function(**arguments)
    return caught.value.errors


@pytest.mark.parametrize("name", CASES)
def test_what_an_act_gets_in_either_mode_goes_into_inserts_updates_and_filters(odm, name):
    case = CASES[name]
    struct = compile_struct({"set": {"v": case.field}, "get": {}}, Schemas(Settings()))
    details = {"set": {"v": case.sent}, "get": {}}
    forms = [struct.check(details, mode)["set"] for mode in ("assert", "create")]
    assert forms == [{"v": case.sent}, {"v": case.loaded}]
    thing = odm.new_model("thing", {"v": case.field})
    shown = case.stored if case.found is ... else case.found
    for form in forms:
        made = thing.insert_one(doc=form)
        assert made["v"] == shown
        assert read_stored(odm, thing, {"_id": made["_id"]}) == {"v": case.stored}
        changed = thing.find_one_and_update({"_id": made["_id"]}, {"$set": form})
        assert changed == made
        assert read_stored(odm, thing, {"_id": made["_id"]}) == {"v": case.stored}
        assert thing.find_one({"_id": made["_id"]}) == made
    assert [thing.count(filters=form) for form in forms] == [2, 2]
    assert thing.count({"v": Operators({"$eq": case.loaded})}) == 2
    assert len(thing.find().sort("v").to_list()) == 2
    assert read_stored(odm, thing, {"_id": thing.insert_one(doc={"v": made["v"]})["_id"]}) == {"v": case.stored}
    assert list(odm.integrity.misfits()) == []


SORTED = {
    "DateTime": (mm.DateTime(), ["2026-11-22T10:00:00.005Z", "2026-11-22T10:00:00.006Z"]),
    "Date": (mm.Date(), ["2026-09-22", "2026-10-01"]),
    "Time": (mm.Time(), ["09:00:00", "10:00:00", "10:00:00.500000"]),
    "TimeDelta": (mm.TimeDelta(), [-1.0, 0.5, 10.0]),
    "UUID": (mm.UUID(), [TEXT, TEXT.replace("0", "f")]),
    "Enum": (mm.Enum(Colour), ["BLUE", "RED"]),
    "Enum by value": (mm.Enum(Colour, by_value=True), [1, 2]),
    "Decimal": (mm.Decimal(), ["9.5", "10"]),
    "Boolean": (mm.Boolean(), [False, True]),
    "OneOf": (mm.String(validate=validate.OneOf(["a", "b"])), ["a", "b"]),
    "Email": (mm.Email(validate=validate.Length(max=50)), ["a@example.org", "b@example.org"]),
    "Url": (mm.Url(validate=validate.Length(max=50)), ["https://a.org/", "https://b.org/"]),
}


@pytest.mark.parametrize("name", SORTED)
def test_a_field_that_sorts_sorts_listings_and_windows(odm, name):
    kind, values = SORTED[name]
    window = {"type": "multiple", "limit": 9, "sort": {"field": "v", "order": "asc"}}
    boxes = odm.new_model("box", {})
    of = {"schemaName": "box", "type": "single", "optional": True, "relatedRelations": {"things": window}}
    thing = odm.new_model("thing", {"v": kind}, {"of": of}, {"createIndex": {"indexSpec": {"v": 1}, "options": {}}})
    box = boxes.insert_one(doc={})["_id"]
    relation = {"of": {"_ids": box, "relatedRelations": {"things": True}}}
    listing = thing.listing(filter={"v": ["gte"]}, sort=["v"], default_sort="-v")
    thing.insert_many(docs=[{"v": value} for value in reversed(values)], relations=relation)
    ordered = [one["v"] for one in thing.find().sort("v").to_list()]
    assert json.loads(success(ordered))["body"] == values
    assert [one["v"] for one in boxes.find_one({"_id": box}, projection={"things": {"v": 1}})["things"]] == ordered
    given, listed = {"filter": {"v": {"gte": values[0]}}, "limit": 1}, []
    while "after" not in given or given["after"]:
        page = listing.page({"set": given, "get": {"v": 1}})
        listed += [row["v"] for row in page["rows"]]
        given["after"] = page["next"]
    assert listed == ordered[::-1]


@pytest.mark.parametrize("value", [{1}, object(), Colour.RED, float("nan"), 2**70, "\ud800", Decimal("NaN"), 1j])
@pytest.mark.parametrize("kind", [mm.Raw(), mm.Dict(), mm.List(mm.Raw()), mm.Date(), mm.Integer()])
def test_what_the_database_cannot_hold_is_a_validation_error(odm, kind, value):
    thing = odm.new_model("thing", {"v": kind})
    if isinstance(kind, mm.Dict):
        value = {"a": value}
    elif isinstance(kind, mm.List):
        value = [value]
    errors = refused(thing.insert_one, doc={"v": value})
    assert [path.split(".")[:2] for path in errors] == [["doc", "v"]]
    assert thing.count() == 0
    assert [path.split(".")[:2] for path in refused(thing.count, filters={"v": {1j}})] == [["filters", "v"]]


def test_load_only_is_a_definition_error_in_models(odm):
    for kind in (mm.Integer(load_only=True), array(mm.Integer(load_only=True))):
        with pytest.raises(DefinitionError) as caught:
            odm.new_model("thing", {"v": kind})
        assert caught.value.message == "model 'thing', field 'v': load_only is for requests, not for what is stored"


def test_operators_fit_the_fields(odm):
    pure = {
        "n": mm.Integer(),
        "x": mm.Decimal(),
        "days": mm.List(mm.Date()),
        "place": mm.Nested(Place),
        "ids": mm.Dict(values=mm.UUID()),
        "t": mm.String(),
    }
    thing = odm.new_model("thing", pure)
    new = {"n": 1, "x": "1.5", "days": [], "place": {}, "ids": {}, "t": "a"}
    id_ = thing.insert_one(doc=new)["_id"]
    for update in (
        {"$inc": {"n": 2, "x": Decimal("0.25")}},
        {"$push": {"days": date(2026, 11, 22)}},
        {"$addToSet": {"days": {"$each": ["2026-11-22", date(2026, 11, 23)]}}},
        {"$pull": {"days": date(2026, 11, 23)}},
        {"$set": {"place.day": date(2026, 1, 1), "place.of": ID, "ids.a": UUID(TEXT)}},
    ):
        thing.find_one_and_update({"_id": id_}, update)
    assert read_stored(odm, thing, {"_id": id_}) == {
        "n": 3,
        "x": Decimal128("1.75"),
        "days": ["2026-11-22"],
        "place": {"day": "2026-01-01", "of": ObjectId(ID)},
        "ids": {"a": Binary.from_uuid(UUID(TEXT))},
        "t": "a",
    }
    assert thing.count({"days": date(2026, 11, 22), "place.day": {"$lt": date(2026, 2, 1)}, "ids.a": UUID(TEXT)}) == 1
    assert refused(thing.find_one_and_update, filter={"_id": id_}, update={"$push": {"days": "x"}}) == {
        "update.days": ["Not a valid date."]
    }
    for update in ({"$inc": {"t": 1}}, {"$push": {"n": 1}}):
        with pytest.raises(UsageError):
            thing.find_one_and_update({"_id": id_}, update)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ({"price": {"$gt": "0.999"}}, 1),
        ({"price": {"$lt": "1.004"}}, 1),
        ({"price": {"$gte": Decimal("1.004")}}, 0),
        ({"price": "1.004"}, 0),
        ({"price": "1.000"}, 1),
        ({"count": {"$lt": 1.5}}, 1),
        ({"count": {"$gte": 1.5}}, 0),
        ({"count": 1.9}, 0),
        ({"count": 1.0}, 1),
    ],
)
def test_a_filter_asks_between_two_values_of_a_field(odm, condition, found):
    model = odm.new_model("item", {"price": mm.Decimal(places=2), "count": mm.Integer()})
    model.insert_one({"price": "1.00", "count": 1})
    assert model.count(condition) == found


@dataclass
class Corner:
    """What a user's Schema makes, all of whose parts may be absent."""

    x: int | None = None
    y: int | None = None


class CornerSchema(Schema):
    """Makes corners."""

    x = mm.Integer()
    y = mm.Integer()

    @post_load
    def make(self, data, **_):
        return Corner(**data)


def test_an_object_whose_parts_are_all_absent_is_one(odm):
    model = odm.new_model("place", {"at": mm.Nested(CornerSchema)})
    for value in ({}, Corner()):
        model.insert_one({"at": value})
    assert [one["at"] for one in model.find({"at": Corner()})] == [{}, {}]
    with pytest.raises(ValidationError):
        model.insert_one({"at": object()})


class Line(Schema):
    """A line of an order."""

    price = mm.Decimal(required=True)
    day = mm.Date(required=True)


HALF = {"price": "1.50"}
#: Fields with a line in them, by what is around it; where its price is.
AROUND = {
    "open": (mm.Nested(Line, unknown=INCLUDE), lambda line: {**line, "more": 1}, "v.price"),
    "many": (mm.Nested(Line, many=True), lambda line: [line], "v.price"),
    "a Schema of many": (Line(many=True), lambda line: [line], "v.0.price"),
    "Tuple": (mm.Tuple([mm.Raw(), mm.Nested(Line)]), lambda line: [1, line], "v.1.price"),
    "array": (mm.Dict(values=array(mm.Nested(Line))), lambda line: {"a": [line]}, "v.a.price"),
    "Schemas of many": (mm.Dict(values=mm.Nested(Line, many=True)), lambda line: {"a": [line]}, "v.a.0.price"),
}


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("price", ["1.50", Decimal("1.5")])
def test_a_filter_reads_a_part_by_its_own_field(odm, name, price):
    kind, put, path = AROUND[name]
    thing = odm.new_model("thing", {"v": kind})
    thing.insert_one(doc={"v": put({**HALF, "day": "2026-11-27"})})
    asked = [price, {"$in": [price]}, {"$gte": price}, {"$gt": "1.49", "$lt": Decimal("1.51")}, {"$ne": price}]
    assert [thing.count({path: condition}) for condition in asked] == [1, 1, 1, 1, 0]


@pytest.mark.parametrize("kind", [mm.Nested(Line, many=True), mm.List(mm.Nested(Line))])
@pytest.mark.parametrize("line", [{**HALF, "day": "2026-11-27"}, {"price": Decimal("1.5"), "day": date(2026, 11, 27)}])
def test_filters_ask_for_one_of_many_objects(odm, kind, line):
    thing = odm.new_model("thing", {"v": kind})
    thing.insert_one(doc={"v": [{"price": 1, "day": "2026-11-26"}, {"price": "1.50", "day": "2026-11-27"}]})
    other = {**line, "price": 1}
    assert [thing.count({"v": {"$elemMatch": one}}) for one in (line, other)] == [1, 0]
    assert [thing.count({"v": Operators({"$eq": one})}) for one in ({**line, "price": "1.50"}, other)] == [1, 0]


def test_a_part_of_an_array_in_a_field_of_marshmallows_is_stored_as_its_field_says(odm):
    thing = odm.new_model("thing", {"v": mm.Dict(values=array(mm.Date()))})
    id_ = thing.insert_one(doc={"v": {"a": []}})["_id"]
    for form in ("2026-11-27", date(2026, 11, 27)):
        assert thing.find_one_and_update({"_id": id_}, {"$set": {"v.a": [form]}})["v"] == {"a": ["2026-11-27"]}
        assert thing.count({"v.a": form}) == 1


@pytest.mark.parametrize("partial", [True, ("line.day", "lines.day", "by.day")])
def test_what_a_schema_lets_be_absent_in_those_in_it_is_so_in_a_part_of_a_value(odm, partial):
    order = {"line": mm.Nested(Line), "lines": mm.List(mm.Nested(Line)), "by": mm.Dict(values=mm.Nested(Line))}
    thing = odm.new_model("thing", {"v": Schema.from_dict(order)(partial=partial)})
    parts = {"line": HALF, "lines": [HALF], "by": {"a": HALF}}
    id_ = thing.insert_one(doc={"v": parts})["_id"]
    for name, part in parts.items():
        assert thing.count({f"v.{name}": Operators({"$eq": part})}) == 1
        thing.find_one_and_update({"_id": id_}, {"$set": {f"v.{name}": part}})
    assert thing.count({"v": Operators({"$eq": parts})}) == 1
    assert refused(thing.find_one_and_update, filter={"_id": id_}, update={"$set": {"v.line": {"price": "x"}}}) == {
        "update.v.line.price": ["Not a valid number."]
    }


def test_hooks_run_a_second_time_only_for_what_is_not_given_as_it_is_shown(odm):
    runs = []

    class Seen(Schema):
        at = mm.DateTime()

        @post_load
        def note(self, data, **_):
            runs.append(data)
            return data

    thing = odm.new_model("thing", {"v": Seen})
    counts = []
    for at in ("2026-11-27T00:00:00.000Z", "2026-11-27T00:00:00", datetime(2026, 11, 27)):
        runs.clear()
        thing.insert_one(doc={"v": {"at": at}})
        counts.append(len(runs))
    assert counts == [1, 2, 2]
