"""``mongod``: a server until a signal, whose data stays."""

from __future__ import annotations

import json
import os
import signal
import threading
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner
from pymongo import MongoClient

from gatewayfw.cli import gateway_group
from gatewayfw.testing.mongod import LocalMongod, find_free_port, find_mongod
from tests.cli.shop import APART
from tests.commands_page import has_page


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to be in, with no app."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words):
    return CliRunner(**APART).invoke(gateway_group, ["mongod", *words])


@pytest.fixture
def use(mongod_uri, folder, default_signals, monkeypatch):
    """Run the command beside a function that gets a client of its server, and the port; return the result."""
    if find_mongod() is None:
        pytest.skip("there is a server, but no mongod to start")
    started, start = threading.Event(), LocalMongod.start

    def start_and_tell(mongod):
        start(mongod)
        started.set()
        return mongod

    monkeypatch.setattr(LocalMongod, "start", start_and_tell)

    def use(act, *words):
        port = find_free_port()
        begun = []

        def beside():
            assert started.wait(60)
            started.clear()
            with MongoClient("127.0.0.1", port, directConnection=True) as client:
                begun.append(act(client))

        thread = threading.Thread(target=beside)
        thread.start()
        result = run("--port", str(port), *words)
        thread.join()
        return port, begun, result

    return use


def end(number):
    os.kill(os.getpid(), number)


@pytest.mark.slow
@pytest.mark.mongo
def test_it_serves_until_a_signal_and_keeps_the_data(use, folder):
    def add(client):
        client.shop.things.insert_one({"_id": 1})
        end(signal.SIGINT)

    def read(client):
        found = list(client.shop.things.find())
        end(signal.SIGTERM)
        return found

    place = folder / ".gateway" / "mongod"
    port, _, first = use(add, "--database", "shop")
    uri = f"mongodb://127.0.0.1:{port}/shop?replicaSet=rs0"
    assert (first.exit_code, first.stdout) == (0, f"export MONGODB_URI='{uri}'\n")
    assert first.stderr == f"the data is in {place}; Ctrl-C stops the server\n"
    port, found, second = use(read, "--json")
    uri = f"mongodb://127.0.0.1:{port}/app?replicaSet=rs0"
    assert second.exit_code == 0
    assert json.loads(second.stdout) == {"uri": uri, "data": str(place)}
    assert found == [[{"_id": 1}]]


@pytest.mark.mongo
def test_a_server_that_ends_by_itself_ends_the_command(use, folder):
    _, _, result = use(lambda client: os.kill(client.admin.command("serverStatus")["pid"], signal.SIGKILL))
    log = folder / ".gateway" / "mongod" / "mongod.log"
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, f"Error: mongod has ended; its log is {log}")


def test_without_a_mongod_it_says_where_one_is_looked_for(folder, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_MONGOD", "/nowhere")
    result = run()
    told = "Error: GATEWAYFW_MONGOD=/nowhere is not a program; name one with GATEWAYFW_MONGOD=/path/to/mongod"
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.partition(",")[0] == told
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(folder, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_MONGOD", "/bin/true")
    Path("file").touch()
    result = run("--data", "file/data")
    assert (result.exit_code, result.stderr) == (1, "Error: file/data cannot be used: Not a directory\n")
    result = run("--data", "file")
    told = "Error: Invalid value for '--data': Directory 'file' is a file."
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, told)


#: The module, whose name the command has in the package.
MODULE = import_module("gatewayfw.cli.mongod")


class Ended:
    """A server that has ended when one looks."""

    is_running = False

    def __init__(self, data, port):
        self.data, self._port = data.absolute(), port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def uri_of(self, database):
        return f"mongodb://127.0.0.1:{self._port}/{database}?replicaSet=rs0"


@pytest.mark.parametrize(
    ("words", "folder_name", "uri"),
    [
        ((), ".gateway/mongod", "mongodb://127.0.0.1:27017/app?replicaSet=rs0"),
        (
            ("--data", "my data", "--port", "5", "--database", "a-B_1"),
            "my data",
            "mongodb://127.0.0.1:5/a-B_1?replicaSet=rs0",
        ),
    ],
    ids=["default", "all options"],
)
def test_it_prints_what_an_app_needs_and_watches_the_server(folder, monkeypatch, words, folder_name, uri):
    monkeypatch.setattr(MODULE, "LocalMongod", Ended)
    monkeypatch.setattr(MODULE, "INTERVAL", 0.01)
    result, as_json, place = run(*words), run(*words, "--json"), folder / folder_name
    assert (result.exit_code, result.stdout) == (1, f"export MONGODB_URI='{uri}'\n")
    assert result.stderr.splitlines() == [
        f"the data is in {place}; Ctrl-C stops the server",
        f"Error: mongod has ended; its log is {place / 'mongod.log'}",
    ]
    assert json.loads(as_json.stdout) == {"uri": uri, "data": str(place)}


NAME = "Invalid value for '--database': must be of letters, digits, - and _, at most 63."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--database", "a/b"), NAME),
        (("--database", ""), NAME),
        (("--database", "a" * 64), NAME),
        (("--port", "0"), "Invalid value for '--port': 0 is not in the range 1<=x<=65535."),
    ],
)
def test_what_cannot_be_used_is_refused(folder, words, message):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert list(folder.iterdir()) == []
    assert result.stderr.splitlines()[-1] == f"Error: {message}"


def test_the_help_is_on_the_page():
    assert has_page("mongod")
