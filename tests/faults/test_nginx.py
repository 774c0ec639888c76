"""The configuration of nginx that is shipped: limits, headers, and that clients always get an envelope."""

from __future__ import annotations

import contextlib
import json
import re
import runpy
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from gunicorn.config import Keepalive
from urllib3 import HTTPConnectionPool

from gatewayfw.settings import Settings
from tests.faults.nginx import CONFIGURATION, Nginx, require_nginx
from tests.waiting import wait_until

POST = b"POST /gateway HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
OK = b'{"body":1,"success":true}'


class Echo(BaseHTTPRequestHandler):
    """A service that answers with an envelope, and keeps the headers it got."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):  # the name http.server calls
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append(dict(self.headers))
        self.server.answer(self)

    def log_message(self, *_):
        pass


def answers(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(OK)))
    handler.end_headers()
    handler.wfile.write(OK)


def closes(handler):
    handler.close_connection = True


@pytest.fixture
def service():
    """A service in this process; ``seen`` has the headers of each request."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.socket.listen(200)
    server.daemon_threads = True
    server.seen, server.answer = [], answers
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def nginx(tmp_path, service):
    """nginx in front of `service`."""
    require_nginx()
    with Nginx(tmp_path, service.server_port) as nginx:
        yield nginx


@pytest.fixture
def post(nginx):
    """Send a request with these headers."""
    with HTTPConnectionPool("127.0.0.1", nginx.port, timeout=10, retries=False) as pool:
        yield lambda body=b"{}", **headers: pool.request("POST", "/gateway", body=body, headers=headers)


def refusal(status, code, message):
    return status, "application/json", code, {"body": {"message": message}, "success": False}


def seen(reply):
    return reply.status, reply.headers["Content-Type"], reply.headers["X-Error-Code"], json.loads(reply.data)


def sent_raw(nginx, data):
    """Send bytes and return status, content type, code and envelope of what comes back."""
    with socket.create_connection(("127.0.0.1", nginx.port), timeout=10) as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(data)
        head, _, body = client.makefile("rb").read().partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    return int(head.split()[1]), headers["Content-Type"], headers["X-Error-Code"], json.loads(body)


def test_an_answer_of_the_service_comes_back_unchanged(post):
    reply = post()
    assert reply.status == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.data == OK


REFUSED = {
    "body too large": (
        POST + b"Content-Length: 1048577\r\n\r\n",
        refusal(413, "too_large", "the request body is too large"),
    ),
    "headers too large": (
        POST + b"X: " + b"x" * 9000 + b"\r\n\r\n",
        refusal(431, "bad_request", "the headers of the request are too large"),
    ),
    "address too long": (
        b"POST /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        refusal(414, "bad_request", "the address of the request is too long"),
    ),
    "no host": (b"POST /gateway HTTP/1.1\r\n\r\n", refusal(400, "bad_request", "bad request")),
    "bad length": (POST + b"Content-Length: x\r\n\r\n", refusal(400, "bad_request", "bad request")),
    "bad chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", refusal(400, "bad_request", "bad request")),
    "unknown transfer encoding": (
        POST + b"Transfer-Encoding: gzip\r\n\r\n",
        refusal(400, "bad_request", "bad request"),
    ),
    "length and chunks": (
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        refusal(400, "bad_request", "bad request"),
    ),
    "trace": (b"TRACE /gateway HTTP/1.1\r\nHost: x\r\n\r\n", refusal(405, "method_not_allowed", "method not allowed")),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "expected"), REFUSED.values(), ids=REFUSED)
def test_what_nginx_refuses_is_an_envelope_and_reaches_no_service(nginx, service, data, expected):
    assert sent_raw(nginx, data) == expected
    assert service.seen == []


def test_a_body_of_the_largest_size_passes(post):
    assert post(b"x" * Settings().max_body_bytes).status == 200


def test_the_sizes_and_times_fit_those_of_the_gateway():
    text = CONFIGURATION.read_text("utf-8")
    assert Settings().max_body_bytes == 1024 * 1024
    assert "client_max_body_size 1m;" in text
    gunicorn = runpy.run_path(str(CONFIGURATION.parent / "gunicorn.conf.py"))
    patience = int(re.findall(r"proxy_read_timeout (\d+)s;", text)[0])
    assert patience > gunicorn["timeout"] > Settings().deadline
    assert Keepalive.default > int(re.findall(r"keepalive \d+;\n +keepalive_timeout (\d+)s;", text)[0])


