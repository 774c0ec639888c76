"""How acts and services are found by their names."""

from __future__ import annotations

import pytest

from gatewayfw import file, gateway
from gatewayfw.acts.lookup import (
    UnknownName,
    list_hooks,
)
from gatewayfw.errors import NotFound
from gatewayfw.schemas import string

URL = "http://127.0.0.1:9"


def check():
    """Let everybody pass."""


@pytest.fixture
def services(acts):
    """Acts of two models in `main`, a service of its own, and a remote one."""
    for schema, name in (("user", "addUser"), ("user", "getUser"), ("city", "addCity")):
        validator = {"set": {"name": string()}, "get": {}}
        acts.set_act(schema=schema, act_name=name, validator=validator, fn=id, pre_validation=[check])
    acts.set_service("billing", {"bill": {"pay": {"validator": {"set": {}, "get": {}}, "fn": id}}})
    acts.set_service("far", URL, pre_act=[check])
    return acts


@pytest.mark.parametrize("ask", ["get_act", "resolve"])
@pytest.mark.parametrize(
    ("names", "message", "known"),
    [
        (("shop", "user", "addUser"), "service not found: shop", ("main", "billing", "far")),
        (("main", "usr", "addUser"), "no acts found for model: usr", ("user", "city")),
        (("main", "user", "x"), "act not found: user.x", ("addUser", "getUser")),
        (("billing", "user", "addUser"), "no acts found for model: user", ("bill",)),
    ],
)
def test_an_unknown_name_comes_with_those_that_are_known(services, ask, names, message, known):
    with pytest.raises(UnknownName) as raised:
        getattr(services, ask)(*names)
    assert raised.value.message == message
    assert raised.value.known == known
    assert raised.value.status == 404


def test_the_acts_of_a_model_are_found_by_name(services):
    assert services.get_acts_keys("main", "user") == list(services.get_acts("user")) == ["addUser", "getUser"]
    assert services.get_act("main", "user", "getUser") is services.get_main_act("user", "getUser")


@pytest.mark.parametrize(("ask", "names"), [("get_act", ["far", "user", "a"]), ("get_acts_keys", ["far", "user"])])
def test_a_remote_service_has_no_acts_here(services, ask, names):
    with pytest.raises(NotFound) as raised:
        getattr(services, ask)(*names)
    assert raised.value.message == "service far is remote: its acts are not known here"


def test_a_copy_of_a_service_is_as_it_was_set(services):
    assert (services.get_service("far"), services.get_service("main")) == (URL, services.get_main_acts())


def test_hooks_of_acts_and_of_a_remote_service_are_found(services):
    found = [services.get_service("main"), services.get_service("billing"), services.resolve("far", "any", "any")]
    assert [list_hooks(one) for one in found] == [[check] * 3, [], [check]]


ACTS = {"bill": {"add": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}}


@pytest.fixture
def registered():
    found = gateway().acts
    found.act("user", "get")(lambda body: 1)
    found.set_service("billing", ACTS)
    found.set_service("far", "https://far.example")
    return found


def test_services_are_listed_in_order(registered):
    assert registered.get_service_keys() == ["main", "billing", "far"]
    assert [service.name for service in registered.remote_services()] == ["far"]


def test_an_act_is_the_same_by_every_name(registered):
    found = registered.get_main_act("user", "get")
    assert found is registered.get_act("main", "user", "get") is registered.get_acts("user")["get"]
    assert found is registered.resolve("main", "user", "get") is registered.getMainAct("user", actName="get")
    assert registered.get_acts_keys("billing", "bill") == ["add"]


def test_the_acts_of_a_service_elsewhere_are_not_known(registered):
    assert registered.resolve("far", "any", "thing") is registered.remote_services()[0]
    with pytest.raises(NotFound, match="is remote"):
        registered.get_act("far", "any", "thing")


def test_files_are_taken_where_an_act_takes_them(registered):
    before = registered.takes_files
    validator = {"set": {"file": file(most="1MB")}, "get": {}}
    registered.set_service("files", {"bill": {"scan": {"validator": validator, "fn": lambda body: 1}}})
    assert before is False
    assert registered.takes_files is True
