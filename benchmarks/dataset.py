"""The data every contender works on: 200 countries, 20,000 users, each user embeds its country.

`country.users` holds copies of its 50 newest users. Everything is the same for each contender and
each round: `restore` brings a database back after a work that added documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bson import ObjectId
from pymongo import UpdateOne
from pymongo.collection import Collection
from pymongo.database import Database

Document = dict[str, Any]

#: Users that `country.users` keeps.
WINDOW = 50
#: Pure fields of the two models.
COUNTRY_FIELDS = ("name", "population")
USER_FIELDS = ("first_name", "last_name", "email", "age", "is_active")
#: When a seeded user joined; users that are added have no such field.
JOINED = "joined"

_BATCH = 2_000
#: Seeded ids start here, far below those that are made from the clock.
_FIRST_DAY = datetime(2015, 1, 1)
_FIRST_COUNTRY, _FIRST_USER, _FIRST_OTHER = 0x10_0000, 0x1000_0000, 0x2000_0000


@dataclass(frozen=True)
class Size:
    """How much data: user n lives in country n modulo ``countries``."""

    countries: int = 200
    users: int = 20_000


def country_id(number: int) -> ObjectId:
    """Return the id of a seeded country."""
    return ObjectId(f"{_FIRST_COUNTRY + number:024x}")


def user_id(number: int) -> ObjectId:
    """Return the id of a seeded user; the higher the number, the newer the user."""
    return ObjectId(f"{_FIRST_USER + number:024x}")


def seed(database: Database[Document], size: Size) -> None:
    """Fill an empty database; the indexes are those that both kinds of services need."""
    for start in range(0, size.users, _BATCH):
        database.user.insert_many([user(number, size) for number in range(start, min(size.users, start + _BATCH))])
    database.country.insert_many([country(number, size) for number in range(size.countries)])
    database.user.create_index([("country._id", 1), ("_id", 1)])
    database.country.create_index([("users._id", 1), ("_id", 1)])


def restore(database: Database[Document], size: Size) -> None:
    """Remove the documents that were added since `seed`, and make the windows as they were."""
    _all_but_seeded(database.user)
    changes = [
        UpdateOne({"_id": country_id(number)}, {"$set": {"users": country(number, size)["users"]}})
        for number in range(size.countries)
    ]
    database.country.bulk_write(changes, ordered=False)


def user(number: int, size: Size) -> Document:
    """Return a seeded user as it is stored."""
    of = number % size.countries
    return {**_pure_user(number), "country": {"_id": country_id(of), **_pure_country(of)}}


def country(number: int, size: Size) -> Document:
    """Return a seeded country as it is stored, its users newest first."""
    newest = [_pure_user(one) for one in _newest(number, size)]
    return {"_id": country_id(number), **_pure_country(number), "users": newest}


def new_user(number: int) -> Mapping[str, Any]:
    """Return the fields of a user to be added."""
    user = _pure_user(number)
    return {name: user[name] for name in USER_FIELDS}


def _newest(of: int, size: Size) -> Iterator[int]:
    last = of + (size.users - 1 - of) // size.countries * size.countries
    return iter(range(last, max(-1, last - WINDOW * size.countries), -size.countries))


def _pure_user(number: int) -> Document:
    return {
        "_id": user_id(number),
        "first_name": f"First{number:05}",
        "last_name": f"Last{number:05}",
        "email": f"user{number:05}@example.com",
        "age": 18 + number % 60,
        "is_active": number % 7 != 0,
        JOINED: _FIRST_DAY + timedelta(days=number % 3_000, milliseconds=37 * number),
    }


def _pure_country(number: int) -> Document:
    return {"name": f"Country {number:03}", "population": 1_000_000 + number}


def _all_but_seeded(collection: Collection[Document]) -> None:
    collection.delete_many({"_id": {"$gte": ObjectId(f"{_FIRST_OTHER:024x}")}})
