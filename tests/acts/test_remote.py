"""Remote services: what is sent, what comes back, and every bad answer, on real sockets."""

from __future__ import annotations

import json
import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from gatewayfw.acts.headers import Headers, set_field
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import WrittenReply, error_headers
from gatewayfw.errors import BadRequest, DefinitionError, RemoteError, RemoteTimeout
from gatewayfw.settings import Settings
from gatewayfw.token_carriers import bearer, cookie, header
from gatewayfw.wire.json_text import encode
from gatewayfw.wire.posting import ENVELOPE_BYTES, HttpReply
from tests.wire.noting import noting
from tests.wire.scripts import BAD, BODY, BROKEN, MOST, NO_ENVELOPE, OK, SLOW, answer, raw

SETTINGS = Settings(remote_connect_timeout=0.5, remote_timeout=3.0, max_reply_bytes=MOST)


@pytest.fixture
def ask(upstream):
    """Post BODY to a scripted upstream and return the reply."""

    def ask(script, headers=(), seconds=3.0, body=BODY, **more):
        service = RemoteService(upstream(script), name="far", settings=SETTINGS)
        return service.call(body, Headers(headers), seconds=seconds, **more)

    return ask


URLS = {
    "host": ("http://h", "http://h/gateway"),
    "slash": ("http://h/", "http://h/gateway"),
    "prefix": ("https://h:8443/api", "https://h:8443/api/gateway"),
    "prefix with slash": ("http://h/api/", "http://h/api/gateway"),
    "given": ("http://h/gateway", "http://h/gateway"),
    "given with slash": ("http://h/api/gateway/", "http://h/api/gateway"),
    "another word": ("http://h/mygateway", "http://h/mygateway/gateway"),
    "address": ("http://[::1]:80", "http://[::1]:80/gateway"),
    "upper case": ("HTTP://h", "http://h/gateway"),
}


@pytest.mark.parametrize(("given", "url"), URLS.values(), ids=URLS)
def test_gateway_is_appended_unless_the_path_ends_in_it(given, url):
    service = RemoteService(given)
    assert (service.given, service.url) == (given, url)


def test_hooks_are_kept_as_given_and_made_callable_with_the_body():
    seen = []

    def with_body(body):
        seen.append(body)

    def without():
        seen.append(None)

    service = RemoteService("http://there/", name="there", pre_act=[with_body, without])
    for hook in service.act_hooks:
        hook({"act": "get"})
    assert service.name == "there"
    assert service.given == "http://there/"
    assert service.pre_act == (with_body, without)
    assert seen == [{"act": "get"}, None]


def test_a_hook_that_is_none_is_refused_with_the_name_of_the_service():
    with pytest.raises(DefinitionError) as caught:
        RemoteService("http://there/", name="there", pre_act=[5])
    assert caught.value.message == "service there: pre_act[0] must be a function"


BAD_URLS = {
    "empty": ("", "must be printable ASCII without spaces or backslashes"),
    "no scheme": ("h/gateway", "must start with http:// or https://"),
    "another scheme": ("file:///etc/passwd", "must start with http:// or https://"),
    "no host": ("http:///gateway", "must name a host"),
    "port only": ("http://:80", "must name a host"),
    "port zero": ("http://h:0", "must name a host"),
    "port too high": ("http://h:70000", "has a bad host or port"),
    "port no number": ("http://h:x", "has a bad host or port"),
    "bad address": ("http://[::1", "has a bad host or port"),
    "user": ("http://me@h", "must not hold credentials"),
    "password": ("http://me:secret@h", "must not hold credentials"),
    "empty credentials": ("http://@h", "must not hold credentials"),
    "query": ("http://h?a=1", "must not have a query or fragment"),
    "empty query": ("http://h/?", "must not have a query or fragment"),
    "fragment": ("http://h#a", "must not have a query or fragment"),
    "space": ("http://h /", "must be printable ASCII without spaces or backslashes"),
    "line feed": ("http://h\n", "must be printable ASCII without spaces or backslashes"),
    "backslash": ("http://h\\x", "must be printable ASCII without spaces or backslashes"),
    "not ASCII": ("http://hé", "must be printable ASCII without spaces or backslashes"),
}


