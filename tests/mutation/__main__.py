"""The command line: `./dev mutate`, that is ``python -m tests.mutation``."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

from tests.mutation import judged
from tests.mutation.mutants import folder_of, mutant, sample
from tests.mutation.running import copies, killer
from tests.mutation.selection import SLOW, Recorded, rounds

FOLDER = Path("build/mutate")
#: What is not recorded: it starts browsers, builds the site, or runs everything in other processes.
UNRECORDED = {"tests/playground", "tests/faults", "tests/benchmarks", "tests/starter"}


def parser():
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="./dev mutate", description="Change the package in small ways, and test it.")
    made.add_argument("paths", nargs="*", default=["gatewayfw"], help="files and folders to change; default: all")
    made.add_argument("--sample", type=int, default=300, help="how many mutants, default 300")
    made.add_argument("--seed", type=int, help="what draws them; without it a fresh one")
    made.add_argument("--again", nargs="+", metavar="PATH:NUMBER", help="these mutants instead of a sample")
    made.add_argument("--quick", action="store_true", help="only the tests that mirror a file, and no types")
    made.add_argument("--tests", nargs="+", metavar="TEST", help="run these on each, not those that fit its file")
    made.add_argument("--budget", type=float, default=60, help="seconds of tests beyond the mirror of a file")
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time; default: a core each")
    made.add_argument("--record", action="store_true", help="first write down anew which tests run which lines")
    return made


def record(working):
    """Write down which tests run which lines, folder by folder: 20 minutes of one core.

    Slow tests are written down apart, for what quick ones do not notice.
    """
    shutil.rmtree(FOLDER, ignore_errors=True)
    folders = sorted({str(file.parent) for file in Path("tests").glob("*/**/test_*.py")})
    tops = {folder: "/".join(Path(folder).parts[:2]) for folder in folders}
    groups = {top: [top] for top in sorted(set(tops.values()) - UNRECORDED)}
    groups["tests"] = sorted(str(file) for file in Path("tests").glob("test_*.py"))

    def one(copy, which):
        marked, name = which
        file = (FOLDER / f"{SLOW if marked == 'slow' else ''}{name.replace('/', '-')}.json").absolute()
        begun = time.monotonic()
        copy.run("tests/mutation/recording.py", str(file), "-m", marked, *groups[name])
        return time.monotonic() - begun

    parts = [("not slow", name) for name in groups] + [("slow", name) for name in groups if name != "tests"]
    for (marked, name), took in working.each(one, parts):
        print(f"recorded {name}, {marked}: {took:.0f} s", flush=True)


def chosen(given):
    """Return the mutants to run, and say how to draw them again."""
    if given.again:
        return [mutant(path, int(number)) for path, _, number in (name.rpartition(":") for name in given.again)]
    seed = given.seed if given.seed is not None else random.SystemRandom().randrange(10**6)
    drawn = sample(given.paths, given.sample, seed)
    print(f"{len(drawn)} mutants with --seed {seed}", flush=True)
    return drawn


def outcome(copy, known, one, tests, types):
    """Return what became of a mutant: ``killed``, ``types``, ``judged`` or ``survived``; by what; and the seconds."""
    if reason := known.get(one.change):
        return "judged", reason, 0.0
    begun = time.monotonic()
    with copy.changed(one):
        by = killer(copy, tests, types=types)
    return {None: "survived", "types": "types"}.get(by, "killed"), by, round(time.monotonic() - begun, 1)


def table(results):
    """Return a row for each folder: mutants, killed by tests and by types, judged, survivors, killed in per cent."""
    counts = Counter((folder_of(one.path), what) for one, what, by in results)
    rows = [f"{'folder':24}{'mutants':>8}{'killed':>8}{'types':>8}{'judged':>8}{'survived':>9}{'%':>7}"]
    for folder in [*sorted({folder for folder, what in counts}), None]:
        killed, types, judged_, survived = (
            sum(n for (name, kind), n in counts.items() if kind == what and folder in (None, name))
            for what in ("killed", "types", "judged", "survived")
        )
        matter = killed + types + survived
        share = f"{100 * (killed + types) / matter:7.1f}" if matter else f"{'-':>7}"
        total = matter + judged_
        rows.append(f"{folder or 'all':24}{total:8}{killed:8}{types:8}{judged_:8}{survived:9}{share}")
    return "\n".join(rows)


def main():
    """Draw mutants, run the tests on each, and print what survived; the exit status says whether any did."""
    given = parser().parse_args()
    mutants, known, results = chosen(given), judged.reasons(), []
    log = FOLDER / f"run-{time.strftime('%H%M%S')}.jsonl"
    with copies(given.jobs) as working:
        if given.record or not (given.quick or any(FOLDER.glob("*.json"))):
            record(working)
        FOLDER.mkdir(parents=True, exist_ok=True)
        recorded = Recorded(FOLDER)

        def run(copy, one):
            tests = [(given.tests, 0)] if given.tests else rounds(recorded, one.path, one.lines, given.budget)
            return outcome(copy, known, one, tests[: 1 if given.quick else None], not given.quick)

        for one, (what, by, took) in working.each(run, mutants):
            results.append((one, what, by))
            with log.open("a", encoding="utf-8") as out:
                print(json.dumps({"mutant": one.name, "what": what, "by": by, "s": took, "diff": one.diff}), file=out)
            slow = " by a timeout" if by == "timeout" else ""
            print(f"{len(results)}/{len(mutants)} {one.name} {what}{slow} {took} s", flush=True)
            if what == "survived":
                print("\n".join(one.diff), flush=True)
    print(table(results))
    return any(what == "survived" for one, what, by in results)


if __name__ == "__main__":
    sys.exit(main())
