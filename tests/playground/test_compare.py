"""Two replies compared: what was added, removed and changed, by path."""

from __future__ import annotations

import json
import os
from functools import partial

import pytest

from tests.playground.conftest import open_act, send
from tests.playground.links import open_shared
from tests.playground.test_library import history
from tests.playground.test_numbers import bodies, service_url, write_json  # noqa: F401  # fixtures

#: Milliseconds; without the switch only a limit for loaded machines.
MOST = 500 if os.environ.get("GATEWAYFW_TEST_FAULTS") == "1" else 10_000
ECHO = {"model": "thing", "act": "echo", "get": {}}


def echo(page, url, value):
    """Send a value; the reply has it."""
    open_shared(page, url, {**ECHO, "set": {"any": value}})
    send(page)


def compared(page):
    """Compare the reply that is shown; give the dialog."""
    page.get_by_role("button", name="Compare", exact=True).click()
    dialog = page.get_by_role("dialog", name="Compare two replies")
    dialog.locator("p[role=status]").wait_for()
    return dialog


def rows(dialog):
    found = dialog.get_by_role("region", name="Differences").locator("tbody tr")
    return [tuple(row.locator("td").all_inner_texts()) for row in found.all()]


@pytest.fixture
def keeping(page):
    """A page whose history is empty, and outlives loading it again."""
    open_act(page, "echo")
    send(page)
    page.get_by_role("button", name="Close echo").click()
    page.get_by_role("link", name="History").click()
    page.get_by_label("Keep after a reload").check()
    page.get_by_role("button", name="Clear").click()
    return page


A, B, C = ({"_id": digit * 24, "name": digit} for digit in "abc")
OLD = {"gone": 1, "same": [1, 2], "n": 9007199254740993, "rows": [A, B], "list": [1, 2, 3], "deep": {"x": None}}
NEW = {
    "same": [1, 2],
    "n": 9007199254740992,
    "rows": [C, B, {**A, "name": "z"}],
    "list": [1, 9, 2, 3],
    "deep": {"x": {}},
    "odd name": [],
}


def test_two_replies_are_compared_by_path(keeping, service_url):  # noqa: F811
    for value in (OLD, NEW):
        echo(keeping, service_url, value)
    dialog = compared(keeping)
    assert dialog.locator("p[role=status]").inner_text() == "3 added, 1 removed, 3 changed, 1 reordered"
    assert rows(dialog) == [
        ("~ changed", "body.any.n", "9007199254740993", "9007199254740992"),
        ("+ added", "body.any.rows[0]", "", json.dumps(C, separators=(",", ":"))),
        ("~ changed", "body.any.rows[2].name", '"a"', '"z"'),
        ("↕ reordered", "body.any.rows", "", ""),
        ("+ added", "body.any.list[1]", "", "9"),
        ("~ changed", "body.any.deep.x", "null", "{}"),
        ("+ added", 'body.any["odd name"]', "", "[]"),
        ("− removed", "body.any.gone", "1", ""),
    ]
    chosen = dialog.get_by_label("Before").locator("option:checked").inner_text()
    dialog.get_by_label("After").select_option(label=chosen)
    dialog.get_by_text("The replies are the same.").wait_for()


def test_two_are_picked_in_the_history(page):
    for number in ("1", "2", "3"):
        open_act(page, "echo")
        page.locator("[data-path='set.whole']").fill(number)
        with page.expect_response("**/gateway"):
            send(page)
    history(page)
    page.get_by_role("button", name="Compare the reply of thing.echo").first.click()
    dialog = page.get_by_role("dialog", name="Compare two replies")
    dialog.get_by_text("1 changed").wait_for()
    assert rows(dialog) == [("~ changed", "body.whole", "2", "3")]
    dialog.get_by_label("Before").select_option(index=2)
    dialog.get_by_role("cell", name="1", exact=True).wait_for()
    assert rows(dialog) == [("~ changed", "body.whole", "1", "3")]


def answered_by(text, route):
    route.fulfill(body=text, content_type="application/json")


COMPARED = """async (button) => {
    const start = performance.now();
    button.click();
    const shown = () => document.querySelector('dialog p[role=status], dialog .empty');
    while (!shown()) await new Promise((done) => setTimeout(done));
    document.body.offsetHeight;
    return performance.now() - start;
}"""


def test_two_replies_of_a_thousand_rows_are_compared_soon(keeping, service_url):  # noqa: F811
    keeping.get_by_role("link", name="Acts", exact=True).click()
    for turn in ("a", "b"):
        keeping.get_by_role("navigation", name="Acts").get_by_role("button", name="echo", exact=True).click(
            modifiers=["Control"]
        )
        rows = [{"_id": f"{n:024x}", **{f"field{i}": f"{turn} {n}" for i in range(9)}} for n in range(1_000)]
        answer = json.dumps({"body": rows, "success": True})
        keeping.route("**/gateway", partial(answered_by, answer))
        send(keeping)
        keeping.get_by_role("treeitem").first.wait_for()
    button = keeping.get_by_role("button", name="Compare", exact=True)
    took = []
    for _ in range(3):
        took.append(keeping.evaluate(COMPARED, button.element_handle()))
        if took[-1] <= MOST:
            break
        keeping.keyboard.press("Escape")
    assert min(took) <= MOST
    dialog = keeping.get_by_role("dialog", name="Compare two replies")
    assert dialog.locator("p[role=status]").inner_text() == "9000 changed"


def test_large_replies_are_compared_whole_and_shown_by_pages(keeping, service_url):  # noqa: F811
    documents = [{"_id": f"{number:024x}", "text": "x" * 40, "number": number} for number in range(3_000)]
    keeping.get_by_role("link", name="Acts", exact=True).click()
    open_act(keeping, "echo")
    for value in (documents, [{**one, "number": -1} for one in reversed(documents)]):
        write_json(keeping, json.dumps({"set": {"any": value}, "get": {}}))
        send(keeping)
        keeping.get_by_role("tab", name="Form").click()
        keeping.get_by_role("navigation", name="Acts").get_by_role("button", name="echo", exact=True).click(
            modifiers=["Control"]
        )
    keeping.get_by_role("group", name="Open requests").get_by_role("button", name="thing.echo").nth(1).click()
    dialog = compared(keeping)
    assert dialog.locator("p[role=status]").inner_text() == "3000 changed, 1 reordered"
    assert dialog.get_by_role("region", name="Differences").locator("tbody tr").count() == 200
    dialog.get_by_role("button", name="Show more of 3001").click()
    assert dialog.get_by_role("region", name="Differences").locator("tbody tr").count() == 400
