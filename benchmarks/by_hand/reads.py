"""The reads by hand: one command each, shaped by the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bson import ObjectId

Document = dict[str, Any]


def projection(get: Mapping[str, Any], prefix: str = "") -> dict[str, int]:
    """Return a client's ``get`` as a projection of dotted paths."""
    paths: dict[str, int] = {}
    for name, value in get.items():
        if isinstance(value, dict):
            paths.update(projection(value, f"{prefix}{name}."))
        elif value:
            paths[prefix + name] = 1
    if not prefix and "_id" not in get:
        paths["_id"] = 1
    return paths


def get_user(database: Any, set_: Mapping[str, Any], get: Mapping[str, Any]) -> Document | None:
    """Return one user."""
    found: Document | None = database.user.find_one({"_id": ObjectId(set_["_id"])}, projection(get))
    return found


def get_users(database: Any, set_: Mapping[str, Any], get: Mapping[str, Any]) -> list[Document]:
    """Return a page of users."""
    cursor = database.user.find({"_id": {"$gt": ObjectId(set_["after"])}}, projection(get))
    found: list[Document] = cursor.sort("_id", 1).limit(set_["limit"]).to_list()
    return found


def get_country(database: Any, set_: Mapping[str, Any], get: Mapping[str, Any]) -> Document | None:
    """Return one country with its newest users."""
    found: Document | None = database.country.find_one({"_id": ObjectId(set_["_id"])}, projection(get))
    return found
