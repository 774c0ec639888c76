"""Which gateway a command means, and how it ends when there is none."""

from __future__ import annotations

import click
import pytest
from flask import Flask

from gatewayfw.cli.choice import find_gateway, find_odm
from gatewayfw.core import gateway
from gatewayfw.errors import DefinitionError
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
    assert (status, output.startswith("Error: "), "set_db" in output) == (1, True, True)


def test_the_help_is_on_the_page():
    assert has_page("acts")
