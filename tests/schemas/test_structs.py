"""Structs: accepted forms, the two modes, strictness, collected errors; strict checks of documents."""

from __future__ import annotations

import copy
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

import marshmallow
import pytest
from bson import ObjectId
from hypothesis import example, given
from hypothesis import strategies as st
from marshmallow import EXCLUDE, INCLUDE, Schema, post_load, validates_schema
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError, HttpError, ValidationError
from gatewayfw.schemas import (
    Schemas,
    Struct,
    any_,
    array,
    boolean,
    compile_struct,
    date,
    decimal,
    defaulted,
    integer,
    mapping,
    number,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.get import Ceilings
from gatewayfw.schemas.kinds import KindField
from gatewayfw.schemas.values import same
from gatewayfw.settings import Settings
from tests.schemas.calls import new_document, refusals
from tests.strategies import LOADED, SCALARS, Kind, kinds, kinds_with_values

ID = "0123456789abcdefABCDEF00"
SET = {"name": string, "count": optional(number), "active": defaulted(boolean, True), "tags": optional(array(string))}


def struct(set_: Any, get: Any = object_) -> Struct:
    """Return a struct of its own gateway."""
    return compile_struct({"set": set_, "get": get}, Schemas(Settings()))


def details(set_: Any, **get: Any) -> dict[str, Any]:
    """Return details."""
    return {"set": set_, "get": get}


class Loud(mm.String):
    """A user's own field, which loads something else."""

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return super()._deserialize(value, *args, **kwargs).upper()


class Person(Schema):
    """A user's own schema, with names that dict has too."""

    name = mm.String(required=True)
    age = mm.Integer(load_default=7)
    items = mm.List(mm.Integer())
    secret = mm.Integer(load_only=True)
    born = mm.Date()
    seen = mm.String(dump_default="never")


def test_create_coerces_and_fills_defaults() -> None:
    sent = details({"name": "a", "count": "5"})
    before = copy.deepcopy(sent)
    assert struct(SET).check(sent, "create") == details({"name": "a", "count": 5, "active": True})
    assert sent == before


def test_assert_gives_what_was_sent() -> None:
    sent = details({"name": "a", "count": 5, "active": False, "tags": []}, x=1)
    result = struct(SET).check(sent, "assert")
    assert result == sent
    assert result["set"] is sent["set"]


@pytest.mark.parametrize(
    ("set_", "errors"),
    [
        ({"name": "a"}, {"set.active": ["Missing data for required field."]}),
        ({"name": "a", "active": 1}, {"set.active": ["Not a valid boolean."]}),
        ({"name": "a", "active": True, "count": "5"}, {"set.count": ["Not a valid number."]}),
        ({"name": "a", "active": True, "count": True}, {"set.count": ["Not a valid number."]}),
        ({"name": "a", "active": True, "count": None}, {"set.count": ["Field may not be null."]}),
        ({"name": "a", "active": True, "x": 1}, {"set.x": ["Unknown field."]}),
        (
            {"name": 5, "count": "5"},
            {
                "set.name": ["Not a valid string."],
                "set.count": ["Not a valid number."],
                "set.active": ["Missing data for required field."],
            },
        ),
    ],
)
def test_assert_refuses_what_create_would_change(set_: Any, errors: Any) -> None:
    assert refusals(struct(SET).check, details(set_), "assert") == errors


def test_all_failures_of_set_and_get_are_told_in_order(shop: Schemas) -> None:
    checked = compile_struct(
        {
            "set": {"features": array({"feature": boolean}), "name": string, "count": number, "day": date},
            "get": shop.select_struct("country"),
        },
        shop,
    )
    sent = {
        "set": {"features": [{"feature": 5}, {"feature": 1}], "count": "5", "day": "soon"},
        "get": {"x": 1, "name": 2},
    }
    with pytest.raises(ValidationError) as caught:
        checked.check(sent, "assert")
    assert caught.value.message == (
        "validation error: set.features.0.feature: Not a valid boolean.;"
        " set.features.1.feature: Not a valid boolean.;"
        " set.name: Missing data for required field.; set.count: Not a valid number.;"
        " set.day: Not a valid ISO 8601 date.; get.x: Unknown field.; get.name: Must be 1 or 0."
    )


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_unknown_keys_are_refused_at_every_level(mode: Any) -> None:
    nested = struct({"a": {"b": array({"c": any_})}})
    sent = details({"a": {"b": [{"c": 1, "d": 1}], "x": 1}, "y": 1})
    assert refusals(nested.check, sent, mode) == {
        "set.a.b.0.d": ["Unknown field."],
        "set.a.x": ["Unknown field."],
        "set.y": ["Unknown field."],
    }


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize(
    ("sent", "errors"),
    [
        (None, {"details": ["Field may not be null."]}),
        ([], {"details": ["Not a valid mapping type."]}),
        ("set", {"details": ["Not a valid mapping type."]}),
        ({"set": {}}, {"get": ["Missing data for required field."]}),
        ({"set": [], "get": 1}, {"set": ["Not a valid mapping type."], "get": ["Not a valid mapping type."]}),
        ({"set": {}, "get": {}, "x": 1}, {"x": ["Unknown field."]}),
    ],
)
def test_details_is_an_object_with_exactly_set_and_get(sent: Any, errors: Any, mode: Any) -> None:
    assert refusals(struct({}).check, sent, mode) == errors


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("k" * 1000, "k" * 64),
        ("a\r\nb\x00\x1b", "a\\r\\nb\\x00\\x1b"),
        ("\ud800", "\\ud800"),
        ("\u202e", "\\u202e"),
        (7, "7"),
        (True, "<bool>"),
        ((1, 2), "<tuple>"),
    ],
)
def test_keys_are_shown_cut_and_escaped(key: Any, shown: str, mode: Any) -> None:
    assert refusals(struct({}).check, details({key: 1}), mode) == {f"set.{shown}": ["Unknown field."]}


