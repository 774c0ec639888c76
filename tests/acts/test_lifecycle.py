"""The life of one request: order, modes, refusals, deadline, context; against the real schemas."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from itertools import starmap

import marshmallow
import pytest
from werkzeug import Response

from gatewayfw.acts.context import ContextFns
from gatewayfw.acts.headers import ROLE
from gatewayfw.acts.lookup import UnknownName
from gatewayfw.acts.registry import Acts
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.auth import Auth, Rule, Tokens, access_rule
from gatewayfw.errors import (
    DefinitionError,
    Forbidden,
    HttpError,
    NotFound,
    OutcomeUnknown,
    PartlyDone,
    RemoteTimeout,
    ReplyTooLarge,
    Timeout,
    Unavailable,
    ValidationError,
)
from gatewayfw.schemas import Schemas, defaulted, file, number, object_, optional, string
from gatewayfw.schemas.kinds.file import Upload
from gatewayfw.settings import Settings
from gatewayfw.token_carriers import TOKEN, bearer
from tests.acts.parts import Store, make_lifecycle


def ignore(*_):
    """Finish a request without a reply."""


@pytest.fixture
def log():
    """What ran, in order."""
    return []


@pytest.fixture
def logging_act(acts, log):
    """Register user.addUser whose parts note that they ran."""

    def register(**more):
        acts.set_act(
            schema="user",
            act_name="addUser",
            validator=lambda details: log.append("validator"),
            fn=lambda body: log.append("fn"),
            **{
                "pre_validation": [lambda: log.append("preValidation 1"), lambda: log.append("preValidation 2")],
                "pre_act": [lambda: log.append("preAct 1"), lambda: log.append("preAct 2")],
                **more,
            },
        )

    return register


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_order_is_hooks_validator_hooks_act_finish(lifecycle, logging_act, log, mode):
    logging_act(validation_run_type=mode)
    body = {"service": "main", "model": "user", "act": "addUser", "details": {"set": {}, "get": {}}}
    assert lifecycle.run(body, lambda *_: log.append("finish")) is None
    order = ["preValidation 1", "preValidation 2", "validator", "preAct 1", "preAct 2", "fn", "finish"]
    assert log == order


def stop():
    raise HttpError("You cant do this", 403)


STOPS = {
    "preValidation": ({"pre_validation": [stop]}, []),
    "preAct": ({"pre_act": [stop]}, ["preValidation 1", "preValidation 2", "validator"]),
}


@pytest.mark.parametrize(("more", "ran"), STOPS.values(), ids=STOPS)
def test_nothing_runs_after_a_hook_that_raises(call, logging_act, log, more, ran):
    logging_act(**more)
    with pytest.raises(HttpError, match="You cant do this"):
        call("user", "addUser")
    assert log == ran


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_a_refused_request_runs_no_pre_act_hook_and_no_act(call, acts, log, mode):
    acts.set_act(
        schema="user",
        act_name="addUser",
        validator={"set": {"name": string(), "age": number()}, "get": {}},
        fn=lambda body: log.append("fn"),
        pre_validation=[lambda: log.append("preValidation")],
        pre_act=[lambda: log.append("preAct")],
        validation_run_type=mode,
    )
    with pytest.raises(ValidationError) as raised:
        call("user", "addUser", {"name": 1})
    assert raised.value.errors == {
        "set.name": ["Not a valid string."],
        "set.age": ["Missing data for required field."],
    }
    assert log == ["preValidation"]


VALIDATOR = {"set": {"age": number(), "role": defaulted(string(), "Ordinary")}, "get": {"name": optional(number())}}


def test_assert_passes_the_body_as_it_was_sent(lifecycle, acts, context_fns):
    seen = []
    acts.set_act(schema="user", act_name="addUser", validator=VALIDATOR, fn=lambda body: body, pre_act=[seen.append])
    body = {
        "service": "main",
        "model": "user",
        "act": "addUser",
        "details": {"set": {"age": 5, "role": "x"}, "get": {}},
    }
    with context_fns.open():
        context_fns.add_body_to_context(body)
        assert lifecycle.run(body, lambda result, _: result) is body is seen[0] is context_fns.get_context_model().body
    assert body["details"] == {"set": {"age": 5, "role": "x"}, "get": {}}


def test_assert_fills_and_coerces_nothing(call, acts):
    acts.set_act(schema="user", act_name="addUser", validator=VALIDATOR, fn=lambda body: body)
    with pytest.raises(ValidationError) as raised:
        call("user", "addUser", {"age": "5"})
    assert sorted(raised.value.errors) == ["set.age", "set.role"]


def test_create_replaces_details_and_leaves_the_other_keys(lifecycle, acts, context_fns):
    seen = []
    acts.set_act(
        schema="user",
        act_name="addUser",
        validator=VALIDATOR,
        fn=lambda body: (body, context_fns.get_context_model()["body"]),
        pre_validation=[lambda body: seen.append((body, context_fns.get_context_model().body))],
        pre_act=[lambda body: seen.append((body, context_fns.get_context_model().body))],
        validation_run_type="create",
    )
    sent = {"service": "main", "model": "user", "act": "addUser", "details": {"set": {"age": "5"}, "get": {"name": 1}}}
    before = {**sent, "details": {"set": {"age": "5"}, "get": {"name": 1}}}
    loaded = {**sent, "details": {"set": {"age": 5, "role": "Ordinary"}, "get": {"name": 1}}}
    with context_fns.open():
        context_fns.add_body_to_context(sent)
        assert lifecycle.run(sent, lambda result, _: result) == (loaded, loaded)
    assert seen == [(before, before), (loaded, loaded)]
    assert sent == before


def test_the_body_is_never_read_back_from_the_context(call, acts, context_fns):
    acts.set_act(
        schema="user",
        act_name="addUser",
        validator=VALIDATOR,
        fn=lambda body: body["details"]["set"],
        pre_validation=[lambda: context_fns.set_context({"body": {"details": {"set": {"age": 1}, "get": {}}}})],
        pre_act=[lambda: context_fns.add_body_to_context(None)],
        validation_run_type="create",
    )
    assert call("user", "addUser", {"age": 7}) == {"age": 7, "role": "Ordinary"}


def test_validation_sees_what_pre_validation_hooks_did_to_the_body(call, acts):
    acts.set_act(
        schema="user",
        act_name="addUser",
        validator={"set": {"age": number()}, "get": {}},
        fn=lambda body: body["details"]["set"],
        pre_validation=[lambda body: body["details"]["set"].pop("legacy")],
    )
    assert call("user", "addUser", {"age": 1, "legacy": True}) == {"age": 1}


def test_hooks_and_act_share_the_context(call, acts, context_fns):
    acts.set_act(
        schema="user",
        act_name="whoAmI",
        validator={"set": {}, "get": {}},
        fn=lambda body: context_fns.get_context_model().user,
        pre_act=[lambda: context_fns.add_context({"user": "Ana"})],
    )
    assert call("user", "whoAmI") == "Ana"


def test_what_hooks_return_is_ignored(call, logging_act, log):
    logging_act(pre_validation=[lambda: {"stop": True}], pre_act=[lambda body: False])
    call("user", "addUser")
    assert log == ["validator", "fn"]


async def access_check():
    raise AssertionError("never awaited")


async def checks():
    yield


def generated() -> Iterator[None]:
    yield


class Later:
    """What can be awaited without being a coroutine."""

    def __await__(self):
        yield


def access_check_factory(body):
    raise AssertionError("never called")


#: What hooks return who believe that somebody looks at it, with the name of its type.
NO_ANSWERS = {
    "coroutine": access_check,
    "generator": generated,
    "async_generator": checks,
    "Later": Later,
    "Future": Future,
    "map": lambda: map(print, [1]),
    "starmap": lambda: starmap(print, [(1,)]),
    "HttpError": lambda: HttpError("no", 403),
    "type": lambda: Forbidden,
    "function": lambda: access_check_factory,
    "_GeneratorContextManager": contextmanager(generated),
    "_AsyncGeneratorContextManager": asynccontextmanager(checks),
    "Response": lambda: Response("no", 403),
    "tuple": lambda: ("no", 403),
}
ADVICE = "raise an error to refuse, return None to let pass"


@pytest.mark.parametrize(("kind", "give"), NO_ANSWERS.items(), ids=NO_ANSWERS)
@pytest.mark.parametrize("bare", [True, False], ids=["bare", "with body"])
@pytest.mark.parametrize("key", ["pre_validation", "pre_act"])
def test_a_hook_that_only_returns_its_refusal_stops_the_request(call, logging_act, log, key, bare, kind, give):
    def check(body):
        return give()

    def check_bare():
        return give()

    hook = check_bare if bare else check
    logging_act(**{key: [hook]})
    with pytest.raises(DefinitionError) as caught:
        call("user", "addUser")
    assert caught.value.message == f"hook {hook.__qualname__!r} returned {kind}: {ADVICE}"
    assert "fn" not in log


class Staff:
    """A rule that is an object, marked through its class."""

    is_access_rule = True

    def __call__(self):
        return False


def refuse_staff(body, need=1):
    return False


@pytest.mark.parametrize(
    ("rule", "name"),
    [(access_rule(Staff)(), "Staff"), (Staff(), "Staff"), (partial(access_rule(refuse_staff), need=2), "partial")],
    ids=["marked class", "class attribute", "partial"],
)
@pytest.mark.parametrize("key", ["pre_validation", "pre_act"])
def test_a_rule_is_one_wherever_its_mark_is(call, acts, log, key, rule, name):
    acts.act("user", "addUser", **{key: [rule]})(lambda body: log.append("fn"))
    assert acts.get_main_act("user", "addUser").access_rules == [rule]
    with pytest.raises(DefinitionError) as caught:
        call("user", "addUser")
    assert (caught.value.message, log) == (f"access rule {name!r} returned bool: {ADVICE}", [])


def test_a_future_of_asyncio_is_no_answer(call, logging_act, log):
    loop = asyncio.new_event_loop()
    logging_act(pre_act=[lambda: loop.create_future()])
    with pytest.raises(DefinitionError, match="returned Future: raise an error"):
        call("user", "addUser")
    loop.close()
    assert "fn" not in log


@pytest.mark.parametrize("answer", [False, True, 0, "", {}, HttpError("no", 403), Forbidden], ids=repr)
@pytest.mark.parametrize("bare", [True, False], ids=["bare", "with body"])
@pytest.mark.parametrize("key", ["pre_validation", "pre_act"])
def test_an_access_rule_that_returns_anything_lets_nobody_pass(call, logging_act, log, key, bare, answer):
    rule = access_rule((lambda: answer) if bare else (lambda body: answer))
    logging_act(**{key: [rule]})
    with pytest.raises(DefinitionError) as caught:
        call("user", "addUser")
    kind = type(answer).__name__
    assert caught.value.message == f"access rule {rule.__qualname__!r} returned {kind}: {ADVICE}"
    assert "fn" not in log


class Rules:
    """Access rules that are methods, which `access_rule` wraps."""

    def refuse(self):
        return False

    def admit(self):
        return None


def test_an_access_rule_that_is_a_method_lets_pass_and_is_held_to_it(call, logging_act, log):
    logging_act(pre_act=[access_rule(Rules().admit), access_rule(Rules().refuse)])
    with pytest.raises(DefinitionError, match="access rule 'Rules.refuse' returned bool"):
        call("user", "addUser")
    assert "fn" not in log


@pytest.mark.parametrize("error", [HttpError("no", 418), KeyError("x"), Exception("mine"), StopIteration()], ids=repr)
@pytest.mark.parametrize("where", ["pre_validation", "pre_act", "fn"])
def test_exceptions_pass_unchanged_and_the_context_is_restored(call, acts, context_fns, error, where):
    def fail(body):
        context_fns.set_context({"user": "Ana"})
        raise error

    parts = {"fn": lambda body: None, **{where: fail if where == "fn" else [fail]}}
    acts.set_act(schema="user", act_name="addUser", validator={"set": {}, "get": {}}, **parts)
    with context_fns.open() as outer:
        with pytest.raises(type(error)) as raised:
            call("user", "addUser")
        assert raised.value is error
        assert context_fns.get_context_model() is outer == {"Headers": {}, "body": None}


def test_finish_runs_inside_context_and_deadline(lifecycle, acts, context_fns, clock):
    def rows(body):
        yield clock.is_open
        yield context_fns.get_context_model().user

    acts.set_act(
        schema="user",
        act_name="getUsers",
        validator={"set": {}, "get": {}},
        fn=rows,
        pre_act=[lambda: context_fns.add_context({"user": clock.is_open})],
    )
    body = {"model": "user", "act": "getUsers", "details": {"set": {}, "get": {}}}
    with context_fns.open():
        assert lifecycle.run(body, lambda result, _: list(result)) == [True, True]
    assert not clock.is_open


@pytest.mark.parametrize("service", [{}, {"service": None}, {"service": "main"}], ids=repr)
def test_main_is_the_default_service(lifecycle, logging_act, log, service):
    logging_act()
    lifecycle.run({**service, "model": "user", "act": "addUser", "details": {"set": {}, "get": {}}}, ignore)
    assert log[-1] == "fn"


def test_acts_of_another_service_in_this_process_run_here(call, acts, context_fns):
    acts.set_service(
        "billing",
        {
            "bill": {
                "addBill": {
                    "validator": VALIDATOR,
                    "fn": lambda body: (body["service"], body["details"]["set"], context_fns.get_context_model().user),
                    "preAct": [lambda: context_fns.add_context({"user": "Ana"})],
                    "validationRunType": "create",
                }
            }
        },
    )
    assert call("bill", "addBill", {"age": 1}, service="billing") == ("billing", {"age": 1, "role": "Ordinary"}, "Ana")


UNKNOWN = {
    "service": ({"service": "shop"}, "service not found: shop", " (known: main, empty)"),
    "model": ({"model": "usr"}, "no acts found for model: usr", " (known: user)"),
    "act": ({"act": "x" * 70}, "act not found: user." + "x" * 64, " (known: addUser)"),
    "control characters": ({"act": "a\r\nb"}, r"act not found: user.a\r\nb", " (known: addUser)"),
    "service without acts": ({"service": "empty"}, "no acts found for model: user", " (known: none)"),
}


@pytest.mark.parametrize(("asked", "message", "names"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_names_are_404_and_what_exists_is_named_by_another_message_only(
    lifecycle, acts, logging_act, log, asked, message, names
):
    logging_act()
    acts.set_service("empty", {})
    body = {"service": "main", "model": "user", "act": "addUser", "details": {"set": {}, "get": {}}, **asked}
    with pytest.raises(UnknownName) as raised:
        lifecycle.run(body, ignore)
    listed = raised.value.with_known()
    assert [(error.message, error.status) for error in (raised.value, listed)] == [
        (message, 404),
        (message + names, 404),
    ]
    assert log == []


@pytest.mark.parametrize("error", [Unavailable(), Timeout()], ids=repr)
@pytest.mark.parametrize("where", ["pre_validation", "pre_act", "fn", "finish"])
def test_losing_the_database_after_a_commit_is_partly_done(lifecycle, acts, clock, error, where):
    def fail(*_):
        clock.committed = True
        raise error

    parts = {"fn": lambda body: None}
    if where != "finish":
        parts[where] = fail if where == "fn" else [fail]
    acts.set_act(schema="user", act_name="addUser", validator={"set": {}, "get": {}}, **parts)
    body = {"model": "user", "act": "addUser", "details": {"set": {}, "get": {}}}
    with pytest.raises(PartlyDone) as raised:
        lifecycle.run(body, fail if where == "finish" else ignore)
    assert raised.value.__cause__ is error


@pytest.mark.parametrize(
    ("error", "committed"),
    [(Unavailable(), False), (Timeout(), False), (OutcomeUnknown(), True), (HttpError("no", 503), True)],
    ids=repr,
)
def test_other_failures_stay_what_they_are(call, acts, clock, error, committed):
    def fail(body):
        clock.committed = committed
        raise error

    acts.set_act(schema="user", act_name="addUser", validator={"set": {}, "get": {}}, fn=fail)
    with pytest.raises(type(error)) as raised:
        call("user", "addUser")
    assert raised.value is error


def test_an_act_may_call_another_gateway_in_this_process(call, acts, context_fns, make_acts, schemas, clock):
    inner_fns = ContextFns()
    inner_acts = make_acts(schemas)
    inner = make_lifecycle(schemas, inner_acts, inner_fns, clock, Store())
    nothing = {"set": {}, "get": {}}
    inner_acts.set_act(
        schema="user",
        act_name="whoAmI",
        validator=nothing,
        fn=lambda body: inner_fns.get_context_model().user,
        pre_act=[lambda: inner_fns.add_context({"user": "inner"})],
        validation_run_type="create",
    )

    def ask_inner(body):
        with inner_fns.open():
            seen = inner.run({"model": "user", "act": "whoAmI", "details": nothing}, lambda result, _: str(result))
        return seen, context_fns.get_context_model().user, context_fns.get_context_model().body is body

    acts.set_act(
        schema="user",
        act_name="ask",
        validator=nothing,
        fn=ask_inner,
        pre_act=[lambda: context_fns.add_context({"user": "outer"})],
    )
    assert call("user", "ask") == ("inner", "outer", True)


def test_an_act_registered_while_serving_takes_effect_at_once(call, acts, log):
    with pytest.raises(NotFound):
        call("user", "late")
    acts.act("user", "late")(lambda body: log.append("late"))
    call("user", "late")
    assert log == ["late"]


def test_parallel_requests_each_see_their_own_context(acts, call, context_fns):
    acts.set_act(
        schema="user",
        act_name="whoAmI",
        validator={"set": {"name": string()}, "get": {}},
        fn=lambda body: (body["details"]["set"]["name"], context_fns.get_context_model().user),
        pre_act=[
            lambda body: context_fns.add_context(
                {"user": context_fns.get_context_model().body["details"]["set"]["name"]}
            )
        ],
        validation_run_type="create",
    )
    names = [f"user {number}" for number in range(400)]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(lambda name: call("user", "whoAmI", {"name": name}), names)) == [(n, n) for n in names]


def test_a_remote_service_is_asked_within_the_deadline(call, acts, clock):
    acts.set_service("far", "http://127.0.0.1:9")
    clock.left = 0.0
    with pytest.raises(RemoteTimeout, match="service far took too long"):
        call("user", "addUser", service="far")


def test_no_hook_in_front_of_a_remote_service_begins_after_the_deadline(call, acts, clock, log):
    def first(body):
        log.append(body["act"])
        clock.left = 0.0

    acts.set_service("far", "http://127.0.0.1:9", pre_act=[first, lambda: log.append("second")])
    with pytest.raises(Timeout):
        call("user", "addUser", service="far")
    assert log == ["addUser"]


class Counting:
    """Rate limits that note what is counted."""

    def __init__(self):
        self.counted = []

    def parse(self, texts):
        return texts

    def count(self, name, rates, context, remaining):
        self.counted.append((name, rates, context["user"], remaining()))


def test_calls_are_counted_by_service_model_and_act(schemas, context_fns, clock, store):
    acts = Acts(schemas, Counting())
    lifecycle = make_lifecycle(schemas, acts, context_fns, clock, store)
    acts.act("user", "get", limit=["2/day", "1/minute"])(lambda body: 1)
    acts.act("user", "free")(lambda body: 2)
    acts.set_service("other", {"user": {"get": dict(acts.get_main_act("user", "get"))}})
    body = {"model": "user", "act": "get", "details": {"set": {}, "get": {}}}
    with context_fns.open({"user": "Ana"}):
        for more in ({"act": "free"}, {}, {"service": None}, {"service": "main"}, {"service": "other"}):
            lifecycle.run({**body, **more}, ignore)
    rest = ("2/day", "1/minute"), "Ana", 5.0
    assert acts.limits.counted == [("main.user.get", *rest)] * 3 + [("other.user.get", *rest)]


class Far(RemoteService):
    """A service elsewhere that notes how it is called."""

    def __init__(self, url, **given):
        super().__init__(url, **given)
        self.calls = []

    def call(self, body, headers, **more):
        self.calls.append((body, headers, more))
        return WrittenReply(200, (), b"{}")


@pytest.mark.parametrize(
    ("values", "headers", "address"),
    [
        ({"Headers": {"token": "t"}, "Address": "::1"}, {"token": "t"}, "::1"),
        ({}, {}, ""),
        ({"Headers": None, "Address": 5}, {}, ""),
    ],
)
def test_a_remote_service_gets_what_the_context_has(
    schemas, context_fns, clock, store, monkeypatch, values, headers, address
):
    monkeypatch.setattr("gatewayfw.acts.registry.RemoteService", Far)
    acts = Acts(schemas, Counting())
    lifecycle = make_lifecycle(schemas, acts, context_fns, clock, store)
    rule = Auth(context_fns, Tokens("k" * 32), lambda id_: None, token_from=bearer()).grant(Rule(roles=("Manager",)))
    acts.set_service("far", "http://far.example")
    acts.act("user", "get", set={"activeRoleId": string()}, pre_act=[rule])(lambda body: 1)
    body = {"service": "far", "model": "any", "act": "thing", "details": {}}
    with context_fns.open(values):
        assert lifecycle.run(body, ignore) == WrittenReply(200, (), b"{}")
    carriers = (TOKEN, ROLE)
    assert acts.remote_services()[0].calls == [
        (body, headers, {"seconds": 5.0, "carriers": carriers, "address": address})
    ]


STEPS = ["preValidation 1", "preValidation 2", "preAct 1", "preAct 2", "fn", "finish"]


@pytest.mark.parametrize("committed", [False, True], ids=["nothing committed", "committed"])
@pytest.mark.parametrize("slow", range(4), ids=STEPS[:4])
def test_no_step_begins_after_the_deadline(lifecycle, acts, clock, log, slow, committed):
    clock.committed = committed

    def step(number):
        def run(*_):
            log.append(STEPS[number])
            clock.left = 0.0 if number == slow else clock.left

        return run

    acts.set_act(
        schema="user",
        act_name="addUser",
        validator={"set": {}, "get": {}},
        fn=step(4),
        pre_validation=[step(0), step(1)],
        pre_act=[step(2), step(3)],
    )
    with pytest.raises(PartlyDone if committed else Timeout):
        lifecycle.run({"model": "user", "act": "addUser", "details": {"set": {}, "get": {}}}, step(5))
    assert log == STEPS[: slow + 1]


@pytest.mark.parametrize("committed", [False, True], ids=["nothing committed", "committed"])
def test_what_an_act_returns_late_is_sent_all_the_same(call, acts, clock, committed):
    def slow(_):
        clock.left, clock.committed = 0.0, committed
        return {"paid": True}

    acts.set_act(schema="user", act_name="pay", validator={"set": {}, "get": {}}, fn=slow)
    assert call("user", "pay") == {"paid": True}


@pytest.mark.parametrize(("own", "most"), [(None, 1000), (5, 5), (5000, 5000)])
def test_the_scope_of_an_act_knows_the_bound_of_its_reply(lifecycle, acts, clock, own, most):
    seen = []
    acts.set_act(
        schema="user", act_name="get", validator={"set": {}, "get": {}}, fn=lambda _: None, max_reply_bytes=own
    )
    body = {"model": "user", "act": "get", "details": {"set": {}, "get": {}}}
    lifecycle.run(body, lambda _, scope: seen.append(scope.reply_bytes))
    assert seen == [most]


@pytest.mark.parametrize("where", ["fn", "finish"])
@pytest.mark.parametrize(
    ("committed", "message"),
    [
        (False, "the reply would have more than 9 bytes; ask for fewer fields or documents"),
        (
            True,
            "the reply would have more than 9 bytes; whatever this request wrote stays; "
            "ask for fewer fields or documents",
        ),
    ],
)
def test_a_reply_that_is_too_large_says_whether_something_was_written(
    lifecycle, acts, clock, where, committed, message
):
    def fail(*_):
        clock.committed = committed
        raise ReplyTooLarge(9)

    acts.set_act(
        schema="user", act_name="get", validator={"set": {}, "get": {}}, fn=fail if where == "fn" else lambda _: None
    )
    body = {"model": "user", "act": "get", "details": {"set": {}, "get": {}}}
    with pytest.raises(ReplyTooLarge) as raised:
        lifecycle.run(body, fail if where == "finish" else ignore)
    assert raised.value.message == message
    assert raised.value.status == 413
    assert raised.value.code == "reply_too_large"


WIDE = {"name": 1, "email": 1, "friend": {"name": 1}}
TOO_WIDE, TOO_DEEP = "Too many fields: at most {}.", "Nested too deeply: at most {} levels."


class AnyGet(marshmallow.Schema):
    """A validator as a marshmallow class."""

    set = marshmallow.fields.Dict(required=True)
    get = marshmallow.fields.Dict(required=True)


VALIDATORS = {
    "select struct": lambda select: {"set": {}, "get": select},
    "select struct in an object": lambda select: object_({"set": object_({}), "get": select}),
    "plain": lambda select: {"set": {}, "get": object_()},
    "schema": lambda select: AnyGet,
    "function": lambda select: lambda details: None,
}


@pytest.fixture
def narrow(context_fns, clock, make_acts):
    """Acts and a call under settings that allow a `get` of 1 level and 2 names."""
    schemas = Schemas(Settings(max_get_depth=1, max_get_leaves=2))
    schemas.add("user", {"name": string(), "email": string()}, {"friend": {"schemaName": "user", "type": "single"}})
    acts = make_acts(schemas)
    lifecycle = make_lifecycle(schemas, acts, context_fns, clock, Store())
    select = schemas.select_struct("user", 1)

    def register(name, validator, **ceilings):
        given = {"schema": "user", "act_name": name, "validator": VALIDATORS[validator](select), **ceilings}
        acts.set_act(fn=lambda body: body["details"]["get"], **given)

    def call(name, get, set_=None):
        body = {"model": "user", "act": name, "details": {"set": set_ or {}, "get": get}}
        with context_fns.open():
            return lifecycle.run(body, lambda result, _: result)

    return register, call


@pytest.mark.parametrize("validator", VALIDATORS)
def test_an_act_may_allow_a_deeper_and_wider_get_than_the_settings(narrow, validator):
    register, call = narrow
    register("high", validator, max_get_depth=2, max_get_leaves=3)
    register("usual", validator)
    assert call("high", WIDE) == WIDE
    for get, most in [
        ({"name": 1, "friend": {}, "email": 1, "_id": 1}, TOO_WIDE.format(3)),
        ({"friend": {"friend": {"name": 1}}}, TOO_DEEP.format(2)),
    ]:
        with pytest.raises(ValidationError) as raised:
            call("high", get)
        assert raised.value.errors == {"get": [most]}
    with pytest.raises(ValidationError) as raised:  # shares the select struct, and keeps its own bound
        call("usual", {"friend": {"name": 1}})
    assert raised.value.errors == {"get": [TOO_DEEP.format(1)]}


@pytest.mark.parametrize("validator", VALIDATORS)
def test_without_ceilings_the_settings_bound_the_get_of_every_validator(narrow, validator):
    register, call = narrow
    register("usual", validator)
    assert call("usual", {"name": 1, "email": 1}) == {"name": 1, "email": 1}
    for get, most in [
        ({"name": 1, "email": 1, "_id": 1}, TOO_WIDE.format(2)),
        ({"friend": {"name": 1}}, TOO_DEEP.format(1)),
    ]:
        with pytest.raises(ValidationError) as raised:
            call("usual", get)
        assert raised.value.errors == {"get": [most]}


@pytest.mark.parametrize("validator", VALIDATORS)
@pytest.mark.parametrize(
    ("ceilings", "get", "problem"),
    [
        ({"max_get_leaves": 1}, {"name": 1, "email": 1}, TOO_WIDE.format(1)),
        ({"max_get_leaves": 1, "max_get_depth": 9}, {"friend": {"name": 1, "email": 1}}, TOO_WIDE.format(1)),
        ({"max_get_depth": 1, "max_get_leaves": 9}, {"friend": {"name": 1}}, TOO_DEEP.format(1)),
        ({"max_get_leaves": 2, "max_get_depth": 2}, {"name": [1, 1, 1]}, TOO_WIDE.format(2)),
        ({"max_get_depth": 2}, {"name": [[1]]}, TOO_DEEP.format(2)),
    ],
    ids=["wide", "wide below", "deep", "a wide list", "a deep list"],
)
def test_an_act_may_allow_less(narrow, validator, ceilings, get, problem):
    register, call = narrow
    register("low", validator, **ceilings)
    with pytest.raises(ValidationError) as raised:
        call("low", get, {"unknown": 1})  # nothing else is judged
    assert raised.value.errors == {"get": [problem]}
    assert call("low", {"name": 1}) == {"name": 1}


def test_the_function_of_a_validator_never_sees_a_get_beyond_the_ceiling(acts, call, log):
    acts.set_act(schema="user", act_name="list", validator=lambda details: log.append("seen"), fn=len, max_get_leaves=1)
    with pytest.raises(ValidationError, match="get: Too many fields: at most 1."):
        call("user", "list", {}, {"a": 1, "b": 1})
    assert log == []


class Files:
    """The files of a request, and what was asked of them."""

    def __init__(self, log=None, left=None):
        self.log, self.left = log, left

    def receive(self, expected):
        if self.log is not None:
            self.log.append(f"files {sorted(expected)}")
        return {path: Upload("a", "image/png", 1, "0" * 64, io.BytesIO(b"a")) for path in expected}


def run_with_files(lifecycle, context_fns, set_, files):
    body = {"service": "main", "model": "user", "act": "addUser", "details": {"set": set_, "get": {}}}
    with context_fns.open():
        context_fns.add_body_to_context(body)
        return lifecycle.run(body, lambda result, _: result, receive=files.receive)


def test_files_are_read_after_the_hooks_and_outside_of_the_deadline(lifecycle, context_fns, acts, clock, log):
    hook = {"pre_validation": [lambda: log.append("preValidation")], "pre_act": [lambda: log.append("preAct")]}
    acts.set_act(
        schema="user",
        act_name="addUser",
        **hook,
        validator={"set": {"name": string(), "photo": file(most=9)}, "get": {}},
        fn=lambda body: log.append(f"fn {clock.is_open} {body['details']['set']['photo'].size}"),
    )
    files = Files(log)
    receive = files.receive
    files.receive = lambda expected: log.append(f"open {clock.is_open}") or receive(expected)
    run_with_files(lifecycle, context_fns, {"name": "Ann"}, files)
    assert log == ["preValidation", "preAct", "open False", "files ['set.photo']", "fn True 1"]


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_the_body_in_the_context_has_the_files(lifecycle, context_fns, acts, mode):
    acts.set_act(
        schema="user",
        act_name="addUser",
        validator={"set": {"photo": optional(file(most=9))}, "get": {}},
        fn=lambda body: (body is context_fns.get_context_model()["body"], list(body["details"]["set"])),
        validation_run_type=mode,
    )
    assert run_with_files(lifecycle, context_fns, {}, Files()) == (True, ["photo"])


def test_the_second_deadline_of_an_act_with_files_knows_the_bound_of_its_reply(lifecycle, context_fns, acts, clock):
    files = Files()
    receive = files.receive
    files.receive = lambda expected: setattr(clock, "reply_bytes", None) or receive(expected)
    acts.set_act(
        schema="user",
        act_name="addUser",
        validator={"set": {"photo": file(most=9)}, "get": {}},
        fn=lambda body: clock.reply_bytes,
        max_reply_bytes=77,
    )
    assert run_with_files(lifecycle, context_fns, {}, files) == 77


def test_an_act_with_files_reports_what_was_committed(lifecycle, context_fns, acts, clock):
    def fail(body):
        clock.committed = True
        raise Unavailable()

    acts.set_act(schema="user", act_name="addUser", validator={"set": {"photo": file(most=9)}, "get": {}}, fn=fail)
    with pytest.raises(PartlyDone):
        run_with_files(lifecycle, context_fns, {}, Files())
