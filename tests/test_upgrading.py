"""The page on upgrading: its commands find the old code, and its new code runs."""

from __future__ import annotations

import re
import subprocess
from contextlib import nullcontext
from contextvars import Context
from pathlib import Path

import mongomock
import pytest
from bson import ObjectId
from marshmallow import fields

import gatewayfw
from gatewayfw import DefinitionError, UsageError, ValidationError, any_, array, decimal, string
from gatewayfw.odm import Operators

PAGE = Path(__file__).parent.parent / "docs" / "upgrading.md"
SECTIONS = dict(
    re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL),
)
#: A validator of an act.
SELL = {"set": {}, "get": {}}
#: The error of the old code, where it ends at once.
ERRORS = {
    "Names in the environment": DefinitionError,
    "Data in memory": DefinitionError,
    "Context functions outside of a request": RuntimeError,
    "Values that operations return": AttributeError,
    "Mistakes of the code are `UsageError`": UsageError,
    "Filters": UsageError,
    "Updates of lists with objects": ValidationError,
    "Inside of transactions": UsageError,
    "The name `_rev`": DefinitionError,
}


def blocks(title, language):
    """Return the blocks of a section in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[title], re.MULTILINE | re.DOTALL)


def parts(title):
    """Return the old and the new code of a section."""
    _, old, new = re.split(r"^# (?:Before|Now).*\n", blocks(title, "python")[0], flags=re.MULTILINE)
    return old, new


def new_parts(title):
    """Return the new code of a section, and what is to be run once."""
    return [parts(title)[1], *blocks(title, "python")[1:]]


def run(code):
    """Run code of the page with what it takes for granted, outside of the context that the plugin opens for a test."""
    Context().run(exec, code, names())


def names():
    """Return what the code of the page takes for granted."""
    gw = gatewayfw.gateway()
    odm = gw.odm
    odm.set_db(mongomock.MongoClient().shop, memory=True)
    odm.new_model("unit", {"name": string()})
    users = odm.new_model(
        "user",
        {"email": string(), "password": string()},
        {"unit": {"schemaName": "unit", "type": "single", "optional": True, "relatedRelations": {}}},
        options={"excludes": ["password"]},
    )
    books = odm.new_model("book", {"title": string(), "price": decimal(places=2), "printed": fields.DateTime()})
    users.insert_one(doc={"email": "a@b.cd", "password": "x"})
    book = books.insert_one(doc={"title": "Emma", "price": "1.50", "printed": "1815-12-23T00:00:00"})
    mine = {"gw": gw, "odm": odm, "acts": gw.acts, "context_fns": gw.context_fns, "users": users, "books": books}
    mine |= {"things": odm.new_model("thing", {"marks": array(any_)})}
    stored = {"book": book, "reserved": book, "id": book["_id"]}
    values = {"unit_id": ObjectId(), "email": "a@b.cd", "hashed": "x", "user": {}, "count": 2, "column": "pages"}
    others = {"SELL": SELL, "sell": list, "send_report": list, "skip": list, "error": UsageError("x is not a list")}
    public = {name: getattr(gatewayfw, name) for name in gatewayfw.__all__}
    libraries = {"fields": fields, "mongomock": mongomock, "Operators": Operators}
    return public | mine | stored | values | others | libraries


@pytest.mark.parametrize("title", SECTIONS)
def test_the_command_finds_the_old_code(title, tmp_path):
    (tmp_path / "service.py").write_text(parts(title)[0])
    (command,) = blocks(title, "sh")
    result = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.count("service.py:") > 0


@pytest.mark.parametrize("title", [title for title in SECTIONS if title != "Generated Python"])
def test_the_old_code_ends_as_the_page_says_and_the_new_code_runs(title, monkeypatch):
    if title == "Data in memory":
        monkeypatch.setenv("GATEWAYFW_ENV", "production")
    old, _ = parts(title)
    with pytest.raises(ERRORS[title]) if title in ERRORS else nullcontext():
        run(old)
    for code in new_parts(title):
        run(code)


def test_the_page_is_found():
    assert "docs/upgrading.md" in (PAGE.parent.parent / "README.md").read_text("utf-8")
    assert "docs/upgrading.md" in (PAGE.parent.parent / "CHANGELOG.md").read_text("utf-8")
    assert set(ERRORS) < set(SECTIONS)
