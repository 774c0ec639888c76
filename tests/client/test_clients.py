"""Both clients against a gateway: one served over HTTP by threads, one in process."""

from __future__ import annotations

import inspect
import pickle
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import mongomock
import pytest
from bson import ObjectId

from gatewayfw import HttpError, gateway
from gatewayfw.acts.headers import set_field
from gatewayfw.client import MAX_BYTES, CallError, HttpClient, InProcessClient
from gatewayfw.client.clients import Http
from gatewayfw.client.replies import BadReply, NoReply
from gatewayfw.errors import DefinitionError, RateLimited
from gatewayfw.schemas import any_, object_, optional, string
from gatewayfw.token_carriers import header
from gatewayfw.web.servers import threaded_server
from gatewayfw.wire.posting import ENVELOPE_BYTES

TOKEN = "a-token-nobody-may-see"


@pytest.fixture
def gw():
    """A gateway whose acts tell what they got, or refuse."""
    gw = gateway(max_batch=4)
    gw.odm.set_db(mongomock.MongoClient().test)

    def refuse(body):
        raise HttpError("not today", 409, code="closed")

    def refuse_for_now(body):
        raise RateLimited(6.5)

    def told(body):
        headers = gw.context_fns.get_context_model().Headers
        return {**body["details"], "token": headers.get("token"), "language": headers.get("accept-language")}

    free = object_({"set": any_(), "get": any_()})
    for name, fn in {"tell": told, "refuse": refuse, "refuseForNow": refuse_for_now}.items():
        gw.acts.set_act(schema="user", act_name=name, validator=free, fn=fn)
    gw.acts.act("user", "strict", set={"name": string()})(told)
    near = {"user": {"tell": {"validator": free, "fn": lambda body: "near"}}}
    gw.acts.set_service("near", near)
    return gw


@pytest.fixture
def served(gw):
    """The URL under which threads serve the gateway."""
    server = threaded_server(gw.create_app(url_prefix="/api"), "127.0.0.1", 0)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.port}/api"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["http", "in process"])
def make(request, gw):
    """A function that makes a client."""
    if request.param == "in process":
        yield lambda **options: InProcessClient(gw, **options)
        return
    url, made = request.getfixturevalue("served"), []

    def make(**options):
        made.append(HttpClient(url, **options))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(make):
    return make()


def refused(call, *args, **kwargs):
    """Class and attributes of the error that a call ends with; the id of the request only as whether there is one."""
    with pytest.raises(CallError) as found:
        call(*args, **kwargs)
    error = found.value
    assert str(error) == error.message
    return type(error), {**vars(error), "request_id": error.request_id is not None}


def refusal(message, status, code, **more):
    told = {"errors": {}, "details": {}, "request_id": True, "retry_after": None, **more}
    return CallError, {"message": message, "status": status, "code": code, **told}


def test_a_call_gives_the_body(client):
    told = {"set": {"name": "آنا", "tags": [1, None]}, "get": {"_id": 0}, "token": None, "language": None}
    assert client.call("user", "tell", set=told["set"], get=told["get"]) == told


def test_left_out_set_and_get_are_empty(client):
    assert client.call("user", "tell") == {"set": {}, "get": {}, "token": None, "language": None}


def test_another_service(client):
    assert client.call("user", "tell", service="near") == "near"


def test_token_and_headers_are_sent(make):
    told = make(token=TOKEN, headers={"Accept-Language": "fr"}).call("user", "tell")
    assert (told["token"], told["language"]) == (TOKEN, "fr")


def test_headers_of_one_call_are_sent_besides_those_of_the_client_or_in_their_place(make):
    client = make(token=TOKEN, headers={"Accept-Language": "fr", "X-A": "1"})
    near = {"model": "user", "act": "tell"}
    options = {"headers": {"accept-language": "de", "X-B": "2"}}
    told = [
        client.call("user", "tell", **options),
        client.send("user", "tell", **options).body,
        *client.batch([near], **options),
        client.call("user", "tell"),
    ]
    assert [(one["token"], one["language"]) for one in told] == [*[(TOKEN, "de")] * 3, (TOKEN, "fr")]


def test_pages_are_asked_for_with_the_headers_that_are_given(make, gw):
    languages = []

    @gw.acts.act("user", "list", set={"after": optional(string())})
    def list_users(body):
        languages.append(gw.context_fns.get_context_model().Headers["accept-language"])
        return {"rows": [], "next": None if body["details"]["set"] else "2"}

    assert len(list(make().pages("user", "list", headers={"Accept-Language": "de"}))) == 2
    assert languages == ["de", "de"]


@pytest.mark.parametrize("call", ["call", "send", "batch", "pages"])
def test_headers_of_one_call_are_checked_as_those_of_the_client_are(client, call):
    given = ([],) if call == "batch" else ("user", "tell")
    with pytest.raises(DefinitionError, match="^headers: Idempotency-Key is the client's own$"):
        list(getattr(client, call)(*given, headers={"Idempotency-Key": "k"}))


