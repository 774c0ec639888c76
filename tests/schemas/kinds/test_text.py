"""Texts: their bounds, what filters compare with, their size in the database."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import email, string, url
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.base import Maxima
from gatewayfw.schemas.kinds.sizes import ENDLESS, TEXT
from gatewayfw.schemas.kinds.text import LONGEST_EMAIL
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

PLAIN = {"sorts": True, "operators": [], "sets parts": False}
MAXIMA = Maxima(text=10, stated=20)


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


def test_an_email_is_bounded_by_its_kind():
    assert answers(email()) == {**PLAIN, "largest": TEXT + LONGEST_EMAIL, "unstated": []}
    assert as_kind(email()).bound(MAXIMA).deserialize("someone@example.org") == "someone@example.org"


def test_a_setting_bounds_a_text_that_states_no_most():
    bound = as_kind(string()).bound(MAXIMA)
    assert [checked(bound, "x" * many, "assert") for many in (10, 11)] == [
        "x" * 10,
        {"set.x": ["Longer than maximum length 10."]},
    ]
    stated = string(size=(None, 20))
    assert as_kind(stated).bound(MAXIMA) is stated


def test_a_most_above_what_may_be_stated_is_refused():
    with pytest.raises(DefinitionError):
        as_kind(string(size=(None, 21))).bound(MAXIMA)


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
