"""The command line: `./dev bench`, that is ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import growth, inprocess, page, report
from benchmarks.chart import bars
from benchmarks.contenders import CONTENDERS, Contender
from benchmarks.counting import commands_of
from benchmarks.dataset import Size
from benchmarks.load import has_wrk
from benchmarks.rounds import Contest, Plan
from benchmarks.servers import cores_for_the_others
from benchmarks.works import WORKS, Work
from gatewayfw.testing.mongod import local_mongod

#: What ``--quick`` means: for orientation only.
_QUICK = {"rounds": 3, "seconds": 1.0}


def _names(known: dict[str, Any], text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)} (known: {', '.join(known)})")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure gatewayfw against hand-written services.")
    parser.add_argument("what", nargs="?", default="http", choices=["http", "inprocess", "growth"])
    parser.add_argument("--quick", action="store_true", help="3 rounds of 1 s, or smaller steps: for orientation")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--seconds", type=float, help="of one run, default 5")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument(
        "--workers", type=int, default=1, help="processes of each server, default 1; each may use a core"
    )
    parser.add_argument("--only", type=lambda text: _names(WORKS, text), help="works, separated by commas")
    parser.add_argument("--contenders", type=lambda text: _names(CONTENDERS, text))
    parser.add_argument("--output", type=Path, default=Path("build/bench"), help="folder for Markdown, JSON and SVG")
    parser.add_argument("--page", action="store_true", help="put the tables into docs/performance.md, too")
    return parser


@contextmanager
def mongod_uri() -> Iterator[str]:
    """Give the server that ``GATEWAYFW_TEST_MONGO_URI`` names, or one of our own."""
    if given := os.environ.get("GATEWAYFW_TEST_MONGO_URI"):
        yield given
    else:
        with local_mongod() as mongod:
            yield mongod.uri


def over_http(arguments: argparse.Namespace, uri: str, size: Size) -> tuple[str, dict[str, Any], str]:
    """Run the rounds; return Markdown, plain data and a chart."""
    defaults = _QUICK if arguments.quick else {"rounds": 5, "seconds": 5.0}
    plan = Plan(
        rounds=arguments.rounds or int(defaults["rounds"]),
        seconds=arguments.seconds or defaults["seconds"],
        connections=arguments.connections,
        workers=arguments.workers,
        size=size,
    )
    works: dict[str, Work] = {name: WORKS[name] for name in arguments.only or WORKS}
    contenders: list[Contender] = [CONTENDERS[name] for name in arguments.contenders or CONTENDERS]
    commands = {one.name: commands_of(one, uri, list(works.values()), size) for one in contenders}
    with Contest(uri, plan).running(contenders) as contest:
        run = contest.measure(contenders, works)
    load = "wrk" if has_wrk() and plan.seconds >= 1 else "a loop of its own"
    servers = f", {plan.workers} workers" if plan.workers > 1 else ""
    title = f"{plan.connections} connections{servers}, {plan.rounds} rounds of {plan.seconds:g} s, load by {load}"
    data = {"plan": vars(plan) | {"size": vars(size), "load": load}, "commands": commands, **run.as_dict()}
    cpu = report.figures(run.samples, lambda one: one.cpu)
    chart = bars("Server CPU per request, us", {key: spread.middle for key, spread in cpu.items()})
    return report.markdown(run, title, commands), data, chart


def main(words: list[str], size: Size | None = None) -> int:
    """Measure as the command line says, print the tables and write them to files."""
    arguments = _parser().parse_args(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that servers are ended
    cores_for_the_others()
    chart = ""
    if arguments.what == "inprocess":
        told, data = inprocess.measured(arguments.rounds or 5, *((0.05, 0) if arguments.quick else (0.3, 200)))
    else:
        with mongod_uri() as uri:
            if arguments.what == "growth":
                sizes = growth.Sizes.small() if arguments.quick else growth.Sizes()
                told, data, chart = growth.measured(uri, sizes, log=lambda line: None)
            else:
                told, data, chart = over_http(arguments, uri, size or Size())
    print(told)
    arguments.output.mkdir(parents=True, exist_ok=True)
    detail = f"-{arguments.connections}" if arguments.what == "http" else ""
    name = arguments.output / f"{arguments.what}{detail}"
    name.with_suffix(".md").write_text(told, "utf-8")
    name.with_suffix(".json").write_text(json.dumps({"machine": report.machine(), **data}, indent=1) + "\n", "utf-8")
    if chart:
        name.with_suffix(".svg").write_text(chart, "utf-8")
    if arguments.page:
        page.put(page.PAGE, name.name, told, chart)
    print(f"written to {name}.md, .json{' and .svg' if chart else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