@pytest.mark.parametrize(("given", "problem"), BAD_URLS.values(), ids=BAD_URLS)
def test_a_bad_url_is_refused_without_showing_it(given, problem):
    with pytest.raises(DefinitionError) as raised:
        RemoteService(given, name="far")
    assert raised.value.message == f"service far: the URL {problem}"


REPLIES = {
    "success": (200, OK),
    "created": (201, b'{"success":true,"body":null}'),
    "failure": (404, b'{"body":{"message":"user not found"},"success":false}'),
    "failure with detail": (400, b'{"body":{"message":"x","code":"c","errors":{}},"success":false}\n'),
    "server failure": (503, b'{"body":{"message":"later"},"success":false}'),
    "at the limit": (200, b'{"success":true,"body":"' + b"x" * 974 + b'"}'),
}


@pytest.mark.parametrize(("status", "envelope"), REPLIES.values(), ids=REPLIES)
def test_status_and_envelope_come_back_unchanged(ask, status, envelope):
    assert ask(answer(envelope, status)) == WrittenReply(status, tuple(error_headers(status).items()), envelope)


ANSWERED = {
    "code": ({"X_Error_Code": "outcome_unknown"}, {"X-Error-Code": "outcome_unknown"}),
    "when to come back": (
        {"X_Error_Code": "timeout", "Retry_After": "7"},
        {"X-Error-Code": "timeout", "Retry-After": "7"},
    ),
    "nothing else": ({"Set_Cookie": "a=1", "Location": "/", "WWW_Authenticate": "Basic", "Server": "x"}, {}),
    "bad code": ({"X_Error_Code": "a b"}, {}),
    "long code": ({"X_Error_Code": "x" * 65}, {}),
    "date": ({"Retry_After": "Wed, 21 Oct 2026 07:28:00 GMT"}, {}),
    "for ever": ({"Retry_After": "9" * 7}, {}),
}


@pytest.mark.parametrize(("sent", "passed"), ANSWERED.values(), ids=ANSWERED)
def test_only_code_and_retry_after_of_an_error_are_passed_back(ask, sent, passed):
    envelope = b'{"body":{"message":"later"},"success":false}'
    assert ask(answer(envelope, 503, **sent)) == WrittenReply(
        503, tuple({"X-Error-Code": "unavailable", **passed}.items()), envelope
    )


def test_of_a_success_only_whether_it_is_repeated_is_passed_back(ask):
    assert ask(answer(X_Error_Code="timeout", Retry_After="7")) == WrittenReply(200, (), OK)
    assert ask(answer(Retry_After="7", Idempotent_Replay="1")) == WrittenReply(200, (("Idempotent-Replay", "1"),), OK)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_may_be_written_with_parameters(ask, content_type):
    assert ask(answer(content_type=content_type)) == WrittenReply(200, (), OK)


def test_a_chunked_envelope_is_read(ask):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = [b"%x\r\n%s\r\n" % (len(part), part) for part in (OK[:7], OK[7:])]
    assert ask(raw(head, *chunks, b"0\r\n\r\n")) == WrittenReply(200, (), OK)


PASSED = {
    "token": "t",
    "authorization": "Bearer b",
    "accept-language": "fa",
    "x-request-id": "r1",
    "traceparent": "00-a-b-01",
    "tracestate": "a=1",
    "x-gateway-detail": "1",
    "idempotency-key": "k-1",
}


def seen_by(ask, headers=(), body=BODY, **more):
    """Return path, headers (lower case) and body of the request that reaches the upstream."""
    seen = {}

    def script(handler):
        data = handler.rfile.read(int(handler.headers["Content-Length"]))
        seen.update(path=handler.path, headers={k.lower(): v for k, v in handler.headers.items()}, data=data)
        handler.headers.replace_header("Content-Length", "0")
        answer()(handler)

    ask(script, headers, body=body, **more)
    return seen