def test_another_token_leaves_the_client_as_it_is(make):
    client = make(token="one", headers={"Accept-Language": "fr"})
    others = [client.with_token("two"), client.with_token(None), client]
    told = [other.call("user", "tell") for other in others]
    assert [(one["token"], one["language"]) for one in told] == [("two", "fr"), (None, "fr"), ("one", "fr")]


def test_a_batch_gives_a_body_or_an_error_for_each_request(make):
    requests = [
        {"model": "user", "act": "tell", "set": {"a": 1}},
        {"model": "user", "act": "refuseForNow"},
        {"model": "user", "act": "tell", "service": "near", "get": {"_id": 1}},
    ]
    told, error, near = make(token=TOKEN).batch(iter(requests))
    assert (told, near) == ({"set": {"a": 1}, "get": {}, "token": TOKEN, "language": None}, "near")
    assert error.status == 429
    assert error.code == "rate_limited"
    assert error.retry_after == 7
    assert error.request_id.endswith(".1")


def test_an_atomic_batch_does_nothing_if_an_act_fails(client):
    errors = client.batch([{"model": "user", "act": "tell"}, {"model": "user", "act": "refuse"}], atomic=True)
    assert [(error.status, error.code) for error in errors] == [(409, "not_done"), (409, "closed")]


def test_a_batch_that_the_gateway_refuses_is_an_error(client):
    found = refused(client.batch, [{"model": "user", "act": "tell"}] * 5)
    assert found == refusal("batch: at most 4 requests", 400, "bad_request")


@pytest.mark.parametrize("request_", [{"model": "user"}, {"model": "user", "act": "tell", "sets": {}}])
def test_a_request_of_a_batch_has_the_arguments_of_a_call(client, request_):
    with pytest.raises(TypeError):
        client.batch([request_])


REFUSALS = {
    "by the act": ("refuse", refusal("not today", 409, "closed")),
    "for now": (
        "refuseForNow",
        refusal("too many requests, try again later", 429, "rate_limited", retry_after=7),
    ),
    "unknown act": ("nope", refusal("act not found: user.nope", 404, "not_found")),
    "by validation": (
        "strict",
        refusal(
            "validation error: set.name: Missing data for required field.",
            400,
            "validation_error",
            errors={"set.name": ["Missing data for required field."]},
            details={"set.name": [{"code": "required"}]},
        ),
    ),
}


@pytest.mark.parametrize(("act", "expected"), REFUSALS.values(), ids=REFUSALS)
def test_what_the_gateway_refuses_is_raised(client, act, expected):
    assert refused(client.call, "user", act) == expected


@pytest.mark.parametrize(
    ("value", "error"),
    [(ObjectId(), TypeError), (float("nan"), ValueError), ("\ud800", ValueError)],
    ids=["an id", "nan", "a lone surrogate"],
)
def test_what_is_not_json_is_not_sent(client, value, error):
    with pytest.raises(error):
        client.call("user", "tell", set={"value": value})
    assert client.call("user", "tell", set={"value": 1})["set"] == {"value": 1}


def test_threads_share_a_client(client):
    def told(number):
        one = client.with_token(f"t{number}").call("user", "tell", set={"number": number})
        return one["token"], one["set"]["number"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(told, range(80))) == [(f"t{number}", number) for number in range(80)]


def test_the_token_is_neither_shown_nor_logged(make, caplog):
    caplog.set_level("DEBUG")
    client = make(token=TOKEN)
    with pytest.raises(CallError) as error:
        client.call("user", "refuse")
    assert TOKEN not in f"{client!r}{error.value!r}{vars(error.value)}{caplog.text}"


def test_an_error_can_be_pickled():
    error = CallError("no", 409, "closed", errors={"a": ["b"]}, request_id="x", retry_after=3)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is CallError
    assert vars(again) == vars(error)
    assert str(again) == "no"


WRONG = {
    "token over two lines": ({"token": f"{TOKEN}\r\nX: y"}, "token: it cannot stand in a header"),
    "empty token": ({"token": ""}, "token: it cannot stand in a header"),
    "token beyond latin-1": ({"token": "آ"}, "token: it cannot stand in a header"),
    "header name": ({"headers": {"a b": "x"}}, "headers: a name is not one of HTTP"),
    "header value": ({"headers": {"X-A": f"{TOKEN}\n"}}, "headers: the value of X-A cannot stand in a header"),
    "header value no text": ({"headers": {"X-A": 1}}, "headers: the value of X-A cannot stand in a header"),
    "header twice": ({"headers": {"X-A": "1", "x-a": "2"}}, "headers: x-a is given twice"),
    "token as a header": ({"headers": {"Token": "x"}}, "headers: Token is the client's own"),
}


