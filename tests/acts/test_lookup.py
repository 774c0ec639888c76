"""Finding acts and services by name: what is there instead of a name that is not."""

from __future__ import annotations

import pytest

from gatewayfw.acts.lookup import UnknownName, act_of, acts_of, copy_of, find_local, find_service, hooks_of
from gatewayfw.errors import NotFound
from gatewayfw.schemas import string

URL = "http://127.0.0.1:9"


def check():
    """Let everybody pass."""


@pytest.fixture
def services(acts):
    """Acts of two models in `main`, a service of its own, and a remote one, by name."""
    for schema, name in (("user", "addUser"), ("user", "getUser"), ("city", "addCity")):
        validator = {"set": {"name": string()}, "get": {}}
        acts.set_act(schema=schema, act_name=name, validator=validator, fn=id, pre_validation=[check])
    acts.set_service("billing", {"bill": {"pay": {"validator": {"set": {}, "get": {}}, "fn": id}}})
    acts.set_service("far", URL, pre_act=[check])
    found = {name: acts.get_service(name) for name in ("main", "billing")}
    return {**found, "far": acts.resolve("far", "any", "any")}


@pytest.mark.parametrize(
    ("names", "message", "known"),
    [
        (("shop", "user", "addUser"), "service not found: shop", ("main", "billing", "far")),
        (("main", "usr", "addUser"), "no acts found for model: usr", ("user", "city")),
        (("main", "user", "x"), "act not found: user.x", ("addUser", "getUser")),
        (("billing", "user", "addUser"), "no acts found for model: user", ("bill",)),
    ],
)
def test_an_unknown_name_comes_with_those_that_are_known(services, names, message, known):
    with pytest.raises(UnknownName) as raised:
        act_of(find_service(services, names[0]), *names[1:])
    assert (raised.value.message, raised.value.known, raised.value.status) == (message, known, 404)


def test_the_acts_of_a_model_are_found_by_name(services):
    main = find_local(services, "main")
    assert (list(acts_of(main, "user")), act_of(main, "user", "getUser").act_name) == (
        ["addUser", "getUser"],
        "getUser",
    )


def test_a_remote_service_has_no_acts_here(services):
    with pytest.raises(NotFound) as raised:
        find_local(services, "far")
    assert raised.value.message == "service far is remote: its acts are not known here"


def test_a_copy_of_a_service_is_as_it_was_set(services):
    assert (copy_of(services["far"]), copy_of(services["main"])) == (URL, services["main"])


def test_hooks_of_acts_and_of_a_remote_service_are_found(services):
    assert [list(hooks_of(services[name])) for name in ("main", "billing", "far")] == [[check] * 3, [], [check]]
