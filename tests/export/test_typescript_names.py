"""Fields, relations, models and acts may have any name that is legal: the generated client sends and types them."""

from __future__ import annotations

import json

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.export.typescript.module import typescript
from gatewayfw.schemas import array, object_, optional, string
from tests.export.compiling import COMPILERS
from tests.export.test_typescript_live import served

#: What objects inherit, what JavaScript, TypeScript or the module itself gives a meaning.
NAMES = [
    *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
    *("valueOf", "__proto__", "__defineGetter__", "__lookupSetter__", "prototype", "then", "toJSON", "length"),
    *("class", "in", "default", "await", "never", "string", "fields", "links", "model", "body", "G", "_x", "a1", "A_1"),
]
#: Keys that only values of `set` and their objects may have.
KEYS = ["1a", "é", "日本", "a b", "a-b", "a.b", "$a", "'", '"', "\\", "`", "${a}", "*/", "//", "\u2028", "\U0001f600"]
HEAD = """\
import { createClient } from "./gateway.js";
import { equal, type Same } from "./shape.js";

declare const process: { argv: string[] };
const client = createClient({ url: process.argv[2]! });
"""
#: What a `get` of one field, of all, of a link and of a field of that link is answered with, and its types.
ONE_FIELD = """
{{
  const found = await client.call("constructor", "find", {{ get: {{ [{name}]: 1 }} }});
  found satisfies Same<typeof found, {{ _id: string; [{name}]{mark}: string }}>;
  equal(Object.entries(found).slice(1), [[{name}, "value"]]);
  const held = await client.call("holder", "valueOf", {{ get: {{ _id: 0, [{name}]: {{ _id: 0, [{name}]: 1 }} }} }});
  held satisfies Same<typeof held, {{ [{name}]: {{ [{name}]{mark}: string }} }}>;
  equal(Object.entries(held[{name}]), [[{name}, "value"]]);
}}
"""
ALL_FIELDS = """
{{
  const document = {{ {values} }};
  const added = await client.call("constructor", "toString", {{ set: document, get: {{ _id: 0, {flags} }} }});
  equal(added, document);
  const echoed = await client.call("constructor", "__proto__", {{ set: {{ inner: {keys}, ...{keys} }}, get: {{}} }});
  equal(echoed, {pairs});
}}
"""


@pytest.fixture
def named():
    """A gateway of a model whose fields have all names, and one whose relations have."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().named)
    field = {name: string() if place % 2 else optional(string()) for place, name in enumerate(NAMES)}
    things = gw.odm.new_model("constructor", field)
    to_thing = {"schemaName": "constructor", "type": "single"}
    links = {name: {**to_thing, "relatedRelations": {f"{name}_": {"type": "multiple", "limit": 2}}} for name in NAMES}
    holders = gw.odm.new_model("holder", {}, links)
    thing = things.insert_one(doc=dict.fromkeys(NAMES, "value"), projection={"_id": 1})
    holders.insert_one(doc={}, relations={name: {"_ids": thing["_id"]} for name in NAMES})
    public = {"public": True, "returns": "one"}

    @gw.acts.act("constructor", "find", get=1, **public)
    def find(body):
        return things.find_one(filters={}, projection=body["details"]["get"])

    @gw.acts.act("constructor", "toString", set=field, get=0, **public)
    def add(body):
        return things.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    @gw.acts.act("holder", "valueOf", get=1, **public)
    def held(body):
        return holders.find_one(filters={}, projection=body["details"]["get"])

    keyed = {key: optional(string()) for key in KEYS}
    echo = gw.acts.act(
        "constructor", "__proto__", set={"inner": object_(keyed), **keyed}, returns=array(array(string()))
    )
    echo(lambda body: [*body["details"]["set"]["inner"].items(), *list(body["details"]["set"].items())[1:]])
    return gw


def program():
    """A program that asks for each name, and checks what comes and its type."""
    marks = ["?" if place % 2 == 0 else "" for place in range(len(NAMES))]
    single = [ONE_FIELD.format(name=json.dumps(name), mark=mark) for name, mark in zip(NAMES, marks, strict=True)]
    values = ", ".join(f"[{json.dumps(name)}]: {json.dumps(name.upper())}" for name in NAMES)
    flags = ", ".join(f"[{json.dumps(name)}]: 1" for name in NAMES)
    pairs = [[key, key] for key in KEYS]
    keys = json.dumps(dict(pairs))
    return (
        HEAD + "".join(single) + ALL_FIELDS.format(values=values, flags=flags, keys=keys, pairs=json.dumps(pairs * 2))
    )


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_all_legal_names_are_sent_shown_and_typed(compiler, project, named):
    made = project("shape", gateway=typescript(named.catalog()), names=program())
    made.compiles(compiler)
    with served(named.create_app()) as url:
        assert made.runs("names", url) == ""
