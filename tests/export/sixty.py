"""A gateway of 60 models with 8 acts each, and a program that calls it."""

from __future__ import annotations

from typing import Any

import mongomock

from gatewayfw.core import Gateway, gateway
from gatewayfw.schemas import array, defaulted, enums, integer, object_id, optional, string

MODELS = 60
ACTS = 8
#: Of each model, one is called that gives a document and one that gives a list.
CALLED = (0, 1)


def sixty() -> Gateway:
    """60 models of 12 fields with 3 relations and about 3 reverse relations, and 480 acts."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().sixty)
    for number in range(MODELS):
        gw.odm.new_model(f"m{number}", _fields(), {f"r{k}": _relation(number, k) for k in range(3)})
    for number in range(MODELS):
        for act in range(ACTS):
            _act(gw, f"m{number}", act)
    return gw


def _fields() -> dict[str, Any]:
    some = {
        "size": integer(),
        "state": enums("new", "old"),
        "tags": optional(array(string())),
        "rank": optional(integer()),
    }
    return {**some, **{f"f{k}": string() for k in range(8)}}


def _relation(number: int, k: int) -> dict[str, Any]:
    reverse = {f"m{number}_r{k}": {"type": "multiple", "excludes": ["size"] if k == 1 else []}}
    return {
        "schemaName": f"m{(number * 7 + k * 3 + 1) % MODELS}",
        "type": "multiple" if k == 1 else "single",
        "optional": k == 2,
        "relatedRelations": reverse,
    }


def _act(gw: Gateway, model: str, number: int) -> None:
    set_ = {
        "id": object_id(of=model),
        "limit": defaulted(integer(minimum=1), 20),
        "state": optional(enums("new", "old")),
    }
    options = {"returns": "many"} if number % 2 else {}
    gw.acts.act(model, f"act{number}", set=set_, get=3, mode="create", **options)(lambda body: None)


def calls(catalog: dict[str, Any]) -> str:
    """A program with 120 calls, each with a `get` of three levels, right lines and wrong ones."""
    lines = ['import { createClient } from "./gateway.js";', 'const client = createClient({ url: "" });']
    for number in range(MODELS):
        lines += [line for act in CALLED for line in _call(number, act, catalog["models"])]
    return "\n".join([*lines, ""])


def _call(number: int, act: int, models: dict[str, Any]) -> list[str]:
    model, one, name = f"m{number}", "body[0]!" if act % 2 else "body", f"call{number}_{act}"
    inner = models[model]["links"]["r1"]["model"]
    reverse = next(link for link in models[inner]["links"] if link.startswith("m"))
    wrong = "{ size: 1, r0: { f2: 1, no: 1 } }"
    get = f"{{ size: 1, r0: {{ f2: 1, r1: {{ f3: 1, r2: 1 }} }}, r1: {{ f0: 1, {reverse}: {{ f1: 1 }} }} }}"
    return [
        f"export async function {name}(): Promise<unknown[]> {{",
        f'  const body = await client.call("{model}", "act{act}", {{ set: {{ id: "" }}, get: {get} }});',
        f"  const first: string | undefined = {one}.r0.r1[0]?.r2?.f7;",
        f"  const second: string | undefined = {one}.r1[0]?.{reverse}[0]?.f1;",
        "  // @ts-expect-error not asked for",
        f"  {one}.r0.f1;",
        "  // @ts-expect-error no such field",
        f'  await client.call("{model}", "act{act}", {{ set: {{ id: "" }}, get: {wrong} }});',
        f"  return [first, second, {one}.size];",
        "}",
    ]
