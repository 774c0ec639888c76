"""Whose rights an operation has, one test a rule: of the caller as the hooks left them, wherever the operation runs."""

from __future__ import annotations

import threading
from contextvars import copy_context

import pytest
from flask import Flask, copy_current_request_context

from gatewayfw import DefinitionError, HttpError, UsageError, any_, integer
from gatewayfw.auth import Auth, Rule, Tokens
from gatewayfw.client import InProcessClient
from gatewayfw.errors import Forbidden, Hidden
from gatewayfw.export.mcp import tools_of
from tests.policies.judged.shop import ANN, BOB, Shop
from tests.wire.scripts import answer

NUMBER = {"number": 1}
BOTH = [{"number": "r-Ann"}, {"number": "r-Bob"}]


def own(context):
    """Rows: the rentals of the caller's customer."""
    return {"customer._id": context["user"]["_id"]}


@pytest.fixture
def strict(shop):
    """A shop whose customers see their own rentals."""
    shop.policy("rental", roles=["Customer"], rows=own)
    return shop


def test_a_policy_of_an_undeclared_role_is_a_definition_error(shop):
    with pytest.raises(DefinitionError, match="Boss"):
        shop.policy("rental", roles=["Boss"])
        shop.gw.check()


def test_a_rule_of_an_undeclared_role_is_a_definition_error(shop):
    auth = Auth(shop.gw.context_fns, Tokens("k" * 32), load_user=lambda id_: None)
    hooks = [auth.read_token, auth.load_user, auth.grant(Rule(roles=("Boss",)))]
    shop.gw.acts.act("rental", "boss", set={"activeRoleId": any_}, pre_act=hooks)(lambda body: None)
    with pytest.raises(DefinitionError, match="Boss"):
        shop.gw.check()


def test_the_role_is_the_name_of_the_active_one(strict):
    assert [strict.show(role, NUMBER) for role in ("Customer", "Clerk")] == [BOTH[:1], []]


def test_a_function_may_say_the_role(open_shop):
    shop = open_shop(policy_role=lambda context: context["body"]["details"]["set"]["role"].title())
    shop.policy("rental", roles=["Customer"])
    assert [shop.show(role, NUMBER) for role in ("customer", "clerk")] == [BOTH, []]


def test_a_function_that_says_the_role_has_the_whole_context(open_shop):
    """Nothing has asked for it before: the act has no hooks."""
    shop = open_shop(policy_role=lambda context: context["Headers"].get("x-role"))
    shop.policy("rental", roles=["Customer"])
    shop.gw.acts.act("rental", "bare")(lambda body: shop.rentals.count())
    body = {"model": "rental", "act": "bare", "details": {"set": {}, "get": {}}}
    assert [shop.send(body, **{"x-role": role}).json["body"] for role in ("Customer", "Clerk")] == [2, 0]


@pytest.mark.parametrize("active", ["Customer", {"name": "Boss"}, {}])
def test_an_active_role_that_is_none_of_the_declared_ones_is_no_role(shop, active):
    shop.policy("rental", roles=["Customer"])
    shop.policy("item", roles="*", admit=True)
    shop.hooks.append(lambda body: shop.gw.context_fns.add_context({"active_role": active}))
    assert [shop.ask("Customer", model.count) for model in (shop.rentals, shop.items)] == [0, 1]


@pytest.mark.parametrize(("role", "user", "seen"), [("Clerk", ANN, 2), (None, ANN, 2), (None, None, 0)])
def test_a_star_is_every_signed_in_caller(shop, role, user, seen):
    shop.policy("rental", roles="*", admit=True)
    assert shop.ask(role, shop.rentals.count, user=user) == seen


@pytest.mark.parametrize("roles", [[None], None], ids=["listed", "alone"])
@pytest.mark.parametrize(("role", "user", "seen"), [("Clerk", ANN, 0), (None, ANN, 0), (None, None, 2)])
def test_none_is_nobody_signed_in(shop, roles, role, user, seen):
    shop.policy("rental", roles=roles)
    assert shop.ask(role, shop.rentals.count, user=user) == seen


