"""What commands share: which gateway is meant, why its database is away, what is printed."""

from __future__ import annotations

import json
import logging
import subprocess
import sys

import click
import mongomock
import pytest
from flask import Flask

from gatewayfw.cli.command import (
    Failed,
    find_gateway,
    find_odm,
    format_json,
    reason_of,
    status_line,
    table,
    tell_outages_of,
)
from gatewayfw.core import gateway
from gatewayfw.errors import DefinitionError, NotFound, Unavailable
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import has_page


def refused(call, *arguments):
    with pytest.raises(click.ClickException) as caught:
        call(*arguments)
    return caught.value.message, caught.value.exit_code


def test_the_only_gateway_needs_no_name():
    gw = gateway()
    with make_app(one=gw).app_context():
        assert find_gateway(None) == find_gateway("one") == ("one", gw)


def test_of_several_one_is_named():
    first, second = gateway(), gateway()
    with make_app(one=first, two=second).app_context():
        assert find_gateway("two") == ("two", second)
        assert refused(find_gateway, None) == ("this app has several gateways; give --name with one of: one, two", 2)
        assert refused(find_gateway, "six") == ("no gateway is named 'six'; there are: one, two", 2)


def test_an_app_without_a_gateway_is_said_to_be_one():
    with Flask("host").app_context():
        assert refused(find_gateway, None) == ("this app has no gateway", 1)


def test_a_sound_gateway_gives_its_odm(database):
    gw = shop(database)
    with make_app(one=gw).app_context():
        assert find_odm(None) is gw.odm


def test_wrong_definitions_end_a_command():
    gw = gateway()
    shop_of = {"schemaName": "shop", "type": "single", "relatedRelations": {}}
    gw.odm.new_model("item", {}, {"shop": shop_of, "other": shop_of})
    with make_app(check=False, one=gw).app_context():
        assert refused(find_odm, None) == (
            "model 'item', relation 'shop': schemaName names 'shop', which is not a model; "
            "model 'item', relation 'other': schemaName names 'shop', which is not a model",
            1,
        )


def test_without_a_database_there_is_no_odm():
    with make_app(one=gateway()).app_context(), pytest.raises(DefinitionError, match="^no database: "):
        find_odm(None)


def test_without_a_database_a_command_ends():
    status, output = runner(make_app(check=False, one=gateway()))("check")
    assert status == 1
    assert output.startswith("Error: ")
    assert "set_db" in output


def test_the_help_is_on_the_page():
    assert has_page("acts")


APP = """
from gatewayfw import gateway
gw = gateway(server_selection_timeout=0.1)
gw.odm.set_db("mongodb://127.0.0.1:9/none")
app = gw.create_app()
"""
REASON = "no answer (127.0.0.1:9: connection refused)"


@pytest.mark.slow
def test_a_command_says_the_reason_once_where_nobody_configured_a_log(tmp_path):
    (tmp_path / "app.py").write_text(APP, "utf-8")
    command = [sys.executable, "-m", "flask", "gateway", "jobs"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"Error: {REASON}\n"


@pytest.mark.parametrize("given", [[], [logging.StreamHandler()]], ids=["no log", "a log"])
def test_the_storage_logs_only_where_somebody_configured_a_log(monkeypatch, given):
    logger = logging.getLogger("gatewayfw.storage")
    monkeypatch.setattr(logger, "handlers", [*given])
    odm = shop(mongomock.MongoClient().test).odm
    tell_outages_of(odm)
    tell_outages_of(odm)
    assert [type(one) for one in logger.handlers] == [type(one) for one in given or [logging.NullHandler()]]


def test_the_reason_is_the_databases_where_it_is_away():
    gw = shop("mongodb://127.0.0.1:9/none", server_selection_timeout=0.1)
    with pytest.raises(Unavailable) as caught:
        gw.odm.jobs()
    assert reason_of(caught.value) == "service unavailable, try again"
    with click.Context(click.Command("jobs")):
        assert reason_of(caught.value) == "service unavailable, try again"
        tell_outages_of(gw.odm)
        assert [reason_of(one) for one in (caught.value, NotFound("gone"))] == [REASON, "gone"]
    gw.odm.storage.close()


#: Characters that a terminal takes for commands, or that turn the direction of writing.
EVIL = "a\x9b31mb\u202ec\u2066d\x1b[2Je\x7ff\u200bg\ud800h\U000e0001"


def printable(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("indent", [2, None])
def test_json_means_the_same_and_can_be_printed(indent):
    value = {EVIL: [EVIL, "é 漢 😀", 'line\nend\t"quoted" \\'], "n": 1.5}
    text = format_json(value, indent)
    assert json.loads(text) == value
    assert printable(text) is True
    assert "é 漢 😀" in text


def test_json_that_can_be_printed_stays_as_it_is():
    assert format_json({"a": ["é"]}) == '{\n  "a": [\n    "é"\n  ]\n}'


def test_each_line_of_an_error_is_written_out():
    assert Failed("a\x1b[2J\nb").message == "a\\x1b[2J\nb"


def test_cells_of_a_table_are_written_out_and_aligned():
    assert table(("a", "b"), [("\x1b[2J", "é"), ("x\ny", "z")]) == "a        b\n\\x1b[2J  é\nx\\ny     z"


def test_the_line_of_progress_is_for_terminals(capsys):
    status_line("text")
    assert capsys.readouterr().err == ""


def test_the_line_of_progress_is_written_out(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    status_line("\x9b31m\u202e")
    assert capsys.readouterr().err == "\r\x1b[K\\x9b31m\\u202e"


def test_the_line_of_progress_is_replaced_cut_and_taken_away(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for text in ("twelve signs", ""):
        status_line(text)
    assert capsys.readouterr().err == "\r\x1b[Ktwelve si\r\x1b[K"
