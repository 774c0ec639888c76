"""Who calls, from the hooks before an act to its reply: gatewayfw.policies.policies."""

from __future__ import annotations

from threading import Thread

import mongomock
import pytest
from flask import Flask, after_this_request

from gatewayfw import Forbidden, gateway, string
from gatewayfw.context_variables import CALLERS, Free
from tests.policies.conftest import ROLES, define


@pytest.fixture
def seen(gw):
    """A function that notes who calls, at a place in the code; it has what was noted as ``at``."""

    def note(place, result=None):
        entry = CALLERS.get().get(gw.schemas)
        note.at[place] = entry if entry is None or isinstance(entry, Free) else entry.role
        return result

    note.at = {}
    return note


def noting(seen, place, *, fails=None):
    """A hook that notes who calls."""

    def hook(*_given):
        seen(place)
        if fails is not None:
            raise fails

    return hook


def test_the_caller_is_known_from_the_act_to_its_reply(gw, serve, seen):
    gw.policy("item", roles=["Clerk"])

    @gw.acts.act("item", "look", pre_act=[noting(seen, "hook")], post_act=[noting(seen, "after")])
    def look(body):
        gw.context_fns.set_context({"user": None, "active_role": {"name": "Auditor"}})
        gw.odm.transaction(lambda: gw.odm.after_commit(lambda: seen("commit")))
        seen("act")
        return (seen("reply", one) for one in [1])

    assert serve()("Clerk", "item", "look")[:2] == (200, [1])
    assert seen.at == {"hook": None, "act": "Clerk", "commit": "Clerk", "after": "Clerk", "reply": "Clerk"}
    assert CALLERS.get() == {}


def test_requests_share_a_caller_until_a_policy_asks_for_the_context(gw, serve):
    gw.policy("item", roles=["Clerk", "Auditor"], hide=["price"])
    met = []
    gw.acts.act("item", "look")(lambda body: met.append(CALLERS.get()[gw.schemas]))
    call = serve()
    for role in ("Clerk", "Clerk", "Auditor"):
        call(role, "item", "look")
    gw.policy("item", roles=["Clerk"], own=lambda context: [], hide=["name"])
    for user in ("ann", "bob"):
        call("Clerk", "item", "look", user=user)
    assert [one is met[0] for one in met] == [True, True, False, False, False]
    assert [one.context["user"]["_id"] for one in met[3:]] == ["ann", "bob"]


@pytest.mark.parametrize("role", [None, "", "Clerk", "Boss"])
def test_a_caller_has_a_declared_role_or_none_or_is_nobody(gw, serve, seen, role):
    gw.policy("item", roles=["Clerk"])
    gw.acts.act("item", "look")(lambda body: seen("act", {}))
    serve()(role, "item", "look")
    assert seen.at["act"] == {"Boss": ""}.get(role, role)
    serve()(None, "item", "look", headers={"x-role": "Boss"})
    assert seen.at["act"] is None


def test_nothing_restricts_a_ghost(gw, serve, seen):
    gw.policy("item", roles=["Clerk"])
    gw.acts.act("item", "look")(lambda body: seen("act", {}))
    serve()("Clerk", "item", "look", user="ghost")
    assert seen.at["act"] is Free.GHOST


def test_without_policies_nobody_is_asked_who_calls(gw, serve, seen):
    gw.acts.act("item", "look")(lambda body: seen("act", {}))
    serve()("Clerk", "item", "look")
    assert seen.at["act"] is None


@pytest.mark.parametrize("where", ["hook", "act", "reply"])
def test_the_hooks_of_an_error_have_the_caller_too(gw, serve, seen, where):
    gw.policy("item", roles=["Clerk"])

    def fail():
        raise Forbidden("no")
        yield

    def fail_in(place):
        return noting(seen, place, fails=Forbidden("no") if where == place else None)

    @gw.acts.act("item", "look", pre_act=[fail_in("hook")], on_error=[noting(seen, "error")])
    def look(body):
        fail_in("act")(body)
        return fail()

    assert serve()("Clerk", "item", "look")[0] == 403
    assert seen.at["error"] == "Clerk"


def test_an_error_before_anybody_knows_who_calls_leaves_nobody(seen, serve):
    gw = define(gateway(roles=ROLES, policy_role=lambda context: context["user"]["position"]))
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.policy("item", roles=["Clerk"])
    at = []

    def note(body, error):
        (entry,) = CALLERS.get().values()
        at.append(entry.role)

    gw.acts.act("item", "look", pre_act=[noting(seen, "", fails=Forbidden("no"))], on_error=[note])(lambda body: {})
    reply = (
        gw.create_app()
        .test_client()
        .post("/gateway", json={"model": "item", "act": "look", "details": {"set": {}, "get": {}}})
    )
    assert (reply.status_code, at) == (403, [None])


@pytest.mark.parametrize(("given", "status", "role"), [("Clerk", 200, "Clerk"), (None, 200, ""), (3, 500, None)])
def test_policy_role_says_which_role_counts(seen, given, status, role):
    gw = define(gateway(roles=ROLES, policy_role=lambda context: given))
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.policy("item", roles=["Clerk"])
    at = []

    @gw.acts.act("item", "look", pre_act=[lambda: gw.context_fns.add_context({"user": {}})])
    def look(body):
        (entry,) = CALLERS.get().values()
        at.append(entry.role)
        return {}

    reply = (
        gw.create_app()
        .test_client()
        .post("/gateway", json={"model": "item", "act": "look", "details": {"set": {}, "get": {}}})
    )
    assert (reply.status_code, at) == (status, [role] if status == 200 else [])


