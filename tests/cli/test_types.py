"""``types``: writes, checks and prints the types of a gateway."""

from __future__ import annotations

import json

import mongomock
import pytest

from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import has_page

LANGUAGES = {"ts": ("gateway.ts", typescript), "python": ("gateway_types.py", python)}
languages = pytest.mark.parametrize(
    ("words", "name", "text"),
    [([], *LANGUAGES["ts"]), *((["--lang", lang], *made) for lang, made in LANGUAGES.items())],
    ids=["default", *LANGUAGES],
)


@pytest.fixture
def gw():
    return shop(mongomock.MongoClient().test)


@pytest.fixture
def run(gw, tmp_path, monkeypatch):
    """Run a command in an empty working directory: exit status and output."""
    monkeypatch.chdir(tmp_path)
    return runner(make_app(shop=gw))


@languages
def test_the_file_is_written_once(run, gw, tmp_path, words, name, text):
    assert run("types", *words) == (0, f"wrote declarations/{name}\n")
    assert (tmp_path / "declarations" / name).read_text() == text(gw.catalog())
    assert run("types", *words) == (0, f"declarations/{name} is up to date\n")
    assert run("types", *words, "--check") == (0, f"declarations/{name} is up to date\n")


@languages
def test_the_file_is_printed(run, gw, tmp_path, words, name, text):
    assert run("types", *words, "--stdout") == (0, text(gw.catalog()))
    assert list(tmp_path.iterdir()) == []


def test_check_tells_what_differs_and_writes_nothing(run, gw, tmp_path):
    assert run("types", "--check", "--path", "src/api") == (1, "src/api/gateway.ts is missing\n")
    assert list(tmp_path.iterdir()) == []
    run("types", "--path", "src/api")
    gw.acts.act("item", "ping", public=True)(lambda body: None)
    status, output = run("types", "--check", "--path", "src/api")
    assert (status, output.splitlines()[:2]) == (1, ["--- src/api/gateway.ts", "+++ generated"])
    assert "\n+      ping: { set?: Nothing; get: Nothing; body: Json };\n" in output


def test_as_json_each_file_is_named(run, tmp_path):
    place = "declarations/gateway.ts"
    assert run("types", "--json") == (0, f'{{\n  "{place}": true\n}}\n')
    assert json.loads(run("types", "--json")[1]) == {place: False}
    assert json.loads(run("types", "--check", "--json")[1]) == {"upToDate": True, "difference": []}
    (tmp_path / place).write_text("old\n" * 60)
    status, output = run("types", "--check", "--json")
    told = json.loads(output)
    assert status == 1
    assert told["upToDate"] is False
    assert len(told["difference"]) > 60


def test_a_long_difference_is_cut(run, tmp_path):
    (tmp_path / "gateway.ts").write_text("old\n" * 60)
    whole = json.loads(run("types", "--check", "--path", ".", "--json")[1])["difference"]
    more = f"... and {len(whole) - 40} more lines"
    assert run("types", "--check", "--path", ".") == (1, "".join(f"{line}\n" for line in [*whole[:40], more]))


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--lang", "rust"], 2, "'rust' is not one of 'ts', 'python'"),
        (["--json", "--stdout"], 2, "--json and --stdout do not go together"),
        (["--check", "--stdout"], 2, "--check and --stdout do not go together"),
        (["--path", "file"], 1, "file"),
        (["--name", "none"], 2, "no gateway is named 'none'"),
    ],
)
def test_what_cannot_be_done_is_told(run, tmp_path, words, status, message):
    (tmp_path / "file").write_text("not a folder")
    found, output = run("types", *words)
    assert found == status
    assert message in output


def test_a_wrong_definition_is_told(run, gw):
    gw.acts.set_act(
        schema="item",
        act_name="odd",
        validator={"set": {}, "get": gw.schemas.select_struct("item", {"nope": 1})},
        fn=lambda body: None,
    )
    assert run("types") == (1, "Error: select struct of 'item': 'nope' is not a field or relation of it\n")


def test_the_help_is_on_the_page():
    assert has_page("types")