def test_only_the_listed_headers_are_passed_on(ask):
    more = {"Cookie": "c", "X-Forwarded-For": "1", "Host": "evil", "Origin": "o", "baggage": "b", "Content-Length": "9"}
    sent = seen_by(ask, {**{name.title(): value for name, value in PASSED.items()}, **more})["headers"]
    length = sent.pop("content-length")
    host = sent.pop("host")
    assert sent == {
        **PASSED,
        "content-type": "application/json",
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": "gatewayfw",
        "x-gateway-hops": "1",
    }
    assert int(length) > 0
    assert host.startswith("127.0.0.1:")


@pytest.fixture
def posted(monkeypatch):
    """What the connections of a service are made with, and what is posted over them."""
    told = []
    reply = HttpReply(200, {"Content-Type": "application/json"}, OK)
    monkeypatch.setattr("gatewayfw.acts.remote.Posts", noting(told, reply))
    return told


@pytest.mark.parametrize(
    ("settings", "seconds", "times"),
    [
        (None, 60, {"connect": 2.0, "total": 4.0}),
        (Settings(max_reply_bytes=5, remote_connect_timeout=7, remote_timeout=8), 3, {"connect": 7, "total": 3}),
    ],
    ids=["default", "own"],
)
def test_connections_have_the_bounds_of_the_settings(posted, settings, seconds, times):
    most = (settings or Settings()).max_reply_bytes + ENVELOPE_BYTES
    RemoteService("http://h", settings=settings).call(BODY, {}, seconds=seconds)
    data = encode({**BODY, "service": "main"})
    assert posted == [
        (("http://h/gateway",), {"max_bytes": most, "connections": 32}),
        ((data, {"X-Gateway-Hops": "1"}), times),
    ]


def test_token_and_role_go_along_where_hooks_look_for_them(posted):
    carriers = (header("X-Token"), bearer(), *map(cookie, ("s", "t", "none")), set_field("role"), header("x-no"))
    sent = {"x-token": "t", "authorization": "Bearer b", "cookie": "s=1; t=2; u=3; t=4", "x-other": "o"}
    RemoteService("http://h").call(BODY, Headers(sent), seconds=3, carriers=carriers)
    assert posted[-1][0][1] == {
        **{"x-token": "t", "authorization": "Bearer b", "cookie": "s=1; t=2; t=4"},
        "X-Gateway-Hops": "1",
    }


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ([("x-tenant", "a"), ("x-tenant", "b")], "x-tenant"),
        ([("x-token", "\x00")], "x-token"),
        ([("cookie", "s=\x01")], "cookie"),
    ],
)
def test_a_header_that_is_not_one_text_is_refused(posted, sent, name):
    service = RemoteService("http://h", headers=["X-Tenant"])
    with pytest.raises(BadRequest) as raised:
        service.call(BODY, Headers(sent), seconds=3, carriers=(header("x-token"), cookie("s")))
    assert raised.value.message == f"the header {name} cannot be passed on"


