"""The command on a small package with a good test, a weak one and none."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("mutmut")

from tests.mutation.running import Copies, Scratch, first_failure, killer
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
FILES = {
    "setup.cfg": "[tool:pytest]\nmarkers =\n    slow: takes long\n[mypy]\nfiles = shelf\n",
    "shelf/__init__.py": "",
    "shelf/tested.py": "def small(number: int) -> bool:\n    return number < 3\n",
    "shelf/typed.py": "COUNT: int = 0\n",
    "shelf/weak.py": "def small(number: int) -> bool:\n    return number < 5\n",
    "tests/test_tested.py": (
        "import pytest\nfrom shelf.tested import small\n\n"
        "@pytest.mark.parametrize('number', [2, 3])\ndef test_small(number):\n"
        "    assert small(number) == (number == 2)\n"
    ),
    "tests/test_typed.py": "def test_nothing():\n    pass\n",
    "tests/test_weak.py": "from shelf.weak import small\n\ndef test_small():\n    assert small(1)\n",
}


SHOWN = """\
1/4 shelf/tested.py:0 killed
2/4 shelf/typed.py:0 types
3/4 shelf/weak.py:0 survived
@@ -1,2 +1,2 @@
 def small(number: int) -> bool:
-    return number < 5
+    return number <= 5
4/4 shelf/weak.py:1 survived
@@ -1,2 +1,2 @@
 def small(number: int) -> bool:
-    return number < 5
+    return number < 6
folder                   mutants  killed   types  judged survived      %
shelf                          4       1       1       0        2   50.0
all                            4       1       1       0        2   50.0
"""


@pytest.fixture
def shelf(tmp_path):
    """A clone of a package, and a record of what its tests run."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    recorded = tmp_path / "build/mutate/tests.json"
    recorded.parent.mkdir(parents=True)
    recorded.write_text(json.dumps({"tests": [], "failed": [], "lines": {}}))
    return tmp_path


def run(folder, *words):
    """Run the command in a folder; return exit status and lines without the seconds."""
    code = "import runpy; runpy.run_module('tests.mutation', run_name='__main__')"
    command = [sys.executable, "-P", "-c", code, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200)
    assert done.stderr == ""
    return done.returncode, re.sub(r" \d+\.\d s$", "", done.stdout, flags=re.M)


@pytest.mark.slow
def test_survivors_are_shown_and_counted_by_folder(shelf, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    names = ["shelf/tested.py:0", "shelf/typed.py:0", "shelf/weak.py:0", "shelf/weak.py:1"]
    assert run(shelf, "--jobs", "2", "--again", *names) == (1, SHOWN)
    assert {name: (shelf / name).read_text() for name in FILES} == FILES


def test_the_first_failure_is_named():
    assert first_failure("F\nFAILED tests/test_a.py::test_b[c] - assert 1\n1 failed") == "tests/test_a.py::test_b[c]"
    assert first_failure("ERROR tests/test_a.py - SyntaxError\n") == "tests/test_a.py"
    assert first_failure("Fatal\nAborted\n") == "Aborted"
    assert first_failure("") == "no output"


def test_tests_whose_time_is_not_known_may_take_an_hour():
    class Copy:
        limits = []

        def run(self, *args, timeout):
            self.limits.append(timeout)
            return 0, ""

    assert killer(Copy(), [(["test_a.py"], 2), (["test_b.py"], 0), ([], 5)], types=False) is None
    assert Copy.limits == [320, 3600]


def test_whoever_stops_the_run_ends_what_runs(tmp_path):
    class Waits:
        def __init__(self):
            self.begun, self.ended = threading.Event(), threading.Event()

        def stop(self):
            self.ended.set()

    def work(copy, number):
        if number:
            copy.begun.set()
            assert copy.ended.wait(60)
        return -number

    first, second = Waits(), Waits()
    given = Copies([first, second]).each(work, [0, 1, 2, 3])
    assert next(given) == (0, 0)
    assert all(copy.begun.wait(60) for copy in (first, second))
    given.close()
    assert first.ended.is_set()
    assert second.ended.is_set()


@pytest.mark.slow
def test_what_runs_too_long_is_ended_with_all_it_started(tmp_path, monkeypatch):
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "hanging.py").write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'import os, signal; print(os.getpid(), flush=True); signal.pause()'])\n"
    )
    status, output = Scratch(tmp_path, None).run("-m", "hanging", timeout=2)
    assert status is None
    assert wait_until(lambda: not Path(f"/proc/{int(output)}").exists())