def test_one_message_stands_for_keys_that_look_alike() -> None:
    sent = details({"k" * 70: 1, "k" * 71: 1})
    assert refusals(struct({}).check, sent, "assert") == {"set." + "k" * 64: ["Unknown field."]}


@pytest.mark.parametrize(
    "form",
    [
        {"set": {"name": string}, "get": object_},
        object_({"set": object_({"name": string()}), "get": object_()}),
        Schema.from_dict({"set": mm.Nested({"name": string()}, required=True), "get": mm.Dict(required=True)}),
        Schema.from_dict({"set": object_({"name": string}), "get": object_()})(),
    ],
    ids=["mapping", "object_", "schema class", "schema instance"],
)
@pytest.mark.parametrize("mode", ["assert", "create"])
def test_every_form_of_a_validator_is_strict(form: Any, mode: Any, schemas: Schemas) -> None:
    checked = compile_struct(form, schemas)
    assert list(checked.fields or ()) == ["set", "get"]
    assert checked.check(details({"name": "a"}), mode) == details({"name": "a"})
    assert refusals(checked.check, details({"x": 1, "name": 5}), mode) == {
        "set.name": ["Not a valid string."],
        "set.x": ["Unknown field."],
    }


class Open:
    """Something that is no validator."""


@pytest.mark.parametrize(
    ("validator", "message"),
    [
        ({"set": {}}, "validator: expected exactly set and get, not set"),
        ({"set": {}, "get": {}, "x": {}}, "validator: expected exactly set and get, not set, get, x"),
        ({}, "validator: expected exactly set and get, not nothing"),
        (object_(), "validator: expected exactly set and get, not nothing"),
        (Person, "validator: expected exactly set and get, not name, age, items, secret, born, seen"),
        (None, "validator: expected an object with set and get, a schema or a function, not NoneType"),
        (Open, "validator: expected an object with set and get, a schema or a function, not Open"),
        (string, "validator: expected an object with set and get, a schema or a function, not string"),
        (string(), "validator: expected an object with set and get, a schema or a function, not StringField"),
        (
            {"set": {"a": 5}, "get": {}},
            "validator, field 'set.a': expected a value kind, a marshmallow field or schema, or a mapping, not int",
        ),
    ],
)
def test_anything_else_is_a_definition_error(validator: Any, message: str, schemas: Schemas) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_struct(validator, schemas)
    assert caught.value.message == message


def test_a_struct_is_taken_as_it_is(schemas: Schemas) -> None:
    checked = struct({})
    assert compile_struct(checked, schemas) is checked


def test_a_select_struct_of_another_gateway_is_refused(shop: Schemas) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_struct({"set": {}, "get": shop.select_struct("city")}, Schemas(Settings()))
    assert caught.value.message == "validator: the select struct of 'city' belongs to another gateway"


