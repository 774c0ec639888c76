"""What observers are told of calls, through Flask's dispatch and through the lane: gatewayfw.observe.calls."""

from __future__ import annotations

import logging
from time import perf_counter

import mongomock
import pytest

from gatewayfw import DefinitionError, Forbidden, gateway, string
from gatewayfw.errors import Unavailable
from gatewayfw.observe.calls import Call, CallObservers, Names
from tests.wire.scripts import answer

ID = "test-1"
UNKNOWN = ("_unknown", "_unknown", "_unknown")


class Seen(list):
    """An observer that keeps what it was told, without the time, which it checks."""

    def __call__(self, call):
        assert 0 <= call.seconds < 60
        self.append((str(call.names), call.code, call.status, call.request_id, call.address))


def fail(_body):
    raise LookupError("secret")


def refuse():
    raise Forbidden("not you")


def outage(_body):
    raise Unavailable


@pytest.fixture(params=[True, False], ids=["lane", "flask"])
def served(request):
    """A function that serves a gateway with three acts; it returns the gateway, a client and the observer."""

    def serve(**settings):
        gw = gateway(max_batch=5, **settings)
        gw.odm.set_db(mongomock.MongoClient().test)
        book = gw.odm.new_model("book", {"title": string()})
        gw.acts.act("book", "list", set={}, get=1)(lambda body: [{"title": "Emma"}])
        gw.acts.act("book", "add", set={"title": string()}, get=1)(
            lambda body: book.insert_one(body["details"]["set"], projection=body["details"]["get"])
        )
        gw.acts.act("book", "fail", set={}, get=1)(fail)
        gw.acts.act("book", "refuse", set={}, get=1, pre_act=[refuse])(lambda body: None)
        gw.acts.act("book", "outage", set={}, get=1)(outage)
        seen = gw.on_call(Seen())
        app = gw.create_app(fast_lane=request.param)
        return gw, app.test_client(), seen

    return serve


def asking(act="list", model="book", **given):
    return {"model": model, "act": act, "details": {"set": given, "get": {}}}


def send(client, body=None, headers=None, **given):
    return client.post("/gateway", json=body, headers={"X-Request-Id": ID, **(headers or {})}, **given)


CALLS = {
    "success": (asking(), ("main.book.list", "ok", 200)),
    "service named": ({**asking(), "service": "main"}, ("main.book.list", "ok", 200)),
    "not valid": (asking("add", title=3), ("main.book.add", "validation_error", 400)),
    "refused by a hook": (asking("refuse"), ("main.book.refuse", "forbidden", 403)),
    "mistake": (asking("fail"), ("main.book.fail", "internal_error", 500)),
    "outage": (asking("outage"), ("main.book.outage", "unavailable", 503)),
    "unknown act": (asking("nope"), ("_unknown", "not_found", 404)),
    "unknown model": (asking("list", "nope"), ("_unknown", "not_found", 404)),
    "unknown service": ({**asking(), "service": "nope"}, ("_unknown", "not_found", 404)),
    "no request": ({"act": "list"}, ("_unknown", "bad_request", 400)),
}


@pytest.mark.parametrize(("body", "told"), CALLS.values(), ids=CALLS)
def test_each_request_is_told_of_once(served, caplog, body, told):
    _, client, seen = served()
    send(client, body)
    assert seen == [(*told, ID, "127.0.0.1")]
    assert [record for record in caplog.records if record.name == "gatewayfw.calls"] == []


def test_a_body_that_is_refused_is_told_of(served):
    _, client, seen = served(max_body_bytes=100)
    client.post("/gateway", data=b"{", content_type="application/json", headers={"X-Request-Id": ID})
    client.post("/gateway", data=b"{}", content_type="text/plain", headers={"X-Request-Id": ID})
    send(client, {"a": "x" * 100})
    client.get("/gateway", headers={"X-Request-Id": ID})
    codes = [("bad_request", 400), ("unsupported_media_type", 415), ("too_large", 413), ("method_not_allowed", 405)]
    assert seen == [("_unknown", *code, ID, "127.0.0.1") for code in codes]


