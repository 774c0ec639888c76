"""What `./dev bench` can measure: one function for each word, from the command line to tables."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks import growth, inprocess, instructions, listing, memory, report, scaling, starting
from benchmarks.chart import bars
from benchmarks.contenders import CONTENDERS, Contender
from benchmarks.counting import commands_of
from benchmarks.dataset import Size
from benchmarks.rounds import Contest, Plan
from benchmarks.servers import Shape
from benchmarks.works import WORKS, Work


@dataclass(frozen=True)
class Result:
    """What a run found: Markdown, plain data and a chart, or none; ``whole`` unless Ctrl-C ended it early."""

    name: str
    told: str
    data: dict[str, Any] = field(default_factory=dict)
    chart: str = ""
    whole: bool = True


def http(arguments: Namespace, uri: str, size: Size) -> Result:
    """Every contender, every work, over HTTP."""
    plan, works, contenders = _plan(arguments, size), _works(arguments), _contenders(arguments)
    commands = {one.name: commands_of(one, uri, list(works.values()), size) for one in contenders}
    with Contest(uri, plan).running(contenders) as contest:
        run = contest.measure(contenders, works)
    done = report.rounds(run.samples)
    workers = f", {plan.shape.workers} workers" if plan.shape.workers > 1 else ""
    connections = f"{plan.connections} connection{'' if plan.connections == 1 else 's'}"
    title = f"{connections}{workers}, {done} rounds of {plan.seconds:g} s, load by {plan.load}"
    data = {"plan": plan.as_dict(), "commands": commands, **run.as_dict()}
    cpu = report.figures(run.samples, lambda one: one.cpu)
    chart = bars("Server CPU per request, us", {key: spread.middle for key, spread in cpu.items()})
    told = report.markdown(run, title, commands)
    return Result(f"http-{plan.connections}", told, data, chart, done == plan.rounds)


def in_process(arguments: Namespace, uri: str, size: Size) -> Result:
    """Calls without a server and a database."""
    effort = (0.05, 0) if arguments.quick else (0.3, 200)
    return Result("inprocess", *inprocess.measured(arguments.rounds or 5, *effort))


def counted(arguments: Namespace, uri: str, size: Size) -> Result:
    """Machine instructions of calls with a database, without a server."""
    contenders = _contenders(arguments, instructions.CHOSEN)
    count = arguments.requests or (20 if arguments.quick else 100)
    return Result("instructions", *instructions.measured(uri, contenders, _works(arguments), size, count))


def grown(arguments: Namespace, uri: str, size: Size) -> Result:
    """Cost by size."""
    sizes = growth.Sizes.small() if arguments.quick else growth.Sizes()
    return Result("growth", *growth.measured(uri, sizes, log=lambda line: None))


def paged(arguments: Namespace, uri: str, size: Size) -> Result:
    """Pages of a listing, early and late ones."""
    sizes = listing.Sizes.small() if arguments.quick else listing.Sizes()
    return Result("listing", *listing.measured(uri, sizes))


def remembered(arguments: Namespace, uri: str, size: Size) -> Result:
    """Memory at rest and while many requests are answered."""
    requests = arguments.requests or (20_000 if arguments.quick else 1_000_000)
    contenders = _contenders(arguments, memory.CHOSEN)
    return Result("memory", *memory.measured(uri, contenders, _plan(arguments, size), requests))


def started(arguments: Namespace, uri: str, size: Size) -> Result:
    """Definitions, and the first write of a process."""
    return Result("start", *starting.measured(uri, starting.Sizes.small() if arguments.quick else starting.Sizes()))


def scaled(arguments: Namespace, uri: str, size: Size) -> Result:
    """Workers and threads."""
    contenders, works = _contenders(arguments, scaling.CHOSEN), _works(arguments, scaling.ASKED)
    return Result("scaling", *scaling.measured(uri, contenders, works, _plan(arguments, size)))


#: Every word of the command line.
MODES: dict[str, Callable[[Namespace, str, Size], Result]] = {
    "http": http,
    "inprocess": in_process,
    "instructions": counted,
    "growth": grown,
    "listing": paged,
    "memory": remembered,
    "scaling": scaled,
    "start": started,
}


def _plan(arguments: Namespace, size: Size) -> Plan:
    rounds, seconds = (3, 1.0) if arguments.quick else (5, 5.0)
    return Plan(
        rounds=arguments.rounds or rounds,
        seconds=arguments.seconds or seconds,
        connections=arguments.connections,
        shape=Shape(arguments.workers, arguments.threads),
        size=size,
    )


def _contenders(arguments: Namespace, default: Sequence[str] | None = None) -> list[Contender]:
    names = arguments.contenders or [name for name in default or CONTENDERS if name in CONTENDERS]
    return [CONTENDERS[name] for name in names]


def _works(arguments: Namespace, default: Sequence[str] | None = None) -> dict[str, Work]:
    return {name: WORKS[name] for name in arguments.only or default or WORKS}
