"""What the README shows is what happens."""

from __future__ import annotations

import configparser
import doctest
import json
import re
import shlex
import string
from pathlib import Path

import pytest
from flask import Flask

from gatewayfw import errors
from gatewayfw.errors import GatewayError
from sample_service import demo
from sample_service.app import create_service
from tests.readme import CLIENT, EXAMPLE, PRINTED, RENAMING, SAMPLE

DOCS = Path(__file__).parent.parent / "docs"
_BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", SAMPLE, re.MULTILINE | re.DOTALL)
CALLS = [  # those that show an answer
    (text, answer)
    for (kind, text), (next_kind, answer) in zip(_BLOCKS, _BLOCKS[1:], strict=False)
    if (kind, next_kind) == ("sh", "json")
]
ID = re.compile(r"\b[0-9a-f]{24}\b")
TOKEN = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")


@pytest.fixture
def client(database):
    """The sample service with demo data, as `./dev run` starts it."""
    service = create_service(database, "k" * 32)
    demo.seed(service)
    return service.gw.create_app().test_client()


def request_of(command, variables):
    """The body and headers of a curl command, as a shell would pass them."""
    words = shlex.split(string.Template(command).safe_substitute(variables))
    assert words[:2] == ["curl", "http://127.0.0.1:8000/gateway"]
    headers = dict(words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H")
    (body,) = [words[at + 1] for at, word in enumerate(words) if word == "-d"]
    return {"data": body, "headers": headers}


def alike(text):
    """An answer without what differs every time."""
    return TOKEN.sub("TOKEN", ID.sub("ID", text.strip()))


def test_the_five_calls_answer_as_shown(client):
    variables = {}
    assert len(CALLS) == 5
    for command, answer in CALLS:
        got = client.post("/gateway", **request_of(command, variables)).get_data(as_text=True)
        assert alike(got) == alike(answer)
        if "TOKEN" not in variables:
            body = json.loads(got)["body"]
            variables = {"TOKEN": body["token"], "ROLE": body["roles"][0]["roleId"]}


def test_the_example_runs_in_memory_as_a_program(monkeypatch, capsys):
    monkeypatch.delenv("MONGODB_URI", raising=False)
    monkeypatch.setattr(Flask, "run", lambda app, port: print(f"port {port}"))
    exec(compile(EXAMPLE + CLIENT, "app.py", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == "port 8000\n" + PRINTED


def test_renaming_a_country_is_right_in_every_city(monkeypatch):
    monkeypatch.delenv("MONGODB_URI", raising=False)
    monkeypatch.setattr(Flask, "run", lambda app, port: None)
    program = {"__name__": "__main__"}
    exec(compile(EXAMPLE, "app.py", "exec"), program)
    country = program["countries"].insert_one({"name": "Iceland", "population": 390000})
    program["cities"].insert_one({"name": "Reykjavik"}, relations={"country": {"_ids": country["_id"]}})
    shown = doctest.DocTestParser().get_doctest(RENAMING, program, "README.md", None, None)
    told = []
    assert (doctest.DocTestRunner().run(shown, out=told.append), told) == ((0, 4), [])


@pytest.mark.mongo
@pytest.mark.parametrize("name", ["app", "__main__"])
def test_the_example_runs_on_mongodb(monkeypatch, capsys, mongod_uri, mongo_database, name):
    monkeypatch.setenv("MONGODB_URI", mongod_uri.replace("/?", f"/{mongo_database.name}?"))
    monkeypatch.setattr(Flask, "run", lambda app, port: None)
    program = {"__name__": name}
    try:
        exec(compile(EXAMPLE + CLIENT, "app.py", "exec"), program)
    finally:
        program["gw"].odm.storage.close()
    assert (capsys.readouterr().out, mongo_database.city.count_documents({})) == (PRINTED, 1)


@pytest.mark.parametrize("uri", [None, ""])
def test_no_server_starts_the_example_without_a_database(monkeypatch, uri):
    monkeypatch.delenv("MONGODB_URI", raising=False)
    if uri is not None:
        monkeypatch.setenv("MONGODB_URI", uri)
    with pytest.raises(errors.DefinitionError, match="^set_db: no database is given"):
        exec(compile(EXAMPLE, "app.py", "exec"), {"__name__": "app"})


def test_the_extras_table_has_every_extra():
    table = (DOCS / "extras.md").read_text("utf-8")
    setup = configparser.ConfigParser()
    setup.read(Path(__file__).parent.parent / "setup.cfg", "utf-8")
    shown = re.findall(r"^(?:\| )?`(\w+)`(?: \|| and `(\w+)` are for work)", table, re.MULTILINE)
    assert sorted(name for names in shown for name in names if name) == sorted(setup["options.extras_require"])


def test_the_errors_table_has_every_code():
    known = {one.code for one in vars(errors).values() if isinstance(one, type) and issubclass(one, GatewayError)}
    shown = set(re.findall(r"\| `([a-z_`; ]+)` \|$", (DOCS / "errors.md").read_text("utf-8"), re.MULTILINE))
    listed = {code for cell in shown for code in re.findall(r"[a-z_]+", cell)}
    # Shown to clients as internal_error.
    assert listed == known - {"definition_error", "storage_error"}
