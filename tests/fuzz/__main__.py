"""Fuzz reader, validators, projection and whole requests for some minutes: ``python -m tests.fuzz --minutes 10``.

Each round takes the next target and a new random seed. An error other than the project's own 4xx,
or a body within the limits that costs more than 50 ms of this thread's time to read, judge and
project, is a finding: it is printed with the seed that makes it again::

    python -m tests.fuzz --target validators --seed 1234

The time of a thread grows while other machines use the same core. So a body that was slow three
times in a row is measured once more at the end, ten times, and the least of all counts.

Ends with status 1 after a finding.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.growth import stops

#: Seconds of the thread's own time that a body within the limits may take.
MOST = 0.05


@dataclass
class Figures:
    """What was seen of one target: bodies, outcomes, and the slowest body."""

    bodies: int = 0
    over: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    cpu: float = 0.0
    wall: float = 0.0
    slowest: str = ""
    highest_wall: float = 0.0


@dataclass(frozen=True)
class Suspect:
    """A body that was slow: its target and seed, what is said of it, how to run it, and its least time."""

    target: str
    number: int
    told: str
    call: Callable[[], str]
    cpu: float


@dataclass
class Run:
    """One run: its figures by target, the findings, and what may become one."""

    figures: dict[str, Figures] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    suspects: list[Suspect] = field(default_factory=list)

    def timed(self, target: str, number: int, timed: bool, name: str, call: Callable[[], str], size: int) -> None:
        """Run one body and note its outcome and time; a slow one is measured three times, the least counts."""
        seen = self.figures.setdefault(target, Figures())
        result, cpu, wall = measured(call)
        if timed and cpu > MOST:
            again = [measured(call) for _ in range(2)]
            cpu, wall = min([(cpu, wall), *(one[1:] for one in again)])
        seen.bodies += 1
        seen.outcomes[result] += 1
        seen.highest_wall = max(seen.highest_wall, wall)
        told = f"{name}, {size} bytes, {result}: {cpu * 1000:.1f} ms CPU, {wall * 1000:.1f} ms wall"
        if cpu > seen.cpu:
            seen.cpu, seen.wall, seen.slowest = cpu, wall, told
        if timed and cpu > MOST:
            self.suspects.append(Suspect(target, number, told, call, cpu))

    def judge(self) -> None:
        """Measure once more what was slow."""
        for one in self.suspects:
            least = min([one.cpu, *(measured(one.call)[1] for _ in range(10))])
            told = f"--target {one.target} --seed {one.number}: {one.told}, least {least * 1000:.1f} ms CPU"
            if least > MOST:
                self.figures[one.target].over += 1
                self.find(f"slow: {told}")
            else:
                print(f"was slow: {told}", flush=True)

    def find(self, told: str) -> None:
        """Note and print one finding."""
        self.findings.append(told)
        print(told, flush=True)


def measured(call: Callable[[], str]) -> tuple[str, float, float]:
    """Return what a call gives, and the thread's and the wall's seconds it took."""
    wall, cpu = time.perf_counter(), time.thread_time()
    result = call()
    return result, time.thread_time() - cpu, time.perf_counter() - wall


def fuzz(run: Run, target: str, number: int, examples: int, until: float) -> None:
    """Run one target with one seed."""
    stop = stops()[target]

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(stop.bodies)
    def once(body: Any) -> None:
        if time.monotonic() < until:
            name, data = body
            run.timed(target, number, name not in stop.untimed, name, lambda: stop.run(name, data), len(data))

    try:
        once()
    except Exception as error:
        traceback.print_exc()
        run.find(f"error: --target {target} --seed {number}: {type(error).__name__}")


def main(arguments: list[str]) -> int:
    """Fuzz as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz gatewayfw.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--target", choices=list(stops()), help="only this one")
    parser.add_argument("--seed", type=int, help="one round with this seed")
    parser.add_argument("--examples", type=int, default=100, help="bodies of a round")
    given_ = parser.parse_args(arguments)
    run, end = Run(), time.monotonic() + given_.minutes * 60
    chosen = [given_.target] if given_.target else list(stops())
    rounds = 0
    while time.monotonic() < end and not (given_.seed is not None and rounds >= len(chosen)):
        number = random.getrandbits(48) if given_.seed is None else given_.seed
        fuzz(run, chosen[rounds % len(chosen)], number, given_.examples, end)
        rounds += 1
    run.judge()
    for name, seen in run.figures.items():
        print(f"{name}: {seen.bodies} bodies, {seen.over} over {MOST * 1000:.0f} ms; slowest {seen.slowest}")
        print(f"  highest wall {seen.highest_wall * 1000:.1f} ms; outcomes {dict(seen.outcomes.most_common())}")
    print(f"{rounds} rounds, {len(run.findings)} findings")
    return 1 if run.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
