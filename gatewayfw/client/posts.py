"""Bounded requests of the client in a generated module, over kept connections.

They need nothing but Python; `gatewayfw.wire` does the same by urllib3.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import io
import math
import os
import re
import selectors
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gatewayfw.client.errors import BadReply, NoReply
from gatewayfw.wire.bounded import Bounded, seconds_left
from gatewayfw.wire.json_text import decode, holds_too_many

_KEPT_CONNECTIONS = 8
#: Bytes that head and framing of a reply may take, besides as much as the largest body.
_FRAMING = 1024 * 1024


class Posts:
    """Posts to one URL, each within ``timeout`` seconds.

    A reply has at most ``most`` bytes. Threads may share it.
    """

    def __init__(self, url: str, timeout: float, most: int) -> None:
        parts = urlsplit(url)
        host = parts.hostname if re.fullmatch("[!-~]+", url) else None
        if not host or parts.scheme not in ("http", "https") or "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError("url: expected http:// or https://, a host, and neither credentials nor a query")
        if not (timeout > 0 and math.isfinite(timeout)):
            raise ValueError("timeout: expected seconds above 0")
        path = parts.path.rstrip("/")
        self._path = path if path.endswith("/gateway") else f"{path}/gateway"
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connect = functools.partial(kind, host, parts.port, timeout=timeout)
        self._timeout, self._most = timeout, most
        self._idle: tuple[int, list[http.client.HTTPConnection]] = (os.getpid(), [])

    def close(self) -> None:
        """Close the open connections; another post opens new ones."""
        while self._idle[1]:
            self._idle[1].pop().close()

    def post(self, data: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a body.

        Raises:
            NoReply: none came, or not in time.
            BadReply: it is too large, or not from a gateway.
        """
        until = time.monotonic() + self._timeout
        connection = self._connection()
        try:
            reply = self._exchange(connection, until, data, headers)
        except BaseException:
            connection.close()
            raise
        self._keep(connection)
        return reply

    def _exchange(
        self, connection: http.client.HTTPConnection, until: float, data: bytes, headers: Mapping[str, str]
    ) -> Reply:
        try:
            if connection.sock is None:
                connection.connect()
        except ssl.SSLError as error:
            raise NoReply("the secure connection to the gateway failed", code="no_reply") from error
        except OSError as error:
            raise NoReply("the gateway is unreachable", code="unreachable") from error
        connection.response_class = functools.partial(_Response, until, 2 * self._most + _FRAMING)  # type: ignore[assignment]  # it is only called
        try:
            connection.sock.settimeout(seconds_left(until))
            with contextlib.suppress(BrokenPipeError):  # a server that refuses early may have replied
                connection.request("POST", self._path, data, dict(headers))
            with connection.getresponse() as response:
                return self._read(response)
        except TimeoutError as error:
            raise NoReply("the gateway took too long", code="timeout") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise NoReply("the connection broke before the reply was complete", code="no_reply") from error

    def _read(self, response: http.client.HTTPResponse) -> Reply:
        status, headers = response.status, {name.lower(): value for name, value in response.headers.items()}
        if not (200 <= status <= 299 or 400 <= status <= 599):
            raise bad_reply("it answered with a redirect or an unknown status", status, headers)
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise bad_reply("its answer is not application/json", status, headers)
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise bad_reply("its answer is compressed", status, headers)
        if "," in headers.get("content-length", ""):
            raise http.client.HTTPException  # two lengths
        if (response.length or 0) > self._most:
            raise bad_reply("its answer is too large", status, headers)
        text = bytearray()
        try:
            while chunk := response.read1(65536):
                text += chunk
                if len(text) > self._most:
                    raise bad_reply("its answer is too large", status, headers)
        except ValueError as error:  # http.client of a chunk whose size is below zero
            raise bad_reply("its answer cannot be read", status, headers) from error
        if response.length:
            raise http.client.HTTPException  # the end is missing
        return Reply(status, headers, _envelope(bytes(text), status, headers))

    def _connection(self) -> http.client.HTTPConnection:
        """Return a kept connection that is still open, or a new one."""
        if self._idle[0] != os.getpid():  # a forked process must not write to its parent's sockets
            self._idle = (os.getpid(), [])
        while self._idle[1]:
            try:
                connection = self._idle[1].pop()
            except IndexError:  # another thread was faster
                break
            if connection.sock is not None and _is_silent(connection.sock):
                return connection
            connection.close()
        return self._connect()

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        if connection.sock is not None and len(self._idle[1]) < _KEPT_CONNECTIONS:
            self._idle[1].append(connection)
        else:
            connection.close()


class Reply(NamedTuple):
    """What came: ``headers`` by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    envelope: Mapping[str, Any]


class _Response(http.client.HTTPResponse):
    def __init__(self, until: float, most: int, sock: socket.socket, *args: Any, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self.fp = io.BufferedReader(Bounded(self.fp.detach(), sock, until, most))


def _is_silent(sock: socket.socket) -> bool:
    """Tell whether nothing waits to be read: bytes nobody asked for, or the end."""
    with selectors.DefaultSelector() as selector:
        selector.register(sock, selectors.EVENT_READ)
        return not selector.select(0)


def _envelope(text: bytes, status: int, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the JSON of a reply, if it is one of a gateway."""
    if holds_too_many(text):
        raise bad_reply("its answer holds too many values", status, headers)
    found = decode(text)
    if not isinstance(found, dict) or found.keys() != {"body", "success"} or not isinstance(found["success"], bool):
        raise bad_reply("its answer is not an envelope", status, headers)
    is_batch = status < 300 and isinstance(found["body"], list)
    if not (found["success"] or is_batch or is_refusal(found["body"])):
        raise bad_reply("its answer is not an envelope", status, headers)
    if found["success"] != (status < 300) and not is_batch:
        raise bad_reply("the status of its answer contradicts its envelope", status, headers)
    return found


def is_refusal(body: object) -> bool:
    """Tell whether a body is that of an error."""
    return isinstance(body, dict) and isinstance(body.get("message"), str)


def bad_reply(reason: str, status: int, headers: Mapping[str, str]) -> BadReply:
    """Return the error for a reply that is not from a gateway.

    It quotes nothing of it but its id.
    """
    request_id = headers.get("x-request-id", "")
    known = request_id if re.fullmatch("[A-Za-z0-9._-]{1,64}", request_id) else None
    return BadReply(f"bad reply of the gateway: {reason}", status, "bad_reply", request_id=known)
