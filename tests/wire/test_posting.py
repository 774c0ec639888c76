"""A hostile remote service behind a whole gateway, over HTTP: what the client of the gateway gets."""

from __future__ import annotations

import json
import multiprocessing
import socket
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import mongomock
import pytest
import urllib3
from werkzeug.middleware.proxy_fix import ProxyFix

from gatewayfw import gateway
from gatewayfw.acts.remote import MAX_HOPS
from gatewayfw.auth import access_rule
from gatewayfw.errors import HttpError
from gatewayfw.web.servers import threaded_server
from gatewayfw.wire.json_text import MAX_VALUES
from gatewayfw.wire.posting import (
    ENVELOPE_BYTES,
    HttpReply,
    NotAGateway,
    Posts,
    ReplyHeaders,
    check_head,
    endpoint,
    envelope_of,
    read_json,
)
from tests.wire.scripts import (
    BAD,
    BODY,
    BROKEN,
    CHUNKED,
    COMPRESSED,
    CONTRADICTION,
    HEAD,
    MEGABYTE,
    MOST,
    NO_ENVELOPE,
    NOT_JSON,
    OK,
    REDIRECT,
    SECRET,
    SLOW,
    answer,
    chunk,
    endless,
    error,
    raw,
    sized,
)


@pytest.fixture
def http():
    with urllib3.PoolManager(retries=False, timeout=30) as pool:
        yield pool


@pytest.fixture
def serve():
    """Serve a gateway in a thread; gives its URL."""
    servers = []

    def serve(gw, app=None):
        server = threaded_server(app or gw.create_app(), "127.0.0.1", 0)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.port}"

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def make(**settings):
    """Return a gateway whose own act is ``user.addUser``."""
    gw = gateway(**{"remote_connect_timeout": 0.5, "remote_timeout": 3.0, "max_reply_bytes": MOST, **settings})
    gw.odm.set_db(mongomock.MongoClient().test)
    any_details = gw.schemas.object_({"set": gw.schemas.any_(), "get": gw.schemas.any_()})
    gw.acts.set_act(schema="user", act_name="addUser", validator=any_details, fn=lambda body: "mine")
    return gw


@pytest.fixture
def ask(serve, http):
    """Ask a gateway for an act of the service ``far``, which is at a URL; gives the whole reply."""

    def ask(url, headers=(), body=BODY, **settings):
        gw = make(**settings)
        gw.acts.set_service("far", url)
        return http.request("POST", f"{serve(gw)}/gateway", json=body, headers=dict(headers))

    return ask


def seen(reply):
    """Status, content type and envelope; nothing of the remote service may be anywhere in the reply."""
    assert SECRET not in f"{reply.reason}{reply.headers}{reply.data!r}"
    return reply.status, reply.headers["Content-Type"], reply.headers["X-Error-Code"], reply.json()


def refusal(message, status=502, code="bad_gateway"):
    return status, "application/json", code, {"body": {"message": message}, "success": False}


def bad(reason):
    return refusal(f"bad reply of service far: {reason}", code="remote_error")


UNREACHABLE = refusal("service far is unreachable", code="remote_error")
TOO_SLOW = refusal("service far took too long", 504, "remote_timeout")


@pytest.mark.parametrize(("script", "reason"), BAD.values(), ids=BAD)
def test_a_bad_answer_is_502(upstream, ask, script, reason):
    assert seen(ask(upstream(script))) == bad(reason)


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN)
def test_an_answer_that_cannot_be_read_is_502(upstream, ask, script):
    assert seen(ask(upstream(script))) == UNREACHABLE


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_an_answer_that_does_not_end_is_504(upstream, ask, script):
    assert seen(ask(upstream(script), remote_timeout=0.3)) == TOO_SLOW


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_the_deadline_of_the_act_holds_too(upstream, ask, script):
    assert seen(ask(upstream(script), remote_timeout=60, deadline=0.3)) == TOO_SLOW


FLOODS = {
    "announced": HEAD + b"Content-Length: 104857600\r\n\r\n",
    "until closed": HEAD + b"\r\n",
    "a chunk": CHUNKED + b"6400000\r\n",
    "a chunk of the size -1": CHUNKED + b"-1\r\n",
    "chunk size": CHUNKED + b"5;",
    "header": HEAD + b"X: ",
    "trailer": CHUNKED + chunk(OK) + b"0\r\nX: ",
}


