"""On a phone: what sends, the chosen value and the open request stay in sight."""

from __future__ import annotations

import pytest

from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at

#: Whether one is there where it can be seen and touched.
IN_SIGHT = """one => {
    const box = one.getBoundingClientRect();
    return one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""


@pytest.fixture
def options():
    return {"viewport": {"width": 390, "height": 844}}


def test_what_sends_stays_in_sight_of_a_long_form(page):
    open_act(page, "addUser")
    at(page, "get.isGhost").scroll_into_view_if_needed()
    assert not page.get_by_role("heading", name="user.addUser").evaluate(IN_SIGHT)
    assert page.get_by_role("button", name="Send", exact=True).first.evaluate(IN_SIGHT)


def test_what_can_be_done_with_a_value_is_in_sight(page):
    open_act(page, "addCountry")
    at(page, "set.name").fill("Iceland")
    page.get_by_role("button", name="Send", exact=True).first.click()
    page.get_by_role("treeitem").filter(has_text="_id").click()
    button = page.get_by_role("button", name="Open with getCountry")
    button.wait_for()
    assert button.evaluate(IN_SIGHT)


def test_the_open_request_is_in_sight_among_many(page):
    for act in ("getMe", "getUsers", "getMyUsers", "addUser", "removeUser"):
        open_act(page, act)
    now = page.locator(".strip-tab.now")
    assert now.inner_text().endswith("removeUser")
    page.wait_for_function("one => one.getBoundingClientRect().right <= innerWidth + 1", arg=now.element_handle())


def test_the_list_of_acts_says_what_they_do_and_has_the_edges_of_the_page(page):
    page.get_by_role("button", name="All acts").click()
    act = page.get_by_role("navigation", name="Acts").get_by_role("button", name="removeUser")
    assert act.locator(".act-mark").is_visible()
    lefts = [page.get_by_role("button", name="All acts"), page.get_by_label("Filter acts"), act.locator(".act")]
    assert [one.bounding_box()["x"] for one in lefts] == [16] * 3


def test_the_request_and_the_reply_are_two_pages(page):
    open_act(page, "addCountry")
    sides = page.get_by_role("group", name="What is shown")
    field = at(page, "set.name")
    assert [one.inner_text() for one in sides.get_by_role("button").all()] == ["Request", "Reply"]
    field.fill("Iceland")
    page.get_by_role("button", name="Send", exact=True).first.click()
    reply = sides.get_by_role("button", name="Reply · 200", pressed=True)
    reply.wait_for()
    assert not field.evaluate(IN_SIGHT)
    sides.get_by_role("button", name="Request").click()
    sides.get_by_role("button", name="Request", pressed=True).wait_for()
    assert field.evaluate(IN_SIGHT)


def test_the_top_of_an_act_is_one_row(page):
    open_act(page, "getUsers")
    bar = page.locator(".acts-bar")
    inside = [
        page.get_by_role("button", name="All acts"),
        page.locator(".strip-tab.now"),
        bar.get_by_text("Send", exact=True),
    ]
    box = bar.bounding_box()
    assert [box["y"] <= one.bounding_box()["y"] < box["y"] + 20 for one in inside] == [True] * 3
    assert page.get_by_text("Acts", exact=True).count() == 1


def test_the_list_of_sequences_is_there_when_asked_for_and_its_button_closes_it(page):
    page.get_by_role("link", name="Sequences", exact=True).click()
    page.get_by_text("No steps yet").wait_for()
    rail = page.get_by_role("navigation", name="Sequences")
    assert not rail.is_visible()
    page.get_by_role("button", name="All sequences").click()
    rail.wait_for()
    assert not page.get_by_role("button", name="All sequences").is_visible()
    page.get_by_role("button", name="Close the list").click()
    rail.wait_for(state="hidden")


#: Rows of the reply that are wholly in sight.
ROWS_IN_SIGHT = """[...document.querySelectorAll('.reply .json-row')].filter(row => {
    const {left, top, bottom} = row.getBoundingClientRect();
    return [top + 2, bottom - 2].every(y => row.contains(document.elementFromPoint(left + 60, y)));
}).length"""


@pytest.mark.parametrize("size", [(1440, 900), (1280, 800), (1536, 864)])
def test_at_200_percent_ten_lines_of_a_reply_are_in_sight(page, login, size):
    login()
    page.set_viewport_size({"width": size[0] // 2, "height": size[1] // 2})
    open_act(page, "getUsers")
    send(page)
    page.locator(".notice").first.wait_for(state="detached")
    page.wait_for_function(f"{ROWS_IN_SIGHT} >= 10")
    views = page.get_by_role("navigation", name="Views").get_by_role("link")
    assert [view.evaluate("one => one.innerText.trim() || one.textContent") for view in views.all()] == [
        "Acts", "Schema", "Sequences", "History", "Downloads",
    ]  # fmt: skip
