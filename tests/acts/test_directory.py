"""What is registered, found by name: gatewayfw.acts.directory."""

from __future__ import annotations

import pytest

from gatewayfw import NotFound, file, gateway

ACTS = {"bill": {"add": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}}


@pytest.fixture
def acts():
    found = gateway().acts
    found.act("user", "get")(lambda body: 1)
    found.set_service("billing", ACTS)
    found.set_service("far", "https://far.example")
    return found


def test_services_are_listed_in_order(acts):
    assert acts.get_service_keys() == ["main", "billing", "far"]
    assert [service.name for service in acts.remote_services()] == ["far"]


def test_an_act_is_the_same_by_every_name(acts):
    found = acts.get_main_act("user", "get")
    assert found is acts.get_act("main", "user", "get") is acts.get_acts("user")["get"]
    assert found is acts.resolve("main", "user", "get") is acts.getMainAct("user", actName="get")
    assert acts.get_acts_keys("billing", "bill") == ["add"]


def test_the_acts_of_a_service_elsewhere_are_not_known(acts):
    assert acts.resolve("far", "any", "thing") is acts.remote_services()[0]
    with pytest.raises(NotFound, match="is remote"):
        acts.get_act("far", "any", "thing")


def test_files_are_taken_where_an_act_takes_them(acts):
    before = acts.takes_files
    validator = {"set": {"file": file(most="1MB")}, "get": {}}
    acts.set_service("files", {"bill": {"scan": {"validator": validator, "fn": lambda body: 1}}})
    assert (before, acts.takes_files) == (False, True)
