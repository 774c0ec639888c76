"""What programs read of values that fields refuse: codes of the closed list, with the bounds of the field."""

from __future__ import annotations

import datetime as dt
import enum
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, validate
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.messages import CODES, detail_of
from gatewayfw.schemas import (
    Schemas,
    array,
    compile_struct,
    decimal,
    email,
    enums,
    integer,
    mapping,
    nullable,
    object_,
    string,
    url,
)
from gatewayfw.schemas.kinds import as_kind, checks
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.paths import flat
from gatewayfw.settings import Settings
from gatewayfw.web.reply import dumps
from tests import meaning
from tests.examples import examples
from tests.schemas.calls import refusals
from tests.schemas.kinds.test_marshmallow_table import NEEDED
from tests.strategies import json_values, kinds_with_values

MODES = ("assert", "create")
#: What descriptions call the bounds of codes.
NAMES = {
    "minimum": ("minimum", "minLength", "minItems", "minBytes"),
    "maximum": ("maximum", "maxLength", "maxItems", "maxBytes", "places"),
    "length": ("maxLength", "maxItems", "maxBytes"),
    "choices": ("choices",),
    "pattern": ("pattern",),
}
Details = dict[str, list[dict[str, Any]]]


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Right(enum.Flag):
    READ = 1
    WRITE = 2


class Person(Schema):
    error_messages = {"unknown": "What is this?"}
    name = mm.String(required=True, error_messages={"required": "A name, please."})
    born = mm.Date(validate=validate.Range(min=dt.date(1900, 1, 1), error="Too old."))


class Even(mm.Integer):
    default_error_messages = {"invalid": "No number.", "odd": "Odd."}

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        number = super()._deserialize(value, attr, data, **kwargs)
        if number % 2:
            raise self.make_error("odd")
        return number


class Priced(Schema):
    error_messages = {"unknown": {"code": "U1", "text": "What is this?"}}
    price = mm.Decimal(error_messages={"invalid": {"code": "E1", "more": {"texts": ["No price.", 7]}}})


class Money(mm.Field):
    default_error_messages = {"null": {"text": "Nothing?"}, "odd": {"text": "Odd.", "codes": ["E2"]}}

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        raise self.make_error("odd")


def fail(text: Any) -> Any:
    def check(_value: Any) -> None:
        raise ValidationError(text)

    return check


def refused(field: Any, value: Any, mode: str = "assert") -> tuple[dict[str, list[str]], Details]:
    """Return errors and details by path, without what stands before the value."""
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    errors = refusals(struct.check, {"set": {"x": value}, "get": {}}, mode) or {}
    details = {path: json.loads(dumps(list(map(detail_of, texts)))) for path, texts in errors.items()}
    return errors, {path.removeprefix("set.x"): told for path, told in details.items()}


def expected(kind: str) -> dict[str, Any]:
    return {"code": "wrong_type", "expected": kind}


