"""What the eye sees by an icon, a colour or a place is in the accessibility tree, too."""

from __future__ import annotations

import pytest

from tests.playground.conftest import open_act


@pytest.fixture
def heard(page):
    """A function that gives the nodes of the accessibility tree with a role: their names and descriptions."""
    client = page.context.new_cdp_session(page)

    def nodes(role: str) -> dict[str, str]:
        found = client.send("Accessibility.getFullAXTree")["nodes"]
        return {
            one["name"]["value"]: one.get("description", {}).get("value", "")
            for one in found
            if not one["ignored"] and one["role"]["value"] == role
        }

    return nodes


def test_an_act_says_what_it_does_and_whether_it_is_locked(page, heard, login):
    page.get_by_label("Filter acts").fill("user")
    before = heard("button")
    login()
    after = heard("button")
    assert before["addUser"].startswith("write. Log in to call it. ")
    assert after["addUser"].startswith("write. ")
    assert "Log in" not in after["addUser"]
    assert before["removeUser"].startswith("delete. Log in to call it. ")
    assert before["getUsers"].startswith("read")


def test_the_palette_says_what_an_act_does(page, heard):
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Search acts, models and views").fill("getUsers")
    page.get_by_role("option", name="user.getUsers").wait_for()
    assert heard("option")["user.getUsers"] == "read"


def test_a_field_says_what_kind_it_is_and_that_it_is_required(page, heard, login):
    login()
    open_act(page, "addUser")
    assert heard("textbox")["first_name * (required)"].startswith("text, ")
    assert heard("textbox")["email * (required)"].startswith("text, ")
    assert heard("checkbox")["Send features"].startswith("list of object")
