"""Acts as tools of language models: which there are, what they take, how calls end."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import get_args

import anyio
import pytest
import uvicorn
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters

from gatewayfw import gateway
from gatewayfw.acts.act import ToolWord
from gatewayfw.catalog import build
from gatewayfw.errors import DefinitionError
from gatewayfw.export.mcp import HINTS, make_server, tools_of
from gatewayfw.schemas import array, boolean, integer, nullable, string
from tests.fuzz.sample import Sample

ROOT = Path(__file__).parent.parent.parent
STRUCT = {"set": {}, "get": {}}
WHOLE = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}


@pytest.fixture
def gw():
    """A gateway whose acts greet, in two services; one of three is no tool."""
    made = gateway()

    @made.acts.act("person", "greet", set={"names": array(string(), size=(1, 2))}, public=True, mcp=True)
    def greet(body):
        """Greet people.

        At most two.
        """

    made.acts.set_act(schema="person", act_name="hide", validator=STRUCT, fn=lambda body: None, public=True)
    wave = {"validator": STRUCT, "fn": lambda body: None, "mcp": "read", "returns": {"waves": integer()}}
    made.acts.set_service("near", {"person": {"wave": wave}})
    made.acts.set_service("far", "https://example.com")
    return made


def catalog_of(gw):
    return build(gw.schemas, gw.acts)


def in_session(server, talk):
    """What ``talk`` gives, called with a client of the server."""

    async def run():
        async with Client(server) as client:
            return await talk(client)

    return anyio.run(run)


def answer(result):
    """Whether a call failed, and its text."""
    assert [part.type for part in result.content] == ["text"]
    return bool(result.is_error), result.content[0].text


def called(server, name, arguments):
    return answer(in_session(server, lambda client: client.call_tool(name, arguments)))


def test_the_acts_that_opted_in_are_tools(gw):
    names = {"type": "array", "items": {"type": "string", "maxLength": 10_000}, "minItems": 1, "maxItems": 2}
    set_ = {"type": "object", "properties": {"names": names}, "required": ["names"], "additionalProperties": False}
    listed = in_session(make_server(catalog_of(gw), lambda body: {}), lambda client: client.list_tools())
    assert [tool.model_dump(exclude_none=True) for tool in listed.tools] == [
        {
            "name": "person_greet",
            "title": "person.greet",
            "description": "Greet people.\n\nAt most two.",
            "input_schema": {
                "type": "object",
                "properties": {"set": set_},
                "required": ["set"],
                "additionalProperties": False,
            },
            "output_schema": {
                "type": "object",
                "properties": {"result": {}},
                "required": ["result"],
                "additionalProperties": False,
            },
            "annotations": dict(HINTS[True]),
        },
        {
            "name": "near_person_wave",
            "title": "near.person.wave",
            "description": "near.person.wave",
            "input_schema": {"type": "object", "properties": {}, "additionalProperties": False},
            "output_schema": {"type": "object", "properties": {"waves": WHOLE}, "required": ["waves"]},
            "annotations": dict(HINTS["read"]),
        },
    ]


def test_a_call_is_a_request_with_what_was_left_out(gw):
    seen = []
    server = make_server(catalog_of(gw), lambda body: seen.append(body) or {"success": True, "body": {"waves": 1}})
    assert called(server, "person_greet", {"set": {"names": ["Ana"]}}) == (False, '{"waves": 1}')
    assert called(server, "near_person_wave", None) == (False, '{"waves": 1}')
    greet = {"service": "main", "model": "person", "act": "greet", "details": {"set": {"names": ["Ana"]}, "get": {}}}
    wave = {"service": "near", "model": "person", "act": "wave", "details": {"set": {}, "get": {}}}
    assert seen == [greet, wave]


@pytest.mark.parametrize(
    ("returns", "body", "text", "structured"),
    [
        ("one", {"name": "é"}, '{"name": "é"}', {"name": "é"}),
        ("optional", None, "null", {"result": None}),
        ("optional", {"name": "é"}, '{"name": "é"}', {"result": {"name": "é"}}),
        ("many", [{"name": "é"}], '[{"name": "é"}]', {"result": [{"name": "é"}]}),
        ({"rows": "many"}, {"rows": []}, '{"rows": []}', {"rows": []}),
        ({"result": boolean()}, {"result": True}, '{"result": true}', {"result": True}),
        (nullable(boolean()), None, "null", {"result": None}),
        (array(string()), ["é"], '["é"]', {"result": ["é"]}),
    ],
)
def test_a_result_is_text_and_an_object(gw, returns, body, text, structured):
    gw.schemas.add("city", {"name": string()})
    gw.acts.act("city", "find", get=0, returns=returns, public=True, mcp=True)(lambda body: None)
    server = make_server(catalog_of(gw), lambda sent: {"success": True, "body": body})
    result = in_session(server, lambda client: client.call_tool("city_find", {"get": {}}))
    assert (answer(result), result.structured_content) == ((False, text), structured)


def test_a_result_that_is_not_as_announced_is_told_of_as_text(gw):
    server = make_server(catalog_of(gw), lambda body: {"success": True, "body": {"waves": "x"}})
    told = "done, but not as announced ($.waves: 'x' is not of type 'integer'): {\"waves\": \"x\"}"
    assert called(server, "near_person_wave", {}) == (True, told)


def test_a_get_says_that_it_is_an_object_and_what_for(gw):
    gw.schemas.add("city", {"name": string()})
    gw.acts.act("city", "find", get=0, public=True, mcp=True)(lambda body: None)
    get = tools_of(catalog_of(gw))["city_find"].schema["properties"]["get"]
    assert get == {
        "type": "object",
        "$ref": "#/$defs/get.city.0",
        "description": (
            'What to show of the result beside `_id`: {"name": 1}, '
            "or an object in place of 1 for what a relation embeds."
        ),
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"names": []}, "names: the tool takes set and get, each an object"),
        ({"set": {}, "id": 1}, "id: the tool takes set and get, each an object"),
        ({"set": "{}"}, "set: the tool takes set and get, each an object"),
        ({"set": {}, "get": None}, "get: the tool takes set and get, each an object"),
    ],
)
def test_wrong_arguments_are_told_of_by_name(gw, arguments, told):
    server = make_server(catalog_of(gw), lambda body: pytest.fail("it was sent"))
    assert called(server, "person_greet", arguments) == (True, told)


def test_there_are_hints_for_each_kind_of_tool():
    assert set(HINTS) == {True, *get_args(ToolWord)}
    assert len({tuple(hints.items()) for hints in HINTS.values()}) == len(HINTS)


def test_an_error_is_one_of_the_tool_with_its_message_only(gw):
    refused = {"success": False, "body": {"message": "not today", "code": "bad_request", "requestId": "1"}}
    assert called(make_server(catalog_of(gw), lambda body: refused), "person_greet", {}) == (True, "not today")


def test_what_is_no_tool_is_not_called(gw):
    async def talk(client):
        with pytest.raises(MCPError, match="^there is no tool 'person_hide'$"):
            await client.call_tool("person_hide", {})

    in_session(make_server(catalog_of(gw), lambda body: pytest.fail("it was sent")), talk)


def test_two_acts_of_one_name_are_refused(gw):
    gw.acts.set_act(schema="a", act_name="b_c", validator=STRUCT, fn=lambda body: 1, public=True, mcp=True)
    gw.acts.set_act(schema="a_b", act_name="c", validator=STRUCT, fn=lambda body: 1, public=True, mcp=True)
    with pytest.raises(DefinitionError, match=r"^mcp: a\.b_c and a_b\.c would both be the tool a_b_c$"):
        tools_of(catalog_of(gw))


def test_without_the_package_the_extra_is_named(gw, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    with pytest.raises(
        DefinitionError,
        match=r"^a server for language models needs the library mcp: pip install mcp, or the extra gatewayfw\[mcp\]$",
    ):
        make_server(catalog_of(gw), lambda body: {})


def test_a_server_says_what_it_is_and_what_it_shows(gw):
    catalog = catalog_of(gw)
    server = make_server(catalog, lambda body: {})
    assert server.name == "gatewayfw"
    assert server.version == make_server(catalog, lambda body: {}).version
    assert server.version != make_server({**catalog, "maxBatch": 7}, lambda body: {}).version
    assert server.instructions == (
        "Each tool runs one act of a gateway. `set` is what the act needs; `get` names the fields of the result to "
        "show, with 1, or with an object for what a relation embeds. Only `_id` is shown unasked."
    )
    assert make_server(catalog, lambda body: {}, "shop").name == "shop"


def test_the_tools_of_the_sample_service():
    tools = tools_of(catalog_of(Sample().gw))
    for tool in tools.values():
        Draft202012Validator.check_schema(tool.schema)
        Draft202012Validator.check_schema(tool.output)
    assert list(tools) == [
        "user_getUser",
        "user_getUsers",
        "organization_getOrganizations",
        "unit_getUnits",
        "country_getCountry",
        "city_getCity",
    ]


def test_the_package_serves_the_tools_over_http(gw):
    server = make_server(catalog_of(gw), lambda body: {"success": True, "body": {"waves": 2}})
    with socket.create_server(("127.0.0.1", 0)) as bound:
        http = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error"))
        thread = threading.Thread(target=http.run, args=([bound],))
        thread.start()
        try:
            url = f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
            assert called(url, "near_person_wave", {}) == (False, '{"waves": 2}')
        finally:
            http.should_exit = True
            thread.join()


def test_a_client_lists_and_calls_tools_over_stdio(tmp_path):
    token = tmp_path / "token"
    token.touch()
    words = ["-m", "flask", "--app", "tests.export.served_tools", "gateway", "mcp", "--token-file", str(token)]
    env = {"TEST_TOKEN_FILE": str(token), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    server = StdioServerParameters(command=sys.executable, args=words, env=env, cwd=ROOT)

    async def talk(client):
        listed = await client.list_tools()
        get = {"_id": 0, "email": 1}
        people = await client.call_tool("user_getUsers", {"set": {"limit": 2}, "get": get})
        await client.call_tool("user_shout", {})
        nobody = await client.call_tool("user_getUser", {"set": {"userId": "f" * 24}, "get": get})
        wrong = await client.call_tool("user_getUser", {"set": {"userId": "x"}, "get": {"password": 2}})
        token.write_text("")
        unknown = await client.call_tool("user_getUser", {"set": {"userId": "f" * 24}, "get": get})
        return [tool.name for tool in listed.tools], *map(answer, (people, nobody, wrong, unknown))

    names, people, nobody, wrong, unknown = in_session(server, talk)
    assert {"user_getUser", "user_getUsers", "user_shout"} < set(names)
    assert people[0] is False
    assert len(json.loads(people[1])["rows"]) == 2
    assert nobody == (True, "user not found")
    assert wrong[0] is True
    assert wrong[1].startswith("validation error: set.userId: Not a valid ObjectId")
    assert unknown == (True, "you should send your id with token key in req header")