@pytest.mark.parametrize(("options", "message"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_sent_along_is_refused(make, options, message):
    with pytest.raises(DefinitionError) as found:
        make(**options)
    assert str(found.value) == message


OWN = (
    *("accept", "accept-encoding", "content-encoding", "content-length", "content-type", "connection", "expect"),
    *("host", "te", "trailer", "transfer-encoding", "upgrade", "idempotency-key", "x-gateway", "x-gateway-detail"),
)


@pytest.mark.parametrize("name", OWN)
def test_a_header_of_its_own_is_refused(name):
    with pytest.raises(DefinitionError, match=f"^headers: {name.title()} is the client's own$"):
        HttpClient("http://a", headers={name.title(): "1"})


def defaults(call):
    """The default of each argument that has one."""
    found = inspect.signature(call).parameters.values()
    return {one.name: one.default for one in found if one.default is not one.empty}


def test_what_is_left_out_has_a_default():
    act, both = {"service": "main", "set": None, "get": None, "headers": None}, {"token": None, "headers": None}
    assert MAX_BYTES == 16 * 1024 * 1024 + ENVELOPE_BYTES
    assert [defaults(call) for call in (HttpClient, InProcessClient)] == [
        {**both, "timeout": 10.0, "token_from": header("token"), "connections": 8, "max_bytes": MAX_BYTES},
        {**both, "token_from": header("token"), "path": None},
    ]
    assert [defaults(getattr(HttpClient, name)) for name in ("call", "send", "pages", "batch")] == [
        *(
            {**act, "retries": 0, "key": None},
            {**act, "retries": 0, "key": None},
            act,
            {"atomic": False, "headers": None},
        ),
    ]


@pytest.mark.parametrize("token_from", [None, "token", set_field("token")])
def test_where_the_token_is_must_be_a_place_of_a_request(token_from):
    with pytest.raises(DefinitionError) as found:
        HttpClient("http://a", token_from=token_from)
    assert str(found.value) == "token_from: expected header(...), bearer() or cookie(...)"


def test_another_token_is_checked_too(client):
    with pytest.raises(DefinitionError, match="token: it cannot stand in a header"):
        client.with_token("a\nb")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "ftp://a"}, "the URL must start with http:// or https://"),
        ({"url": f"http://me:{TOKEN}@a"}, "the URL must not hold credentials"),
        ({"timeout": 0}, "timeout: expected seconds above 0"),
        ({"timeout": float("inf")}, "timeout: expected seconds above 0"),
        ({"timeout": True}, "timeout: expected seconds above 0"),
        ({"connections": 0}, "connections: expected a positive integer"),
        ({"connections": True}, "connections: expected a positive integer"),
        ({"max_bytes": 1.5}, "max_bytes: expected a positive integer"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value).replace(TOKEN, "..."),
)
def test_options_that_do_not_fit_are_refused(options, message):
    HttpClient("http://a", timeout=0.1, connections=1, max_bytes=1)  # the least
    with pytest.raises(DefinitionError) as found:
        HttpClient(**{"url": "http://a", **options})
    assert str(found.value) == message


# -- over HTTP


def test_a_client_can_be_used_again_after_it_was_closed(served):
    with HttpClient(f"{served}/gateway/") as client:
        assert client.call("user", "tell", service="near") == "near"
    assert client.call("user", "tell", service="near") == "near"
    client.close()
    assert repr(client) == f"HttpClient('{served}/gateway')"


@pytest.fixture
def http():
    """A function that makes the transport to a URL."""
    made = []

    def make(url, *, timeout=5.0, most=1_000):
        made.append(Http(url, timeout, 1, most))
        return made[-1]

    yield make
    for transport in made:
        transport.close()


def send(status, body):
    def script(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return script


def test_a_reply_comes_back_as_it_was_sent(http, upstream):
    reply = http(upstream(send(400, b'{"a": 1}'))).ask(b"{}", {})
    assert reply.status == 400
    assert reply.data == b'{"a": 1}'
    assert reply.headers["Content-Type"] == "application/json"


def failure(transport, error=NoReply):
    with pytest.raises(error) as caught:
        transport.ask(b"{}", {})
    return caught.value.code, caught.value.message


def test_where_nobody_listens_the_gateway_is_unreachable(http, closed_port):
    assert failure(http(f"http://127.0.0.1:{closed_port}")) == ("unreachable", "the gateway is unreachable")


def test_a_connection_that_breaks_gives_no_reply(http, upstream):
    broken = http(upstream(lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)))
    assert failure(broken) == ("no_reply", "the connection broke before the reply was complete")


def test_a_reply_that_is_too_large_is_bad(http, upstream):
    code, _ = failure(http(upstream(send(200, b" " * 2_000)), most=100), BadReply)
    assert code == "bad_reply"


def test_each_post_has_the_whole_time(monkeypatch):
    told = []
    monkeypatch.setattr(Http, "post", lambda self, *given, **bounds: told.append((given, bounds)) or "reply")
    assert Http("http://h/gateway", 3.0, 5, 100).ask(b"{}", {"a": "b"}) == "reply"
    assert told == [((b"{}", {"a": "b"}), {"connect": 3.0, "total": 3.0})]
