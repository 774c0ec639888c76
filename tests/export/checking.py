"""mypy over programs that use generated types."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
#: What mypy knows of the standard library and of gatewayfw: learning it anew takes ten times as long as a check.
CACHE = ROOT / "build" / "mypy"
_FOUND = re.compile(r"(\w+)\.py:(\d+): error: .*\[([a-z-]+)\]")
_EXPECTED = re.compile(r"#! ([a-z-]+)")


def mypy(folder, *names):
    """The errors that ``mypy --strict`` finds in files of a folder, as (file, line, code)."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--python-version=3.11"]
    command += ["--no-error-summary", "--hide-error-context", "--no-pretty", "--config-file=", f"--cache-dir={CACHE}"]
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one process at a time: tests run in several
        result = subprocess.run(
            [*command, *names],
            cwd=folder,
            env={**os.environ, "MYPYPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    lines = [line for line in result.stdout.splitlines() if ": note: " not in line]
    found = [_FOUND.fullmatch(line) for line in lines]
    assert all(found), result.stdout
    assert result.stderr == ""
    return [(match[1], int(match[2]), match[3]) for match in found]


def expected(name, source):
    """The errors that the marks ``#! code`` of a file name, as `mypy` gives them."""
    lines = source.splitlines()
    return [(name, number, mark) for number, line in enumerate(lines, 1) for mark in _EXPECTED.findall(line)]
