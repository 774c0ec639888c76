"""How workers and threads scale: the same works by servers of several shapes, by turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

from benchmarks import chart, report
from benchmarks.contenders import REFERENCE, TWIN, Contender
from benchmarks.report import Spread
from benchmarks.rounds import Contest, Plan, Sample
from benchmarks.servers import Shape
from benchmarks.works import Work

#: Who is measured where nobody is named.
CHOSEN = (REFERENCE, TWIN, "blueprint")
#: What is asked where nothing is named.
ASKED = ("ping", "getUser", "getUsers")
SHAPES = (Shape(1, 1), Shape(1, 8), Shape(2, 8))
#: The shapes whose rates are compared.
_FEW, _MANY = SHAPES[1:]
Samples = Mapping[Shape, Sequence[Sample]]


def run(
    uri: str, contenders: Sequence[Contender], works: Mapping[str, Work], plan: Plan, log: Callable[[str], None] = print
) -> dict[Shape, list[Sample]]:
    """Measure every shape in each round; after Ctrl-C fewer rounds, at least one."""
    samples: dict[Shape, list[Sample]] = {shape: [] for shape in SHAPES}
    with ExitStack() as stack:
        contests = {}
        for shape in SHAPES:
            contests[shape] = stack.enter_context(Contest(uri, replace(plan, shape=shape)).running(contenders))
            for contender in contenders:
                contests[shape].checked(contender, [work for work in contender.works() if work.name in works])
        start = time.monotonic()
        try:
            for number in range(plan.rounds):
                seen = {shape: contest.round(contenders, works, number) for shape, contest in contests.items()}
                for shape, found in seen.items():
                    samples[shape] += found
                log(f"round {number + 1} of {plan.rounds}, {time.monotonic() - start:.0f} s")
        except KeyboardInterrupt:
            if not samples[_MANY]:
                raise
    return samples


def gains(samples: Samples) -> dict[report.Key, Spread]:
    """Return the requests per second of the largest shape over those of one worker, by (contender, work), of rounds."""
    few = {(one.contender, one.work, one.round): one.rate for one in samples[_FEW]}
    found: dict[report.Key, list[float]] = {}
    for one in samples[_MANY]:
        found.setdefault((one.contender, one.work), []).append(one.rate / few[one.contender, one.work, one.round])
    return {key: Spread.of(figures) for key, figures in found.items()}


def measured(
    uri: str, contenders: Sequence[Contender], works: Mapping[str, Work], plan: Plan
) -> tuple[str, dict[str, Any], str, bool]:
    """Measure; return Markdown, plain data, a chart, and whether no round is missing."""
    samples = run(uri, contenders, works, plan)
    rates = {
        (f"{contender} {shape}", work): spread.middle
        for shape, found in samples.items()
        for (contender, work), spread in report.figures(found, lambda one: one.rate).items()
    }
    data = {
        "plan": plan.as_dict(),
        "samples": [asdict(one) | {"shape": str(shape)} for shape, found in samples.items() for one in found],
    }
    whole = report.rounds(samples[_MANY]) == plan.rounds
    return markdown(samples, plan), data, chart.bars("Requests per second, workers x threads", rates), whole


def markdown(samples: Samples, plan: Plan) -> str:
    """Return all tables: rates, CPU, the gain by a second worker, and the ratios within each shape."""
    rates: dict[report.Key, object] = {}
    cpu: dict[report.Key, object] = {}
    ratios: dict[report.Key, object] = {}
    for shape, found in samples.items():
        of = {key: f"{spread.middle:.0f}" for key, spread in report.figures(found, lambda one: one.rate).items()}
        rates |= _labelled(of, shape)
        of = {key: f"{spread.middle:.0f}" for key, spread in report.figures(found, lambda one: one.cpu).items()}
        cpu |= _labelled(of, shape)
        ratios |= _labelled(report.ratios(found), shape)
    done = report.rounds(samples[_MANY])
    asked = f"{plan.connections} connections, {done} rounds of {plan.seconds:g} s, load by {plan.load}"
    parts = [
        f"### Workers x threads, {asked}",
        report.noise([one for found in samples.values() for one in found]),
        f"Requests per second of {_MANY} over those of {_FEW}, median (least-most) of the rounds:",
        report.grid(gains(samples)),
        "Requests per second, median of the rounds:",
        report.grid(rates),
        "Server CPU per request, us, median of the rounds:",
        report.grid(cpu),
        f"Ratio of CPU to the {REFERENCE} of the same shape; the rows `{TWIN}` are the noise:",
        report.grid(ratios),
        *report.failures([one for found in samples.values() for one in found]),
    ]
    return "\n\n".join(parts) + "\n"


def _labelled(cells: Mapping[report.Key, Any], shape: Shape) -> dict[report.Key, Any]:
    return {(f"{contender} {shape}", work): cell for (contender, work), cell in cells.items()}
