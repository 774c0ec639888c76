"""What the page on CI adds to a project works in one."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from gatewayfw.cli.new import write_project

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "howto" / "ci.md").read_text("utf-8")


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.slow
def test_types_are_checked_by_the_step_and_by_the_test(tmp_path):
    write_project("shop", tmp_path)
    (tmp_path / "shop" / "tests" / "test_types.py").write_text(block("python"), "utf-8")
    (step,) = yaml.safe_load(block("yaml"))
    known = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAYFW_")}
    environ = {**known, "PYTHONPATH": str(ROOT), **step["env"]}

    def status(*words):
        words = [sys.executable, "-m", *words]
        told = subprocess.run(words, cwd=tmp_path / "shop", env=environ, capture_output=True, check=False)
        return told.returncode

    program, *words = shlex.split(step["run"])
    test = ["pytest", "-q", "-p", "no:cacheprovider", "tests/test_types.py"]
    assert program == ".venv/bin/flask"
    assert [status("flask", *words), status(*test), status(*test), status("flask", *words)] == [1, 1, 0, 0]