def test_a_ghost_is_never_restricted(strict):
    assert strict.show("ghost", NUMBER) == BOTH


@pytest.mark.parametrize("flag", [1, "yes", {"of": "me"}])
def test_only_true_makes_a_ghost(strict, flag):
    user = {"_id": str(strict.of[ANN]), "isGhost": flag}
    strict.hooks.append(lambda body: strict.gw.context_fns.add_context({"user": user}))
    assert strict.ask("Customer", strict.rentals.count) == 1


def test_what_hooks_read_is_unrestricted(strict):
    seen = []
    strict.hooks.append(lambda body: seen.append(strict.rentals.count()))
    assert (strict.ask("Customer", strict.rentals.count), seen) == (1, [2])


def test_replacing_the_context_later_changes_nothing(strict):
    def work():
        strict.gw.context_fns.set_context({"user": {"isGhost": True}, "active_role": {"name": "Clerk"}})
        return strict.rentals.count()

    assert strict.ask("Customer", work) == 1


def test_changing_the_user_later_changes_nothing(strict):
    def work():
        strict.gw.context_fns.get_context_model()["user"]["isGhost"] = True
        return strict.rentals.count()

    assert strict.ask("Customer", work) == 1


def test_rows_are_those_of_the_user_as_the_hooks_left_it(strict):
    def work():
        strict.gw.context_fns.get_context_model()["user"]["_id"] = str(strict.of[BOB])
        return strict.rentals.distinct("number")

    assert strict.ask("Customer", work) == ["r-Ann"]


def test_hooks_after_the_act_have_its_rights(strict):
    strict.gw.acts.act(
        "rental", "after", set={"role": any_, "user": any_}, pre_act=[strict.sign_in],
        post_act=[lambda body, result: strict.rentals.count()],
    )(lambda body: None)  # fmt: skip
    assert strict.send(strict.body("Customer", act="after")).json["body"] == 1


def test_a_cursor_that_is_read_while_the_reply_is_written_has_the_rights_of_the_act(strict):
    assert strict.ask("Customer", lambda: strict.rentals.find(projection=NUMBER)) == [
        {"_id": str(strict.rented[ANN]), "number": "r-Ann"}
    ]


def test_a_cursor_is_sorted_by_what_the_caller_of_its_find_may_see(shop):
    shop.policy("rental", roles=["Auditor"], hide=["price"])
    cursors = []
    shop.ask("Auditor", lambda: cursors.append(shop.rentals.find()))
    with pytest.raises(Hidden):
        cursors[0].sort("price")


def test_hooks_of_errors_have_the_rights_of_the_act(strict):
    seen = []

    def fail(body):
        raise HttpError("no", 409)

    strict.gw.acts.act(
        "rental", "fail", set={"role": any_, "user": any_}, pre_act=[strict.sign_in],
        on_error=[lambda body, error: seen.append(strict.rentals.count())],
    )(fail)  # fmt: skip
    strict.send(strict.body("Customer", act="fail"))
    assert seen == [1]


@pytest.mark.parametrize("required", [False, True])
def test_hooks_of_the_error_of_a_hook_have_the_rights_of_the_caller(open_shop, required):
    shop, seen = open_shop(require_policy=required), []
    shop.policy("rental", roles=["Customer"], rows=own)

    def fail(body):
        raise HttpError("no", 409)

    shop.gw.acts.act(
        "rental", "fail", set={"role": any_, "user": any_}, pre_act=[shop.sign_in, fail],
        on_error=[lambda body, error: seen.append(shop.rentals.count())],
    )(lambda body: None)  # fmt: skip
    assert (shop.send(shop.body("Customer", act="fail")).status_code, seen) == (409, [1])


def test_hooks_of_an_error_in_an_atomic_batch_have_the_rights_of_the_act(strict):
    """Also where the act has put somebody else into the context."""
    seen = []

    def fail(body):
        strict.gw.context_fns.add_context({"user": {"isGhost": True}})
        raise HttpError("no", 409)

    strict.gw.acts.act(
        "rental", "fail", set={"role": any_, "user": any_}, pre_act=[strict.sign_in],
        on_error=[lambda body, error: seen.append(strict.rentals.count())],
    )(fail)  # fmt: skip
    strict.send({"batch": [strict.body("Customer", act="fail")], "atomic": True})
    assert seen == [1]


