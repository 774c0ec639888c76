"""The writes by hand: plain, and each in one transaction.

`Plain` writes one command after the other, as most services do: two writers at once, or a crash
between two commands, leave copies that differ from their source. `InTransaction` needs as few
commands as possible: adding a user first changes the country, which locks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from bson import ObjectId
from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from benchmarks.by_hand.reads import Document, projection
from benchmarks.dataset import COUNTRY_FIELDS, WINDOW

Values = Mapping[str, Any]
#: The projection of the copy of a country.
COUNTRY_COPY = dict.fromkeys(("_id", *COUNTRY_FIELDS), 1)
_MAJORITY = WriteConcern("majority")


class Writes(Protocol):
    """The three writes; each returns the document in the shape that was asked for, None when there is none."""

    def add_user(self, set_: Values, get: Values) -> Document | None:
        """Add a user to a country, whose newest users it joins."""

    def update_user(self, set_: Values, get: Values) -> Document | None:
        """Change a user and its copy in the country."""

    def rename(self, set_: Values, get: Values) -> Document | None:
        """Change a country and its copies in all of its users."""


class Plain:
    """One command after the other."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def add_user(self, set_: Values, get: Values) -> Document | None:
        """Read the country, insert the user, list it: in this order nothing is listed that is not there."""
        country = self._database.country.find_one({"_id": ObjectId(set_["country"])}, COUNTRY_COPY)
        if country is None:
            return None
        user = new_document(set_)
        self._database.user.insert_one({**user, "country": country})
        self._database.country.update_one({"_id": country["_id"]}, listed(user))
        return shaped({**user, "country": country}, {"_id": 1, **get})

    def update_user(self, set_: Values, get: Values) -> Document | None:
        """Change the user, then its copy."""
        return changed_user(self._database, set_, get, None)

    def rename(self, set_: Values, get: Values) -> Document | None:
        """Change the country, then the copies."""
        return renamed(self._database, set_, get, None)


class InTransaction:
    """All or nothing, and safe from other writers."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def add_user(self, set_: Values, get: Values) -> Document | None:
        """List the user, which locks and returns its country; then insert it."""

        def add(session: ClientSession) -> Document | None:
            user = new_document(set_)
            country = self._database.country.find_one_and_update(
                {"_id": ObjectId(set_["country"])}, listed(user), COUNTRY_COPY, session=session
            )
            if country is None:
                return None
            self._database.user.insert_one({**user, "country": country}, session=session)
            return shaped({**user, "country": country}, {"_id": 1, **get})

        return self._run(add)

    def update_user(self, set_: Values, get: Values) -> Document | None:
        """Change the user and its copy."""
        return self._run(lambda session: changed_user(self._database, set_, get, session))

    def rename(self, set_: Values, get: Values) -> Document | None:
        """Change the country and the copies."""
        return self._run(lambda session: renamed(self._database, set_, get, session))

    def _run(self, write: Callable[[ClientSession], Document | None]) -> Document | None:
        with self._database.client.start_session() as session:
            done: Document | None = session.with_transaction(write, ReadConcern("snapshot"), _MAJORITY)
            return done


def changed_user(database: Any, set_: Values, get: Values, session: ClientSession | None) -> Document | None:
    """Change a user, then its copy among the newest of its country, if it is there."""
    change = {name: value for name, value in set_.items() if name != "_id"}
    user: Document | None = database.user.find_one_and_update(
        {"_id": ObjectId(set_["_id"])},
        {"$set": change},
        projection(get) | ({} if "country" in get else {"country._id": 1}),
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    if user is None:
        return None
    database.country.update_one(
        {"_id": user["country"]["_id"], "users._id": user["_id"]},
        {"$set": {f"users.$.{name}": value for name, value in change.items()}},
        session=session,
    )
    return shaped(user, {"_id": 1, **get})


def renamed(database: Any, set_: Values, get: Values, session: ClientSession | None) -> Document | None:
    """Change a country, then the copies in its users."""
    country: Document | None = database.country.find_one_and_update(
        {"_id": ObjectId(set_["_id"])},
        {"$set": {"name": set_["name"]}},
        projection(get),
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    if country is None:
        return None
    database.user.update_many(
        {"country._id": country["_id"]}, {"$set": {"country.name": set_["name"]}}, session=session
    )
    return country


def shaped(document: Document, get: Values) -> Document:
    """Return what a ``get`` selects of a document that is at hand."""
    return {
        name: shaped(document[name], value) if isinstance(value, dict) else document[name]
        for name, value in get.items()
        if value and name in document
    }


def new_document(set_: Values) -> Document:
    """Return a user to be stored, still without its country."""
    return {"_id": ObjectId(), **{name: value for name, value in set_.items() if name != "country"}}


def listed(user: Document) -> dict[str, Any]:
    """Return the update of a country that puts a user before its newest users."""
    return {"$push": {"users": {"$each": [user], "$position": 0, "$slice": WINDOW}}}
