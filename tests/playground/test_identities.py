"""Several people signed in side by side: whose token each tab sends."""

from __future__ import annotations

import re

import pytest

from tests.playground.conftest import open_act, share
from tests.playground.links import decoded
from tests.playground.test_acts import at

PEOPLE = ("employee", "manager")


def log_in(page, who):
    page.get_by_role("dialog", name="Log in").wait_for()
    at(page, "set.email").fill(f"{who}@example.com")
    at(page, "set.password").fill(f"demo-{who}")
    at(page, "set.password").press("Enter")
    page.get_by_role("dialog", name="Log in").wait_for(state="detached")


def account(page, who):
    """Open the menu at the top."""
    page.get_by_role("button", name=f"{who.title()}, {who}@example.com", exact=True).click()


@pytest.fixture
def both(page):
    """Employee and Manager are signed in; the manager came last."""
    page.get_by_role("banner").get_by_role("button", name="Log in", exact=True).click()
    log_in(page, PEOPLE[0])
    account(page, PEOPLE[0])
    page.get_by_role("menuitem", name="Log in as another user").click()
    log_in(page, PEOPLE[1])
    return page


def send_as(page, who):
    """Choose whose token the open request is sent with."""
    page.get_by_role("region", name="Request").get_by_role("button", name=re.compile("^as ")).click()
    page.get_by_role("menuitemradio", name=who).click()


def answer(page):
    """Send; give what came back, and the token that was sent."""
    with page.expect_response("**/gateway") as replied:
        page.keyboard.press("Control+Enter")
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    body = replied.value.json()["body"]
    return body.get("email") or body["message"], replied.value.request.headers.get("token")


def test_each_tab_sends_the_token_of_whom_it_names(both):
    open_act(both, "getMe")
    assert answer(both)[0] == "manager@example.com"
    send_as(both, "employee@example.com")
    assert answer(both)[0] == "employee@example.com"
    open_act(both, "addUser")
    both.get_by_role("button", name="as Manager", exact=True).wait_for()
    roles = both.get_by_role("region", name="Request").locator(".roles button")
    assert roles.all_inner_texts() == ["Manager"]
    send_as(both, "employee@example.com")
    assert roles.all_inner_texts() == ["Employee"]
    open_act(both, "getMe")
    send_as(both, "Nobody")
    message, token = answer(both)
    assert token is None
    assert "token" in message


def test_one_switches_at_the_top_and_logs_out_one_by_one(both):
    open_act(both, "getMe")
    account(both, "manager")
    lines = [line.split(" · expires ")[0] for line in both.get_by_role("menuitemradio").all_inner_texts()]
    assert lines == [f"{who}@example.com\n{who.title()}" for who in PEOPLE]
    both.get_by_role("menuitemradio", name="employee@example.com").click()
    assert answer(both)[0] == "employee@example.com"
    send_as(both, "manager@example.com")
    account(both, "employee")
    both.get_by_role("menuitem", name="Log out employee@example.com").click()
    both.get_by_text("Logged out. manager@example.com (Manager) is signed in.").wait_for()
    account(both, "manager")
    both.get_by_role("menuitem", name="Log out", exact=True).click()
    both.get_by_role("banner").get_by_role("button", name="Log in", exact=True).wait_for()
    asked = []
    both.on("request", lambda request: request.url.endswith("/gateway") and asked.append(request))
    both.keyboard.press("Control+Enter")
    both.get_by_text("Not sent: the user of this request has logged out.").wait_for()
    assert asked == []


def test_a_reload_keeps_who_is_signed_in_and_as_whom_a_tab_sends(both):
    open_act(both, "getMe")
    send_as(both, "employee@example.com")
    token = answer(both)[1]
    both.reload()
    both.get_by_role("button", name="as Employee", exact=True).wait_for()
    assert answer(both) == ("employee@example.com", token)


def test_no_token_is_in_a_link_a_saved_request_the_history_or_shared_storage(both):
    open_act(both, "getMe")
    send_as(both, "employee@example.com")
    token = answer(both)[1]
    share(both)
    both.get_by_text("Link copied.").wait_for()
    link = decoded(both.evaluate("navigator.clipboard.readText()"))
    assert link == {"v": 1, "service": "main", "model": "user", "act": "getMe", "set": {}, "get": link["get"]}
    both.get_by_role("tab", name="Headers").click()
    assert "(the token)" in both.get_by_role("region", name="Request and headers").inner_text()
    assert token not in both.locator("body").inner_text()
    both.get_by_role("link", name="History").click()
    both.get_by_role("tab", name="History").click()
    both.get_by_label("Keep after a reload").check()
    kept = both.evaluate("({...sessionStorage})")
    assert [name.rsplit(":", 1)[1] for name, text in kept.items() if token in text] == ["identities"]
    assert token not in both.evaluate("JSON.stringify({...localStorage})")


def test_nothing_of_them_is_stored_where_the_user_does_not_want_it(both):
    account(both, "manager")
    both.get_by_role("menuitem", name="Headers and token").click()
    both.get_by_label("Keep token and headers after a reload").uncheck()
    stored = both.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "@example.com" not in stored
