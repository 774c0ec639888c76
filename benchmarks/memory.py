"""Memory of one worker: at rest, and while it answers many requests; one contender after the other, alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import chart, load, report
from benchmarks.contenders import REFERENCE, Contender
from benchmarks.rounds import Contest, Plan
from benchmarks.servers import MEMORY
from benchmarks.works import WORKS

#: Who is measured where nobody is named.
CHOSEN = (REFERENCE, "blueprint", "lane", "lane on granian")
#: What is asked, by turns.
MIX = ("ping", "getUser", "getUsers")
#: Bytes that gatewayfw promises to stay within, above the reference at rest.
LIMIT = 15_000_000
#: Different requests of each work.
_DIFFERENT = 1_000
#: The parts of all requests after which the table shows the memory.
_PARTS = (0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
#: Points of one line of the chart.
_POINTS = 60


@dataclass
class Course:
    """One worker: pairs of requests so far and bytes, the first at rest; and the requests that failed.

    At rest each work of the mix was asked for once.
    """

    contender: str
    points: list[tuple[int, int]] = field(default_factory=list)
    errors: int = 0

    @property
    def at_rest(self) -> int:
        """Bytes before the load."""
        return self.points[0][1]

    def after(self, requests: float) -> int:
        """Return the bytes of the first sample after so many requests, or of the last."""
        return next((size for count, size in self.points if count >= requests), self.points[-1][1])

    @property
    def second_half(self) -> int:
        """Bytes that came in the second half of the requests."""
        return self.points[-1][1] - self.after(self.points[-1][0] / 2)


def course(uri: str, contender: Contender, plan: Plan, requests: int) -> Course:
    """Send at least so many requests to a contender, ``plan.seconds`` between two samples."""
    found = Course(contender.name)
    works = [WORKS[name] for name in MIX]
    chosen = random.Random(1)
    mixed = [contender.request(work, work.details(chosen, plan.size)) for _ in range(_DIFFERENT) for work in works]
    with Contest(uri, plan).running([contender]) as contest:
        contest.checked(contender, works)
        server = contest.servers[contender.name]
        found.points.append((0, server.memory()))
        done = 0
        while done < requests:
            seen = load.run(server.port, mixed, plan.connections, plan.seconds)
            done += seen.requests
            found.errors += seen.errors
            found.points.append((done, server.memory()))
    return found


def measured(
    uri: str, contenders: Sequence[Contender], plan: Plan, requests: int, log: Callable[[str], None] = print
) -> tuple[str, dict[str, Any], str, bool]:
    """Measure contenders one after the other; return Markdown, plain data, a chart, and whether none is missing.

    After Ctrl-C the one that was at work is missing, and those after it.
    """
    found: list[Course] = []
    try:
        for contender in contenders:
            found.append(course(uri, contender, plan, requests))
            log(f"{contender.name}: {_mb(found[-1].at_rest)} MB at rest, {_mb(found[-1].points[-1][1])} MB at the end")
    except KeyboardInterrupt:
        if not found:
            raise
    series = {one.contender: [(count, size / 1e6) for count, size in _thinned(one.points)] for one in found}
    picture = chart.lines(f"Memory of a worker ({MEMORY}), by requests", "MB", series, axis=chart.from_zero)
    data = {"measure": MEMORY, "requests": requests, "courses": [vars(one) for one in found]}
    return markdown(found, plan, requests), data, picture, len(found) == len(contenders)


def markdown(found: Sequence[Course], plan: Plan, requests: int) -> str:
    """Return the tables: at rest, and after parts of the requests."""
    base = next((one.at_rest for one in found if one.contender == REFERENCE), None)
    head = ["", "at rest", f"above the {REFERENCE}", *(f"after {requests * part:,.0f}" for part in _PARTS)]
    rows = [
        [
            one.contender,
            _mb(one.at_rest),
            "-" if base is None else _mb(one.at_rest - base),
            *(_mb(one.after(requests * part)) for part in _PARTS),
            _mb(one.second_half),
        ]
        for one in found
    ]
    parts = [
        f"### Memory of one worker ({MEMORY}), MB, {requests:,} requests, {plan.connections} connections",
        report.table([*head, "second half"], rows),
        f"{', '.join(MIX)} by turns. `second half` is what came in the second half of the requests: about 0 is steady.",
        *(f"{one.contender}: {one.errors} of {one.points[-1][0]} requests failed." for one in found if one.errors),
    ]
    return "\n\n".join(parts) + "\n"


def _mb(size: float) -> str:
    return f"{size / 1e6:.1f}"


def _thinned(points: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    step = -(-len(points) // _POINTS)
    return [*points[:-1:step], points[-1]]
