"""A request that is not sent, because required texts in it are empty."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import array, gateway, object_, optional, string
from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at, reply_rows


@pytest.fixture
def service_url(stage):
    """A service with an act that wants a name, and takes an address that has a street."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    given = {"name": string(), "address": optional(object_({"street": string()})), "tags": optional(array(string()))}
    gw.acts.act("thing", "addThing", set=given, public=True)(lambda body: body["details"]["set"])
    return stage(gw.create_app(playground=True))


@pytest.fixture
def held(page):
    """An act that was sent once, and then held back for its empty street."""
    open_act(page, "addThing")
    at(page, "set.name").fill("one")
    send(page)
    page.get_by_label("Send address").check()
    page.keyboard.press("Control+Enter")
    page.get_by_role("alert").get_by_text("Not sent: address.street is empty.").wait_for()
    return page


def test_what_was_held_back_has_the_focus_and_the_old_reply_says_so(held):
    assert held.evaluate("document.activeElement.dataset.path") == "set.address.street"
    note = held.get_by_role("region", name="Reply").get_by_text("Not sent. This is the reply to an earlier request.")
    assert (note.count(), held.locator(".reply.old").count()) == (1, 1)
    at(held, "set.address.street").fill("Quay 1")
    assert note.count() == 0
    assert held.locator(".reply.old").count() == 0
    assert held.get_by_role("alert").count() == 0


def test_empty_texts_are_sent_where_that_is_meant_and_are_no_longer_red(held):
    street = at(held, "set.address.street")
    assert street.get_attribute("aria-invalid") == "true"
    held.get_by_role("button", name="Send it empty").click()
    held.get_by_role("treeitem").filter(has_text="street").wait_for()
    assert 'street:""' in reply_rows(held)
    assert (street.get_attribute("aria-invalid"), held.get_by_role("alert").count()) == (None, 0)


def test_empty_texts_are_left_out_with_what_may_be_left_out(held):
    with held.expect_request("**/gateway") as asked:
        held.get_by_role("button", name="Leave it out").click()
    assert asked.value.post_data_json["details"]["set"] == {"name": "one"}
    asked.value.response()
    held.get_by_role("tree", name="Reply as a tree").wait_for()  # What is under way is not sent again.
    at(held, "set.name").fill("")
    held.keyboard.press("Control+Enter")
    held.get_by_role("alert").get_by_text("Not sent: name is empty.").wait_for()
    assert held.get_by_role("button", name="Leave it out").count() == 0


PLACES = """(bar) => {
    const pane = bar.closest('.request-tabs').getBoundingClientRect();
    const line = bar.closest('.request-tabs').querySelector('.tabs-line').getBoundingClientRect();
    const {left, right, top} = bar.getBoundingClientRect();
    return [left - pane.left, pane.right - right <= 1, top - line.bottom];
}"""


def test_what_is_told_stays_at_the_top_of_the_pane_in_each_part(held):
    bar = held.get_by_role("alert")
    held.set_viewport_size({"width": 1280, "height": 420})
    for part in ("JSON", "About", "Form"):
        held.get_by_role("tab", name=part).click()
        held.locator(".request-tabs > .tabs-panel").evaluate("panel => panel.scrollTo(0, 999)")
        assert bar.evaluate(PLACES) == [0, True, 0], part


def test_a_field_to_be_mended_is_red_with_the_focus_too(held):
    street = at(held, "set.address.street")
    colours = "one => [getComputedStyle(one).borderColor, getComputedStyle(one).outlineColor]"
    border, outline = street.evaluate(colours)
    assert border == outline == held.locator(".field-errors").first.evaluate("one => getComputedStyle(one).color")


def test_empty_items_of_lists_are_held_back_too(page):
    open_act(page, "addThing")
    at(page, "set.name").fill("one")
    page.get_by_label("Send tags").check()
    for _ in range(2):
        page.get_by_role("button", name="Add tags").click()
    at(page, "set.tags.0").fill("red")
    page.keyboard.press("Control+Enter")
    page.get_by_role("alert").get_by_text("Not sent: tags 2 is empty.").wait_for()
    assert page.evaluate("document.activeElement.dataset.path") == "set.tags.1"
    with page.expect_request("**/gateway") as asked:
        page.get_by_role("button", name="Leave it out").click()
    assert asked.value.post_data_json["details"]["set"] == {"name": "one", "tags": ["red"]}
    page.get_by_role("tree", name="Reply as a tree").wait_for()


def test_a_new_item_of_a_list_has_the_focus(page):
    open_act(page, "addThing")
    page.get_by_label("Send tags").check()
    for index, word in enumerate(("red", "blue")):
        page.get_by_role("button", name="Add tags").click()
        page.locator(f"[data-path='set.tags.{index}']:focus").wait_for()
        page.keyboard.type(word)
    assert [at(page, f"set.tags.{index}").input_value() for index in (0, 1)] == ["red", "blue"]
