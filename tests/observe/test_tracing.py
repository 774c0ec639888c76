"""OpenTelemetry: gatewayfw.observe.tracing, with the exporter of its SDK for tests."""

from __future__ import annotations

import sys
import time

import pytest
from opentelemetry import trace
from opentelemetry.instrumentation.pymongo import PymongoInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pymongo import MongoClient

from gatewayfw import DefinitionError
from gatewayfw.errors import StorageError
from gatewayfw.observe import otel
from tests.observe.calls import ID, call, raised, send, shop

TRACE, PARENT = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331
CALLER = {"traceparent": f"00-{TRACE:032x}-{PARENT:016x}-01"}


@pytest.fixture
def provider():
    return TracerProvider()


@pytest.fixture
def spans(provider):
    """The exporter that keeps finished spans."""
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter.get_finished_spans


def attributes(act, code, status):
    return {
        "rpc.system": "gatewayfw",
        "rpc.service": "main.book",
        "rpc.method": act,
        "gatewayfw.code": code,
        "gatewayfw.request_id": ID,
        "http.response.status_code": status,
    }


def test_a_call_is_a_span_named_after_the_act(provider, spans):
    _, client = shop(otel(provider))
    send(client)
    (span,) = spans()
    assert span.name == "main.book.list"
    assert span.kind == trace.SpanKind.SERVER
    assert span.parent is None
    assert span.events == ()
    assert dict(span.attributes) == attributes("list", "ok", 200)
    assert (span.status.status_code, span.instrumentation_scope.name) == (trace.StatusCode.UNSET, "gatewayfw")


def test_it_is_the_parent_of_what_the_act_does(provider, spans):
    gw, client = shop(otel(provider))

    @gw.acts.act("book", "work", set={}, get=1)
    def work(_body):
        with provider.get_tracer("database").start_as_current_span("find"):
            return

    send(client, "work")
    inner, outer = spans()
    assert (inner.name, outer.name) == ("find", "main.book.work")
    assert inner.parent.span_id == outer.context.span_id


def test_commands_of_the_database_are_its_children(provider, spans, mongo_database, mongod_uri):
    instrumentor = PymongoInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    try:
        with MongoClient(mongod_uri) as watched:
            _, client = shop(otel(provider), database=watched[mongo_database.name])
            assert [send(client).status_code, send(client, "add", title="Emma").status_code] == [200, 200]
    finally:
        instrumentor.uninstrument()
    acts = {span.context.span_id: span.name for span in spans() if span.kind is trace.SpanKind.SERVER}
    commands = [span for span in spans() if span.kind is trace.SpanKind.CLIENT]
    found = {(span.name.rpartition(".")[2], acts.get(span.parent and span.parent.span_id)) for span in commands}
    assert found >= {("find", "main.book.list"), ("insert", "main.book.add"), ("commitTransaction", "main.book.add")}


def test_a_callers_trace_goes_on(provider, spans):
    _, client = shop(otel(provider))
    send(client, headers=CALLER)
    (span,) = spans()
    assert (span.context.trace_id, span.parent.span_id) == (TRACE, PARENT)


def test_within_another_span_it_is_a_part_of_it(provider, spans):
    _, client = shop(otel(provider))
    with provider.get_tracer("flask").start_as_current_span("POST /gateway") as outer:
        send(client, headers=CALLER)
    span = spans()[0]
    assert (span.parent.span_id, span.kind) == (outer.context.span_id, trace.SpanKind.INTERNAL)


def test_after_the_call_no_span_is_current(provider):
    _, client = shop(otel(provider))
    send(client)
    send(client, "fail")
    assert trace.get_current_span() is trace.INVALID_SPAN


def test_a_mistake_is_recorded(provider, spans):
    _, client = shop(otel(provider))
    send(client, "fail")
    (span,) = spans()
    assert dict(span.attributes) == attributes("fail", "internal_error", 500)
    assert (span.status.status_code, span.status.description) == (trace.StatusCode.ERROR, "internal_error")
    (event,) = span.events
    assert (event.name, event.attributes["exception.type"]) == ("exception", "builtins.LookupError")
    assert event.attributes["exception.stacktrace"].endswith("LookupError: secret")


def test_the_databases_texts_are_not_recorded(provider, spans):
    otel(provider)(call(code="storage_error", status=500, error=raised(StorageError("{document}"))))
    (span,) = spans()
    (event,) = span.events
    assert "document" not in event.attributes["exception.stacktrace"]


def test_a_refusal_is_no_error(provider, spans):
    _, client = shop(otel(provider))
    send(client, "add", title=3)
    (span,) = spans()
    assert (dict(span.attributes), span.events) == (attributes("add", "validation_error", 400), ())
    assert span.status.status_code is trace.StatusCode.UNSET


def test_what_names_no_act_is_a_span_that_is_over(provider, spans):
    _, client = shop(otel(provider))
    client.post("/gateway", data=b"{")
    send(client, "made up")
    assert [(span.name, span.kind, span.parent) for span in spans()] == [("_unknown", trace.SpanKind.SERVER, None)] * 2


def test_each_item_of_a_batch_has_one(provider, spans):
    _, client = shop(otel(provider))
    item = {"model": "book", "act": "list", "details": {"set": {}, "get": {}}}
    client.post("/gateway", json={"batch": [item, {"act": 1}, {**item, "act": "fail"}]})
    assert [span.name for span in spans()] == ["main.book.list", "_unknown", "main.book.fail"]
    assert [len(span.events) for span in spans()] == [0, 0, 1]


def test_a_span_that_is_over_has_the_time_of_its_call(provider, spans):
    before = time.time_ns()
    otel(provider)(call(seconds=1e9))
    (span,) = spans()
    assert 0 <= span.start_time - (before - 10**18) <= time.time_ns() - before


def test_without_the_sdk_a_call_goes_on_as_ever():
    _, client = shop(otel())
    assert (send(client).status_code, trace.get_current_span()) == (200, trace.INVALID_SPAN)


def test_without_its_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(DefinitionError) as raised:
        otel()
    assert raised.value.message == "observe.otel() needs OpenTelemetry: pip install 'gatewayfw[otel]'"
