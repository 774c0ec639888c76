"""`Reply` and mapped exceptions on the wire: by both ways in, for pages, clients and services in front."""

from __future__ import annotations

import logging
import threading
from wsgiref.validate import validator

import mongomock
import pytest
from werkzeug.test import Client

from gatewayfw import Reply, gateway, integer
from gatewayfw.client import CallError, HttpClient, InProcessClient
from gatewayfw.web.cors import EXPOSED_HEADERS
from gatewayfw.web.servers import threaded_server

#: Put together, because a traceback in the log has the source.
SECRET = "terces"[::-1]
COOKIE = {"name": "session", "value": "s1"}
SENT = "session=s1; Path=/; Secure; HttpOnly; SameSite=Lax"
FIXED = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Stock(Exception):
    """An error of another library."""


class SoldOut(Stock):
    """A narrower one."""


def raising(error):
    def fn(body):
        raise error

    return fn


@pytest.fixture
def gw(database):
    """A gateway with three things."""
    made = gateway(exceptions={Stock: (503, "stock", "try later")})
    made.odm.set_db(database)
    made.things = made.odm.new_model("thing", {"n": integer()})
    made.things.insert_many(docs=[{"n": n} for n in range(3)])
    return made


@pytest.fixture(params=[True, False], ids=["lane", "blueprint"])
def ask(gw, request):
    """Register an act and call it; gives the reply."""

    def ask(fn, sent=None, cors=None, **options):
        gw.acts.act("thing", "do", **options)(fn)
        app = gw.create_app(fast_lane=request.param, cors=cors)
        body = {"model": "thing", "act": "do", "details": {"set": {}, "get": {"n": 1} if "get" in options else {}}}
        headers = {"X-Request-Id": "r1", **(sent or {})}
        return Client(validator(app)).post("/gateway", json=body, headers=headers, buffered=True)

    return ask


def test_status_headers_and_cookies_are_sent_beside_the_envelope(ask):
    reply = ask(lambda body: Reply({"n": 1}, 201, {"Location": "/things/1"}, [COOKIE, {**COOKIE, "name": "more"}]))
    assert (reply.status, reply.get_json()) == ("201 CREATED", {"body": {"n": 1}, "success": True})
    assert reply.headers.getlist("Set-Cookie") == [SENT, SENT.replace("session", "more")]
    assert {name: value for name, value in reply.headers if name != "Set-Cookie"} == {
        **FIXED,
        "X-Request-Id": "r1",
        "Location": "/things/1",
        "Content-Length": str(len(reply.data)),
    }


def test_a_reply_without_choices_is_the_same_as_its_body(ask, gw):
    replies = [ask(lambda body: Reply({"n": 1}))]
    gw.acts.act("thing", "plain")(lambda body: {"n": 1})
    body = {"model": "thing", "act": "plain", "details": {"set": {}, "get": {}}}
    replies.append(gw.create_app().test_client().post("/gateway", json=body, headers={"X-Request-Id": "r1"}))
    seen = [(reply.status, reply.data, sorted(reply.headers)) for reply in replies]
    assert seen[0] == seen[1]


BODIES = {
    "a cursor": lambda gw, body: gw.things.find(projection={"_id": 0, **body["details"]["get"]}),
    "an iterator": lambda gw, body: ({"n": n} for n in range(3)),
    "documents": lambda gw, body: gw.things.find(projection={"_id": 0, **body["details"]["get"]}).to_list(),
}


@pytest.mark.parametrize("make", BODIES.values(), ids=BODIES)
def test_whatever_an_act_may_return_may_be_the_body(ask, gw, make):
    reply = ask(lambda body: Reply(make(gw, body), 202), get=1, returns="many")
    assert (reply.status_code, reply.get_json()["body"]) == (202, [{"n": 0}, {"n": 1}, {"n": 2}])


def test_a_page_of_a_listing_may_be_the_body(ask, gw):
    listing = gw.things.listing(sort=["n"], default_sort="n", most=2, default=2)
    reply = ask(
        lambda body: Reply(listing.page(body["details"]), headers={"X-Total": "3"}),
        set=listing.set,
        get=1,
        mode="create",
        returns=listing.returns,
    )
    page = reply.get_json()["body"]
    assert [row["n"] for row in page["rows"]] == [0, 1]
    assert page["next"] is not None
    assert reply.headers["X-Total"] == "3"


def test_the_bound_of_the_reply_holds(ask):
    reply = ask(lambda body: Reply("x" * 100, 201, {"Location": "/x"}), max_reply_bytes=50)
    assert (reply.status_code, reply.headers["X-Error-Code"]) == (413, "reply_too_large")
    assert "Location" not in reply.headers