def test_what_is_called_after_the_commit_has_the_rights_of_the_act(strict):
    seen = []

    def work():
        strict.gw.odm.transaction(lambda: strict.gw.odm.after_commit(lambda: seen.append(strict.rentals.count())))

    strict.ask("Customer", work)
    assert seen == [1]


@pytest.mark.parametrize(("hand_over", "seen"), [(lambda: copy_context().run, 1), (lambda: lambda work: work(), 2)])
def test_a_thread_has_the_rights_that_it_was_handed(strict, hand_over, seen):
    counted = []

    def work():
        run = hand_over()
        thread = threading.Thread(target=lambda: run(lambda: counted.append(strict.rentals.count())))
        thread.start()
        thread.join()

    strict.ask("Customer", work)
    assert counted == [seen]


def test_a_thread_that_was_handed_only_the_request_has_nobodys_rights(strict):
    counted = []

    def work():
        thread = threading.Thread(target=copy_current_request_context(lambda: counted.append(strict.rentals.count())))
        thread.start()
        thread.join()

    strict.ask("Customer", work)
    assert counted == [2]


def test_an_act_that_an_act_calls_has_the_rights_of_its_caller(strict):
    strict.gw.acts.act("rental", "inner")(lambda body: strict.rentals.count())
    inner = strict.gw.acts.get_act("main", "rental", "inner")
    assert strict.ask("Customer", lambda: inner.fn({"details": {"set": {}, "get": {}}})) == 1


def by_client(shop, body):
    """Send a request from within an act, as the client for tests does: it has a context of its own."""
    named = {name: body["details"][name] for name in ("set", "get")}
    return InProcessClient(shop.gw).call(body["model"], body["act"], **named)


def in_same_context(shop, body):
    """Run an act within an act, on the context that the outer one has now."""
    return shop.gw.lifecycle.run(body, lambda result, bounds: result)


@pytest.mark.parametrize("run", [by_client, in_same_context])
@pytest.mark.parametrize(("outer", "inner", "seen"), [("Customer", "ghost", 2), ("ghost", "Customer", 1)])
def test_a_request_within_an_act_has_the_rights_that_its_own_hooks_find(strict, run, outer, inner, seen):
    """Those of the outer act hold again after it; also what each leaves until after the commit has its own."""
    at = {}

    def note(place):
        at[place] = strict.rentals.count()

    def leave(place):
        note(place)
        strict.gw.odm.after_commit(lambda: note(f"{place} commit"))

    strict.gw.acts.act(
        "rental", "inner", set={"role": any_, "user": any_}, pre_act=[strict.sign_in, lambda body: note("inner hook")],
        post_act=[lambda body, result: note("inner after")],
    )(lambda body: leave("inner"))  # fmt: skip

    def work():
        strict.gw.odm.transaction(lambda: (run(strict, strict.body(inner, act="inner")), leave("outer")))
        note("outer after")

    strict.ask(outer, work)
    own = 3 - seen
    assert at == {
        **{"inner hook": 2, "inner": seen, "inner after": seen, "inner commit": seen},
        **{"outer": own, "outer commit": own, "outer after": own},
    }


def test_what_an_act_puts_into_the_context_holds_for_an_act_that_it_runs_on_it(strict):
    """Only a request decides whose rights hold; here it has no hooks that would sign in anew."""
    strict.gw.acts.act("rental", "inner")(lambda body: strict.rentals.count())
    inner = {"model": "rental", "act": "inner", "details": {"set": {}, "get": {}}}

    def work():
        strict.gw.context_fns.add_context({"user": {"isGhost": True}})
        function = strict.gw.acts.get_act("main", "rental", "inner").fn
        return [in_same_context(strict, inner), by_client(strict, inner), function(inner), strict.rentals.count()]

    assert strict.ask("Customer", work) == [2, 0, 1, 1]


