"""What an export says of a field is accepted, and what a reply shows of it: it comes back and finds its document."""

from __future__ import annotations

import json
import sys

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client

from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.mcp import make_server, tools_of
from gatewayfw.export.openapi import openapi
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from tests.export.checking import mypy
from tests.export.compiling import ran
from tests.export.every_field import MODES, every_row, make_service
from tests.export.test_typescript_live import served
from tests.schemas.kinds.test_marshmallow_table import read_table


@pytest.fixture(scope="module")
def service():
    """A gateway of all fields."""
    return make_service(every_row())


@pytest.fixture(scope="module")
def catalog(service):
    return service.gw.catalog()


def test_every_field_of_marshmallow_in_the_guides_table_is_sent(service):
    assert set(read_table()) <= {type(row.field).__name__ for row in service.rows.values()}


def exchange(service, call):
    """Send each document, then what the reply shows of it, then look for both by what that shows."""
    shown = dict.fromkeys(service.rows, 1)
    for document in service.documents:
        for mode in MODES:
            first = call(f"add_{mode}", document, shown)
            again = call(f"add_{mode}", {name: first[name] for name in service.rows}, shown)
            ids = [first.pop("_id"), again.pop("_id")]
            assert again == first
            assert call(f"find_{mode}", {**again, "ids": ids}, {}) == []
        conditions = {name: {"eq": again[name]} for name in service.listed}
        rows = call("list", {"filter": conditions, "limit": 100}, {})["rows"]
        assert set(ids) <= {row["_id"] for row in rows}


@pytest.mark.parametrize("export", [json_schema, openapi])
def test_the_json_of_a_schema_comes_back(service, catalog, export):
    client, schema = service.gw.create_app().test_client(), export(catalog)
    place, dot = ("#/$defs", ".") if "$defs" in schema else ("#/components/schemas", "-")
    parts = {name: schema[name] for name in ("$defs", "components") if name in schema}

    def judge(name, part, value):
        Draft202012Validator({"$ref": f"{place}/{dot.join(['main', 'thing', name, part])}", **parts}).validate(value)

    def call(act, set_, get):
        body = {"service": "main", "model": "thing", "act": act, "details": {"set": set_, "get": get}}
        judge(act, "request", body)
        reply = client.post("/gateway", json=body).get_json()
        assert reply["success"], reply["body"]
        judge(act, "reply", reply["body"])
        return reply["body"]

    exchange(service, call)


def test_the_arguments_of_a_tool_come_back(service, catalog):
    client, tools = service.gw.create_app().test_client(), tools_of(catalog)
    server = make_server(catalog, lambda body: client.post("/gateway", json=body).get_json())

    async def talk():
        async with Client(server) as session:

            def call(act, set_, get):
                tool = tools[f"thing_{act}"]
                given = {
                    name: value for name, value in (("set", set_), ("get", get)) if name in tool.schema["properties"]
                }
                Draft202012Validator(tool.schema).validate(given)
                result = anyio.from_thread.run(session.call_tool, tool.name, given)
                assert not result.is_error, result.content[0].text
                shown = json.loads(result.content[0].text)
                assert result.structured_content == (shown if isinstance(shown, dict) else {"result": shown})
                return shown

            await anyio.to_thread.run_sync(exchange, service, call)

    anyio.run(talk)


TS_HEAD = """\
import { createClient } from "./gateway.js";
import { equal } from "./shape.js";

declare const process: { argv: string[] };
const client = createClient({ url: process.argv[2]! });
const get = %s as const;
"""
TS_EXCHANGE = """
{{
  const {{ _id, ...first }} = await client.call("thing", "add_{mode}", {{ set: {set}, get }});
  const {{ _id: other, ...again }} = await client.call("thing", "add_{mode}", {{ set: first, get }});
  equal(again, first);
  const ids = [_id, other];
  equal(await client.call("thing", "find_{mode}", {{ set: {{ ...again, ids }}, get: {{}} }}), []);
  const {{ rows }} = await client.call("thing", "list", {{ set: {{ filter: {filter}, limit: 100 }}, get: {{}} }});
  equal(ids.filter((id) => !rows.some((row) => row._id === id)), []);
}}
"""
TS_REFUSED = """
const set = { integer: 2 ** 60 } as never;
const whole = await client.send({ model: "thing", act: "find_assert", details: { set, get: {} } });
equal(!whole.success && whole.body.errors!["set.integer"], ["Not a valid integer."]);
"""


