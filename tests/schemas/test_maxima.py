"""Maxima that settings put on texts without one, in acts and in models."""

from __future__ import annotations

import re
from base64 import b64encode
from typing import Any

import pytest
from marshmallow import Schema
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import (
    Schemas,
    array,
    binary,
    compile_struct,
    defaulted,
    described,
    email,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.kinds.text import StringField
from gatewayfw.settings import Settings
from tests.schemas.calls import new_document, refusals

TOO_LONG = "Longer than maximum length 5."
MODES = ["assert", "create"]


class Note(Schema):
    """A user's own Schema."""

    text = mm.String(required=True)
    title = string()


#: Forms of a text without a maximum, and where in a value of that form the text is.
PLACES = {
    "bare": (string, []),
    "called": (string(), []),
    "optional": (optional(string), []),
    "with a default": (defaulted(string(), "a"), []),
    "with a default that is made": (defaulted(string(), lambda: "a"), []),
    "described": (described(string(), "a text"), []),
    "with a pattern": (string(pattern="a*"), []),
    "with a least": (string(size=(1, None)), []),
    "in a list": (array(string), [0]),
    "in a list of lists": (array(array(string())), [0, 0]),
    "in an object": ({"part": string()}, ["part"]),
    "in an optional object": (optional(object_({"part": optional(string)})), ["part"]),
    "in a list of objects": (array(object_({"part": string()})), [0, "part"]),
    "in a list of ids and texts": (object_({"ids": optional(array(object_id())), "part": string()}), ["part"]),
}


def within(place: list[Any], text: str) -> Any:
    """Return a value with a text at a place."""
    value: Any = text
    for key in reversed(place):
        value = [value] if key == 0 else {key: value}
    return value


def compiled(field: Any, **settings: Any) -> Any:
    """Return a struct whose ``set`` has the field ``x``."""
    return compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings(**{"max_text": 5, **settings})))


def pure(field: Any, **settings: Any) -> Any:
    """Return the pure field ``x`` of a model."""
    schemas = Schemas(Settings(**{"max_text": 5, **settings}))
    return schemas.add("thing", {"x": field}).pure["x"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("field", "place"), PLACES.values(), ids=PLACES)
def test_a_text_of_an_act_has_at_most_the_settings_characters(field: Any, place: list[Any], mode: Any) -> None:
    checked = compiled(field)
    sent = {"set": {"x": within(place, "a" * 5)}, "get": {}}
    assert checked.check(sent, mode) == sent
    path = ".".join(map(str, ["set.x", *place]))
    long = {"set": {"x": within(place, "a" * 6)}, "get": {}}
    assert refusals(checked.check, long, mode) == {path: [TOO_LONG]}


@pytest.mark.parametrize(("field", "place"), PLACES.values(), ids=PLACES)
def test_a_text_of_a_model_has_at_most_the_settings_characters(field: Any, place: list[Any]) -> None:
    kept, path = pure(field), ".".join(map(str, ["doc.x", *place]))
    assert new_document({"x": kept}, {"x": within(place, "a" * 5)}) == {"x": within(place, "a" * 5)}
    assert refusals(new_document, {"x": kept}, {"x": within(place, "a" * 6)}) == {path: [TOO_LONG]}
    assert refusals(check_value, kept, within(place, "a" * 6), "doc.x") == {path: [TOO_LONG]}


@pytest.mark.parametrize(("field", "place"), PLACES.values(), ids=PLACES)
def test_the_quick_test_knows_the_bound(field: Any, place: list[Any]) -> None:
    test: Any = as_kind(pure(field)).quick_test()
    assert [bool(test(within(place, "a" * count))) for count in (5, 6)] == [True, False]


def test_characters_count_not_bytes() -> None:
    sent = {"set": {"x": "\U0001f600" * 5}, "get": {}}
    assert compiled(string).check(sent, "assert") == sent


@pytest.mark.parametrize(
    ("field", "fits"),
    [(string(size=(None, 9)), 9), (string(size=7), 7), (string(size=(7, None)), 7), (string(size=(None, 2)), 2)],
    ids=["most", "exact", "least above the setting", "most below the setting"],
)
def test_a_size_of_its_own_wins_over_the_setting(field: Any, fits: int) -> None:
    checked = compiled(field)
    asked = [refusals(checked.check, {"set": {"x": "a" * count}, "get": {}}, "create") for count in (fits, fits + 1)]
    assert [given is None for given in asked] == [True, False]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "field", [mm.String(), mm.String(required=True), Note, Note(), mm.Nested(Note), mm.List(mm.String())]
)
def test_fields_and_schemas_of_marshmallow_keep_their_own_rules(field: Any, mode: Any) -> None:
    bare = isinstance(field, mm.String)
    value = "a" * 99 if bare else ["a" * 99] if isinstance(field, mm.List) else {"text": "a" * 99, "title": "b" * 99}
    sent = {"set": {"x": value}, "get": {}}
    assert compiled(field).check(sent, mode) == sent
    assert refusals(new_document, {"x": pure(field)}, {"x": value}) is None


