"""Small things that were wrong once: marks of errors, patterns, loose letters, a failed run, a lost connection."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import array, date, enums, object_id, string
from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at

SHIPMENTS = [{"to": None, "n": 5}, {"to": "null", "n": "5"}, {"to": ""}, {"to": "true"}, {"to": "Rome"}]
#: Whether the border of one is red.
RED = """one => {
    const [red, green, blue] = getComputedStyle(one).borderTopColor.match(/[\\d.]+/g).map(Number);
    return red > green && red > blue;
}"""


@pytest.fixture
def service_url(stage):
    """A service with an act that wants an id, a date and a text of a pattern."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    given = {"id": object_id(), "born": date(), "code": string(pattern="[A-Z]{3}")}
    gw.acts.act("thing", "addThing", set=given, public=True)(lambda body: "added")
    gw.acts.act("thing", "getShipments", public=True)(lambda body: SHIPMENTS)
    tags = {"tags": array(enums(*(f"tag {number}" for number in range(1, 31))))}
    gw.acts.act("thing", "tagThing", set=tags, public=True)(lambda body: body["details"]["set"]["tags"])
    return stage(gw.create_app(playground=True))


def test_ids_and_dates_that_are_refused_are_red_and_a_pattern_is_shown(page):
    open_act(page, "addThing")
    page.get_by_role("region", name="Request").get_by_text("[A-Z]{3}").wait_for()
    at(page, "set.id").fill("x")
    at(page, "set.code").fill("abc")
    page.get_by_role("button", name="Send", exact=True).first.click()
    page.get_by_text("Not sent: born is empty.").wait_for()
    page.get_by_role("button", name="Send it empty").click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    for name in ("id", "born", "code"):
        assert at(page, f"set.{name}").get_attribute("aria-invalid") == "true", name
        assert at(page, f"set.{name}").evaluate(RED), name


def test_a_table_tells_null_from_the_word_and_numbers_from_their_texts(page):
    open_act(page, "getShipments")
    send(page)
    page.get_by_role("tab", name="Table").click()
    found = page.get_by_role("region", name="Reply as a table").locator("tbody tr")
    found.first.wait_for()
    rows = found.all()
    cells = [[one.strip() for one in row.locator("td").all_inner_texts()] for row in rows]
    assert cells == [["null", "5"], ['"null"', '"5"'], ['""', ""], ['"true"', ""], ["Rome", ""]]
    assert rows[0].locator("td").first.evaluate("one => getComputedStyle(one).fontStyle") == "italic"


def test_names_of_acts_break_between_their_words(page):
    acts = page.get_by_role("navigation", name="Acts").locator(".acts-act > .act")
    assert acts.evaluate_all("all => all.map(one => one.innerHTML)")[1] == "get<wbr>Shipments"


def test_of_more_than_twenty_words_the_chosen_ones_are_shown(page):
    open_act(page, "tagThing")
    for words in ("30", "tag 2"):
        page.get_by_label("Add to tags").click()
        page.keyboard.insert_text(words)
        page.keyboard.press("Enter")
    assert page.get_by_role("group", name="Form").get_by_role("checkbox").count() == 0
    page.get_by_role("button", name="Remove tag 30 from tags").click()
    send(page)
    assert page.get_by_role("treeitem").last.inner_text().split("\n") == ["0:", '"tag 2"']


def test_the_same_note_counts_and_stands_once(page):
    for _ in range(3):
        page.get_by_role("button", name="Copy the address").click()
    page.get_by_text("Copied. ×3").wait_for()
    assert page.locator(".notice").count() == 1


def test_the_palette_finds_by_letters_in_order(page):
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("gtship")
    assert page.get_by_role("option").all_inner_texts() == ["thing.getShipments"]


def test_a_part_that_the_connection_lost_says_so_and_the_page_goes_on(browser, service_url):
    context = browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{service_url}/playground")
        page.locator(".home").wait_for()
        context.set_offline(True)
        page.get_by_role("navigation", name="Views").get_by_role("link", name="Downloads").click()
        page.get_by_text("This part did not load").wait_for()
        context.set_offline(False)
        page.get_by_role("button", name="Reload the page").click()
        page.get_by_role("heading", name="Downloads").wait_for(state="attached")
        assert page.locator(".downloads, .page").first.evaluate("one => getComputedStyle(one).padding") != "0px"
    finally:
        context.close()