@pytest.mark.parametrize("start", FLOODS.values(), ids=FLOODS)
def test_memory_is_bounded_while_100_mb_are_sent(upstream, ask, start):
    url = upstream(endless(start, MEGABYTE))
    tracemalloc.start()
    try:
        reply = ask(url, max_reply_bytes=2 * 1024 * 1024)
        peak = tracemalloc.get_traced_memory()[1] / 1024 / 1024
    finally:
        tracemalloc.stop()
    assert reply.status == 502
    assert peak < 24


def test_an_answer_whose_body_has_as_many_bytes_as_a_reply_may_have_passes(upstream, ask):
    data = sized(MOST + ENVELOPE_BYTES)
    reply = ask(upstream(answer(data)))
    assert (reply.status, reply.data) == (200, data)


def test_an_answer_of_too_many_values_is_502_before_it_is_parsed(upstream, ask):
    assert MAX_VALUES == 500_000  # what docs/security.md says
    many = b'{"success":true,"body":[' + b"[]," * (MAX_VALUES // 2) + b"[]]}"
    reply = ask(upstream(answer(many)), max_reply_bytes=10 * 1024 * 1024)
    assert seen(reply) == bad("its answer holds too many values")


def test_commas_in_texts_are_no_values(upstream, ask):
    text = b'"' + b"," * MAX_VALUES + b'\\"[{"'
    reply = ask(upstream(answer(b'{"success":true,"body":' + text + b"}")), max_reply_bytes=10 * 1024 * 1024)
    assert reply.status == 200


def test_an_answer_nested_too_deep_is_502(upstream, ask):
    deep = b'{"success":true,"body":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert seen(ask(upstream(answer(deep)), max_reply_bytes=1024 * 1024)) == bad(NO_ENVELOPE)


def test_nothing_listening_is_502(ask, closed_port):
    assert seen(ask(f"http://127.0.0.1:{closed_port}")) == UNREACHABLE


def no_such_host(host, *args, **kwargs):
    raise socket.gaierror(-2, SECRET)


def bad_label(host, *args, **kwargs):
    raise UnicodeError(SECRET)


def no_address(host, *args, **kwargs):
    return []


@pytest.mark.parametrize("resolved", [no_such_host, bad_label, no_address])
def test_a_name_without_an_address_is_502(ask, monkeypatch, resolved):
    real = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *args, **more: (resolved if "far" in host else real)(host, *args, **more)
    )
    assert seen(ask("http://far.invalid")) == UNREACHABLE


def test_many_addresses_that_do_not_answer_share_one_time_limit(ask, monkeypatch):
    real = socket.getaddrinfo
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]  # fill the queue: who comes now gets no answer
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(address)
        many = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", address)] * 20
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda host, *args, **more: many if "far" in host else real(host, *args, **more)
        )
        begun = time.monotonic()
        reply = ask("http://far.invalid", remote_connect_timeout=0.3)
        took = time.monotonic() - begun
        for client in waiting:
            client.close()
    assert seen(reply) == TOO_SLOW
    assert took < 3  # and not 20 times 0.3 s


# -- what is right passes


def test_an_error_comes_back_with_its_code_and_when_to_come_back(upstream, ask):
    script = answer(b'{"body":{"message":"busy"},"success":false}', 503, Retry_After="7", X_Error_Code="timeout")
    reply = ask(upstream(script))
    assert seen(reply) == refusal("busy", 503, "timeout")
    assert reply.headers["Retry-After"] == "7"


def test_an_error_of_unknown_outcome_does_not_look_like_one_that_wrote_nothing(upstream, ask):
    script = answer(b'{"body":{"message":"x"},"success":false}', 503, X_Error_Code="outcome_unknown")
    reply = ask(upstream(script))
    assert (seen(reply), reply.headers.get("Retry-After")) == (refusal("x", 503, "outcome_unknown"), None)


# -- connections that are kept


