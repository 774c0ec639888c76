"""A mongod without a replica set, for tests of what only such a one does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gatewayfw.testing.mongod import find_free_port, find_mongod


@contextmanager
def standalone_mongod(data: Path, *more: str) -> Iterator[int]:
    """Run a standalone mongod inside ``with`` and give its port; it may not take connections yet.

    ``more`` are further options. The test is skipped where there is a server, but no mongod to start.
    """
    program = find_mongod()
    if program is None:
        pytest.skip("there is a server, but no mongod to start")
    port = find_free_port()
    options = ["--dbpath", str(data), "--port", str(port), "--bind_ip", "127.0.0.1", "--nounixsocket", *more]
    options += ["--wiredTigerCacheSizeGB", "0.25", "--setParameter", "diagnosticDataCollectionEnabled=false"]
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield port
        finally:
            process.terminate()
