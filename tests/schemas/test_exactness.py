"""What ``assert`` refuses beside what load refuses: all that load would change."""

from __future__ import annotations

from types import MappingProxyType

import marshmallow
import pytest
from marshmallow import EXCLUDE, INCLUDE, Schema, pre_load, validates_schema
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError
from gatewayfw.schemas import (
    Schemas,
    array,
    boolean,
    compile_struct,
    date,
    defaulted,
    integer,
    mapping,
    object_,
    optional,
    string,
)
from gatewayfw.schemas.exactness import differences, load_exactly, unstorable_keys
from gatewayfw.schemas.kinds.numbers import IntegerField
from gatewayfw.schemas.paths import Collected
from gatewayfw.settings import Settings


def told(field, sent, *, fill=False):
    collected = Collected()
    loaded = load_exactly(field, sent, "x", collected, fill=fill)
    return loaded, dict(collected.errors)


def told_by(failures):
    return {path: [message] for path, message in failures}


def test_what_load_leaves_unchanged_is_exact():
    assert told(object_({"a": array(integer)}), {"a": [1, 2]}) == ({"a": [1, 2]}, {})


@pytest.mark.parametrize(
    ("field", "sent", "path"),
    [
        (integer(), 5.0, "x"),
        (array(array(integer)), [[1], [2, 3.0]], "x.1.1"),
        (object_({"a": mapping(integer)}), {"a": {"k": 1.0}}, "x.a.k"),
    ],
    ids=["value", "in lists", "in objects"],
)
def test_what_load_changes_is_told_where_it_is(field, sent, path):
    assert told(field, sent)[1] == {path: ["Not a valid integer."]}


def test_parts_after_the_errors_at_which_loading_stopped_are_not_judged():
    """Long keys are cut in paths, so that many errors may have one path."""
    sent = {"k" * 70 + str(number): 1 for number in range(150)}
    _, errors = told(mapping(object_({"a": integer()})), sent)
    assert list(errors) == ["x." + "k" * 64]
    assert set(errors["x." + "k" * 64]) == {"Not a valid mapping type."}


def test_refused_and_changed_parts_are_all_told():
    assert told(object_({"a": integer(), "b": integer(), "c": integer()}), {"a": 5.0, "b": "x", "c": 1}) == (
        None,
        {"x.a": ["Not a valid integer."], "x.b": ["Not a valid integer."]},
    )


def test_a_filled_default_is_a_change_unless_it_may_be_filled():
    field = object_({"a": defaulted(integer, 1)})
    assert told(field, {})[1] == {"x.a": ["Missing data for required field."]}
    assert told(field, {}, fill=True) == ({"a": 1}, {})


def test_a_date_in_another_notation_is_the_same():
    assert told(date(), "2024-01-01T02:00:00+02:00")[1] == {}


def test_keys_the_database_cannot_hold_are_told_with_their_places():
    value = {"a": [{}, {"$b": 1}], "c.d": 2, "e": ({"f": 1}, {"$g": {"$h": 1}})}
    told = "Not a key the database can hold."
    assert dict(unstorable_keys(value, "x")) == dict.fromkeys(("x.a.1.$b", "x.c.d", "x.e.1.$g", "x.e.1.$g.$h"), told)


REQUIRED, UNKNOWN, INVALID = "Missing data for required field.", "Unknown field.", "Invalid value."
OWN = {"required": "Say it.", "invalid": "Not so."}


@pytest.mark.parametrize(
    ("sent", "dumped", "errors"),
    [
        ({"a": 1, "b": [1, {"c": None}]}, {"b": (1, {"c": None}), "a": 1}, {}),
        (MappingProxyType({"a": 1}), {"a": 2}, {"x.a": [INVALID]}),
        ({"a": 1}, MappingProxyType({"a": 1.0}), {"x.a": [INVALID]}),
        (
            {"a": 1, "b": 1},
            {"c": 1, "d": 1},
            dict.fromkeys(("x.c", "x.d"), [REQUIRED]) | dict.fromkeys(("x.a", "x.b"), [UNKNOWN]),
        ),
        ([1, [2, 3]], [True, (2, 4)], {"x.0": [INVALID], "x.1.1": [INVALID]}),
        ([1, 2], [1], {"x": [INVALID]}),
        ([1], {"0": 1}, {"x": [INVALID]}),
        ({}, [], {"x": [INVALID]}),
        ("a", "a", {}),
        ("a", None, {"x": [INVALID]}),
    ],
)
def test_each_difference_is_told_at_its_place(sent, dumped, errors):
    assert told_by(differences(sent, dumped, "x")) == errors


