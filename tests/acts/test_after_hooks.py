"""Hooks after acts and errors: gatewayfw.acts.hooks, in whole requests."""

from __future__ import annotations

import functools

import mongomock
import pytest

from gatewayfw import Conflict, DefinitionError, NotFound, Reply, gateway, string
from gatewayfw.acts.hooks import add_after_hooks, run_error_hooks

ACT = {"set": {"title": string()}, "get": 1}


def asking(act, title="Emma"):
    return {"model": "book", "act": act, "details": {"set": {"title": title}, "get": {"title": 1}}}


@pytest.fixture
def gw(database):
    found = gateway(max_batch=5)
    found.odm.set_db(database)
    found.odm.new_model("book", {"title": string()})
    return found


def sent(gw, body, **headers):
    reply = gw.create_app().test_client().post("/gateway", json=body, headers=headers)
    return reply.status_code, reply.get_json()["body"]


def test_hooks_after_the_act_get_body_and_result_in_order(gw):
    seen = []

    def note(body, result):
        seen.append((body["details"]["set"]["title"], result))

    def replace(body, result):
        return {"title": result["title"].upper()}

    gw.acts.act("book", "show", **ACT, post_act=[note, replace, note])(lambda body: {"title": "Emma"})
    assert sent(gw, asking("show", "x")) == (200, {"title": "EMMA"})
    assert seen == [("x", {"title": "Emma"}), ("x", {"title": "EMMA"})]


def test_a_hook_may_choose_the_whole_reply(gw):
    gw.acts.act("book", "show", **ACT, post_act=[lambda body, result: Reply(result, 201)])(lambda body: {"a": 1})
    assert sent(gw, asking("show")) == (201, {"a": 1})


def test_what_is_false_is_a_result_and_none_is_not(gw):
    gw.acts.act("book", "zero", **ACT, post_act=[lambda body, result: 0])(lambda body: 5)
    gw.acts.act("book", "none", **ACT, post_act=[lambda body, result: None])(lambda body: 5)
    assert [sent(gw, asking(act)) for act in ("zero", "none")] == [(200, 0), (200, 5)]


async def later(body, result):
    return 1


def generate():
    yield 1


