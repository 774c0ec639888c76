"""Rate limits of acts: who is counted, what is refused, and that a lost storage lets nothing pass."""

from __future__ import annotations

import logging
import re
import time
from hashlib import sha256
from types import SimpleNamespace

import pytest
from flask import Flask

from gatewayfw import limits as counters
from gatewayfw.acts.context import Context
from gatewayfw.core import gateway
from gatewayfw.errors import DefinitionError, HttpError, RateLimited, Timeout
from gatewayfw.limits import Rate, RateLimits, database_of, network_of
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from tests.acts.parts import acts, call, clock, context_fns, lifecycle, make_acts, schemas, store

__all__ = ["acts", "call", "clock", "context_fns", "lifecycle", "make_acts", "schemas", "store"]

STRUCT = {"set": {}, "get": {}}
SECRET = "hunter2"
REFUSED = {"body": {"message": "too many requests, try again later"}, "success": False}
PASSED = {"body": "done", "success": True}


def written(result, _):
    """Return a result as it is."""
    return result


@pytest.fixture
def made(monkeypatch):
    """A function that makes a gateway with the act user.add and a client of it; no time passes by itself."""
    now = [1000.0]
    monkeypatch.setattr(counters, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))
    gateways = []

    def make(limit="2/minute", **options):
        gw = gateway(**options)
        gateways.append(gw)
        gw.acts.act("user", "add", limit=limit)(lambda body: "done")
        app = Flask("host")
        gw.init_app(app)
        return gw, Caller(app.test_client(), now)

    yield make
    for gw in gateways:
        gw.acts.limits.close()


class Caller:
    """A client whose calls come from an address and with headers, at a time that a test sets."""

    def __init__(self, client, now):
        self._client = client
        self._now = now

    def later(self, seconds):
        self._now[0] += seconds

    def reply(self, address="192.0.2.1", headers=None, act="add", **more):
        body = {"model": "user", "act": act, "details": {"set": {}, "get": {}}, **more}
        return self._client.post("/gateway", json=body, headers=headers, environ_base={"REMOTE_ADDR": address})

    def statuses(self, *addresses, **more):
        return [self.reply(address, **more).status_code for address in addresses]


A, B = "192.0.2.1", "192.0.2.2"


def test_calls_beyond_the_limit_are_429_with_retry_after(made):
    _, caller = made()
    assert [(reply.status_code, reply.get_json()) for reply in (caller.reply(), caller.reply())] == [(200, PASSED)] * 2
    caller.later(20.5)
    reply = caller.reply()
    assert (reply.status_code, reply.get_json()) == (429, REFUSED)
    assert (reply.headers["X-Error-Code"], reply.headers["Retry-After"]) == ("rate_limited", "40")


def test_a_reply_that_passes_has_no_header_of_limits(made):
    _, caller = made()
    assert not [name for name in dict(caller.reply().headers) if re.search("retry|limit", name, re.IGNORECASE)]


@pytest.mark.parametrize(("seconds", "after"), [(0.0, "1"), (0.2, "1"), (1.0, "1"), (1.001, "2"), (59.2, "60")])
def test_retry_after_is_whole_seconds_rounded_up_and_at_least_one(seconds, after):
    error = RateLimited(seconds)
    assert error.status == 429
    assert error.code == "rate_limited"
    assert error.headers == {"Retry-After": after}
    assert isinstance(error, HttpError)


def test_the_span_moves_and_refused_calls_do_not_count(made):
    _, caller = made()
    assert caller.statuses(A) == [200]
    caller.later(30)
    assert caller.statuses(A, A, A, A) == [200, 429, 429, 429]
    caller.later(30)
    assert caller.statuses(A, A) == [200, 429]


def test_each_caller_act_and_service_has_a_count_of_its_own(made):
    gw, caller = made("1/minute")
    gw.acts.act("user", "other", limit="1/minute")(lambda body: "done")
    gw.acts.act("city", "add", limit="1/minute")(lambda body: "done")
    gw.acts.set_service("copy", gw.acts.get_main_acts())
    ways = [{}, {"act": "other"}, {"model": "city"}, {"service": "copy"}, {"service": "copy", "act": "other"}]
    assert [caller.statuses(A, A, B, **way) for way in ways] == [[200, 429, 200]] * 5
    assert caller.statuses(A, service="main") == caller.statuses(A, service=None) == [429]


def test_two_gateways_count_apart(made):
    callers = [made("1/minute")[1] for _ in range(2)]
    assert [caller.statuses(A, A) for caller in callers] == [[200, 429]] * 2


def test_of_several_limits_all_hold_and_a_refusal_of_the_short_one_costs_the_long_one_nothing(made):
    _, caller = made(["3/hour", "2/minute"])
    assert caller.statuses(A, A, A, A, A) == [200, 200, 429, 429, 429]
    caller.later(60)
    assert caller.statuses(A) == [200]
    assert caller.reply().headers["Retry-After"] == str(3600 - 60)