def test_a_preflight_and_other_paths_are_no_calls(served):
    _, client, seen = served()
    client.options("/gateway")
    client.get("/elsewhere")
    assert seen == []


def test_each_item_of_a_batch_is_told_of_and_the_batch_is_not(served):
    _, client, seen = served()
    send(client, {"batch": [asking(), asking("nope"), {"act": 1}, asking("refuse")]})
    assert seen == [
        ("main.book.list", "ok", 200, "test-1.0", "127.0.0.1"),
        ("_unknown", "not_found", 404, "test-1.1", "127.0.0.1"),
        ("_unknown", "bad_request", 400, "test-1.2", "127.0.0.1"),
        ("main.book.refuse", "forbidden", 403, "test-1.3", "127.0.0.1"),
    ]


def test_a_batch_that_is_refused_is_told_of_once(served):
    _, client, seen = served()
    send(client, {"batch": []})
    send(client, {"batch": [asking()] * 6})
    assert seen == [("_unknown", "bad_request", 400, ID, "127.0.0.1")] * 2


def test_the_items_of_an_atomic_batch_are_told_of_when_it_is_over(mongo_database):
    gw = gateway(max_batch=5)
    gw.odm.set_db(mongo_database)
    book = gw.odm.new_model("book", {"title": string()})
    tries = []

    @gw.acts.act("book", "add", set={"title": string()}, get=1)
    def add(body):
        tries.append(body["details"]["set"]["title"])
        return book.insert_one(body["details"]["set"], projection=body["details"]["get"])

    gw.acts.act("book", "fail", set={}, get=1)(fail)
    seen = gw.on_call(Seen())
    errors = []
    gw.on_call(lambda call: errors.append(repr(call.error)))
    client = gw.create_app().test_client()
    send(client, {"batch": [asking("add", title="A"), asking("add", title="B")], "atomic": True})
    send(client, {"batch": [asking("add", title="C"), asking("fail")], "atomic": True})
    assert tries == ["A", "B", "C"]
    assert seen == [
        ("main.book.add", "ok", 200, "test-1.0", "127.0.0.1"),
        ("main.book.add", "ok", 200, "test-1.1", "127.0.0.1"),
        ("main.book.add", "not_done", 409, "test-1.0", "127.0.0.1"),
        ("main.book.fail", "internal_error", 500, "test-1.1", "127.0.0.1"),
    ]
    assert errors == ["None", "None", "None", "LookupError('secret')"]


@pytest.mark.parametrize(("act", "error"), [("list", None), ("refuse", None), ("outage", None), ("fail", LookupError)])
def test_only_the_programs_own_errors_come_with_the_call(served, act, error):
    gw, client, _ = served()
    errors = []
    gw.on_call(lambda call: errors.append(call.error and type(call.error)))
    send(client, asking(act))
    send(client, {"batch": [asking(act)]})
    assert errors == [error, error]


def test_an_error_of_a_request_is_not_told_with_the_next(served):
    gw, client, _ = served()
    errors = []
    gw.on_call(lambda call: errors.append(call.error and type(call.error)))
    send(client, {"batch": [asking("fail"), asking("refuse"), asking()]})
    assert errors == [LookupError, None, None]


def test_an_observer_that_fails_is_logged_and_the_others_are_told(served, caplog):
    gw, client, seen = served()
    told = []
    gw.on_call(fail)
    gw.on_call(lambda call: told.append(call.code))
    reply = send(client, asking())
    assert reply.status_code == 200
    assert len(seen) == 1
    assert told == ["ok"]
    (record,) = [record for record in caplog.records if record.name == "gatewayfw.calls"]
    assert record.levelno == logging.ERROR
    assert record.getMessage().startswith("an observer of calls failed\nTraceback")


