"""The app of our own, and the servers that run it."""

import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
import urllib3
from flask import abort

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.web.app import make_app
from gatewayfw.web.servers.granian import granian_options, without_environment
from gatewayfw.web.servers.gunicorn import gunicorn_options
from gatewayfw.web.servers.hosts import restrict_hosts, trusted_hosts
from gatewayfw.web.servers.options import check_server_options, check_worker_timeout
from gatewayfw.web.servers.serve import serve
from gatewayfw.web.servers.threaded import threaded_server
from tests.web.mount import BODY, answer, endpoint, post, refusal, seen

WHOLE = {"service": "main", **BODY}


@pytest.fixture(params=[True, False], ids=["lane", "flask"])
def app(request):
    return make_app(endpoint(), url_prefix="/api", fast_lane=request.param)


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
    app = make_app(endpoint(playground=True))
    reply = app.test_client().post("/playground")
    assert seen(reply) == refusal(405, "method not allowed")
    assert reply.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("code", [400, 404, 405])
def test_what_added_views_abort_with_stays(app, code):
    app.add_url_rule("/own", "own", lambda: abort(code, description="own words"))
    reply = app.test_client().get("/own")
    assert (reply.status_code, reply.mimetype, "own words" in reply.text) == (code, "text/html", True)


@pytest.mark.parametrize("prefix", ["api", None, 5])
def test_wrong_url_prefix_is_refused(prefix):
    with pytest.raises(DefinitionError) as caught:
        make_app(endpoint(), url_prefix=prefix)
    assert caught.value.message == "option 'url_prefix': expected '' or a path like '/api'"


OPTIONS = {"host": "127.0.0.1", "port": 8000, "workers": 2, "threads": 8, "server": "gunicorn"}
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
        *(("server", value, "option 'server': expected 'gunicorn' or 'granian'") for value in ("uwsgi", "", None, 1)),
    ],
)
def test_wrong_server_option_is_named(name, value, message):
    with pytest.raises(DefinitionError) as caught:
        check_server_options(**{**OPTIONS, name: value})
    assert caught.value.message == message


@pytest.mark.parametrize("port", [0, 1, 65535])
def test_right_server_options_are_taken(port):
    check_server_options(**{**OPTIONS, "port": port})


@pytest.mark.parametrize("server", ["gunicorn", "granian"])
@pytest.mark.parametrize("multi_process", [True, False])
def test_port_in_use_is_an_error(app, taken, multi_process, server):
    options = {"workers": 1, "threads": 1, "multi_process": multi_process, "deadline": 5, "server": server}
    with pytest.raises(OSError, match="in use"):
        serve(app, host="127.0.0.1", port=taken, **options)


@pytest.mark.parametrize("multi_process", [True, False])
def test_granian_that_is_not_installed_is_named(app, monkeypatch, multi_process):
    monkeypatch.setitem(sys.modules, "granian", None)
    options = {"workers": 1, "threads": 1, "multi_process": multi_process, "deadline": 5, "server": "granian"}
    with pytest.raises(DefinitionError) as caught:
        serve(app, host="127.0.0.1", port=0, **options)
    assert caught.value.message == (
        "option 'server': 'granian' needs the library granian: pip install granian, or the extra gatewayfw[granian]"
    )


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


@pytest.mark.parametrize(("deadline", "kill"), [(5.0, 10), (60, 65), (0.5, 6)], ids=["default", "long", "short"])
def test_workers_of_granian_outlive_every_act(deadline, kill):
    assert granian_options(host="::1", port=80, workers=3, threads=4, deadline=deadline) == {
        "address": "::1",
        "port": 80,
        "interface": "wsgi",
        "http": "1",
        "http1_settings": {"header_read_timeout": 10_000, "max_buffer_size": 65_536},
        "websockets": False,
        "workers": 3,
        "blocking_threads": 4,
        "backpressure": 1000,
        "workers_kill_timeout": kill,
        "respawn_failed_workers": True,
    }


def test_variables_of_the_environment_are_no_headers():
    found = []
    environment = {"HTTP_PROXY": "http://proxy", "HTTP_TOKEN": "t", "CONTENT_TYPE": "application/json", "PATH": "/bin"}
    app = without_environment(lambda environ, start_response: found.append(environ) or [], environment)
    app({**environment, "HTTP_TOKEN": "sent", "REQUEST_METHOD": "GET"}, None)
    assert found == [{"HTTP_TOKEN": "sent", "PATH": "/bin", "REQUEST_METHOD": "GET"}]


def test_an_environment_without_such_variables_costs_nothing(app):
    assert without_environment(app, {"PATH": "/bin", "HTTPS": "on"}) is app


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


NAMES = ["localhost", "127.0.0.1", "[::1]"]
DEVELOPMENT = {"GATEWAYFW_ENV": "development"}
#: Names that only a resolver knows: the machine's own, and others.
RESOLVED = {"Box": ["127.0.1.1"], "shop.example": ["192.0.2.1", "2001:db8::1"], "both": ["192.0.2.1", "127.0.1.1"]}


