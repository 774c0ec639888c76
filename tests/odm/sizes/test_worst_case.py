"""Worst-case sizes: exact where kinds have maxima, those of the settings where not, and named there."""

from __future__ import annotations

from datetime import datetime

import bson
import pytest
from bson import Int64, ObjectId
from marshmallow import INCLUDE, Schema, fields, validate

from gatewayfw.odm.sizes.budgets import MOST_BYTES, Part, copies_bytes, own_bytes, worst_sizes
from gatewayfw.schemas import (
    Schemas,
    any_,
    array,
    boolean,
    date,
    email,
    enums,
    integer,
    number,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.settings import Settings

ID, WIDE = ObjectId("f" * 24), "\U0001f600"
BIG = Int64(2**62)


class Point(Schema):
    x = fields.Integer()
    label = fields.String(validate=validate.Length(max=3))


class Open(Schema):
    class Meta:
        unknown = INCLUDE


class Moment(Schema):
    at = fields.DateTime()
    note = fields.String()


def schemas_of(**models):
    """Schemas of models, each given as (pure fields, relations)."""
    schemas = Schemas(Settings(max_text=7, document_bytes=1000))
    for name, (pure, relations) in models.items():
        schemas.add(name, pure, relations)
    return schemas


def part(field):
    """The bytes of one field's part, and what was assumed."""
    (size,) = worst_sizes(schemas_of(thing=({"field": field}, {})))
    (found,) = [one for one in size.parts if one.name == "field"]
    return found.bytes, size.unstated


@pytest.mark.parametrize(
    ("kind", "largest"),
    [
        (string(size=(None, 7)), WIDE * 7),
        (string(size=3), WIDE * 3),
        (optional(string(size=(1, 2))), WIDE * 2),
        (number(), 1.5),
        (integer(), BIG),
        (boolean(), True),
        (date(), "date"),
        (object_id(), ID),
        (enums("a", "é" * 40, 3), "é" * 40),
        (enums(1, 2), BIG),
        (array(string(size=(None, 2)), size=(None, 11)), [WIDE * 2] * 11),
        (object_({"a": number(), "b": optional(boolean())}), {"a": 1.5, "b": True}),
        (array(object_({"a": object_id()}), size=2), [{"a": ID}] * 2),
        (Point, {"x": BIG, "label": WIDE * 3}),
    ],
)
def test_a_kind_with_a_maximum_counts_to_the_byte(kind, largest):
    value = datetime(2024, 1, 1) if largest == "date" else largest
    assert part(kind) == (len(bson.encode({"field": value})) - len(bson.encode({})), ())


@pytest.mark.parametrize(
    ("kind", "largest", "path"),
    [
        (string(), WIDE * 7, "thing.field"),
        (string(size=(3, None)), WIDE * 7, "thing.field"),
        (string(size=(9, None)), WIDE * 9, "thing.field"),
        (string(pattern="a+"), WIDE * 7, "thing.field"),
        (array(string(), size=2), [WIDE * 7] * 2, "thing.field[]"),
        (object_({"deep": optional(string())}), {"deep": WIDE * 7}, "thing.field.deep"),
    ],
)
def test_a_text_without_a_maximum_counts_with_the_settings_and_is_named(kind, largest, path):
    assert part(kind) == (len(bson.encode({"field": largest})) - len(bson.encode({})), (path,))


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (any_(), "thing.field"),
        (object_(), "thing.field"),
        (array(number()), "thing.field"),
        (array(any_(), size=2), "thing.field[]"),
        (array(string(size=5), size=(2, None)), "thing.field"),
        (object_({"deep": array(number())}), "thing.field.deep"),
        (fields.String(), "thing.field"),
        (fields.Dict(), "thing.field"),
        (Open, "thing.field"),
        (Point(many=True), "thing.field"),
        (Moment, "thing.field.note"),
    ],
)
def test_what_has_no_maximum_counts_with_that_of_the_document_and_is_named(kind, path):
    schemas = schemas_of(thing=({"field": kind, "other": kind, "name": string(size=5)}, {}))
    (size,) = worst_sizes(schemas)
    hidden = next(one.bytes for one in size.parts if one.name == "_gw")
    assert part(kind) == (1000 + len("field") + 2, (path,))
    assert size.bytes - hidden - len(bson.encode({"_id": ID})) + 5 == 1000
    assert own_bytes(schemas.get_schema("thing")) >= ENDLESS


def test_the_own_bytes_are_those_of_all_pure_fields_of_a_document():
    (schema,) = (
        schemas_of(
            thing=({"a": string(), "b": optional(array(number(), size=(None, 12))), "none": array(any_(), size=0)}, {})
        )
        .get_schemas()
        .values()
    )
    assert own_bytes(schema) == len(bson.encode({"a": WIDE * 7, "b": [1.5] * 12, "none": []}))