def test_a_service_that_does_not_run_is_an_envelope(post, service):
    service.shutdown()
    service.server_close()
    reply = post()
    assert seen(reply) == refusal(502, "bad_gateway", "the service cannot be reached")
    assert "Retry-After" not in reply.headers


def test_a_request_that_broke_is_not_sent_again(post, service):
    post()
    service.answer = closes
    assert seen(post()) == refusal(502, "bad_gateway", "the service cannot be reached")
    assert len(service.seen) == 2


@pytest.fixture
def held(service):
    """Let 100 requests wait for their answer; gives what waits for their arrival, and what lets them go on."""
    arrived, release, done = threading.Semaphore(0), threading.Event(), []
    service.answer = lambda handler: (arrived.release(), release.wait(30), answers(handler), done.append(handler))
    yield lambda: all(arrived.acquire(timeout=20) for _ in range(100)), release
    release.set()
    assert wait_until(lambda: len(done) == len(service.seen), 20)


def test_more_requests_at_once_than_allowed_are_told_so(nginx, service, post, held):
    have_arrived, release = held
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", nginx.port), 30)) for _ in range(100)]
        for client in clients:
            client.sendall(POST + b"Content-Length: 2\r\n\r\n{}")
        assert have_arrived()
        reply = post(b"")
        assert seen(reply) == refusal(429, "too_many_requests", "too many requests at once")
        assert reply.headers["Retry-After"] == "1"
        release.set()
        assert all(client.makefile("rb").read().endswith(OK) for client in clients)
    assert len(service.seen) == 100


def test_requests_whose_clients_have_left_count_until_they_are_done(nginx, service, post, held):
    have_arrived, _ = held
    for _ in range(100):
        with socket.create_connection(("127.0.0.1", nginx.port), 30) as client:
            client.sendall(POST + b"Content-Length: 2\r\n\r\n{}")
    assert have_arrived()
    assert seen(post()) == refusal(429, "too_many_requests", "too many requests at once")


def test_a_client_that_has_said_all_gets_its_answer(nginx):
    with socket.create_connection(("127.0.0.1", nginx.port), 30) as client:
        client.sendall(POST + b"Content-Length: 2\r\n\r\n{}")
        client.shutdown(socket.SHUT_WR)
        assert client.makefile("rb").read().endswith(OK)


def test_a_body_that_is_not_complete_reaches_no_service(nginx, service, post):
    with socket.create_connection(("127.0.0.1", nginx.port), timeout=10) as slow:
        slow.sendall(POST + b"Content-Length: 9\r\n\r\nx")
        assert post().status == 200
        assert [headers["Content-Length"] for headers in service.seen] == ["2"]
        slow.sendall(b"x" * 8)
        assert slow.makefile("rb").read().endswith(OK)
    assert [headers["Content-Length"] for headers in service.seen] == ["2", "9"]


FORGED = {
    "X-Forwarded-For": "6.6.6.6",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil",
    "X-Forwarded-Port": "1",
    "X-Forwarded-Prefix": "/evil",
    "Forwarded": "for=6.6.6.6",
}


def test_the_address_is_that_of_the_connection_whatever_a_client_claims(post, service):
    post(**FORGED, token="t")
    (headers,) = service.seen
    passed = {name.lower(): value for name, value in headers.items()}
    assert {name: passed.get(name.lower()) for name in FORGED} == {
        **dict.fromkeys(FORGED),
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Proto": "http",
    }
    assert (passed["token"], passed.get("connection")) == ("t", None)


def test_a_plain_request_id_is_kept(post, service):
    post(**{"X-Request-Id": "my-id.1"})
    assert service.seen[0]["X-Request-Id"] == "my-id.1"


@pytest.mark.parametrize("given", ["a b", "x" * 65, "<script>", "a,b", ""])
def test_any_other_request_id_is_replaced(post, service, given):
    post(**{"X-Request-Id": given})
    assert re.fullmatch(r"[0-9a-f]{32}", service.seen[0]["X-Request-Id"])


def test_the_version_is_not_told(nginx):
    with socket.create_connection(("127.0.0.1", nginx.port), timeout=10) as client:
        client.sendall(b"TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"\r\nServer: nginx\r\n" in client.makefile("rb").read()
