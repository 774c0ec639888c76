"""What each worker process of gunicorn is told of numbers, metrics and signals."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from itertools import count

from gatewayfw.environment import METRICS_VARIABLE


def free_number(workers: Iterable[object]) -> int:
    """Return the lowest number that no worker has, from 0 on; others may have none."""
    taken = {getattr(worker, "number", None) for worker in workers}
    return next(number for number in count() if number not in taken)


def name_metrics(name: str, environ: Mapping[str, str] = os.environ) -> None:
    """Keep what this process counts in files of this name, before anything is counted.

    prometheus_client names them after process ids: all workers that ever ran would leave files, and each look at the
    metrics reads them all. A name that is used again goes on with the numbers of the process that had it.
    """
    if not environ.get(METRICS_VARIABLE) or find_spec("prometheus_client") is None:
        return
    from prometheus_client import values

    values.ValueClass = values.MultiProcessValue(lambda: name)  # type: ignore[no-untyped-call]


def leave_interrupts_to_the_master() -> None:
    """Ignore Ctrl-C in a worker; the master stops it.

    A terminal sends SIGINT to the whole process group. Together with the master's SIGQUIT it enters
    the worker's signal handler twice, and gunicorn 27.0.1 then waits for a lock that it holds itself,
    until it is killed after 30 s.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