NOTHING = {"code": "invalid"}
CASES: dict[str, tuple[Any, Any, Details]] = {
    "null": (integer, None, {"": [{"code": "null"}]}),
    "below": (integer(minimum=18, maximum=99), 17, {"": [{"code": "too_small", "minimum": 18}]}),
    "above": (integer(minimum=18, maximum=99), 100, {"": [{"code": "too_large", "maximum": 99}]}),
    "a decimal below": (decimal(places=2, minimum="1.5"), "1.00", {"": [{"code": "too_small", "minimum": "1.50"}]}),
    "places": (decimal(places=2), "1.001", {"": [{"code": "too_many_places", "maximum": 2}]}),
    "short": (string(size=(2, 3)), "a", {"": [{"code": "too_short", "minimum": 2}]}),
    "long": (string(size=(2, 3)), "abcd", {"": [{"code": "too_long", "maximum": 3}]}),
    "of another length": (string(size=2), "abc", {"": [{"code": "wrong_length", "length": 2}]}),
    "longer than the setting": (string, "a" * 10_001, {"": [{"code": "too_long", "maximum": 10_000}]}),
    "pattern": (string(pattern="[a-z]+"), "1", {"": [{"code": "no_match", "pattern": "[a-z]+"}]}),
    "choices": (enums("a", 1), "b", {"": [{"code": "not_a_choice", "choices": ["a", 1]}]}),
    "elements": (array(integer, size=(0, 2)), ["a", 1], {".0": [expected("integer")]}),
    "more elements": (array(integer, size=(0, 2)), [1, 2, 3], {"": [{"code": "too_long", "maximum": 2}]}),
    "values": (mapping(email), {"a": "b", "c": "d@e.org"}, {".a": [expected("email")]}),
    "keys": (mapping(url), {"\ud800": "https://a.org"}, {".\\ud800": [{"code": "not_a_key"}]}),
    "parts": (object_({"a": integer}), {"b": 1}, {".a": [{"code": "required"}], ".b": [{"code": "unknown"}]}),
    "Length": (mm.String(validate=validate.Length(2, 3)), "abcd", {"": [{"code": "too_long", "maximum": 3}]}),
    "Length with a text": (
        mm.String(validate=validate.Length(min=2, error="Too short!")),
        "a",
        {"": [{"code": "too_short", "minimum": 2}]},
    ),
    "Length of one": (
        mm.List(mm.Raw(), validate=validate.Length(equal=1)),
        [],
        {"": [{"code": "wrong_length", "length": 1}]},
    ),
    "Range": (
        mm.Integer(validate=validate.Range(max=3, error="{max}!")),
        4,
        {"": [{"code": "too_large", "maximum": 3}]},
    ),
    "Range without its end": (
        mm.Float(validate=validate.Range(1, 2, min_inclusive=False, max_inclusive=False)),
        1.0,
        {"": [{"code": "not_greater", "minimum": 1.0}]},
    ),
    "Range without its other end": (
        mm.Float(validate=validate.Range(1, 2, max_inclusive=False)),
        2.0,
        {"": [{"code": "not_less", "maximum": 2.0}]},
    ),
    "Range of days": (
        mm.Date(validate=validate.Range(min=dt.date(2020, 1, 1))),
        "2019-01-01",
        {"": [{"code": "too_small", "minimum": "2020-01-01"}]},
    ),
    "Range of times": (
        mm.TimeDelta(validate=validate.Range(max=dt.timedelta(minutes=1))),
        61,
        {"": [{"code": "too_large", "maximum": 60.0}]},
    ),
    "OneOf": (
        mm.Enum(Colour, validate=validate.OneOf([Colour.RED])),
        "BLUE",
        {"": [{"code": "not_a_choice", "choices": ["RED"]}]},
    ),
    "NoneOf": (mm.String(validate=validate.NoneOf(["a"])), "a", {"": [{"code": "excluded", "choices": ["a"]}]}),
    "ContainsOnly": (
        mm.List(mm.Integer(), validate=validate.ContainsOnly([1, 2])),
        [3],
        {"": [{"code": "not_a_choice", "choices": [1, 2]}]},
    ),
    "ContainsNoneOf": (
        mm.List(mm.Integer(), validate=validate.ContainsNoneOf([3])),
        [3],
        {"": [{"code": "excluded", "choices": [3]}]},
    ),
    "Equal": (mm.Integer(validate=validate.Equal(1)), 2, {"": [{"code": "not_a_choice", "choices": [1]}]}),
    "Regexp": (mm.String(validate=validate.Regexp("a")), "b", {"": [{"code": "no_match", "pattern": None}]}),
    "Regexp with a text": (
        mm.String(validate=validate.Regexp("a", error="No!")),
        "b",
        {"": [{"code": "no_match", "pattern": None}]},
    ),
    "Email": (mm.String(validate=validate.Email(error="No!")), "b", {"": [expected("email")]}),
    "URL": (mm.String(validate=validate.URL()), "b", {"": [expected("url")]}),
    "And": (
        mm.String(validate=validate.And(validate.Length(max=1), fail("No."))),
        "ab",
        {"": [{"code": "too_long", "maximum": 1}, NOTHING]},
    ),
    "Predicate": (mm.String(validate=validate.Predicate("isupper")), "a", {"": [NOTHING]}),
    "a check of a user's": (mm.String(validate=fail("No.")), "a", {"": [NOTHING]}),
    "a check of a user's with parts": (mm.Raw(validate=fail({"a": ["No."]})), 1, {"": [NOTHING]}),
    "Enum": (mm.Enum(Colour), "r", {"": [{"code": "not_a_choice", "choices": ["RED", "BLUE"]}]}),
    "Enum by value": (mm.Enum(Colour, by_value=True), "RED", {"": [{"code": "not_a_choice", "choices": ["r", "b"]}]}),
    "Enum of flags": (mm.Enum(Right), "read", {"": [{"code": "not_a_choice", "choices": ["READ", "WRITE"]}]}),
    "Enum of flags by value": (mm.Enum(Right, by_value=True), 4, {"": [expected("integer")]}),
    "UUID": (mm.UUID(), "a", {"": [expected("uuid")]}),
    "DateTime": (mm.DateTime(), "a", {"": [expected("datetime")]}),
    "DateTime with a text": (mm.DateTime(error_messages={"invalid": "No."}), "a", {"": [expected("datetime")]}),
    "AwareDateTime": (mm.AwareDateTime(), "2020-01-01T00:00:00", {"": [expected("datetime")]}),
    "Time": (mm.Time(), "a", {"": [expected("time")]}),
    "Date": (mm.Date(), "a", {"": [expected("date")]}),
    "TimeDelta": (mm.TimeDelta(), "a", {"": [expected("duration")]}),
    "Tuple": (
        mm.Tuple([mm.IPv4(), mm.IPv6Interface()]),
        ["a", "b"],
        {".0": [expected("ip")], ".1": [expected("ip_interface")]},
    ),
    "no Tuple": (mm.Tuple([mm.Raw()]), "a", {"": [expected("list")]}),
    "Url": (mm.Url(error_messages={"invalid": "No."}), "a", {"": [expected("url")]}),
    "a text of a user's": (mm.Integer(error_messages={"null": "No."}), None, {"": [{"code": "null"}]}),
    "a field of a user's": (Even(), "a", {"": [expected("integer")]}),
    "a text that only a user's field has": (Even(), 1, {"": [NOTHING]}),
    "a Schema": (Person, {"b": 1}, {".name": [{"code": "required"}], ".b": [{"code": "unknown"}]}),
    "a field of a Schema": (
        Person,
        {"name": "a", "born": "1800-01-01"},
        {".born": [{"code": "too_small", "minimum": "1900-01-01"}]},
    ),
    "no object for a Schema": (Person, 1, {"": [expected("object")]}),
    "Nested": (mm.List(mm.Nested(Person)), [{}, 1], {".0.name": [{"code": "required"}], ".1": [expected("object")]}),
    "null for a Schema": (Person, None, {"": [{"code": "null"}]}),
    "an object for a Schema of many": (Person(many=True), {}, {"": [expected("list")]}),
    "a text for Nested of many": (mm.Nested(Person, many=True), "a", {"": [expected("list")]}),
    "no object for one of many": (Person(many=True), [1], {".0": [expected("object")]}),
    "a Tuple of another length": (mm.Tuple([mm.Raw()]), [1, 2], {"": [{"code": "wrong_length", "length": 1}]}),
    "a text with parts": (Priced, {"price": "a"}, {".price": [expected("number")] * 3}),
    "a text with parts for an unknown name": (Priced, {"a": 1}, {".a": [{"code": "unknown"}] * 2}),
    "texts with parts of a user's field": (Money(), None, {"": [{"code": "null"}]}),
    "a text with parts that only a user's field has": (Money(), 1, {"": [NOTHING] * 2}),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("field", "value", "details"), CASES.values(), ids=CASES)
