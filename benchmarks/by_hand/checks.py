"""What the services without marshmallow check: plain Python, as strict as the others, and the act of each route."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmarks.by_hand import reads
from benchmarks.by_hand.writes import Plain
from benchmarks.dataset import COUNTRY_FIELDS, JOINED, USER_FIELDS

_HEX = re.compile(r"[0-9a-fA-F]{24}")
#: An e-mail address.
EMAIL = re.compile(r"[^@\s\"(),:;<>\[\\\]]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
Check = Callable[[Any], bool]


def _is_id(value: Any) -> bool:
    return type(value) is str and _HEX.fullmatch(value) is not None


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_email(value: Any) -> bool:
    return type(value) is str and EMAIL.fullmatch(value) is not None


def _is_age(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_boolean(value: Any) -> bool:
    return type(value) is bool


def _is_limit(value: Any) -> bool:
    return type(value) is int and 1 <= value <= 10_000


_USER: dict[str, Check] = {
    "first_name": _is_text,
    "last_name": _is_text,
    "email": _is_email,
    "age": _is_age,
    "is_active": _is_boolean,
}
_ID: dict[str, Check] = {"_id": _is_id}


def _object(checks: Mapping[str, Check], required: Iterable[str] = ()) -> Check:
    needed = frozenset(required)

    def check(value: Any) -> bool:
        if type(value) is not dict or not needed <= value.keys():
            return False
        for name, item in value.items():
            one = checks.get(name)
            if one is None or not one(item):
                return False
        return True

    return check


def _fields(*names: str, **links: Check) -> Check:
    """Return the check of a ``get``: names with 1 or 0, and what is below links."""
    known = frozenset(names)

    def check(value: Any) -> bool:
        if type(value) is not dict:
            return False
        for name, item in value.items():
            if name in known:
                if type(item) is not int or item not in (0, 1):
                    return False
            elif name not in links or not links[name](item):
                return False
        return True

    return check


_COUNTRY = ("_id", *COUNTRY_FIELDS)
_USERS = ("_id", *USER_FIELDS, JOINED)
_USER_GET = _fields(*_USERS, country=_fields(*_COUNTRY))
_COUNTRY_GET = _fields(*_COUNTRY, users=_fields(*_USERS))


def _details(set_: Check, get: Check) -> Check:
    return _object({"set": set_, "get": get}, ("set", "get"))


def routes(database: Any) -> dict[str, tuple[Check, Callable[[Any, Any], Any]]]:
    """Return the act of each work with the check of its details; it takes their ``set`` and ``get``."""
    writes = Plain(database)
    new, page = {**_USER, "country": _is_id}, {"after": _is_id, "limit": _is_limit}
    return {
        "ping": (_details(_object({}), _object({})), lambda set_, get: "pong"),
        "getUser": (_details(_object(_ID, _ID), _USER_GET), lambda *asked: reads.get_user(database, *asked)),
        "getUsers": (_details(_object(page, page), _USER_GET), lambda *asked: reads.get_users(database, *asked)),
        "getCountry": (_details(_object(_ID, _ID), _COUNTRY_GET), lambda *asked: reads.get_country(database, *asked)),
        "addUser": (_details(_object(new, new), _USER_GET), writes.add_user),
        "updateUser": (_details(_object({**_USER, **_ID}, _ID), _USER_GET), writes.update_user),
        "rename": (_details(_object({**_ID, "name": _is_text}, ("_id", "name")), _COUNTRY_GET), writes.rename),
    }
