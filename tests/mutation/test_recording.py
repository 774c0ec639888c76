"""Which tests run which lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage")

ROOT = Path(__file__).parent.parent.parent
TEST = "tests/odm/test_ids.py::test_ids_of_different_kinds_have_one_order"


@pytest.mark.slow
def test_the_tests_of_a_line_are_written_down(tmp_path):
    file = tmp_path / "recorded.json"
    command = [sys.executable, "tests/mutation/recording.py", str(file), TEST]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=200)
    found = json.loads(file.read_text())
    lines = Path(ROOT, "gatewayfw/odm/ids.py").read_text().splitlines()
    ran = {lines[int(line) - 1].strip(): tests for line, tests in found["lines"]["gatewayfw/odm/ids.py"].items()}
    assert [name for name, seconds in found["tests"]] == [TEST]
    assert found["failed"] == []
    assert ran["return sorted(ids, key=repr)"] == [0]
    assert ran['T = TypeVar("T")'] == []  # only the import ran it
    assert "yield None" not in ran
