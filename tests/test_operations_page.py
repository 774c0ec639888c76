"""Every Python block of the page on operations runs, and what it registers is told of calls."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import prometheus_client
import pytest
from prometheus_client import CollectorRegistry

from gatewayfw.observe import metrics
from gatewayfw.observe.calls import Call
from gatewayfw.odm.readiness import Word
from tests.observe.calls import send, shop

PAGE = (Path(__file__).parent.parent / "docs" / "operations.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def gw(monkeypatch):
    monkeypatch.setattr(prometheus_client, "REGISTRY", CollectorRegistry())
    monkeypatch.setenv("METRICS_TOKEN", "secret")
    found, _ = shop()
    found.mounts.clear()
    return found


def test_all_blocks_run(gw):
    names = {"gw": gw}
    for block in BLOCKS:
        exec(block, names)  # noqa: S102  (the page's own code)
    client = gw.create_app().test_client()
    assert send(client).status_code == 200
    assert client.get("/gateway/metrics").status_code == 404
    page = client.get("/gateway/metrics", headers={"Authorization": "Bearer secret"})
    assert 'gatewayfw_calls_total{act="list",code="ok",model="book",service="main"} 1.0' in page.text


def test_the_guard_of_the_page_judges_any_header(gw, caplog):
    names = {"gw": gw}
    for block in BLOCKS:
        exec(block, names)  # noqa: S102  (the page's own code)
    page = gw.create_app().test_client().get("/gateway/metrics", headers={"Authorization": "Bearer \u00fc"})
    assert (page.status_code, caplog.messages) == (404, [])


def test_the_table_has_each_attribute_of_a_call():
    table = PAGE.split("It gets a `Call`:")[1].split("\n\n")[1]
    shown = re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(shown)) == list(Call._fields)


def test_the_table_has_each_metric():
    registry = CollectorRegistry()
    metrics.prometheus(registry=registry)
    own = [f"{family.name}_total" if family.type == "counter" else family.name for family in registry.collect()]
    assert re.findall(r"^\| `(gatewayfw_\w+)`", PAGE, re.MULTILINE) == [*own, *metrics.GAUGES]


def test_the_table_has_each_word_of_readiness():
    table = PAGE.split("| `status` | |")[1].split("\n\n")[0]
    assert ["ok", *re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)] == list(get_args(Word))


def test_the_page_shows_what_readyz_answers(gw):
    shown = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL).group(1)
    assert gw.create_app().test_client().get("/gateway/readyz").get_json() == json.loads(shown)
