"""What the client of a generated module sends, refuses to send, and makes of a reply."""

from __future__ import annotations

import inspect
import io
import json
from types import SimpleNamespace

import pytest

from gatewayfw.client import BadReply, CallError
from gatewayfw.client.posts import Posts, Reply
from gatewayfw.client.standalone import Sender, UntypedClient

URL = "https://example.com"
SECRET = "a-token-nobody-may-see"
WRONG = {
    "token over two lines": {"token": f"{SECRET}\r\nX: y"},
    "empty token": {"token": ""},
    "token that is no text": {"token": 5},
    "header name": {"headers": {"a b": "x"}},
    "header value": {"headers": {"X-A": f"{SECRET}\n"}},
    "header value no text": {"headers": {"X-A": 5}},
    "token as a header": {"headers": {"TOKEN": "x"}},
    "no host": {"url": "https://"},
    "other scheme": {"url": "ftp://example.com"},
    "credentials": {"url": f"https://me:{SECRET}@example.com"},
    "query": {"url": "https://example.com/?a=1"},
    "space": {"url": "https://example.com/a b"},
    "port": {"url": "https://example.com:99999"},
    "no time": {"timeout": 0},
    "endless time": {"timeout": float("inf")},
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG)
def test_what_cannot_be_sent_is_refused_without_a_word_of_it(options):
    with pytest.raises(ValueError, match=r"^(token|url|timeout|headers|X-A|Port)\b") as found:
        UntypedClient(**{"url": URL, **options})
    assert SECRET not in str(found.value)


@pytest.mark.parametrize("key", ["", "a\nb", "é", 5])
def test_a_key_that_cannot_stand_in_a_header_is_refused(key):
    with pytest.raises(ValueError, match="^key: it cannot stand in a header$"):
        UntypedClient(URL).call("book", "order", key=key)


def test_another_token_is_checked_too():
    with pytest.raises(ValueError, match="^token: it cannot stand in a header$"):
        UntypedClient(URL).with_token("a\nb")


OWN = (
    *("accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect"),
    *("host", "idempotency-key", "te", "trailer", "transfer-encoding", "upgrade", "x-gateway", "x-gateway-detail"),
)


@pytest.mark.parametrize("name", OWN)
def test_a_header_of_its_own_is_refused(name):
    with pytest.raises(ValueError, match=f"^headers: '{name.title()}' is none, or the client's own$"):
        UntypedClient(URL, headers={name.title(): "1"})


def defaults(call):
    """The default of each argument that has one."""
    found = inspect.signature(call).parameters.values()
    return {one.name: one.default for one in found if one.default is not one.empty}


def test_what_is_left_out_has_a_default():
    act = {"service": "main", "set": None, "get": None}
    assert [defaults(call) for call in (Sender, UntypedClient.call, UntypedClient.pages, UntypedClient.batch)] == [
        {"token": None, "headers": None, "timeout": 10.0, "token_header": "token", "max_bytes": 17_000_000},
        {**act, "retries": 0, "key": None},
        act,
        {"atomic": False},
    ]


@pytest.fixture
def gate(monkeypatch):
    """A gateway that is made up: what it was ``sent``, and what it ``replies``, one after the other."""
    gate = SimpleNamespace(sent=[], replies=[])

    def post(self, data, headers):
        gate.sent.append((data, dict(headers)))
        return gate.replies.pop(0)

    monkeypatch.setattr(Posts, "post", post)
    return gate


def replied(body, status=200, success=True, **headers):
    return Reply(status, headers, {"body": body, "success": success})


ALWAYS = {"accept": "application/json", "content-type": "application/json", "x-gateway-detail": "1"}


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({}, {}),
        ({"token": "t"}, {"token": "t"}),
        ({"token": "t", "token_header": "X-Token"}, {"x-token": "t"}),
        ({"token": "t", "token_header": "Authorization"}, {"authorization": "Bearer t"}),
        ({"token": "t", "headers": {"X-A": "b c"}}, {"token": "t", "x-a": "b c"}),
    ],
    ids=str,
)
def test_a_call_is_sent_with_token_and_headers(gate, options, more):
    gate.replies.append(replied("done"))
    assert UntypedClient(URL, **options).call("book", "add", service="far", set={"a": 1}, get={"b": 1}) == "done"
    ((data, headers),) = gate.sent
    body = {"service": "far", "model": "book", "act": "add", "details": {"set": {"a": 1}, "get": {"b": 1}}}
    assert (json.loads(data), headers) == (body, {**ALWAYS, **more})