def test_differences_are_told_in_the_words_of_their_fields():
    field = object_(
        {"a": IntegerField(load_default=1, error_messages=OWN), "b": IntegerField(error_messages=OWN), "c": boolean()}
    )
    assert told(field, {"b": 1.0, "c": 1})[1] == {
        "x.a": ["Say it."],
        "x.b": ["Not so."],
        "x.c": ["Not a valid boolean."],
    }


class Person(Schema):
    """A user's own schema, with one of our kinds."""

    age = integer()
    name = mm.String()


@pytest.mark.parametrize(
    ("field", "sent", "errors"),
    [
        (
            mm.Nested(Person(unknown=EXCLUDE)),
            {"z": 1, "age": 1.0, "y": 1},
            {"x.z": [UNKNOWN], "x.age": ["Not a valid integer."], "x.y": [UNKNOWN]},
        ),
        (mm.Nested(Person, many=True), [{"age": 1}, {"age": 2.0}], {"x.1.age": ["Not a valid integer."]}),
        (mm.List(mm.Nested(Person)), [{"age": 1.0}], {"x.0.age": ["Not a valid integer."]}),
        (mm.Tuple((mm.Integer(), integer())), ["1", 2.0], {"x.1": ["Not a valid integer."]}),
        (mm.Dict(values=integer()), {"a": 1.0}, {"x.a": ["Not a valid integer."]}),
        (
            object_({"p": mm.Nested(Person), "n": integer()}),
            {"p": {"age": 1.0}, "n": "x"},
            {"x.p.age": ["Not a valid integer."], "x.n": ["Not a valid integer."]},
        ),
        (
            object_({"p": mm.Nested(Person), "n": integer()}),
            {"p": {"age": "x"}, "n": 1.0},
            {"x.p.age": ["Not a valid integer."], "x.n": ["Not a valid integer."]},
        ),
    ],
    ids=["schema", "many", "list", "tuple", "dict", "beside a refusal", "a refusal"],
)
def test_our_kinds_stay_exact_in_fields_of_others(field, sent, errors):
    assert told(field, sent)[1] == errors


def test_a_filled_default_is_no_change_in_a_field_of_anothers():
    field = mm.Nested(Schema.from_dict({"part": object_({"a": defaulted(integer, 1)})}))
    assert told(field, {"part": {}})[1] == {"x.part.a": [REQUIRED]}
    assert told(field, {"part": {}}, fill=True)[1] == {}


def test_a_filled_default_is_no_change_beside_a_refusal():
    field = object_({"part": object_({"a": defaulted(integer, 1)}), "n": integer()})
    wrong = {"x.n": ["Not a valid integer."]}
    assert told(field, {"part": {}, "n": "x"})[1] == {"x.part.a": [REQUIRED]} | wrong
    assert told(field, {"part": {}, "n": "x"}, fill=True)[1] == wrong


def test_an_absent_part_is_no_error_where_it_is_optional():
    field = object_({"a": optional(integer), "b": array(optional(string)), "n": integer()})
    assert told(field, {"b": ["a"], "n": "x"})[1] == {"x.n": ["Not a valid integer."]}
    assert told(field, {"b": ["a", 1], "n": 1})[1] == {"x.b.1": ["Not a valid string."]}


def test_what_a_hook_of_a_schema_replaces_is_its_own_matter():
    class Hooked(Schema):
        a = integer()
        b = integer()

        @pre_load
        def replace(self, data, **kwargs):
            return {"a": 1, "b": 1}

    assert told(mm.Nested(Hooked), {"a": "x", "b": 1.0})[1] == {"x.b": ["Not a valid integer."]}


class Card(Schema):
    """A schema whose field has another name in JSON."""

    number = mm.Integer(data_key="No")


