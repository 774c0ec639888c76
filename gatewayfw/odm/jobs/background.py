"""The thread of each process that works on jobs in the background."""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Callable
from typing import final

from gatewayfw.errors import GatewayError
from gatewayfw.logs import traceback_of

_LOG = logging.getLogger("gatewayfw.odm")
#: Seconds between two searches for jobs that another process left behind.
PAUSE = 10.0
#: Seconds until the next search while jobs are left, or after a failure.
SHORT_PAUSE = 1.0


@final
class JobThread:
    """Calls ``work`` now and then, in a daemon thread, once it was started.

    ``work`` is a bound method that works on jobs and returns how many are left. The thread has only a weak
    reference to it, and ends when its owner is collected.
    """

    def __init__(self, work: Callable[[], int]) -> None:
        self._work = weakref.WeakMethod(work, lambda _: self._wake.set())
        self._wake = threading.Event()
        self._pid = 0

    def start(self) -> None:
        """Start the thread unless this process has one: threads do not survive a fork."""
        if self._pid != os.getpid():
            self._pid, self._wake = os.getpid(), threading.Event()
            threading.Thread(target=_run, args=(self._work, self._wake), name="gatewayfw-jobs", daemon=True).start()

    def wake(self) -> None:
        """Make the thread of this process, if there is one, search at once."""
        if self._pid == os.getpid():
            self._wake.set()


def _run(owner: weakref.WeakMethod[Callable[[], int]], wake: threading.Event) -> None:
    pause = 0.0  # another process may have left jobs behind
    waits = False
    while True:
        wake.wait(pause)
        wake.clear()
        work = owner()
        if work is None:
            return
        try:
            pause = SHORT_PAUSE if work() else PAUSE
            waits = False
        except GatewayError as error:
            if not waits:  # once per outage, not each second
                _LOG.warning("job worker paused: %s", error.message)
            pause, waits = SHORT_PAUSE, True
        except Exception as error:  # a dead thread would leave copies stale until the process ends
            _LOG.error("the work on jobs failed\n%s", traceback_of(error))
            pause = PAUSE
        del work