def test_a_tool_of_a_language_model_has_the_rights_of_the_caller_of_its_request(strict):
    strict.gw.acts.act(
        "rental", "tool", set={"role": any_, "user": any_}, pre_act=[strict.sign_in], mcp="read", returns=integer
    )(lambda body: strict.rentals.count())
    (tool,) = tools_of(strict.gw.catalog()).values()
    counts = [strict.send(tool.body({"set": strict.body(role)["details"]["set"]})) for role in ("Customer", "ghost")]
    assert [reply.json["body"] for reply in counts] == [1, 2]


def test_hooks_of_a_remote_service_have_nobodys_rights(strict, closed_port):
    seen = []
    hooks = [strict.sign_in, lambda body: seen.append(strict.rentals.count())]
    strict.gw.acts.set_service("far", f"http://127.0.0.1:{closed_port}", pre_act=hooks)
    strict.send({**strict.body("Customer"), "service": "far"})
    assert seen == [2]


def test_the_reply_of_a_remote_service_is_what_its_own_policies_say(strict, upstream):
    strict.policy("rental", roles="*", hide=["price"])
    strict.gw.acts.set_service(
        "far", upstream(answer(b'{"body":{"price":10},"success":true}')), pre_act=[strict.sign_in]
    )
    here = strict.body("Customer", {"price": 1})
    assert [strict.send(body).status_code for body in (here, {**here, "service": "far"})] == [403, 200]
    assert strict.send({**here, "service": "far"}).json["body"] == {"price": 10}


def test_a_job_has_nobodys_rights(open_shop):
    """A rename reaches the copies that its caller does not see, also those that a job writes."""
    shop = open_shop(inline_limit=1)
    shop.policy("rental", roles=["Customer"], rows=own)
    shop.policy("item", roles=["Customer"])
    shop.ask("Customer", lambda: shop.items.find_one_and_update({"_id": shop.lamp}, {"$set": {"name": "lantern"}}))
    shop.gw.odm.work()
    assert [[item["name"] for item in one["items"]] for one in shop.rentals.find()] == [["lantern"]] * 2


ATTEMPTS = {
    "idempotent": lambda shop, body, work: shop.send(body, **{"Idempotency-Key": "k"}),
    "atomic": lambda shop, body, work: shop.send({"batch": [body], "atomic": True}),
    "transaction": lambda shop, body, work: shop.ask("Customer", lambda: begin_transaction(shop, body, work)),
}


def begin_transaction(shop, body, work):
    """Run it in a transaction, when the caller's rows are known."""
    shop.rentals.count()
    shop.gw.odm.transaction(lambda: work(body))


def meet_another_writer(shop, attempt, work):
    """Run what an act does in two attempts: the first meets another writer. Return what each gave."""
    found, ann = [], {"_id": shop.rented[ANN]}

    def run(body):
        found.append(work(is_first=not found))
        if len(found) == 1:
            other = threading.Thread(target=lambda: shop.rentals.find_one_and_update(ann, {"$set": {"note": "other"}}))
            other.start()
            other.join()
        shop.rentals.unrestricted.find_one_and_update(ann, {"$set": {"note": "ours"}})

    shop.gw.acts.act(
        "rental", "meet", set={"role": any_, "user": any_}, pre_act=[shop.sign_in], idempotent="1h",
        idempotent_by=lambda body: "all",
    )(run)  # fmt: skip
    attempt(shop, shop.body("Customer", act="meet"), run)
    return found


@pytest.mark.parametrize("attempt", [ATTEMPTS["atomic"], ATTEMPTS["transaction"]], ids=["atomic", "transaction"])
def test_every_attempt_has_the_rights_of_before(policies_database, attempt):
    """In memory no writer meets another, so nothing is attempted again."""
    shop, prices = Shop(policies_database), [10]
    shop.policy("rental", roles=["Customer"], rows=lambda context: {"price": {"$in": list(prices)}})

    def work(**_):
        prices.append(11)
        return shop.rentals.count()

    assert meet_another_writer(shop, attempt, work) == [1, 1]


