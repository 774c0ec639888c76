"""Machines of one test: network namespaces of Linux on a bridge, each with an address of its own.

Needs root and iproute2. A machine can be cut off from all others and joined again.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from urllib3 import HTTPConnectionPool, Timeout
from urllib3.exceptions import HTTPError

from tests.sample_service.serving import WORKER_CLASS

ROOT = Path(__file__).parent.parent.parent
#: Seconds until a started host must be ready.
START_WAIT = 60.0


def can_make():
    """Whether this process may make namespaces."""
    return os.name == "posix" and os.geteuid() == 0 and shutil.which("ip") is not None


def _ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True, text=True)


class Machine:
    """One namespace; ``inside`` is the command that runs others in it."""

    def __init__(self, network, number):
        self.address = f"{network.prefix}.{10 + number}"
        self._name = f"{network.name}-{number}"
        self._outer, inner = f"{network.name}o{number}", f"{network.name}i{number}"
        self.inside = ("ip", "netns", "exec", self._name)
        _ip("netns", "add", self._name)
        _ip("link", "add", self._outer, "type", "veth", "peer", "name", inner, "netns", self._name)
        _ip("link", "set", self._outer, "master", network.name, "up")
        _ip("-n", self._name, "addr", "add", f"{self.address}/24", "dev", inner)
        _ip("-n", self._name, "link", "set", inner, "up")
        _ip("-n", self._name, "link", "set", "lo", "up")

    def cut_off(self):
        """Let nothing in or out, as when its cable is drawn."""
        _ip("link", "set", self._outer, "down")

    def join(self):
        """Connect it again."""
        _ip("link", "set", self._outer, "up")

    def remove(self):
        """Remove it; what runs in it must have ended."""
        _ip("netns", "del", self._name)


class Network:
    """A bridge with that many machines; used inside ``with``. This process can reach them all."""

    def __init__(self, count):
        self.name = f"gw{secrets.token_hex(3)}"
        self.prefix = f"10.{secrets.randbelow(100) + 100}.{secrets.randbelow(250)}"
        self._count = count
        self.machines = []

    def __enter__(self):
        _ip("link", "add", self.name, "type", "bridge")
        try:
            _ip("addr", "add", f"{self.prefix}.1/24", "dev", self.name)
            _ip("link", "set", self.name, "up")
            for number in range(self._count):
                self.machines.append(Machine(self, number))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for machine in self.machines:
            machine.remove()
        _ip("link", "del", self.name)


class Host:
    """The sample service on a machine, behind gunicorn as the sample configures it; used inside ``with``."""

    def __init__(self, machine, uri, key, log):
        self.pool = HTTPConnectionPool(
            machine.address, 8000, maxsize=16, retries=False, timeout=Timeout(connect=2.0, read=10.0)
        )
        environ = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAYFW_")}
        environ |= {"MONGODB_URI": uri, "GATEWAYFW_TOKEN_KEY": key, "GATEWAYFW_LOGIN_LIMIT": ""}
        bound = ["--bind", f"{machine.address}:8000", "--workers", "2", "--threads", "8", "--no-control-socket"]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*machine.inside, sys.executable, "-m", "gunicorn", *bound, "--worker-class", WORKER_CLASS]
                + ["sample_service:create_app()"],
                cwd=ROOT,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def is_ready(self):
        """Whether it answers its probe with 200."""
        try:
            return self.pool.request("GET", "/gateway/readyz", timeout=2.0).status == 200
        except HTTPError:
            return False

    def seconds_until_ready(self):
        """Wait until it is ready; return how long that took."""
        start = time.monotonic()
        while not self.is_ready():
            if time.monotonic() - start > START_WAIT:
                raise AssertionError(f"not ready after {START_WAIT:.0f} s")
            time.sleep(0.1)
        return time.monotonic() - start
