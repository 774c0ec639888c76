"""Machine instructions of one call, by valgrind: unlike times they repeat, however busy the machine is.

What the kernel does is not among them, nor what the database does.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from benchmarks import dataset, report
from benchmarks.contenders import CONTENDERS, PROTECTED, REFERENCE, Contender
from benchmarks.counting import Document, call
from benchmarks.dataset import Size
from benchmarks.works import Work

#: Who is counted where nobody is named.
CHOSEN = (REFERENCE, PROTECTED, "blueprint", "lane", "bare")
#: Different requests of one work, each sent before counting begins, too.
_REQUESTS = 5
#: Seconds a run under valgrind may take, about 50 times as long as without.
_LONGEST = 600.0
_COLLECTED = re.compile(r"I +refs: +([\d,]+)")

Counts = Mapping[report.Key, float]


def countable() -> bool:
    """Tell whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def collected(*words: str, **variables: str) -> int:
    """Return the instructions of ``python -m words...`` with more variables in its environment.

    Callgrind counts the same and takes twice as long.

    Raises:
        RuntimeError: it failed.
    """
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(
        [*tool, sys.executable, "-m", *words],
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "PYTHONHASHSEED": "0", **variables},
        capture_output=True,
        text=True,
        timeout=_LONGEST,
        check=False,
    )
    seen = _COLLECTED.search(done.stderr)
    if done.returncode or seen is None:
        raise RuntimeError(f"valgrind: {done.stderr[-1000:]}")
    return int(seen[1].replace(",", ""))


def per_call(count: int, works: Sequence[str], run: Callable[[str, int], int]) -> dict[str, float]:
    """Return the instructions of one call of each work, in thousands.

    ``run`` returns those of a process that makes so many calls; each figure is the difference between
    one that makes ``count`` and one that makes none.
    """
    base = run(works[0], 0)
    return {work: (run(work, count) - base) / count / 1000 for work in works}


def measured(
    uri: str,
    contenders: Sequence[Contender],
    works: Mapping[str, Work],
    size: Size,
    count: int,
    log: Callable[[str], None] = print,
) -> tuple[str, dict[str, Any]]:
    """Count every work of every contender on a database of its own; return Markdown and plain data."""
    counts: dict[report.Key, float] = {}
    for contender in contenders:
        named = [work.name for work in contender.works() if work.name in works]
        if not named:
            continue
        with _seeded(uri, size) as name:

            def run(work: str, number: int, contender: Contender = contender, name: str = name) -> int:
                words = ["benchmarks.instructions", contender.name, name, f"{size.countries}x{size.users}"]
                return collected(*words, work, str(number), *works, BENCH_URI=uri)

            counts |= {(contender.name, work): n for work, n in per_call(count, named, run).items()}
        log(f"{contender.name}: {', '.join(named)}")
    data = [{"contender": name, "work": work, "thousands": n} for (name, work), n in counts.items()]
    return markdown(counts, count), {"instructions": data}


@contextmanager
def _seeded(uri: str, size: Size) -> Any:
    name = f"bench_{random.randrange(16**8):08x}"
    with MongoClient[Document](uri) as client:
        try:
            dataset.seed(client[name], size)
            yield name
        finally:
            client.drop_database(name)


def markdown(counts: Counts, count: int) -> str:
    """Return the tables: counts with their ratios to the reference, and to the writes in a transaction."""
    parts = [
        f"### Instructions of one call, means of {count}",
        "Thousands (ratio to the reference), without those of the kernel and of the database; they repeat:",
        report.grid(told(counts, REFERENCE)),
    ]
    if protected := ratios(counts, PROTECTED):
        parts += [
            f"Ratio to the same writes `{PROTECTED}`:",
            report.grid({key: f"{ratio:.2f}" for key, ratio in protected.items()}),
        ]
    return "\n\n".join(parts) + "\n"


def told(counts: Counts, base: str) -> dict[report.Key, str]:
    """Return what a table shows of counts: thousands, with the ratio to one contender in brackets."""
    of = ratios(counts, base) | {key: 1.0 for key in counts if key[0] == base}
    return {key: f"{n:,.0f} ({of[key]:.2f})" if key in of else f"{n:,.0f}" for key, n in counts.items()}


def ratios(counts: Counts, base: str) -> dict[report.Key, float]:
    """Return the counts of the others over those of one contender, where it has any."""
    return {
        (name, work): n / counts[base, work]
        for (name, work), n in counts.items()
        if name != base and (base, work) in counts
    }


def main(contender: str, database: str, size: str, work: str, count: str, *warm: str) -> None:
    """Do each of the works ``warm`` a few times, then one ``count`` times; what valgrind runs."""
    one, of = CONTENDERS[contender], Size(*map(int, size.split("x")))
    with MongoClient[Document](os.environ["BENCH_URI"], w="majority") as client:
        app = one.application(client[database])
        asked = {
            each.name: [one.request(each, each.details(random.Random(number), of)) for number in range(_REQUESTS)]
            for each in one.works()
        }
        for name in warm:
            for request in asked.get(name, ()):
                call(app, request)
        for number in range(int(count)):
            call(app, asked[work][number % _REQUESTS])


if __name__ == "__main__":
    main(*sys.argv[1:])