def test_files_are_sent_as_a_form(gate):
    gate.replies.append(replied(None))
    UntypedClient(URL).call("book", "add", set={"a": 1, "cover": io.BytesIO(b"bytes")})
    ((data, headers),) = gate.sent
    start, _, boundary = headers["content-type"].partition("=")
    assert (start, headers["x-gateway"], data.count(boundary.encode())) == ("multipart/form-data; boundary", "1", 3)
    body = {"service": "main", "model": "book", "act": "add", "details": {"set": {"a": 1}, "get": {}}}
    assert json.loads(data.split(b"\r\n")[3]) == body
    assert b'name="set.cover"; filename="file"\r\n\r\nbytes\r\n' in data


BUSY = replied({"message": "busy"}, 503, False, **{"retry-after": "0"})


@pytest.mark.parametrize(("options", "given"), [({}, None), ({"key": "k"}, "k")])
def test_each_try_has_the_same_key(gate, options, given):
    gate.replies += [BUSY, BUSY, replied(5)]
    assert UntypedClient(URL).call("book", "order", retries=2, **options) == 5
    keys = [headers["idempotency-key"] for _, headers in gate.sent]
    assert keys == [given or keys[0]] * 3


def test_a_key_is_sent_without_retries_too(gate):
    gate.replies += [BUSY, replied(5)]
    with pytest.raises(CallError):
        UntypedClient(URL).call("book", "order", key="k")
    assert [headers["idempotency-key"] for _, headers in gate.sent] == ["k"]


def test_a_failure_with_the_status_of_a_success_is_no_reply_of_a_gateway(gate):
    gate.replies.append(replied([], 200, False, **{"x-request-id": "r1"}))
    with pytest.raises(BadReply) as found:
        UntypedClient(URL).call("book", "order")
    error = found.value
    message = "bad reply of the gateway: the status of its answer contradicts its envelope"
    assert (error.message, error.status, error.request_id) == (message, 200, "r1")


def item(status, body, **more):
    return {"status": status, "body": body, "success": status < 300, **more}


def test_a_batch_is_one_request_and_each_item_a_result_or_an_error(gate):
    detailed = {"message": "no", "code": "taken", "errors": {"set.a": ["is taken"], "x": 1}, "requestId": "r.2"}
    items = [
        *(item(299, 1), item(300, detailed, code="other", retryAfter=7)),
        *(item(429, {"message": "later"}, code="rate_limited", retryAfter=999_999), item(500, {"message": "oh"})),
        item(503, {"message": "ages"}, retryAfter=1_000_000),
    ]
    gate.replies.append(replied(items, success=False))
    requests = [{"model": "book", "act": str(number), "set": {"n": number}} for number in range(5)]
    done, *failed = UntypedClient(URL).batch(iter(requests), atomic=True)
    ((data, headers),) = gate.sent
    bodies = [
        {"service": "main", "model": "book", "act": str(n), "details": {"set": {"n": n}, "get": {}}} for n in range(5)
    ]
    assert (json.loads(data), headers) == ({"batch": bodies, "atomic": True}, ALWAYS)
    known = {"errors": {}, "request_id": None, "retry_after": None}
    assert (done, [vars(error) for error in failed]) == (
        1,
        [
            {
                **{"message": "no", "status": 300, "code": "taken", "errors": {"set.a": ["is taken"]}},
                **{"request_id": "r.2", "retry_after": 7},
            },
            {**known, "message": "later", "status": 429, "code": "rate_limited", "retry_after": 999_999},
            {**known, "message": "oh", "status": 500, "code": "error"},
            {**known, "message": "ages", "status": 503, "code": "error"},
        ],
    )


def test_a_batch_that_is_refused_is_an_error(gate):
    gate.replies.append(replied({"message": "too many"}, 400, False, **{"x-error-code": "bad_request"}))
    with pytest.raises(CallError) as found:
        UntypedClient(URL).batch([])
    assert (found.value.message, found.value.status, found.value.code) == ("too many", 400, "bad_request")


@pytest.mark.parametrize(
    "items",
    [
        *(None, {}, [], [item(200, 1)] * 2, [5]),
        *(
            [{key: value for key, value in item(200, 1).items() if key != left}]
            for left in ("status", "body", "success")
        ),
        *([item(True, 1)], [{**item(200, 1), "status": "200"}]),
        *([{**item(200, 1), "success": False}], [{**item(400, {"message": "x"}), "success": True}]),
        *([item(300, 1)], [item(400, {"message": 5})]),
    ],
    ids=repr,
)
def test_what_is_no_answer_to_the_batch_is_an_error(gate, items):
    gate.replies.append(replied(items, 207, **{"x-request-id": "r1"}))
    with pytest.raises(BadReply) as found:
        UntypedClient(URL).batch([{"model": "book", "act": "order"}])
    error = found.value
    message = "bad reply of the gateway: its answer is not that to the batch"
    assert (error.message, error.status, error.code, error.request_id) == (message, 207, "bad_reply", "r1")
