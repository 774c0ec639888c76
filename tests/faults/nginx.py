"""nginx with the configuration that is shipped; only its port, its paths and the service's port are others.

A test that waits for its timeouts may shorten those of clients.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

CONFIGURATION = Path(__file__).parent.parent.parent / "sample_service" / "nginx.conf"
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def require_nginx():
    """Skip, or fail with ``GATEWAYFW_REQUIRE_NGINX=1``, where there is no nginx."""
    if find_nginx() is None:
        if os.environ.get("GATEWAYFW_REQUIRE_NGINX") == "1":
            pytest.fail("GATEWAYFW_REQUIRE_NGINX=1, but there is no nginx", pytrace=False)
        pytest.skip("there is no nginx")


def find_nginx():
    """Return the program's path, or None; Debian keeps it where an ordinary user does not look."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


class Nginx:
    """A running nginx in front of a port of 127.0.0.1; used inside ``with``.

    With ``patience`` clients that send nothing are dropped after this time, in nginx's notation.
    """

    def __init__(self, folder, upstream, patience=None):
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self._file = folder / "nginx.conf"
        text = placed(CONFIGURATION.read_text("utf-8"), folder, self.port, upstream)
        if patience:
            text = re.sub(r"(client_header|client_body|keepalive)_timeout \d{2}s;", rf"\1_timeout {patience};", text)
            text = text.replace("send_timeout 10s;", f"send_timeout 10s; lingering_timeout {patience};", 1)
        self._file.write_text(text, "utf-8")

    @property
    def log(self):
        """What nginx complained about."""
        return (self._folder / "error.log").read_text()

    def __enter__(self):
        command = [find_nginx(), "-p", str(self._folder), "-c", str(self._file), "-g", "daemon off;"]
        with (self._folder / "nginx.out").open("wb") as output:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        self._process.kill()
        self._process.wait()

    def _wait(self):
        for _ in range(400):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self._process.poll() is None, (self._folder / "nginx.out").read_text()
            time.sleep(0.02)
        raise AssertionError("nginx does not listen")


def placed(text, folder, port, upstream):
    """Return the configuration with other ports and paths, and the user who runs the tests."""
    temporary = "".join(f"    {name}_temp_path {folder / name};\n" for name in _TEMPORARY)
    changes = {
        r"^user www-data;$": "user root;" if os.geteuid() == 0 else "",
        r"^pid .*;$": f"pid {folder / 'nginx.pid'};",
        r"^error_log \S+ ": f"error_log {folder / 'error.log'} ",
        r"(?<=access_log )\S+": str(folder / "access.log"),
        r"^http \{\n": f"http {{\n{temporary}",
        r"(?<= listen )80;": f"127.0.0.1:{port};",
        r"(?<=server 127\.0\.0\.1:)8000;": f"{upstream};",
    }
    for pattern, other in changes.items():
        text, count = re.subn(pattern, other, text, flags=re.MULTILINE)
        assert count == 1, pattern
    return text