def test_a_schema_inside_keeps_its_rules() -> None:
    checked = struct(Person)
    whole = {"name": "a", "age": 5, "items": [1], "secret": 3, "born": "2026-11-21", "seen": "x"}
    assert checked.check(details(whole), "assert") == details(whole)
    assert checked.check(details({"name": "a", "age": 5}), "assert") == details({"name": "a", "age": 5})
    coerced = details({"name": "a", "items": ["1"], "secret": "3", "born": "2026-11-21"})
    assert checked.check(coerced, "assert") == coerced
    assert refusals(checked.check, details({"name": 5, "x": 1}), "create") == {
        "set.name": ["Not a valid string."],
        "set.x": ["Unknown field."],
    }


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize("names", [{"only": ["inner.age", "inner.name"]}, {"exclude": ["inner.secret", "inner.born"]}])
def test_a_nested_schema_takes_the_fields_that_its_field_names_by_path(names: Any, mode: Any) -> None:
    outer = Schema.from_dict({"inner": mm.Nested(Person)})
    for field in (mm.Nested(outer, **names), mm.Nested(outer(**names))):
        checked = struct({"x": field})
        sent = details({"x": {"inner": {"name": "a", "age": 5}}})
        assert checked.check(sent, mode)["set"] == sent["set"]
        assert refusals(checked.check, details({"x": {"inner": {"name": "a", "secret": 3}}}), mode) == {
            "set.x.inner.secret": ["Unknown field."]
        }


def test_unknown_of_a_schema_is_its_own_matter() -> None:
    sent = details({"name": "a", "age": 1, "x": "1"})
    dropping, keeping = struct(Person(unknown=EXCLUDE)), struct(Person(unknown=INCLUDE))
    assert keeping.check(sent, "assert") == sent
    assert keeping.check(sent, "create") == sent
    assert dropping.check(sent, "create") == details({"name": "a", "age": 1})
    assert refusals(dropping.check, sent, "assert") == {"set.x": ["Unknown field."]}


def test_errors_of_a_whole_schema_have_the_path_of_their_value() -> None:
    class Pair(Schema):
        low = mm.Integer()
        high = mm.Integer()

        @validates_schema
        def ordered(self, data: Any, **kwargs: Any) -> None:
            if data["low"] > data["high"]:
                raise marshmallow.ValidationError("low is above high")

    checked = struct({"pair": Pair})
    assert refusals(checked.check, details({"pair": {"low": 2, "high": 1}}), "assert") == {
        "set.pair": ["low is above high"]
    }
    assert refusals(checked.check, details({"pair": 5}), "create") == {"set.pair": ["Invalid input type."]}


def test_a_schema_that_makes_objects_gives_them_to_create_and_the_original_to_assert() -> None:
    class Point(Schema):
        x = mm.Integer(required=True)

        @post_load
        def make(self, data: Any, **kwargs: Any) -> Any:
            return type("P", (), data)()

    checked = struct({"at": Point})
    sent = details({"at": {"x": 5}})
    assert checked.check(sent, "create")["set"]["at"].x == 5
    assert checked.check(sent, "assert") == sent
    assert refusals(checked.check, details({"at": {"x": "x"}}), "assert") == {"set.at.x": ["Not a valid integer."]}


@pytest.mark.parametrize(
    ("field", "sent", "bad"),
    [
        (mm.Integer(), "5", "x"),
        (mm.Float(), 5, "x"),
        (mm.Decimal(), "5.5", "x"),
        (mm.Boolean(), "yes", "x"),
        (mm.DateTime(), "2020-01-01T00:00:00Z", "x"),
        (mm.Time(), "10:00", "x"),
        (mm.UUID(), "01234567-89AB-CDEF-0123-456789ABCDEF", "x"),
        (mm.Tuple((mm.Integer(),)), ["5"], ["x"]),
        (mm.List(mm.Date()), ["2020-01-01"], ["x"]),
        (mm.Dict(values=mm.Integer()), {"a": "5"}, {"a": "x"}),
        (mm.Integer(allow_none=True), None, "x"),
        (mm.Integer(load_only=True), "5", "x"),
        (mm.Function(deserialize=str.upper), "a", None),
        (Loud(), "a", 5),
        (mm.Nested(Person), {"name": "a", "secret": "5"}, {"name": 5}),
        (mm.Nested(Person(unknown=INCLUDE)), {"name": "a", "more": 5}, {"more": 5}),
        (Person(unknown=INCLUDE), {"name": "a", "more": 5}, {"more": 5}),
    ],
    ids=lambda item: type(item).__name__,
)
def test_assert_of_a_users_field_means_that_load_succeeds(field: Any, sent: Any, bad: Any) -> None:
    checked = struct({"x": field, "many": array(field)})
    given = details({"x": sent, "many": [sent]})
    assert checked.check(given, "assert") == given
    assert refusals(checked.check, given, "create") is None
    for mode in ("assert", "create"):
        found = refusals(checked.check, details({"x": bad, "many": [sent, bad]}), mode)
        assert {".".join(path.split(".")[:2]) for path in found} == {"set.x", "set.many"}


