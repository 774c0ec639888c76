"""``python -m sample_service`` as a process: data that stays, a clean end, and what it says on the way."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import pytest
import urllib3

import sample_service
from sample_service.__main__ import main
from tests.waiting import wait_until

ROOT = Path(sample_service.__file__).parent.parent
READY = "Ctrl-C stops it.\n"


@pytest.fixture
def port():
    """A port of 127.0.0.1 on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def start(tmp_path, port, default_signals):
    """Start the program in an empty folder: ``start(NAME="value")`` gives the process and what it printed."""
    processes = []

    def start(**environ: str) -> tuple[subprocess.Popen[str], str]:
        with (tmp_path / "stderr").open("w") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "sample_service"],
                cwd=tmp_path,
                env={**clean_environ(), "PYTHONPATH": str(ROOT), "PORT": str(port), **environ},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                start_new_session=True,
            )
        processes.append(process)
        return process, printed(process)

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


def clean_environ():
    """This process's environment without the settings of a service; where mongod is, stays."""
    settings = {name for name in os.environ if name.startswith("GATEWAYFW_")} - {"GATEWAYFW_MONGOD"}
    return {name: value for name, value in os.environ.items() if name not in {"MONGODB_URI", *settings}}


def printed(process):
    """Return what the program prints until it serves, or until it ends."""
    lines = []
    late = threading.Timer(60, process.kill)
    late.start()
    for line in process.stdout:
        lines.append(line)
        if line == READY:
            break
    late.cancel()
    return "".join(lines)


def interrupted(process):
    """Press Ctrl-C as a terminal does: the whole group of processes gets the signal."""
    os.killpg(process.pid, signal.SIGINT)
    return process.wait(30)


def interrupted_when_started(process):
    """Press Ctrl-C when both workers run: gunicorn 27 fails where a signal reaches one that starts."""
    wait_until(lambda: len(ready_workers(process)) == 2)
    return interrupted(process)


