"""A world of models in which every kind of relation occurs, and what tests ask of it.

Single and multiple, required and optional, one-way, to itself, two relations to one model,
many-to-many, several reverses of one relation, `single` reverses, excludes on every level, frozen copies.
"""

from __future__ import annotations

from copy import deepcopy

from gatewayfw.schemas import (
    any_,
    array,
    boolean,
    date,
    defaulted,
    integer,
    number,
    object_,
    object_id,
    optional,
    string,
)
from tests.odm.oracle import check

MODELS = ("country", "city", "person", "club", "trip")


def define_world(odm):
    """Define the models and return them by name."""
    country = odm.new_model(
        "country",
        {"name": string(), "population": optional(number()), "secret": optional(string())},
        options={"excludes": ["secret"], "createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}},
    )
    city = odm.new_model(
        "city",
        {"name": string(), "population": optional(number()), "tags": optional(array(string()))},
        {
            "country": {
                "schemaName": "country",
                "type": "single",
                "relatedRelations": {
                    "cities": {"type": "multiple", "limit": 3, "sort": {"field": "_id", "order": "desc"}},
                    "biggest": {"type": "multiple", "limit": 2, "sort": {"field": "population", "order": "desc"}},
                    "capital": {"type": "single"},
                },
            }
        },
    )
    person = odm.new_model(
        "person",
        {
            "name": string(),
            "age": optional(integer(minimum=0)),
            "active": defaulted(boolean(), True),
            "born_on": optional(date()),
            "badge": optional(object_id()),
            "address": optional(object_({"street": string(), "zip": optional(string())})),
            "extra": optional(any_()),
            "password": optional(string()),
        },
        {
            "home": {"schemaName": "city", "type": "single", "optional": True},
            "born": {
                "schemaName": "country",
                "type": "single",
                "optional": True,
                "relatedRelations": {"natives": {"type": "multiple", "excludes": ["age"]}},
            },
            "visited": {
                "schemaName": "country",
                "type": "multiple",
                "optional": True,
                "limit": 4,
                "sort": {"field": "name", "order": "asc"},
                "excludes": ["population"],
                "relatedRelations": {
                    "visitors": {"type": "multiple", "limit": 2, "sort": {"field": "age", "order": "asc"}}
                },
            },
            "friends": {
                "schemaName": "person",
                "type": "multiple",
                "optional": True,
                "relatedRelations": {
                    "friendOf": {"type": "multiple", "limit": 3, "sort": {"field": "age", "order": "asc"}}
                },
            },
            "boss": {
                "schemaName": "person",
                "type": "single",
                "optional": True,
                "relatedRelations": {"reports": {"type": "multiple", "limit": 2}, "assistant": {"type": "single"}},
            },
            "clubs": {
                "schemaName": "club",
                "type": "multiple",
                "optional": True,
                "relatedRelations": {
                    "members": {"type": "multiple", "limit": 3, "sort": {"field": "name", "order": "asc"}},
                    "president": {"type": "single"},
                },
            },
        },
        options={"excludes": ["password"]},
    )
    club = odm.new_model(
        "club",
        {"name": string()},
        {
            "places": {
                "schemaName": "city",
                "type": "multiple",
                "relatedRelations": {"clubs": {"type": "multiple", "limit": 2}},
            }
        },
    )
    trip = odm.new_model(
        "trip",
        {"name": string(), "age": optional(integer(minimum=0))},
        {
            "to": {
                "schemaName": "city",
                "type": "single",
                "frozen": True,
                "relatedRelations": {
                    "trips": {
                        "type": "multiple",
                        "limit": 2,
                        "sort": {"field": "age", "order": "asc"},
                        "default": True,
                    },
                    "latest": {"type": "single"},
                },
            },
            "guests": {
                "schemaName": "person",
                "type": "multiple",
                "optional": True,
                "frozen": True,
                "excludes": ["active"],
                "relatedRelations": {"invited": {"type": "multiple", "limit": 2}},
            },
            "after": {
                "schemaName": "trip",
                "type": "single",
                "optional": True,
                "frozen": True,
                "relatedRelations": {"before": {"type": "multiple", "limit": 2}},
            },
        },
    )
    return {"country": country, "city": city, "person": person, "club": club, "trip": trip}


def populate_once(world, populate, kept):
    """Populate a world and return what ``populate(world)`` does; in ``kept`` is what that stored, for the next time.

    To store whole documents takes MongoDB a fraction of the time of the operations that made them.
    """
    key = populate, type(world.storage)
    if key not in kept:
        kept[key] = populate(world), {name: list(world.storage.find(name, {})) for name in MODELS}
        return kept[key][0]
    result, stored = kept[key]
    world.odm.ready()
    for name, documents in stored.items():
        if documents:
            world.storage.insert(name, deepcopy(documents))
    return deepcopy(result)


class World:
    """The models, and what is in the database behind their backs."""

    def __init__(self, odm, models):
        self.odm = odm
        self.storage = odm.storage
        self.country, self.city, self.person, self.club, self.trip = (models[name] for name in MODELS)

    def problems(self):
        """Every copy, window and `single` reverse that is not right."""
        return check(self.odm.schemas, self.storage)

    def raw(self, model, id_):
        """A whole stored document without its lock counter, which only MongoDB keeps."""
        return next((_calm(one) for one in self.storage.find(model.name, {"_id": id_})), None)

    def digest(self):
        """Everything stored, by model, in the order of `_id`, without lock counters."""
        return {name: [_calm(one) for one in self.storage.find(name, {}, sort=[("_id", 1)])] for name in MODELS}

    def add_country(self, name, **fields):
        return self.country.insert_one(doc={"name": name, **fields})["_id"]

    def add_city(self, name, country, flags=("cities", "biggest"), **fields):
        relation = {"_ids": country, "relatedRelations": dict.fromkeys(flags, True)}
        return self.city.insert_one(doc={"name": name, **fields}, relations={"country": relation})["_id"]

    def add_person(self, name, relations=None, **fields):
        return self.person.insert_one(doc={"name": name, **fields}, relations=relations)["_id"]


def _calm(document):
    hidden = {key: value for key, value in document.get("_gw", {}).items() if key != "rev"}
    rest = {key: value for key, value in document.items() if key != "_gw"}
    return {**rest, "_gw": hidden} if hidden else rest