def test_a_refused_value_has_a_code_with_the_bounds_of_its_field(field, value, details, mode):
    assert refused(field, value, mode)[1] == details


def test_texts_of_users_stay_as_they_are():
    errors, _ = refused(mm.List(mm.Nested(Person)), [{"born": "1800-01-01", "b": 1}])
    assert errors == {"set.x.0.name": ["A name, please."], "set.x.0.b": ["What is this?"], "set.x.0.born": ["Too old."]}


def test_a_text_with_parts_is_several_texts_about_one_value():
    errors, _ = refused(Priced, {"price": "a", "b": 1})
    assert errors == {"set.x.price": ["E1", "No price.", "7"], "set.x.b": ["U1", "What is this?"]}


def test_fields_and_checks_of_users_stay_as_they_are():
    check = validate.Length(max=1)
    field = mm.String(validate=check)
    before = vars(field).copy(), vars(check).copy(), dict(field.error_messages)
    refused(field, "ab")
    assert (vars(field), vars(check), field.error_messages) == before
    assert field.validators == [check]


def bounds_at(field: Any, path: str) -> dict[str, list[Any]]:
    """Return what the field at a path says of bounds, by their names in details."""
    kind = as_kind(field)
    for name in path.split(".")[1:]:  # it is "" or begins with a dot; a name may be empty
        inner = kind.part(int(name) if kind.elements is not None else name)
        kind = kind if inner is None else as_kind(inner)
    words = describe(kind)
    return {bound: [words[name] for name in names if name in words] for bound, names in NAMES.items()}


def faults(field: Any, value: Any, mode: str) -> list[object]:
    """Return what is wrong with the details of a refusal."""
    errors, details = refused(field, value, mode)
    texts = {path.removeprefix("set.x"): list(told) for path, told in errors.items()}
    found: list[object] = []
    for path, told in details.items():
        if len(told) != len(texts[path]):
            found.append((path, "not as many codes as texts"))
        for text, detail in zip(texts[path], told, strict=True):
            bounds = {name: bound for name, bound in detail.items() if name != "code"}
            if tuple(bounds) != CODES.get(detail["code"]):
                found.append((path, detail, "other bounds"))
            if detail == NOTHING and text != messages.INVALID:
                found.append((path, text, "no code"))
            for name in bounds.keys() & NAMES:
                if detail["code"] != "too_many_digits" and bounds[name] not in bounds_at(field, path)[name]:
                    found.append((path, detail, "not the bounds of the field"))
    return found