NEVER = (
    *("accept", "accept-encoding", "content-encoding", "content-length", "content-type", "user-agent", "connection"),
    *("expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "x-forwarded-for"),
    "x-gateway-hops",
)


@pytest.mark.parametrize("name", NEVER)
def test_a_header_that_is_made_here_cannot_be_named(name):
    with pytest.raises(DefinitionError) as raised:
        RemoteService("http://h", name="far", headers=["x-tenant", name.title()])
    assert raised.value.message == f"service far: headers: {name.title()} is made here and never passed on"


def test_named_headers_are_passed_on_besides_those_of_all_services():
    service = RemoteService("http://h", headers=["X-Tenant", "Token", "x-tenant"])
    assert (service.forwarded, service.name) == ((*PASSED, "x-tenant"), "remote")


@pytest.mark.parametrize("headers", ["x-tenant", 5, [5], ["a b"], ["x-a", ""]])
def test_headers_are_a_list_of_names(headers):
    with pytest.raises(DefinitionError) as raised:
        RemoteService("http://h", name="far", headers=headers)
    assert raised.value.message == "service far: headers must be a list of names such as 'x-tenant'"


@pytest.mark.parametrize("address", ["192.0.2.7", "2001:db8::1", "2001:DB8::1", "::ffff:192.0.2.7"])
def test_the_callers_address_goes_along_and_never_what_the_caller_says_it_is(ask, address):
    sent = seen_by(ask, {"X-Forwarded-For": "203.0.113.9"}, address=address)["headers"]
    assert sent["x-forwarded-for"] == address


@pytest.mark.parametrize("address", ["", "unix:", "1\r\nX-Evil: 1", "fe80::1%eth0", "1" * 46, "localhost"])
def test_what_is_no_address_does_not_go_along(ask, address):
    assert "x-forwarded-for" not in seen_by(ask, {"X-Forwarded-For": "203.0.113.9"}, address=address)["headers"]


def test_the_body_is_passed_on_with_its_service_rewritten(ask):
    seen = seen_by(ask)
    assert (seen["path"], json.loads(seen["data"])) == ("/gateway", {**BODY, "service": "main"})
    assert "آنا".encode() in seen["data"]
    assert BODY["service"] == "far"


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", object(), b"bytes"],
    ids=["nan", "inf", "surrogate", "object", "bytes"],
)
def test_a_body_that_is_no_json_is_refused_unsent(closed_port, value):
    with pytest.raises((TypeError, ValueError)):
        encode(value)
    service = RemoteService(f"http://127.0.0.1:{closed_port}", name="far")
    with pytest.raises(BadRequest) as raised:
        service.call({**BODY, "details": {"set": {"x": value}, "get": {}}}, {}, seconds=3)
    assert raised.value.message == "the request cannot be passed on to service far"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\x00", "€"], ids=repr)
def test_a_header_that_cannot_be_written_is_refused_unsent(closed_port, value):
    service = RemoteService(f"http://127.0.0.1:{closed_port}", name="far")
    with pytest.raises(BadRequest) as raised:
        service.call(BODY, {"token": value}, seconds=3)
    assert raised.value.message == "the header token cannot be passed on"


@pytest.mark.parametrize(("given", "sent"), [("0", "1"), ("4", "5")])
def test_hops_are_counted(ask, given, sent):
    assert seen_by(ask, {"x-gateway-hops": given})["headers"]["x-gateway-hops"] == sent


@pytest.mark.parametrize("hops", ["5", "6", "999", "-1", "x", "", "0x1", "٣", "9" * 5000], ids=lambda hops: hops[:5])
def test_too_many_hops_are_refused_unsent(closed_port, hops):
    service = RemoteService(f"http://127.0.0.1:{closed_port}", name="far")
    with pytest.raises(RemoteError) as raised:
        service.call(BODY, Headers({"X-Gateway-Hops": hops}), seconds=3)
    assert (raised.value.message, raised.value.status) == ("service far was not asked: too many hops", 502)


@pytest.mark.parametrize(("script", "reason"), BAD.values(), ids=BAD)
def test_a_bad_answer_is_502(ask, script, reason):
    with pytest.raises(RemoteError) as raised:
        ask(script)
    assert (raised.value.message, raised.value.status) == (f"bad reply of service far: {reason}", 502)


def test_an_answer_nested_too_deep_to_read_is_502(upstream):
    deep = b'{"success":true,"body":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    service = RemoteService(upstream(answer(deep)), name="far")
    with pytest.raises(RemoteError, match=NO_ENVELOPE):
        service.call(BODY, {}, seconds=3)


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN)
def test_a_broken_connection_is_502(ask, script):
    with pytest.raises(RemoteError) as raised:
        ask(script)
    assert raised.value.status == 502


def test_nothing_listening_is_unreachable(closed_port):
    service = RemoteService(f"http://127.0.0.1:{closed_port}", name="far")
    with pytest.raises(RemoteError) as raised:
        service.call(BODY, {}, seconds=3)
    assert (raised.value.message, raised.value.status) == ("service far is unreachable", 502)


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_too_slow_is_504_in_the_time_allowed(ask, script):
    begun = time.monotonic()
    with pytest.raises(RemoteTimeout) as raised:
        ask(script, seconds=0.3)
    assert (raised.value.message, raised.value.status) == ("service far took too long", 504)
    assert 0.25 < time.monotonic() - begun < 2.5  # the setting allows 3


