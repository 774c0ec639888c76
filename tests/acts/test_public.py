"""Access by default: with `require_access` an act without a rule must say that it is public."""

from __future__ import annotations

import pytest

from gatewayfw.core import gateway
from gatewayfw.errors import DefinitionError, Forbidden
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings

STRUCT = {"set": {}, "get": {}}
NO_RULE = "no access rule in pre_act or pre_validation: add one, or say public=True (setting require_access)"
CONTRADICTION = "public contradicts the access rule among its hooks"


def rule(body):
    """Refuse everybody."""
    raise Forbidden("no")


rule.is_access_rule = True


class Rules:
    @staticmethod
    def plain(body):
        """Look like a rule without the mark."""

    def bound(self, body):
        """Be a method that is a rule."""

    bound.is_access_rule = True


def half_marked(body):
    """Have a mark that is not true."""


half_marked.is_access_rule = 1


@pytest.fixture
def closed(make_acts):
    """Acts of a gateway with `require_access`."""
    return make_acts(Schemas(Settings(require_access=True)))


def set_act(acts, **given):
    acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=len, **given)


def decorate(acts, **given):
    acts.act("user", "addUser", **given)(lambda body: None)


def set_service(acts, **given):
    names = {"pre_act": "preAct", "pre_validation": "preValidation"}
    entry = {names.get(key, key): value for key, value in given.items()}
    acts.set_service("other", {"user": {"addUser": {"validator": STRUCT, "fn": len, **entry}}})


WAYS = pytest.mark.parametrize("register", [set_act, decorate, set_service])


def message(register, text):
    return f"{'service other: ' if register is set_service else ''}act user.addUser: {text}"


@WAYS
@pytest.mark.parametrize(
    "given",
    [{}, {"public": False}, {"pre_act": [Rules.plain]}, {"pre_validation": [half_marked]}],
    ids=["nothing", "not public", "an unmarked hook", "a mark that is not True"],
)
def test_an_act_without_rule_must_say_that_it_is_public(closed, register, given):
    with pytest.raises(DefinitionError) as raised:
        register(closed, **given)
    assert raised.value.message == message(register, NO_RULE)
    assert (closed.get_main_acts(), closed.get_service_keys()) == ({}, ["main"])


@WAYS
@pytest.mark.parametrize(
    "given",
    [{"public": True}, {"pre_act": [len, rule]}, {"pre_validation": [rule]}, {"pre_act": [Rules().bound]}],
    ids=["public", "rule in preAct", "rule in preValidation", "method"],
)
def test_an_act_with_a_rule_or_public_is_taken(closed, register, given):
    register(closed, **given)
    act = closed.get_act("other" if register is set_service else "main", "user", "addUser")
    assert act.public is given.get("public", False)


@WAYS
@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("key", ["pre_act", "pre_validation"])
def test_public_and_a_rule_contradict_each_other(make_acts, register, required, key):
    acts = make_acts(Schemas(Settings(require_access=required)))
    with pytest.raises(DefinitionError) as raised:
        register(acts, public=True, **{key: [rule]})
    assert raised.value.message == message(register, CONTRADICTION)


@WAYS
def test_without_the_setting_nothing_is_required(acts, register):
    register(acts)
    assert acts.get_act("other" if register is set_service else "main", "user", "addUser").public is False


def test_the_setting_is_the_gateways():
    with pytest.raises(DefinitionError, match="act user.addUser: no access rule"):
        gateway(require_access=True).acts.act("user", "addUser")(lambda body: None)


def test_every_act_of_a_service_that_lacks_a_rule_is_named(closed):
    entry = {"validator": STRUCT, "fn": len}
    with pytest.raises(DefinitionError) as raised:
        closed.set_service("other", {"user": {"a": entry, "b": {**entry, "public": True}, "c": entry}})
    assert raised.value.message == f"service other: act user.a: {NO_RULE}; act user.c: {NO_RULE}"
