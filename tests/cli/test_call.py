"""``call``: an act, through the app in this process."""

from __future__ import annotations

import json
from functools import partial

import pytest
from flask import Flask

from gatewayfw.schemas import string
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import has_page


def test_call_prints_the_envelope(run):
    set_, get = '{"name": "é", "price": 2}', '{"name": 1, "price": 1, "_id": 0}'
    status, output = run("call", "item", "addItem", "--set", set_, "--get", get)
    assert status == 0
    assert json.loads(output) == {"body": {"name": "é", "price": 2}, "success": True}
    assert "é" in output


def test_call_writes_out_what_a_terminal_would_obey(run):
    evil = "\x9b31m\u202e"
    words = ("call", "item", "addItem", "--set", json.dumps({"name": evil, "price": 2}), "--get", '{"name": 1}')
    status, output = run(*words)
    assert status == 0
    assert json.loads(output)["body"]["name"] == evil
    assert r"\u009b31m\u202e" in output
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
    assert first[0] == 0
    assert call('{"name": "a"}', "--key", "k") == first
    assert gw.odm.model("shop").count() == 1
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
    assert status == 2
    assert output.splitlines()[-1].startswith(f"Error: {message}")


def test_call_sends_a_role_only_where_a_hook_looks_for_it(run):
    status, output = run("call", "item", "whoAmI", "--role", "r")
    told = "Error: --role: no hook looks for a role in a header or cookie; it is a field of set"
    assert (status, output.splitlines()[-1]) == (2, told)


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


@pytest.mark.parametrize("option", ["--token", "--role", "--key"])
@pytest.mark.parametrize("text", ["a\nb", "\u00e9"])
def test_call_refuses_what_no_header_can_carry(run, option, text):
    status, output = run("call", "item", "whoAmI", option, text)
    assert (status, output.splitlines()[-1]) == (2, f"Error: {option}: expected printable ASCII characters")


def test_the_environment_may_hold_the_token(run, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_CALL_TOKEN", "env\n")
    call = ("call", "item", "whoAmI")
    assert [json.loads(run(*words)[1])["body"] for words in (call, (*call, "--token", "t"))] == ["env", "t"]
    monkeypatch.setenv("GATEWAYFW_CALL_TOKEN", "")
    assert json.loads(run(*call)[1])["body"] is None


def test_the_help_is_on_the_page():
    assert has_page("call")
