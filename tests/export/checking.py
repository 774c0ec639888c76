"""mypy and pyright over programs that use generated types."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.export.compiling import HERE, NODE
from tests.installing import node_modules

ROOT = Path(__file__).parent.parent.parent
#: What mypy knows of the standard library and of gatewayfw: learning it anew takes ten times as long as a check.
CACHE = ROOT / "build" / "mypy"
_FOUND = re.compile(r"(?:[\w/]+/)?(\w+)\.py:(\d+): error: .*\[([a-z-]+)\]")
_EXPECTED = re.compile(r"#! ([a-z-]+)")


def mypy(folder, *names, flags=("--strict",)):
    """The errors that ``mypy --strict`` finds in files of a folder, as (file, line, code)."""
    command = [sys.executable, "-m", "mypy", *flags, "--follow-imports=silent", "--python-version=3.11"]
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


def pyright(folder, *names, strict=(), **rules):
    """The lines of files of a folder of which pyright tells, as (file, line).

    It checks those of ``strict`` in its strict mode.
    """
    config = {"include": names, "strict": strict, "pythonVersion": "3.11", "extraPaths": [str(ROOT)], **rules}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), "utf-8")
    command = [*NODE, node_modules(HERE) / "node_modules/pyright/index.js", "--outputjson"]
    command += ["--pythonpath", sys.executable, "-p", folder]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert found["summary"]["filesAnalyzed"] == len(names)
    told = [(Path(one["file"]).stem, one["range"]["start"]["line"] + 1, one) for one in found["generalDiagnostics"]]
    for name, line, one in told:
        print(name, line, one["severity"], one["message"], one.get("rule"))  # for whoever reads why a test failed
    return sorted({(name, line) for name, line, _ in told})


def assert_told(folder, generated, right, wrong):
    """Assert that mypy and pyright find an error in each line of a program that is marked as wrong, and no other.

    They accept the other program and the generated module, in strict mode too.
    """
    pytest.importorskip("mypy")
    for name, text in {"gateway_types": generated, "right": right, "wrong": wrong}.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    names, marks = ("gateway_types.py", "right.py", "wrong.py"), expected("wrong", wrong)
    assert mypy(folder, *names) == marks
    assert pyright(folder, *names, strict=names[:2]) == sorted({(name, line) for name, line, _ in marks})


def expected(name, source):
    """The errors that the marks ``#! code`` of a file name, as `mypy` gives them."""
    lines = source.splitlines()
    return [(name, number, mark) for number, line in enumerate(lines, 1) for mark in _EXPECTED.findall(line)]
