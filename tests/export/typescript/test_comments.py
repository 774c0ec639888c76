"""What comments say, and that nobody can leave them."""

from __future__ import annotations

import pytest

from gatewayfw.export.typescript.kinds import comment, noted
from gatewayfw.export.typescript.module import comment_on, said_of

TEXT = {"kind": "string", "presence": "required"}


def test_comments_cannot_be_left():
    assert comment("a */ b") == "/** a *\\/ b */\n"
    assert comment(" One.\n\n  Two. \n") == "/**\n * One.\n *\n *   Two.\n */\n"
    assert comment(" \n") == ""


def test_comments_hold_nothing_that_hides_or_turns_the_code_around_them():
    assert comment("a\u202eb\x9bc\u2066d\u200be\ud800f") == "/** a b c d e f */\n"
    assert comment("one\u202e\u2028two\x85three") == "/**\n * one\n * two\n * three\n */\n"


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"exclusiveMinimum": 1, "exclusiveMaximum": 2}, "Above 1, below 2."),
        ({"noneOf": ["a", "b"]}, 'None of ["a", "b"].'),
        ({"minimum": 1, "maximum": 2}, "At least 1, at most 2."),
        ({"minLength": 1, "maxLength": 2}, "Characters at least 1, characters at most 2."),
        ({"minBytes": 1, "maxBytes": 2}, "Bytes at least 1, bytes at most 2."),
        ({"minItems": 1, "maxItems": 2}, "At least 1, at most 2."),
        ({"types": ["image/png", "image/gif"], "maxBytes": 2}, "image/png or image/gif, bytes at most 2."),
        ({"pattern": "^\u00e9$", "format": "uri"}, 'Pattern "^\u00e9$", format "uri".'),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
)
def test_what_a_comment_says_of_bounds(bounds, text):
    assert noted({**TEXT, **bounds}) == text


def test_what_a_comment_says_of_a_field():
    assert noted({"kind": "integer", "minimum": 0, "maximum": 9, "default": 1}) == "At least 0, at most 9, default 1."
    assert noted({"kind": "object_id", "of": "user"}) == "Id of user."
    assert noted({"kind": "array", "items": {"of": "user"}, "maxItems": 3}) == "Ids of user, at most 3."
    assert noted(TEXT) == ""


LINK = {"model": "user", "type": "multiple", "limit": None, "sort": None}


@pytest.mark.parametrize(
    ("link", "text"),
    [
        (LINK, ""),
        ({**LINK, "limit": 3, "sort": {"field": "age", "order": "desc"}}, "At most 3, by age descending."),
        ({**LINK, "of": "home", "default": {}}, "Reverse of user.home, listed by default."),
    ],
)
def test_what_a_comment_says_of_a_link(link, text):
    assert said_of(link) == text


def test_what_a_comment_says_of_an_act():
    act = {"description": "Do it.", "access": "public", "roles": [], "limit": [], "idempotent": 0, "errors": []}
    assert comment_on(act) == "Do it.\n\nFor anyone."