@pytest.mark.parametrize("size", [0, 20_000], ids=["small", "large"])
def test_a_second_answer_in_a_connection_is_never_taken_for_the_next(upstream, serve, http, size):
    asked = []

    def script(handler):
        asked.append(handler.client_address[1])
        first = json.dumps({"body": len(asked), "success": True}).encode()
        head = HEAD + b"Content-Length: %d\r\n\r\n"
        poison = head + b'{"success":true,"body":"%s"}'
        forged = SECRET.encode() + b"x" * size
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.wfile.write(head % len(first) + first + poison % (len(forged) + 26, forged))

    gw = make()
    gw.acts.set_service("far", upstream(script))
    url = f"{serve(gw)}/gateway"
    bodies = []
    for _ in range(5):
        bodies.append(http.request("POST", url, json=BODY).json()["body"])
        time.sleep(0.02)
    assert bodies == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_after_any_hostile_answer_the_next_one_is_right(upstream, serve, http):
    scripts = [script for script, _ in BAD.values()] + list(BROKEN.values())
    asked = []

    def script(handler):
        asked.append(1)
        hostile = len(asked) % 2
        (scripts[len(asked) // 2] if hostile else answer())(handler)

    gw = make()
    gw.acts.set_service("far", upstream(script))
    url = f"{serve(gw)}/gateway"
    statuses = [http.request("POST", url, json=BODY).status for _ in range(2 * len(scripts))]
    assert statuses == [502, 200] * len(scripts)


# -- loops


def test_a_gateway_that_names_itself_answers_with_its_own_act(serve, http):
    gw = make()
    url = serve(gw)
    gw.acts.set_service("far", url)
    assert http.request("POST", f"{url}/gateway", json=BODY).json() == {"body": "mine", "success": True}


def test_two_gateways_that_name_each_other_do_not_loop(serve, http):
    one, other = make(), make()
    first, second = serve(one), serve(other)
    one.acts.set_service("far", second)
    other.acts.set_service("far", first)
    assert http.request("POST", f"{first}/gateway", json=BODY).json() == {"body": "mine", "success": True}


def test_a_loop_through_a_service_that_sends_everything_back_ends(upstream, serve, http):
    hops = []

    def back(handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        hops.append(handler.headers["X-Gateway-Hops"])
        headers = {"X-Gateway-Hops": hops[-1]}
        reply = http.request("POST", f"{url}/gateway", json={**body, "service": "far"}, headers=headers)
        handler.headers.replace_header("Content-Length", "0")
        answer(reply.data, reply.status)(handler)

    gw = make()
    url = serve(gw)
    gw.acts.set_service("far", upstream(back))
    reply = http.request("POST", f"{url}/gateway", json=BODY)
    assert (reply.status, reply.json()["body"]) == (502, {"message": "service far was not asked: too many hops"})
    assert hops == [str(number) for number in range(1, MAX_HOPS + 1)]


@pytest.mark.slow
def test_slow_services_do_not_disturb_the_acts_of_the_gateway_itself(upstream, serve, http):
    gw = make(deadline=2.0)
    gw.acts.set_service("far", upstream(SLOW["body byte by byte"]))
    url = f"{serve(gw)}/gateway"
    with ThreadPoolExecutor(9) as clients:
        slow = [clients.submit(http.request, "POST", url, json=BODY) for _ in range(8)]
        mine = clients.submit(http.request, "POST", url, json={**BODY, "service": "main"})
        assert mine.result().json() == {"body": "mine", "success": True}
        assert not any(one.done() for one in slow)
        assert {one.result().status for one in slow} == {504}


# -- what stands in front of a service


@pytest.fixture
def asked():
    """The headers and bodies of the requests that `noting` got."""
    return []


@pytest.fixture
def noting(upstream, asked):
    """The URL of a service that notes what it is asked."""

    def script(handler):
        data = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        asked.append(({name.lower(): value for name, value in handler.headers.items()}, data))
        handler.headers.replace_header("Content-Length", "0")
        answer()(handler)

    return upstream(script)


@pytest.mark.parametrize("fast_lane", [True, False], ids=["lane", "flask"])
def test_a_hook_in_front_of_a_service_lets_pass_and_refuses(noting, asked, fast_lane):
    gw = make()

    @access_rule
    def members_only(body):
        if gw.context_fns.get_context_model().Headers.get("x-member") != body["details"]["set"]["name"]:
            raise HttpError("members only", 403)

    gw.acts.set_service("far", noting, pre_act=[members_only], headers=["x-member"])
    client = gw.create_app(fast_lane=fast_lane).test_client()
    body = {**BODY, "details": {"set": {"name": "Ana"}, "get": {}}}
    replies = [client.post("/gateway", json=body, headers={"X-Member": name}) for name in ("Ana", "Bob")]
    refused = {"body": {"message": "members only"}, "success": False}
    assert [(reply.status_code, reply.json) for reply in replies] == [(200, json.loads(OK)), (403, refused)]
    assert [(headers["x-member"], data) for headers, data in asked] == [("Ana", {**body, "service": "main"})]


def test_an_access_rule_in_front_of_a_service_that_returns_something_refuses(noting, asked):
    gw = make(expose_errors=False)
    gw.acts.set_service("far", noting, pre_act=[access_rule(lambda body: True)])
    reply = gw.create_app().test_client().post("/gateway", json=BODY)
    assert reply.status_code == 500
    assert reply.json["body"] == {"message": "internal error"}
    assert asked == []


def test_a_hook_changes_the_headers_that_are_passed_on(noting, asked):
    gw = make()

    def as_this_service():
        gw.context_fns.add_header_to_context({"token": "of this service", "X-Tenant": "7", "X-Other": "8"})

    gw.acts.set_service("far", noting, pre_act=[as_this_service], headers=["X-Tenant"])
    headers = {"token": "of the caller", "Accept-Language": "fa", "Cookie": "a=1"}
    reply = gw.create_app().test_client().post("/gateway", json=BODY, headers=headers)
    named = [asked[0][0].get(name) for name in ("token", "x-tenant", "x-other", "accept-language", "cookie")]
    assert (reply.status_code, named) == (200, ["of this service", "7", None, None, None])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 429, 500, 503])
def test_errors_of_a_gateway_come_back_as_they_are(upstream, ask, status):
    reply = ask(upstream(error(status, message="its own words")))
    assert (reply.status, reply.json()) == (status, {"body": {"message": "its own words"}, "success": False})


def test_a_limit_of_the_remote_service_counts_each_client_by_itself(serve):
    far, near = make(), make()
    far.acts.act("user", "login", limit="1/hour")(lambda body: "in")
    app = far.create_app()
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1)
    near.acts.set_service("far", serve(far, app))
    client = near.create_app().test_client()
    body = {**BODY, "act": "login", "details": {"set": {}, "get": {}}}

    def login(address, claimed):
        sent = {"environ_base": {"REMOTE_ADDR": address}, "headers": {"X-Forwarded-For": claimed}}
        return client.post("/gateway", json=body, **sent).status_code

    calls = [("192.0.2.1", "1.1.1.1"), ("192.0.2.1", "2.2.2.2"), ("192.0.2.2", "1.1.1.1")]
    assert [login(*call) for call in calls] == [200, 429, 200]
    far.acts.limits.close()


