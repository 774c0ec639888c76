"""The lines between panes."""

from __future__ import annotations

import pytest

from tests.playground.conftest import open_act


@pytest.fixture
def width(page):
    """A function that gives the width of an element, in pixels."""
    return lambda selector: round(page.locator(selector).bounding_box()["width"])


def drag(page, line, by: int) -> None:
    box = line.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + by, box["y"] + 200, steps=4)
    page.mouse.up()


def test_the_list_is_widened_by_mouse_and_stays_so(page, width):
    line = page.get_by_role("separator", name="Width of the list")
    drag(page, line, 60)
    assert (width(".acts-list"), line.get_attribute("aria-valuenow")) == (300, "300")
    page.reload()
    line.wait_for()
    assert width(".acts-list") == 300
    line.dblclick()
    assert width(".acts-list") == 240


def test_request_and_reply_are_divided_by_keys_within_limits(page, width):
    open_act(page, "getUsers")
    line = page.get_by_role("separator", name="Width of the request")
    before = width(".request")
    line.press("ArrowLeft")
    assert width(".request") < before
    shares = []
    for key in ("Home", "End"):
        line.press(key)
        shares.append(round(100 * width(".request") / width(".acts-split")))
    assert (shares, line.get_attribute("aria-valuenow")) == ([25, 75], "75")
    line.press("Enter")
    assert width(".request") == before


def test_the_schema_has_the_same_list(page, service_url, width):
    page.get_by_role("separator", name="Width of the list").press("End")
    page.goto(f"{service_url}/playground/#/schema")
    page.locator(".explorer-side").wait_for()
    assert width(".explorer-side") == 480
