"""``openapi``, ``jsonschema`` and ``mcp``: printed, written, and what they refuse."""

from __future__ import annotations

import json

import mongomock
import pytest
from flask import Flask

from gatewayfw.auth import Auth, Rule, Tokens, header
from gatewayfw.catalog import build
from gatewayfw.cli import exports
from gatewayfw.core import gateway
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.openapi import openapi
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import has_page


@pytest.fixture
def gw():
    """The shop, with a tool that tells its token."""
    made = shop(mongomock.MongoClient().test)

    @made.acts.act("item", "myToken", public=True, mcp=True)
    def my_token(body):
        """Tell the token.

        More about it.
        """
        return made.context_fns.get_context_model().Headers.get("token")

    return made


@pytest.fixture
def catalog(gw):
    return build(gw.schemas, gw.acts)


@pytest.fixture
def run(gw):
    return runner(make_app(shop=gw))


def test_the_json_schema_is_printed(run, catalog):
    status, output = run("jsonschema")
    assert (status, json.loads(output)) == (0, json_schema(catalog))


def test_the_openapi_document_has_the_path_of_the_app(run, catalog):
    status, output = run("openapi")
    assert (status, json.loads(output)) == (0, openapi(catalog, path="/shop/gateway"))


def test_the_openapi_document_with_all_options(run, catalog):
    servers = ["https://example.com", "https://test.example.com"]
    status, output = run(
        *["openapi", "--virtual-paths", "--title", "Shop", "--api-version", "3"],
        *(word for server in servers for word in ("--server", server)),
    )
    document = openapi(catalog, path="/shop/gateway", title="Shop", version="3", virtual_paths=True, servers=servers)
    assert (status, json.loads(output)) == (0, document)


def test_the_tools_are_listed(run):
    assert run("mcp", "--list") == (0, "tool          description\nitem_myToken  Tell the token.\n")
    status, output = run("mcp", "--list", "--json")
    assert (status, json.loads(output)) == (0, [{"tool": "item_myToken", "description": "Tell the token."}])


def test_the_server_is_that_of_the_gateways_catalog_and_name(run, gw, monkeypatch):
    served = []
    monkeypatch.setattr(exports, "make_server", lambda catalog, send, name: (catalog, name))
    monkeypatch.setattr(exports, "serve", served.append)
    assert (run("mcp"), served) == ((0, ""), [(gw.catalog(), "shop")])


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("mcp", "--token-file", "none"), "Invalid value for '--token-file': File 'none' does not exist."),
        (("mcp", "--token-file", "."), "Invalid value for '--token-file': File '.' is a directory."),
    ],
)
def test_a_path_that_is_no_file_is_wrong_usage(run, tmp_path, monkeypatch, words, problem):
    monkeypatch.chdir(tmp_path)
    status, output = run(*words)
    assert (status, output.splitlines()[-1]) == (2, f"Error: {problem}")


def test_a_gateway_without_tools_serves_none():
    run = runner(make_app(shop=shop(mongomock.MongoClient().test)))
    message = "Error: no act is offered as a tool: give those that should be mcp=True\n"
    assert run("mcp") == (1, message)


@pytest.fixture
def sent(run, monkeypatch):
    """Run ``mcp`` with words, and give what a call of an act comes back as."""

    def sent(*words, act="myToken"):
        monkeypatch.setattr(exports, "make_server", lambda catalog, send, name: send)
        seen = []
        body = {"service": "main", "model": "item", "act": act, "details": {"set": {}, "get": {}}}
        monkeypatch.setattr(exports, "serve", lambda send: seen.append(send(body)))
        assert run("mcp", *words) == (0, "")
        return seen[0]

    return sent


def test_calls_have_the_token_of_the_environment_or_none(sent, monkeypatch):
    assert sent() == {"success": True, "body": None}
    monkeypatch.setenv("GATEWAYFW_MCP_TOKEN", "t\n")
    assert sent() == {"success": True, "body": "t"}


def test_calls_have_the_token_of_the_file_first(sent, monkeypatch, tmp_path):
    monkeypatch.setenv("GATEWAYFW_MCP_TOKEN", "t")
    (tmp_path / "token").write_text("from the file\n")
    assert sent("--token-file", str(tmp_path / "token")) == {"success": True, "body": "from the file"}


def test_a_token_file_that_cannot_be_read_fails_the_call(sent, tmp_path):
    (tmp_path / "token").write_bytes(b"\xff")
    refused = {"success": False, "body": {"message": "the token file cannot be read"}}
    assert sent("--token-file", str(tmp_path / "token")) == refused


def test_calls_have_the_role_where_a_hook_looks_for_it(sent, run, gw):
    status, output = run("mcp", "--role", "r")
    refused = "Error: --role: no hook looks for a role in a header or cookie; it is a field of set"
    assert (status, output.splitlines()[-1]) == (2, refused)
    auth = Auth(gw.context_fns, Tokens("k" * 32), {}.get, role_from=header("x-role"))
    gw.acts.act("item", "ruled", pre_act=[auth.read_token, auth.load_user, auth.grant(Rule(roles=("A",)))])(len)
    tell = gw.acts.act("item", "myRole", mcp=True)
    tell(lambda body: gw.context_fns.get_context_model().Headers.get("x-role"))
    assert sent("--role", "r", act="myRole") == {"success": True, "body": "r"}


def test_a_reply_of_the_host_is_an_error(gw, monkeypatch):
    app = make_app(shop=gw)
    app.before_request(lambda: ("closed", 503))
    envelopes = []
    monkeypatch.setattr(exports, "make_server", lambda catalog, send, name: send)
    monkeypatch.setattr(exports, "serve", lambda send: envelopes.append(send({})))
    assert runner(app)("mcp") == (0, "")
    message = "HTTP 503, no envelope: its answer is not application/json"
    assert envelopes == [{"success": False, "body": {"message": message}}]


@pytest.mark.parametrize("command", ["openapi", "mcp"])
def test_a_route_with_variables_is_refused(command):
    app, gw = Flask("host"), gateway()
    gw.acts.set_act(
        schema="item", act_name="do", validator={"set": {}, "get": {}}, fn=lambda body: 1, public=True, mcp=True
    )
    app.register_blueprint(gw.blueprint("shop"), url_prefix="/<tenant>")
    message = "Error: the route /<tenant>/gateway has variables, which a command cannot fill in\n"
    assert runner(app)(command) == (1, message)


@pytest.mark.parametrize("words", ["openapi", "jsonschema", "mcp"])
def test_the_help_is_on_the_page(words):
    assert has_page(words)
