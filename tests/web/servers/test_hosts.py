"""Which names a server answers to."""

import socket

import pytest
from flask import Flask

from gatewayfw.web.servers import restrict_hosts
from tests.web.mount import post

NAMES = ["localhost", "127.0.0.1", "[::1]"]
DEVELOPMENT = {"GATEWAYFW_ENV": "development"}
#: Names that only a resolver knows: the machine's own, and others.
RESOLVED = {"Box": ["127.0.1.1"], "shop.example": ["192.0.2.1", "2001:db8::1"], "both": ["192.0.2.1", "127.0.1.1"]}


def trusted_hosts(host, **options):
    app = Flask("shop")
    restrict_hosts(app, host, **options)
    return app.config["TRUSTED_HOSTS"]


@pytest.fixture
def resolver(monkeypatch):
    """Names of `RESOLVED` are looked up there, others as ever; none outside this machine."""
    known = socket.getaddrinfo

    def look_up(host, port, **options):
        addresses = RESOLVED.get(host)
        if addresses is None:
            return known(host, port, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize(
    ("host", "added"),
    [
        ("127.0.0.1", []),
        ("127.9.9.9", ["127.9.9.9"]),
        ("127.1", ["127.1"]),
        ("2130706433", ["2130706433"]),
        ("::1", ["::1"]),
        ("::ffff:127.0.0.1", ["::ffff:127.0.0.1"]),
        ("Box", ["box", "127.0.1.1"]),
        ("both", ["both", "127.0.1.1"]),
    ],
)
def test_in_development_a_server_of_this_machine_answers_its_names_only(host, added):
    names = [*NAMES, *added]
    assert trusted_hosts(host, playground=True, environ={}) == names
    assert trusted_hosts(host, playground=False, environ=DEVELOPMENT) == names
    assert trusted_hosts(host, playground=False, environ={}) is None


def test_localhost_is_a_name_of_this_machine_in_any_case():
    assert set(NAMES) <= set(trusted_hosts("LocalHost", playground=True, environ={}))


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "shop.example", "a..b", "x" * 80])  # noqa: S104
def test_a_server_that_others_reach_answers_any_name(host):
    assert trusted_hosts(host, playground=True, environ=DEVELOPMENT) is None


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("localhost", 200),
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("evil.example", 400),
        ("EVIL.EXAMPLE", 400),
        ("localhost.evil.example", 400),
    ],
)
def test_only_names_of_this_machine_are_answered(app, sent, status):
    restrict_hosts(app, "127.0.0.1", playground=True, environ={})
    assert post(app, headers={"Host": sent}).status_code == status


def test_a_server_without_playground_outside_development_answers_any_name(app):
    restrict_hosts(app, "127.0.0.1", playground=False, environ={})
    assert (app.config["TRUSTED_HOSTS"], post(app, headers={"Host": "shop.example"}).status_code) == (None, 200)