class Answering:
    """A hook that is an object."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, body, result):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (later(None, None), "coroutine"),
        (generate(), "generator"),
        (LookupError("x"), "LookupError"),
        (LookupError, "type"),
        (print, "builtin_function_or_method"),
    ],
)
def test_what_is_no_result_is_refused(answer, kind):
    def late(body, result):
        return answer

    for hook, name in ((late, late.__qualname__), (Answering(answer), "Answering")):
        with pytest.raises(DefinitionError) as raised:
            add_after_hooks(lambda body: 1, [hook])({})
        assert raised.value.message == f"hook {name!r} returned {kind}, which is no result"


def test_after_an_error_of_the_act_no_hook_after_it_runs(gw):
    seen = []

    def fail(body):
        raise NotFound("no such book")

    gw.acts.act("book", "show", **ACT, post_act=[lambda body, result: seen.append(result)])(fail)
    assert (sent(gw, asking("show")), seen) == ((404, {"message": "no such book"}), [])


def test_an_error_of_a_hook_after_the_act_is_that_of_the_request(gw):
    def refuse(body, result):
        raise Conflict("not like this")

    gw.acts.act("book", "show", **ACT, post_act=[refuse])(lambda body: 1)
    assert sent(gw, asking("show")) == (409, {"message": "not like this"})


def raising(error):
    def fn(*_args):
        raise error

    return fn


def steps_that_fail(gw):
    """Register an act for each step that may fail; return their names."""
    noted = []

    def note(body, error):
        noted.append((body["act"], type(error).__name__))
        raise Conflict("told")

    fine = lambda body: 1  # noqa: E731
    gw.acts.act("book", "validation", **ACT, on_error=[note])(fine)
    gw.acts.act("book", "pre_validation", **ACT, on_error=[note], pre_validation=[raising(KeyError("x"))])(fine)
    gw.acts.act("book", "pre_act", **ACT, on_error=[note], pre_act=[raising(NotFound("x"))])(fine)
    gw.acts.act("book", "fn", **ACT, on_error=[note])(raising(LookupError("x")))
    gw.acts.act("book", "post_act", **ACT, on_error=[note], post_act=[raising(ValueError("x"))])(fine)
    return noted


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        ("validation", "ValidationError"),
        ("pre_validation", "KeyError"),
        ("pre_act", "NotFound"),
        ("fn", "LookupError"),
        ("post_act", "ValueError"),
    ],
)
def test_hooks_of_errors_get_the_error_of_each_step_and_may_raise_another(gw, act, kind):
    noted = steps_that_fail(gw)
    body = asking(act, 3 if act == "validation" else "x")
    assert sent(gw, body) == (409, {"message": "told"})
    assert noted == [(act, kind)]


def test_without_another_error_the_first_is_shown(gw):
    seen = []
    gw.acts.act("book", "show", **ACT, on_error=[lambda body, error: seen.append(str(error))])(
        raising(NotFound("gone"))
    )
    assert (sent(gw, asking("show")), seen) == ((404, {"message": "gone"}), ["gone"])


def test_the_next_hook_gets_the_error_that_was_raised():
    first, second = NotFound("a"), Conflict("b")
    seen = []
    found = run_error_hooks([raising(second), lambda body, error: seen.append(error)], {}, first)
    assert (found, seen) == (second, [second])


def test_they_come_before_errors_are_mapped(gw):
    mapped = {KeyError: (410, "gone", "mapped")}
    gw.acts.act("book", "show", **ACT, exceptions=mapped, on_error=[raising(KeyError("k"))])(raising(NotFound("x")))
    assert sent(gw, asking("show")) == (410, {"message": "mapped"})


def test_one_that_fails_is_logged_with_the_error_before(gw, caplog):
    gw.acts.act("book", "show", **ACT, on_error=[raising(ZeroDivisionError("oops"))])(raising(NotFound("first")))
    assert sent(gw, asking("show")) == (500, {"message": "internal error"})
    assert "ZeroDivisionError: oops" in caplog.text
    assert "NotFound: first" in caplog.text


@pytest.mark.parametrize("answer", [LookupError("x"), later(None, None), lambda: 1])
def test_one_that_answers_an_error_did_not_raise_it(answer):
    assert isinstance(run_error_hooks([lambda body, error: answer], {}, NotFound("x")), DefinitionError)


def test_unknown_acts_have_no_hooks(gw):
    seen = []
    gw.acts.use(on_error=[lambda body, error: seen.append(error)])
    assert (sent(gw, asking("nope")), seen) == ((404, {"message": "no acts found for model: book"}), [])


def test_items_of_a_batch_have_their_hooks(gw):
    gw.acts.act("book", "good", **ACT, post_act=[lambda body, result: result + 1])(lambda body: 1)
    gw.acts.act("book", "bad", **ACT, on_error=[raising(Conflict("told"))])(raising(NotFound("x")))
    status, items = sent(gw, {"batch": [asking("good"), asking("bad")]})
    assert (status, [(item["status"], item["body"]) for item in items]) == (
        200,
        [(200, 2), (409, {"message": "told"})],
    )


@pytest.fixture
def on_mongo(mongo_database):
    found = gateway(max_batch=5)
    found.odm.set_db(mongo_database)
    return found, found.odm.new_model("book", {"title": string()})


def test_in_an_atomic_batch_the_hooks_run_inside_and_after_the_transaction(on_mongo):
    gw, book = on_mongo
    seen = []

    def add(body):
        return book.insert_one(body["details"]["set"], projection={"title": 1})

    def told(body, error):
        seen.append((body["details"]["set"]["title"], book.count()))
        raise Conflict("told")

    gw.acts.act("book", "add", **ACT, post_act=[lambda body, result: {"title": result["title"].upper()}])(add)
    gw.acts.act("book", "bad", **ACT, on_error=[told])(raising(NotFound("x")))
    _, items = sent(gw, {"batch": [asking("add", "a"), asking("add", "b")], "atomic": True})
    assert [item["body"]["title"] for item in items] == ["A", "B"]
    _, items = sent(gw, {"batch": [asking("add", "c"), asking("bad", "d")], "atomic": True})
    assert [(item["status"], item["body"]["message"]) for item in items] == [(409, "not done"), (409, "told")]
    assert (seen, book.count()) == ([("d", 2)], 2)


def test_of_an_idempotent_act_hooks_run_inside_the_transaction_and_the_reply_is_kept(on_mongo):
    gw, book = on_mongo

    def add(body):
        return book.insert_one(body["details"]["set"], projection={"title": 1})

    def copy(body, result):
        book.insert_one({"title": "copy"})
        if body["details"]["set"]["title"] == "bad":
            raise Conflict("no copy")
        return {"title": result["title"].upper()}

    options = {"idempotent": "1h", "idempotent_by": lambda body: "me", "post_act": [copy]}
    gw.acts.act("book", "add", **ACT, **options)(add)
    first, again = (sent(gw, asking("add", "a"), **{"Idempotency-Key": "1"}) for _ in range(2))
    assert first == again == (200, {"title": "A"})
    assert sent(gw, asking("add", "bad"), **{"Idempotency-Key": "2"}) == (409, {"message": "no copy"})
    assert book.count() == 2


PROBLEMS = {
    "no list": (print, "must be a list of functions"),
    "no function": ([3], r"\[0\] must be a function"),
    "async": ([later], r"\[0\] must not be async"),
    "one argument": ([lambda body: 1], r"\[0\] must take the body and the (result|error) as its two positional"),
    "no argument": ([lambda: 1], r"\[0\] must take the body and the (result|error) as its two positional"),
    "generator": ([lambda body, result: (yield)], r"\[0\] must not be a generator"),
}


@pytest.mark.parametrize("name", ["post_act", "on_error"])
@pytest.mark.parametrize(("hooks", "problem"), PROBLEMS.values(), ids=PROBLEMS)
def test_what_is_no_hook_is_refused(gw, name, hooks, problem):
    with pytest.raises(DefinitionError, match=f"{name}.*{problem}|{name} {problem}"):
        gw.acts.act("book", "show", **ACT, **{name: hooks})(lambda body: 1)
    with pytest.raises(DefinitionError, match=problem):
        gw.acts.use(**{name: hooks})


def test_an_access_rule_must_come_before_the_act(gw):
    @functools.wraps(print)
    def rule(*_args):
        pass

    rule.is_access_rule = True
    with pytest.raises(DefinitionError, match="is an access rule, which must come before the act"):
        gw.acts.act("book", "show", **ACT, post_act=[rule])(lambda body: 1)


def test_the_contracts_spelling():
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    validator = gw.schemas.object_({"set": {}, "get": {}})
    act = {"schema": "a", "actName": "b", "validator": validator, "fn": lambda body: 1}
    gw.acts.setAct({**act, "postAct": [lambda body, result: result + 1], "onError": []})
    body = {"model": "a", "act": "b", "details": {"set": {}, "get": {}}}
    assert sent(gw, body) == (200, 2)