# -- one post, and what is read of its reply


def test_a_post_has_these_headers_in_a_connection_that_is_kept_until_it_is_closed(upstream):
    asked, ports = [], []

    def script(handler):
        ports.append(handler.client_address[1])
        data = handler.rfile.read(int(handler.headers["Content-Length"]))
        asked.append((handler.path, {name.lower(): value for name, value in handler.headers.items()}, data))
        handler.headers.replace_header("Content-Length", "0")
        answer(status=201, X_Error_Code="none")(handler)

    url = f"{upstream(script)}/v1/gateway"
    posts = Posts(url, max_bytes=len(OK), connections=1)
    replies = [posts.post(b"[]", {"X-More": "a"}, connect=5, total=5) for _ in range(2)]
    posts.close()
    replies.append(posts.post(b"[]", {"X-More": "a", "Accept": "b"}, connect=5, total=5))
    posts.close()
    posts.close()  # what is closed stays so
    headers = {
        "host": url.split("/")[2],
        "accept-encoding": "identity",
        "content-length": "2",
        "content-type": "application/json",
        "accept": "application/json",
        "user-agent": "gatewayfw",
        "x-more": "a",
    }
    assert asked == [("/v1/gateway", each, b"[]") for each in (headers, headers, {**headers, "accept": "b"})]
    assert [(reply.status, reply.data, reply.pick_headers()) for reply in replies] == [
        (201, OK, {"X-Error-Code": "none"})
    ] * 3
    assert ports[0] == ports[1]
    assert ports[1] != ports[2]