def written(pairs):
    """Return an object in TypeScript or Python; each name has a line, which an error names."""
    return "{\n" + "".join(f"    {json.dumps(name)}: {text},\n" for name, text in pairs.items()) + "}"


def test_a_program_in_typescript_gets_its_values_back(service, catalog, project):
    text = TS_HEAD % json.dumps(dict.fromkeys(service.rows, 1))
    conditions = written({name: f"{{ eq: again.{name}! }}" for name in service.listed})
    for document in service.documents:
        sent = written({name: json.dumps(value) for name, value in document.items()})
        text += "".join(TS_EXCHANGE.format(mode=mode, set=sent, filter=conditions) for mode in MODES)
    text += TS_REFUSED
    made = project("shape", gateway=typescript(catalog), program=text)
    made.compiles("typescript")
    with served(service.gw.create_app()) as url:
        made.runs("program", url)


PYTHON_HEAD = """\
import sys
from typing import Any
from gateway_types import (
    Client,
    ThingAddAssertSet,
    ThingAddCreateSet,
    ThingFindAssertSet,
    ThingFindCreateSet,
    ThingGet1,
    ThingListSet,
)

client = Client(sys.argv[1])
get: ThingGet1 = {get}


def changed(value: Any) -> Any:
    return value
"""
PYTHON_EXCHANGE = """

def {mode}_{place}() -> None:
    sent: ThingAdd{suffix}Set = {sent}
    first = client.call("thing", "add_{mode}", set=sent, get=get)
    back: ThingAdd{suffix}Set = {back}
    again = client.call("thing", "add_{mode}", set=back, get=get)
    ids = [first["_id"], again["_id"]]
    assert {{**again, "_id": ids[0]}} == first
    given: ThingFind{suffix}Set = {given}
    assert client.call("thing", "find_{mode}", set=given) == []
    listed: ThingListSet = {{"filter": {filter}, "limit": 100}}
    rows = client.call("thing", "list", set=listed, get={{"_id": 1}})["rows"]
    assert set(ids) <= {{row["_id"] for row in rows}}


{mode}_{place}()
"""


def program(service):
    """Return a program in Python that sends each document in both modes."""
    text = PYTHON_HEAD.format(get=dict.fromkeys(service.rows, 1))
    conditions = written({name: f'{{"eq": again["{name}"]}}' for name in service.listed})

    def read(one, more):
        fields = {
            name: f'changed({one}["{name}"])' if row.changes else f'{one}["{name}"]'
            for name, row in service.rows.items()
        }
        return written({**fields, **more})

    parts = {"back": read("first", {}), "given": read("again", {"ids": "ids"}), "filter": conditions}
    for place, document in enumerate(service.documents):
        sent = written({name: repr(value) for name, value in document.items()})
        for mode in MODES:
            text += PYTHON_EXCHANGE.format(mode=mode, suffix=mode.title(), place=place, sent=sent, **parts)
    return text


def test_a_program_in_python_gets_its_values_back(service, catalog, tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "gateway_types.py").write_text(python(catalog), "utf-8")
    (tmp_path / "program.py").write_text(program(service), "utf-8")
    lines = program(service).splitlines()
    assert [(error, lines[error[1] - 1]) for error in mypy(tmp_path, "gateway_types.py", "program.py")] == []
    with served(service.gw.create_app()) as url:
        ran([sys.executable, "program.py", url], tmp_path)