def test_lists_of_any_length_are_counted_at_once():
    (schema,) = schemas_of(thing=({"a": array(boolean(), size=(None, 2**30))}, {})).get_schemas().values()
    digits = 1 + sum(len(str(10**power)) * 9 * 10**power for power in range(9)) + 10 * (2**30 - 10**9)
    assert own_bytes(schema) == 2**30 * 3 + digits + len(bson.encode({"a": []}))


def test_copies_count_with_no_more_than_a_document_may_have():
    relation = {"many": {"schemaName": "leaf", "type": "multiple", "limit": 100}}
    _, size = worst_sizes(schemas_of(leaf=({"a": any_(), "b": any_()}, {}), tree=({}, relation)))
    many = next(one for one in size.parts if one.name == "many")
    assert many.count == 100
    assert many.each == 1000 + len(bson.encode({"_id": ID})) - 5
    assert size.unstated == ("leaf.a", "leaf.b")


def test_the_bytes_of_copies_are_those_of_their_parts():
    many = {"schemaName": "leaf", "type": "multiple", "limit": 50}
    relation = {"leaf": {"schemaName": "leaf", "type": "single"}, "many": many}
    schemas = schemas_of(leaf=({"a": number()}, {}), tree=({}, relation))
    _, size = worst_sizes(schemas)
    copy = {"_id": ID, "a": 1.5}
    parts = [one for one in size.parts if one.name in relation]
    assert parts == [
        Part("many", len(bson.encode({"many": [copy] * 50})) - 5, 50, len(bson.encode(copy))),
        Part("leaf", len(bson.encode({"leaf": copy})) - 5, 1, len(bson.encode(copy))),
    ]
    assert copies_bytes(schemas, schemas.get_relations("tree").values()) == sum(one.bytes for one in parts)
    assert MOST_BYTES == 2**24


def test_an_email_has_the_maximum_of_its_rfc():
    assert part(email()) == (len(bson.encode({"field": "x" * 254})) - len(bson.encode({})), ())


def test_relations_and_reverses_count_full():
    reverses = {"cities": {"type": "multiple", "limit": 12}, "capital": {"type": "single", "excludes": ["size"]}}
    relation = {"land": {"schemaName": "land", "type": "single", "relatedRelations": reverses}}
    trips = {"trips": {"type": "multiple", "limit": 1}}
    schemas = schemas_of(
        land=({"name": string(size=(None, 5))}, {}),
        city=({"name": string(size=(None, 5)), "size": number()}, relation),
        trip=({}, {"lands": {"schemaName": "land", "type": "multiple", "limit": 101, "relatedRelations": trips}}),
    )
    land = {"_id": ID, "name": WIDE * 5}
    city = {**land, "size": 1.5}
    hidden = {"rev": BIG, "v": BIG, "r": BIG}

    outs = {"out": {}, "some": {}, "in": {}}

    def out(*names):
        return {name: [ID] for name in names}

    expected = {
        "land": {
            **land,
            "cities": [city] * 12,
            "capital": land,
            "trips": [{"_id": ID}],
            "_gw": {**hidden, "at": {}, **outs},
        },
        "city": {
            **city,
            "land": land,
            "_gw": {**hidden, "at": {"land": {str(ID): BIG}}, **outs, "out": {"land": out("cities", "capital")}},
        },
        "trip": {
            "_id": ID,
            "lands": [land] * 101,
            "_gw": {
                **hidden,
                "at": {"lands": {str(ObjectId(f"{number:024x}")): BIG for number in range(101)}},
                "out": {},
                "some": {"lands": {"trips": True}},
                "in": {"lands": {"trips": [ID] * 101}},
            },
        },
    }
    sizes = {size.model: size.bytes for size in worst_sizes(schemas)}
    assert sizes == {name: len(bson.encode(document)) for name, document in expected.items()}


def test_parts_come_with_counts_the_largest_first():
    relation = {"many": {"schemaName": "leaf", "type": "multiple", "limit": 100}}
    _, size = worst_sizes(schemas_of(leaf=({"a": number()}, {}), tree=({"b": boolean()}, relation)))
    copy = len(bson.encode({"_id": ID, "a": 1.5}))
    assert [(one.name, one.count) for one in size.parts] == [("many", 100), ("_gw", 1), ("_id", 1), ("b", 1)]
    assert size.parts[0].each == copy
    assert sum(one.bytes for one in size.parts) + 5 == size.bytes


def test_fields_that_no_copy_has_do_not_count_in_copies():
    schemas = Schemas(Settings())
    schemas.add("user", {"name": number(), "photo": any_()}, options={"excludes": ["photo"]})
    schemas.add("page", {}, {"author": {"schemaName": "user", "type": "single"}})
    (_, page) = worst_sizes(schemas)
    author = next(one for one in page.parts if one.name == "author")
    assert (author.each, page.unstated) == (len(bson.encode({"_id": ID, "name": 1.5})), ())
