"""The app of our own, and the servers that run it."""

import runpy
import socket
import threading
from types import SimpleNamespace

import pytest
import urllib3
from flask import abort

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.web.server import (
    check_server_options,
    check_worker_timeout,
    gunicorn_options,
    make_app,
    serve,
    threaded_server,
)
from tests.web.mount import BODY, answer, endpoint, post, refusal, seen

WHOLE = {"service": "main", **BODY}


@pytest.fixture
def app():
    return make_app(endpoint(), "gw", url_prefix="/api")


@pytest.fixture
def taken():
    """A port somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_app_serves_the_gateway(app):
    assert seen(post(app)) == answer(WHOLE)


@pytest.mark.parametrize("path", ["/", "/gateway", "/api", "/api/gateway/", "/playground", "/static/x", "/favicon.ico"])
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_paths_answer_an_envelope(app, method, path):
    reply = app.test_client().open(path, method=method)
    assert seen(reply) == refusal(404, "not found")
    assert reply.headers["X-Error-Code"] == "not_found"


def test_unknown_method_answers_an_envelope_with_allow():
    app = make_app(endpoint(playground=True), "gw")
    reply = app.test_client().post("/playground")
    assert seen(reply) == refusal(405, "method not allowed")
    assert reply.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("code", [400, 404, 405])
def test_what_added_views_abort_with_stays(app, code):
    app.add_url_rule("/own", "own", lambda: abort(code, description="own words"))
    reply = app.test_client().get("/own")
    assert (reply.status_code, reply.mimetype, "own words" in reply.text) == (code, "text/html", True)


@pytest.mark.parametrize("prefix", ["api", None, 5])
def test_wrong_url_prefix_is_refused(prefix):
    with pytest.raises(DefinitionError) as caught:
        make_app(endpoint(), "gw", url_prefix=prefix)
    assert caught.value.message == "option 'url_prefix': expected '' or a path like '/api'"


OPTIONS = {"host": "127.0.0.1", "port": 8000, "workers": 2, "threads": 8}
PORT = "option 'port': expected an integer in 0..65535"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("port", -1, PORT),
        ("port", 65536, PORT),
        ("port", "8000", PORT),
        ("port", True, PORT),
        ("port", None, PORT),
        ("host", "", "option 'host': expected a host name or an address"),
        ("host", None, "option 'host': expected a host name or an address"),
        ("workers", 0, "option 'workers': expected a positive integer"),
        ("threads", 1.5, "option 'threads': expected a positive integer"),
    ],
)
def test_wrong_server_option_is_named(name, value, message):
    with pytest.raises(DefinitionError) as caught:
        check_server_options(**{**OPTIONS, name: value})
    assert caught.value.message == message


@pytest.mark.parametrize("port", [0, 1, 65535])
def test_right_server_options_are_taken(port):
    check_server_options(**{**OPTIONS, "port": port})


@pytest.mark.parametrize("multi_process", [True, False])
def test_port_in_use_is_an_error(app, taken, multi_process):
    with pytest.raises(OSError, match="in use"):
        serve(app, host="127.0.0.1", port=taken, workers=1, threads=1, multi_process=multi_process, deadline=5)


@pytest.mark.parametrize(
    ("deadline", "timeout", "graceful"), [(5.0, 30, 10), (60, 85, 65), (0.5, 26, 6)], ids=["default", "long", "short"]
)
def test_workers_outlive_every_act(deadline, timeout, graceful):
    made = gunicorn_options(host="::1", port=80, workers=3, threads=4, deadline=deadline)
    hook = made.pop("post_worker_init")
    assert callable(hook)
    assert made == {
        "bind": ["[::1]:80"],
        "workers": 3,
        "threads": 4,
        "worker_class": "gthread",
        "timeout": timeout,
        "graceful_timeout": graceful,
        "forwarder_headers": "",
    }


@pytest.mark.parametrize(("seconds", "option"), [(5.1, "timeout"), (30, "graceful_timeout"), (0, "timeout")])
def test_timeout_above_the_deadline_or_none_is_taken(seconds, option):
    check_worker_timeout(seconds, Settings(deadline=5), option)


@pytest.mark.parametrize(
    ("seconds", "option", "said"), [(30, "timeout", "30"), (60, "timeout", "60"), (0, "graceful_timeout", "0")]
)
def test_timeout_not_above_the_deadline_is_refused_with_both_figures(seconds, option, said):
    with pytest.raises(DefinitionError) as caught:
        check_worker_timeout(seconds, Settings(deadline=60), option)
    assert caught.value.message == (
        f"the server's {option} of {said} s must be above the deadline of 60 s (setting deadline)"
    )


@pytest.mark.parametrize("option", ["timeout", "graceful_timeout"])
def test_the_sample_configuration_refuses_a_deadline_its_workers_would_not_live_to_see(monkeypatch, option):
    conf = runpy.run_path("sample_service/gunicorn.conf.py")
    master = SimpleNamespace(cfg=SimpleNamespace(workers=1, timeout=conf["timeout"], graceful_timeout=30))
    conf["on_starting"](master)
    setattr(master.cfg, option, 40)
    monkeypatch.setenv("GATEWAYFW_DEADLINE", "35")
    with pytest.raises(SystemExit) as caught:
        conf["on_starting"](master)
    other = "graceful_timeout" if option == "timeout" else "timeout"
    assert caught.value.code == f"the server's {other} of 30 s must be above the deadline of 35 s (setting deadline)"


@pytest.fixture
def address(app):
    """The address of the app on a threaded server."""
    server = threaded_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()


@pytest.fixture
def http():
    with urllib3.PoolManager(retries=False) as pool:
        yield pool


def test_threaded_server_answers(address, http):
    reply = http.request("POST", f"{address}/api/gateway", json=BODY)
    assert (reply.status, reply.headers["Content-Type"], reply.json()) == answer(WHOLE)


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
    assert seen(reply) == refusal(404, "not found")


@pytest.mark.parametrize("added", [False, True], ids=["unknown path", "added view"])
def test_bad_host_is_an_envelope(app, added):
    app.config["TRUSTED_HOSTS"] = ["localhost"]
    if added:
        app.add_url_rule("/own", "own", lambda: "mine")
    reply = app.test_client().get("/own", headers={"Host": "evil.example"})
    assert seen(reply) == refusal(400, "the header Host is not valid")
    assert seen(post(app)) == answer(WHOLE)
