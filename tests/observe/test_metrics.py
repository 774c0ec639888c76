"""Prometheus: gatewayfw.observe.metrics."""

from __future__ import annotations

import sys

import pytest
from prometheus_client import CollectorRegistry, Counter

from gatewayfw import DefinitionError
from gatewayfw.observe import prometheus
from gatewayfw.observe.metrics import warn_of_processes
from tests.observe.calls import UNKNOWN, call, counts


@pytest.fixture
def registry():
    return CollectorRegistry()


def page(observer, accept=""):
    payload, _ = observer.page(accept)
    return payload.decode()


def test_calls_are_counted_by_act_and_outcome(registry):
    metrics = prometheus(registry=registry)
    for one in (call(), call(), call(code="not_found", status=404), call("add")):
        metrics(one)
    assert counts(page(metrics)) == {
        ("main", "book", "buy", "ok"): 2,
        ("main", "book", "buy", "not_found"): 1,
        ("main", "book", "add", "ok"): 1,
    }


def test_times_are_by_act(registry):
    metrics = prometheus(registry=registry)
    metrics(call(seconds=0.003))
    metrics(call(code="not_found", seconds=20.0))
    value = registry.get_sample_value
    labels = {"service": "main", "model": "book", "act": "buy"}
    assert value("gatewayfw_call_seconds_count", labels) == 2
    assert value("gatewayfw_call_seconds_sum", labels) == 20.003
    assert value("gatewayfw_call_seconds_bucket", {**labels, "le": "0.0025"}) == 0
    assert value("gatewayfw_call_seconds_bucket", {**labels, "le": "0.005"}) == 1
    assert value("gatewayfw_call_seconds_bucket", {**labels, "le": "10.0"}) == 1


BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, "+Inf"]
PAGE = [
    "# HELP gatewayfw_calls_total Calls of acts.",
    "# TYPE gatewayfw_calls_total counter",
    'gatewayfw_calls_total{act="buy",code="ok",model="book",service="main"} 1.0',
    "# HELP gatewayfw_call_seconds Seconds to answer.",
    "# TYPE gatewayfw_call_seconds histogram",
    *(f'gatewayfw_call_seconds_bucket{{act="buy",le="{one}",model="book",service="main"}} 1.0' for one in BOUNDS),
    'gatewayfw_call_seconds_count{act="buy",model="book",service="main"} 1.0',
    'gatewayfw_call_seconds_sum{act="buy",model="book",service="main"} 0.001',
    "# HELP gatewayfw_jobs Jobs that are pending; 1000 stands for at least as many.",
    "# TYPE gatewayfw_jobs gauge",
    "gatewayfw_jobs 2.0",
    "# HELP gatewayfw_oldest_job_seconds Age of the oldest pending job; 0 without any.",
    "# TYPE gatewayfw_oldest_job_seconds gauge",
    "gatewayfw_oldest_job_seconds 7.5",
]


def test_the_whole_page(registry):
    metrics = prometheus(registry=registry)
    metrics(call(seconds=0.001))
    payload, content_type = metrics.page("", {"gatewayfw_jobs": 2, "gatewayfw_oldest_job_seconds": 7.5})
    assert [line for line in payload.decode().splitlines() if "_created" not in line] == PAGE
    assert content_type.startswith("text/plain; version=")


@pytest.mark.parametrize("kind", ["text/plain", "application/openmetrics-text"])
@pytest.mark.parametrize("version", ["abc", "\xb2", "1e400", "", "1.2.3.4"])
def test_a_version_that_is_none_is_answered_all_the_same(registry, kind, version):
    payload, content_type = prometheus(registry=registry).page(f"{kind};version={version}")
    assert b"gatewayfw_calls" in payload
    assert content_type.partition(";")[0] in ("text/plain", kind)


def test_what_nobody_registered_has_one_set_of_labels(registry):
    metrics = prometheus(registry=registry)
    for code in ("not_found", "bad_request", "too_large"):
        metrics(call(code=code, unknown=True))
    assert counts(page(metrics)) == {UNKNOWN: 3}


def test_codes_of_authors_are_one(registry):
    metrics = prometheus(registry=registry)
    for code in ("sold_out", "no_money", "validation_error", "rate_limited", "gateway_timeout", "error"):
        metrics(call(code=code))
    assert {labels[3]: value for labels, value in counts(page(metrics)).items()} == {
        "custom": 2,
        "validation_error": 1,
        "rate_limited": 1,
        "gateway_timeout": 1,
        "error": 1,
    }


def test_the_page_shows_all_of_the_registry(registry):
    Counter("books_sold", "Books sold.", registry=registry).inc()
    assert "books_sold_total 1.0" in page(prometheus(registry=registry))


def test_two_gateways_share_the_metrics_of_a_registry(registry):
    first, second = prometheus(registry=registry), prometheus(registry=registry)
    first(call())
    second(call())
    assert counts(page(first)) == {("main", "book", "buy", "ok"): 2}


def test_the_registry_is_that_of_the_library_by_default(registry, monkeypatch):
    monkeypatch.setattr("prometheus_client.REGISTRY", registry)
    metrics = prometheus()
    metrics(call())
    assert (counts(page(metrics)), metrics.guard) == ({("main", "book", "buy", "ok"): 1}, None)
    assert counts(page(prometheus(registry=registry))) == {("main", "book", "buy", "ok"): 1}


def test_a_guard_that_is_none_is_refused():
    with pytest.raises(DefinitionError) as raised:
        prometheus(guard="secret")
    assert raised.value.message == "observe.prometheus: the guard must be a function of the request"


def test_without_its_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(DefinitionError) as raised:
        prometheus()
    needed = "observe.prometheus() needs prometheus_client: pip install 'gatewayfw[metrics]'"
    assert raised.value.message == needed


@pytest.mark.parametrize(
    ("counting", "environ", "warnings"),
    [
        (True, {}, 1),
        (True, {"PROMETHEUS_MULTIPROC_DIR": "/run/metrics"}, 0),
        (False, {}, 0),
    ],
)
def test_processes_that_each_count_for_themselves_are_warned_of(registry, caplog, counting, environ, warnings):
    warn_of_processes([print, prometheus(registry=registry)] if counting else [print], environ)
    text = "metrics: each process tells only of itself; start with PROMETHEUS_MULTIPROC_DIR set to an empty directory"
    assert [(one.name, one.getMessage()) for one in caplog.records] == [("gatewayfw.observe", text)] * warnings
