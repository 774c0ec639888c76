"""The harness from end to end, very small: servers, load, rounds, growth, and nothing left behind."""

from __future__ import annotations

import json
import os
import sys
import time

import pytest
from pymongo import MongoClient

from benchmarks import inprocess, load
from benchmarks.__main__ import main
from benchmarks.contenders import CONTENDERS, PROTECTED, REFERENCE, TWIN
from benchmarks.growth import Sizes, many_models, measured
from benchmarks.rounds import Contest, Plan
from benchmarks.servers import Server, ServerError
from benchmarks.works import WORKS
from tests.benchmarks.conftest import SIZE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
CHOSEN = [REFERENCE, TWIN, PROTECTED, "blueprint"]


@pytest.fixture
def everywhere(monkeypatch):
    """The cores this process may use are as before."""
    cores = os.sched_getaffinity(0)
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.usefixtures("everywhere")
def test_one_round_fills_every_column(mongod_uri, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GATEWAYFW_TEST_MONGO_URI", mongod_uri)
    words = ["--rounds", "1", "--seconds", "0.1", "--connections", "2", "--output", str(tmp_path)]
    with MongoClient(mongod_uri) as client:
        before = {name for name in client.list_database_names() if name.startswith("bench_")}
        assert main([*words, "--contenders", ",".join(CHOSEN)], SIZE) == 0
        assert {name for name in client.list_database_names() if name.startswith("bench_")} <= before
    data = json.loads((tmp_path / "http-2.json").read_text())
    told = (tmp_path / "http-2.md").read_text()
    wanted = [(name, work.name) for name in CHOSEN for work in CONTENDERS[name].works()]
    assert sorted((one["contender"], one["work"]) for one in data["samples"]) == sorted(wanted)
    assert [one for one in data["samples"] if one["errors"] or not (one["cpu"] > 0 and one["requests"] > 0)] == []
    assert list(data["commands"]) == list(data["at_rest"]) == list(data["afterwards"]) == CHOSEN
    assert told.count("| blueprint |") == 6
    assert told in capsys.readouterr().out


@pytest.mark.mongo
def test_a_contest_ends_its_servers(mongod_uri):
    contest = Contest(mongod_uri, Plan(size=SIZE))
    with contest.running([CONTENDERS["blueprint"]]):
        server = contest.servers["blueprint"]
        pids = server._pids()
        before = server.cpu()
        request = CONTENDERS["blueprint"].request(WORKS["ping"], {"set": {}, "get": {}})
        assert load.ask(server.port, [request]) == [(200, b'{"body":"pong","success":true}')]
        assert server.cpu() > before
        assert server.memory() > 10_000_000
    assert len(pids) == 2
    assert [pid for pid in pids if os.path.exists(f"/proc/{pid}")] == []


def test_a_server_that_cannot_start_says_why():
    broken = CONTENDERS[REFERENCE].__class__("broken", "benchmarks.nothing:make", "app", "no such module")
    with pytest.raises(ServerError, match="No module named 'benchmarks.nothing'"), Server(broken, ""):
        pass


def test_unknown_names_are_refused(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["--only", "ping,pong"])
    assert caught.value.code == 2
    assert "unknown: pong (known: ping, getUser" in capsys.readouterr().err


def test_calls_in_process_answer_and_take_time():
    calls = {(name, work): inprocess.caller(name, work) for name in inprocess.CALLED for work in inprocess.CANNED}
    answers = {work: {json.dumps(json.loads(calls[name, work]())) for name in inprocess.CALLED} for _, work in calls}
    assert {work: len(found) for work, found in answers.items()} == dict.fromkeys(inprocess.CANNED, 1)
    times = inprocess.cpu_times({key: calls[key] for key in list(calls)[:2]}, rounds=1, seconds=0.001)
    assert all(spread.least > 0 for spread in times.values())


def test_many_models_are_made_and_asked():
    start = time.perf_counter()
    figures = many_models(3, 1)
    assert sorted(figures) == ["first", "get", "memory", "ping", "start"]
    assert 0 < figures["ping"] < time.perf_counter() - start


@pytest.mark.mongo
@pytest.mark.slow
def test_growth_has_every_figure(mongod_uri):
    sizes = Sizes((1, 3), (2, 4), (1, 300), (1, 2), (1, 5), (1, 5), 1)
    told, data, chart = measured(mongod_uri, sizes, log=lambda line: None)
    lengths = [len(line) for growth in data["growth"] for line in growth["series"].values()]
    assert lengths == [2] * len(lengths)
    assert (told.count("**"), chart.count("<polyline")) == (2 * len(data["growth"]), len(lengths))
