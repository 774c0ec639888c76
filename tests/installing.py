"""Other people's tools in fixed versions, installed into `build/` when a test first asks for them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

CACHE = Path(__file__).parent.parent / "build" / "tools"


def node_modules(source: Path) -> Path:
    """The folder that holds the packages of a folder's `package-lock.json`.

    Skips the test where there is no Node or npm; fails it then if ``GATEWAYFW_REQUIRE_NODE`` is 1.
    """
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing and os.environ.get("GATEWAYFW_REQUIRE_NODE") == "1":
        pytest.fail(f"not installed: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")

    def install(folder: Path) -> None:
        shutil.copy(source / "package.json", folder)
        shutil.copy(source / "package-lock.json", folder)
        ran(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)

    return _cached(source / "package-lock.json", install)


def python_packages(lock: Path) -> Path:
    """The folder that holds, in `bin`, the programs of the packages that a file of requirements names."""

    def install(folder: Path) -> None:
        python = folder / "bin" / "python"
        ran([sys.executable, "-m", "venv", str(folder)], folder)
        ran([str(python), "-m", "pip", "install", "-q", "--no-deps", "-r", str(lock)], folder)
        for program in (folder / "bin").iterdir():  # They name the folder, which is about to move.
            if program.is_file() and not program.is_symlink() and (text := program.read_bytes()).startswith(b"#!"):
                program.write_bytes(text.replace(str(folder).encode(), str(_place(lock)).encode()))

    return _cached(lock, install)


def _place(lock: Path) -> Path:
    return CACHE / hashlib.sha256(lock.read_bytes()).hexdigest()[:16]


def _cached(lock: Path, install: Callable[[Path], None]) -> Path:
    folder = _place(lock)
    CACHE.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as taken:
        fcntl.flock(taken, fcntl.LOCK_EX)  # tests run in several processes: one installs, the others wait
        if not folder.is_dir():
            fresh = Path(tempfile.mkdtemp(dir=CACHE))
            install(fresh)
            fresh.rename(folder)
    return folder


def ran(command: list[str], folder: Path, **variables: str) -> str:
    """What a command prints; fails the test if it fails."""
    env = {**os.environ, **variables}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
