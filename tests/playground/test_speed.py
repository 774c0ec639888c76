"""A large service and a large reply: in a second with GATEWAYFW_TEST_FAULTS=1, on a quiet machine."""

from __future__ import annotations

import os

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import integer, object_, optional, string
from tests.playground.conftest import open_act
from tests.playground.service import served

MODELS, ACTS = 60, 8
#: Milliseconds; without the switch only a limit for loaded machines.
MOST = 1_000 if os.environ.get("GATEWAYFW_TEST_FAULTS") == "1" else 10_000
ROWS = [{"_id": f"{n:024x}", "name": f"name {n}", "tags": ["a", "b"], "size": n} for n in range(13_000)]


@pytest.fixture(scope="module")
def large():
    """Where a service with 60 models of 8 acts each is."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    for number in range(MODELS):
        name = f"model{number:02}"
        pure = {f"field{n}": string() for n in range(10)}
        relations = {
            f"other{back}": {
                "schemaName": f"model{number - back:02}",
                "type": "multiple",
                "relatedRelations": {f"of{number}{back}": {"type": "multiple", "limit": 5}},
            }
            for back in (1, 2)
            if number >= back
        }
        gw.odm.new_model(name, pure, relations)
    for number in range(MODELS):
        name = f"model{number:02}"
        for act in range(ACTS):
            gw.acts.set_act(
                schema=name,
                act_name=f"act{number:02}{act}",
                public=True,
                validator=object_(
                    {
                        "set": object_({"name": optional(string()), "size": optional(integer())}),
                        "get": gw.schemas.select_struct(name, 2),
                    }
                ),
                fn=lambda body: ROWS,
            )
    with served(gw.create_app(playground=True)) as url:
        yield url


@pytest.fixture
def service_url(large):
    """The large service, not the sample."""
    return large


def test_a_service_with_480_acts_opens_soon(page, service_url):
    took = []
    for _ in range(3):
        page.goto("about:blank")
        page.goto(f"{service_url}/playground")
        page.get_by_role("button", name="model00 8").wait_for()
        took.append(page.evaluate("performance.now()"))
        if took[-1] <= MOST:
            break
    assert min(took) <= MOST
    assert page.get_by_label("Filter acts").get_attribute("placeholder") == "Filter acts"


SHOWN = """async (button) => {
    const start = performance.now();
    const rows = () => document.querySelectorAll('[role=treeitem]').length;
    button.click();
    while (rows()) await new Promise((done) => setTimeout(done));
    while (!rows()) await new Promise((done) => setTimeout(done));
    return [performance.now() - start, rows()];
}"""


def test_a_reply_of_1_mb_is_shown_soon(page):
    page.get_by_label("Filter acts").fill("act000")
    open_act(page, "act000")
    button = page.get_by_role("button", name="Send", exact=True).first
    took = []
    for _ in range(3):
        ms, rows = page.evaluate(SHOWN, button.element_handle())
        took.append(ms)
        if ms <= MOST:
            break
    assert min(took) <= MOST
    assert 0 < rows < 200
    assert float(page.locator(".reply-fact").last.inner_text().removesuffix(" MB")) >= 1
    page.get_by_role("tab", name="Raw").click()
    page.get_by_role("button", name="Show more").wait_for()