@examples(200)
@given(drawn=kinds_with_values(), mode=st.sampled_from(MODES))
@example(drawn=(CASES["short"][0], CASES["short"][1]), mode="assert")
def test_each_text_about_a_wrong_value_of_a_kind_has_a_code_and_its_bounds(drawn, mode):
    kind, value = drawn
    assert faults(getattr(kind, "field", kind), value, mode) == []


_ends = st.integers(-3, 3)
_words = st.lists(st.text("abc", max_size=2), min_size=1, max_size=3)
CHECKED = st.one_of(
    st.tuples(_ends, _ends).map(lambda ends: mm.Integer(validate=validate.Range(*sorted(ends), error="No."))),
    st.tuples(_ends, _ends).map(lambda ends: integer(minimum=min(ends), maximum=max(ends))),
    st.integers(0, 3).map(lambda most: mm.String(validate=validate.Length(max=most))),
    st.integers(0, 3).map(lambda most: array(enums("a", "b"), size=(1, most + 1))),
    _words.map(lambda words: mm.String(validate=validate.OneOf(words))),
    _words.map(lambda words: nullable(enums(*words))),
    meaning.meanings().map(lambda made: made.field),
)


@examples(300)
@given(field=CHECKED, value=json_values, mode=st.sampled_from(MODES))
def test_each_text_about_a_wrong_value_of_any_field_has_a_code_and_its_bounds(field, value, mode):
    assert faults(field, value, mode) == []


_counts = st.integers(0, 3)
#: Checks of marshmallow's whose texts say their bounds; what a text says of choices may be of any type.
TOLD = st.one_of(
    st.tuples(_counts, _counts).map(lambda ends: validate.Length(*sorted(ends))),
    st.builds(validate.Length, min=_counts) | st.builds(validate.Length, max=_counts),
    st.builds(validate.Length, equal=_counts),
    st.tuples(_ends, _ends).map(lambda ends: validate.Range(*sorted(ends))),
    st.builds(validate.Range, min=_ends, min_inclusive=st.booleans()),
    st.builds(validate.Range, max=_ends, max_inclusive=st.booleans()),
    st.sampled_from([validate.Regexp("a"), validate.Email(), validate.URL()]),
)
NAMED = [
    name
    for name in mm.__all__
    if name not in ("Field", "Number", "Mapping", "Enum", "Pluck", "Function", "Method", "Constant")
]


@examples(300)
@given(name=st.sampled_from(NAMED), check=TOLD, value=json_values | st.text("ab", max_size=4) | st.integers(-4, 4))
@example(name="Integer", check=validate.Range(min=1), value=0)
@example(name="Integer", check=validate.Range(min=1, min_inclusive=False), value=1)
@example(name="Integer", check=validate.Range(max=1, max_inclusive=False), value=1)
@example(name="String", check=validate.Regexp("a"), value="b")
@example(name="List", check=validate.Length(equal=1), value=[])
@example(name="List", check=validate.Length(1, 2), value=[])
@example(name="AwareDateTime", check=validate.Email(), value="2020-01-01T00:00:00")
def test_each_text_that_a_schema_of_an_act_raises_has_a_code_and_its_bounds(name, check, value):
    field = getattr(mm, name)(**NEEDED.get(name, {}), validate=check)
    try:
        Schema.from_dict({"x": field})().load({"x": value})
    except ValidationError as error:
        for text in (text for _, text in flat(error.normalized_messages(), "") if text != messages.INVALID):
            detail = detail_of(text)
            assert detail != NOTHING, text
            assert tuple(bound for bound in detail if bound != "code") == CODES[detail["code"]]
    except (TypeError, AttributeError):  # a check of a value that it does not measure
        pass


TEXTS = ("Not a valid {obj_type}.", "Not a valid integer.")
TAKEN_OUT = {
    **{f"text: {text}": ("KNOWN", text) for text in TEXTS},
    **{f"check: {kind.__name__}": ("CHECKS", kind) for kind in checks.CHECKS if kind is not validate.And},
}


@pytest.mark.parametrize(("table", "row"), TAKEN_OUT.values(), ids=TAKEN_OUT)
def test_a_row_that_is_taken_out_leaves_a_text_without_a_code(monkeypatch, table, row):
    rest = {key: value for key, value in getattr(checks, table).items() if key != row}
    monkeypatch.setattr(checks, table, rest)
    changed = [name for name, (field, value, details) in CASES.items() if refused(field, value)[1] != details]
    assert changed != []