class Around:
    """An observer that begins; it notes each step."""

    def __init__(self, steps, broken=False):
        self.steps, self.broken = steps, broken

    def begin(self, names, headers):
        if self.broken:
            raise LookupError("no begin")
        self.steps.append(("begin", str(names), headers["x-tenant"]))
        return lambda call: self.steps.append(("end", call.code))

    def __call__(self, call):
        self.steps.append(("alone", call.code))


def test_an_observer_may_surround_the_act(served):
    gw, client, _ = served()
    steps = []
    gw.on_call(Around(steps))
    gw.acts.act("book", "step", set={}, get=1, pre_validation=[lambda: steps.append("hook")])(
        lambda body: steps.append("act")
    )
    send(client, asking("step"), headers={"X-Tenant": "t"})
    assert steps == [("begin", "main.book.step", "t"), "hook", "act", ("end", "ok")]


def test_it_surrounds_each_item_of_a_batch(served):
    gw, client, _ = served()
    steps = []
    gw.on_call(Around(steps))
    send(client, {"batch": [asking(), {"act": 1}, asking("nope")]}, headers={"X-Tenant": "t"})
    assert steps == [
        ("begin", "main.book.list", "t"),
        ("end", "ok"),
        ("alone", "bad_request"),
        ("begin", "_unknown", "t"),
        ("end", "not_found"),
    ]


def test_it_is_told_alone_of_what_names_no_act(served):
    gw, client, _ = served()
    steps = []
    gw.on_call(Around(steps))
    send(client, {"act": 1})
    assert steps == [("alone", "bad_request")]


def test_one_that_cannot_begin_is_logged_and_told_alone(served, caplog):
    gw, client, _ = served()
    steps = []
    gw.on_call(Around(steps, broken=True))
    assert send(client, asking()).status_code == 200
    assert steps == [("alone", "ok")]
    (record,) = [record for record in caplog.records if record.name == "gatewayfw.calls"]
    assert record.getMessage().startswith("an observer of calls could not begin\nTraceback")


def test_a_remote_services_acts_are_not_known_here(served, upstream):
    gw, client, seen = served()
    gw.acts.set_service("billing", f"{upstream(answer())}/gateway")
    send(client, {**asking("pay", "bill"), "service": "billing"})
    assert [call[:3] for call in seen] == [("billing._unknown._unknown", "ok", 200)]


@pytest.mark.parametrize(
    ("observer", "problem"),
    [
        (3, "on_call must be a function"),
        (lambda: None, "on_call must take the call as its one positional argument"),
    ],
)
def test_what_is_no_observer_is_refused(observer, problem):
    with pytest.raises(DefinitionError, match=f"^{problem}$"):
        gateway().on_call(observer)


def test_an_observer_is_registered_once():
    gw, seen = gateway(), Seen()
    gw.on_call(seen.append)
    with pytest.raises(DefinitionError, match="^on_call: this observer is registered already$"):
        gw.on_call(seen.append)


def test_a_call_lasts_from_when_it_is_said_to_have_begun():
    calls, told = CallObservers(None), []
    calls.add(told.append)
    for started in (perf_counter() - 100, None):
        calls.open(ID, "::1", started).end(200, "ok")
    assert [100 <= call.seconds < 160 for call in told] == [True, False]
    assert told[1][:5] == ("_unknown", "_unknown", "_unknown", "ok", 200)
    assert told[1][6:] == (ID, "::1", None)


@pytest.mark.parametrize(
    ("code", "told"), [("ok", "ok"), ("Sold.out-9", "Sold.out-9"), ("a b", "error"), ("", "error")]
)
def test_a_code_that_is_none_is_told_as_an_error(code, told):
    calls, codes = CallObservers(None), []
    calls.add(lambda call: codes.append(call.code))
    calls.open(ID, "").end(400, code)
    assert codes == [told]


def test_a_call_made_by_hand_has_names():
    call = Call("main", "book", "buy", "ok", 200, 0.1, ID, "127.0.0.1")
    assert call.names == Names("main", "book", "buy")
    assert str(call.names) == "main.book.buy"
    assert str(Names()) == "_unknown"
    assert call.error is None
