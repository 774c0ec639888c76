"""Fixtures of the tests of programs that are started."""

from __future__ import annotations

import pytest

from gatewayfw.testing.mongod import find_mongod


@pytest.fixture
def program(tmp_path):
    """A file that looks like a mongod; it ends at once with status 3 and a complaint."""
    path = tmp_path / "bin" / "mongod"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\necho no such option\nexit 3\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def found(mongod_uri):
    """A mongod to start: `mongod_uri` skips or fails without one, but may name a server that runs elsewhere."""
    program = find_mongod()
    if program is None:
        pytest.skip("there is a server, but no mongod to start")
    return program
