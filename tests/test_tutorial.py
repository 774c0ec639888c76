"""The tutorial is carried out: its commands, files and changes, in an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until

PATH = Path(__file__).parent.parent / "docs" / "tutorial.md"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PATH.read_text("utf-8"), re.MULTILINE | re.DOTALL)
#: What `text` blocks show: needs a package index, and Docker.
LEFT_OUT = ["python3 -m venv venv", "docker build -t shop ."]
pytestmark = [pytest.mark.slow, pytest.mark.mongo]


class Reader:
    """Somebody who does what the page says."""

    def __init__(self, folder: Path, mongod_uri: str) -> None:
        self.folder, self.outputs, self.server = folder, [], None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = str(probe.getsockname()[1])
        known = {name: value for name, value in os.environ.items() if not name.startswith(("GATEWAYFW_", "PYTEST_"))}
        path = f"{Path(sys.executable).parent}:{known['PATH']}"
        self.environ = {**known, "PATH": path, "PORT": self.port, "GATEWAYFW_TEST_MONGO_URI": mongod_uri}

    def run(self, *words: str, given: str | None = None) -> None:
        """Run a program in the folder and keep what it prints."""
        told = subprocess.run(
            words, cwd=self.folder, env=self.environ, input=given, capture_output=True, text=True, check=False
        )
        assert told.returncode == 0, told.stdout + told.stderr
        self.outputs.append(told.stdout)

    def sh(self, text: str) -> None:
        """Type commands into a shell; those after `cd shop` find its environment already there."""
        before, _, after = text.rpartition("cd shop\n")
        if before:
            self.run("bash", "-euc", before)
            self.folder /= "shop"
            (self.folder / ".venv").mkdir()
            for part in Path(sys.prefix).iterdir():
                (self.folder / ".venv" / part.name).symlink_to(part)
            shutil.copy(self.folder / "requirements-dev.txt", self.folder / ".venv" / "installed")
        if after == "./dev run\n":
            with (self.folder.parent / "log").open("w") as log:
                self.server = subprocess.Popen(
                    ["./dev", "run"], cwd=self.folder, env=self.environ, stdout=log, stderr=log
                )
            assert wait_until(self.answers, process=self.server)
        else:
            self.run("bash", "-euc", after.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}"))

    def answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", int(self.port))) == 0

    def json(self, text: str) -> None:
        """Compare what the last command printed with the page."""
        assert json.loads(self.outputs[-1]) == json.loads(text)

    def python(self, text: str) -> None:
        """Write a file where its first line says so, otherwise run the text."""
        if found := re.match(r"# (\S+/\S+\.py)\n", text):
            path = self.folder / found[1]
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.removeprefix(found[0]), "utf-8")
        else:
            self.run(sys.executable, "-c", text.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}"))

    def diff(self, text: str) -> None:
        """Change files."""
        self.run("patch", "-p1", "--fuzz=0", given=text)

    def text(self, text: str) -> None:
        """Leave out what cannot be done here."""
        assert text.splitlines()[0] in LEFT_OUT


@pytest.fixture
def reader(tmp_path, mongod_uri):
    """Somebody in an empty folder."""
    reader = Reader(tmp_path, mongod_uri)
    yield reader
    if reader.server is not None:
        reader.server.terminate()
        reader.server.wait()


def test_every_step_works(reader):
    for kind, text in BLOCKS:
        getattr(reader, kind)(text)
    passed = [found for output in reader.outputs for found in re.findall(r"(\d+ passed) in ", output)]
    assert passed == ["9 passed", "13 passed", "13 passed"]
    assert set(re.findall(r"`(\d+ passed)`", PATH.read_text("utf-8"))) == set(passed)
    assert "review" in (reader.folder / "declarations" / "gateway.ts").read_text("utf-8")
    for words in (["check", "--select", "E,F,I,B,UP"], ["format", "--check"]):
        reader.run(sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", "--line-length", "120", ".")