@pytest.mark.parametrize(
    ("field", "sent", "path"),
    [
        (Person(unknown=EXCLUDE), {"name": "a", "more": 5}, "more"),
        (mm.List(mm.Nested(Person(unknown=EXCLUDE))), [{"name": "a", "more": 5}], "0.more"),
        (mm.Dict(values=mm.Nested(Person, unknown=EXCLUDE)), {"k": {"name": "a", "more": 5}}, "k.more"),
        (Person(unknown=EXCLUDE, dump_only=["age"]), {"name": "a", "age": 5}, "age"),
        (Person, {"name": "a", "more": 5}, "more"),
    ],
)
def test_assert_refuses_keys_that_load_drops(field: Any, sent: Any, path: str) -> None:
    assert refusals(struct({"x": field}).check, details({"x": sent}), "assert") == {f"set.x.{path}": ["Unknown field."]}


def test_our_kinds_inside_a_users_schema_stay_exact_in_assert() -> None:
    checked = struct({"x": Schema.from_dict({"n": number(), "ids": mm.List(object_id())})})
    assert checked.check(details({"x": {"n": 5, "ids": [ID]}}), "assert")["set"] == {"x": {"n": 5, "ids": [ID]}}
    coerced = details({"x": {"n": "5", "ids": [ID]}})
    assert checked.check(coerced, "create")["set"] == {"x": {"n": 5, "ids": [ObjectId(ID)]}}
    assert refusals(checked.check, coerced, "assert") == {"set.x.n": ["Not a valid number."]}


def test_what_a_function_changes_is_for_create_and_refused_by_assert(schemas: Schemas) -> None:
    def validate(given: Any) -> Any:
        given["set"]["name"] = given["set"]["name"].strip()
        return None

    checked = compile_struct(validate, schemas)
    sent = details({"name": " a "})
    assert checked.fields is None
    assert checked.check(sent, "create") == details({"name": "a"})
    assert refusals(checked.check, sent, "assert") == {"set.name": ["Invalid value."]}
    assert sent == details({"name": " a "})
    assert checked.check(details({"name": "a"}), "assert") == details({"name": "a"})


@pytest.mark.parametrize(
    ("get", "errors"),
    [
        ({"x": 1}, None),
        ({"x": 1.0}, {"get.x": ["Invalid value."]}),
        ({"x": True}, {"get.x": ["Invalid value."]}),
        ({"x": 1, "y": 1}, {"get.y": ["Missing data for required field."]}),
        ({}, {"get.x": ["Unknown field."]}),
    ],
    ids=repr,
)
def test_what_a_function_returns_is_the_same_for_assert(get: Any, errors: Any, schemas: Schemas) -> None:
    replacing, sent = compile_struct(partial(dict, get=get), schemas), details({"all": [1]}, x=1)
    assert refusals(replacing.check, sent, "assert") == errors
    assert replacing.check(sent, "create") == details({"all": [1]}, **get)


def raising(error: BaseException) -> Any:
    """Return a validator function that raises."""

    def validate(details: Any) -> Any:
        raise error

    return validate


class Home(ValueError):
    """An error whose text was not written for a client."""


@pytest.mark.parametrize(
    ("error", "message", "errors"),
    [
        (ValueError("no such city"), "no such city", {"details": ["no such city"]}),
        (marshmallow.ValidationError("bad"), "bad", {"details": ["bad"]}),
        (
            marshmallow.ValidationError({"set": {"a": ["bad"]}}),
            "validation error: set.a: bad",
            {"set.a": ["bad"]},
        ),
        (KeyError("name"), "validation error", {}),
        (Home("secret"), "validation error", {}),
    ],
    ids=["value", "marshmallow", "by path", "key", "subclass"],
)
def test_what_a_function_raises_is_a_validation_error(error: Any, message: str, errors: Any, schemas: Schemas) -> None:
    with pytest.raises(ValidationError) as caught:
        compile_struct(raising(error), schemas).check(details({}), "assert")
    assert caught.value.message == message
    assert caught.value.errors == errors
    assert caught.value.__cause__ == error


def test_a_gateway_error_of_a_function_passes(schemas: Schemas) -> None:
    error = HttpError("teapot", 418)
    with pytest.raises(HttpError) as caught:
        compile_struct(raising(error), schemas).check(details({}), "assert")
    assert caught.value is error


