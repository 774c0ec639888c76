"""Connections to remote services; one point in time ends each request.

The time-outs of sockets and of urllib3 start anew with every byte, piece and address, so that a
server which sends one byte per second would hold a worker for hours.
"""

from __future__ import annotations

import io
import math
import socket
import time
from http.client import HTTPResponse as RawResponse
from typing import Any

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError
from urllib3.util.connection import create_connection

from gatewayfw.wire.bounded import Bounded


class _Response(RawResponse):
    def __init__(self, sock: socket.socket, *args: Any, most: int, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        seconds = sock.gettimeout()
        until = math.inf if seconds is None else time.monotonic() + seconds
        self.fp = io.BufferedReader(Bounded(self.fp.detach(), sock, until, most))


class _Connection(HTTPConnection):
    """A connection that connects and sends before one point in time.

    urllib3 2.8 gives each address of the host, the handshake and each piece sent the whole time anew.
    """

    _until: float | None = None

    def __init__(self, *args: Any, most: int, **kwargs: Any) -> None:
        """Take urllib3's arguments, and the ``most`` bytes of one answer."""
        super().__init__(*args, **kwargs)
        self._most = most
        self._raw: _Response | None = None

    def response_class(self, *args: Any, **kwargs: Any) -> _Response:  # type: ignore[override]  # it is only called
        """Return what reads the next answer."""
        self._raw = _Response(*args, most=self._most, **kwargs)
        return self._raw

    def connect(self) -> None:
        """Connect in the time that urllib3 allows; sending has the rest of it."""
        self._begin()
        super().connect()

    def send(self, data: Any) -> None:
        """Connect where needed, and send a piece."""
        self._begin()
        if self.sock is None:
            self.connect()
        self.sock.settimeout(self._left())
        try:
            super().send(data)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, "sending timed out") from error

    def getresponse(self) -> BaseHTTPResponse:  # type: ignore[override]  # as in urllib3
        """Return the answer, which has a time limit of its own."""
        self._until = None
        try:
            return super().getresponse()
        except BaseException:
            if self._raw is not None:
                self._raw.close()  # urllib3 2.8 leaves it open when it refuses a header
            raise
        finally:
            self._raw = None

    def close(self) -> None:
        """Close; the next connection starts the time again."""
        self._until = None
        super().close()

    def _begin(self) -> None:
        if self._until is None:
            self._until = time.monotonic() + float(self.timeout or 0)

    def _new_conn(self) -> socket.socket:
        failed: Exception = OSError("the host has no address")
        for address in self._addresses():
            try:
                sock = create_connection(address, self._left(), socket_options=self.socket_options)
            except OSError as error:
                failed = error
            else:
                sock.settimeout(self._left())
                return sock
        if isinstance(failed, TimeoutError):
            raise ConnectTimeoutError(self, "connecting timed out") from failed
        raise NewConnectionError(self, "no connection") from failed

    def _addresses(self) -> list[tuple[str, int]]:
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # the second for a label that is too long
            raise NewConnectionError(self, "no address") from error
        return [(str(address[0]), int(address[1])) for *_, address in found]

    def _left(self) -> float:
        left = (self._until or 0.0) - time.monotonic()
        if left <= 0:
            raise ConnectTimeoutError(self, "connecting and sending timed out")
        return left


class _SecureConnection(_Connection, HTTPSConnection):
    @property
    def is_connected(self) -> bool:
        """Tell whether the connection can be used again.

        Decrypted bytes that nobody asked for make it useless.
        """
        return super().is_connected and not getattr(self.sock, "pending", int)()


class Pool(HTTPConnectionPool):
    """Connections to one host over http."""

    ConnectionCls = _Connection


class SecurePool(HTTPSConnectionPool):
    """Connections to one host over https, verified as urllib3 does by default."""

    ConnectionCls = _SecureConnection
