"""waitress: its options, whole requests before threads, its end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import urllib3

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.web.servers import serve, waitress_options
from tests.waiting import wait_until
from tests.web.mount import BODY

OPTIONS = {"workers": 1, "threads": 2, "settings": Settings(), "most_bytes": 1000, "server": "waitress"}


@pytest.mark.parametrize("multi_process", [True, False])
def test_waitress_that_is_not_installed_is_named(app, monkeypatch, multi_process):
    monkeypatch.setitem(sys.modules, "waitress", None)
    with pytest.raises(DefinitionError) as caught:
        serve(app, host="127.0.0.1", port=0, multi_process=multi_process, **OPTIONS)
    assert caught.value.message == (
        "option 'server': 'waitress' needs the library waitress: pip install waitress, or the extra gatewayfw[waitress]"
    )


def test_waitress_is_bounded_and_trusts_no_proxy():
    assert waitress_options(threads=3, most_bytes=1000) == {
        "threads": 3,
        "connection_limit": 400,
        "channel_timeout": 10,
        "cleanup_interval": 5,
        "max_request_header_size": 32_768,
        "max_request_body_size": 66_536,
        "asyncore_use_poll": True,
        "log_socket_errors": False,
        "clear_untrusted_proxy_headers": False,
    }


@pytest.mark.parametrize("multi_process", [True, False])
def test_waitress_serves_in_this_process(app, monkeypatch, multi_process):
    ran = []
    monkeypatch.setattr("gatewayfw.web.servers.run_waitress", lambda *words, **names: ran.append((words, names)))
    serve(app, host="h", port=1, multi_process=multi_process, **OPTIONS)
    options = {"host": "h", "port": 1, "threads": 2, "settings": OPTIONS["settings"], "most_bytes": 1000}
    assert ran == [((app,), options)]


#: A service on waitress with two threads, whose acts tell who answers, or take their time.
PROGRAM = """
import sys, time
from werkzeug.middleware.proxy_fix import ProxyFix
from gatewayfw import gateway
gw = gateway(max_body_bytes=100_000)
make = gw.create_app

def create_app(**options):
    app = make(**options)
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1)
    return app

@gw.acts.act("thing", "who", set={}, get={})
def who(body):
    return gw.context_fns.get_context_model()["Address"]

@gw.acts.act("thing", "slow", set={}, get={})
def slow(body):
    print("begun", flush=True)
    time.sleep(0.3)
    return "x" * 5_000_000

object.__setattr__(gw, "create_app", create_app)
gw.run_server(port=int(sys.argv[1]), threads=2, server="waitress")
print("stopped", flush=True)
"""


class Waitress:
    """The program, as a process."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.address = probe.getsockname()
        self._log = folder / "waitress.log"
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                # As under nohup: SIGTERM ends it although SIGINT is ignored.
                ["sh", "-c", "trap '' INT; exec \"$@\"", "-", sys.executable, "-c", PROGRAM, str(self.address[1])],
                env={**os.environ, "PYTHONPATH": os.getcwd()},
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

    def listens(self):
        """Whether it takes connections."""
        with socket.socket() as probe:
            return probe.connect_ex(self.address) == 0

    def ask(self, act="who", **headers):
        """Call an act on a connection of its own; gives status and body."""
        with urllib3.HTTPConnectionPool(*self.address, timeout=60, retries=False) as pool:
            reply = pool.request("POST", "/gateway", json={**BODY, "model": "thing", "act": act}, headers=headers)
            return reply.status, reply.json()["body"]

    def send(self, size):
        """Send a body of so many bytes; gives status and reply."""
        with urllib3.HTTPConnectionPool(*self.address, timeout=60, retries=False) as pool:
            reply = pool.request("POST", "/gateway", body=b" " * size, headers={"Content-Type": "application/json"})
            return reply.status, reply.data

    def end(self):
        """Kill what is left of it."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def running(folder):
    """Run the program until the end of the block."""
    waitress = Waitress(folder)
    try:
        waitress.wait(waitress.listens)
        yield waitress
    finally:
        waitress.end()


@pytest.fixture(scope="module")
def waitress(tmp_path_factory):
    """The program, listening."""
    with running(tmp_path_factory.mktemp("waitress")) as waitress:
        yield waitress


def test_the_address_of_a_caller_is_what_the_proxy_of_the_app_says(waitress):
    assert waitress.ask(**{"X-Forwarded-For": "203.0.113.7"}) == (200, "203.0.113.7")


def test_a_body_that_is_too_large_is_refused_by_the_gateway_or_before(waitress):
    status, reply = waitress.send(100_001)
    assert (status, json.loads(reply)["body"]) == (413, {"message": "the request body is too large"})
    assert waitress.send(200_000)[0] == 413


@pytest.mark.parametrize("sent", [b"POST /gate", b"POST /gateway HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"])
def test_clients_that_stop_in_the_middle_hold_no_thread(waitress, sent):
    with contextlib.ExitStack() as stack:
        for _ in range(10):
            stack.enter_context(socket.create_connection(waitress.address)).sendall(sent)
        assert waitress.ask() == (200, "127.0.0.1")


@pytest.mark.slow
def test_what_is_under_way_is_answered_when_it_is_stopped(tmp_path):
    with running(tmp_path) as waitress, ThreadPoolExecutor(2) as clients:
        replies = [clients.submit(waitress.ask, "slow") for _ in range(2)]
        waitress.wait(lambda: waitress.log().count("begun") == 2)
        waitress.process.send_signal(signal.SIGTERM)
        answers = [reply.result() for reply in replies]
        assert answers == [(200, "x" * 5_000_000)] * 2
        assert waitress.process.wait(30) == 0
        assert "\nstopped\n" in waitress.log()
        assert not waitress.listens()
