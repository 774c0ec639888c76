"""The service without Flask and marshmallow: a WSGI function with orjson, near the least that Python can do.

Its checks are plain Python, and as strict as those of the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson
from bson import ObjectId

from benchmarks.by_hand import reads
from benchmarks.by_hand.flask_app import connected
from benchmarks.by_hand.writes import Plain
from benchmarks.dataset import COUNTRY_FIELDS, USER_FIELDS

_HEX = re.compile(r"[0-9a-fA-F]{24}")
#: An e-mail address.
EMAIL = re.compile(r"[^@\s\"(),:;<>\[\\\]]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_MOST = 1024 * 1024
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


def _is_wanted(value: Any) -> bool:
    return type(value) is int and value in (0, 1)


_USER: dict[str, Check] = {
    "first_name": _is_text,
    "last_name": _is_text,
    "email": _is_email,
    "age": _is_age,
    "is_active": _is_boolean,
}
_ID: dict[str, Check] = {"_id": _is_id}
_COUNTRY_FIELDS: dict[str, Check] = dict.fromkeys(("_id", *COUNTRY_FIELDS), _is_wanted)
_USER_FIELDS: dict[str, Check] = dict.fromkeys(("_id", *USER_FIELDS), _is_wanted)


def _object(checks: Mapping[str, Check], required: Iterable[str] = ()) -> Check:
    needed = frozenset(required)

    def check(value: Any) -> bool:
        if type(value) is not dict or not needed <= value.keys():
            return False
        return all((one := checks.get(name)) is not None and one(item) for name, item in value.items())

    return check


_USER_GET = _object({**_USER_FIELDS, "country": _object(_COUNTRY_FIELDS)})
_COUNTRY_GET = _object({**_COUNTRY_FIELDS, "users": _object(_USER_FIELDS)})


def _details(set_: Check, get: Check) -> Check:
    return _object({"set": set_, "get": get}, ("set", "get"))


def make_app(database: Any) -> Callable[[dict[str, Any], Any], list[bytes]]:
    """Return the WSGI function."""
    writes = Plain(database)
    new, page = {**_USER, "country": _is_id}, {"after": _is_id, "limit": _is_limit}
    routes: dict[str, tuple[Check, Callable[..., Any]]] = {
        "/api/ping": (_details(_object({}), _object({})), lambda set_, get: "pong"),
        "/api/getUser": (_details(_object(_ID, _ID), _USER_GET), lambda *asked: reads.get_user(database, *asked)),
        "/api/getUsers": (_details(_object(page, page), _USER_GET), lambda *asked: reads.get_users(database, *asked)),
        "/api/getCountry": (
            _details(_object(_ID, _ID), _COUNTRY_GET),
            lambda *asked: reads.get_country(database, *asked),
        ),
        "/api/addUser": (_details(_object(new, new), _USER_GET), writes.add_user),
        "/api/updateUser": (_details(_object({**_USER, **_ID}, _ID), _USER_GET), writes.update_user),
        "/api/rename": (_details(_object({**_ID, "name": _is_text}, ("_id", "name")), _COUNTRY_GET), writes.rename),
    }

    def answer(environ: dict[str, Any]) -> tuple[str, Any]:
        route = routes.get(environ["PATH_INFO"])
        if route is None:
            return "404 NOT FOUND", "not found"
        if environ["REQUEST_METHOD"] != "POST":
            return "405 METHOD NOT ALLOWED", "method not allowed"
        if environ.get("CONTENT_TYPE", "").partition(";")[0].strip() != "application/json":
            return "415 UNSUPPORTED MEDIA TYPE", "expected application/json"
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length > _MOST:
            return "413 REQUEST ENTITY TOO LARGE", "too large"
        try:
            details = orjson.loads(environ["wsgi.input"].read(length))
        except orjson.JSONDecodeError:
            return "400 BAD REQUEST", "no JSON"
        check, act = route
        if not check(details):
            return "400 BAD REQUEST", "validation error"
        result = act(details["set"], details["get"])
        return ("200 OK", result) if result is not None else ("404 NOT FOUND", "not found")

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        status, result = answer(environ)
        success = status == "200 OK"
        body = result if success else {"message": result}
        payload = orjson.dumps({"body": body, "success": success}, default=_plain)
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))])
        return [payload]

    return app


def _plain(value: Any) -> str:
    if isinstance(value, ObjectId):
        return str(value)
    raise TypeError


def bare_app() -> Callable[[dict[str, Any], Any], list[bytes]]:
    """Return the WSGI function for a server."""
    return make_app(connected())
