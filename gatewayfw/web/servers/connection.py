"""A connection of gunicorn's whose next request is received in steps."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
from collections.abc import Callable
from typing import Any

from gunicorn import http  # type: ignore[import-untyped]
from gunicorn import sock as sockets
from gunicorn.workers.gthread import TConn  # type: ignore[import-untyped]

from gatewayfw.web.servers.arrival import START, START_OF_PROXY, is_whole, look

#: Most bytes of one read.
BLOCK = 65536


#: A span of time as the kernel takes it: seconds and microseconds.
SPAN = struct.Struct("@ll")


class _TlsSocket(ssl.SSLSocket):
    """A socket whose writes heed `SO_SNDTIMEO`; one of `ssl` that blocks writes again."""

    def sendall(self, data: Any, flags: int = 0) -> None:
        seconds, microseconds = SPAN.unpack(self.getsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, SPAN.size))
        self.settimeout(seconds + microseconds / 1_000_000 or None)
        try:
            super().sendall(data, flags)
        finally:
            self.settimeout(None)


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A connection, and what has arrived of its next request.

    ``linger`` closes it when its client has had time to read the reply.
    """

    sock: Any
    parser: Any

    def __init__(
        self, cfg: Any, client: socket.socket, address: Any, server: Any, linger: Callable[[Connection], None]
    ) -> None:
        super().__init__(cfg, client, address, server)
        self.data_ready = True  # Threads need not wait for the first byte.
        self._linger = linger
        self._shaken = not cfg.is_ssl
        self.data = bytearray()
        self.sight = START if cfg.proxy_protocol == "off" else START_OF_PROXY
        #: Whether all of the request is there; whether the main loop need not read on.
        self.whole = self.decided = False
        #: When to give up, by the monotonic clock.
        self.deadline = 0.0
        #: Bytes that count as held by the worker; bytes that came after the last reply.
        self.held = self.drained = 0
        #: Whether its thread left it open for the next request.
        self.kept = False
        #: Whether it was cut: what comes now belongs to no request.
        self._is_cut = False

    def receive(self) -> bytes:
        """Return what is there, of TLS after the handshake; empty at the end.

        Raises:
            BlockingIOError, ssl.SSLWantReadError: there is nothing yet.
            OSError: the connection is broken.
        """
        if not self._shaken:
            if not isinstance(self.sock, ssl.SSLSocket):
                context = sockets.ssl_context(self.cfg)
                context.sslsocket_class = _TlsSocket
                options = {"server_side": True, "suppress_ragged_eofs": self.cfg.suppress_ragged_eofs}
                self.sock = context.wrap_socket(self.sock, do_handshake_on_connect=False, **options)
            self.sock.do_handshake()
            self._shaken = True
        return bytes(self.sock.recv(BLOCK))

    def add(self, data: bytes) -> None:
        """Look at further bytes of the request."""
        self.data += data
        self.sight = look(self.data, self.sight)
        self.whole = is_whole(self.data, self.sight)
        self.decided = self.whole or self.sight.part == "unsure"

    def hand_over(self) -> None:
        """Give the parser what has arrived."""
        if self.parser is None:  # As `TConn.init` would make it, which wraps the socket for TLS first.
            self.parser = http.get_parser(self.cfg, self.sock, self.client)
        self.parser.unreader.unread(self.data)
        self.data, self.sight = bytearray(), START
        self.whole = self.decided = False

    def result(self) -> bool:
        """Return what the thread has decided; gunicorn asks a future for it."""
        return self.kept and not self._is_cut

    def cancelled(self) -> bool:
        """Return False, as a future that ran."""
        return False

    def cut(self) -> None:
        """Let the thread that receives see the end of the connection now."""
        self._is_cut = True
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.sock, socket.SHUT_RD)  # that of SSLSocket would end TLS

    def close(self, graceful: bool = False) -> None:
        """Close it; ``graceful``: leave it to ``linger``."""
        if graceful:
            self._linger(self)
        else:
            super().close()
