"""``doctor``: what it calls a problem, a warning and a hint."""

from __future__ import annotations

import json

from gatewayfw.core import gateway
from gatewayfw.schemas import string
from tests.cli.shop import make_app, runner, shop


def test_doctor_finds_nothing(run):
    assert run("doctor") == (0, "no problems found\n")
    assert [run("doctor", "--json")[0], json.loads(run("doctor", "--json")[1])] == [0, {"problems": [], "warnings": []}]


def test_doctor_names_definition_problems():
    gw = gateway()
    gw.odm.new_model("item", {"name": string()}, {"shop": {"schemaName": "none", "type": "single"}})
    status, output = runner(make_app(shop=gw))("doctor")
    assert (status, output.startswith("problem: model 'item', relation 'shop'")) == (1, True)


def test_doctor_names_a_missing_database():
    expected = (1, "problem: database: no database: call odm.set_db(...) first\n")
    assert runner(make_app(shop=gateway()))("doctor") == expected


def test_doctor_names_a_unique_index_that_duplicates_prevent(database):
    gw = gateway()
    gw.odm.set_db(database)
    database.item.insert_many([{"name": "same"}, {"name": "same"}])
    gw.odm.new_model(
        "item", {"name": string()}, options={"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}
    )
    status, output = runner(make_app(shop=gw))("doctor", "--json")
    report = json.loads(output)
    assert (status, len(report["problems"]), report["warnings"]) == (1, 1, [])


def test_doctor_warns_of_a_standalone_server(database, monkeypatch):
    gw = shop(database)
    monkeypatch.setattr(type(gw.odm.storage), "has_transactions", lambda self: False)
    status, output = runner(make_app(shop=gw))("doctor")
    assert (status, output) == (
        0,
        "warning: the database is a standalone server, without transactions: make it a one-node replica set\n",
    )
