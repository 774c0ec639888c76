"""From samples to tables: ratios with their spread, the noise beside them, as Markdown and JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from benchmarks.contenders import PROTECTED, REFERENCE, TWIN
from benchmarks.rounds import Run, Sample
from benchmarks.servers import MEMORY

Key = tuple[str, str]
#: The load average for each core above which a machine is called busy.
BUSY = 0.25


@dataclass(frozen=True)
class Spread:
    """The least, the middle and the most of some figures."""

    least: float
    middle: float
    most: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        """Return the spread of at least one figure."""
        ordered = sorted(figures)
        return cls(ordered[0], median(ordered), ordered[-1])

    def __str__(self) -> str:
        return f"{self.middle:.2f} ({self.least:.2f}-{self.most:.2f})"


def ratios(samples: Sequence[Sample], base: str = REFERENCE) -> dict[Key, Spread]:
    """Return each contender's CPU per request over that of ``base``, by (contender, work), of rounds.

    Against the reference it is over the mean of the reference and its twin in the same round; the
    twin's own row is twin over reference: the noise.
    """
    by_round: dict[tuple[str, int], dict[str, float]] = {}
    for one in samples:
        by_round.setdefault((one.work, one.round), {})[one.contender] = one.cpu
    found: dict[Key, list[float]] = {}
    for (work, _round), cpus in by_round.items():
        if base not in cpus:
            continue
        for contender, cpu in cpus.items():
            if contender != base:
                found.setdefault((contender, work), []).append(cpu / _base(cpus, base, contender))
    return {key: Spread.of(figures) for key, figures in found.items()}


def _base(cpus: Mapping[str, float], base: str, contender: str) -> float:
    if base == REFERENCE and contender != TWIN:
        return (cpus[base] + cpus.get(TWIN, cpus[base])) / 2
    return cpus[base]


def figures(samples: Sequence[Sample], of: Callable[[Sample], float]) -> dict[Key, Spread]:
    """Return the spread of one figure, by (contender, work)."""
    found: dict[Key, list[float]] = {}
    for one in samples:
        found.setdefault((one.contender, one.work), []).append(of(one))
    return {key: Spread.of(values) for key, values in found.items()}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table, its first column to the left and the others to the right."""
    marks = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in [head, marks, *rows])


def grid(cells: Mapping[Key, object]) -> str:
    """Return a table of cells by (row, column), in their order; ``-`` where there is none."""
    rows, columns = (list(dict.fromkeys(key[part] for key in cells)) for part in (0, 1))
    return table(["", *columns], [[row, *(cells.get((row, column), "-") for column in columns)] for row in rows])


def rounds(samples: Sequence[Sample]) -> int:
    """Return the number of rounds."""
    return len({one.round for one in samples})


def noise(samples: Sequence[Sample]) -> str:
    """Say how much the reference differs from itself: how far a ratio must be from 1 to say anything."""
    by_round = {(one.contender, one.work, one.round): one.cpu for one in samples if one.contender in (REFERENCE, TWIN)}
    found = [cpu / by_round[REFERENCE, work, number] for (name, work, number), cpu in by_round.items() if name == TWIN]
    if not found:
        return "Without the reference twice: the noise is unknown."
    spread = Spread.of(found)
    return f"Noise: the reference against itself, all tasks and rounds, CPU {spread}."


def failures(samples: Sequence[Sample]) -> list[str]:
    """Return a sentence for each run with requests that failed."""
    return [
        f"{one.contender}, {one.work}: {one.errors} of {one.requests} requests failed." for one in samples if one.errors
    ]


def markdown(run: Run, title: str, commands: Mapping[str, Mapping[str, Sequence[str]]] | None = None) -> str:
    """Return all tables of a run; ``commands`` are those of the database, by contender and work."""
    samples = run.samples
    contenders = list(dict.fromkeys(one.contender for one in samples))
    cpu = figures(samples, lambda one: one.cpu)
    parts = [
        f"### {title}",
        noise(samples),
        "Server CPU per request, us, median of the rounds:",
        grid({key: f"{spread.middle:.0f}" for key, spread in cpu.items()}),
        f"Ratio of CPU to the {REFERENCE}, median (least-most) of the rounds; the row `{TWIN}` is the noise:",
        grid(ratios(samples)),
    ]
    if any(one.contender == PROTECTED for one in samples):
        parts += [f"Ratio of CPU to the same writes `{PROTECTED}`:", grid(ratios(samples, PROTECTED))]
    rate, p50, p99 = (figures(samples, of) for of in (lambda one: one.rate, lambda one: one.p50, lambda one: one.p99))
    told = {key: f"{rate[key].middle:.0f} · {p50[key].middle:.1f} · {p99[key].middle:.1f}" for key in rate}
    parts += ["Requests per second · p50 · p99 in ms, medians of the rounds:", grid(told)]
    if commands:
        cells: dict[Key, object] = {
            (name, work): len(words) for name, by in commands.items() for work, words in by.items()
        }
        parts += ["Database commands per act, the commit included:", grid(cells)]
    parts += [f"Memory of the worker ({MEMORY}), MB:", _memory(run, contenders), *failures(samples)]
    return "\n\n".join(parts) + "\n"


def _memory(run: Run, contenders: Sequence[str]) -> str:
    rows = [
        [name, f"{run.at_rest[name] / 1e6:.1f}", f"{run.afterwards[name] / 1e6:.1f}"]
        for name in contenders
        if name in run.at_rest and name in run.afterwards
    ]
    return table(["", "at rest", "after the run"], rows)


class Machine(NamedTuple):
    """What the figures depend on; ``load`` is the load average of the last minute."""

    cores: int
    load: float
    python: str
    kind: str

    @classmethod
    def now(cls) -> Machine:
        """Look at it, before anything is measured."""
        system = f"{platform.system()} {platform.machine()}"
        return cls(os.cpu_count() or 1, round(os.getloadavg()[0], 2), platform.python_version(), system)

    def __str__(self) -> str:
        told = f"{self.cores} cores, Python {self.python}, load average {self.load:.2f} at the start"
        return told + (": busy, so its times are rough" if self.load > self.cores * BUSY else "")
