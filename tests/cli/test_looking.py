"""Commands that look at a database change nothing in it."""

from __future__ import annotations

import pytest
from pymongo.database import Database

from gatewayfw.storage.mongo.indexes import identities as identities_of
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import commands

#: Commands that only look, with what they need, and those that are there to change or start something. Of the first,
#: `check --fit` is not here: it notes what it found.
LOOKING = [
    *("acts", "doctor", "doctor --json", "indexes", "indexes --json", "jobs", "check", "check --json"),
    *("migrate --plan", "migrate --status"),
    *("types --lang ts --check", "openapi", "jsonschema", "mcp --list"),
]
CHANGING = {"new", "mongod", "work", "repair", "files sweep"}
MOST = {"name": "corner", "secret": "s"}


def content(database):
    """Everything that is in a database: collections, their indexes and documents."""
    names = sorted(database.list_collection_names())
    identities = identities_of(database) if isinstance(database, Database) else {}
    return identities, {name: (database[name].index_information(), list(database[name].find({}))) for name in names}


def test_each_command_is_one_or_the_other():
    names = {words for words, _ in commands()}
    assert names == CHANGING | {name for name in names if any(f"{words} ".startswith(f"{name} ") for words in LOOKING)}


@pytest.mark.parametrize("words", LOOKING)
@pytest.mark.parametrize("stocked", [False, True], ids=["empty", "without indexes"])
def test_it_changes_nothing(database, tmp_path, monkeypatch, words, stocked):
    monkeypatch.chdir(tmp_path)
    if stocked:
        database.item.insert_many([{"name": "a", "price": 1, "legacy": 1, "shop": {"name": "gone"}}, {"name": "b"}])
        database.shop.insert_one(MOST)
    before = content(database)
    gw = shop(database)
    gw.odm.migration("legacy", "item", drop=["legacy"])
    run = runner(make_app(shop=gw))
    status, output = run(*words.split())
    assert status in (0, 1), output
    assert content(database) == before
