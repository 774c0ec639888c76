"""A gateway with one of each thing that exports show, and what each export of it comes to.

The texts are in `tests/export/market`. ``python -m tests.export.market`` writes them anew; read what changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mongomock

from gatewayfw.auth import Auth, Rule, Tokens, bearer, cookie, header
from gatewayfw.core import Gateway, gateway
from gatewayfw.export.jsonschema.document import definitions, json_schema
from gatewayfw.export.openapi import openapi
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from gatewayfw.schemas import (
    array,
    boolean,
    date,
    decimal,
    defaulted,
    described,
    enums,
    file,
    integer,
    object_,
    object_id,
    optional,
    string,
)

FOLDER = Path(__file__).parent / "market"
WARE = {
    "name": described(string(size=(1, 9)), "What it is\ncalled."),
    "price": decimal(places=2, minimum=0),
    "stock": defaulted(integer(minimum=0), 1),
    "secret": optional(string(size=5)),
}


def market() -> Gateway:
    """Return the gateway: wares of sellers, in three services."""
    gw = gateway(max_batch=3)
    gw.odm.set_db(mongomock.MongoClient().market)
    sellers = gw.odm.new_model("seller", {"name": string(size=9), "age": optional(integer())})
    wares = {"type": "multiple", "limit": 5, "sort": {"field": "name", "order": "asc"}, "excludes": ["stock"]}
    best = {"type": "single", "excludes": ["price", "stock"]}
    seller = {"schemaName": "seller", "type": "single", "relatedRelations": {"wares": wares, "best": best}}
    like = {"schemaName": "ware", "type": "multiple", "optional": True, "limit": 2, "frozen": True}
    relations = {"seller": seller, "like": {**like, "excludes": ["price", "stock"]}}
    gw.odm.new_model("ware", WARE, relations, {"excludes": ["secret"]})
    _acts(gw, sellers)
    gw.acts.set_service("near", {"ware": {"count": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}})
    gw.acts.set_service("far", "https://example.com")
    return gw


def _acts(gw: Gateway, sellers: Any) -> None:
    select = gw.schemas.select_struct
    found: dict[str, Any] = {"context": gw.context_fns, "tokens": Tokens("k" * 32), "load_user": lambda id_: None}
    auths = {
        "header": Auth(*found.values(), token_from=header("X-Key"), role_from=header("X-Role")),
        "bearer": Auth(*found.values(), token_from=bearer(), role_from=cookie("role")),
        "cookie": Auth(*found.values(), token_from=cookie("sid")),
    }
    rule = Rule(roles=("Boss", "Clerk"))

    def hooks(name: str) -> list[Any]:
        auth = auths[name]
        return [auth.read_token, auth.load_user, auth.grant(rule)]

    def act(model: str, name: str, doc: str = "", **options: Any) -> None:
        def fn(body: dict[str, Any]) -> Any:
            raise NotImplementedError

        fn.__doc__ = doc
        gw.acts.act(model, name, **options)(fn)

    ware = {name: field for name, field in WARE.items() if name != "secret"}
    act("ware", "add", "Add a ware.\n\nTo the market.", set=ware, get=1, mode="create", pre_act=hooks("header"))
    act(
        "ware",
        "set",
        set={**ware, "_id": object_id()},
        get=2,
        pre_act=hooks("bearer"),
        max_get_depth=1,
        limit="2/minute",
    )
    act(
        "ware",
        "buy",
        "Buy a ware.",
        set={"_id": object_id(of="ware")},
        get=select("ware", {"name": 1, "seller": {"name": 1, "wares": 1}, "like": 1}),
        pre_act=hooks("cookie"),
        idempotent="1h",
        idempotent_by=lambda body: "all",
        exceptions={KeyError: (410, "gone", "it is gone"), OSError: (429, "busy", "later")},
        returns="optional",
    )
    act("ware", "show", set={"photo": file(most=9, types=["image/png", "image/gif"])}, public=True, returns=boolean)
    photos = {"front": optional(file(most=9)), "photos": optional(object_({"note": optional(string(size=3))}))}
    act("ware", "draw", set=photos, public=True, returns=optional(array(string(size=3))))
    filters = {"name": ["eq", "prefix", "contains"], "age": ["gte", "in", "exists"]}
    listing = sellers.listing(filter=filters, sort=["name"], default_sort="name", most=4, default=3, count=5)
    act("seller", "list", set={**listing.set}, get=1, mode="create", public=True, returns=listing.returns)
    asked = {
        "at": optional(enums(0, 1)),
        "seller": optional(select("seller", 1)),
        "last": described(select("seller", 0), "The last one."),
    }
    returns = {
        "at": date(),
        "seller": "optional",
        "count": integer(),
        "note": optional(described(string(), "For the boss.")),
    }
    act("seller", "sum", get=asked, public=True, returns=returns)
    act("seller", "free", set=object_(), public=True, returns=object_())
    gw.acts.set_act(schema="seller", act_name="any", validator=lambda details: details, fn=lambda body: 1)


def _laid_out(value: Any, indent: str = "") -> str:
    """Return JSON in lines of at most 120 characters, where that can be."""
    short = json.dumps(value, ensure_ascii=False)
    if len(indent + short) < 120 or not isinstance(value, dict | list):
        return short
    below = f"{indent}  "
    if isinstance(value, list):
        rows = [_laid_out(one, below) for one in value]
    else:
        rows = [f"{json.dumps(name)}: {_laid_out(one, below)}" for name, one in value.items()]
    start, end = "[]" if isinstance(value, list) else "{}"
    return "\n".join([start, ",\n".join(below + row for row in rows), indent + end])


def _openapi(catalog: Mapping[str, Any]) -> str:
    document = openapi(catalog, path="/v1/gateway", title="Market", version="2")
    for name in definitions(catalog, ""):
        document["components"]["schemas"].pop(name.replace(".", "-"), None)  # They are those of the JSON Schema.
    return _laid_out(document)


#: What writes each text; what is the same for every gateway is left out.
EXPORTS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "schema.json": lambda catalog: _laid_out(json_schema(catalog)),
    "openapi.json": _openapi,
    "virtual.json": lambda catalog: _laid_out(openapi(catalog, virtual_paths=True)["paths"]),
    "typescript.txt": lambda catalog: typescript(catalog).partition("export type Service = ")[0],
    "python.txt": lambda catalog: python(catalog).partition("class WareAdd")[2].partition("class DefinitionError(")[0],
}


def written(name: str) -> str:
    """Return what an export writes now."""
    return EXPORTS[name](market().catalog()).rstrip("\n") + "\n"


def expected(name: str) -> str:
    """Return what an export wrote when somebody last read it."""
    return (FOLDER / name).read_text("utf-8")


if __name__ == "__main__":
    for name in EXPORTS:
        (FOLDER / name).write_text(written(name), "utf-8")