def ready_workers(process):
    """Return the processes below a master of gunicorn that leave Ctrl-C to it, as they do once they serve."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    masks = [re.search(r"SigIgn:\s*(\w+)", Path(f"/proc/{child}/status").read_text())[1] for child in children]
    return [mask for mask in masks if int(mask, 16) & 1 << signal.SIGINT - 1]


def post(command):
    """Send what a printed curl command says."""
    words = shlex.split(command)
    headers = dict(words[i + 1].split(": ", 1) for i, word in enumerate(words) if word == "-H")
    retries = urllib3.Retry(connect=20, backoff_factor=0.02)
    with urllib3.PoolManager(retries=retries) as http:
        reply = http.request("POST", words[1], body=words[words.index("-d") + 1].encode(), headers=headers)
        return reply.status, reply.json()


def commands_in(text):
    return [line for line in text.splitlines() if line.startswith("curl ")]


@pytest.mark.slow
@pytest.mark.mongo
@pytest.mark.usefixtures("mongod_uri")  # skips where there is no mongod
def test_data_is_there_again_after_a_restart(start, tmp_path):
    process, text = start()
    assert f"Data: {tmp_path}/.gateway (MONGODB_URI='mongodb://127.0.0.1:" in text
    login, add_user = commands_in(text)
    assert [post(login)[0], post(add_user)[0]] == [200, 200]
    assert interrupted_when_started(process) == 0

    process, text = start()
    login, add_user = commands_in(text)
    assert post(login)[0] == 200
    assert post(add_user) == (409, {"body": {"message": "Duplicate key error"}, "success": False})
    status = interrupted_when_started(process)
    assert status == 0
    assert "Traceback" not in (tmp_path / "stderr").read_text()


@pytest.mark.slow
@pytest.mark.mongo
@pytest.mark.parametrize("name", [None, "staging", "development"])
def test_a_given_database_gets_demo_data_only_where_development_is_said(start, port, mongod_uri, mongo_database, name):
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    said = {} if name is None else {"GATEWAYFW_ENV": name}
    process, text = start(MONGODB_URI=uri, GATEWAYFW_TOKEN_KEY="k" * 32, **said)
    url = f"http://127.0.0.1:{port}"
    with urllib3.PoolManager(retries=urllib3.Retry(connect=20, backoff_factor=0.02)) as http:
        found = [http.request("GET", f"{url}{path}").status for path in ("/playground/", "/nothing")]
        foreign = http.request("GET", f"{url}/playground/", headers={"Host": "rebound.example"})
    assert interrupted_when_started(process) == 0
    users = mongo_database.user.count_documents({})
    in_development = name == "development"
    assert found == [200 if in_development else 404, 404]
    assert (users > 0) == in_development
    assert ("demo-" in text) == in_development
    assert foreign.status == (400 if in_development else 404)


@pytest.mark.slow
def test_without_mongod_the_data_is_in_memory_and_that_is_said_loudly(start, tmp_path):
    process, text = start(GATEWAYFW_MONGOD=str(tmp_path / "none"))
    assert "Data: in memory; it is lost when this program ends" in text
    assert [post(command)[0] for command in commands_in(text)] == [200, 200]
    assert interrupted(process) == 0
    said = (tmp_path / "stderr").read_text()
    assert "*** The data is in memory and will be lost: " in said
    assert "Traceback" not in said


@pytest.mark.slow
def test_password_and_hash_are_not_in_the_log(start, tmp_path):
    process, text = start(GATEWAYFW_MONGOD=str(tmp_path / "none"))
    for command in commands_in(text):
        post(command)
    interrupted(process)
    said = (tmp_path / "stderr").read_text()
    assert re.findall(r"[0-9a-f]{64}", said + text) == []
    assert "a long password" not in said


@pytest.mark.slow
def test_base_url_is_part_of_the_printed_commands(start, tmp_path, port):
    process, text = start(GATEWAYFW_MONGOD=str(tmp_path / "none"), GATEWAYFW_BASE_URL="/api")
    assert f"Endpoint: POST http://127.0.0.1:{port}/api/gateway\n" in text
    assert [post(command)[0] for command in commands_in(text)] == [200, 200]
    assert interrupted(process) == 0


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"PORT": "x"}, "sample_service: PORT=x is no port number (1..65535)"),
        ({"PORT": "0"}, "sample_service: PORT=0 is no port number (1..65535)"),
        ({"PORT": "70000"}, "sample_service: PORT=70000 is no port number (1..65535)"),
        ({"GATEWAYFW_BASE_URL": "api"}, "sample_service: option 'url_prefix': expected '' or a path like '/api'"),
        ({"GATEWAYFW_ENV": "production"}, "sample_service: set_db: data in memory is refused in the environment"),
        ({"MONGODB_URI": "mongodb://127.0.0.1:1/sample"}, "sample_service: no token key: set GATEWAYFW_TOKEN_KEY"),
        ({"GATEWAYFW_TOKEN_KEY": "short"}, "sample_service: tokens: the key must have at least 32 bytes"),
        ({"MONGODB_URI": "mongodb://127.0.0.1/"}, "sample_service: "),
    ],
    ids=[
        "port",
        "port 0",
        "large port",
        "base url",
        "memory in production",
        "no key for a database",
        "short key",
        "no database name",
    ],
)
def test_what_is_wrong_is_said_in_one_line(monkeypatch, tmp_path, port, environ, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["sample_service"])
    usual = {"GATEWAYFW_MONGOD": str(tmp_path / "none"), "PORT": str(port)}
    with (
        mock.patch.dict(os.environ, {**clean_environ(), **usual, **environ}, clear=True),
        pytest.raises(SystemExit, match=f"^{re.escape(message)}.*$"),
    ):
        main()


@pytest.mark.slow
def test_a_server_that_does_not_answer_ends_the_program_with_one_line(start, tmp_path):
    process, text = start(MONGODB_URI="mongodb://127.0.0.1:1/sample", GATEWAYFW_ENV="development")
    said = (tmp_path / "stderr").read_text()
    assert (process.wait(30), text) == (1, "")
    assert "Traceback" not in said
    message = "sample_service: the database does not answer; is MONGODB_URI right"
    assert said.splitlines()[-1].startswith(message)


@pytest.mark.slow
def test_arguments_are_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sample_service", "--port", "8001"],
        cwd=tmp_path,
        env={**clean_environ(), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    last = "python -m sample_service: error: unrecognized arguments: --port 8001"
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == last
    assert not (tmp_path / ".gateway").exists()


@pytest.mark.slow
def test_port_in_use_is_said_before_anything_is_started(start, tmp_path, port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        process, text = start()
        assert (process.wait(30), text) == (1, "")
    assert (
        (tmp_path / "stderr").read_text().startswith(f"sample_service: port {port}: Address already in use; PORT=8001")
    )
    assert not (tmp_path / ".gateway").exists()


@pytest.mark.slow
def test_gunicorn_refuses_workers_that_share_no_data(port):
    environ = {**clean_environ(), "PYTHONPATH": str(ROOT), "PORT": str(port), "GATEWAYFW_TOKEN_KEY": "k" * 32}
    config = ["-c", str(ROOT / "sample_service" / "gunicorn.conf.py")]
    done = subprocess.run(
        [sys.executable, "-m", "gunicorn", *config],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.endswith("MONGODB_URI is not set: each worker would keep data of its own, in memory\n")


@pytest.mark.slow
@pytest.mark.mongo
@pytest.mark.parametrize("preload", [[], ["--preload"]], ids=["plain", "preload"])
def test_gunicorn_workers_accept_each_others_tokens_in_development(mongo_database, mongod_uri, port, preload):
    name = mongo_database.name
    environ = {
        **clean_environ(),
        "PYTHONPATH": str(ROOT),
        "PORT": str(port),
        "GATEWAYFW_ENV": "development",
        "MONGODB_URI": mongod_uri.replace("/?", f"/{name}?"),
    }
    flask = [sys.executable, "-m", "flask", "--app", "sample_service"]
    subprocess.run([*flask, "seed"], env=environ, check=True, capture_output=True)
    config = ["-c", str(ROOT / "sample_service" / "gunicorn.conf.py")]
    with subprocess.Popen(
        [sys.executable, "-m", "gunicorn", *config, *preload], env=environ, stderr=subprocess.PIPE, text=True
    ) as process:
        login = {"email": "admin@example.com", "password": "demo-admin"}
        token = act(port, "login", login, {"token": 1})[1]["body"]["token"]
        replies = [act(port, "getMe", {}, {"email": 1, "_id": 0}, token) for _ in range(40)]
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert replies == [(200, {"body": {"email": "admin@example.com"}, "success": True})] * 40
    assert process.returncode == 0
    assert "Traceback" not in said


def act(port, name, set_, get, token=""):
    body = {"model": "user", "act": name, "details": {"set": set_, "get": get}}
    # A new connection each time, so that both workers answer.
    return post(
        f"curl http://127.0.0.1:{port}/gateway -H 'Content-Type: application/json' -H 'token: {token}' "
        f"-d '{json.dumps(body)}'"
    )
