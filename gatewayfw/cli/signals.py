"""Ending a command early: Ctrl-C, and SIGTERM as a supervisor sends it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """Provide an event that the first of two signals sets.

    The second raises `KeyboardInterrupt`. Only the main thread can handle signals.
    """
    stop = threading.Event()

    def asked(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    with _handled(asked, signal.SIGINT, signal.SIGTERM):
        yield stop


def interruptible() -> AbstractContextManager[None]:
    """Let SIGTERM raise `KeyboardInterrupt` inside, as Ctrl-C does. Main thread only."""
    return _handled(signal.default_int_handler, signal.SIGTERM)


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], *signals: signal.Signals) -> Iterator[None]:
    before = [(one, signal.signal(one, handler)) for one in signals]
    try:
        yield
    finally:
        for one, former in before:
            signal.signal(one, former)
