"""A success as a response: sent as it was made, unless a hook of the host changed it."""

from __future__ import annotations

import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from gatewayfw.web.success import Answer, Success

HEADERS = [
    ("Content-Type", "application/json"),
    ("Content-Length", "2"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Request-Id", "r1"),
]


def send(answer, method="POST"):
    body, status, headers = run_wsgi_app(answer, EnvironBuilder(method=method).get_environ(), buffered=True)
    return b"".join(body), status, list(headers)


@pytest.fixture
def answer():
    return Answer(Success.of(b"{}", "r1"))


def test_it_is_sent_as_it_was_made(answer):
    assert send(answer) == (b"{}", "200 OK", HEADERS)


@pytest.mark.parametrize(
    ("method", "change", "is_plain"),
    [
        ("POST", lambda answer: None, True),
        ("GET", lambda answer: None, False),
        ("POST", lambda answer: answer.call_on_close(list), False),
        ("POST", lambda answer: setattr(answer, "own", 1), False),
        ("POST", lambda answer: setattr(answer, "status_code", 201), False),
        ("POST", lambda answer: answer.headers.add("X-More", "1"), False),
        ("POST", lambda answer: setattr(answer, "response", [b"{}"]), False),
    ],
)
def test_nothing_is_wrapped_around_an_unchanged_body(answer, method, change, is_plain):
    """A server sends a list of one piece at once, with nothing to call at its end."""
    change(answer)
    body, _, _ = answer.get_wsgi_response({"REQUEST_METHOD": method})
    assert (type(body) is list) is is_plain


def test_a_head_request_gets_no_body(answer):
    assert send(answer, "HEAD")[0] == b""


def test_what_a_hook_changes_is_sent(answer):
    answer.set_data(b"[1]")
    answer.status_code = 202
    answer.headers["X-More"] = "1"
    body, status, headers = send(answer)
    assert (body, status, ("X-More", "1") in headers) == (b"[1]", "202 ACCEPTED", True)


def test_a_callback_of_a_hook_is_called(answer):
    called = []
    answer.call_on_close(lambda: called.append(True))
    send(answer)
    assert called == [True]
