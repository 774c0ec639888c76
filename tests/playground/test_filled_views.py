"""The schema, sequences, history and downloads with things in them: axe, and nothing cut, in both widths and themes."""

from __future__ import annotations

import json

from tests.playground.links import open_shared
from tests.playground.test_looks import axe, judged, options  # noqa: F401  # fixtures
from tests.playground.test_sequences import SEQUENCE, imported, run

LOGIN = {
    "model": "user",
    "act": "login",
    "set": {"email": "manager@example.com", "password": "wrong"},
    "get": {"token": 1},
}
#: Buttons and fields that reach beyond the page; what scrolls by itself is left aside.
CUT = """[...document.querySelectorAll('#main :is(button, input, select, textarea)')]
    .filter((one) => one.checkVisibility() && !one.closest('.table-scroll, .explorer-models, .editor-host, svg')
        && one.getBoundingClientRect().right > innerWidth + 1)
    .map((one) => one.outerHTML.slice(0, 120))"""


def wrong_with(page, axe):  # noqa: F811
    """What axe finds, and what is cut."""
    return [*judged(page, axe), *page.evaluate(CUT)]


def test_axe_finds_nothing_in_the_schema(page, service_url, axe):  # noqa: F811
    page.goto(f"{service_url}/playground/#/schema/organization/users")
    page.get_by_role("heading", name="organization", exact=True).wait_for()
    found = {"graph": wrong_with(page, axe)}
    page.get_by_role("tab", name="All relations").click()
    page.get_by_role("searchbox", name="Search models").fill("name")
    found["list"] = wrong_with(page, axe)
    assert found == {"graph": [], "list": []}


def test_axe_finds_nothing_in_a_sequence_that_ran(page, axe):  # noqa: F811
    page.get_by_role("link", name="Sequences", exact=True).click()
    imported(page, json.loads(json.dumps(SEQUENCE)))
    page.get_by_role("button", name="2. Add").click()
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    run(page, "passed")
    page.get_by_role("button", name="Replies of step 2").click()
    page.get_by_role("button", name="200 Request 1").click()
    page.get_by_role("treeitem").filter(has_text="_id").first.click()
    found = {"run": wrong_with(page, axe)}
    page.get_by_role("button", name="Add a step").click()
    found["choices"] = wrong_with(page, axe)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export").click()
    found["menu"] = wrong_with(page, axe)
    page.get_by_role("menuitem", name="Test for pytest").click()
    found["dialog"] = wrong_with(page, axe)
    assert found == {"run": [], "choices": [], "menu": [], "dialog": []}


def test_axe_finds_nothing_in_the_library(page, service_url, axe):  # noqa: F811
    open_shared(page, service_url, LOGIN)
    page.get_by_role("button", name="Send", exact=True).first.click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    page.get_by_role("link", name="History").click()
    page.locator(".library-fold").click()
    found = {"history": wrong_with(page, axe)}
    page.get_by_role("button", name="Save user.login").click()
    found["dialog"] = wrong_with(page, axe)
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    page.get_by_role("tab", name="Saved").click()
    page.locator("input[type=file]").set_input_files({"name": "x", "mimeType": "text/plain", "buffer": b"{"})
    page.get_by_text("x was not imported.").wait_for()
    found["saved"] = wrong_with(page, axe)
    assert found == {"history": [], "dialog": [], "saved": []}


def test_axe_finds_nothing_in_the_downloads(page, axe):  # noqa: F811
    page.get_by_role("link", name="Downloads", exact=True).click()
    page.get_by_role("button", name="Show gateway.ts").click()
    page.get_by_role("region", name="gateway.ts").wait_for()
    assert wrong_with(page, axe) == []
