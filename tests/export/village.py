"""A gateway with all that types have to express, and data in which nothing optional is absent."""

from __future__ import annotations

from typing import Any

import mongomock

from gatewayfw.core import Gateway, gateway
from gatewayfw.schemas import (
    any_,
    array,
    date,
    defaulted,
    described,
    email,
    enums,
    integer,
    number,
    object_,
    object_id,
    optional,
    string,
)


def village() -> Gateway:
    """A gateway of three models that hide fields in several ways, on mongomock."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().village)
    _models(gw)
    _documents(gw)
    _acts(gw)
    gw.acts.set_service("near", {"city": {"count": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}})
    gw.acts.set_service("far", "http://127.0.0.1:1")
    return gw


def _models(gw: Gateway) -> None:
    gw.odm.new_model(
        "country",
        {"name": string(), "flag": optional(string()), "secret": optional(string())},
        options={"excludes": ["secret"]},
    )
    gw.odm.new_model(
        "city",
        {"name": string(), "size": integer()},
        {
            "country": {
                "schemaName": "country",
                "type": "single",
                "relatedRelations": {"cities": {"type": "multiple", "limit": 5, "excludes": ["size"]}},
            }
        },
    )
    gw.odm.new_model(
        "person",
        {
            "name": described(string(), "What */ others say.\nIn two lines."),
            "age": optional(integer()),
            "tags": optional(array(enums("old", "new"))),
            "born": date(),
            "extra": optional(any_()),
            "address": optional(object_({"street": string(), "number": optional(integer())})),
        },
        {
            "home": {
                "schemaName": "city",
                "type": "single",
                "relatedRelations": {"natives": {"type": "multiple", "excludes": ["age", "extra"]}},
            },
            "boss": {
                "schemaName": "person",
                "type": "single",
                "optional": True,
                "relatedRelations": {"team": {"type": "multiple"}, "favourite": {"type": "single"}},
            },
            "visited": {"schemaName": "country", "type": "multiple", "optional": True, "excludes": ["flag"]},
        },
    )


def _documents(gw: Gateway) -> None:
    country = gw.odm.model("country").insert_one(doc={"name": "Norway", "flag": "cross", "secret": "x"})["_id"]
    relations = {"country": {"_ids": country, "relatedRelations": {"cities": True}}}
    city = gw.odm.model("city").insert_one(doc={"name": "Oslo", "size": 700_000}, relations=relations)["_id"]
    people = gw.odm.model("person")
    ids = []
    for name in ("Ada", "Bo"):
        doc: dict[str, Any] = {"name": name, "age": 30, "tags": ["old"], "born": "1990-01-02"}
        doc |= {"extra": {"a": [1, None]}, "address": {"street": "Storgata", "number": 1}}
        home = {"_ids": city, "relatedRelations": {"natives": True}}
        ids.append(people.insert_one(doc=doc, relations={"home": home, "visited": {"_ids": [country]}})["_id"])
    for id_, boss in zip(ids, reversed(ids), strict=True):
        held = {"_ids": boss, "relatedRelations": {"team": True, "favourite": True}}
        people.add_relation(filters={"_id": id_}, relations={"boss": held})


def _acts(gw: Gateway) -> None:
    people, select = gw.odm.model("person"), gw.schemas.select_struct

    def found(body: dict[str, Any]) -> Any:
        return people.find(projection=body["details"]["get"]).sort("_id").to_list()

    def first(get: Any) -> Any:
        return people.find_one(filters={"name": "Ada"}, projection=get)

    def act(name: str, fn: Any, **options: Any) -> None:
        gw.acts.act("person", name, public=True, **options)(fn)

    act("all", found, get=4, returns="many")
    act("some", found, get=select("person", {"name": 1, "home": {"name": 1, "country": 1}, "boss": 1}), returns="many")
    act("first", lambda body: first(body["details"]["get"]), get=2)
    act("nobody", lambda body: None, get=1, returns="optional")
    act(
        "page",
        lambda body: {"rows": found(body), "total": 2},
        set={"limit": defaulted(integer(minimum=1), 20)},
        get=1,
        mode="create",
        returns={"rows": "many", "total": integer(), "next": optional(integer())},
    )

    def summary(body: dict[str, Any]) -> dict[str, Any]:
        get = body["details"]["get"]
        parts = {"count": 2, "oldest": first(get.get("oldest", {}))}
        return {"at": "2024-01-01", **{name: value for name, value in parts.items() if get.get(name)}}

    asked = {"count": optional(enums(0, 1)), "oldest": optional(select("person", 1))}
    act("summary", summary, get=asked, returns={"at": date(), "count": integer(), "oldest": "optional"})
    act("count", lambda body: people.count(), returns=integer())
    act(
        "kinds",
        lambda body: body["details"]["set"],
        set={
            "colour": enums("red", "green", 3, True),
            "matrix": array(array(number())),
            "who": object_({"email": email(), "id": optional(object_id(of="person"))}),
            "free": optional(object_()),
            "any": any_(),
            "size": defaulted(integer(), 1),
            "two words": optional(string()),
        },
        mode="create",
        returns=object_({"colour": enums("red", "green", 3, True), "matrix": array(array(number())), "any": any_()}),
    )
    free = {"schema": "person", "act_name": "free", "validator": lambda details: details, "public": True}
    gw.acts.set_act(**free, fn=lambda body: body["details"])
