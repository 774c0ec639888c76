"""Which gateway a command means, and how it ends when there is none."""

from __future__ import annotations

import click
import pytest
from flask import Flask

from gatewayfw.cli.choice import chosen, errors_told, sound
from gatewayfw.core import gateway
from gatewayfw.errors import DefinitionError, Unavailable
from tests.cli.shop import make_app, shop


def refused(call, *arguments):
    with pytest.raises(click.ClickException) as caught:
        call(*arguments)
    return caught.value.message, caught.value.exit_code


def test_the_only_gateway_needs_no_name():
    gw = gateway()
    with make_app(one=gw).app_context():
        assert chosen(None) == chosen("one") == ("one", gw)


def test_of_several_one_is_named():
    first, second = gateway(), gateway()
    with make_app(one=first, two=second).app_context():
        assert chosen("two") == ("two", second)
        assert refused(chosen, None) == ("this app has several gateways; give --name with one of: one, two", 2)
        assert refused(chosen, "six") == ("no gateway is named 'six'; there are: one, two", 2)


def test_an_app_without_a_gateway_is_said_to_be_one():
    with Flask("host").app_context():
        assert refused(chosen, None) == ("this app has no gateway", 1)


@pytest.mark.parametrize("error", [Unavailable("gone"), DefinitionError("wrong")])
def test_our_errors_end_a_command_with_their_message(error):
    def fail():
        with errors_told():
            raise error

    assert refused(fail) == (error.message, 1)


def test_other_errors_are_not_hidden():
    with pytest.raises(KeyError), errors_told():
        raise KeyError


def test_a_sound_gateway_gives_its_odm(database):
    gw = shop(database)
    with make_app(one=gw).app_context():
        assert sound(None) is gw.odm


def test_wrong_definitions_end_a_command():
    gw = gateway()
    gw.odm.new_model("item", {}, {"shop": {"schemaName": "shop", "type": "single", "relatedRelations": {}}})
    with make_app(check=False, one=gw).app_context():
        assert refused(sound, None) == ("model 'item', relation 'shop': schemaName names 'shop', no model", 1)


def test_without_a_database_a_command_ends():
    with make_app(check=False, one=gateway()).app_context():
        message, status = refused(sound, None)
    assert ("set_db" in message, status) == (True, 1)
