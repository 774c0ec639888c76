"""The works: what each asks, as the ``details`` that a client sends."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.dataset import COUNTRY_FIELDS, JOINED, USER_FIELDS, Size, country_id, new_user, user_id

Details = Mapping[str, Any]
Maker = Callable[[random.Random, Size], Details]

_COUNTRY_GET = dict.fromkeys(("_id", *COUNTRY_FIELDS), 1)
_USER_GET = dict.fromkeys(("_id", *USER_FIELDS), 1)
_PAGE = 100


@dataclass(frozen=True)
class Work:
    """One kind of request: the model and act it calls, and a maker of its details."""

    name: str
    model: str
    details: Maker
    writes: bool = False
    #: Whether it adds documents, which are removed after each run.
    adds: bool = False
    #: The act that it calls, where that has another name.
    other: str = ""

    @property
    def act(self) -> str:
        """The act that it calls."""
        return self.other or self.name


def _ping(chosen: random.Random, size: Size) -> Details:
    return {"set": {}, "get": {}}


def _get_user(chosen: random.Random, size: Size) -> Details:
    return {"set": {"_id": _some_user(chosen, size)}, "get": {**_USER_GET, "country": _COUNTRY_GET}}


def _get_users(chosen: random.Random, size: Size) -> Details:
    after = str(user_id(chosen.randrange(max(1, size.users - _PAGE - 1))))
    get = {"_id": 1, "first_name": 1, "last_name": 1, "email": 1, "country": {"_id": 1, "name": 1}}
    return {"set": {"after": after, "limit": _PAGE}, "get": get}


def _get_country(chosen: random.Random, size: Size) -> Details:
    users = {"_id": 1, "first_name": 1, "last_name": 1}
    return {"set": {"_id": _some_country(chosen, size)}, "get": {**_COUNTRY_GET, "users": users}}


def _get_dates(chosen: random.Random, size: Size) -> Details:
    users = {"_id": 1, "first_name": 1, "last_name": 1, JOINED: 1}
    return {"set": {"_id": _some_country(chosen, size)}, "get": {**_COUNTRY_GET, "users": users}}


def _add_user(chosen: random.Random, size: Size) -> Details:
    new = {**new_user(chosen.randrange(100_000)), "country": _some_country(chosen, size)}
    return {"set": new, "get": {"first_name": 1, "last_name": 1, "country": {"_id": 1, "name": 1}}}


def _update_user(chosen: random.Random, size: Size) -> Details:
    number = chosen.randrange(100_000)
    changed = {"_id": _some_user(chosen, size), "first_name": f"First{number:05}", "age": 18 + number % 60}
    return {"set": changed, "get": {"_id": 1, "first_name": 1, "age": 1, "country": {"_id": 1, "name": 1}}}


def _rename(chosen: random.Random, size: Size) -> Details:
    name = f"Country {chosen.randrange(1000):03}"
    return {"set": {"_id": _some_country(chosen, size), "name": name}, "get": {"_id": 1, "name": 1}}


def _some_user(chosen: random.Random, size: Size) -> str:
    return str(user_id(chosen.randrange(size.users)))


def _some_country(chosen: random.Random, size: Size) -> str:
    return str(country_id(chosen.randrange(size.countries)))


#: Every work by its name, reads first.
WORKS = {
    work.name: work
    for work in (
        Work("ping", "main", _ping),
        Work("getUser", "user", _get_user),
        Work("getUsers", "user", _get_users),
        Work("getCountry", "country", _get_country),
        Work("getDates", "country", _get_dates, other="getCountry"),
        Work("addUser", "user", _add_user, writes=True, adds=True),
        Work("updateUser", "user", _update_user, writes=True),
        Work("rename", "country", _rename, writes=True),
    )
}
