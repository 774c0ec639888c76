"""Keys that are commands of the page, and the list of them."""

from __future__ import annotations

from tests.playground.conftest import open_act
from tests.playground.test_acts import at
from tests.playground.test_looks import axe, judged  # noqa: F401  # a fixture


def test_a_question_mark_lists_them_but_in_a_field(page, axe):  # noqa: F811
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    dialog.get_by_text("find an act, model or view").wait_for()
    assert judged(page, axe) == []
    page.keyboard.press("Escape")
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="All shortcuts").click()
    dialog.wait_for()
    page.keyboard.press("Escape")
    open_act(page, "addCity")
    at(page, "set.name").press("?")
    assert (at(page, "set.name").input_value(), dialog.count()) == ("?", 0)


def test_a_slash_leads_to_the_search_of_acts(page):
    open_act(page, "addCity")
    page.keyboard.press("/")
    page.keyboard.type("getm")
    assert page.get_by_label("Filter acts").input_value() == "getm"


def test_a_request_is_saved_by_a_key(page):
    open_act(page, "addCity")
    at(page, "set.name").press("Control+s")
    page.get_by_role("dialog", name="Save the request").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("group", name="Saved requests").get_by_role("button", name="city.addCity", exact=True).wait_for()
