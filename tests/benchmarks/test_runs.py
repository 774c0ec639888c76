"""The harness from end to end, very small: servers, load, rounds, growth, and nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pymongo import MongoClient

from benchmarks import inprocess, load, scaling, starting
from benchmarks.__main__ import ended_once, main
from benchmarks.contenders import CONTENDERS, PROTECTED, REFERENCE, TWIN
from benchmarks.growth import Sizes, many_models, measured
from benchmarks.page import DETAILS, FRONT
from benchmarks.rounds import Contest, Plan, requests_of
from benchmarks.servers import Server, ServerError
from benchmarks.works import WORKS
from tests.benchmarks.conftest import SIZE
from tests.waiting import wait_until

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
@pytest.mark.slow
@pytest.mark.usefixtures("everywhere")
def test_memory_is_sampled_until_all_requests_are_answered(mongod_uri, tmp_path, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_TEST_MONGO_URI", mongod_uri)
    words = ["memory", "--requests", "100", "--seconds", "0.1", "--connections", "2", "--output", str(tmp_path)]
    assert main([*words, "--contenders", "reference,blueprint"], SIZE) == 0
    data = json.loads((tmp_path / "memory.json").read_text())
    assert [one["contender"] for one in data["courses"]] == ["reference", "blueprint"]
    for one in data["courses"]:
        counts = [count for count, _ in one["points"]]
        assert counts[0] == 0
        assert counts == sorted(set(counts))
        assert counts[-2] < 100 <= counts[-1]
        assert one["errors"] == 0
        assert all(size > 10_000_000 for _, size in one["points"])
    assert (tmp_path / "memory.svg").read_text().count("<polyline") == 2


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.usefixtures("everywhere")
def test_every_shape_is_measured_in_each_round(mongod_uri, tmp_path, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_TEST_MONGO_URI", mongod_uri)
    words = ["scaling", "--rounds", "1", "--seconds", "0.1", "--connections", "2", "--output", str(tmp_path)]
    assert main([*words, "--only", "ping,getUser", "--contenders", "reference,blueprint"], SIZE) == 0
    samples = json.loads((tmp_path / "scaling.json").read_text())["samples"]
    wanted = {
        (name, str(shape), work)
        for name in ("reference", "blueprint")
        for shape in scaling.SHAPES
        for work in ("ping", "getUser")
    }
    assert {(one["contender"], one["shape"], one["work"]) for one in samples} == wanted
    assert [one for one in samples if one["errors"] or not one["rate"] > 0] == []


def servers_on(uri):
    """The databases of servers of contenders, by process id."""
    found, mark = {}, f"BENCH_URI={uri.partition('/?')[0]}/"
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            given = [word for word in path.read_bytes().decode().split("\0") if word.startswith(mark)]
            found |= {int(path.parent.name): word.removeprefix(mark).partition("?")[0] for word in given}
    return found


@pytest.mark.mongo
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -signal.SIGKILL)],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP", "SIGKILL"],
)
def test_a_run_that_is_ended_leaves_no_process(mongod_uri, tmp_path, number, status):
    run = (
        "import sys; from benchmarks.__main__ import main; from benchmarks.dataset import Size; sys.exit(main({}, {}))"
    )
    words = ["memory", "--seconds", "0.2", "--connections", "2", "--output", str(tmp_path), "--page"]
    root, before = Path(__file__).parent.parent.parent, set(servers_on(mongod_uri))
    pages = [path.read_bytes() for path in (FRONT, DETAILS)]
    with subprocess.Popen(
        [sys.executable, "-c", run.format(words, SIZE)],
        cwd=root,
        # With setproctitle, gunicorn's titles would cover the environment that `servers_on` reads.
        env={**os.environ, "GATEWAYFW_TEST_MONGO_URI": mongod_uri, "SPT_NOENV": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            assert wait_until(lambda: len(servers_on(mongod_uri).keys() - before) >= 2)
            started = servers_on(mongod_uri)
            process.send_signal(number)
            _, told = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == status, told
    assert wait_until(lambda: not servers_on(mongod_uri).keys() & started.keys() - before)
    with MongoClient(mongod_uri) as client:
        names = {started[pid] for pid in started.keys() - before}
        assert names.isdisjoint(client.list_database_names()) == (number != signal.SIGKILL)
        for name in names:
            client.drop_database(name)
    assert [path.read_bytes() for path in (FRONT, DETAILS)] == pages


@pytest.mark.parametrize("name", ["updateUser", "rename"])
def test_hardly_a_write_of_a_run_leaves_its_document_as_it_was(name):
    sent = requests_of(CONTENDERS["blueprint"], WORKS[name], Plan(seconds=5.0), 1)
    kept, values = 0, {}
    for set_ in (json.loads(one.body)["details"]["set"] for one in sent):
        kept += values.get(set_["_id"]) == set_
        values[set_["_id"]] = set_
    assert len(sent) == 10_000
    assert kept < 0.005 * len(sent)
    assert len(requests_of(CONTENDERS["blueprint"], WORKS["getUser"], Plan(seconds=5.0), 1)) == 1_000


def interrupted_in_the_second(number_of_rounds):
    def round(self, contenders, works, number):
        if number == 1:
            raise KeyboardInterrupt
        return number_of_rounds(self, contenders, works, number)

    return round


@pytest.mark.mongo
@pytest.mark.usefixtures("everywhere")
@pytest.mark.parametrize(("rounds", "status"), [(1, 0), (2, 130)], ids=["whole", "ended by Ctrl-C"])
def test_only_a_whole_run_goes_into_the_page(mongod_uri, tmp_path, monkeypatch, rounds, status):
    monkeypatch.setenv("GATEWAYFW_TEST_MONGO_URI", mongod_uri)
    monkeypatch.setattr(Contest, "round", interrupted_in_the_second(Contest.round))
    monkeypatch.setattr("benchmarks.page.DETAILS", tmp_path / "page.md")
    monkeypatch.setattr("benchmarks.page.FRONT", tmp_path / "front.md")
    empty = "<!-- begin http-2 -->\n<!-- end http-2 -->\n"
    excerpt = empty.replace("-2 -->", "-2: Memory -->", 1)
    (tmp_path / "page.md").write_text(empty)
    (tmp_path / "front.md").write_text(excerpt)
    words = ["--rounds", str(rounds), "--seconds", "0.05", "--connections", "2", "--only", "ping", "--page"]
    assert main([*words, "--contenders", "reference", "--output", str(tmp_path)], SIZE) == status
    data = json.loads((tmp_path / "http-2.json").read_text())
    assert (len(data["samples"]), data["whole"]) == (1, rounds == 1)
    assert ((tmp_path / "page.md").read_text() == empty) == (rounds == 2)
    assert ((tmp_path / "front.md").read_text() == excerpt) == (rounds == 2)


@pytest.mark.mongo
@pytest.mark.usefixtures("everywhere")
def test_a_reply_that_refuses_is_no_measurement(mongod_uri):
    work = replace(WORKS["getUser"], details=lambda chosen, size: {"set": {"_id": "f" * 24}, "get": {"_id": 1}})
    contest = Contest(mongod_uri, Plan(size=SIZE))
    with contest.running([CONTENDERS[REFERENCE]]), pytest.raises(ServerError, match="reference refuses getUser: 404"):
        contest.checked(CONTENDERS[REFERENCE], [work])


@pytest.mark.mongo
@pytest.mark.slow
def test_servers_of_other_frameworks_answer_every_work(mongod_uri):
    others = [one for one in CONTENDERS.values() if one.name in ("fastapi", "eve", "strawberry")]
    contest = Contest(mongod_uri, Plan(size=SIZE))
    with contest.running(others):
        for one in others:
            contest.checked(one, one.works())
            assert contest.servers[one.name].memory() > 10_000_000
            details = WORKS["addUser"].details(random.Random(1), SIZE)
            seen = load.by_hand(contest.servers[one.name].port, [one.request(WORKS["addUser"], details)], 2, 0.1)
            assert seen.errors == 0
            assert seen.requests > 0


@pytest.mark.mongo
def test_a_contest_ends_its_servers(mongod_uri):
    contest = Contest(mongod_uri, Plan(size=SIZE))
    with contest.running([CONTENDERS["blueprint"]]):
        server = contest.servers["blueprint"]
        pids = server.pids()
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


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit)],
)
def test_the_first_signal_ends_a_run_and_the_next_do_not_disturb_that(number, raised):
    ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(one) for one in ends]
    cleaned = False
    with pytest.raises(raised), ended_once():
        try:
            signal.raise_signal(number)
        finally:
            for one in ends:
                signal.raise_signal(one)
            cleaned = True
    assert cleaned
    assert [signal.getsignal(one) for one in ends] == before


def test_what_is_not_installed_is_left_out_and_said(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.__main__.MISSING", {"eve": "eve needs eve, which is not installed"})
    monkeypatch.setattr("benchmarks.__main__.CONTENDERS", {"reference": None})
    with pytest.raises(SystemExit):
        main(["--contenders", "eve"])
    assert "unknown: eve needs eve, which is not installed (known: reference)" in capsys.readouterr().err


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
    sizes = Sizes((1, 3), (2, 4), 12, (1, 300), (1, 2), (1, 5), (1, 5), (10, 20), (10, 20), 1)
    told, data, chart = measured(mongod_uri, sizes, log=lambda line: None)
    lengths = [len(line) for growth in data["growth"] for line in growth["series"].values()]
    assert lengths == [2] * len(lengths)
    assert (told.count("**"), chart.count("<polyline")) == (2 * (1 + len(data["growth"])), len(lengths))


@pytest.mark.mongo
@pytest.mark.slow
def test_a_start_is_measured_on_an_empty_and_on_a_prepared_database(mongod_uri):
    told, data = starting.measured(mongod_uri, starting.Sizes.small())
    commands = [(new["commands"], old["commands"]) for *_, new, old in data["rows"]]
    assert ([row[:2] for row in data["rows"]], commands) == ([(1, 2), (3, 6)], [(13, 5), (13, 5)])
    assert told.count("commands |") == 4
