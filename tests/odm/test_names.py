"""Names of fields and keys are data: what goes in comes out, whatever dictionaries and objects call their members."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import Schema, post_load
from marshmallow import fields as mm

from gatewayfw.schemas import Schemas, any_, array, compile_struct, mapping, object_, optional, string
from gatewayfw.settings import Settings
from tests.models import read_stored

#: What attributes of a dictionary, of any object, and of objects of JavaScript are called.
MEMBERS = sorted({*dir(dict), "constructor", "hasOwnProperty", "isPrototypeOf", "toString", "valueOf", "__proto__"})


def nested(fields):
    """A field of marshmallow's with these parts, in the form that most write."""
    return mm.Nested(Schema.from_dict(fields))


#: How fields that may be absent are held: the field of them, and the value that holds their values.
HOLDERS: dict[str, Any] = {
    "Nested": (nested, lambda value: value),
    "Nested, many": (lambda fields: mm.Nested(Schema.from_dict(fields), many=True), lambda value: [value]),
    "Nested, by a function": (lambda fields: mm.Nested(lambda: Schema.from_dict(fields)()), lambda value: value),
    "Nested in Nested": (lambda fields: nested({"get": nested(fields)}), lambda value: {"get": value}),
    "List of Nested": (lambda fields: mm.List(nested(fields)), lambda value: [value]),
    "Dict of Nested": (lambda fields: mm.Dict(values=nested(fields)), lambda value: {"pop": value}),
    "Schema": (lambda fields: Schema.from_dict(fields), lambda value: value),
    "Nested in a Schema": (lambda fields: Schema.from_dict({"keys": nested(fields)}), lambda value: {"keys": value}),
    "object_ of Nested": (lambda fields: object_({"get": nested(fields)}), lambda value: {"get": value}),
    "array of Nested": (lambda fields: array(nested(fields)), lambda value: [value]),
    "mapping of Nested": (lambda fields: mapping(nested(fields)), lambda value: {"items": value}),
    "object_": (object_, lambda value: value),
    "Nested of object_": (lambda fields: nested({"copy": object_(fields)}), lambda value: {"copy": value}),
    "mapping": (lambda fields: mapping(string()), lambda value: value),
    "any_": (lambda fields: any_(), lambda value: value),
}


#: Which names a value has; all others are absent from it.
PRESENT = {"none": [], "one in two": MEMBERS[::2], "the others": MEMBERS[1::2], "all": MEMBERS}


@pytest.mark.parametrize("present", PRESENT)
@pytest.mark.parametrize("holder", HOLDERS)
def test_a_name_is_never_taken_for_a_member(odm, holder, present):
    make, hold = HOLDERS[holder]
    part = optional(string()) if "object_" in holder and "of Nested" not in holder else mm.String()
    field, value = make(dict.fromkeys(MEMBERS, part)), hold(dict.fromkeys(PRESENT[present], "x"))
    details = {"set": {"v": value}, "get": {}}
    struct = compile_struct({"set": {"v": field}, "get": {}}, Schemas(Settings()))
    thing = odm.new_model("thing", {"v": field})
    made = thing.insert_one(doc={"v": value})
    seen = [
        *(struct.check(details, mode)["set"]["v"] for mode in ("assert", "create")),
        *(read_stored(odm, thing, {})["v"], made["v"]),
        *(doc["v"] for doc in thing.find(filters={"v": value}).to_list()),
        thing.find_one_and_update(filter={"v": value}, update={"$set": {"v": made["v"]}})["v"],
    ]
    assert seen == [value] * 6


def test_objects_of_a_users_class_are_read_by_attribute(odm):
    class Point:
        x, get = 5, "y"

    class Made(Schema):
        x, get = mm.Integer(), mm.String()
        make = post_load(lambda self, data, **_: Point())

    thing = odm.new_model("thing", {"v": mm.List(mm.Nested(Made))})
    thing.insert_one(doc={"v": [{"x": 5, "get": "y"}]})
    assert read_stored(odm, thing, {}) == {"v": [{"x": 5, "get": "y"}]}
