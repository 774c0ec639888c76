"""Connections to one host; points in time end connecting, sending and reading.

The time-outs of sockets start anew with every address and byte, so that a server which sends one byte per second would
hold a thread for hours.
"""

import contextlib
import functools
import http.client
import io
import math
import selectors
import socket
import ssl
import time
from typing import Any, cast


class Unreachable(OSError):
    """There was no connection, so nothing was sent."""


class PostConnection(http.client.HTTPConnection):
    """A connection for one post after another; an answer has at most ``most`` bytes.

    With a ``context`` it is encrypted.
    """

    auto_open = 0

    def __init__(self, host: str, port: int, context: ssl.SSLContext | None, most: int) -> None:
        super().__init__(host, port)
        self.default_port = 80 if context is None else 443
        self._context = context
        self._most = most
        self._until = 0.0

    def open(self, until: float) -> None:
        """Connect, before a point in time.

        Raises:
            Unreachable: there is no such host, or it refuses.
            TimeoutError: it was too late.
            OSError: it does not speak TLS, or its certificate is not valid.
        """
        sock = self._connected(until)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                sock = self._context.wrap_socket(sock, server_hostname=self.host, do_handshake_on_connect=False)
                sock.settimeout(seconds_left(until))  # of the whole handshake
                sock.do_handshake()
        except BaseException:
            sock.close()
            raise
        self.sock = sock

    def post(self, path: str, data: bytes, headers: dict[str, str], until: float) -> http.client.HTTPResponse:
        """Send a body and return the answer, which is read before a point in time, too."""
        self._until = until
        made = functools.partial(_Response, until, self._most)
        self.response_class = cast("type[http.client.HTTPResponse]", made)  # it is only called
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # who refuses early may have answered
            self.request("POST", path, data, headers)
        return self.getresponse()

    def send(self, data: Any) -> None:
        view = memoryview(data)
        while view:
            self.sock.settimeout(seconds_left(self._until))
            view = view[self.sock.send(view) :]

    def is_usable(self) -> bool:
        """Tell whether it is open and nothing waits to be read, such as the end."""
        if self.sock is None or getattr(self.sock, "pending", int)():
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self.sock, selectors.EVENT_READ)
            return not selector.select(0)

    def _connected(self, until: float) -> socket.socket:
        try:
            addresses = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # the second for a label that is too long
            raise Unreachable("the host has no address") from error
        failed = OSError("the host has no address")
        for number, (*_, address) in enumerate(addresses):
            try:
                seconds = seconds_left(until) / (len(addresses) - number)
                return socket.create_connection((str(address[0]), int(address[1])), seconds)
            except OSError as error:
                failed = error
        if isinstance(failed, TimeoutError):
            raise failed
        raise Unreachable("no connection") from failed


class _Response(http.client.HTTPResponse):
    def __init__(self, until: float, most: int, sock: socket.socket, *args: Any, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self.fp = io.BufferedReader(Bounded(self.fp.detach(), sock, until, most))


class Bounded(io.RawIOBase):
    """Reads a connection until a point in time, and at most ``most`` bytes.

    ``until`` is one of the monotonic clock, or infinite. Head and framing count too: http.client bounds each line,
    but neither their number nor a chunk whose size is below zero.
    """

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, until: float, most: int) -> None:
        self._raw, self._sock, self._until, self._most = raw, sock, until, most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill the buffer with what is there, or wait for the rest of the time."""
        left = seconds_left(self._until)
        self._sock.settimeout(None if math.isinf(left) else left)
        count = self._raw.readinto(buffer)
        self._most -= count or 0
        if self._most < 0:
            raise OSError("too much was sent")
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def seconds_left(until: float) -> float:
    """Return the seconds until a point in time.

    Raises:
        TimeoutError: it has come.
    """
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left
