"""Hooks of all acts, and of the acts of one model: gatewayfw.acts.registry."""

from __future__ import annotations

from inspect import signature

import mongomock
import pytest

from gatewayfw import DefinitionError, Forbidden, gateway
from gatewayfw.acts import Acts
from gatewayfw.acts.registry import ActOptions
from gatewayfw.auth.access import access_rule

BODY = {"model": "a", "act": "b", "details": {"set": {}, "get": {}}}


@pytest.fixture
def make():
    def made(**settings):
        gw = gateway(**settings)
        gw.odm.set_db(mongomock.MongoClient().test)
        return gw

    return made


def sent(gw, **names):
    reply = gw.create_app().test_client().post("/gateway", json={**BODY, **names})
    return reply.status_code, reply.get_json()["body"]


class Notes(list):
    """What ran, in order."""

    def hook(self, name):
        return lambda body: self.append(name)

    def late(self, name):
        return lambda body, _result: self.append(name)

    def lists(self, name):
        """A hook for each list."""
        early = {key: [self.hook(f"{name} {key}")] for key in ("pre_validation", "pre_act")}
        return {**early, "post_act": [self.late(f"{name} post_act")]}


def in_order(*names):
    return [f"{name} {key}" for key in ("pre_validation", "pre_act", "post_act") for name in names]


def test_hooks_of_all_acts_come_first_then_those_of_the_group_then_its_own(make):
    gw, ran = make(), Notes()
    gw.acts.use(**ran.lists("first"))
    group = gw.acts.group("a", **ran.lists("group"))
    group.act("b", **ran.lists("own"))(lambda body: 1)
    gw.acts.use(**ran.lists("second"))
    assert sent(gw) == (200, 1)
    assert ran == in_order("first", "second", "group", "own")


def test_acts_of_an_object_have_them_too(make):
    gw, ran = make(), Notes()
    act = {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1, "preAct": [ran.hook("own pre_act")]}
    gw.acts.use(**ran.lists("before"))
    gw.acts.set_service("other", {"a": {"b": act}})
    gw.acts.use(**ran.lists("after"))
    assert sent(gw, service="other") == (200, 1)
    assert ran == [*in_order("before", "after")[:4], "own pre_act", *in_order("before", "after")[4:]]


def test_a_change_while_serving_holds_for_the_next_request(make):
    gw, ran = make(), Notes()
    gw.acts.act("a", "b")(lambda body: 1)
    client = gw.create_app().test_client()
    assert client.post("/gateway", json=BODY).status_code == 200
    gw.acts.use(pre_act=[ran.hook("new")])
    assert (client.post("/gateway", json=BODY).status_code, ran) == (200, ["new"])


CONTRADICTION = r"^act a\.b: public contradicts the access rule among its hooks$"


@access_rule
def nobody(_body):
    raise Forbidden("nobody")


@pytest.mark.parametrize("first", [True, False])
def test_a_remote_service_cannot_be_reached_around_them(make, first, closed_port):
    gw = make()
    if first:
        gw.acts.use(pre_act=[nobody])
    gw.acts.set_service("far", f"http://127.0.0.1:{closed_port}")
    if not first:
        gw.acts.use(pre_act=[nobody])
    assert sent(gw, service="far") == (403, {"message": "nobody"})


def test_a_rule_of_all_acts_is_enough_where_each_needs_one(make):
    gw = make(require_access=True)
    gw.acts.use(pre_act=[nobody])
    gw.acts.act("a", "b")(lambda body: 1)
    gw.acts.set_service("other", {"a": {"b": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}})
    assert sent(gw) == sent(gw, service="other") == (403, {"message": "nobody"})


def test_a_rule_of_the_group_is_enough_too(make):
    gw = make(require_access=True)
    gw.acts.group("a", pre_act=[nobody]).act("b")(lambda body: 1)
    assert sent(gw) == (403, {"message": "nobody"})


def test_a_rule_of_all_acts_contradicts_a_public_one_and_changes_nothing(make):
    gw, ran = make(), Notes()
    gw.acts.act("a", "b", public=True)(lambda body: 1)
    with pytest.raises(DefinitionError, match=CONTRADICTION):
        gw.acts.use(pre_act=[nobody], post_act=[ran.late("late")])
    assert (sent(gw), ran) == ((200, 1), [])
    gw = make()
    gw.acts.use(pre_act=[nobody])
    with pytest.raises(DefinitionError, match=CONTRADICTION):
        gw.acts.act("a", "b", public=True)(lambda body: 1)


def test_a_group_registers_by_object_and_decorator(make):
    gw, ran = make(), Notes()
    group = gw.acts.group("a", pre_act=[ran.hook("group")])
    group.set_act(act_name="b", validator={"set": {}, "get": {}}, fn=lambda body: 1, limit=None)
    group.act("c", public=True, max_reply_bytes=3)(lambda body: "too long")
    assert sent(gw) == (200, 1)
    assert sent(gw, act="c")[0] == 413
    assert ran == ["group", "group"]


def test_a_group_takes_every_keyword_of_an_act_and_needs_none():
    taken = signature(Acts.act).parameters.keys() - {"self", "schema", "act_name", "set", "get", "mode"}
    assert (ActOptions.__optional_keys__, ActOptions.__required_keys__) == (taken, set())


@pytest.mark.parametrize("name", ["pre_validation", "pre_act", "post_act", "on_error"])
@pytest.mark.parametrize("method", ["use", "group"])
def test_what_is_no_list_of_hooks_is_refused(make, name, method):
    names = () if method == "use" else ("a",)
    with pytest.raises(DefinitionError, match=f"{name}.*must be"):
        getattr(make().acts, method)(*names, **{name: [3]})


def test_an_act_of_a_group_with_a_wrong_hook_is_refused(make):
    with pytest.raises(DefinitionError, match="pre_act must be a list of functions"):
        make().acts.group("a").act("b", pre_act=print)(lambda body: 1)


def test_an_act_that_is_registered_again_begins_with_all_common_hooks_once(make):
    gw, ran = make(), Notes()
    gw.acts.use(pre_act=[ran.hook("first")])
    gw.acts.act("a", "b", pre_act=[ran.hook("own")])(lambda body: 1)
    taken = gw.acts.get_main_acts()
    gw.acts.use(pre_act=[ran.hook("second")])
    gw.acts.set_service("other", taken)
    assert sent(gw, service="other") == (200, 1)
    assert ran == ["first", "second", "own"]