@pytest.mark.parametrize(
    ("field", "sent", "paths"),
    [
        (mm.Nested(Card, unknown=INCLUDE), {"No": 1, "z": 2}, []),
        (mm.Nested(Card, unknown=EXCLUDE), {"No": 1, "z": 2}, ["x.z"]),
        (mm.Nested(Card(unknown=EXCLUDE)), {"z": 2}, ["x.z"]),
        (mm.Nested(Card(unknown=EXCLUDE), many=True), [{"No": 1}, {"z": 2}], ["x.1.z"]),
        (mm.List(mm.Nested(Card, unknown=EXCLUDE)), [{"No": 1}, {"z": 2}], ["x.1.z"]),
        (mm.Tuple((mm.Raw(), mm.Nested(Card, unknown=EXCLUDE))), [1, {"z": 2}], ["x.1.z"]),
        (mm.Dict(values=mm.Nested(Card, unknown=EXCLUDE)), {"a": {"z": 2}}, ["x.a.z"]),
        (mm.Dict(), {"z": 1}, []),
        (mm.Raw(), {"z": 1}, []),
    ],
)
def test_what_a_schema_drops_is_told_where_it_is(field, sent, paths):
    assert told(field, sent)[1] == {path: ["Unknown field."] for path in paths}


_card = mm.Nested(Card)


def refuse_parts(value):
    """Refuse a value by names of parts."""
    raise marshmallow.ValidationError({"low": ["Too low."], "high": {"far": "Too high."}})


class Halves(Schema):
    """A Schema that tells of parts of a text."""

    text = mm.String()

    @validates_schema
    def judge(self, data, **_):
        """Refuse the text by names of parts."""
        raise marshmallow.ValidationError({"text": {"first": ["Too short."]}})


class Split(mm.List):
    """A list that is sent as text, too."""

    def _deserialize(self, value, attr, data, **kwargs):
        parts = value.split(",") if isinstance(value, str) else value
        return super()._deserialize(parts, attr, data, **kwargs)


@pytest.mark.parametrize(
    ("field", "sent", "paths"),
    [
        (mm.Dict(keys=mm.Integer(), values=mm.Integer()), {"a": "b", "1": "c", "2": 3}, ["x.a", "x.1"]),
        (mm.Dict(keys=mm.Integer()), {"a": "b"}, ["x.a"]),
        (
            mm.Dict(values=_card),
            {"value": {"No": "n"}, "_schema": 5, "a": {"z": 1}},
            ["x.value.No", "x._schema", "x.a.z"],
        ),
        (mm.Dict(values=mm.Dict(values=_card)), {"a": {"b": {"No": "n"}}}, ["x.a.b.No"]),
        (mm.List(mm.Dict(values=mm.Tuple((_card, mm.Date())))), [{"a": [{"No": "n"}, "d"]}], ["x.0.a.0.No", "x.0.a.1"]),
        (mapping(array(mm.Dict(values=_card))), {"a": [{"b": {"No": "n"}}]}, ["x.a.0.b.No"]),
        (mapping(integer), {"_schema": "a"}, ["x._schema"]),
        (mm.Pluck(Card, "number"), "n", ["x"]),
        (mm.Pluck(Card, "number", many=True), [1, "n"], ["x.1"]),
        (
            mm.Nested({"of": mm.Pluck(Card, "number"), "by": mm.Dict(values=mm.UUID())}),
            {"of": "n", "by": {"a": 1}},
            ["x.of", "x.by.a"],
        ),
        (
            mm.Dict(values=mm.Nested({"value": mm.Date(), "key": mm.Date()})),
            {"a": {"value": "d", "key": "d"}},
            ["x.a.value", "x.a.key"],
        ),
        # A text or a number has no parts, whatever a validator, a hook or a field of the user's calls them.
        (mm.Integer(validate=refuse_parts), 1, ["x"]),
        (mm.List(mm.Integer(validate=refuse_parts)), [1], ["x.0"]),
        (mm.Nested(Halves), {"text": "a"}, ["x.text"]),
        (Split(mm.Integer()), "1,b", ["x"]),
        (Split(mm.Integer()), [1, "b"], ["x.1"]),
        (mm.Dict(keys=mm.String(validate=refuse_parts)), {"a": {}}, ["x.a"]),
        (mm.Raw(validate=refuse_parts), {"low": 1}, ["x.low", "x.high.far"]),
    ],
)
def test_a_refused_part_is_told_where_it_was_sent(field, sent, paths):
    assert list(told(field, sent)[1]) == paths
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    for mode in ("assert", "create"):
        with pytest.raises(ValidationError) as caught:
            struct.check({"set": {"x": sent}, "get": {}}, mode)
        assert list(caught.value.errors) == [f"set.{path}" for path in paths]
