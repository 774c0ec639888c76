"""The value kinds: what each takes in which mode, and how it is stored."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, missing
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import (
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    defaulted,
    described,
    email,
    enums,
    file,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    optional,
    string,
    url,
)
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.fields import KINDS, as_field
from gatewayfw.schemas.kinds.file import SIGNATURES
from tests.strategies import LOADED, SCALARS

ID = "0123456789abcdefABCDEF00"


def loaded(field: Any, value: Any) -> Any:
    """Return the loaded value, or the messages of the refusal."""
    try:
        return field.deserialize(value)
    except ValidationError as error:
        return error.messages


def exact(value: Any) -> tuple[type, Any]:
    """Return a value with its type, so that 5, 5.0 and True differ."""
    return type(value), value


NOT = {
    "string": ["Not a valid string."],
    "number": ["Not a valid number."],
    "integer": ["Not a valid integer."],
    "boolean": ["Not a valid boolean."],
    "date": ["Not a valid ISO 8601 date."],
    "object_id": ["Not a valid ObjectId (24 hexadecimal digits)."],
    "email": ["Not a valid email address."],
}


@pytest.mark.parametrize(
    ("field", "value", "result"),
    [
        (number(), "5", 5),
        (number(), "-5.50", -5.5),
        (number(), "1e3", 1000.0),
        (number(), 5, 5),
        (number(), 5.0, 5.0),
        (number(), -(2**63), -(2**63)),
        (integer(), "5", 5),
        (integer(), 5.0, 5),
        (integer(), 2**63 - 1, 2**63 - 1),
        (boolean(), "yes", True),
        (boolean(), "off", False),
        (boolean(), 1, True),
        (boolean(), 0, False),
        (string(), "a\0b", "a\0b"),
        (string(), "\U0001f600", "\U0001f600"),
        (object_id(), ID, ObjectId(ID)),
        (date(), "2026-11-21", datetime(2026, 11, 21)),
        (date(), "2026-11-21T10:00:00.123456789+03:30", datetime(2026, 11, 21, 6, 30, 0, 123000)),
        (email(), "a@example.org", "a@example.org"),
        (enums("a", 1), 1, 1),
        (any_(), None, None),
        (any_(), {"a": [1, None]}, {"a": [1, None]}),
        (array(number), ["5", 6.0], [5, 6.0]),
        (object_(), {"any": {"thing": [1]}}, {"any": {"thing": [1]}}),
        (object_({"a": number, "b": defaulted(string, "x")}), {"a": "5"}, {"a": 5, "b": "x"}),
    ],
)
def test_load_takes_and_coerces(field: Any, value: Any, result: Any) -> None:
    assert exact(loaded(field, value)) == exact(result)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *[("string", value) for value in (5, True, b"a", ["a"], "\ud800", "ok\udfff")],
        *[("number", value) for value in ("", " 5", "1_0", "５", "1e999", "nan", "Infinity", "0x5", True, [], {})],
        *[("number", value) for value in (float("nan"), float("inf"), 2**63, -(2**63) - 1, "9223372036854775808")],
        *[("number", value) for value in ("9" * 5000, "1" * 40)],
        *[("integer", value) for value in ("5.0", "1_0", "٣", 5.5, 1e300, True, 2**63, float("nan"), float("inf"))],
        *[("boolean", value) for value in (2, 1.0, "maybe", "", [])],
        *[("object_id", value) for value in (ID[:-1], ID + "0", ID + "\n", "g" * 24, 5, b"a" * 24, b"a" * 12)],
        *[("date", value) for value in ("2026-02-30", "2026-1-1", "21.11.2026", "", 5, 5.0, True, "0000-01-01")],
        *[("date", value) for value in ("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-11-21T24:00Z")],
        *[("date", value) for value in ("2026-11-21 10:00:00", "2026-11-21T10:00:00+25:00", "２026-11-21")],
        *[("email", value) for value in ("a", "a@b", "@example.org", "a@example.org\n")],
    ],
)
def test_load_refuses_without_showing_the_value(kind: str, value: Any) -> None:
    assert loaded(KINDS[kind](), value) == NOT[kind]


@pytest.mark.parametrize("kind", ["string", "number", "integer", "boolean", "object_id", "date", "email"])
def test_null_is_refused_even_where_optional(kind: str) -> None:
    assert loaded(optional(KINDS[kind]), None) == ["Field may not be null."]


@pytest.mark.parametrize(
    ("choice", "value"), [(1, True), (True, 1), (1, 1.0), ("1", 1), ("a", "A")], ids=lambda item: repr(item)
)
def test_enums_compare_value_and_type(choice: Any, value: Any) -> None:
    assert loaded(enums(choice), choice) is choice
    assert loaded(enums([choice, "z"]), value) == [f"Must be one of: {choice}, z."]


@pytest.mark.parametrize(
    ("field", "fits", "refused", "message"),
    [
        (string(size=2), "ab", "abc", "Length must be 2."),
        (string(size=(2, None)), "ab", "a", "Shorter than minimum length 2."),
        (string(size=(None, 2)), "\U0001f600b", "abc", "Longer than maximum length 2."),
        (string(pattern="[a-z]+"), "abc", "abc1", "String does not match expected pattern."),
        (string(pattern=re.compile("A", re.IGNORECASE)), "a", "a\n", "String does not match expected pattern."),
        (number(minimum=1), 1, 0.5, "Must be greater than or equal to 1."),
        (number(maximum=1.5), 1.5, 2, "Must be less than or equal to 1.5."),
        (integer(minimum=0, maximum=9), 9, "10", "Must be greater than or equal to 0 and less than or equal to 9."),
        (array(string, size=1), ["a"], [], "Length must be 1."),
    ],
)
def test_bounds_are_inclusive(field: Any, fits: Any, refused: Any, message: str) -> None:
    assert loaded(field, fits) == fits
    assert loaded(field, refused) == [message]


def test_errors_of_parts_carry_their_place() -> None:
    field = object_({"a": array(number), "b": string, "c": {"d": boolean}})
    assert loaded(field, {"a": [1, "x"], "c": {"d": 5, "e": 1}, "z": 1, 7: 1}) == {
        "a": {1: ["Not a valid number."]},
        "b": ["Missing data for required field."],
        "c": {"d": ["Not a valid boolean."], "e": ["Unknown field."]},
        "z": ["Unknown field."],
        7: ["Unknown field."],
    }


@pytest.mark.parametrize("value", [{}, (), "ab", None, {"a", "b"}])
def test_array_takes_lists_only(value: Any) -> None:
    assert loaded(array(any_), value) == ["Field may not be null." if value is None else "Not a valid list."]


@pytest.mark.parametrize("value", [[], "a", 5, {"a": float("nan")}, {1: 2}, {"\ud800": 1}])
def test_bare_object_takes_json_objects_only(value: Any) -> None:
    assert loaded(object_(), value) == ["Not a valid mapping type."]


def test_any_refuses_what_is_no_json() -> None:
    endless: list[Any] = []
    endless.append(endless)
    values = [2**63, float("inf"), "\ud800", {1: 2}, object(), (1,), {1}, endless]
    assert [loaded(any_(), value) for value in values] == [["Not a valid value."]] * 8


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType, lambda value: {"a": [MappingProxyType(value)]}])
def test_any_takes_every_mapping_whose_keys_are_text(kind: Callable[[dict[Any, Any]], Any]) -> None:
    taken, refused = kind({"a": 1}), kind({1: 2})
    assert (loaded(any_(), taken), loaded(any_(), refused)) == (taken, ["Not a valid value."])


def test_optional_and_defaulted_leave_the_given_field_alone() -> None:
    field = string(size=3)
    maybe, filled = optional(field), defaulted(field, "abc")
    assert field.required is True
    assert maybe.required is False
    assert filled.required is False
    assert [dict(each.metadata) for each in (field, maybe, filled)] == [
        {"size": 3},
        {"size": 3},
        {"size": 3, "default": "abc"},
    ]


def test_each_use_of_a_mutable_default_gets_its_own_copy() -> None:
    default = [{"a": 1}]
    field = object_({"list": defaulted(array(object_), default)})
    loaded(field, {})["list"][0]["a"] = 2
    assert loaded(field, {}) == {"list": [{"a": 1}]}
    assert default == [{"a": 1}]


def test_a_default_function_is_called_each_time_and_its_value_checked() -> None:
    values = iter([1, 2, "x"])
    field = object_({"n": defaulted(integer, lambda: next(values))})
    assert [loaded(field, {}) for _ in range(3)] == [{"n": 1}, {"n": 2}, {"n": ["Not a valid integer."]}]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: defaulted(string, 5), "defaulted: the kind refuses its default: Not a valid string."),
        (lambda: defaulted(string, None), "defaulted: the kind refuses its default: Field may not be null."),
        (
            lambda: defaulted({"a": string}, {}),
            "defaulted: the kind refuses its default: Missing data for required field.",
        ),
        (lambda: defaulted(number, "5"), "defaulted: the kind takes its default only after changing it"),
        (lambda: string(size=-1), "size must be a number of at least 0, or a pair (least, most)"),
        (lambda: string(size=True), "size must be a number of at least 0, or a pair (least, most)"),
        (lambda: string(size=(3, 2)), "size must be a number of at least 0, or a pair (least, most)"),
        (lambda: array(string, size="3"), "size must be a number of at least 0, or a pair (least, most)"),
        (lambda: string(pattern="("), "string: pattern must be a regular expression for text"),
        (lambda: string(pattern=b"a"), "string: pattern must be a regular expression for text"),
        (lambda: string(pattern=5), "string: pattern must be a regular expression for text"),
        (lambda: number(minimum="1"), "number: minimum and maximum must be finite numbers of this kind"),
        (lambda: number(maximum=float("nan")), "number: minimum and maximum must be finite numbers of this kind"),
        (lambda: integer(minimum=1.5), "integer: minimum and maximum must be finite numbers of this kind"),
        (lambda: integer(minimum=2, maximum=1), "integer: minimum is above maximum"),
        (lambda: string(size=(3,)), "size must be a number of at least 0, or a pair (least, most)"),
        (lambda: string(size=(3, -1)), "size must be a number of at least 0, or a pair (least, most)"),
        (lambda: number(minimum=2, maximum=1), "number: minimum is above maximum"),
        (lambda: enums(1, float("nan")), "enums: expected one or more strings, numbers or booleans"),
        (lambda: enums(), "enums: expected one or more strings, numbers or booleans"),
        (lambda: enums([]), "enums: expected one or more strings, numbers or booleans"),
        (lambda: enums("a", None), "enums: expected one or more strings, numbers or booleans"),
        (lambda: object_(["a"]), "object_: expected a mapping of fields, not list"),
        (lambda: object_({1: string}), "object_: the field name 1 is not a string"),
        (lambda: object_({"a": {1: string}}), "field 'a': the field name 1 is not a string"),
        (
            lambda: array({"a": {"b": 5}}),
            "array, field 'a.b': expected a value kind, a marshmallow field or schema, or a mapping, not int",
        ),
        (
            lambda: optional(None),
            "optional: expected a value kind, a marshmallow field or schema, or a mapping, not NoneType",
        ),
        (lambda: array({1: string}), "array: the field name 1 is not a string"),
        (lambda: mapping({"a": mm.List}), "mapping, field 'a': List needs arguments"),
        (lambda: nullable(array), "nullable: array needs arguments"),
        (
            lambda: defaulted(object_({"a": defaulted(integer, 1)}), {}),
            "defaulted: the kind takes its default only after changing it",
        ),
        (lambda: optional(mm.List), "optional: List needs arguments"),
        (
            lambda: object_({"a": {"b": 5}}),
            "field 'a.b': expected a value kind, a marshmallow field or schema, or a mapping, not int",
        ),
        *[
            (
                lambda key=key, value=value: object_({"a": mm.String(**{key: value})}),
                "field 'a': data_key, attribute and dump_only work in a marshmallow Schema only",
            )
            for key, value in (("data_key", "b"), ("attribute", "b"), ("dump_only", True))
        ],
    ],
)
def test_bad_arguments_are_definition_errors(make: Any, message: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        make()
    assert caught.value.message == message


def test_as_field_takes_every_form() -> None:
    class Person(Schema):
        name = mm.String(required=True)

    forms = [string, string(), {"a": string}, mm.Integer, mm.Integer(), Person, Person()]
    assert [type(as_field(form, "x")).__name__ for form in forms] == [
        "StringField",
        "StringField",
        "ObjectField",
        "Integer",
        "Integer",
        "SchemaField",
        "SchemaField",
    ]


#: Kinds that need arguments.
NEEDY = ("array", "decimal", "mapping", "nullable", "optional", "defaulted", "described", "enums", "file")


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in NEEDY])
def test_an_uncalled_kind_is_called(kind: str) -> None:
    field: Any = as_field(KINDS[kind], "x")
    assert field.kind == kind
    assert field.required is True
    assert field.allow_none == (kind == "any_")


@pytest.mark.parametrize("kind", NEEDY)
def test_a_kind_that_needs_arguments_is_not_called(kind: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        as_field(KINDS[kind], "x", "a")
    assert caught.value.message == f"x, field 'a': {kind} needs arguments"


@pytest.mark.parametrize(
    "field",
    [decimal(places=1), array(string), mapping(string), enums(1), file(most=1), object_({})],
    ids=lambda field: field.kind,
)
def test_a_kind_with_arguments_is_required_and_takes_no_null(field: Any) -> None:
    assert field.required is True
    assert field.allow_none is False
    assert field.load_default == missing


@pytest.mark.parametrize(
    ("field", "fits"),
    [
        (string(size=0), ""),
        (string(size=(2, 2)), "ab"),
        (array(string, size=[1, None]), ["a", "b"]),
        (number(minimum=1, maximum=1), 1),
        (integer(minimum=1, maximum=1), 1),
        (decimal(places=0, minimum=1, maximum=1), Decimal(1)),
        (decimal(places=34), Decimal(0)),
        (url(), "http://example.org"),
        (url(), "https://example.org"),
        (nullable(integer), None),
    ],
)
def test_the_least_that_is_allowed_is_taken(field: Any, fits: Any) -> None:
    assert loaded(field, fits) == fits


def test_kinds_without_bounds_have_no_checks() -> None:
    open_ = [string, lambda: string(size=(None, None)), number, integer, lambda: decimal(places=2), binary]
    assert [kind().validators for kind in open_] == [[]] * 6


def test_a_set_of_media_types_is_put_in_order() -> None:
    field: Any = file(most=5, types={"image/png", "image/gif", "image/webp"})
    assert field.types == ("image/gif", "image/png", "image/webp")
    with pytest.raises(DefinitionError) as caught:
        file(most=1, types={"image/png", 5})  # type: ignore[arg-type]  # that is the point
    assert caught.value.message == f"file: cannot tell 5 by its first bytes; known are {', '.join(SIGNATURES)}"


def test_arguments_stay_readable_in_metadata() -> None:
    fields = [
        string(size=(1, 2), pattern="a"),
        number(minimum=0, maximum=0.5),
        integer(minimum=1, maximum=2),
        enums("a", "b"),
        array(string, size=2),
        boolean(),
        decimal(places=2, minimum="1", maximum=2),
        binary(size=3),
        object_id(of="note"),
        object_id(),
        file(most="1kB", types=["image/png"]),
        described(nullable(string(size=1)), "text"),
    ]
    assert [(field.kind, dict(field.metadata)) for field in fields] == [  # type: ignore[attr-defined]  # of our fields
        ("string", {"size": (1, 2), "pattern": "a"}),
        ("number", {"minimum": 0, "maximum": 0.5}),
        ("integer", {"minimum": 1, "maximum": 2}),
        ("enums", {"choices": ("a", "b")}),
        ("array", {"size": 2}),
        ("boolean", {}),
        ("decimal", {"places": 2, "minimum": "1", "maximum": 2}),
        ("binary", {"size": 3}),
        ("object_id", {"of": "note"}),
        ("object_id", {}),
        ("file", {"most": 1000, "types": ("image/png",)}),
        ("string", {"size": 1, "description": "text"}),
    ]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-21", datetime(2026, 11, 21)),
        ("2026-11-21T10:00", datetime(2026, 11, 21, 10)),
        ("2026-11-21T10:00:00Z", datetime(2026, 11, 21, 10)),
        ("2026-11-21T10:00:00.1239Z", datetime(2026, 11, 21, 10, 0, 0, 123000)),
        ("2026-11-21T10:00:00.5+03:30", datetime(2026, 11, 21, 6, 30, 0, 500000)),
        ("2026-11-21T23:00:00-02:00", datetime(2026, 11, 22, 1)),
    ],
)
def test_dates_are_stored_as_naive_utc_in_milliseconds(text: str, moment: datetime) -> None:
    assert check_value(date(), text, "x") == moment


def test_native_dates_and_ids_are_taken_and_stored() -> None:
    moment = datetime(2026, 11, 21, 10, 0, 0, 123999, tzinfo=timezone(timedelta(hours=1)))
    id_ = ObjectId()
    cut = datetime(2026, 11, 21, 9, 0, 0, 123000)
    assert (loaded(date(), moment), loaded(object_id(), id_)) == (cut, id_)
    assert (check_value(date(), moment, "x"), check_value(object_id(), id_, "x")) == (cut, id_)
    edge = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))
    assert loaded(date(), edge) == ["Not a valid ISO 8601 date."]


def test_stored_converts_inside_lists_and_described_objects_only() -> None:
    field = object_({"ids": array(object_id), "day": optional(date), "free": any_})
    assert check_value(field, {"ids": [ID], "free": {"id": ID}}, "x") == {"ids": [ObjectId(ID)], "free": {"id": ID}}


@pytest.mark.parametrize("kind", LOADED)
@given(data=st.data())
def test_what_create_makes_is_the_same_after_it_was_dumped(kind: str, data: st.DataObject) -> None:
    row = SCALARS[kind]()
    made = loaded(row.field, data.draw(row.valid))
    assert (
        exact(loaded(row.field, row.field._serialize(made, None, {}))) == exact(loaded(row.field, made)) == exact(made)
    )


@pytest.mark.parametrize("kind", [name for name in SCALARS if name not in LOADED])
@given(data=st.data())
def test_every_kind_takes_its_own_values_unchanged(kind: str, data: st.DataObject) -> None:
    row = SCALARS[kind]()
    value = data.draw(row.valid)
    assert exact(loaded(row.field, value)) == exact(value)


def test_a_list_that_is_too_long_is_refused_before_its_elements_are_judged() -> None:
    judged: list[Any] = []
    field = array(string(), size=(None, 2))
    field.inner.validators = [judged.append]
    assert loaded(field, ["a", 5, "c"]) == ["Longer than maximum length 2."]
    assert loaded(field, ["a", 5]) == {1: ["Not a valid string."]}
    assert judged == ["a"]


def test_a_described_kind_is_a_copy_that_judges_as_before() -> None:
    plain = string(size=(1, 3))
    told = described(plain, "What it is called.")
    assert told.metadata["description"] == "What it is called."
    assert "description" not in plain.metadata
    assert (loaded(told, "ab"), loaded(told, "abcd")) == ("ab", ["Length must be between 1 and 3."])
    assert described(optional(integer), "How many.").required is False


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: described(string, 5), "described: the description must be text, not int"),
        (lambda: described(5, "text"), "described: expected a value kind, a marshmallow field or schema, or a mapping"),
        (lambda: object_id(of=Schema), "object_id: of must be the name of a model, not SchemaMeta"),
    ],
    ids=["no text", "no kind", "no name"],
)
def test_wrong_hints_for_clients_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        make()
