"""Ending a command early: Ctrl-C, and SIGTERM as a supervisor sends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Give an event that the first of the two signals sets; the second raises `KeyboardInterrupt`.

    For the main thread only, as signals are.
    """
    stop = threading.Event()

    def asked(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = [signal.signal(one, asked) for one in _SIGNALS]
    try:
        yield stop
    finally:
        for one, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(one, handler)
