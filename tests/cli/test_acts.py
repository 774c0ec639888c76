"""``acts``, and ``--name``, with one gateway in the app and with two."""

from __future__ import annotations

import json

import click
import mongomock
import pytest
from flask import Flask

from gatewayfw.cli import gateway_group
from gatewayfw.core import gateway
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import has_page


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


def test_several_gateways_are_told_apart_by_name():
    other = gateway()
    other.odm.set_db(mongomock.MongoClient().other)
    other.acts.act("car", "beep")(lambda body: "beep")
    run = runner(make_app(shop=shop(mongomock.MongoClient().shop), cars=other))
    assert run("acts", "--name", "cars")[1].splitlines()[1:] == ["main     car    beep  assert"]


def commands(group, *before):
    """Yield the words of each command in a group, those of groups in it, too."""
    for name, command in group.commands.items():
        yield from commands(command, *before, name) if isinstance(command, click.Group) else [(*before, name)]


#: Commands that need no gateway, or not always.
WITHOUT = {("mongod",), ("new",)}


@pytest.mark.parametrize("words", [words for words in commands(gateway_group) if words not in WITHOUT], ids=" ".join)
def test_name_is_needed_among_several_and_must_exist(words):
    run = runner(make_app(one=gateway(), two=gateway()))
    assert [run(*words)[0], run(*words, "--name", "three")[0]] == [2, 2]
    assert "give --name with one of: one, two" in run(*words)[1]
    assert "no gateway is named 'three'; there are: one, two" in run(*words, "--name", "three")[1]


def test_app_without_a_gateway_says_so():
    assert runner(Flask("host"))("acts") == (1, "Error: this app has no gateway\n")


def test_the_help_is_on_the_page():
    assert has_page("acts")
