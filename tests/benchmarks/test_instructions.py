"""Instructions of calls: what is run, what is subtracted, and what the tables say; valgrind itself is not needed."""

from __future__ import annotations

import json

import pytest
from pymongo import MongoClient

from benchmarks import instructions
from benchmarks.__main__ import main
from benchmarks.contenders import CONTENDERS, PROTECTED, REFERENCE
from benchmarks.works import WORKS
from tests.benchmarks.conftest import SIZE

COUNTS = {
    (REFERENCE, "getUser"): 1000.0,
    (REFERENCE, "rename"): 2000.0,
    (PROTECTED, "rename"): 2500.0,
    ("blueprint", "getUser"): 500.0,
    ("blueprint", "rename"): 2600.0,
}


@pytest.fixture
def counting(monkeypatch):
    """Instead of valgrind: a run costs 7,000,000, and each request that it sends 2,000."""

    def collected(*words, **variables):
        sent = []
        with monkeypatch.context() as patched:
            for name, value in variables.items():
                patched.setenv(name, value)
            patched.setattr(instructions, "call", lambda app, request: sent.append(request) or call(app, request))
            instructions.main(*words[1:])
        runs.append((words[1], *words[4:6], len(sent)))
        return 7_000_000 + 2_000 * len(sent)

    runs, call = [], instructions.call
    monkeypatch.setattr(instructions, "collected", collected)
    monkeypatch.setattr(instructions, "countable", lambda: True)
    return runs


@pytest.mark.mongo
def test_every_work_of_a_contender_is_counted_on_a_database_of_its_own(mongod_uri, tmp_path, monkeypatch, counting):
    monkeypatch.setenv("GATEWAYFW_TEST_MONGO_URI", mongod_uri)
    monkeypatch.setattr("benchmarks.__main__.cores_for_the_others", lambda: None)
    words = ["instructions", "--requests", "4", "--only", "ping,rename", "--output", str(tmp_path)]
    with MongoClient(mongod_uri) as client:
        before = set(client.list_database_names())
        assert main([*words, "--contenders", f"{REFERENCE},{PROTECTED},blueprint"], SIZE) == 0
        assert {name for name in client.list_database_names() if name.startswith("bench_")} <= before
    # Five requests of each work come first, in every run.
    assert counting == [
        (REFERENCE, "ping", "0", 10),
        (REFERENCE, "ping", "4", 14),
        (REFERENCE, "rename", "4", 14),
        (PROTECTED, "rename", "0", 5),
        (PROTECTED, "rename", "4", 9),
        ("blueprint", "ping", "0", 10),
        ("blueprint", "ping", "4", 14),
        ("blueprint", "rename", "4", 14),
    ]
    data = json.loads((tmp_path / "instructions.json").read_text())
    pairs = [
        (REFERENCE, "ping"),
        (REFERENCE, "rename"),
        (PROTECTED, "rename"),
        *(("blueprint", n) for n in ("ping", "rename")),
    ]
    assert data["instructions"] == [{"contender": name, "work": work, "thousands": 2.0} for name, work in pairs]


def test_the_tables_show_counts_and_both_ratios():
    told = instructions.markdown(COUNTS, 100)
    assert "| blueprint | 500 (0.50) | 2,600 (1.30) |" in told
    assert f"| {PROTECTED} | - | 2,500 (1.25) |" in told
    assert f"| {REFERENCE} | 1,000 (1.00) | 2,000 (1.00) |" in told
    assert told.endswith("| reference | 0.80 |\n| blueprint | 1.04 |\n")


def test_without_the_writes_in_a_transaction_there_is_one_table():
    counts = {key: n for key, n in COUNTS.items() if key[0] != PROTECTED}
    assert instructions.markdown(counts, 100).count("| --- |") == 1


def test_without_the_reference_counts_stand_alone():
    assert instructions.told({("blueprint", "ping"): 437.4}, REFERENCE) == {("blueprint", "ping"): "437"}


def test_what_valgrind_says_is_read(monkeypatch, tmp_path):
    valgrind = tmp_path / "valgrind"
    valgrind.write_text('#!/bin/sh\necho "==1== I   refs:   1,234,567" >&2\n[ "$6" != broken ]\n')
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert instructions.countable() is True
    assert instructions.collected("some.module", "a") == 1_234_567
    with pytest.raises(RuntimeError, match="valgrind: ==1== I   refs"):
        instructions.collected("broken")


def test_without_valgrind_the_word_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(instructions, "countable", lambda: False)
    with pytest.raises(SystemExit) as caught:
        main(["instructions"])
    assert caught.value.code == 2
    assert "instructions are counted by valgrind, which is not installed" in capsys.readouterr().err


def test_those_who_are_counted_exist():
    assert set(instructions.CHOSEN) <= set(CONTENDERS)
    assert [work.name for work in CONTENDERS[PROTECTED].works()] == ["addUser", "updateUser", "rename"]
    reads = ["ping", "getUser", "getUsers", "getCountry", "getDates"]
    assert list(WORKS) == [*reads, "addUser", "updateUser", "rename"]
