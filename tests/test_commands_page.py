"""The page of all commands is that of today; its exit statuses and its promise about JSON hold for each command."""

from __future__ import annotations

import shlex

import pytest
from flask import Flask

from gatewayfw.cli import gateway_group
from gatewayfw.core import gateway
from tests.cli.shop import APART
from tests.commands_page import PAGE, commands, generated

COMMANDS = dict(commands())
#: What these print is a document, or what they serve is a protocol; they take no --json.
DOCUMENTS = {"openapi", "jsonschema"}
#: What these do needs no app.
NO_APP = {"new", "mongod"}


def test_the_page_has_the_commands_of_today():
    assert PAGE.read_text("utf-8").endswith(generated()), "run: python -m tests.commands_page"


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_prints_json_and_says_what_each_option_is_for(words):
    options = [one for one in COMMANDS[words].params if one.param_type_name == "option"]
    assert ("as_json" in {one.name for one in options}) == (words not in DOCUMENTS)
    assert [one.name for one in options if not one.help] == []


@pytest.mark.parametrize("words", [words for words in COMMANDS if words not in NO_APP])
def test_each_command_ends_with_the_statuses_of_the_page(words):
    def end(app, *options):
        return app.test_cli_runner(**APART).invoke(gateway_group, [*words.split(), *options])

    with_gateway = Flask("host")
    with_gateway.register_blueprint(gateway().blueprint())
    failed = end(Flask("host"))
    assert failed.exit_code == 1
    assert failed.stdout == ""
    assert failed.stderr == "Error: this app has no gateway\n"
    for misused in (end(with_gateway, "--name", "none"), end(with_gateway, "--none")):
        assert misused.exit_code == 2
        assert misused.stdout == ""
        assert "Error: " in misused.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_each_help_has_an_example_that_can_be_parsed(words):
    command = COMMANDS[words]
    example = command.epilog.partition("Example: ")[2].splitlines()[0]
    start = ["flask", "gateway", *words.split()]
    told = shlex.split(example)
    assert told[: len(start)] == start
    assert command.make_context(words, told[len(start) :])
