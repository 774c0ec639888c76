"""Texts: their bounds, what filters compare with, their size in the database."""

from __future__ import annotations

import re

import pytest
from marshmallow import validate

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import email, string, url
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.sizes import ENDLESS, TEXT
from gatewayfw.schemas.kinds.text import LONGEST_EMAIL
from gatewayfw.schemas.maxima import put_maxima
from gatewayfw.settings import Settings
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

PLAIN = {"sorts": True, "abilities": [], "sets parts": False, "is_text": True}
MAXIMA = Settings(max_text=10, max_body_text=20)


@pytest.mark.parametrize("field", [string(size=(2, 3)), email(), url()], ids=["string", "email", "url"])
def test_filters_compare_with_any_text(field):
    assert compared(field, "a", "much too long", "", None) == ["a", "much too long", "", None]
    assert compared(field, 5, ["a"], b"a", "\ud800") == [{"x": ["Not a valid string."]}] * 4


def test_a_letter_has_at_most_four_bytes():
    assert answers(string(size=(1, 5))) == {**PLAIN, "largest": TEXT + 4 * 5, "unstated": []}
    assert answers(string()) == {**PLAIN, "largest": ENDLESS, "unstated": ["x"]}


@pytest.mark.parametrize("text", ["ftp://example.org", "javascript:alert(1)", "//example.org", "example.org", "x"])
def test_what_is_no_address_of_the_web_is_refused(text):
    assert checked(url(), text, "create") == {"set.x": ["Not a valid URL."]}


@pytest.mark.parametrize(("extra", "fits"), [(0, True), (1, False)])
@pytest.mark.parametrize("local", ["a" * 3, "é" + "a"], ids=["letters", "bytes"])
def test_an_email_may_have_exactly_254_bytes(local, extra, fits):
    address = local + "a" * extra + "@" + "b." * 123 + "orgs"
    assert len(address.encode()) == 254 + extra
    assert checked(email(), address, "create") == (address if fits else {"set.x": ["Not a valid email address."]})
    assert bool(quick_of(email()).test(address)) is fits


def test_what_is_no_address_is_not_known_at_once():
    assert [bool(quick_of(email()).test(value)) for value in ("a@b.org", "a", "\ud800@b.org", 5)] == [
        *(True, False, False, False)
    ]


def test_checks_of_a_text_run_until_one_refuses():
    field = string(size=(2, None), pattern="a+")
    field.validators.append(validate.OneOf(["aa"]))
    assert [checked(field, text, "create") for text in ("b", "bb", "aaa")] == [
        {"set.x": [message]}
        for message in (
            "Shorter than minimum length 2.",
            "String does not match expected pattern.",
            "Must be one of: aa.",
        )
    ]


def test_an_email_is_bounded_by_its_kind():
    assert answers(email()) == {**PLAIN, "largest": TEXT + LONGEST_EMAIL, "unstated": []}
    assert put_maxima(email(), MAXIMA, "act").deserialize("someone@example.org") == "someone@example.org"


def test_a_setting_bounds_a_text_that_states_no_most():
    bound = put_maxima(string(), MAXIMA, "act")
    assert [checked(bound, "x" * many, "assert") for many in (10, 11)] == [
        "x" * 10,
        {"set.x": ["Longer than maximum length 10."]},
    ]
    stated = string(size=(None, 20))
    assert put_maxima(stated, MAXIMA, "act") is stated
    assert put_maxima(email(), MAXIMA, "act").validators[1:] == []
    assert [
        put_maxima(string(size=size), MAXIMA, "act").metadata["size"] for size in ((2, None), (12, None), None)
    ] == [*((2, 10), (12, 12), (None, 10))]
    assert checked(put_maxima(string(), Settings(max_text=0, max_body_text=0), "act"), "", "assert") == ""


def test_a_most_above_what_may_be_stated_is_refused():
    for size in (21, (None, 21), (21, None)):
        with pytest.raises(DefinitionError) as caught:
            put_maxima(string(size=size), MAXIMA, "act")
        assert caught.value.message == (
            "act, field '': size 21 is above the 20 characters that a text in a request may have; "
            "raise the setting 'max_body_text', or state a smaller size"
        )


def test_descriptions_name_what_the_kind_says():
    assert as_kind(string(size=(1, 5), pattern="[a-z]+")).description() == {
        "kind": "string",
        "minLength": 1,
        "maxLength": 5,
        "pattern": "[a-z]+",
    }
    assert [as_kind(field).description() for field in (email(), url())] == [
        {"kind": "email"},
        {"kind": "string", "format": "uri"},
    ]
    assert [as_kind(put_maxima(field, MAXIMA, "act")).description() for field in (string(), email(), url())] == [
        {"kind": "string", "maxLength": 10, "sized": False},
        {"kind": "email"},
        {"kind": "string", "maxLength": 10, "format": "uri", "sized": False},
    ]


def test_only_patterns_that_say_all_are_described():
    assert as_kind(string(pattern=re.compile("a", re.IGNORECASE))).description() == {"kind": "string"}
    field = string()
    field.validators = [validate.Regexp("a")]
    assert as_kind(field).description() == {"kind": "string"}
    field.validators = [validate.OneOf(["a", "b"]), validate.Length(1)]
    assert as_kind(field).description() == {"kind": "enums", "choices": ["a", "b"]}
