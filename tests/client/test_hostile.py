"""A client against servers that are no gateway: what it says, and what the next call gets."""

from __future__ import annotations

import time
import tracemalloc

import pytest

from gatewayfw.client import BadReply, CallError, HttpClient, NoReply
from gatewayfw.wire.json_text import MAX_VALUES
from tests.wire.scripts import BAD, BROKEN, CHUNKED, HEAD, MEGABYTE, MOST, OK, SECRET, SLOW, answer, endless, error

TOKEN = "a-token-nobody-may-see"


def outcome(url, **options):
    """Class, message and code of the error that a call ends with; it tells neither the token nor what came."""
    options = {"max_bytes": MOST, "timeout": 5.0, **options}
    with HttpClient(url, TOKEN, **options) as client, pytest.raises(CallError) as found:
        client.call("user", "addUser", set={"name": "x"})
    error = found.value
    assert TOKEN not in f"{error!r}{error.__cause__!r}{vars(error)}"
    assert SECRET not in f"{error!r}{vars(error)}"
    return type(error), error.message, error.code


def bad(reason):
    return BadReply, f"bad reply of the gateway: {reason}", "bad_reply"


BROKE = (NoReply, "the connection broke before the reply was complete", "no_reply")
TOO_SLOW = (NoReply, "the gateway took too long", "timeout")


@pytest.mark.parametrize(("script", "reason"), BAD.values(), ids=BAD)
def test_a_reply_that_is_none_of_a_gateway(upstream, script, reason):
    assert outcome(upstream(script)) == bad(reason)


@pytest.mark.parametrize("script", BROKEN.values(), ids=BROKEN)
def test_a_reply_that_cannot_be_read(upstream, script):
    assert outcome(upstream(script)) == BROKE


@pytest.mark.parametrize("script", SLOW.values(), ids=SLOW)
def test_a_reply_that_does_not_end(upstream, script):
    begun = time.monotonic()
    assert outcome(upstream(script), timeout=0.3) == TOO_SLOW
    assert time.monotonic() - begun < 3


def test_nothing_listens(closed_port):
    url = f"http://127.0.0.1:{closed_port}"
    assert outcome(url) == (NoReply, "the gateway is unreachable", "unreachable")


def test_a_server_that_does_not_speak_tls(upstream):
    url = upstream(answer()).replace("http://", "https://")
    assert outcome(url) == (NoReply, "the secure connection to the gateway failed", "no_reply")


def test_a_redirect_is_not_followed(upstream):
    asked = []

    def script(handler):
        asked.append(handler.path)
        answer(OK, 308, Location="/elsewhere", X_Request_Id="aB.9_-z")(handler)

    with HttpClient(upstream(script)) as client, pytest.raises(BadReply) as found:
        client.call("user", "addUser")
    assert asked == ["/gateway"]
    assert found.value.status == 308
    assert found.value.request_id == "aB.9_-z"


def test_an_id_of_the_request_that_is_none_is_not_kept(upstream):
    with HttpClient(upstream(answer(OK, 308, X_Request_Id="a b"))) as client, pytest.raises(BadReply) as found:
        client.call("user", "addUser")
    assert found.value.request_id is None


def test_memory_is_bounded_while_much_is_sent(upstream):
    url = upstream(endless(HEAD + b"\r\n", MEGABYTE))
    tracemalloc.start()
    try:
        told = outcome(url, max_bytes=2 * 1024 * 1024)
        peak = tracemalloc.get_traced_memory()[1] / 1024 / 1024
    finally:
        tracemalloc.stop()
    assert told == bad("its answer is too large")
    assert peak < 16


def test_a_reply_of_too_many_values(upstream):
    many = b'{"success":true,"body":[' + b"[]," * (MAX_VALUES // 2) + b"[]]}"
    assert outcome(upstream(answer(many)), max_bytes=10 * 1024 * 1024) == bad("its answer holds too many values")


def test_a_reply_nested_too_deep(upstream):
    deep = b'{"success":true,"body":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    assert outcome(upstream(answer(deep)), max_bytes=1024 * 1024) == bad("its answer is not an envelope")


def test_what_else_an_error_says_is_kept_where_it_fits(upstream):
    body = {"message": "no", "code": 7, "errors": {"a": ["b"], "c": "d", "e": [1]}, "requestId": ["x"]}
    told_details = {"a": [{"code": "null"}], "b": {}, "c": [1], "d": [{}], "e": [{"code": 1}]}

    def told(script):
        with HttpClient(upstream(script)) as client, pytest.raises(CallError) as found:
            client.call("user", "addUser")
        return vars(found.value)

    known = {"message": "no", "status": 400, "errors": {"a": ["b"]}, "request_id": None, "retry_after": None}
    details = {"a": [{"code": "null"}]}
    assert told(error(400, **body, details=told_details)) == {**known, "details": details, "code": "error"}
    assert told(error(400, **body, details=[])) == {**known, "details": {}, "code": "error"}
    plain = answer(b'{"body":{"message":"no"},"success":false}', 400, X_Error_Code="partly_done", Retry_After="soon")
    assert told(plain) == {**known, "errors": {}, "details": {}, "code": "partly_done"}


@pytest.mark.slow
def test_after_any_hostile_reply_the_next_one_is_right(upstream):
    scripts = [script for script, _ in BAD.values()] + list(BROKEN.values())
    asked = []

    def script(handler):
        asked.append(1)
        hostile = len(asked) % 2
        (scripts[len(asked) // 2] if hostile else answer())(handler)

    bodies = []
    with HttpClient(upstream(script), max_bytes=MOST) as client:
        for _ in scripts:
            with pytest.raises(CallError):
                client.call("user", "addUser")
            bodies.append(client.call("user", "addUser"))
    assert bodies == [{"name": "آ"}] * len(scripts)


def test_a_second_reply_in_a_connection_is_never_taken_for_the_next(upstream):
    poison = HEAD + b'Content-Length: 32\r\n\r\n{"success":true,"body":"forged"}'
    first = HEAD + b'Content-Length: 27\r\n\r\n{"success":true,"body":1.5}'

    def script(handler):
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.wfile.write(first + poison)

    with HttpClient(upstream(script)) as client:
        bodies = []
        for _ in range(5):
            bodies.append(client.call("user", "addUser"))
            time.sleep(0.02)  # so that what was forged has arrived
    assert bodies == [1.5] * 5


def test_chunks_without_an_end_do_not_hold_a_call(upstream):
    assert outcome(upstream(endless(CHUNKED, b"1\r\nx\r\n" * 100))) == bad("its answer is too large")
