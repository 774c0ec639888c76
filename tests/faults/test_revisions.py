"""Processes that read, calculate and write by revision lose no write, also while jobs renew the copies."""

from __future__ import annotations

import subprocess
import sys
import uuid

import pytest
from pymongo import MongoClient

from tests.faults.bursts import ROOT
from tests.faults.invariants import problems
from tests.faults.revisions import HOLDERS, open_models


@pytest.fixture
def database_uri(mongod_uri):
    """The URI of a database that is dropped afterwards."""
    uri = mongod_uri.replace("/?", f"/gatewayfw_revisions_{uuid.uuid4().hex}?")
    yield uri
    with MongoClient(uri) as client:
        client.drop_database(client.get_default_database().name)


@pytest.mark.mongo
@pytest.mark.slow
def test_two_processes_that_count_by_revisions_get_the_exact_sum(full, database_uri, report):
    times = 200 if full else 30
    gw, counters, holders = open_models(database_uri)
    id_ = counters.insert_one({"count": 0})["_id"]
    for number in range(HOLDERS):
        holders.insert_one({"name": f"holder {number}"}, relations={"counter": {"_ids": id_}})
    argv = [sys.executable, "-m", "tests.faults.revisions", database_uri, str(id_), str(times)]
    processes = [subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    lost = [int(process.communicate(timeout=240)[0]) for process in processes]
    report(counted=2 * times, tried_again=lost)
    gw.odm.work()
    found = counters.find_one({"_id": id_}, projection={"count": 1, "_rev": 1})
    assert found == {"_id": id_, "count": 2 * times, "_rev": 2 * times}
    assert {holder["counter"]["count"] for holder in holders.find({}, projection={"counter": 1})} == {2 * times}
    assert problems(gw.odm) == []
    gw.odm.storage.close()