def test_a_function_sees_only_details_of_the_right_shape(schemas: Schemas) -> None:
    checked = compile_struct(raising(AssertionError()), schemas)
    assert refusals(checked.check, {"set": [], "x": 1}, "create") == {
        "set": ["Not a valid mapping type."],
        "get": ["Missing data for required field."],
        "x": ["Unknown field."],
    }
    assert refusals(checked.check, None, "create") == {"details": ["Not a valid mapping type."]}


def test_a_function_that_returns_something_else_is_a_definition_error(schemas: Schemas) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_struct(lambda details: True, schemas).check(details({}), "assert")
    assert caught.value.message == "a validator function must return details, with set and get, or None"


def many(count: int) -> list[str]:
    """Return so many ids."""
    return [f"{number:024x}" for number in range(count)]


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize(
    ("field", "place"),
    [
        (array(object_id), []),
        (optional(array(optional(object_id))), []),
        (array(object_id, size=(1, None)), []),
        (array(array(object_id)), [0]),
        (object_({"part": array({"ids": array(object_id)})}), ["part", 0, "ids"]),
    ],
    ids=["bare", "optional", "with a minimum", "in a list", "in objects"],
)
def test_ids_without_a_maximum_are_bounded_by_the_setting(field: Any, place: list[Any], mode: Any) -> None:
    checked = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings(max_ids=3)))
    ids: list[str] = many(3)
    fits: Any = ids
    for key in reversed(place):
        fits = [fits] if key == 0 else {key: fits}
    sent = details({"x": fits})
    given = checked.check(sent, mode)["set"]["x"]
    for key in place:
        given = given[key]
    assert given == (ids if mode == "assert" else list(map(ObjectId, ids)))
    ids += ["no id"]
    assert refusals(checked.check, sent, mode) == {
        ".".join(map(str, ["set.x", *place])): ["Longer than maximum length 3."]
    }


@pytest.mark.parametrize(
    ("field", "fits", "message"),
    [
        (array(object_id, size=(None, 5)), 5, "Longer than maximum length 5."),
        (array(object_id, size=4), 4, "Length must be 4."),
        (array(object_id, size=(4, None)), 4, "Longer than maximum length 4."),
    ],
    ids=["maximum", "exact", "minimum above the setting"],
)
def test_a_length_of_its_own_wins_over_the_setting(field: Any, fits: int, message: str) -> None:
    checked = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings(max_ids=3)))
    assert refusals(checked.check, details({"x": many(fits)}), "assert") is None
    assert refusals(checked.check, details({"x": many(fits + 1)}), "assert") == {"set.x": [message]}


def test_the_bound_is_of_the_struct_and_not_of_the_kind() -> None:
    field, tags = array(object_id), array(string(size=9))
    small, large = (
        compile_struct({"set": {"x": field, "tags": tags}, "get": {}}, Schemas(Settings(max_ids=most)))
        for most in (1, 1000)
    )
    sent = details({"x": many(1000), "tags": ["t" * 9] * 1001})
    assert refusals(small.check, sent, "assert") == {"set.x": ["Longer than maximum length 1."]}
    assert refusals(large.check, sent, "assert") is None
    assert (field.validators, dict(field.metadata)) == ([], {})
    parts = (small.fields or {})["set"].fields  # type: ignore[attr-defined]  # an object
    assert parts["x"].metadata["size"] == (None, 1)
    assert parts["tags"] is tags


PURE = {
    "name": string(),
    "owner": optional(object_id()),
    "day": optional(date()),
    "active": defaulted(boolean(), True),
    "free": optional(any_()),
    "part": optional(object_({"ids": array(object_id), "n": defaulted(integer, 3)})),
}


def test_a_document_is_filled_and_converted() -> None:
    doc = {"name": "a", "owner": ID, "day": "2026-11-21", "part": {"ids": [ID]}}
    before = copy.deepcopy(doc)
    assert new_document(PURE, doc) == {
        "name": "a",
        "owner": ObjectId(ID),
        "day": datetime(2026, 11, 21),
        "active": True,
        "part": {"ids": [ObjectId(ID)], "n": 3},
    }
    assert doc == before


def test_a_stored_document_passes_again_unchanged() -> None:
    doc = new_document(PURE, {"name": "a", "owner": ID, "day": "2026-11-21T10:00:00+01:00", "free": {"a": [1]}})
    assert new_document(PURE, doc) == doc


