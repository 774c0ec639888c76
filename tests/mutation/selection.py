"""Which tests can see a mutant, by what `recording` wrote down, the nearest first."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

#: How the names of the files begin in which slow tests are recorded.
SLOW = "slow-"


class Recorded:
    """What the tests of several folders ran; see `recording`."""

    def __init__(self, folder):
        self.seconds = {}
        self.slow = set()
        self.lines = {}
        for file in sorted(folder.glob("*.json")):
            self._add(json.loads(file.read_text("utf-8")), file.name.startswith(SLOW))

    def _add(self, found, slow):
        names = [name for name, seconds in found["tests"]]
        self.seconds |= {name: seconds for name, seconds in found["tests"] if exists(name)}
        if slow:
            self.slow.update(names)
        for path, lines in found["lines"].items():
            for line, numbers in lines.items():
                self.lines.setdefault(path, {}).setdefault(int(line), set()).update(names[number] for number in numbers)

    def tests(self, path, lines):
        """Return the tests that ran some lines; where only imports did, those that ran any line of the file."""
        ran = self.lines.get(path, {})
        found = set().union(*(ran.get(line, ()) for line in lines)) or set().union(*ran.values())
        return found & self.seconds.keys()


@functools.cache
def names_in(file):
    return (
        set(re.findall(r"^ *(?:def|class) (\w+)", Path(file).read_text("utf-8"), re.M))
        if Path(file).is_file()
        else set()
    )


def exists(test):
    """Whether a recorded test is still there; of a class, which may inherit it, whether the class is."""
    file, name, *_ = test.split("::")
    return name in names_in(file)


def mirror(path):
    """Return the test file of a module, or the folder of tests that is nearest to it."""
    inside = Path("tests", *Path(path).parts[1:])
    own = inside.with_name(f"test_{inside.name}" if inside.name != "__init__.py" else "test_init.py")
    if own.is_file():
        return str(own)
    return str(next(folder for folder in inside.parents if folder.is_dir()))


def distance(test, mirrored):
    """Return how many folders are between a test and the file that mirrors the module."""
    theirs, ours = Path(test.split("::")[0]).parts, Path(mirrored).parts
    shared = next(
        (i for i, (a, b) in enumerate(zip(theirs, ours, strict=False)) if a != b), min(len(theirs), len(ours))
    )
    return len(ours) - shared


def rounds(recorded, path, lines, budget):
    """Return the tests to run on a mutant, in rounds: those that mirror it, others that ran it, and slow ones.

    The last two have the nearest and quickest ones, each of at most `budget` seconds together. Each round comes with
    the seconds that it took when it was recorded.
    """
    mirrored = mirror(path)
    ran = recorded.tests(path, lines)
    quick = recorded.seconds.keys() - recorded.slow
    own = sum(recorded.seconds[test] for test in quick if test.startswith(mirrored))
    others = {test for test in ran & quick if not test.startswith(f"{mirrored}::")}
    first = (["-m", "not slow", mirrored], own)
    return [first, *(nearest(recorded, tests, mirrored, budget) for tests in (others, ran - quick))]


def nearest(recorded, tests, mirrored, budget):
    """Return as many of some tests as a budget has room for, and their seconds."""
    chosen, left = [], budget
    for test in sorted(tests, key=lambda test: (distance(test, mirrored), recorded.seconds[test], test)):
        if recorded.seconds[test] <= left:
            chosen.append(test)
            left -= recorded.seconds[test]
    return chosen, budget - left