@pytest.mark.parametrize(
    ("fn", "logged"),
    [
        (lambda body: Reply(1, 404), "UsageError: Reply: status must be in 200..299"),
        (lambda body: Reply(1, headers={"X-A": f"{SECRET}\r\nX-B: 1"}), "UsageError: Reply: headers: the value of X-A"),
        (lambda body: Reply(1, cookies=[{"name": "a", "value": f"{SECRET};"}]), "UsageError: Reply: cookies[0]: value"),
        (lambda body: [Reply(1)], "a value of the type Reply, which is not JSON"),
    ],
    ids=["status", "header", "cookie", "inside"],
)
def test_a_reply_that_cannot_be_sent_is_an_internal_error(ask, caplog, fn, logged):
    with caplog.at_level(logging.ERROR, "gatewayfw"):
        reply = ask(fn)
    assert (reply.status_code, reply.get_json()["body"]) == (500, {"message": "internal error"})
    assert logged in caplog.text
    assert SECRET not in caplog.records[-1].getMessage()


def test_pages_of_an_allowed_origin_may_read_its_headers(ask):
    reply = ask(
        lambda body: Reply(1, 201, {"Location": "/x", "X-Total": "3"}, [COOKIE]), {"Origin": "https://a.example"}, "*"
    )
    assert reply.headers["Access-Control-Expose-Headers"] == f"{EXPOSED_HEADERS}, Location, X-Total"


def test_other_origins_learn_nothing_of_its_headers(ask):
    reply = ask(lambda body: Reply(1, headers={"X-Total": "3"}), {"Origin": "https://b.example"}, ["https://a.example"])
    assert [name for name, _ in reply.headers if name.startswith("Access-Control")] == []


@pytest.mark.parametrize(
    ("error", "own", "expected"),
    [
        (Stock("secret"), None, (503, "stock", "try later")),
        (SoldOut(), None, (503, "stock", "try later")),
        (SoldOut(), {SoldOut: (409, "sold_out", "sold out")}, (409, "sold_out", "sold out")),
        (Stock(), {Stock: (409, "sold_out", "sold out")}, (409, "sold_out", "sold out")),
        (Stock(), {SoldOut: (409, "sold_out", "sold out")}, (503, "stock", "try later")),
        (KeyError("secret"), {Stock: (409, "a", "b")}, (500, "internal_error", "internal error")),
    ],
    ids=["gateway", "base class", "narrower class of the act", "act before gateway", "other class", "no entry"],
)
def test_a_mapped_exception_is_answered_as_its_author_said(ask, error, own, expected):
    reply = ask(raising(error), exceptions=own)
    body = reply.get_json()
    assert (reply.status_code, reply.headers["X-Error-Code"], body["body"]["message"]) == expected
    assert body["success"] is False


def test_a_mapped_exception_of_a_hook_or_a_cursor_is_one_too(ask, gw):
    def failing():
        yield 1
        raise SoldOut

    replies = [ask(lambda body: failing())]
    gw.acts.act("thing", "hooked", pre_act=[raising(SoldOut())])(lambda body: 1)
    body = {"model": "thing", "act": "hooked", "details": {"set": {}, "get": {}}}
    replies.append(gw.create_app().test_client().post("/gateway", json=body))
    assert [reply.status_code for reply in replies] == [503, 503]


@pytest.fixture
def served():
    """A gateway whose act chooses its reply, its URL, and one in front of it."""
    far, near = gateway(), gateway(exceptions={Stock: (503, "stock", "try later")})
    far.odm.set_db(mongomock.MongoClient().test)
    far.acts.act("thing", "add")(lambda body: Reply("added", 201, {"Location": "/things/1"}, [COOKIE]))
    server = threaded_server(far.create_app(), "127.0.0.1", 0)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    url = f"http://127.0.0.1:{server.port}"
    near.acts.set_service("far", url)
    near.acts.set_service("guarded", url, pre_act=[raising(Stock())])
    yield far, url, near
    server.shutdown()
    thread.join()
    server.server_close()


def test_clients_take_any_success(served):
    far, url, _ = served
    with HttpClient(url) as http:
        assert [client.call("thing", "add") for client in (http, InProcessClient(far))] == ["added", "added"]


def test_the_status_of_a_remote_service_passes_and_its_headers_stay_there(served):
    body = {"service": "far", "model": "thing", "act": "add", "details": {"set": {}, "get": {}}}
    reply = served[2].create_app().test_client().post("/gateway", json=body, headers={"X-Request-Id": "r1"})
    assert (reply.status_code, reply.get_json()) == (201, {"body": "added", "success": True})
    assert {name: value for name, value in reply.headers if name != "Content-Length"} == {
        **FIXED,
        "X-Request-Id": "r1",
    }


def test_exceptions_of_hooks_before_a_remote_service_are_mapped(served):
    with pytest.raises(CallError) as refused:
        InProcessClient(served[2]).call("thing", "add", service="guarded")
    assert (refused.value.status, refused.value.code) == (503, "stock")
