"""TypeScript's compilers and Node, for the tests of what is generated."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "ts"
CACHE = Path(__file__).parent.parent.parent / "build" / "typescript"
#: The compilers by the folder that npm puts them in.
COMPILERS = ["typescript", "typescript-5"]


def installed() -> Path:
    """The folder that holds the compilers of the lock file, installed there when first asked for.

    Skips the test where there is no Node or npm; fails it then if ``GATEWAYFW_REQUIRE_NODE`` is 1.
    """
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing and os.environ.get("GATEWAYFW_REQUIRE_NODE") == "1":
        pytest.fail(f"not installed: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    lock = (HERE / "package-lock.json").read_bytes()
    folder = CACHE / hashlib.sha256(lock).hexdigest()[:16]
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=CACHE))
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, fresh)
        ran(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], fresh)
        try:
            fresh.rename(folder)
        except OSError:  # another run was quicker
            shutil.rmtree(fresh)
    return folder


def ran(command: list[str], folder: Path) -> str:
    """What a command prints; fails the test if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Project:
    """A folder of TypeScript files that import each other."""

    folder: Path
    compilers: Path

    def compiles(self, compiler: str, *words: str) -> str:
        """What the compiler prints of the whole folder; fails the test if there is an error."""
        tsc = self.compilers / "node_modules" / compiler / "bin" / "tsc"
        return ran(["node", str(tsc), "-p", ".", *words], self.folder)

    def refused(self, compiler: str) -> str:
        """What the compiler prints of a folder with an error."""
        tsc = self.compilers / "node_modules" / compiler / "bin" / "tsc"
        command = ["node", str(tsc), "-p", ".", "--noEmit"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode != 0
        return done.stdout

    def runs(self, name: str, *words: str) -> str:
        """What a file prints that was compiled before; fails the test if it fails."""
        (self.folder / "package.json").write_text('{"type": "module"}')
        return ran(["node", f"out/{name}.js", *words], self.folder)
