"""What the Dockerfile says, carried out in a fresh Debian without a container engine: needs root and debootstrap."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from gatewayfw.testing.mongod import find_free_port
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
STAGES = (ROOT / "deploy" / "Dockerfile").read_text("utf-8").replace("\\\n", " ").split("\nFROM ")
STEPS = [line.partition(" ") for line in STAGES[2].splitlines()[1:] if line and not line.startswith("#")]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def said(instruction):
    return [rest for name, _, rest in STEPS if name == instruction]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def root(full, tmp_path):
    """A folder in which the steps of the second stage were carried out."""
    if not full or os.geteuid() != 0 or shutil.which("debootstrap") is None:
        pytest.skip("needs --faults, root and debootstrap")
    root = tmp_path / "root"
    run("debootstrap", "--variant=minbase", "--include=python3-venv", "bookworm", root)
    ((wanted,),) = [re.findall(r"'(\.\[.*?\])'", STAGES[1])]
    run(sys.executable, "-m", "build", "--sdist", "--outdir", tmp_path / "dist", ROOT)  # leaves nothing in the clone
    (sdist,) = (tmp_path / "dist").iterdir()
    run(sys.executable, "-m", "pip", "wheel", "-q", "--wheel-dir", tmp_path / "wheels", f"{sdist}{wanted[1:]}")
    places = {"--from=wheels /wheels": tmp_path / "wheels", "sample_service": ROOT / "sample_service"}
    for name, _, rest in STEPS:
        if name == "COPY":
            source, _, target = rest.rpartition(" ")
            shutil.copytree(places[source], root / target[1:])
        elif name == "RUN":
            run("env", "-i", f"PATH={PATH}", "chroot", root, "sh", "-c", rest)
    return root


@pytest.mark.slow
@pytest.mark.mongo
def test_the_service_runs_without_rights_and_stops_in_time(root, mongo_database, mongod_uri):
    port = find_free_port()
    (user,), (folder,), (command,) = said("USER"), said("WORKDIR"), said("CMD")
    environ = dict(word.split("=") for word in shlex.split(" ".join(said("ENV")))) | {
        "PATH": PATH,
        "HOST": "127.0.0.1",
        "PORT": str(port),
        "GATEWAYFW_ENV": "production",
        "GATEWAYFW_TOKEN_KEY": "k" * 32,
        "MONGODB_URI": mongod_uri.replace("/?", f"/{mongo_database.name}?"),
    }
    start = ["chroot", f"--userspec={user}:{user}", root, "env", "-C", folder, *json.loads(command)]
    with (
        urllib3.PoolManager(retries=False) as http,
        subprocess.Popen(start, env=environ, stderr=subprocess.PIPE, text=True) as process,
    ):
        try:
            wait_until(lambda: answer(http, f"http://127.0.0.1:{port}/gateway/readyz") == (200, "ok"))
            status = Path(f"/proc/{process.pid}/status").read_text()
            process.send_signal(signal.SIGTERM)
            process.wait(10)
        finally:
            process.kill()
    assert re.search(r"^Uid:\t(.*)$", status, re.MULTILINE)[1].split() == [user] * 4
    assert re.search(r"^CapEff:\t(.*)$", status, re.MULTILINE)[1] == "0" * 16
    assert process.returncode == 0
    assert list((root / "tmp").iterdir()) == []


def answer(http, url):
    try:
        reply = http.request("GET", url)
    except urllib3.exceptions.HTTPError:
        return None
    return reply.status, json.loads(reply.data)["status"]