def test_an_act_without_limit_is_not_counted(made):
    gw, caller = made()
    gw.acts.act("user", "free")(lambda body: "done")
    assert caller.statuses(*[A] * 50, act="free") == [200] * 50


def test_a_refused_call_runs_no_hook_no_validator_and_no_act(made):
    gw, caller = made()
    log = []
    gw.acts.set_act(
        schema="user",
        act_name="costly",
        validator=lambda details: log.append("validator"),
        fn=lambda body: log.append("fn"),
        pre_validation=[lambda: log.append("preValidation")],
        pre_act=[lambda: log.append("preAct")],
        limit="1/minute",
    )
    assert caller.statuses(A, A, act="costly") == [200, 429]
    assert log == ["preValidation", "validator", "preAct", "fn"]


def test_calls_that_fail_count_too(made):
    gw, caller = made()
    gw.acts.act("user", "login", pre_act=[lambda: exec("raise HttpError('no', 401)", globals())], limit="2/minute")(len)
    assert caller.statuses(A, A, A, act="login") == [401, 401, 429]


def test_ipv6_callers_count_by_their_network(made):
    _, caller = made("1/minute")
    ours, ours_too, theirs = "2001:db8:0:1::1", "2001:db8:0:1:ffff::9", "2001:db8:0:2::1"
    assert caller.statuses(ours, ours_too, theirs) == [200, 429, 200]


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("not:an:address", "not:an:address"),
        ("", ""),
        (None, ""),
        (5, ""),
    ],
    ids=repr,
)
def test_an_address_counts_as(address, counted):
    assert network_of(address) == counted


def test_the_port_of_a_caller_does_not_count(made):
    _, caller = made()
    assert caller.statuses(f"{A}:1", f"{A}:2", A, f"{B}:1") == [200, 200, 429, 200]
    assert caller.statuses("[2001:db8::1]:1", "[2001:db8::1]:2", "2001:db8::1") == [200, 200, 429]


def test_calls_without_a_caller_count_as_those_of_one(made):
    gw, caller = made("2/minute")
    body = {"model": "user", "act": "add", "details": {"set": {}, "get": {}}}
    assert caller.statuses("") == [200]
    with gw.context_fns.open():
        assert gw.lifecycle.run(body, written) == "done"
        with pytest.raises(RateLimited):
            gw.lifecycle.run(body, written)
    assert caller.statuses("", A) == [429, 200]


def by_key(context):
    return context.Headers.get("x-api-key")


def test_caller_key_names_the_caller(made):
    _, caller = made("1/minute", caller_key=by_key)
    assert caller.statuses(A, B, headers={"X-Api-Key": "one"}) == [200, 429]
    assert caller.statuses(A, headers={"X-Api-Key": "two"}) == [200]


@pytest.mark.parametrize("headers", [{}, {"X-Api-Key": ""}], ids=["None", "empty"])
def test_without_a_key_the_address_counts(made, headers):
    _, caller = made("1/minute", caller_key=by_key)
    assert caller.statuses(A, A, B, headers=headers) == [200, 429, 200]


def test_a_key_that_looks_like_an_address_is_another_caller(made):
    _, caller = made("1/minute", caller_key=by_key)
    assert caller.statuses(A, headers={"X-Api-Key": B}) == [200]
    assert caller.statuses(B, B) == [200, 429]


def test_caller_key_sees_the_request_and_nothing_of_the_hooks(made):
    seen = []
    gw, caller = made(caller_key=lambda context: seen.append((sorted(context), context.body["act"])))
    caller.reply()
    assert seen == [(["Address", "Headers", "Request", "body"], "add")]


def test_caller_key_may_end_the_request(made):
    def refuse(context):
        raise HttpError("send a key", 401)

    _, caller = made(caller_key=refuse)
    assert caller.reply().get_json() == {"body": {"message": "send a key"}, "success": False}


@pytest.mark.parametrize("key", [5, b"key", ["a"]], ids=repr)
def test_caller_key_that_is_no_text_is_a_fault_of_the_program(made, caplog, key):
    _, caller = made(caller_key=lambda context: key)
    message = f"caller_key must return text or None, not {type(key).__name__}"
    assert caller.reply().status_code == 500
    assert caplog.messages[0].endswith(message)


async def asynchronous(context):
    """Do nothing unless awaited."""


@pytest.mark.parametrize("fn", ["key", 5, asynchronous], ids=["text", "number", "asynchronous"])
def test_caller_key_must_be_a_plain_function(fn):
    with pytest.raises(DefinitionError) as raised:
        gateway(caller_key=fn)
    assert raised.value.message == "caller_key must be a plain function of the context"


