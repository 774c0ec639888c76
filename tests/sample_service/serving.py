"""The sample service on each server: behind gunicorn as it is deployed, 2 workers of 8 threads."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import urllib3

from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
#: The worker class of `sample_service/gunicorn.conf.py`.
WORKER_CLASS = "gthread"
_LISTENING = re.compile(r"(?:Listening at:|serving in this process at) http://127\.0\.0\.1:(\d+)")
#: Runs `run_server` with the server that it is told.
_PROGRAM = """
import logging, os, sys
from sample_service.app import create_service, options_from
logging.basicConfig(level=logging.INFO)
gw = create_service(os.environ["MONGODB_URI"]).gw
gw.run_server(port=0, workers=2, threads=8, server=sys.argv[1], **options_from(os.environ))
"""


def _die_with_parent():
    """On Linux, let the kernel end the server when the tests are killed: PR_SET_PDEATHSIG is 1."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Gunicorn:
    """A running server; ``log`` is the file it writes to, ``app`` what it serves."""

    started = 0

    def __init__(self, options, uri, key, log, app="sample_service:create_app()", **more):
        self.log = log
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAYFW_")}
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, *self._command(app, options)],
                cwd=ROOT,
                env={**environ, **more, "MONGODB_URI": uri, "GATEWAYFW_TOKEN_KEY": key, "GATEWAYFW_LOGIN_LIMIT": ""},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._pool = urllib3.HTTPConnectionPool("127.0.0.1", self._port(), maxsize=16, timeout=30, retries=False)

    def _command(self, app, options):
        command = ["-m", "gunicorn", app, "--workers", "2", "--worker-class", WORKER_CLASS]
        return [*command, "--threads", "8", "--bind", "127.0.0.1:0", "--no-control-socket", *options]

    def _port(self):
        found = wait_until(
            lambda: _LISTENING.search(self.log.read_text()), process=self._process, log=self.log.read_text
        )
        ready = wait_until(lambda: self.log.read_text().count("Started worker") >= self.started, process=self._process)
        assert found, f"the server does not listen: {self.log.read_text()}"
        assert ready, f"the workers do not start: {self.log.read_text()}"
        return int(found[1])

    @property
    def pool(self):
        """The connections to it."""
        return self._pool

    def post(self, data, headers):
        """Send one request; gives status and body."""
        reply = self._pool.request("POST", "/gateway", body=data, headers=headers)
        return reply.status, reply.data

    def stop(self):
        """End the server, in peace if it can."""
        self._pool.close()
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(3)
            return
        # A worker of gunicorn that was just being forked has not heard of it.
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(12)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Waitress(Gunicorn):
    """The same on waitress, with 8 threads in one process."""

    name = "waitress"
    started = 0

    def _command(self, app, options):
        return ["-c", _PROGRAM, self.name, *options]
