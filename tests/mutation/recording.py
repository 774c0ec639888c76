"""Which tests run which lines: ``python tests/mutation/recording.py FILE [PYTEST ARGS]`` writes it down as JSON.

A script, since pytest wants to be the first that imports ``tests``.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import coverage
import pytest


class Recorder:
    """A pytest plugin that tells coverage which test runs, and keeps how long each took and which failed.

    All cases of one function count as one test: they are few names, and run together.
    """

    def __init__(self, measured):
        self.measured = measured
        self.seconds = defaultdict(float)
        self.failed = set()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        self.measured.switch_context(function(item.nodeid))
        try:
            return (yield)
        finally:
            self.measured.switch_context("")

    def pytest_runtest_logreport(self, report):
        self.seconds[function(report.nodeid)] += report.duration
        if report.failed:
            self.failed.add(function(report.nodeid))


def function(nodeid):
    """Return the name of a test without the case."""
    return nodeid.partition("[")[0]


def lines(data, root, numbers):
    """Return for each file of the package the numbers of the tests that ran each line; none for what imports ran."""
    return {
        str(Path(path).relative_to(root)): {
            str(line): sorted(numbers[test] for test in tests if test in numbers)
            for line, tests in sorted(data.contexts_by_lineno(path).items())
        }
        for path in sorted(data.measured_files())
    }


def record(file, args):
    """Run tests in this folder; write down the seconds of those that pass, and the numbers of the tests of each line.

    The document is ``{"tests": [[name, seconds], ...], "failed": [name, ...], "lines": {path: {line: [number]}}}``.
    """
    measured = coverage.Coverage(data_file=None, source_pkgs=["gatewayfw"], config_file=False, messages=False)
    recorder = Recorder(measured)
    measured.start()
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *args], plugins=[recorder])
    measured.stop()
    tests = [[name, round(seconds, 3)] for name, seconds in recorder.seconds.items() if name not in recorder.failed]
    numbers = {name: number for number, (name, seconds) in enumerate(tests)}
    found = lines(measured.get_data(), Path.cwd(), numbers)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"tests": tests, "failed": sorted(recorder.failed), "lines": found}), "utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2:])
