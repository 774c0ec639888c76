"""What each worker process of gunicorn is told."""

from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from prometheus_client import values

from gatewayfw.web.servers import processes
from gatewayfw.web.servers.processes import free_number, leave_interrupts_to_the_master, name_metrics

#: Counts in a process that keeps its metrics under a name, and prints the files and what they add up to.
COUNT = """
import os, sys
from gatewayfw.web.servers.processes import name_metrics
name_metrics("7-0")
import prometheus_client as client
from prometheus_client.multiprocess import MultiProcessCollector
client.Counter("calls", "Calls.").inc()
registry = client.CollectorRegistry()
if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    MultiProcessCollector(registry)
    print(*sorted(os.listdir(folder)), registry.get_sample_value("calls_total"))
"""


def test_a_worker_has_the_lowest_number_that_no_other_has():
    workers = {}
    for pid in range(4):
        workers[pid] = SimpleNamespace(number=free_number([*workers.values(), SimpleNamespace()]))
        workers.pop(1, None)  # ends at once
    assert {pid: worker.number for pid, worker in workers.items()} == {0: 0, 2: 1, 3: 2}


def count(environ):
    return subprocess.run([sys.executable, "-c", COUNT], env=environ, check=True, capture_output=True, text=True).stdout


def test_a_process_goes_on_with_the_metrics_of_its_name(tmp_path):
    environ = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    assert [count(environ), count(environ)] == ["counter_7-0.db 1.0\n", "counter_7-0.db 2.0\n"]


def test_without_a_place_for_metrics_nothing_is_named():
    assert count({}) == ""


@pytest.mark.parametrize("environ", [{}, {"PROMETHEUS_MULTIPROC_DIR": ""}])
def test_metrics_of_one_process_keep_their_names(monkeypatch, environ):
    monkeypatch.setattr(values, "ValueClass", None)
    name_metrics("7-0", environ)
    assert values.ValueClass is None


def test_metrics_are_named_where_their_library_is(monkeypatch):
    monkeypatch.setattr(values, "ValueClass", None)
    monkeypatch.setattr(values, "MultiProcessValue", lambda name: name())
    environ = {"PROMETHEUS_MULTIPROC_DIR": "/run/metrics"}
    for found, named in ((None, None), (object(), "7-0")):
        monkeypatch.setattr(processes, "find_spec", {"prometheus_client": found}.__getitem__)
        name_metrics("7-0", environ)
        assert values.ValueClass == named


def test_ctrl_c_does_not_reach_a_worker():
    before = signal.getsignal(signal.SIGINT)
    try:
        leave_interrupts_to_the_master()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