def test_a_document_is_checked_strictly_and_whole() -> None:
    doc = {
        "owner": "x",
        "active": 1,
        "free": {"a.b": [{"$where": 1, "c\0": 2}]},
        "part": {"ids": [5], "n": "3"},
        "z": 1,
    }
    assert refusals(new_document, PURE, doc) == {
        "doc.name": ["Missing data for required field."],
        "doc.owner": ["Not a valid ObjectId (24 hexadecimal digits)."],
        "doc.active": ["Not a valid boolean."],
        "doc.part.ids.0": ["Not a valid ObjectId (24 hexadecimal digits)."],
        "doc.part.n": ["Not a valid integer."],
        "doc.z": ["Unknown field."],
    }
    assert refusals(new_document, PURE, {"name": "a", "free": doc["free"]}) == {
        "doc.free.a.b": ["Not a key the database can hold."],
        "doc.free.a.b.0.$where": ["Not a key the database can hold."],
        "doc.free.a.b.0.c\\x00": ["Not a key the database can hold."],
    }


@pytest.mark.parametrize("doc", [None, [], "doc", 5])
def test_a_document_is_an_object(doc: Any) -> None:
    message = "Field may not be null." if doc is None else "Not a valid mapping type."
    assert refusals(new_document, PURE, doc) == {"doc": [message]}


def test_one_value_is_checked_strictly_and_converted() -> None:
    assert check_value(PURE["owner"], ID, "update.$set.owner") == ObjectId(ID)
    assert check_value(any_(), None, "x") is None
    assert refusals(check_value, PURE["active"], 1, "update.$set.active") == {
        "update.$set.active": ["Not a valid boolean."]
    }
    assert refusals(check_value, PURE["part"], {"ids": []}, "p") == {"p.n": ["Missing data for required field."]}
    assert refusals(check_value, object_(), {"$inc": 1}, "p") == {"p.$inc": ["Not a key the database can hold."]}


def created(checked: Struct, sent: Any) -> Any:
    """Return what mode create gives, None when it refuses."""
    try:
        return checked.check(sent, "create")
    except ValidationError:
        return None


@given(kinds_with_values())
def test_create_of_its_own_output_changes_nothing(case: tuple[Kind, Any]) -> None:
    kind, value = case
    checked = struct({"x": kind.field})
    once = created(checked, details({"x": value}))
    if once is not None:
        assert same(created(checked, once), once)


@given(kinds_with_values(scalars=[name for name in SCALARS if name not in LOADED]))
@example((Kind(number(), None, None), "5"))  # type: ignore[arg-type]  # no strategies needed
@example((Kind(defaulted(object_({"a": defaulted(string, "")}), {"a": ""}), None, None), {}))  # type: ignore[arg-type]
def test_assert_accepts_exactly_what_create_leaves_unchanged(case: tuple[Kind, Any]) -> None:
    kind, value = case
    checked = struct({"x": kind.field})
    sent = details({"x": value})
    unchanged = same(created(checked, sent), sent)
    assert (refusals(checked.check, sent, "assert") is None) == unchanged


@given(kinds(), st.data())
def test_what_create_loads_is_dumped_and_created_again_the_same(kind: Kind, data: st.DataObject) -> None:
    checked = struct({"x": kind.field})
    loaded = created(checked, details({"x": data.draw(kind.valid)}))
    dumped = {"x": kind.field._serialize(loaded["set"]["x"], None, {})}
    assert created(checked, details(dumped)) == loaded == created(checked, loaded)
    assert refusals(checked.check, details(dumped), "assert") is None


@given(kinds_with_values())
def test_refusals_never_show_long_or_unprintable_text(case: tuple[Kind, Any]) -> None:
    kind, value = case
    errors = refusals(struct({"x": kind.field}).check, details({"x": value}), "assert") or {}
    assert all(path.isprintable() and path.startswith("set.x") for path in errors)
    assert all(text.isprintable() for texts in errors.values() for text in texts)


@pytest.mark.parametrize("form", ["mapping", "nested", "schema", "struct"])
def test_bounds_of_one_struct_leave_the_select_struct_as_it_was(form):
    schemas = Schemas(Settings(max_get_depth=1))
    schemas.add("user", {"name": string()}, {"friend": {"schemaName": "user", "type": "single"}})
    select, get = schemas.select_struct("user", 1), {"friend": {"name": 1}}
    nested = form == "nested"
    given = {"set": {}, "get": {"user": select} if nested else select}
    validator = {
        "schema": Schema.from_dict({"set": mm.Dict(required=True), "get": select}),
        "struct": compile_struct(given, schemas),
    }.get(form, given)
    details = {"set": {}, "get": {"user": get} if nested else get}
    bounds = Ceilings(3, 9)
    assert compile_struct(validator, schemas, bounds).check(details, "assert", bounds) == details
    assert select.bounds == schemas.settings
    assert select.takes(get) is False
    with pytest.raises(ValidationError):
        compile_struct(validator, schemas).check(details, "assert", schemas.settings)


