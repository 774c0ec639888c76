"""``flask gateway``: acts, schemas, call and doctor, with one gateway in the app and with two."""

from __future__ import annotations

import json

import mongomock
import pytest
from flask import Flask

from gatewayfw.cli import gateway_group
from gatewayfw.core import gateway
from gatewayfw.schemas import number, optional, string


def shop(database):
    """A gateway with two related models and an act of each kind."""
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("shop", {"name": string(), "secret": optional(string())}, options={"excludes": ["secret"]})
    reverse = {"items": {"type": "multiple", "limit": 5}, "first": {"type": "single"}}
    items = gw.odm.new_model(
        "item",
        {"name": string(), "price": number()},
        {"shop": {"schemaName": "shop", "type": "single", "optional": True, "relatedRelations": reverse}},
    )

    @gw.acts.act("item", "addItem", set={"name": string(), "price": number()}, get=1, mode="create")
    def add_item(body):
        """Add an item.

        More about it.
        """
        return items.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    @gw.acts.act("item", "whoAmI")
    def who_am_i(body):
        return gw.context_fns.get_context_model().Headers.get("token")

    gw.acts.set_service("far", "http://127.0.0.1:1")
    return gw


def make_app(**gateways):
    app = Flask("host")
    for name, gw in gateways.items():
        app.register_blueprint(gw.blueprint(name), url_prefix=f"/{name}")
    return app


@pytest.fixture
def run(database):
    """Run a command of an app with one gateway: exit status and output."""
    return runner(make_app(shop=shop(database)))


def runner(app):
    def run(*words):
        result = app.test_cli_runner().invoke(gateway_group, list(words))
        return result.exit_code, result.output

    return run


def test_acts_are_listed(run):
    assert run("acts") == (
        0,
        "service  model  act      mode    description\n"
        "main     item   addItem  create  Add an item.\n"
        "main     item   whoAmI   assert\n"
        "far                              remote: http://127.0.0.1:1\n",
    )


def test_acts_as_json(run):
    status, output = run("acts", "--json")
    keys = ("service", "model", "act", "mode", "description")
    assert (status, [tuple(act[key] for key in keys) for act in json.loads(output)]) == (
        0,
        [
            ("main", "item", "addItem", "create", "Add an item."),
            ("main", "item", "whoAmI", "assert", ""),
            ("far", "", "", "", "remote: http://127.0.0.1:1"),
        ],
    )


def test_schemas_are_listed(run):
    assert run("schemas") == (
        0,
        "model  name    kind\n"
        "shop   name    string\n"
        "shop   secret  string optional excluded\n"
        "shop   items   reverse relation: multiple of item.shop, limit 5\n"
        "shop   first   reverse relation: single of item.shop\n"
        "item   name    string\n"
        "item   price   number\n"
        "item   shop    relation: single shop optional\n",
    )


def test_schemas_as_json(run):
    status, output = run("schemas", "--json")
    assert (status, json.loads(output)["item"]) == (
        0,
        {
            "fields": {
                "name": {"kind": "string", "required": True, "excluded": False},
                "price": {"kind": "number", "required": True, "excluded": False},
            },
            "relations": {"shop": {"schemaName": "shop", "type": "single", "optional": True}},
            "relatedRelations": {},
        },
    )


def test_call_prints_the_envelope(run):
    set_, get = '{"name": "é", "price": 2}', '{"name": 1, "price": 1, "_id": 0}'
    status, output = run("call", "item", "addItem", "--set", set_, "--get", get)
    assert (status, json.loads(output), "é" in output) == (
        0,
        {"body": {"name": "é", "price": 2}, "success": True},
        True,
    )


def test_call_sends_the_token(run):
    status, output = run("call", "item", "whoAmI", "--token", "t")
    assert (status, json.loads(output)) == (0, {"body": "t", "success": True})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("item", "none"), "act not found: item.none"),
        (("item", "addItem", "--set", '{"name": 1, "price": 1}'), "validation error: set.name: Not a valid string."),
        (("item", "addItem", "--service", "none"), "service not found: none"),
    ],
    ids=["act", "input", "service"],
)
def test_call_fails_with_the_envelope(run, words, message):
    status, output = run("call", *words)
    assert (status, json.loads(output)) == (1, {"body": {"message": message}, "success": False})


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--set", "{", "--set: not JSON: "),
        ("--get", "[]", "--get: expected a JSON object"),
        ("--set", "1", "--set: expected a JSON object"),
    ],
)
def test_call_refuses_what_is_no_object(run, option, text, message):
    status, output = run("call", "item", "addItem", option, text)
    assert (status, f"Error: {message}" in output) == (2, True)


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


def test_several_gateways_are_told_apart_by_name():
    other = gateway()
    other.odm.set_db(mongomock.MongoClient().other)
    other.acts.act("car", "beep")(lambda body: "beep")
    run = runner(make_app(shop=shop(mongomock.MongoClient().shop), cars=other))
    assert run("call", "car", "beep", "--name", "cars") == (0, '{\n  "body": "beep",\n  "success": true\n}\n')
    assert run("call", "car", "beep", "--name", "shop")[0] == 1
    assert run("acts", "--name", "cars")[1].splitlines()[1:] == ["main     car    beep  assert"]


@pytest.mark.parametrize("command", ["acts", "schemas", "doctor"])
def test_name_is_needed_among_several_and_must_exist(command):
    run = runner(make_app(one=gateway(), two=gateway()))
    assert [run(command)[0], run(command, "--name", "three")[0]] == [2, 2]
    assert "give --name with one of: one, two" in run(command)[1]
    assert "no gateway is named 'three'; there are: one, two" in run(command, "--name", "three")[1]


def test_app_without_a_gateway_says_so():
    assert runner(Flask("host"))("acts") == (1, "Error: this app has no gateway\n")


def test_gateway_of_create_app_needs_no_name(database):
    run = runner(shop(database).create_app(url_prefix="/api"))
    assert run("call", "item", "whoAmI")[0] == 0


def test_call_of_a_reply_that_is_no_envelope_names_its_status(database):
    app = make_app(shop=shop(database))
    app.before_request(lambda: ("log in first", 401))
    assert runner(app)("call", "item", "whoAmI") == (1, "Error: HTTP 401, no envelope\n")


def test_call_reaches_a_subdomain(database):
    app = Flask("host", subdomain_matching=True)
    app.config["SERVER_NAME"] = "shop.example"
    app.register_blueprint(shop(database).blueprint(), subdomain="api")
    status, output = runner(app)("call", "item", "whoAmI")
    assert (status, json.loads(output)) == (0, {"body": None, "success": True})


@pytest.mark.parametrize("token", ["a\nb", "\u00e9"])
def test_call_refuses_a_token_no_header_can_carry(run, token):
    status, output = run("call", "item", "whoAmI", "--token", token)
    assert (status, output.splitlines()[-1]) == (2, "Error: --token: expected printable ASCII characters")
