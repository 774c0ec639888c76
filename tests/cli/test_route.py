"""How a command asks the gateway of its app: through its route, with token and role."""

from __future__ import annotations

import click
import pytest
from flask import Flask

from gatewayfw.cli.exports import route_of
from gatewayfw.core import gateway
from gatewayfw.wire.posting import NotAGateway
from tests.cli.shop import make_app, shop

BODY = {"service": "main", "model": "item", "act": "whoAmI", "details": {"set": {}, "get": {}}}


@pytest.fixture
def app(database):
    return make_app(one=shop(database))


def test_a_body_is_asked_with_the_token_where_hooks_look_for_it(app):
    with app.app_context():
        assert route_of("one").ask(BODY, "secret", None) == {"body": "secret", "success": True}
        assert route_of("one").ask(BODY, "", None) == {"body": None, "success": True}


def test_a_refusal_is_an_envelope_too(app):
    with app.app_context():
        envelope = route_of("one").ask({**BODY, "act": "unknown"}, "", None)
    assert envelope["success"] is False


def test_an_error_page_of_the_host_is_no_envelope(app):
    app.before_request(lambda: ("<html>", 418))
    with app.app_context(), pytest.raises(NotAGateway) as caught:
        route_of("one").ask(BODY, "", None)
    assert caught.value.reply.status == 418


def test_a_subdomain_is_reached(database):
    host = Flask("host", subdomain_matching=True)
    host.config["SERVER_NAME"] = "shop.example"
    host.register_blueprint(shop(database).blueprint("one"), subdomain="api")
    with host.app_context():
        assert route_of("one").ask(BODY, "", None) == {"body": None, "success": True}


def test_variables_in_the_route_cannot_be_filled_in():
    host = Flask("host")
    host.register_blueprint(gateway().blueprint("one"), url_prefix="/<tenant>")
    with host.app_context(), pytest.raises(click.ClickException) as caught:
        route_of("one")
    assert caught.value.message == "the route /<tenant>/gateway has variables, which a command cannot fill in"
