"""Cookies of a reply: what is sent of them, and what browsers would drop."""

from __future__ import annotations

import pytest

from gatewayfw.acts.replies import find_cookie_problems, write_cookie

SESSION = {"name": "session", "value": "a1"}
VALUE = "value must be ASCII without spaces, quotes, commas, semicolons and backslashes; encode others"
NAME = "name must be up to 100 letters, digits and signs of a token"
PATH = "path must begin with / and have no spaces or semicolons"


@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ({}, "session=a1; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ({"value": ""}, "session=; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ({"max_age": 0}, "session=a1; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ({"httponly": False, "samesite": "None"}, "session=a1; Path=/; Secure; SameSite=None"),
        (
            {"secure": False, "path": "/api", "domain": "shop.example", "max_age": 60, "samesite": "Strict"},
            "session=a1; Max-Age=60; Path=/api; Domain=shop.example; HttpOnly; SameSite=Strict",
        ),
        ({"name": "!#$%&'*+.^_`|~09AZaz-"}, "!#$%&'*+.^_`|~09AZaz-=a1; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ({"domain": "Shop-1.example"}, "session=a1; Path=/; Domain=Shop-1.example; Secure; HttpOnly; SameSite=Lax"),
        ({"max_age": 2**31 - 1}, "session=a1; Max-Age=2147483647; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ({"value": "x" * 4_089}, f"session={'x' * 4_089}; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ({"name": "__Host-session"}, "__Host-session=a1; Path=/; Secure; HttpOnly; SameSite=Lax"),
    ],
)
def test_a_cookie_is_sent_with_what_it_says_and_safe_otherwise(more, sent):
    cookie = {**SESSION, **more}
    assert (list(find_cookie_problems(cookie)), write_cookie(cookie)) == ([], sent)


@pytest.mark.parametrize(
    ("cookie", "problems"),
    [
        ("session=a1", ["expected an object with name and value"]),
        ({}, [NAME, VALUE]),
        ({**SESSION, "name": ""}, [NAME]),
        ({**SESSION, "name": "a=b"}, [NAME]),
        ({**SESSION, "value": "a; Domain=evil.example"}, [VALUE]),
        ({**SESSION, "value": "a\r\nX-Evil: 1"}, [VALUE]),
        ({**SESSION, "value": "é"}, [VALUE]),
        ({**SESSION, "value": 5}, [VALUE]),
        ({**SESSION, "path": "api"}, [PATH]),
        ({**SESSION, "path": "/; Secure"}, [PATH]),
        ({**SESSION, "domain": "a b"}, ["domain must be a name such as example.com, or None"]),
        ({**SESSION, "max_age": -1}, ["max_age must be a whole number of seconds, 0 or more, or None"]),
        ({**SESSION, "max_age": 2**31}, ["max_age must be a whole number of seconds, 0 or more, or None"]),
        ({**SESSION, "max_age": True}, ["max_age must be a whole number of seconds, 0 or more, or None"]),
        ({**SESSION, "secure": None}, ["secure must be true or false"]),
        ({**SESSION, "httponly": 1}, ["httponly must be true or false"]),
        ({**SESSION, "samesite": "lax"}, ["samesite must be 'Strict', 'Lax' or 'None'"]),
        ({**SESSION, "expires": 5}, ["unknown key 'expires'"]),
        ({**SESSION, "value": "x" * 4_090}, ["name and value together may have 4096 characters"]),
        ({**SESSION, "samesite": "None", "secure": False}, ["samesite 'None' needs secure"]),
        (
            {**SESSION, "name": "__Secure-a", "secure": False},
            ["a name that begins with __Secure- or __Host- needs secure"],
        ),
        (
            {**SESSION, "name": "__HOST-a", "secure": False},
            ["a name that begins with __Secure- or __Host- needs secure"],
        ),
        (
            {**SESSION, "name": "__Host-a", "domain": "shop.example"},
            ["a name that begins with __Host- needs the path / and no domain"],
        ),
        (
            {**SESSION, "name": "__Host-a", "path": "/api"},
            ["a name that begins with __Host- needs the path / and no domain"],
        ),
    ],
)
def test_a_cookie_that_cannot_be_sent_or_would_be_dropped_is_refused(cookie, problems):
    assert list(find_cookie_problems(cookie)) == problems