def test_a_forked_process_opens_its_own_connection(upstream):
    ports = []

    def script(handler):
        ports.append(handler.client_address[1])
        answer()(handler)

    posts = Posts(f"{upstream(script)}/gateway", max_bytes=1000, connections=1)

    def post():
        posts.post(b"{}", {}, connect=5, total=5)

    post()
    child = multiprocessing.get_context("fork").Process(target=post)
    child.start()
    child.join(10)
    post()
    posts.close()
    first, of_child, last = ports
    assert child.exitcode == 0
    assert first == last
    assert first != of_child


def test_no_more_connections_are_kept_than_said(upstream):
    barrier, ports = threading.Barrier(2), []

    def script(handler):
        ports.append(handler.client_address[1])
        barrier.wait(60)
        answer()(handler)

    posts = Posts(upstream(script), max_bytes=1000, connections=1)

    def post(_):
        posts.post(b"{}", {}, connect=5, total=5)

    for _ in range(2):
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(post, range(2)))
    posts.close()
    assert len(set(ports)) == 3


def test_connections_end_with_what_keeps_them(upstream):
    ended = threading.Event()

    def script(handler):
        answer()(handler)
        handler.finish = ended.set

    Posts(upstream(script), max_bytes=1000, connections=1).post(b"{}", {}, connect=5, total=5)
    assert ended.wait(60)


PATHS = {
    "dots": ("/a/../b", "/a/../b"),
    "none": ("", ""),
    "odd": ('/"[{%20', "/%22%5B%7B%20"),
    "marks": ("/;=$!~", "/;=$!~"),
}


@pytest.mark.parametrize(("path", "expected"), PATHS.values(), ids=PATHS)
def test_the_path_is_sent_as_it_is_but_for_what_a_path_cannot_hold(upstream, path, expected):
    asked = []

    def script(handler):
        asked.append(handler.path)
        answer()(handler)

    posts = Posts(endpoint(upstream(script) + path), max_bytes=1000, connections=1)
    posts.post(b"{}", {}, connect=5, total=5)
    posts.close()
    assert asked == [f"{expected}/gateway"]


LONG = b'{"success":true,"body":"' + b"x" * 1_200_000 + b'"}'
WHOLE = {
    "length": (OK, answer(OK), len(OK)),
    "chunks": (OK, raw(CHUNKED, chunk(OK), b"0\r\n\r\n"), len(OK)),
    "long": (LONG, answer(LONG), len(LONG)),
    "large head": (OK, answer(OK, X_A="x" * 10_000), len(OK)),
}


@pytest.mark.parametrize(("data", "script", "most"), WHOLE.values(), ids=WHOLE)
def test_a_reply_is_read_to_the_last_byte_that_it_may_have(upstream, data, script, most):
    posts = Posts(upstream(script), max_bytes=most, connections=1)
    reply = posts.post(b"{}", {}, connect=5, total=5)
    posts.close()
    assert reply.data == data


def test_a_chunk_that_http_client_refuses_is_none_of_a_gateway(upstream, monkeypatch):
    def read(response, most):
        raise ValueError("read length must be non-negative or -1")  # as of a size below zero, in some versions

    monkeypatch.setattr("http.client.HTTPResponse.read1", read)
    with pytest.raises(NotAGateway, match="^its answer cannot be read$"):
        Posts(upstream(answer()), max_bytes=1000, connections=1).post(b"{}", {}, connect=5, total=5)


def test_headers_of_a_reply_have_names_in_any_case_and_one_value():
    headers = ReplyHeaders([("X-A", "1"), ("Via", ""), ("x-a", "2"), ("VIA", "b")])
    assert headers["x-A"] == "1, 2"
    assert "X-a" in headers
    assert headers.get("Y", "none") == "none"
    assert dict(headers) == {"x-a": "1, 2", "VIA": ", b"}