@pytest.fixture
def resolver(monkeypatch):
    """Names of `RESOLVED` are looked up there, others as ever; none outside this machine."""
    known = socket.getaddrinfo

    def look_up(host, port, **options):
        addresses = RESOLVED.get(host)
        if addresses is None:
            return known(host, port, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize(
    ("host", "added"),
    [
        ("127.0.0.1", []),
        ("127.9.9.9", ["127.9.9.9"]),
        ("127.1", ["127.1"]),
        ("2130706433", ["2130706433"]),
        ("::1", ["::1"]),
        ("::ffff:127.0.0.1", ["::ffff:127.0.0.1"]),
        ("Box", ["box", "127.0.1.1"]),
        ("both", ["both", "127.0.1.1"]),
    ],
)
def test_in_development_a_server_of_this_machine_answers_its_names_only(host, added):
    names = [*NAMES, *added]
    assert trusted_hosts(host, playground=True, environ={}) == names
    assert trusted_hosts(host, playground=False, environ=DEVELOPMENT) == names
    assert trusted_hosts(host, playground=False, environ={}) is None


def test_localhost_is_a_name_of_this_machine_in_any_case():
    assert set(NAMES) <= set(trusted_hosts("LocalHost", playground=True, environ={}))


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "shop.example", "a..b", "x" * 80])  # noqa: S104
def test_a_server_that_others_reach_answers_any_name(host):
    assert trusted_hosts(host, playground=True, environ=DEVELOPMENT) is None


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1", 200),
        ("evil.example", 400),
        ("EVIL.EXAMPLE", 400),
        ("localhost.evil.example", 400),
    ],
)
def test_names_are_compared_without_case(app, sent, status):
    restrict_hosts(app, "127.0.0.1", playground=True, environ={})
    assert post(app, headers={"Host": sent}).status_code == status


def test_a_server_without_playground_outside_development_answers_any_name(app):
    restrict_hosts(app, "127.0.0.1", playground=False, environ={})
    assert (app.config["TRUSTED_HOSTS"], post(app, headers={"Host": "shop.example"}).status_code) == (None, 200)


#: A service whose acts tell who answers and which connection to the database is used, and one that takes its time.
PROGRAM = """
import os, sys, time
from gatewayfw.core import gateway
gw = gateway()
gw.odm.set_db(sys.argv[2])
things = gw.odm.new_model("thing", {"name": gw.schemas.string()})
things.insert_one(doc={"name": "before the fork"})

@gw.acts.act("thing", "who", set={}, get={})
def who(body):
    time.sleep(0.05)
    headers = gw.context_fns.get_context_model().Headers
    return {"pid": os.getpid(), "count": things.count(), "proxy": headers.get("proxy")}

@gw.acts.act("thing", "slow", set={}, get={})
def slow(body):
    print("begun", flush=True)
    time.sleep(1)
    return "done"

gw.run_server(port=int(sys.argv[1]), workers=2, threads=4, server="granian")
print("stopped", flush=True)
"""


class Granian:
    """The program on granian, as a process that leads a group of its own."""

    def __init__(self, uri, folder):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self._port = probe.getsockname()[1]
        self._log = folder / "granian.log"
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "default", "-c", PROGRAM, str(self._port), uri],
                env={**os.environ, "PYTHONPATH": os.getcwd(), "HTTP_PROXY": "http://of.the.environment"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def log(self):
        """Return what it has written."""
        return self._log.read_text()

    def wait(self, ready):
        """Wait until a condition holds."""
        for _ in range(1200):
            if ready():
                return
            assert self.process.poll() is None, self.log()
            time.sleep(0.05)
        raise AssertionError(self.log())

    def ask(self, act="who"):
        """Call an act on a connection of its own; gives status and body."""
        with urllib3.HTTPConnectionPool("127.0.0.1", self._port, timeout=60, retries=False) as pool:
            reply = pool.request("POST", "/gateway", json={**BODY, "model": "thing", "act": act})
            return reply.status, reply.json()["body"]

    def pids(self):
        """Return the processes that answer 40 calls at once."""
        with ThreadPoolExecutor(16) as clients:
            return {body["pid"] for _, body in clients.map(lambda _: self.ask(), range(40))}

    def end(self):
        """Kill what is left of it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture
def granian(mongo_database, mongod_uri, tmp_path):
    """The program, with both its workers started."""
    running = Granian(mongod_uri.replace("/?", f"/{mongo_database.name}?"), tmp_path)
    try:
        running.wait(lambda: running.log().count("Started worker") == 2)
        yield running
    finally:
        running.end()


@pytest.mark.mongo
@pytest.mark.slow
def test_granian_answers_from_several_processes_with_clients_of_their_own(granian):
    status, body = granian.ask()
    assert (status, {**body, "pid": None}) == (200, {"pid": None, "count": 1, "proxy": None})
    pids = granian.pids()
    assert (len(pids), granian.process.pid in pids) == (2, False)
    assert "opened before fork" not in granian.log()


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.parametrize("is_group", [False, True], ids=["SIGTERM", "Ctrl-C"])
def test_granian_finishes_what_is_under_way_when_it_is_stopped(granian, is_group):
    with ThreadPoolExecutor(6) as clients:
        replies = [clients.submit(granian.ask, "slow") for _ in range(6)]
        granian.wait(lambda: granian.log().count("begun") == 6)
        if is_group:
            os.killpg(granian.process.pid, signal.SIGINT)
        else:
            granian.process.send_signal(signal.SIGTERM)
        answers = [reply.result() for reply in replies]
    assert answers == [(200, "done")] * 6
    assert (granian.process.wait(30), "\nstopped\n" in granian.log()) == (0, True)


@pytest.mark.mongo
@pytest.mark.slow
def test_granian_replaces_a_worker_that_dies(granian):
    first = granian.pids()
    os.kill(min(first), signal.SIGKILL)
    granian.wait(lambda: granian.log().count("Started worker") == 3)
    found = granian.pids()
    assert (min(first) in found, len(found)) == (False, 2)
