"""What a server sends, read until a point in time and up to a number of bytes."""

from __future__ import annotations

import io
import math
import socket
import time
from typing import Any


class Bounded(io.RawIOBase):
    """Reads a connection until a point in time, and at most ``most`` bytes.

    ``until`` is one of the monotonic clock, or infinite. Head and framing count too: http.client bounds each line,
    but neither their number nor a chunk whose size is below zero.
    """

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, until: float, most: int) -> None:
        self._raw, self._sock, self._until, self._most = raw, sock, until, most

    def readable(self) -> bool:
        """Tell that it can be read."""
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
        """Close what it reads."""
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
