"""How requests get to a gateway: bounded posts over kept connections, or a call of the WSGI app."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol, final

from flask import Flask
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPHeaderDict, Timeout
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as TooSlow
from urllib3.util import parse_url

from gatewayfw.acts.connections import Pool, SecurePool
from gatewayfw.client.replies import NoReply, Reply, check_head

_CHUNK = 64 * 1024
#: Bytes that head and framing of a reply may take, besides as much as the largest body.
_FRAMING = 1024 * 1024


class Transport(Protocol):
    """What brings a request to the gateway and its reply back; shared by clients with different tokens."""

    def post(self, data: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a request body."""


@final
class Http:
    """Bounded posts to one URL, over kept connections."""

    def __init__(self, target: str, timeout: float, connections: int, max_bytes: int) -> None:
        self._target = parse_url(target)
        self._timeout = timeout
        self._connections = connections
        self._max_bytes = max_bytes
        self._kept: tuple[int, HTTPConnectionPool] | None = None

    def close(self) -> None:
        """Close what is kept open."""
        kept, self._kept = self._kept, None
        if kept is not None and kept[0] == os.getpid():
            kept[1].close()

    def post(self, data: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a request body.

        Raises:
            NoReply: none came, or not in time.
            BadReply: it is too large, or none of a gateway.
        """
        try:
            return self._posted(data, headers)
        except NewConnectionError as error:  # a subclass of the time-out below
            raise NoReply("the gateway is unreachable", code="unreachable") from error
        except TooSlow as error:
            raise NoReply("the gateway took too long", code="timeout") from error
        except SSLError as error:
            raise NoReply("the secure connection to the gateway failed", code="no_reply") from error
        except HTTPError as error:
            raise NoReply("the connection broke before the reply was complete", code="no_reply") from error

    def _posted(self, data: bytes, headers: Mapping[str, str]) -> Reply:
        response = self._pool().urlopen(
            "POST",
            self._target.request_uri,
            body=data,
            headers={"User-Agent": "gatewayfw", **headers},
            timeout=Timeout(connect=self._timeout, total=self._timeout),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        try:
            return self._read(response)
        except BaseException:
            response.close()  # what is left unread must not be read by the next call
            raise
        finally:
            response.release_conn()

    def _read(self, response: BaseHTTPResponse) -> Reply:
        reply = Reply(response.status, response.headers, b"")
        check_head(reply)
        if (response.length_remaining or 0) > self._max_bytes:  # what Content-Length announces
            raise reply.bad("its answer is too large")
        data = bytearray()
        try:
            for chunk in response.stream(_CHUNK, decode_content=False):
                data += chunk
                if len(data) > self._max_bytes:
                    raise reply.bad("its answer is too large")
        except ValueError as error:  # http.client of a chunk whose size is below zero
            raise reply.bad("its answer cannot be read") from error
        return Reply(response.status, response.headers, bytes(data))

    def _pool(self) -> HTTPConnectionPool:
        # No lock: a fork could copy a held one. Of two threads that race, one makes a pool that is used once.
        found = self._kept
        if found is None or found[0] != os.getpid():
            kind = SecurePool if self._target.scheme == "https" else Pool
            most = 2 * self._max_bytes + _FRAMING
            pool = kind(self._target.host or "", self._target.port, maxsize=self._connections, most=most)
            found = self._kept = (os.getpid(), pool)
        return found[1]


@final
class InProcess:
    """Requests through the WSGI app."""

    def __init__(self, app: Flask, path: str) -> None:
        self._app = app
        self._path = path

    def post(self, data: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a request body; what the app lets through is raised."""
        # A test client for each call: one must not be shared by threads, and would keep cookies.
        with self._app.test_client().post(self._path, data=data, headers=dict(headers)) as response:
            return Reply(response.status_code, HTTPHeaderDict(list(response.headers)), response.get_data())
