"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time


def wait_until(condition, seconds=60.0, *, process=None, log=lambda: ""):
    """Wait until a condition gives something true, and return that; the last it gave when time is over.

    Fails with what `log` says when the `process` that is to bring it about has ended.
    """
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        assert process is None or process.poll() is None, log()
        time.sleep(0.02)
    return found
