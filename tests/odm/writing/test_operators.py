"""Update operators on each kind, on both adapters; what the copies make of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from bson import Decimal128
from marshmallow import fields as mm
from marshmallow import validate

from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm import Operators
from gatewayfw.odm.writing.operators import ON_INSERT, OPERATORS
from gatewayfw.schemas import (
    any_,
    array,
    date,
    decimal,
    integer,
    mapping,
    nullable,
    number,
    object_,
    optional,
    string,
)
from gatewayfw.storage.update_operators import OPERATORS as UPDATES
from tests.models import add_shop, define_offers

#: Finds the only document.
THE_ONE = {"_id": {"$exists": True}}
RANGE = "Must be greater than or equal to -5 and less than or equal to 1000."
BEYOND = "The number would leave 64 bits."
MISFIT = "Does not fit the value that is there."
PLACE = "An element has no name: set the whole list."
DISGUISED = "Keys may not start with $, but those of Operators in the server's code."
UNSORTED = "its $sort names no field that has an order"
DAYS = [datetime(2026, 1, day) for day in (1, 2, 3)]

PURE = {
    "i": optional(integer(minimum=-5, maximum=1000)),
    "n": optional(number()),
    "d": optional(decimal(places=2, maximum=1000)),
    "t": optional(date()),
    "o": optional(object_({"d": optional(decimal(places=1)), "tags": optional(array(string()))})),
    "prices": optional(mapping(decimal(places=2))),
    "free": optional(any_()),
    "tags": optional(array(string(), size=(1, None))),
    "marks": optional(
        array(object_({"at": optional(date()), "n": optional(integer()), "tags": optional(array(string()))}))
    ),
    "sums": optional(array(decimal(places=2))),
    "frees": optional(array(any_())),
    "mi": mm.Integer(),
    "mf": mm.Float(validate=validate.Range(max=100)),
    "md": mm.Decimal(),
    "mp": mm.Decimal(places=2),
    "ml": mm.List(mm.Date()),
    "mn": mm.Nested({"x": mm.Integer(), "l": mm.List(mm.Integer())}),
    "mtime": mm.Time(),
    "mday": mm.Date(),
    "mlast": mm.TimeDelta(),
}


@pytest.fixture
def things(odm):
    """A model with a field of each kind that operators change."""
    return odm.new_model("thing", PURE)


def stored(model):
    """What the database holds of the only document, without what is hidden."""
    (found,) = model._handle.database.storage.find(model.name, {})
    return {name: value for name, value in found.items() if name not in ("_id", "_gw")}


CHANGES = {
    "$mul of an integer": ({"i": 3}, {"$mul": {"i": -1}}, {"i": -3}),
    "$mul of a number": ({"n": 3}, {"$mul": {"n": 0.5}}, {"n": 1.5}),
    "$mul to 64 bits": ({"n": 2**61}, {"$mul": {"n": -4}}, {"n": -(2**63)}),
    "$mul of a decimal": ({"d": "2.50"}, {"$mul": {"d": 3}}, {"d": Decimal128("7.50")}),
    "$mul by a whole decimal": ({"d": "-2.50"}, {"$mul": {"d": Decimal("2.00")}}, {"d": Decimal128("-5.00")}),
    "$mul by text": ({"d": "2.50"}, {"$mul": {"d": "20"}}, {"d": Decimal128("50.00")}),
    "$mul by 1E+2": ({"d": "2.50"}, {"$mul": {"d": Decimal("1E+2")}}, {"d": Decimal128("250.00")}),
    "$mul of a decimal by 0": ({"d": "-2.50"}, {"$mul": {"d": 0}}, {"d": Decimal128("0.00")}),
    "$mul below an object": ({"o": {"d": "0.5"}}, {"$mul": {"o.d": 2}}, {"o": {"d": Decimal128("1.0")}}),
    "$mul in a mapping": (
        {"prices": {"de": "0.50"}},
        {"$mul": {"prices.de": 2}},
        {"prices": {"de": Decimal128("1.00")}},
    ),
    "$mul of what is free": ({"free": {"x": 2}}, {"$mul": {"free.x": 3}}, {"free": {"x": 6}}),
    "$mul of nothing": (
        {"prices": {}},
        {"$mul": {"i": 2, "n": 0.5, "d": 3, "o.d": 3, "prices.de": 2}},
        {
            **{"i": 0, "n": 0.0, "d": Decimal128("0.00"), "o": {"d": Decimal128("0.0")}},
            "prices": {"de": Decimal128("0.00")},
        },
    ),
    "$min": (
        {"i": 3, "n": 3, "d": "2.50"},
        {"$min": {"i": 2, "n": 3.5, "d": "2.5"}},
        {"i": 2, "n": 3, "d": Decimal128("2.50")},
    ),
    "$max": (
        {"i": 3, "n": 3, "d": "9.00"},
        {"$max": {"i": 2, "n": 3.5, "d": 10}},
        {"i": 3, "n": 3.5, "d": Decimal128("10.00")},
    ),
    "$min and $max of nothing": (
        {},
        {"$min": {"d": 1}, "$max": {"i": 2, "t": DAYS[0]}},
        {"d": Decimal128("1.00"), "i": 2, "t": DAYS[0]},
    ),
    "$min of a date": ({"t": DAYS[1]}, {"$min": {"t": "2026-01-01"}}, {"t": DAYS[0]}),
    "$max of a date": ({"t": DAYS[1]}, {"$max": {"t": DAYS[0]}}, {"t": DAYS[1]}),
    "$pop": ({"tags": ["a", "b", "c"]}, {"$pop": {"tags": 1}}, {"tags": ["a", "b"]}),
    "$pop of the first": ({"o": {"tags": ["a", "b"]}}, {"$pop": {"o.tags": -1}}, {"o": {"tags": ["b"]}}),
    "$pop of nothing": ({"o": {"tags": []}}, {"$pop": {"tags": 1, "o.tags": 1}}, {"o": {"tags": []}}),
    "$push at a place": (
        {"tags": ["a", "b"]},
        {"$push": {"tags": {"$each": ["c"], "$position": 1}}},
        {"tags": ["a", "c", "b"]},
    ),
    "$push of the last two": (
        {"tags": ["a", "b"]},
        {"$push": {"tags": {"$each": ["c"], "$slice": -2}}},
        {"tags": ["b", "c"]},
    ),
    "$push in order": (
        {"o": {"tags": ["b", "d"]}},
        {"$push": {"o.tags": {"$each": ["c", "a"], "$sort": -1, "$slice": 3}}},
        {"o": {"tags": ["d", "c", "b"]}},
    ),
    "$push of dates in order": (
        {"marks": [{"at": "2026-01-02", "n": 1}, {"n": 2}]},
        {"$push": {"marks": {"$each": [{"at": DAYS[2]}, {"at": "2026-01-01T01:00:00+01:00"}], "$sort": {"at": -1}}}},
        {"marks": [{"at": DAYS[2]}, {"at": DAYS[1], "n": 1}, {"at": DAYS[0]}, {"n": 2}]},
    ),
    "$push of decimals in order": (
        {"sums": ["10.00", "9.00"]},
        {"$push": {"sums": {"$each": ["9.5"], "$sort": 1}}},
        {"sums": [Decimal128("9.00"), Decimal128("9.50"), Decimal128("10.00")]},
    ),
    "$push of free elements in order": (
        {"frees": [{"n": 2}, 3]},
        {"$push": {"frees": Operators({"$each": [{"n": 1}], "$sort": {"n": 1}, "$slice": -2})}},
        {"frees": [{"n": 1}, {"n": 2}]},
    ),
    "$push of marshmallow's in order": (
        {"ml": ["2026-01-03"]},
        {"$push": {"ml": {"$each": ["2026-01-01"], "$sort": 1}}},
        {"ml": ["2026-01-01", "2026-01-03"]},
    ),
    "$mul of marshmallow's": (
        {"mi": 3, "mf": 2.5, "md": "1.5"},
        {"$mul": {"mi": 2, "mf": 2, "md": "0.5"}},
        {"mi": 6, "mf": 5.0, "md": Decimal128("0.75")},
    ),
    "$inc of marshmallow's decimal by a float": ({"md": "1.50"}, {"$inc": {"md": 0.1}}, {"md": Decimal128("1.60")}),
    "$inc of marshmallow's duration": ({"mlast": 0.1}, {"$inc": {"mlast": 0.2}}, {"mlast": 0.3}),
    "$inc by a duration": ({"mlast": 1.5}, {"$inc": {"mlast": timedelta(minutes=1)}}, {"mlast": 61.5}),
    "$mul of marshmallow's duration": ({"mlast": 1}, {"$mul": {"mlast": 1 / 3}}, {"mlast": 0.333333}),
    "$max of marshmallow's duration": ({"mlast": 1}, {"$max": {"mlast": timedelta(minutes=1)}}, {"mlast": 60.0}),
    "$min of marshmallow's day": ({"mday": "2026-01-02"}, {"$min": {"mday": DAYS[0].date()}}, {"mday": "2026-01-01"}),
    "$mul of marshmallow's places": ({"mp": "1.25"}, {"$mul": {"mp": "1.5"}}, {"mp": Decimal128("1.88")}),
    "$inc of marshmallow's places": ({"mp": "1.25"}, {"$inc": {"mp": "0.001"}}, {"mp": Decimal128("1.25")}),
    "$min and $max of marshmallow's": (
        {"mi": 3, "md": "1.5"},
        {"$min": {"mi": 2}, "$max": {"md": "1.6", "mf": 2}},
        {"mi": 2, "md": Decimal128("1.6"), "mf": 2.0},
    ),
    "$pop of marshmallow's": (
        {"ml": ["2026-01-01", "2026-01-02"], "mn": {"x": 2, "l": [1]}},
        {"$pop": {"ml": 1, "mn.l": -1}, "$mul": {"mn.x": 2}},
        {"ml": ["2026-01-01"], "mn": {"x": 4, "l": []}},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_operator_changes_a_field(things, name):
    before, update, after = CHANGES[name]
    things.insert_one(doc=before)
    shown = things.find_one_and_update(THE_ONE, update=update, projection={"_id": 0, **dict.fromkeys(PURE, 1)})
    assert stored(things) == after
    assert {name: repr(value) for name, value in shown.items()} == {
        name: repr(value) for name, value in things.find_one(projection={"_id": 0, **dict.fromkeys(PURE, 1)}).items()
    }


REFUSED = {
    "$inc beyond the places": ({"d": "2.50"}, {"$inc": {"d": "1.005"}}, "d", "Must have at most 2 decimal places."),
    "$mul of a duration by one": (
        {"mlast": 1},
        {"$mul": {"mlast": timedelta(1)}},
        "mlast",
        "Not a valid period of time.",
    ),
    "$inc of a duration by text": ({"mlast": 1}, {"$inc": {"mlast": "x"}}, "mlast", "Not a valid period of time."),
    "$set of an element": ({"tags": ["a"]}, {"$set": {"tags.0": "b"}}, "tags.0", PLACE),
    "$set in an element": ({"marks": [{"n": 1}]}, {"$set": {"marks.0.n": 2}}, "marks.0.n", PLACE),
    "$set of an element of marshmallow's": ({"ml": []}, {"$set": {"ml.0": "2026-01-01"}}, "ml.0", PLACE),
    "$mul beyond the maximum": ({"i": 3}, {"$mul": {"i": 1000}}, "i", RANGE),
    "$mul to a fraction": ({"i": 3}, {"$mul": {"i": 0.5}}, "i", "Not a valid integer."),
    "$mul beyond 64 bits": ({"n": 2**62}, {"$mul": {"n": 2}}, "n", BEYOND),
    "$mul beyond 64 bits in what is free": ({"free": {"x": -(2**62)}}, {"$mul": {"free.x": 3}}, "free.x", BEYOND),
    "$mul to infinity": ({"n": 1e300}, {"$mul": {"n": 1e300}}, "n", "Not a valid number."),
    "$mul by no number": ({"n": 1}, {"$mul": {"n": "2"}}, "n", "Not a valid number."),
    "$mul by null": ({"n": 1}, {"$mul": {"n": None}}, "n", "Not a valid number."),
    "$mul of a decimal by a fraction": ({"d": "2.50"}, {"$mul": {"d": "1.5"}}, "d", "Must be a whole number."),
    "$mul of a decimal by a float": (
        {"d": "2.50"},
        {"$mul": {"d": 2.0}},
        "d",
        'Not a valid decimal (text such as "12.50").',
    ),
    "$mul of a decimal beyond its maximum": (
        {"d": "2.50"},
        {"$mul": {"d": 401}},
        "d",
        "Must be less than or equal to 1000.00.",
    ),
    "$mul of a decimal beyond 34 digits": (
        {"prices": {"x": "3" * 32 + ".33"}},
        {"$mul": {"prices.x": 11}},
        "prices.x",
        "Must have at most 34 digits.",
    ),
    "$min below the minimum": ({"i": 3}, {"$min": {"i": -6}}, "i", RANGE),
    "$min of a value that is none": ({"t": DAYS[0]}, {"$min": {"t": "soon"}}, "t", "Not a valid ISO 8601 date."),
    "$max with too many places": ({"d": "2.50"}, {"$max": {"d": "2.555"}}, "d", "Must have at most 2 decimal places."),
    "$max of null": ({"i": 3}, {"$max": {"i": None}}, "i", "Field may not be null."),
    "$pop of 2": ({"tags": ["a", "b"]}, {"$pop": {"tags": 2}}, "tags", "Must be 1 or -1."),
    "$pop of true": ({"tags": ["a", "b"]}, {"$pop": {"tags": True}}, "tags", "Must be 1 or -1."),
    "$pop below the least": ({"tags": ["a"]}, {"$pop": {"tags": 1}}, "tags", "Shorter than minimum length 1."),
    "$push of too few": (
        {"tags": ["a"]},
        {"$push": {"tags": {"$each": ["b"], "$slice": 0}}},
        "tags",
        "Shorter than minimum length 1.",
    ),
    "$push of one that is none": (
        {"sums": []},
        {"$push": {"sums": {"$each": ["1", "x"], "$sort": 1}}},
        "sums.1",
        'Not a valid decimal (text such as "12.50").',
    ),
    "$push of free operators": ({"frees": []}, {"$push": {"frees": {"$each": [1], "$slice": 1}}}, "frees", DISGUISED),
    "$currentDate of false": ({"t": DAYS[0]}, {"$currentDate": {"t": False}}, "t", "Must be true."),
    "$currentDate of 1": ({"t": DAYS[0]}, {"$currentDate": {"t": 1}}, "t", "Must be true."),
    "$currentDate of a timestamp": (
        {"t": DAYS[0]},
        {"$currentDate": {"t": {"$type": "timestamp"}}},
        "t",
        "Must be true.",
    ),
    "$mul of marshmallow's beyond its maximum": (
        {"mf": 60.0},
        {"$mul": {"mf": 2}},
        "mf",
        "Must be less than or equal to 100.",
    ),
    "$inc of marshmallow's integer by a half": ({"mi": 1}, {"$inc": {"mi": 0.5}}, "mi", "Not a valid integer."),
    "$mul of marshmallow's beyond 64 bits": ({"mi": 2**62}, {"$mul": {"mi": 2}}, "mi", BEYOND),
    "$inc by no number": ({"i": 1}, {"$inc": {"i": "x"}}, "i", "Not a valid integer."),
    "$inc of what is free by no number": ({"free": 1}, {"$inc": {"free": "x"}}, "free", "Not a valid value."),
    "$mul of an integer by no number": ({"i": 1}, {"$mul": {"i": "x"}}, "i", "Not a valid integer."),
    "$pull of one that is none": ({"tags": ["a"]}, {"$pull": {"tags": 5}}, "tags", "Not a valid string."),
    "$pull by an order of none": ({"tags": ["a"]}, {"$pull": {"tags": {"$gt": 5}}}, "tags", "Not a valid string."),
    "$pull of one among some": (
        {"tags": ["a"]},
        {"$pull": {"tags": {"$in": ["a", 1]}}},
        "tags.1",
        "Not a valid string.",
    ),
    "$pull by a field": ({"marks": []}, {"$pull": {"marks": {"n": "x"}}}, "marks.n", "Not a valid integer."),
    "$addToSet of one that is none": ({"tags": ["a"]}, {"$addToSet": {"tags": 1}}, "tags", "Not a valid string."),
    "$pop of marshmallow's by 0": ({"ml": []}, {"$pop": {"ml": 0}}, "ml", "Must be 1 or -1."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_operator_is_refused_and_nothing_changed(things, name):
    before, update, path, message = REFUSED[name]
    things.insert_one(doc=before)
    was = stored(things)
    with pytest.raises(ValidationError) as caught:
        things.find_one_and_update(THE_ONE, update=update)
    assert caught.value.errors == {f"update.{path}": [message]}
    assert stored(things) == was


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"$inc": {"t": 2}}, "update: $inc t: not a number"),
        ({"$mul": {"t": 2}}, "update: $mul t: not a number"),
        ({"$mul": {"tags": 2}}, "update: $mul tags: not a number"),
        ({"$min": {"tags": 2}}, "update: $min tags: not a number or a date"),
        ({"$max": {"ml": 2}}, "update: $max ml: not a number or a date"),
        *(({name: {"i": 1}}, f"update: {name} i: not a list") for name in ("$push", "$addToSet", "$pull", "$pop")),
        ({"$currentDate": {"i": True}}, "update: $currentDate i: not a date"),
        ({"$currentDate": {"free": True}}, "update: $currentDate free: not a date"),
        ({"$currentDate": {"tags": True}}, "update: $currentDate tags: not a date"),
        ({"$currentDate": {"mtime": True}}, "update: $currentDate mtime: not a date"),
        ({"$currentDate": {"other": True}}, "update: $currentDate other: Not a pure field of the model."),
        ({"$set": {"t": DAYS[0]}, "$currentDate": {"t": True}}, "update: t is changed twice"),
        ({"$currentDate": True}, "update: $currentDate takes an object"),
        ({"$push": {"tags": {"$each": ["a"], "$sort": {"n": 1}}}}, "update: an element of tags has no field n"),
        ({"$push": {"marks": {"$each": [], "$sort": {"x": 1}}}}, "update: an element of marks has no field x"),
        ({"$push": {"marks": {"$each": [], "$sort": 1}}}, f"update: $push marks: {UNSORTED}"),
        ({"$push": {"marks": {"$each": [], "$sort": {"tags": 1}}}}, f"update: $push marks: {UNSORTED}"),
        ({"$pop": {"mi": 1}}, "update: $pop mi: not a list"),
        ({"$pop": {"other": 1}}, "update: $pop other: Not a pure field of the model."),
        ({"$inc": {"o.x": 1}}, "update: $inc o.x: Not a field of this object."),
        ({"$pull": {"tags": {"$foo": 1}}}, "update: unknown operator $foo"),
        ({"$pull": {"marks": {"n": {"$foo": 1}}}}, "update: unknown operator $foo"),
        ({"$pull": {"marks": {"x": 1}}}, "update: an element of marks has no field x"),
    ],
    ids=str,
)
def test_an_operator_on_another_kind_is_a_mistake_of_the_code(things, update, message):
    with pytest.raises(UsageError) as caught:
        things.find_one_and_update(THE_ONE, update=update)
    assert caught.value.message == message


def test_the_table_has_each_operator_of_the_storage():
    assert {row.sent_as or name for name, row in OPERATORS.items()} - {ON_INSERT} == UPDATES.keys()


# -- the current date

DATED = {
    "d": nullable(date()),
    "o": optional(object_({"at": optional(date())})),
    "log": optional(mapping(date())),
    "md": mm.DateTime(),
    "mnaive": mm.NaiveDateTime(timezone=UTC),
    "maware": mm.AwareDateTime(),
    "mday": mm.Date(),
}


def in_milliseconds(moment):
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def test_the_current_date_is_one_moment_in_the_form_of_each_field(odm):
    model = odm.new_model("log", DATED)
    model.insert_one(doc={"d": None, "o": {}, "log": {}, "mday": "2026-01-01"})
    before = in_milliseconds(datetime.now(UTC)).replace(tzinfo=None)
    update = {"$currentDate": {"d": True, "o.at": {"$type": "date"}, "log.x": True, "md": True}}
    model.find_one_and_update(THE_ONE, update={**update, "$set": {"mday": "2026-01-02"}})
    after, now = datetime.now(UTC).replace(tzinfo=None), stored(model)["d"]
    assert before <= now <= after
    assert stored(model) == {"d": now, "o": {"at": now}, "log": {"x": now}, "md": now, "mday": "2026-01-02"}


def test_the_current_date_of_marshmallows_fields(odm):
    model = odm.new_model("log", DATED)
    model.insert_one(doc={"d": None})
    update = {"$currentDate": dict.fromkeys(("d", "mnaive", "maware", "mday"), True)}
    shown = model.find_one_and_update(THE_ONE, update=update)
    now = stored(model)["d"]
    day = now.date().isoformat()
    assert stored(model) == {"d": now, "mnaive": now, "maware": now, "mday": day}
    assert {name: shown[name] for name in ("d", "mday")} == {"d": now, "mday": day}


def test_a_field_may_refuse_the_current_date(odm):
    model = odm.new_model("log", {"day": mm.Date(validate=validate.Range(max=DAYS[0].date()))})
    model.insert_one(doc={})
    with pytest.raises(ValidationError) as caught:
        model.find_one_and_update(THE_ONE, update={"$currentDate": {"day": True}})
    assert (list(caught.value.errors), stored(model)) == (["update.day"], {})


def test_copies_get_the_same_current_date(odm):
    offer = odm.new_model("offer", {"at": optional(date())})
    note = odm.new_model("note", {"n": integer()}, {"offer": {"schemaName": "offer", "type": "single"}})
    id_ = offer.insert_one(doc={}, projection={"_id": 1})["_id"]
    note.insert_one(doc={"n": 1}, relations={"offer": {"_ids": id_}})
    shown = offer.find_one_and_update({"_id": id_}, {"$currentDate": {"at": True}})
    assert note.find_one()["offer"] == shown


# -- null, and other values that an operator does not fit

CLEARED = {
    "i": nullable(integer()),
    "d": nullable(decimal(places=2)),
    "t": nullable(date()),
    "tags": nullable(array(string())),
    "o": nullable(object_({"a": optional(string()), "n": optional(integer()), "tags": optional(array(string()))})),
    "prices": nullable(mapping(integer())),
    "in": object_({"n": nullable(integer())}),
    "free": any_(),
    "mi": mm.Integer(allow_none=True),
    "ml": mm.List(mm.String(), allow_none=True),
    "mn": mm.Nested({"x": mm.Integer()}, allow_none=True),
}
NULLS = {**dict.fromkeys(CLEARED), "in": {"n": None}}


@pytest.fixture
def cleared(odm):
    """A model of fields that may be null, and a document in which all are."""
    model = odm.new_model("thing", CLEARED)
    model.insert_one(doc=NULLS)
    return model


@pytest.mark.parametrize(
    ("operator", "path", "value"),
    [
        *(("$inc", path, 1) for path in ("i", "d", "in.n", "mi", "free", "free.x", "o.n", "prices.de", "mn.x")),
        *(("$mul", path, 2) for path in ("i", "d", "in.n", "mi", "free", "free.x", "o.n", "prices.de", "mn.x")),
        *(("$min", path, 2) for path in ("o.n", "prices.de", "mn.x")),
        *(("$set", path, value) for path, value in (("o.a", "x"), ("prices.de", 1), ("free.x.y", 1), ("mn.x", 1))),
        *(("$push", path, "x") for path in ("tags", "o.tags", "ml")),
        ("$push", "tags", {"$each": ["x", "y"]}),
        ("$push", "tags", {"$each": ["x", "y"], "$position": 0, "$slice": 1, "$sort": 1}),
        *(("$addToSet", path, "x") for path in ("tags", "o.tags", "ml")),
        *(("$pull", path, "x") for path in ("tags", "o.tags", "ml")),
        *(("$pop", path, 1) for path in ("tags", "o.tags", "ml")),
    ],
    ids=str,
)
def test_an_operator_on_null_is_refused_and_named(cleared, operator, path, value):
    with pytest.raises(ValidationError) as caught:
        cleared.find_one_and_update(THE_ONE, update={operator: {path: value}})
    assert caught.value.errors == {f"update.{path}": [MISFIT]}
    assert stored(cleared) == NULLS


def test_null_is_the_least_and_can_be_unset_below(cleared):
    update = {"$max": {"i": 1, "t": DAYS[0]}, "$min": {"d": 1}, "$unset": {"o.a": ""}}
    cleared.find_one_and_update(THE_ONE, update=update)
    assert stored(cleared) == {**NULLS, "i": 1, "t": DAYS[0]}
    cleared.find_one_and_update(THE_ONE, update={"$min": {"i": None}, "$max": {"t": None}})
    assert stored(cleared) == {**NULLS, "t": DAYS[0]}


def test_of_several_operators_the_one_that_does_not_fit_is_named(cleared):
    cleared.find_one_and_update(THE_ONE, update={"$set": {"d": "1.00", "in": {"n": 1}, "ml": ["a"]}})
    was = stored(cleared)
    update = {"$inc": {"d": 1, "in.n": 1, "i": 1}, "$set": {"t": DAYS[0]}, "$push": {"ml": "b"}}
    with pytest.raises(ValidationError) as caught:
        cleared.find_one_and_update(THE_ONE, update=update)
    assert caught.value.errors == {"update.i": [MISFIT]}
    assert stored(cleared) == was


def test_an_operator_on_null_undoes_the_transaction_it_is_in(odm, cleared):
    def work():
        cleared.find_one_and_update(THE_ONE, update={"$set": {"i": 1}})
        cleared.find_one_and_update(THE_ONE, update={"$push": {"tags": "x"}})

    with pytest.raises(ValidationError):
        odm.transaction(work)
    assert stored(cleared) == NULLS


# -- copies


@pytest.mark.parametrize(
    ("kind", "values", "update", "expected"),
    [
        (decimal(places=2), ("3.00", "2.00", "1.00"), {"$mul": {"x": 4}}, ["4.00", "3.00"]),
        (integer(), (3, 2, 1), {"$mul": {"x": 4}}, ["4", "3"]),
        (integer(), (3, 2, 1), {"$max": {"x": 5}}, ["5", "3"]),
        (
            date(),
            ("2026-01-03", "2026-01-02", "2026-01-01"),
            {"$max": {"x": "2026-01-04"}},
            ["2026-01-04 00:00:00", "2026-01-03 00:00:00"],
        ),
        (mm.Integer(), (3, 2, 1), {"$mul": {"x": 4}}, ["4", "3"]),
    ],
    ids=["decimal $mul", "integer $mul", "integer $max", "date $max", "Integer $mul"],
)
def test_copies_and_windows_follow(odm, kind, values, update, expected):
    shop, offer = define_offers(odm, {"x": kind, "tags": array(string())})
    note = odm.new_model("note", {"n": integer()}, {"offer": {"schemaName": "offer", "type": "single"}})
    id_, link = add_shop(shop)
    made = [
        offer.insert_one(doc={"x": x, "tags": ["a", "b"]}, relations=link, projection={"_id": 1})["_id"] for x in values
    ]
    note.insert_one(doc={"n": 1}, relations={"offer": {"_ids": made[2]}})
    offer.find_one_and_update({"_id": made[2]}, {**update, "$pop": {"tags": 1}})
    window = shop.find_one({"_id": id_}, projection={"first": 1})["first"]
    assert [str(one["x"]) for one in window] == expected
    assert [one["tags"] for one in window] == [["a"], ["a", "b"]]
    assert note.find_one()["offer"]["tags"] == ["a"]
    assert list(odm.integrity.check()) == []


def test_a_correction_reaches_the_copies(odm):
    offer = odm.new_model("offer", {"n": integer(), "x": optional(decimal(places=2))})
    note = odm.new_model("note", {"n": integer()}, {"offer": {"schemaName": "offer", "type": "single"}})
    id_ = offer.insert_one(doc={"n": 1}, projection={"_id": 1})["_id"]
    note.insert_one(doc={"n": 1}, relations={"offer": {"_ids": id_}})
    offer.find_one_and_update({"_id": id_}, {"$mul": {"x": 2}})
    (found,) = odm.storage.find("note", {})
    assert str(found["offer"]["x"]) == "0.00"