def pass_of(shop):
    return shop.items.exists({"name": "pass"})


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_no_attempt_has_rights_by_what_an_undone_one_has_written(policies_database, attempt):
    shop = Shop(policies_database)
    shop.policy("item", roles=["Customer"])
    shop.policy("rental", roles=["Customer"], write=lambda context: {} if pass_of(shop) else None, hide=["price"],
                check=lambda context: {})  # fmt: skip

    def work(is_first):
        if is_first:
            shop.items.insert_one({"name": "pass"})
        try:
            return shop.rentals.update_many({"number": "r-Bob"}, {"$set": {"note": "mine"}})["modified"]
        except Forbidden:
            return "forbidden"

    assert meet_another_writer(shop, attempt, work) == [1, "forbidden"]


def test_an_act_has_no_rights_by_what_was_undone_in_it(shop):
    shop.policy("item", roles=["Customer"])
    shop.policy("rental", roles=["Customer"], rows=lambda context: {} if pass_of(shop) else None)

    def fail():
        shop.items.insert_one({"name": "pass"})
        raise LookupError(shop.rentals.count())

    def work():
        with pytest.raises(LookupError, match="2"):
            shop.gw.odm.transaction(fail)
        return shop.rentals.count()

    assert shop.ask("Customer", work) == 0


def test_what_names_the_caller_of_an_idempotent_act_has_the_rights_of_the_caller(strict):
    seen = []
    strict.gw.acts.act(
        "rental", "once", set={"role": any_, "user": any_}, pre_act=[strict.sign_in], idempotent="1h",
        idempotent_by=lambda body: seen.append(strict.rentals.count()) or "all",
    )(lambda body: None)  # fmt: skip
    strict.send(strict.body("Customer", act="once"), **{"Idempotency-Key": "k"})
    assert seen == [1]


@pytest.mark.parametrize("atomic", [False, True])
def test_each_item_of_a_batch_has_its_own_rights(strict, atomic):
    strict.work = lambda body: strict.rentals.count()
    batch = [strict.body(*who) for who in (("Customer",), ("ghost",), ("Clerk",), ("Customer", None, BOB))]
    items = strict.send({"batch": batch, "atomic": atomic}).json["body"]
    assert [item["body"] for item in items] == [1, 2, 0, 1]


def test_own_documents_of_an_atomic_item_are_those_of_when_it_was_prepared(shop):
    listed = [shop.of[ANN]]
    shop.policy("customer", roles=["Customer"], hide=["phone"], own=lambda context: list(listed))

    def work(body):
        listed.append(shop.of[BOB])
        return ["phone" in one for one in shop.customers.find().sort("_id")]

    shop.work = work
    items = shop.send({"batch": [shop.body("Customer")] * 2, "atomic": True}).json["body"]
    assert [item["body"] for item in items] == [[True, False]] * 2


def test_where_there_is_no_act_nothing_is_restricted(strict):
    assert strict.rentals.count() == 2


def in_command(shop, count):
    """Run it as a command of the app."""
    app = shop.gw.create_app()
    app.cli.command("count")(count)
    app.test_cli_runner().invoke(args=["count"], catch_exceptions=False)


def in_shell(shop, count):
    """Run it in the context of the app, as a shell does."""
    with shop.gw.create_app().app_context():
        count()


def in_migration(shop, count):
    """Run it as a migration of the only item."""
    shop.gw.odm.migration("count", "item", where={"name": "lamp"})(lambda document: count())
    shop.gw.odm.migrate()


@pytest.mark.parametrize("run", [in_command, in_shell, in_migration])
def test_what_is_no_request_has_nobodys_rights_even_with_require_policy(open_shop, run):
    shop, counted = open_shop(require_policy=True), []
    run(shop, lambda: counted.append(shop.rentals.count()))
    assert set(counted) == {2}