def test_the_setting_bounds_the_time_too(upstream):
    service = RemoteService(upstream(SLOW["body byte by byte"]), settings=Settings(remote_timeout=0.2))
    begun = time.monotonic()
    with pytest.raises(RemoteTimeout):
        service.call(BODY, {}, seconds=60)
    assert time.monotonic() - begun < 3  # the script takes 5


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_without_time_nothing_is_sent(ask, seconds):
    asked = []
    with pytest.raises(RemoteTimeout):
        ask(asked.append, seconds=seconds)
    assert asked == []


def test_a_kept_connection_has_the_full_time_again(upstream):
    ports = []

    def script(handler):
        ports.append(handler.client_address[1])
        time.sleep(0.4 * (len(ports) - 1))  # the second body waits in the sender, being larger than all buffers
        answer()(handler)

    service = RemoteService(upstream(script), settings=Settings(remote_connect_timeout=5.0))
    big = {**BODY, "details": {"set": {"x": "x" * 16_000_000}, "get": {}}}
    assert service.call(BODY, {}, seconds=0.2) == service.call(big, {}, seconds=5) == WrittenReply(200, (), OK)
    assert len(set(ports)) == 1


def test_a_refused_answer_leaves_nothing_for_the_next_request(upstream):
    answers = iter([answer(b"x" * 2000), answer()])
    service = RemoteService(upstream(lambda handler: next(answers)(handler)), name="far", settings=SETTINGS)
    with pytest.raises(RemoteError):
        service.call(BODY, {}, seconds=3)
    assert service.call(BODY, {}, seconds=3) == WrittenReply(200, (), OK)


def test_nothing_is_tried_twice(ask):
    asked = []

    def script(handler):
        asked.append(handler.path)
        handler.close_connection = True

    with pytest.raises(RemoteError):
        ask(script)
    assert asked == ["/gateway"]


def test_cookies_of_the_upstream_are_not_sent_back(upstream):
    cookies = []

    def script(handler):
        cookies.append(handler.headers["Cookie"])
        answer(Set_Cookie="a=1")(handler)

    service = RemoteService(upstream(script), settings=SETTINGS)
    service.call(BODY, {}, seconds=3)
    service.call(BODY, {}, seconds=3)
    assert cookies == [None, None]


def test_proxies_of_the_environment_are_not_used(ask, monkeypatch, closed_port):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{closed_port}")
    assert ask(answer()) == WrittenReply(200, (), OK)


def test_threads_share_a_service_without_mixing_answers(upstream):
    def script(handler):
        data = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        handler.headers.replace_header("Content-Length", "0")
        answer(json.dumps({"body": [data["act"], handler.headers["token"]], "success": True}).encode())(handler)

    service = RemoteService(upstream(script), settings=SETTINGS)

    def ask(number):
        reply = service.call({**BODY, "act": f"a{number}"}, {"token": f"t{number}"}, seconds=3)
        return json.loads(reply.envelope)["body"]

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, range(200))) == [[f"a{number}", f"t{number}"] for number in range(200)]


def _ask_in_child(service, replies):
    replies.put(service.call(BODY, {}, seconds=3).status)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_uses_connections_of_its_own(upstream):
    ports = []

    def script(handler):
        ports.append(handler.client_address[1])
        answer()(handler)

    service = RemoteService(upstream(script), settings=SETTINGS)
    service.call(BODY, {}, seconds=3)
    fork = multiprocessing.get_context("fork")
    replies = fork.Queue()
    child = fork.Process(target=_ask_in_child, args=(service, replies))
    child.start()
    assert replies.get(timeout=10) == 200
    child.join(10)
    assert service.call(BODY, {}, seconds=3).status == 200
    assert ports[0] == ports[2]
    assert ports[0] != ports[1]
