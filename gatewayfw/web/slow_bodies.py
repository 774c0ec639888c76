"""How long a client may take to send a body: by the bytes that arrived."""

import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any, Self, final

from flask import Request

from gatewayfw import messages
from gatewayfw.errors import BadRequest

#: Seconds that a body may take, and the bytes that earn one second more. Our choice: a slow phone sends twice as much.
SECONDS, EARNS = 20.0, 8 * 1024
#: Bytes that are read at once.
CHUNK = 64 * 1024
#: The keys under which servers give the socket of the request.
_SOCKETS = ("gunicorn.socket", "werkzeug.socket")
#: Bytes of a read that nobody can end: a server waits for all of them.
_STEP = 1024


@final
class Patience:
    """The time for one body; used inside ``with`` while it is read.

    It has `SECONDS`, and one more for each `EARNS` bytes that arrived; only the time in `read` counts. A server waits
    until all bytes of a read are there. So the connection is cut when the time is over, as far as the server gives its
    socket; else little is read at once, and the time is looked at in between.
    """

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._socket = next((environ[key] for key in _SOCKETS if key in environ), None)
        self._count, self._spent = 0, 0.0
        self._since: float | None = None
        self._is_cut = False
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        if self._socket is not None:
            threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()

    def read(self, stream: IO[bytes]) -> bytes:
        """Return the next bytes, `CHUNK` at most; nothing at the end.

        Raises:
            BadRequest: the time is over.
        """
        size = _STEP if self._socket is None else CHUNK
        self._since = begun = time.monotonic()
        try:
            block = stream.read(size)
            self._count += len(block)
        finally:
            self._since = None
            self._spent += time.monotonic() - begun
            if self._is_cut or self._left() <= 0:
                raise BadRequest(messages.SLOW_BODY)
        return block

    def discard(self, request: Request, most: int) -> None:
        """Read what is left of an unwanted body, up to ``most`` bytes, while that works.

        A server closes a connection with such a rest. A proxy that is still sending it, or sends the next request on
        that connection, whoever's it is, then answers 502.
        """
        with suppress(Exception):
            while most > 0 and not self._is_cut and self._left() > 0 and (block := self.read(request.stream)):
                most -= len(block)

    def _left(self) -> float:
        since = self._since
        reading = 0.0 if since is None else time.monotonic() - since
        return SECONDS + self._count / EARNS - self._spent - reading

    def _watch(self) -> None:
        while not self._ended.wait(max(self._left(), 0.01)):
            if self._since is not None and self._left() <= 0:
                self._is_cut = True
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RD)  # type: ignore[arg-type]  # never None here
                return