@pytest.mark.parametrize(("required", "seen"), [(False, 2), (True, "refused")])
def test_observers_and_what_comes_after_a_request_have_nobodys_rights(open_shop, required, seen):
    shop, counted = open_shop(require_policy=required), {}
    shop.policy("rental", roles=["Customer"], rows=own)

    def count(place, reply=None):
        try:
            counted[place] = shop.rentals.count()
        except UsageError:
            counted[place] = "refused"
        return reply

    shop.gw.on_call(lambda call: count("observer"))
    app = shop.gw.create_app()
    app.after_request(lambda reply: count("after", reply))
    shop.client = app.test_client()
    assert shop.ask("Customer", lambda: count("act", {})) == {}
    assert counted == {"act": 1, "observer": seen, "after": seen}


def test_after_an_act_nothing_is_restricted(strict):
    strict.ask("Customer", strict.rentals.count)
    assert strict.rentals.count() == 2


def test_a_view_of_the_host_is_not_restricted(strict):
    app = Flask("host")
    app.get("/rentals")(lambda: str(strict.rentals.count()))
    strict.gw.init_app(app)
    assert app.test_client().get("/rentals").text == "2"


def test_policies_can_be_required_of_views(open_shop):
    shop = open_shop(require_policy=True)
    app = Flask("host")
    app.get("/rentals")(lambda: str(shop.rentals.count()))
    shop.gw.init_app(app)
    assert app.test_client().get("/rentals").status_code == 500


def test_policies_can_be_required_of_models(open_shop):
    shop = open_shop(require_policy=True)
    shop.policy("item", roles=["Clerk"])
    assert [shop.ask("Clerk", model.count) for model in (shop.items, shop.rentals)] == [1, 0]


def test_without_a_policy_a_model_is_open(strict):
    assert strict.ask("Clerk", strict.items.count) == 1


CLOSED = {
    "find": lambda shop: shop.rentals.find().to_list() == [],
    "find_one": lambda shop: shop.rentals.find_one({"number": "r-Ann"}) is None,
    "count": lambda shop: shop.rentals.count() == 0,
    "exists": lambda shop: shop.rentals.exists() is False,
    "distinct": lambda shop: shop.rentals.distinct("number") == [],
}


@pytest.mark.parametrize("read", CLOSED.values(), ids=CLOSED)
def test_a_model_shows_nothing_to_callers_whom_no_policy_names(strict, read):
    assert strict.ask("Clerk", lambda: read(strict)) is True


def test_a_listing_shows_nothing_to_callers_whom_no_policy_names(strict):
    assert strict.page("Clerk", NUMBER) == {"rows": [], "next": None, "total": 0}


