"""The source of the playground, its packages, and a build of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "playground"
BUILT = ROOT / "gatewayfw" / "playground" / "static"
#: The licences of what is in the build.
NOTICES = ROOT / "THIRD-PARTY-NOTICES.txt"


def copied(folder: Path) -> Path:
    """Copy the source, without its packages, to ``folder/playground``; return that."""
    there = folder / "playground"
    shutil.copytree(SOURCE, there, ignore=shutil.ignore_patterns("node_modules", "dist"))
    return there


def install(folder: Path) -> None:
    """Install exactly what the lock file says."""
    run(folder, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")


def run(folder: Path, *command: str) -> str:
    """Run a command; its output is in the message when it fails."""
    environ = {**os.environ, "CI": "1", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False, env=environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def require_node() -> None:
    """Skip the test where there is no node, unless there must be one."""
    if shutil.which("npm") is None:
        assert os.environ.get("GATEWAYFW_REQUIRE_NODE") != "1", "GATEWAYFW_REQUIRE_NODE=1, and there is no npm"
        pytest.skip("there is no npm")
