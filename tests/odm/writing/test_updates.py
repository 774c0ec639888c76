"""Update operators, on the document and on its copies."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta, timezone

import marshmallow
import pytest
from bson import Decimal128, ObjectId

from gatewayfw.errors import StorageError, ValidationError
from gatewayfw.odm import Operators
from gatewayfw.odm.writing.operators import ANY, OPERATORS, Given
from gatewayfw.odm.writing.updates import Change, change_of, refusal_of, stored_update
from gatewayfw.schemas import Schemas, any_, array, date, integer, number, object_, object_id, optional, string
from gatewayfw.schemas.fields import decimal
from gatewayfw.settings import Settings

#: The filter that means any document; an empty one is refused.
THE_ONE = {"_id": {"$exists": True}}
BEYOND = "The number would leave 64 bits."


@pytest.fixture
def city(world):
    land = world.add_country("land")
    return world.add_city("city", land, tags=["a", "b"], population=5)


@pytest.mark.parametrize(
    ("update", "changed"),
    [
        ({"$set": {"name": "new"}}, {"name": "new"}),
        ({"$set": {"tags": []}}, {"tags": []}),
        ({"$unset": {"population": ""}}, {"population": None}),
        ({"$inc": {"population": 2}}, {"population": 7}),
        ({"$push": {"tags": "c"}}, {"tags": ["a", "b", "c"]}),
        ({"$push": {"tags": {"$each": ["c", "a"]}}}, {"tags": ["a", "b", "c", "a"]}),
        ({"$addToSet": {"tags": "a"}}, {"tags": ["a", "b"]}),
        ({"$addToSet": {"tags": {"$each": ["a", "c"]}}}, {"tags": ["a", "b", "c"]}),
        ({"$pull": {"tags": "a"}}, {"tags": ["b"]}),
        ({"$pull": {"tags": {"$in": ["a", "b"]}}}, {"tags": []}),
        ({"$set": {"name": "new"}, "$inc": {"population": -5}}, {"name": "new", "population": 0}),
    ],
)
def test_operators_change_the_document_and_its_copies(world, city, update, changed):
    wanted = {"_id": city, "name": "city", "population": 5, "tags": ["a", "b"], **changed}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    shown = world.city.find_one_and_update(
        filter={"_id": city}, update=update, projection={"name": 1, "population": 1, "tags": 1}
    )
    assert shown == wanted
    assert world.country.find_one(filters={}, projection={"cities": 1})["cities"] == [wanted]


def test_paths_below_objects_are_set_and_unset(world):
    person = world.add_person("p", address={"street": "s", "zip": "z"}, extra={"a": {"b": 1}})
    update = {"$set": {"address.street": "t", "extra.a.c": 2}, "$unset": {"address.zip": "", "extra.a.b": ""}}
    get = {"address": 1, "extra": 1, "_id": 0}
    shown = world.person.find_one_and_update(filter={"_id": str(person)}, update=update, projection=get)
    assert shown == {"address": {"street": "t"}, "extra": {"a": {"c": 2}}}


def test_without_projection_everything_visible_is_returned(world, city):
    shown = world.city.find_one_and_update(filter={"_id": city}, update={"$set": {"name": "new"}})
    assert shown == world.city.find_one(filters={"_id": city})


def test_only_fields_of_a_copy_are_brought_to_it(world):
    land = world.add_country("land")
    city = world.add_city("city", land)
    before = world.raw(world.city, city)
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"secret": "s"}})
    assert world.raw(world.city, city) == before


def test_ids_and_dates_are_converted_where_elements_are_pulled(odm):
    kind = array(object_({"id": object_id(), "at": date()}))
    model = odm.new_model("log", {"entries": kind})
    entries = [{"id": letter * 24, "at": f"2026-01-0{number}"} for number, letter in enumerate("ab", 1)]
    id_ = model.insert_one(doc={"entries": entries})["_id"]
    update = {"$pull": {"entries": {"id": "A" * 24}}}
    shown = model.find_one_and_update(filter={"_id": id_}, update=update)
    assert shown == {"_id": id_, "entries": [{"id": ObjectId("b" * 24), "at": datetime(2026, 1, 2)}]}


def test_dates_in_free_values_come_back_as_they_are_shown(world):
    moment = datetime(2026, 1, 1, 2, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
    shown = world.person.insert_one(doc={"name": "x", "extra": {"at": [moment]}}, projection={"extra": 1})
    assert shown["extra"] == {"at": [datetime(2026, 1, 1, 0, 0, 0, 123000)]}
    assert world.person.find_one(projection={"extra": 1}) == shown


# -- what an update means, and what its result may be; pure

FIELDS = {
    "i": optional(integer(minimum=0)),
    "d": optional(decimal(places=2)),
    "at": optional(date()),
    "o": optional(object_({"d": optional(decimal(places=1)), "tags": optional(array(string()))})),
    "tags": array(string()),
    "frees": optional(array(any_())),
    "free": optional(any_()),
    "m": marshmallow.fields.Integer(error_messages={"invalid": "Not {input}."}),
}
THING = Schemas(Settings()).add("thing", FIELDS)
UPDATES = {
    "$set": ({"$set": {"i": 1, "tags": ["a"]}}, ({"$set": {"i": 1, "tags": ["a"]}}, {"i", "tags"}, set(), ())),
    "below": (
        {"$set": {"o.d": "1"}, "$unset": {"i": 7, "o.tags": 1}},
        ({"$set": {"o.d": Decimal128("1.0")}, "$unset": {"i": "", "o.tags": ""}}, {"i", "o"}, {"i", "o"}, ()),
    ),
    "arithmetic": (
        {"$inc": {"i": 1, "d": "2"}, "$mul": {"free.x": 3, "o.d": "2.00"}, "$min": {"at": "2026-01-01"}},
        (
            {
                "$inc": {"i": 1, "d": Decimal128("2.00")},
                "$mul": {"free.x": 3, "o.d": Decimal128("2")},
                "$min": {"at": datetime(2026, 1, 1)},
            },
            {"i", "d", "free", "o", "at"},
            {"i", "d", "free", "o", "at"},
            (("i", 1), ("d", Decimal128("2.00")), ("free.x", 3), ("o.d", Decimal128("2"))),
        ),
    ),
    "lists": (
        {"$push": {"tags": {"$each": ["a"], "$slice": 1}}, "$pull": {"frees": {"a": 1}}, "$pop": {"o.tags": -1}},
        (
            {
                "$push": {"tags": {"$each": ["a"], "$slice": 1}},
                "$pull": {"frees": {"$in": [{"a": 1}]}},
                "$pop": {"o.tags": -1},
            },
            {"tags", "frees", "o"},
            {"tags", "frees", "o"},
            (),
        ),
    ),
}


@pytest.mark.parametrize("row", UPDATES)
def test_an_update_names_what_it_changes_calculates_and_leaves_to_be_checked(row):
    given, (update, named, recheck, calculated) = UPDATES[row]
    assert stored_update(THING, given) == Change(update, frozenset(named), frozenset(recheck), calculated)


def test_all_that_is_wrong_with_an_update_is_told():
    with pytest.raises(ValidationError) as raised:
        stored_update(
            THING, {"$set": {"other": 1, "i": "x", "o.x": 1}, "$unset": {"tags": "", "at": ""}, "$inc": {"m": ""}}
        )
    assert raised.value.errors == {
        "update.other": ["Not a pure field of the model."],
        "update.i": ["Not a valid integer."],
        "update.o.x": ["Not a field of this object."],
        "update.tags": ["Missing data for required field."],
        "update.m": ["Not a valid number."],
    }


def test_a_row_makes_an_arithmetic_operator(monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.writing.updates.OPERATORS", {"$new": OPERATORS["$inc"], **OPERATORS})
    steps = [(Given(operator, "i", 2, ANY, datetime.now(UTC)), 2) for operator in ("$min", "$new")]
    assert change_of(steps).calculated == (("i", 2),)


def test_the_current_date_is_that_of_no_zone(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tokyo")
        time.tzset()
        moment = stored_update(THING, {"$currentDate": {"at": True}}).update["$set"]["at"]
    time.tzset()
    assert abs(moment.replace(tzinfo=UTC) - datetime.now(UTC)) < timedelta(minutes=10)


def test_a_refusal_of_the_storage_names_what_the_change_names():
    change = stored_update(THING, {"$inc": {"i": 1}, "$push": {"tags": "a"}})
    refused = {"update.i": ["no"], "update._gw.v": ["no"], "update.tags": ["never"]}
    error = refusal_of(change, ValidationError(refused))
    assert type(error) is ValidationError
    assert error.errors == {"update.i": ["no"], "update.tags": ["never"]}
    assert type(refusal_of(change, ValidationError({"update._gw.v": ["no"]}))) is StorageError


# -- elements of free kinds: data is never an operator


@pytest.fixture
def marks(odm):
    """A model of lists whose elements are free, free objects, and objects with a free field; one document."""
    entry = object_({"id": integer(), "note": optional(any_()), "more": optional(array(object_({"x": any_()})))})
    fields = {"free": array(any_()), "objects": array(object_()), "entries": array(entry), "texts": array(string())}
    model = odm.new_model("marks", {**fields, "users": array(marshmallow.fields.Dict())})
    entries = [{"id": 1, "note": "a", "more": [{"x": 1}]}, {"id": 2, "note": {"b": 1}}]
    free = [1, "a", None, {"a": 1}, {"a": 1, "b": 2}]
    model.insert_one({"free": free, "objects": free[3:], "users": free[3:], "entries": entries, "texts": ["a", "b"]})
    return model


DISGUISED = "Keys may not start with $, but those of Operators in the server's code."


@pytest.mark.parametrize("operator", ["$push", "$addToSet", "$pull"])
@pytest.mark.parametrize("field", ["free", "objects", "users"])
@pytest.mark.parametrize(
    "value",
    [{"$ne": None}, {"$each": [1]}, {"$in": [1]}, {"$position": 0}, {"$where": "1"}, {"$and": []}, {"$": 1}],
    ids=str,
)
def test_values_of_free_elements_never_act_as_operators(marks, operator, field, value):
    before = marks.find_one()
    with pytest.raises(ValidationError) as raised:
        marks.find_one_and_update(THE_ONE, {operator: {field: value}})
    assert raised.value.errors == {f"update.{field}": [DISGUISED]}
    assert marks.find_one() == before


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("note", {"note": {"$ne": None}}),
        ("note.deep", {"note.deep": {"$exists": True}}),
        ("more.x", {"more": {"$elemMatch": {"x": {"$gt": 0}}}}),
        ("more.x", {"id": 1, "more": {"$elemMatch": {"$or": [{"x": {"$gt": 0}}]}}}),
    ],
    ids=str,
)
def test_values_of_free_fields_of_elements_never_act_as_operators(marks, path, value):
    before = marks.find_one()
    with pytest.raises(ValidationError) as raised:
        marks.find_one_and_update(THE_ONE, {"$pull": {"entries": value}})
    assert raised.value.errors == {f"update.entries.{path}": [DISGUISED]}
    assert marks.find_one() == before


@pytest.fixture
def rows(odm):
    """A model of lists in which free elements stand one level down, and one document."""
    row = object_({"l": optional(array(any_())), "more": optional(array(object_({"x": array(any_())})))})
    model = odm.new_model(
        "rows", {"rows": array(row), "lists": array(array(any_())), "grid": array(array(object_({"x": any_()})))}
    )
    lists = {"lists": [[1], [{"a": 1}]], "grid": [[{"x": 1}]]}
    model.insert_one({"rows": [{"l": [1, 2], "more": [{"x": [1]}]}, {"l": [5]}], **lists})
    return model


@pytest.mark.parametrize(
    ("operator", "field", "path", "value"),
    [
        ("$pull", "rows", "rows.l", {"l": {"$ne": 5}}),
        ("$pull", "rows", "rows.l", {"l": {"$elemMatch": {"x": 1}}}),
        ("$pull", "rows", "rows.l.0", {"l.0": {"$ne": 5}}),
        ("$pull", "rows", "rows.more.x", {"more.x": {"$ne": 5}}),
        ("$pull", "lists", "lists", {"$ne": None}),
        ("$pull", "lists", "lists", {"$elemMatch": {"a": 1}}),
        ("$pull", "grid", "grid.x", {"$elemMatch": {"x": {"$ne": 5}}}),
        ("$push", "lists", "lists", {"$each": [[1]]}),
        ("$addToSet", "lists", "lists", {"$each": [[1]]}),
    ],
    ids=str,
)
def test_values_of_free_elements_in_lists_below_never_act_as_operators(rows, operator, field, path, value):
    before = rows.find_one()
    with pytest.raises(ValidationError) as raised:
        rows.find_one_and_update(THE_ONE, {operator: {field: value}})
    assert raised.value.errors == {f"update.{path}": [DISGUISED]}
    assert rows.find_one() == before


def test_free_elements_in_lists_below_are_pulled_by_value_or_by_said_operators(rows):
    assert shown_after(rows, {"$pull": {"lists": [{"a": 1}]}}, "lists") == [[1]]
    assert shown_after(rows, {"$push": {"lists": Operators({"$each": [[2], [3]]})}}, "lists") == [[1], [2], [3]]
    assert shown_after(rows, {"$pull": {"lists": Operators({"$ne": None})}}, "lists") == []
    assert [one["l"] for one in shown_after(rows, {"$pull": {"rows": {"l": 5}}}, "rows")] == [[1, 2]]
    assert shown_after(rows, {"$pull": {"rows": {"l": Operators({"$ne": 5})}}}, "rows") == []


def shown_after(model, update, field):
    return model.find_one_and_update(THE_ONE, update, projection={field: 1, "_id": 0})[field]


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (1, ["a", None, {"a": 1}, {"a": 1, "b": 2}]),
        (None, [1, "a", {"a": 1}, {"a": 1, "b": 2}]),
        ({"a": 1}, [1, "a", None, {"a": 1, "b": 2}]),
        ({}, [1, "a", None, {"a": 1}, {"a": 1, "b": 2}]),
        (Operators({"a": 1}), [1, "a", None]),
        (Operators({"$gt": 0}), ["a", None, {"a": 1}, {"a": 1, "b": 2}]),
        (Operators({"$in": [1, "a"]}), [None, {"a": 1}, {"a": 1, "b": 2}]),
        (Operators({"b": {"$exists": True}}), [1, "a", None, {"a": 1}]),
    ],
    ids=lambda value: f"{type(value).__name__} {value}",
)
def test_free_elements_are_pulled_by_value_or_by_said_operators(marks, value, left):
    assert shown_after(marks, {"$pull": {"free": value}}, "free") == left


def test_free_elements_are_added_by_value_or_by_said_operators(marks):
    marks.find_one_and_update(THE_ONE, {"$set": {"free": []}})
    assert shown_after(marks, {"$push": {"free": {"x": [1]}}}, "free") == [{"x": [1]}]
    assert shown_after(marks, {"$push": {"free": Operators({"$each": [1, 2]})}}, "free") == [{"x": [1]}, 1, 2]
    assert shown_after(marks, {"$addToSet": {"free": Operators({"$each": [2, 3]})}}, "free") == [{"x": [1]}, 1, 2, 3]
    with pytest.raises(ValidationError) as raised:
        marks.find_one_and_update(THE_ONE, {"$push": {"free": Operators({"$each": [{"$x": 1}]})}})
    assert raised.value.errors == {"update.free.0.$x": ["Not a key the database can hold."]}


def test_described_elements_need_no_word_for_operators(marks):
    assert shown_after(marks, {"$pull": {"texts": {"$gt": "a"}}}, "texts") == ["a"]
    assert shown_after(marks, {"$push": {"texts": {"$each": ["x"]}}}, "texts") == ["a", "x"]
    assert [one["id"] for one in shown_after(marks, {"$pull": {"entries": {"note": {"b": 1}}}}, "entries")] == [1]
    more = [{"id": 2}, {"id": 3}]
    shown_after(marks, {"$push": {"entries": {"$each": more}}}, "entries")
    assert (
        shown_after(marks, {"$pull": {"entries": {"id": {"$lt": 3}, "note": Operators({"$exists": True})}}}, "entries")
        == more
    )
    assert shown_after(marks, {"$pull": {"entries": Operators({"note": {"$exists": False}})}}, "entries") == []


# -- numbers beyond 64 bits


@pytest.fixture
def counters(odm):
    """A model of numbers at the upper end of 64 bits, and one document."""
    fields = {"n": integer(), "m": number(), "o": object_({"k": integer()}), "free": any_()}
    model = odm.new_model("counters", fields)
    model.insert_one({"n": 2**63 - 1, "m": 2**63 - 1, "o": {"k": -(2**63)}, "free": {"x": 2**63 - 1}})
    return model


@pytest.mark.parametrize(("path", "step"), [("n", 1), ("n", 2**63 - 1), ("m", 1), ("o.k", -1), ("free.x", 1)], ids=str)
def test_an_increment_beyond_64_bits_is_refused(counters, path, step):
    before = counters.find_one()
    with pytest.raises(ValidationError) as raised:
        counters.find_one_and_update(THE_ONE, {"$inc": {path: step}})
    assert raised.value.errors == {f"update.{path}": [BEYOND]}
    assert counters.find_one() == before


def test_an_increment_up_to_64_bits_is_done(counters):
    changed = counters.find_one_and_update(
        THE_ONE, {"$inc": {"n": -1, "o.k": 1}}, projection={"n": 1, "o": 1, "_id": 0}
    )
    assert changed == {"n": 2**63 - 2, "o": {"k": 1 - 2**63}}
    assert counters.find_one_and_update(THE_ONE, {"$inc": {"n": 1}})["n"] == 2**63 - 1


def test_an_increment_beyond_64_bits_undoes_the_transaction_it_is_in(odm, counters):
    def work():
        counters.find_one_and_update(THE_ONE, {"$set": {"m": 1}})
        counters.find_one_and_update(THE_ONE, {"$inc": {"n": 1}})

    with pytest.raises(ValidationError, match=f"update.n: {BEYOND}"):
        odm.transaction(work)
    assert counters.find_one()["m"] == 2**63 - 1