def test_the_kind_itself_and_other_gateways_stay_as_they_are() -> None:
    field = string()
    small, large = (compiled(field, max_text=most) for most in (1, 9))
    sent = {"set": {"x": "a" * 9}, "get": {}}
    assert refusals(small.check, sent, "assert") == {"set.x": ["Longer than maximum length 1."]}
    assert refusals(large.check, sent, "assert") is None
    assert field.validators == []
    assert dict(field.metadata) == {}
    assert field.states_maximum  # type: ignore[attr-defined]  # of our fields


def test_a_field_that_states_its_maximum_is_taken_as_it_is() -> None:
    field = object_({"a": array(string(size=(None, 9)), size=3), "b": email()})
    assert pure(field) is field


def test_a_pattern_is_not_tried_on_a_text_that_is_too_long() -> None:
    tried: list[str] = []

    field = StringField(required=True, validate=lambda text: tried.append(text))  # type: ignore[arg-type,func-returns-value]  # a check
    checked = compiled(field)
    assert refusals(checked.check, {"set": {"x": "a" * 6}, "get": {}}, "create") == {"set.x": [TOO_LONG]}
    assert tried == []


LARGE = (
    "size 9 is above the 8 characters that a text in a request may have; "
    "raise the setting 'max_body_text', or state a smaller size"
)


@pytest.mark.parametrize("size", [9, (None, 9), (9, None), (1, 9)])
@pytest.mark.parametrize(
    ("form", "path"),
    [
        (lambda kind: kind, "x"),
        (lambda kind: optional(array(kind)), "x[]"),
        (lambda kind: array(object_({"part": optional(kind)})), "x[].part"),
    ],
)
def test_a_size_above_what_requests_may_hold_is_a_definition_error(form: Any, path: str, size: Any) -> None:
    field = form(string(size=size))
    with pytest.raises(DefinitionError, match=re.escape(f"validator, field 'set.{path}': {LARGE}")):
        compiled(field, max_body_text=8)
    with pytest.raises(DefinitionError, match=re.escape(f"model 'thing', field '{path}': {LARGE}")):
        pure(field, max_body_text=8)
    assert pure(form(string(size=(1, 8))), max_body_text=8) is not None


@pytest.mark.parametrize(
    ("field", "path"),
    [
        (defaulted(string(), "a" * 6), "x"),
        (defaulted(array(string()), ["a" * 6]), "x"),
        (object_({"part": defaulted(string(), "a" * 6)}), "x.part"),
    ],
)
def test_a_default_that_is_too_long_is_a_definition_error(field: Any, path: str) -> None:
    message = re.escape(f"field '{path}': it refuses its default: {TOO_LONG}")
    with pytest.raises(DefinitionError, match=f"^model 'thing', {message}$"):
        pure(field)
    with pytest.raises(DefinitionError, match=f"^validator, {message.replace('x', 'set.x', 1)}$"):
        compiled(field)


def test_a_default_that_is_made_is_judged_when_it_is_used() -> None:
    field = pure(defaulted(string(), lambda: "a" * 6))
    assert refusals(new_document, {"x": field}, {}) == {"doc.x": [TOO_LONG]}
    assert refusals(compiled(defaulted(string(), lambda: "a" * 6)).check, {"set": {}, "get": {}}, "create") == {
        "set.x": [TOO_LONG]
    }


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("address", "fits"),
    [
        ("a@" + "b." * 124 + "org", True),
        ("aa@" + "b." * 124 + "orgs", False),
        ("\u00e9" * 60 + "@" + "b." * 64 + "orgs", True),
        ("\u00e9" * 63 + "@" + "b." * 64 + "orgs", False),
    ],
    ids=["253 letters", "255 letters", "253 bytes", "259 bytes of 196 letters"],
)
def test_an_email_has_at_most_254_bytes(address: str, fits: bool, mode: Any) -> None:
    given = refusals(compiled(email).check, {"set": {"x": address}, "get": {}}, mode)
    assert given == (None if fits else {"set.x": ["Not a valid email address."]})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("field", [binary, optional(binary()), binary(size=(1, None)), defaulted(binary(), "")])
def test_binary_data_without_a_size_has_at_most_as_many_bytes(field: Any, mode: Any) -> None:
    fits, long = (b64encode(b"a" * count).decode() for count in (5, 6))
    checked = compiled(field)
    assert refusals(checked.check, {"set": {"x": fits}, "get": {}}, mode) is None
    assert refusals(checked.check, {"set": {"x": long}, "get": {}}, mode) == {"set.x": [TOO_LONG]}
    kept = pure(field)
    assert new_document({"x": kept}, {"x": b"a" * 5}) == {"x": b"a" * 5}
    assert refusals(new_document, {"x": kept}, {"x": b"a" * 6}) == {"doc.x": [TOO_LONG]}
    assert list(as_kind(kept).unstated("x")) == ["x"]
    assert describe(kept)["sized"] is False


def test_binary_data_that_states_its_size_is_taken_as_it_is() -> None:
    field = binary(size=(None, 9))
    assert pure(field) is field
    assert list(as_kind(field).unstated("x")) == []
    assert pure(binary(size=6), max_body_text=8) is not None
    message = "size 7 is above the 6 bytes that binary data in a request may have; raise the setting 'max_body_text'"
    with pytest.raises(DefinitionError, match=f"model 'thing', field 'x': {message}"):
        pure(binary(size=7), max_body_text=8)