WRITES = {
    "insert": lambda shop: shop.rentals.insert_one({"number": "n"}, relations={"customer": {"_ids": shop.of[ANN]}}),
    "update": lambda shop: shop.rentals.find_one_and_update({"number": "r-Ann"}, {"$set": {"note": "n"}}),
    "update_many": lambda shop: shop.rentals.update_many({"number": "r-Ann"}, {"$set": {"note": "n"}}),
    "add": lambda shop: shop.rentals.add_relation({"number": "r-Ann"}, relations={"items": {"_ids": [shop.lamp]}}),
    "remove": lambda shop: shop.rentals.remove_relation(
        {"number": "r-Ann"}, relations={"items": {"_ids": [shop.lamp]}}
    ),
    "delete": lambda shop: shop.rentals.delete_one({"number": "r-Ann"}),
    "delete_many": lambda shop: shop.rentals.delete_many({"number": "r-Ann"}),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_model_takes_nothing_from_callers_whom_no_policy_names(strict, write):
    before = strict.rentals.find().to_list()
    assert (strict.ask("Clerk", lambda: write(strict)), strict.rentals.find().to_list()) == (403, before)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_write_false_takes_nothing(shop, write):
    shop.policy("rental", roles=["Clerk"], write=False)
    before = shop.rentals.find().to_list()
    assert (shop.ask("Clerk", lambda: write(shop)), shop.rentals.find().to_list()) == (403, before)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_policy_that_says_no_more_lets_its_callers_write(shop, write):
    shop.policy("rental", roles=["Clerk"])
    assert shop.ask("Clerk", lambda: write(shop) and "done") == "done"


def test_a_star_of_roles_never_admits(shop):
    shop.policy("rental", roles="*", hide=["price"])
    assert shop.ask("Clerk", shop.rentals.count) == 0


def test_a_star_of_roles_is_joined_for_whoever_another_policy_names(shop):
    shop.policy("rental", roles="*", hide=["price"])
    shop.policy("rental", roles=["Clerk"])
    assert (shop.ask("Clerk", shop.rentals.count), shop.show("Clerk", {"price": 1})) == (2, 403)


def test_rows_are_joined_by_and(strict):
    strict.policy("rental", roles="*", rows=lambda context: {"price": {"$lt": 11}})
    assert [strict.ask("Customer", strict.rentals.count, user=user) for user in (ANN, BOB)] == [1, 0]


def test_hidden_and_fixed_names_are_united(shop):
    shop.policy("rental", roles=["Clerk"], hide=["price"], fixed=["number"])
    shop.policy("rental", roles="*", hide=["note"], fixed=["price"])
    answers = [shop.show("Clerk", {name: 1}) for name in ("price", "note")]
    answers += [
        shop.ask("Clerk", lambda name=name: shop.rentals.update_many({"number": "r-Ann"}, {"$unset": {name: ""}}))
        for name in ("number", "price")
    ]
    assert answers == [403] * 4


def test_functions_of_write_are_joined_by_and(shop):
    anything = lambda context: {}  # noqa: E731  (else the check would refuse, too)
    shop.policy("rental", roles=["Clerk"], write=lambda context: {"price": {"$lte": 11}}, check=anything)
    shop.policy("rental", roles="*", write=lambda context: {"price": {"$gte": 11}}, check=anything)
    change = lambda it: shop.rentals.find_one_and_update(it, {"$set": {"note": "n"}})["note"]  # noqa: E731
    assert [shop.ask("Clerk", lambda n=n: change({"number": n})) for n in ("r-Ann", "r-Bob")] == [403, "n"]


def test_write_is_joined_by_and(shop):
    shop.policy("rental", roles=["Clerk"], write=True)
    shop.policy("rental", roles="*", write=False)
    assert shop.ask("Clerk", lambda: WRITES["update"](shop)) == 403


def test_a_star_of_models_stands_for_all_that_have_what_it_needs(shop):
    shop.policy("*", roles="*", admit=True, needs=["price"], rows=lambda context: {"price": {"$gt": 10}})
    shop.policy("customer", roles="*", admit=True)
    counts = [shop.ask("Clerk", model.count) for model in (shop.rentals, shop.items, shop.customers)]
    assert counts == [1, 0, 2]


def test_a_replay_belongs_to_its_role(strict):
    def sign_in(body):
        role = strict.gw.context_fns.get_context_model()["Headers"]["role"]
        user = {"_id": str(strict.of[ANN]), "isGhost": role == "ghost"}
        strict.gw.context_fns.add_context({"user": user, "active_role": {"name": role}})

    strict.gw.acts.act("rental", "once", pre_act=[sign_in], idempotent="1h", idempotent_by=lambda body: "all")(
        lambda body: strict.rentals.count()
    )
    body = {"model": "rental", "act": "once", "details": {"set": {}, "get": {}}}

    def once(role):
        reply = strict.send(body, role=role, **{"Idempotency-Key": "k"})
        return reply.json["body"] if reply.status_code == 200 else reply.headers["X-Error-Code"]

    assert [once(role) for role in ("Customer", "Customer", "Clerk", "ghost")] == [1, 1, "key_reused", "key_reused"]


def test_a_replay_belongs_to_a_user_who_has_no_id(strict):
    def sign_in(body):
        who = strict.gw.context_fns.get_context_model()["Headers"]["who"]
        strict.gw.context_fns.add_context({"user": {"name": who}, "active_role": {"name": "Customer"}})

    strict.gw.acts.act("rental", "mine", pre_act=[sign_in], idempotent="1h", idempotent_by=lambda body: "all")(
        lambda body: "done"
    )
    body = {"model": "rental", "act": "mine", "details": {"set": {}, "get": {}}}
    sent = [strict.send(body, who=who, **{"Idempotency-Key": "k"}).status_code for who in ("ann", "ann", "eve")]
    assert sent == [200, 200, 422]