@pytest.mark.parametrize("atomic", [False, True])
def test_each_item_of_a_batch_has_its_own_caller(seen, atomic, serve):
    gw = define(gateway(roles=ROLES, max_batch=9, policy_role=lambda context: context["body"]["details"]["set"]["as"]))
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.policy("item", roles=["Clerk"])
    at = []

    def note(place):
        (entry,) = CALLERS.get().values()
        at.append((place, entry.role))

    @gw.acts.act("item", "look", set={"as": string}, on_error=[lambda body, error: note("error")])
    def look(body):
        gw.odm.after_commit(lambda: note("commit"))
        note("act")
        if body["details"]["set"]["as"] == "Auditor":
            raise Forbidden("no")
        return {}

    def ask(*roles):
        at.clear()
        items = [{"model": "item", "act": "look", "details": {"set": {"as": role}, "get": {}}} for role in roles]
        body = {"batch": items, "atomic": True} if atomic else {"batch": items}
        gw.create_app().test_client().post("/gateway", json=body)
        return at

    acts, commits = [("act", "Clerk"), ("act", "Customer")], [("commit", "Clerk"), ("commit", "Customer")]
    ordered = [*acts, *commits] if atomic else [commits[0], acts[0], commits[1], acts[1]]
    assert ask("Clerk", "Customer") == ordered
    assert ask("Clerk", "Auditor")[-1] == ("error", "Auditor")
    assert CALLERS.get() == {}


def test_an_act_that_an_act_runs_has_its_own_hooks_and_caller(gw, serve, seen):
    gw.policy("item", roles=["Clerk"])
    gw.acts.act("item", "inner", pre_act=[noting(seen, "inner hook")])(lambda body: seen("inner", {}))

    @gw.acts.act("item", "outer")
    def outer(body):
        with gw.context_fns.open():
            inner = {"model": "item", "act": "inner", "details": {"set": {}, "get": {}}}
            gw.lifecycle.run(inner, lambda result, bounds: result)
        return seen("outer", {})

    serve()("Clerk", "item", "outer")
    assert seen.at == {"inner hook": Free.HOOKS, "inner": None, "outer": "Clerk"}


def test_a_thread_has_the_caller_if_the_context_was_handed_on(gw, serve):
    gw.policy("item", roles=["Clerk"])
    gw.odm.model("item").insert_one({"name": "lamp"})

    @gw.acts.act("item", "count")
    def count(body):
        counted, items = [], gw.odm.model("item")

        def note():
            counted.append(items.count())

        for target in (note, gw.context_fns.run_in_context(note)):
            thread = Thread(target=target)
            thread.start()
            thread.join()
        return [items.count(), *counted]

    assert serve()("Customer", "item", "count")[:2] == (200, [0, 1, 0])


def test_observers_and_what_comes_after_the_act_have_no_caller(gw, serve, seen):
    gw.policy("item", roles=["Clerk"])
    gw.on_call(lambda call: seen("observer"))

    @gw.acts.act("item", "look")
    def look(body):
        after_this_request(lambda reply: seen("after", reply))
        return seen("act", {})

    serve()("Clerk", "item", "look")
    assert seen.at == {"act": "Clerk", "observer": None, "after": None}


def test_the_config_of_an_app_may_require_policies():
    gw = define(gateway())
    gw.odm.set_db(mongomock.MongoClient().test)
    items = gw.odm.model("item")
    items.insert_one({"name": "lamp"})
    gw.acts.act("item", "count")(lambda body: items.count())
    app = Flask("own")
    app.config["GATEWAYFW_REQUIRE_POLICY"] = True
    gw.init_app(app)
    body = {"model": "item", "act": "count", "details": {"set": {}, "get": {}}}
    assert app.test_client().post("/gateway", json=body).json["body"] == 0
    assert items.count() == 1


def test_policies_of_one_gateway_hold_in_acts_of_another_that_its_acts_run(gw, serve):
    gw.policy("item", roles=["Clerk"])
    items = gw.odm.model("item")
    items.insert_one({"name": "lamp"})
    other = gateway(roles=["Clerk"])
    other.acts.act("shop", "count")(lambda body: items.count())

    @gw.acts.act("item", "count")
    def count(body):
        inner = {"model": "shop", "act": "count", "details": {"set": {}, "get": {}}}
        return other.lifecycle.run(inner, lambda result, bounds: result)

    call = serve()
    assert [call(role, "item", "count")[1] for role in ("Clerk", "Customer")] == [1, 0]


@pytest.mark.parametrize("seller", ["Clerk", "Guest"])
def test_policies_of_both_gateways_hold_in_acts_that_acts_run(gw, serve, seller):
    gw.policy("item", roles=["Clerk"])
    items = gw.odm.model("item")
    items.insert_one({"name": "lamp"})
    other = gateway(roles=["Clerk", "Guest"], policy_role=lambda context: seller)
    other.odm.set_db(mongomock.MongoClient().test)
    shops = other.odm.new_model("shop", {"name": string()})
    other.policy("shop", roles=["Clerk"])
    shops.insert_one({"name": "corner"})
    other.acts.act("shop", "count")(lambda body: [items.count(), shops.count()])

    @gw.acts.act("item", "count")
    def count(body):
        inner = {"model": "shop", "act": "count", "details": {"set": {}, "get": {}}}
        return [*other.lifecycle.run(inner, lambda result, bounds: result), items.count()]

    call, sold = serve(), int(seller == "Clerk")
    assert [call(role, "item", "count")[1] for role in ("Clerk", "Customer")] == [[1, sold, 1], [0, sold, 0]]
