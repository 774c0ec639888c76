"""``acts``, ``schemas`` and ``call``, with one gateway in the app and with two."""

from __future__ import annotations

import json
from functools import partial

import click
import mongomock
import pytest
from flask import Flask

from gatewayfw.cli import gateway_group
from gatewayfw.core import gateway
from gatewayfw.schemas import string
from tests.cli.shop import make_app, runner, shop


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
            "relations": {"shop": {"schemaName": "shop", "type": "single", "optional": True, "frozen": False}},
            "relatedRelations": {},
        },
    )


def test_schemas_name_what_is_frozen_and_listed_by_default():
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("shop", {})
    reverse = {"items": {"type": "multiple", "limit": 5, "default": True}}
    shop_of = {"schemaName": "shop", "type": "single", "frozen": True, "relatedRelations": reverse}
    gw.odm.new_model("item", {}, {"shop": shop_of})
    status, output = runner(make_app(shop=gw))("schemas")
    listed = "shop   items  reverse relation: multiple of item.shop, limit 5, listed by default"
    assert (status, output.splitlines()[1:]) == (0, [listed, "item   shop   relation: single shop frozen"])


def test_call_prints_the_envelope(run):
    set_, get = '{"name": "é", "price": 2}', '{"name": 1, "price": 1, "_id": 0}'
    status, output = run("call", "item", "addItem", "--set", set_, "--get", get)
    assert (status, json.loads(output), "é" in output) == (
        0,
        {"body": {"name": "é", "price": 2}, "success": True},
        True,
    )


def test_call_writes_out_what_a_terminal_would_obey(run):
    evil = "\x9b31m\u202e"
    words = ("call", "item", "addItem", "--set", json.dumps({"name": evil, "price": 2}), "--get", '{"name": 1}')
    status, output = run(*words)
    assert (status, json.loads(output)["body"]["name"], r"\u009b31m\u202e" in output) == (0, evil, True)
    assert all(line.isprintable() for line in output.splitlines())


def test_call_sends_the_token(run):
    status, output = run("call", "item", "whoAmI", "--token", "t")
    assert (status, json.loads(output)) == (0, {"body": "t", "success": True})


def test_call_with_a_key_does_it_once(database):
    gw = shop(database)

    @gw.acts.act("shop", "open", set={"name": string()}, idempotent="1h", idempotent_by=lambda body: "all", public=True)
    def open_(body):
        return gw.odm.model("shop").insert_one(doc=body["details"]["set"])["_id"]

    call = partial(runner(make_app(shop=gw)), "call", "shop", "open", "--set")
    first = call('{"name": "a"}', "--key", "k")
    assert (first[0], call('{"name": "a"}', "--key", "k"), gw.odm.model("shop").count()) == (0, first, 1)
    reused = {"body": {"message": "this Idempotency-Key was sent with another body"}, "success": False}
    status, output = call('{"name": "b"}', "--key", "k")
    assert (status, json.loads(output)) == (1, reused)
    assert "must be 1 to 255 printable ASCII characters" in call('{"name": "a"}', "--key", "")[1]


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


def test_several_gateways_are_told_apart_by_name():
    other = gateway()
    other.odm.set_db(mongomock.MongoClient().other)
    other.acts.act("car", "beep")(lambda body: "beep")
    run = runner(make_app(shop=shop(mongomock.MongoClient().shop), cars=other))
    assert run("call", "car", "beep", "--name", "cars") == (0, '{\n  "body": "beep",\n  "success": true\n}\n')
    assert run("call", "car", "beep", "--name", "shop")[0] == 1
    assert run("acts", "--name", "cars")[1].splitlines()[1:] == ["main     car    beep  assert"]


def commands(group, *before):
    """Yield the words of each command in a group, those of groups in it, too."""
    for name, command in group.commands.items():
        yield from commands(command, *before, name) if isinstance(command, click.Group) else [(*before, name)]


@pytest.mark.parametrize("words", [words for words in commands(gateway_group) if words != ("call",)], ids=" ".join)
def test_name_is_needed_among_several_and_must_exist(words):
    run = runner(make_app(one=gateway(), two=gateway()))
    assert [run(*words)[0], run(*words, "--name", "three")[0]] == [2, 2]
    assert "give --name with one of: one, two" in run(*words)[1]
    assert "no gateway is named 'three'; there are: one, two" in run(*words, "--name", "three")[1]


def test_app_without_a_gateway_says_so():
    assert runner(Flask("host"))("acts") == (1, "Error: this app has no gateway\n")


def test_gateway_of_create_app_needs_no_name(database):
    run = runner(shop(database).create_app(url_prefix="/api"))
    assert run("call", "item", "whoAmI")[0] == 0


def test_call_of_a_reply_that_is_no_envelope_names_its_status(database):
    app = make_app(shop=shop(database))
    app.before_request(lambda: ("log in first", 401))
    assert runner(app)("call", "item", "whoAmI") == (
        1,
        "Error: HTTP 401, no envelope: its answer is not application/json\n",
    )


def test_call_reaches_a_subdomain(database):
    app = Flask("host", subdomain_matching=True)
    app.config["SERVER_NAME"] = "shop.example"
    app.register_blueprint(shop(database).blueprint(), subdomain="api")
    status, output = runner(app)("call", "item", "whoAmI")
    assert (status, json.loads(output)) == (0, {"body": None, "success": True})


@pytest.mark.parametrize("option", ["--token", "--key"])
@pytest.mark.parametrize("text", ["a\nb", "\u00e9"])
def test_call_refuses_what_no_header_can_carry(run, option, text):
    status, output = run("call", "item", "whoAmI", option, text)
    assert (status, output.splitlines()[-1]) == (2, f"Error: {option}: expected printable ASCII characters")
