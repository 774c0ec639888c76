"""The threaded server: chunked bodies, odd paths and hosts."""

import socket

import pytest
import urllib3

from gatewayfw.web.servers import open_listener, threaded_server
from tests.web.mount import BODY, answer, post, refusal, seen

WHOLE = {"service": "main", **BODY}


@pytest.fixture
def http():
    with urllib3.PoolManager(retries=False) as pool:
        yield pool


def test_threaded_server_answers(address, http):
    reply = http.request("POST", f"{address}/api/gateway", json=BODY)
    assert (reply.status, reply.headers["Content-Type"], reply.json()) == answer(WHOLE)


def test_each_request_has_a_thread(app):
    server = threaded_server(app, "127.0.0.1", 0)
    with server.socket:
        assert server.multithread is True
        assert server.multiprocess is False
        assert server.app == app
        assert server.port == server.socket.getsockname()[1]


def test_128_clients_may_wait_to_be_accepted(monkeypatch):
    waiting = []
    monkeypatch.setattr(socket.socket, "listen", lambda self, most: waiting.append(most))
    open_listener("127.0.0.1", 0).close()
    assert waiting == [128]


def test_a_port_can_be_taken_again_at_once():
    with open_listener("127.0.0.1", 0) as listener:
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert listener.getsockname()[0] == "127.0.0.1"


def test_chunked_body_is_read(address, http):
    parts = iter([b'{"model":"user","act":', b'"getUser","details":{"set":{},"get":{}}}'])
    reply = http.request("POST", f"{address}/api/gateway", body=parts, headers={"Content-Type": "application/json"})
    assert (reply.status, reply.headers["Content-Type"], reply.json()) == answer(WHOLE)


def test_bad_chunk_is_a_bad_request(address):
    host, port = address.removeprefix("http://").split(":")
    head = (
        "POST /api/gateway HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + b"zz\r\n{}\r\n0\r\n\r\n")
        reply = client.makefile("rb").read()
    assert reply.startswith(b"HTTP/1.1 400 ")
    assert reply.endswith(b'{"body":{"message":"the request body could not be read"},"success":false}')


@pytest.mark.parametrize("path", ["/api//gateway", "/api///gateway"])
def test_doubled_slashes_are_an_unknown_path_and_no_redirect(app, path):
    reply = app.test_client().post("/", environ_overrides={"PATH_INFO": path}, json=BODY)
    assert seen(reply) == refusal(404, "not found; acts are called by POST /api/gateway")


@pytest.mark.parametrize("added", [False, True], ids=["unknown path", "added view"])
def test_bad_host_is_an_envelope(app, added):
    app.config["TRUSTED_HOSTS"] = ["localhost"]
    if added:
        app.add_url_rule("/own", "own", lambda: "mine")
    reply = app.test_client().get("/own", headers={"Host": "evil.example"})
    assert seen(reply) == refusal(400, "the header Host is not valid")
    assert seen(post(app)) == answer(WHOLE)
