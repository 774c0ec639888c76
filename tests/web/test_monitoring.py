"""The page of metrics: gatewayfw.web.monitoring."""

from __future__ import annotations

import pytest
from flask import Flask
from prometheus_client import CollectorRegistry

from gatewayfw import DefinitionError
from gatewayfw.observe import prometheus
from tests.observe.calls import UNKNOWN, counts, send, shop


@pytest.fixture
def registry():
    return CollectorRegistry()


def test_made_up_names_and_all_outcomes_add_up(registry):
    _, client = shop(prometheus(registry=registry, guard=lambda sent: True))
    for number in range(30):
        send(client, f"made{number}")
    for act in ("list", "list", "fail"):
        send(client, act)
    client.post("/gateway", data=b"{")
    reply = client.get("/gateway/metrics")
    assert counts(reply.text) == {
        UNKNOWN: 31,
        ("main", "book", "list", "ok"): 2,
        ("main", "book", "fail", "internal_error"): 1,
    }
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["Content-Type"].startswith("text/plain; version=")


def test_the_page_has_the_format_that_is_asked_for(registry):
    _, client = shop(prometheus(registry=registry, guard=lambda sent: True))
    reply = client.get("/gateway/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert reply.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert reply.text.endswith("# EOF\n")


def refuse(_sent):
    return False


def answer_wrongly(_sent):
    return "yes"


def fail(_sent):
    raise LookupError


@pytest.mark.parametrize("guard", [None, refuse, answer_wrongly, fail])
def test_whom_the_guard_refuses_gets_what_no_route_gets(registry, guard):
    _, client = shop(prometheus(registry=registry, guard=guard))
    hidden, missing = (
        client.get(path, headers={"X-Request-Id": "x"}) for path in ("/gateway/metrics", "/gateway/none")
    )
    assert hidden.status_code == 404
    assert hidden.data == missing.data
    assert dict(hidden.headers) == dict(missing.headers)


@pytest.mark.parametrize("path", ["/gateway//metrics", "//gateway/metrics"])
def test_doubled_slashes_lead_nowhere(registry, path):
    gw, _ = shop(prometheus(registry=registry, guard=refuse), mounted=False)
    app = Flask("host", static_folder=None)
    gw.init_app(app, "/api")
    assert app.test_client().get(f"http://localhost/api{path}").status_code == 404


def test_a_guard_that_fails_is_in_the_log(registry, caplog):
    _, client = shop(prometheus(registry=registry, guard=fail))
    client.get("/gateway/metrics")
    assert [message.splitlines()[0] for message in caplog.messages] == ["the guard of the metrics failed"]


def test_other_methods_find_nothing(registry):
    _, client = shop(prometheus(registry=registry, guard=lambda sent: True))
    assert client.post("/gateway/metrics").status_code == 404
    assert client.head("/gateway/metrics").status_code == 200


def test_a_page_must_come_before_the_gateway_is_mounted(registry):
    gw, _ = shop()
    with pytest.raises(DefinitionError, match="mounted already"):
        gw.on_call(prometheus(registry=registry, guard=lambda sent: True))
    gw.on_call(prometheus(registry=registry))
