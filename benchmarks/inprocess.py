"""Measurements without a server: CPU time of calls in this process, and instructions where valgrind is."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import orjson

from benchmarks import canned, instructions, report
from benchmarks.contenders import CONTENDERS, REFERENCE, Contender
from benchmarks.counting import call
from benchmarks.dataset import Size
from benchmarks.load import Request
from benchmarks.report import Spread
from benchmarks.service import make_gateway
from benchmarks.works import WORKS
from gatewayfw.web.reply import success

#: The works a canned database can answer.
CANNED = ("ping", "getUser", "getCountry")
#: The gateway's own part: JSON in, context, dispatch, validation, act, JSON out.
FRAMEWORK = "gatewayfw without Flask"


def body_of(contender: Contender, work: str) -> Request:
    """Return a request, always the same."""
    return contender.request(WORKS[work], WORKS[work].details(random.Random(1), Size()))


#: Who is called in process: servers do not matter here, and other frameworks need a real database.
CALLED = [name for name, one in CONTENDERS.items() if one.needs is None and not one.only_writes] + [FRAMEWORK]
#: Of whom instructions are counted, too.
COUNTED = (REFERENCE, "blueprint", "lane", "bare", FRAMEWORK)


def caller(name: str, work: str) -> Callable[[], bytes]:
    """Return a call of a contender, or of `FRAMEWORK`, that answers from a canned database."""
    if name == FRAMEWORK:
        return _framework(body_of(CONTENDERS["blueprint"], work)[1])
    contender = CONTENDERS[name]
    return partial(call, canned.application(contender), body_of(contender, work))


def _framework(data: bytes) -> Callable[[], bytes]:
    gw = make_gateway(canned.CannedStorage())

    def run() -> bytes:
        with gw.context_fns.open():
            body = orjson.loads(data)
            gw.context_fns.add_body_to_context(body)
            result = gw.lifecycle.run(body, success)
            assert isinstance(result, bytes)
            return result

    return run


def cpu_times(
    calls: Mapping[tuple[str, str], Callable[[], bytes]], rounds: int, seconds: float
) -> dict[tuple[str, str], Spread]:
    """Return the CPU time of one call in microseconds, by turns; a round takes so many seconds for each."""
    counts = {key: _calls_in(one, seconds) for key, one in calls.items()}
    found: dict[tuple[str, str], list[float]] = {key: [] for key in calls}
    for _ in range(rounds):
        for key, one in calls.items():
            found[key].append(_timed(one, counts[key]))
    return {key: Spread.of(figures) for key, figures in found.items()}


def _calls_in(one: Callable[[], bytes], seconds: float) -> int:
    _timed(one, 20)
    return max(10, int(seconds / _timed(one, 20) * 1e6))


def _timed(one: Callable[[], bytes], count: int) -> float:
    start = time.thread_time()
    for _ in range(count):
        one()
    return (time.thread_time() - start) / count * 1e6


def measured(rounds: int, seconds: float, counted: int) -> tuple[str, dict[str, Any]]:
    """Measure everything; return Markdown and plain data."""
    cpu = cpu_times({(name, work): caller(name, work) for name in CALLED for work in CANNED}, rounds, seconds)
    names = list(dict.fromkeys(key[0] for key in cpu))
    rows = [
        [name, *(f"{cpu[name, work].least:.0f} ({cpu[name, work].middle:.0f})" for work in CANNED)] for name in names
    ]
    parts = [
        "### In process, no server, a database that answers at once",
        "CPU per call, us, least (median) of the rounds:",
        report.table(["", *CANNED], rows),
    ]
    counts: dict[report.Key, float] = {}
    if counted and instructions.countable():
        for name in COUNTED:
            found = instructions.per_call(counted, CANNED[:2], partial(_collected, name))
            counts |= {(name, work): n for work, n in found.items()}
        shown = "Thousands of instructions per call (ratio to the reference), by valgrind; they repeat:"
        parts += [shown, report.grid(instructions.told(counts, REFERENCE))]
    else:
        parts.append("Instructions were not counted: valgrind is not installed, or it was not asked for.")
    data = {
        "cpu": [{"contender": name, "work": work, **vars(spread)} for (name, work), spread in cpu.items()],
        "instructions": [{"contender": name, "work": work, "thousands": n} for (name, work), n in counts.items()],
    }
    return "\n\n".join(parts) + "\n", data


def _collected(contender: str, work: str, count: int) -> int:
    return instructions.collected("benchmarks.inprocess", contender, work, str(count))


def main(contender: str, work: str, count: int) -> None:
    """Make so many calls; what valgrind runs."""
    one = caller(contender, work)
    for _ in range(5):
        one()
    for _ in range(count):
        one()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
