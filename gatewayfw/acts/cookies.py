"""Cookies that a reply sets, by the words of Flask's ``set_cookie``.

Without a word about it a cookie is for HTTPS only, out of reach of scripts, and not sent along by other sites.

Source: RFC 6265, section 4.1; the defaults are our choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

#: A token of HTTP, such as the name of a header or a cookie.
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[!#-+\--:<-\[\]-~]*")
_PATH = re.compile(r"/[!-:<-~]*")
_DOMAIN = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
#: Most characters of name and value together: browsers drop larger cookies.
_MOST = 4_096
_SAME_SITE = ("Strict", "Lax", "None")
_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"max_age": None, "path": "/", "domain": None, "secure": True, "httponly": True, "samesite": "Lax"}
)


def cookie_problems(given: Any) -> Iterator[str]:
    """Yield what is wrong with a cookie, in words that hold none of its values.

    A cookie is ``{"name", "value", "max_age"?, "path"?, "domain"?, "secure"?, "httponly"?, "samesite"?}``:
    ``max_age`` in seconds (0 deletes it, None keeps it until the browser is closed), ``samesite`` one of
    Strict, Lax and None (the text).
    """
    if not isinstance(given, Mapping):
        yield "expected an object with name and value"
        return
    if unknown := [key for key in given if key not in ("name", "value", *_DEFAULTS)]:
        yield f"unknown key {unknown[0]!r}"
    if problems := [problem for key, problem in _RULES.items() if not _fits(key, given)]:
        yield from problems
        return
    yield from _contradictions({**_DEFAULTS, **given})


def cookie_header(given: Mapping[str, Any]) -> str:
    """Return the value of ``Set-Cookie`` for a cookie without `cookie_problems`."""
    cookie = {**_DEFAULTS, **given}
    parts = [f"{cookie['name']}={cookie['value']}"]
    parts += [f"Max-Age={cookie['max_age']}"] if cookie["max_age"] is not None else []
    parts += [f"Path={cookie['path']}"]
    parts += [f"Domain={cookie['domain']}"] if cookie["domain"] is not None else []
    parts += [word for word, key in (("Secure", "secure"), ("HttpOnly", "httponly")) if cookie[key]]
    return "; ".join([*parts, f"SameSite={cookie['samesite']}"])


#: What each key must be.
_RULES: Mapping[str, str] = MappingProxyType(
    {
        "name": "name must be up to 100 letters, digits and signs of a token",
        "value": "value must be ASCII without spaces, quotes, commas, semicolons and backslashes; encode others",
        "max_age": "max_age must be a whole number of seconds, 0 or more, or None",
        "path": "path must begin with / and have no spaces or semicolons",
        "domain": "domain must be a name such as example.com, or None",
        "secure": "secure must be true or false",
        "httponly": "httponly must be true or false",
        "samesite": "samesite must be 'Strict', 'Lax' or 'None'",
    }
)


def _fits(key: str, given: Mapping[str, Any]) -> bool:
    value = given.get(key, _DEFAULTS.get(key))
    if key in ("secure", "httponly"):
        return isinstance(value, bool)
    if key == "max_age":
        return value is None or (type(value) is int and 0 <= value < 2**31)
    if key == "samesite":
        return value in _SAME_SITE
    if key == "domain" and value is None:
        return True
    rule = {"name": TOKEN, "value": _VALUE, "path": _PATH, "domain": _DOMAIN}[key]
    return isinstance(value, str) and rule.fullmatch(value) is not None


def _contradictions(cookie: Mapping[str, Any]) -> Iterator[str]:
    """Yield why browsers would drop a cookie whose parts are right."""
    name = cookie["name"].lower()
    if len(cookie["name"]) + len(cookie["value"]) > _MOST:
        yield f"name and value together may have {_MOST} characters"
    if cookie["samesite"] == "None" and not cookie["secure"]:
        yield "samesite 'None' needs secure"
    if name.startswith(("__secure-", "__host-")) and not cookie["secure"]:
        yield "a name that begins with __Secure- or __Host- needs secure"
    if name.startswith("__host-") and (cookie["domain"] is not None or cookie["path"] != "/"):
        yield "a name that begins with __Host- needs the path / and no domain"