@pytest.mark.parametrize("mode", ["assert", "create"])
@pytest.mark.parametrize(
    "validator",
    [
        {"set": {}, "get": object_},
        {"set": {}, "get": mm.Dict(required=True)},
        {"set": {}, "get": any_},
        Schema.from_dict({"set": mm.Dict(), "get": mm.Dict()}),
        lambda given: None,
    ],
    ids=["object", "dict", "any", "schema", "function"],
)
def test_every_get_is_within_the_bounds_of_the_act(validator: Any, mode: Any, schemas: Schemas) -> None:
    checked, bounds = compile_struct(validator, schemas), Ceilings(2, 2)
    for get in ({}, {"a": 1, "b": 1}, {"a": {"b": 1}}):
        assert checked.check({"set": {}, "get": get}, mode, bounds) == {"set": {}, "get": get}
    for get, message in (
        ({"a": 1, "b": 1, "c": 1}, "Too many fields: at most 2."),
        ({"a": {"b": {"c": 1}}}, "Nested too deeply: at most 2 levels."),
    ):
        assert checked.check({"set": {}, "get": get}, mode) == {"set": {}, "get": get}
        assert refusals(checked.check, {"set": {}, "get": get, "x": 1}, mode, bounds) == {"get": [message]}


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_a_select_struct_is_also_within_other_bounds_than_its_own(shop: Schemas, mode: Any) -> None:
    checked = compile_struct({"set": {}, "get": shop.select_struct("city")}, shop)
    sent = details({}, name=1, code=1)
    for bounds in (None, shop.settings, Ceilings(1, 2)):
        assert checked.check(sent, mode, bounds) == sent
    assert refusals(checked.check, sent, mode, Ceilings(1, 1)) == {"get": ["Too many fields: at most 1."]}