LIMIT_FORM = "limit must be a text such as '10/minute', or a list of such"
WRONG = {
    "no limit": ("often", "limit 'often': expected a text such as '10/minute'"),
    "unknown unit": ("10/moment", "limit '10/moment': expected a text such as '10/minute'"),
    "one of two": (["1/minute", "x"], "limit 'x': expected a text such as '10/minute'"),
    "empty text": ("", "limit '': expected a text such as '10/minute'"),
    "nothing passes": ("0/minute", "limit '0/minute': expected 1 to 10000 calls"),
    "too many": ("10001/minute", "limit '10001/minute': expected 1 to 10000 calls"),
    "too long": ("1 per 2 years", "limit '1 per 2 years': expected a span of at most a year"),
    "empty list": ([], LIMIT_FORM),
    "number": (10, LIMIT_FORM),
    "list of numbers": ([10], LIMIT_FORM),
    "false": (False, LIMIT_FORM),
}


@pytest.mark.parametrize(("limit", "message"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("as_service", [False, True])
def test_a_limit_that_is_none_is_refused_when_registered(acts, limit, message, as_service):
    with pytest.raises(DefinitionError) as raised:
        if as_service:
            acts.set_service("other", {"user": {"add": {"validator": STRUCT, "fn": len, "limit": limit}}})
        else:
            acts.set_act(schema="user", act_name="add", validator=STRUCT, fn=len, limit=limit)
    assert raised.value.message == f"{'service other: ' * as_service}act user.add: {message}"


@pytest.mark.parametrize(
    ("limit", "texts", "parsed"),
    [
        ("10/minute", ("10/minute",), [Rate(10, 60)]),
        ("100 per 2 hours", ("100 per 2 hours",), [Rate(100, 7200)]),
        ("100/day; 5/second", ("100/day; 5/second",), [Rate(5, 1), Rate(100, 86_400)]),
        (["100/day", "5/second"], ("100/day", "5/second"), [Rate(5, 1), Rate(100, 86_400)]),
    ],
)
def test_limits_are_parsed_when_registered_the_shortest_first(acts, limit, texts, parsed):
    acts.set_act(schema="user", act_name="add", validator=STRUCT, fn=len, limit=limit)
    act = acts.get_main_act("user", "add")
    assert (act.limit, [*act.rates]) == (texts, parsed)


@pytest.mark.parametrize("uri", [f"mongodb://ann:{SECRET}@:x", f"mongodb://a:{SECRET}@b@c/x", "mongodb://h:99999/x"])
def test_a_malformed_storage_is_refused_with_the_gateway_and_not_shown(uri):
    with pytest.raises(DefinitionError) as raised:
        gateway(rate_limit_storage=uri)
    assert raised.value.message.startswith("setting 'rate_limit_storage': malformed URI (")
    assert SECRET not in raised.value.message
    assert raised.value.__cause__ is None


def test_limits_are_counted_in_memory_unless_said_otherwise():
    """With no gateway around them, as tools use them."""
    limits = RateLimits()
    rates = limits.parse(["1/minute"])
    left, context = [], Context(Address="192.0.2.1")
    limits.count("main.user.add", rates, context, lambda: left.append(1) or 5.0)
    with pytest.raises(RateLimited) as raised:
        limits.count("main.user.add", rates, context, lambda: 5.0)
    assert len(left) == 1
    assert 0 < int(raised.value.headers["Retry-After"]) <= 60
    limits.close()
    limits.count("main.user.add", rates, context, lambda: 5.0)


@pytest.mark.parametrize("wait", [0.001, 0.9])
def test_a_limit_refuses_however_soon_there_is_room(monkeypatch, wait):
    monkeypatch.setattr(counters.MemoryCounters, "take", lambda *words: wait)
    limits = RateLimits()
    with pytest.raises(RateLimited):
        limits.count("main.user.add", limits.parse(["1/second"]), Context(), lambda: 5.0)


def test_counters_on_mongodb_get_database_and_patience_of_the_settings(monkeypatch):
    made = []
    monkeypatch.setattr(counters, "MongoCounters", lambda *words: made.append(words) or counters.MemoryCounters())
    uri = "mongodb://h/shop"
    limits = RateLimits(Settings(rate_limit_storage=uri, server_selection_timeout=1.5))
    for _ in range(2):
        limits.count("main.user.add", limits.parse(["9/second"]), Context(), lambda: 5.0)
    assert made == [(uri, "shop", 1.5)]


def test_counts_are_in_the_database_of_the_uri_or_in_limits():
    assert [database_of(f"mongodb://h/{rest}") for rest in ("shop?w=1", "?w=1", "")] == ["shop", "limits", "limits"]


def test_a_lost_storage_lets_nothing_pass_and_says_nothing(made, closed_port, caplog):
    uri = f"mongodb://ann:{SECRET}@127.0.0.1:{closed_port}/x"
    gw, caller = made(rate_limit_storage=uri, server_selection_timeout=0.1)
    gw.acts.act("user", "free")(lambda body: "done")
    with caplog.at_level(logging.DEBUG, "gatewayfw"):
        replies = [caller.reply(), caller.reply()]
    found = [(reply.status_code, reply.get_json(), reply.headers["Retry-After"]) for reply in replies]
    lost = {"body": {"message": "service unavailable, try again"}, "success": False}
    assert found == [(503, lost, "1")] * 2
    assert not re.search(f"{SECRET}|127.0.0.1|Connection refused", caplog.text)
    assert "calls cannot be counted, so rate-limited calls are refused: ServerSelectionTimeoutError" in caplog.messages
    assert caller.statuses(A, act="free") == [200]


def test_waiting_for_a_lost_storage_ends_with_the_deadline(made, closed_port):
    uri = f"mongodb://127.0.0.1:{closed_port}/x"
    _, caller = made(rate_limit_storage=uri, server_selection_timeout=60, deadline=0.2)
    before = time.perf_counter()
    assert caller.statuses(A) == [503]
    assert time.perf_counter() - before < 20  # of 60


HOSTILE = ["\x00", "$where", "a.b", "../..", "x" * 100_000, "\ud800", "a\r\nb", "/", "é" * 300, "__proto__"]


@pytest.mark.mongo
@pytest.mark.parametrize("key", HOSTILE, ids=lambda key: ascii(key[:10]))
def test_nothing_of_a_caller_reaches_the_storage_but_a_hash(made, mongod_uri, mongo_database, key):
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    _, caller = made("1/minute", rate_limit_storage=uri, caller_key=lambda context: key)
    assert caller.statuses(A, B) == [200, 429]
    (stored,) = mongo_database["_gw_limits"].find()
    digest = sha256(f"k{key}".encode("utf-8", "surrogatepass")).hexdigest()
    assert sorted(stored) == ["_id", "calls", "expireAt"]
    assert stored["_id"] == f"main.user.add/{digest}/1/60"
    assert mongo_database.list_collection_names() == ["_gw_limits"]


@pytest.mark.mongo
def test_gateways_on_one_mongodb_share_their_counts(made, mongod_uri, mongo_database):
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    callers = [made("3/minute", rate_limit_storage=uri)[1] for _ in range(2)]
    assert [caller.statuses(A, A) for caller in callers] == [[200, 200], [200, 429]]


def test_a_limit_counts_on_acts_that_are_registered_with_their_registry_alone(lifecycle, acts):
    acts.set_act(schema="user", act_name="add", validator=STRUCT, fn=len, limit="1/minute")
    body = {"model": "user", "act": "add", "details": {"set": {}, "get": {}}}
    assert lifecycle.run(body, written) == 3
    with pytest.raises(RateLimited):
        lifecycle.run(body, written)


def test_a_call_whose_deadline_has_passed_does_not_count(lifecycle, acts, call, clock):
    acts.act("user", "add", limit="1/hour")(lambda body: "done")
    clock.left = 0.0
    with pytest.raises(Timeout):
        call("user", "add")
    clock.left = 5.0
    assert call("user", "add") == "done"
    with pytest.raises(RateLimited):
        call("user", "add")


def test_the_storage_is_not_asked_for_acts_without_a_limit(make_acts):
    assert make_acts(Schemas(Settings(rate_limit_storage="mongodb://h/x"))).get_service_keys() == ["main"]


# -- what the text of a limit means


def test_rates_come_with_the_shortest_span_first():
    found = RateLimits().parse(["100/day", "10 per 2 minutes; 1/second", "5/minute", "3 per 90 seconds"])
    assert found == (Rate(1, 1), Rate(5, 60), Rate(3, 90), Rate(10, 120), Rate(100, 86_400))


@pytest.mark.parametrize("text", ["1/second", "10000/minute", "1 per 366 days"])
def test_bounds_are_allowed(text):
    assert len(RateLimits().parse([text])) == 1


WRONG = {
    "soon": "limit 'soon': expected a text such as '10/minute'",
    "x" * 100: f"limit '{'x' * 64}': expected a text such as '10/minute'",
    "0/minute": "limit '0/minute': expected 1 to 10000 calls",
    "10001/minute": "limit '10001/minute': expected 1 to 10000 calls",
    "1 per 367 days": "limit '1 per 367 days': expected a span of at most a year",
    "1 per 31622401 seconds": "limit '1 per 31622401 seconds': expected a span of at most a year",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_no_limit_is_refused(text, message):
    with pytest.raises(DefinitionError) as refused:
        RateLimits().parse(["1/second", text])
    assert refused.value.message == message
