"""Granian: its options, its environment, several processes, restarts."""

import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import urllib3
from granian.constants import HTTPModes, Interfaces
from werkzeug.test import EnvironBuilder

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.web.servers.granian import granian_options, run_granian, without_environment
from gatewayfw.web.servers.serve import serve
from tests.waiting import wait_until
from tests.web.mount import BODY


@pytest.mark.parametrize("multi_process", [True, False])
def test_granian_that_is_not_installed_is_named(app, monkeypatch, multi_process):
    monkeypatch.setitem(sys.modules, "granian", None)
    options = {"workers": 1, "threads": 1, "multi_process": multi_process, "settings": Settings(), "server": "granian"}
    options["most_bytes"] = 1
    with pytest.raises(DefinitionError) as caught:
        serve(app, host="127.0.0.1", port=0, **options)
    assert caught.value.message == (
        "option 'server': 'granian' needs the library granian: pip install granian, or the extra gatewayfw[granian]"
    )


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


def test_granian_gets_the_app_and_its_options(app, monkeypatch):
    made, served, methods, masks, told = [], [], [], [], []
    monkeypatch.setattr("gatewayfw.web.servers.granian.init_worker", told.append)

    class Server:
        def __init__(self, target, **options):
            made.append((target, options))

        def serve(self, **options):
            served.append(options)

    monkeypatch.setattr("granian.server.Server", Server)
    monkeypatch.setattr(multiprocessing, "set_start_method", lambda *words, **names: methods.append((words, names)))
    monkeypatch.setattr(signal, "pthread_sigmask", lambda *words: masks.append(words))
    monkeypatch.setattr(os, "environ", {"HTTP_PROXY": "x"})
    run_granian(app, host="localhost", port=0, workers=3, threads=4, settings=Settings(deadline=7.0))
    [(target, options)], [given] = made, served
    port = options.pop("port")
    assert target == "gatewayfw"
    assert port > 0
    http1 = options.pop("http1_settings")
    assert (http1.header_read_timeout, http1.max_buffer_size) == (10_000, 65_536)
    plain = granian_options(host=options["address"], port=port, workers=3, threads=4, deadline=7.0)
    del plain["port"], plain["http1_settings"]
    assert options == {**plain, "interface": Interfaces.WSGI, "http": HTTPModes.http1}
    assert options["address"] in ("127.0.0.1", "::1")
    assert methods == [(("fork",), {"force": True})]
    assert told == []
    worker = given.pop("target_loader")()
    assert given == {"wrap_loader": False}
    assert masks == [(signal.SIG_BLOCK, {signal.SIGINT})]
    assert told == [app]
    assert seen_by(worker, {"HTTP_PROXY": "x"}) == 405


def seen_by(application, environ):
    """Return the status that an application answers to a GET; its environ may lack what servers give."""
    found = []
    sent = {**EnvironBuilder("/api/gateway").get_environ(), **environ}
    application(sent, lambda status, headers: found.append(int(status[:3])))
    assert "HTTP_PROXY" not in sent
    return found[0]


def test_variables_of_the_environment_are_no_headers():
    found = []
    environment = {"HTTP_PROXY": "http://proxy", "HTTP_TOKEN": "t", "CONTENT_TYPE": "application/json", "PATH": "/bin"}
    environment |= {"CONTENT_LENGTH": "7"}
    app = without_environment(lambda environ, start_response: found.append(environ) or [], environment)
    app({**environment, "HTTP_TOKEN": "sent", "REQUEST_METHOD": "GET"}, None)
    assert found == [{"HTTP_TOKEN": "sent", "PATH": "/bin", "REQUEST_METHOD": "GET"}]


def test_an_environment_without_such_variables_costs_nothing(app):
    assert without_environment(app, {"PATH": "/bin", "HTTPS": "on"}) is app


#: A service whose acts tell who answers and which connection to the database is used, and one that takes its time.
PROGRAM = """
import os, sys, time
from gatewayfw import Reply, gateway
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

@gw.acts.act("thing", "made", set={}, get={})
def made(body):
    cookies = [{"name": name, "value": "1", "secure": False} for name in "ab"]
    return Reply("made", 201, {"Location": "/things/1"}, cookies)

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
        assert wait_until(ready, process=self.process, log=self.log), self.log()

    def ask(self, act="who"):
        """Call an act on a connection of its own; gives status and body."""
        with urllib3.HTTPConnectionPool("127.0.0.1", self._port, timeout=60, retries=False) as pool:
            reply = pool.request("POST", "/gateway", json={**BODY, "model": "thing", "act": act})
            return reply.status, reply.json()["body"]

    def head(self, act):
        """Call an act; gives status and the headers of the reply."""
        with urllib3.HTTPConnectionPool("127.0.0.1", self._port, timeout=60, retries=False) as pool:
            reply = pool.request("POST", "/gateway", json={**BODY, "model": "thing", "act": act})
            return reply.status, reply.headers

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
    assert len(pids) == 2
    assert granian.process.pid not in pids
    assert "opened before fork" not in granian.log()


@pytest.mark.mongo
@pytest.mark.slow
def test_granian_sends_the_status_headers_and_cookies_that_an_act_chose(granian):
    status, headers = granian.head("made")
    cookies = [f"{name}=1; Path=/; HttpOnly; SameSite=Lax" for name in "ab"]
    assert status == 201
    assert headers["Location"] == "/things/1"
    assert headers.getlist("Set-Cookie") == cookies
    assert (headers["Content-Type"], headers["Content-Length"]) == ("application/json", "30")


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
    assert granian.process.wait(30) == 0
    assert "\nstopped\n" in granian.log()


@pytest.mark.mongo
@pytest.mark.slow
def test_granian_replaces_a_worker_that_dies(granian):
    first = granian.pids()
    os.kill(min(first), signal.SIGKILL)
    granian.wait(lambda: granian.log().count("Started worker") == 3)
    found = granian.pids()
    assert min(first) not in found
    assert len(found) == 2
