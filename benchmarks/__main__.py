"""The command line: `./dev bench`, that is ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks import instructions, page
from benchmarks.contenders import ALL, CONTENDERS
from benchmarks.dataset import Size
from benchmarks.modes import MODES, Result
from benchmarks.report import Machine
from benchmarks.servers import SHAPE, cores_for_the_others
from benchmarks.works import WORKS
from gatewayfw.testing.mongod import LocalMongod

#: Signals that end a run; Ctrl-C sends the first.
_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: The exit status after Ctrl-C.
_INTERRUPTED = 130
MISSING = {one.name: f"{one.name} needs {one.needs}, which is not installed" for one in ALL if not one.installed}


def _names(known: dict[str, Any], text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in known]:
        told = [MISSING.get(name, name) for name in unknown]
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(told)} (known: {', '.join(known)})")
    return names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure gatewayfw against hand-written services.")
    parser.add_argument("what", nargs="?", default="http", choices=list(MODES))
    parser.add_argument("--quick", action="store_true", help="3 rounds of 1 s, or smaller steps: for orientation")
    parser.add_argument("--rounds", type=int, help="default 5")
    parser.add_argument("--seconds", type=float, help="of one run, default 5; of memory: between two samples")
    parser.add_argument(
        "--requests", type=int, help="of memory: to each contender, default 1,000,000; of instructions: 100"
    )
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument(
        "--workers", type=int, default=SHAPE.workers, help="processes of each server, default 1; each may use a core"
    )
    parser.add_argument("--threads", type=int, default=SHAPE.threads, help="of each process, default 8")
    parser.add_argument("--only", type=lambda text: _names(WORKS, text), help="works, separated by commas")
    parser.add_argument("--contenders", type=lambda text: _names(CONTENDERS, text))
    parser.add_argument("--output", type=Path, default=Path("build/bench"), help="folder for Markdown, JSON and SVG")
    parser.add_argument("--page", action="store_true", help="put the tables into docs/performance*.md, too")
    return parser


@contextmanager
def mongod_uri() -> Iterator[str]:
    """Give the server that ``GATEWAYFW_TEST_MONGO_URI`` names, or one of our own."""
    if given := os.environ.get("GATEWAYFW_TEST_MONGO_URI"):
        yield given
    else:
        with LocalMongod() as mongod:
            yield mongod.uri


@contextmanager
def ended_once() -> Iterator[None]:
    """Let the first signal unwind what runs, so that all servers are ended, and let no other disturb that."""

    def end(number: int, frame: FrameType | None) -> None:
        for one in _ENDS:
            signal.signal(one, signal.SIG_IGN)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)

    before = {one: signal.signal(one, end) for one in _ENDS}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def main(words: list[str], size: Size | None = None) -> int:
    """Measure as the command line says, print the tables and write them to files.

    After Ctrl-C what was measured so far is written, but not put into the page, and the status is 130.
    """
    parser = _parser()
    arguments = parser.parse_args(words)
    if arguments.what == "instructions" and not instructions.countable():
        parser.error("instructions are counted by valgrind, which is not installed")
    machine = Machine.now()
    if arguments.what == "http" and not arguments.contenders:
        for missing in MISSING.values():
            print(f"left out: {missing}; `./dev bench --others` installs it", file=sys.stderr)
    with ended_once():
        cores_for_the_others()
        try:
            with nullcontext("") if arguments.what == "inprocess" else mongod_uri() as uri:
                result = MODES[arguments.what](arguments, uri, size or Size())
        except KeyboardInterrupt:
            print("interrupted before anything was measured; all that was started has ended", file=sys.stderr)
            return _INTERRUPTED
        _write(result, machine, arguments)
    return 0 if result.whole else _INTERRUPTED


def _write(result: Result, machine: Machine, arguments: argparse.Namespace) -> None:
    told = f"{result.told}\n{machine}.\n"
    print(told)
    arguments.output.mkdir(parents=True, exist_ok=True)
    name = arguments.output / result.name
    name.with_suffix(".md").write_text(told, "utf-8")
    data = {"machine": machine._asdict(), "whole": result.whole, **result.data}
    name.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    if result.chart:
        name.with_suffix(".svg").write_text(result.chart, "utf-8")
    print(f"written to {name}.md, .json{' and .svg' if result.chart else ''}")
    if not result.whole:
        print("interrupted: only what was measured until then", file=sys.stderr)
    elif arguments.page:
        page.put(page.DETAILS, name.name, told, result.chart)
        page.put_excerpts(page.FRONT, name.name, told)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
