"""What tests ask of servers that run."""

from __future__ import annotations

import socket

import pytest

needs_mongod = pytest.mark.mongo


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