def test_what_a_select_struct_has_counted_is_not_counted_again(shop: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = compile_struct({"set": {}, "get": shop.select_struct("city")}, shop)
    monkeypatch.setattr("gatewayfw.schemas.structs.bounds_problem", None)
    sent = details({}, name=1)
    assert checked.check(sent, "assert", shop.settings) == sent


def test_a_good_get_of_any_object_is_not_loaded(schemas: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = compile_struct({"set": {}, "get": object_}, schemas)
    monkeypatch.setattr(KindField, "deserialize", None)
    for get in ({}, {"a": 1}):
        assert checked.check({"set": {}, "get": get}, "assert", schemas.settings) == {"set": {}, "get": get}


def test_a_get_that_is_no_object_has_no_bounds(schemas: Schemas) -> None:
    checked = compile_struct({"set": {}, "get": any_}, schemas)
    for get in (5, None, [1, 2]):
        assert checked.check({"set": {}, "get": get}, "assert", Ceilings(1, 1)) == {"set": {}, "get": get}
    assert refusals(checked.check, [], "assert", Ceilings(1, 1)) == {"details": ["Not a valid mapping type."]}


def test_select_structs_are_found_by_their_paths(shop: Schemas) -> None:
    one, two, three = (shop.select_struct("city", spec) for spec in (0, 1, 2))
    set_ = {"a": array({"b": one}), "c": mapping(two)}
    checked = compile_struct({"set": set_, "get": object_({"d": three})}, shop)
    assert [(path, select.spec) for path, select in checked.selects()] == [
        *(("set.a.b", 0), ("set.c.*", 1), ("get.d", 2))
    ]
    assert list(compile_struct(lambda given: None, shop).selects()) == []


def test_only_select_structs_of_the_get_have_the_bounds_of_the_act(shop: Schemas) -> None:
    select, bounds = shop.select_struct("city", 1), Ceilings(1, 1)
    checked = compile_struct({"set": {"a": select}, "get": {"b": array({"c": select})}}, shop, bounds)
    assert [found.bounds for _, found in checked.selects()] == [shop.settings, bounds]
    assert checked.is_within(bounds) is True
    assert checked.is_within(shop.settings) is False
    assert compile_struct(checked, shop, bounds) is checked
    again = compile_struct(checked, shop)
    assert [found.bounds for _, found in again.selects()] == [shop.settings] * 2


def test_a_schema_may_call_its_fields_otherwise(shop: Schemas) -> None:
    select = shop.select_struct("city", 1)
    select.data_key = "get"
    named = Schema.from_dict({"s": mm.Dict(data_key="set", required=True), "g": select})
    bounds = Ceilings(1, 1)
    checked = compile_struct(named, shop, bounds)
    assert list(checked.fields or ()) == ["set", "get"]
    assert [(path, found.bounds) for path, found in checked.selects()] == [("get", bounds)]
    assert refusals(checked.check, details({}, name=1, _id=1), "assert") == {"get": ["Too many fields: at most 1."]}
    with pytest.raises(DefinitionError) as caught:
        compile_struct(Schema.from_dict({"set": mm.Dict(data_key="x"), "get": mm.Dict()}), shop)
    assert caught.value.message == "validator: expected exactly set and get, not x, get"


def test_a_validator_is_told_as_it_was_given(schemas: Schemas) -> None:
    whole: Any = object_({"set": object_(), "get": object_()})
    schema = Schema.from_dict({"set": mm.Dict(), "get": mm.Dict()})
    assert compile_struct(whole, schemas).validator.fields == whole.fields
    assert isinstance(compile_struct(schema(), schemas).validator, schema)
    assert dict(compile_struct(whole, schemas).files) == {}


def test_a_function_gets_objects_and_lists_that_it_may_change(schemas: Schemas) -> None:
    def validate(given: Any) -> Any:
        for part in (given["set"], given["set"]["part"], given["set"]["list"][0]):
            part["new"] = 1
        given["set"]["list"].append(2)

    at = datetime(2026, 11, 21)
    sent = {"set": MappingProxyType({"part": MappingProxyType({}), "list": [{}], "at": at}), "get": {}}
    assert compile_struct(validate, schemas).check(sent, "create") == details(
        {"part": {"new": 1}, "list": [{"new": 1}, 2], "new": 1, "at": at}
    )
    assert sent["set"] == {"part": {}, "list": [{}], "at": at}


def test_all_that_a_function_says_is_told(schemas: Schemas) -> None:
    with pytest.raises(ValidationError) as caught:
        compile_struct(raising(marshmallow.ValidationError(["one", "two"])), schemas).check(details({}), "assert")
    assert (caught.value.message, caught.value.errors) == ("one two", {"details": ["one", "two"]})


@pytest.mark.parametrize(
    "result",
    [{"set": {}}, {"set": {}, "get": 5}, {"set": {}, "get": {}, "x": 1}, []],
    ids=["less", "no object", "more", "list"],
)
@pytest.mark.parametrize("mode", ["assert", "create"])
def test_a_function_returns_details_of_the_right_shape(result: Any, mode: Any, schemas: Schemas) -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_struct(lambda given: result, schemas).check(details({}), mode)
    assert caught.value.message == "a validator function must return details, with set and get, or None"


def test_errors_about_the_whole_have_the_name_of_details() -> None:
    class Odd(Schema):
        set = mm.Dict(required=True)
        get = mm.Dict(required=True)

        @validates_schema
        def refuse(self, data: Any, **kwargs: Any) -> None:
            raise marshmallow.ValidationError("Odd.")

    checked = compile_struct(Odd, Schemas(Settings()))
    told = [refusals(checked.check, details({}), mode) for mode in ("assert", "create")]
    assert told == [{"_schema": ["Odd."]}] * 2


def test_what_a_document_would_convert_is_no_error_beside_one() -> None:
    pure = object_({"price": decimal(places=1), "ids": array(object_id), "n": integer})
    assert new_document(pure, {"price": 1, "ids": [], "n": 1})["n"] == 1
    assert refusals(new_document, pure, {"price": 1, "ids": [ID, 5], "n": "x"}) == {
        "doc.ids.1": ["Not a valid ObjectId (24 hexadecimal digits)."],
        "doc.n": ["Not a valid integer."],
    }


@pytest.mark.parametrize("form", [dict, object_], ids=["fields", "object"])
def test_a_document_of_users_fields_is_checked_with_its_defaults(form: Any) -> None:
    pure = form({"n": mm.Integer(load_default=5), "m": mm.Integer(required=True), "d": defaulted(integer, 1)})
    assert new_document(pure, {"m": 1}) == {"n": 5, "m": 1, "d": 1}
    assert refusals(new_document, pure, {"n": "x", "z": 1}) == {
        "doc.n": ["Not a valid integer."],
        "doc.m": ["Missing data for required field."],
        "doc.z": ["Unknown field."],
    }