JSON = {"Content-Type": "application/json"}
HEADS = {
    "200": (200, JSON, None),
    "299": (299, JSON, None),
    "300": (300, JSON, REDIRECT),
    "199": (199, JSON, REDIRECT),
    "399": (399, JSON, REDIRECT),
    "400": (400, JSON, None),
    "599": (599, JSON, None),
    "600": (600, JSON, REDIRECT),
    "with a charset": (200, {"Content-Type": "Application/JSON ; a=b; c=d"}, None),
    "text": (200, {"Content-Type": "text/plain; application/json"}, NOT_JSON),
    "no type": (200, {}, NOT_JSON),
    "not compressed": (200, {**JSON, "Content-Encoding": "Identity"}, None),
    "compressed": (200, {**JSON, "Content-Encoding": "gzip"}, COMPRESSED),
}


@pytest.mark.parametrize(("status", "headers", "reason"), HEADS.values(), ids=HEADS)
def test_status_and_headers_tell_whether_it_is_a_gateway(status, headers, reason):
    reply = HttpReply(status, headers, b"")
    if reason is None:
        check_head(reply)
        return
    with pytest.raises(NotAGateway) as raised:
        check_head(reply)
    assert (str(raised.value), raised.value.reply) == (reason, reply)


ENVELOPES = {
    "done": (299, b'{"body":1,"success":true}', None),
    "failed": (400, b'{"body":{"message":"x"},"success":false}', None),
    "no object": (200, b"[]", NO_ENVELOPE),
    "another key": (200, b'{"body":1,"success":true,"x":1}', NO_ENVELOPE),
    "no body": (200, b'{"success":true}', NO_ENVELOPE),
    "success that is none": (200, b'{"body":{"message":"x"},"success":0}', NO_ENVELOPE),
    "failed with a text": (400, b'{"body":"message","success":false}', NO_ENVELOPE),
    "failed with a message that is none": (400, b'{"body":{"message":1},"success":false}', NO_ENVELOPE),
    "done with the status of an error": (400, b'{"body":1,"success":true}', CONTRADICTION),
    "failed with the status of success": (299, b'{"body":{"message":"x"},"success":false}', CONTRADICTION),
}


@pytest.mark.parametrize(("status", "data", "reason"), ENVELOPES.values(), ids=ENVELOPES)
def test_an_envelope_is_strict_and_agrees_with_the_status(status, data, reason):
    reply = HttpReply(status, JSON, data)
    if reason is None:
        assert envelope_of(reply) == json.loads(data)
        return
    with pytest.raises(NotAGateway) as raised:
        envelope_of(reply)
    assert (str(raised.value), raised.value.reply) == (reason, reply)


def test_json_with_too_many_values_is_not_read():
    reply = HttpReply(200, JSON, b"[" * (MAX_VALUES + 1))
    with pytest.raises(NotAGateway, match="^its answer holds too many values$") as raised:
        read_json(reply)
    assert raised.value.reply is reply
    assert (read_json(HttpReply(200, JSON, b"[1]")), read_json(HttpReply(200, JSON, b"[NaN]"))) == ([1], None)


TOLD = {
    "all": ({"X-Error-Code": "aZ09_.-", "Retry-After": "123456", "Idempotent-Replay": "1", "X-Other": "1"}, 3),
    "longest": ({"X-Error-Code": "x" * 64}, 1),
    "too long": ({"X-Error-Code": "x" * 65, "Retry-After": "1234567", "Idempotent-Replay": "11"}, 0),
    "empty": ({"X-Error-Code": "", "Retry-After": "", "Idempotent-Replay": ""}, 0),
    "odd": ({"X-Error-Code": "a b", "Retry-After": "-1", "Idempotent-Replay": "0"}, 0),
}


@pytest.mark.parametrize(("headers", "valid"), TOLD.values(), ids=TOLD)
def test_headers_that_are_told_on_have_valid_values(headers, valid):
    assert HttpReply(200, headers, b"").pick_headers() == dict(list(headers.items())[:valid])


def test_an_envelope_has_24_bytes_beside_its_body():
    assert ENVELOPE_BYTES == 24
