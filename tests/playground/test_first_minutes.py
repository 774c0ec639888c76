"""The home page, the way between acts, and that nothing written is lost."""

from __future__ import annotations

import json

import mongomock

from gatewayfw import gateway, string
from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at


def undo(page, text):
    """Take back what a note tells."""
    page.locator(".notice").filter(has_text=text).get_by_role("button", name="Undo").click()


def heading(page):
    return page.get_by_role("region", name="Request").get_by_role("heading").first


#: From the box of a switch to its text.
GAP = """label => { const text = document.createRange(); text.selectNode(label.childNodes[1]);
    return text.getBoundingClientRect().left - label.firstChild.getBoundingClientRect().right; }"""


def test_the_switch_above_the_list_has_room_before_any_form_is_there(page):
    assert page.locator("label.acts-mine").evaluate(GAP) >= 6


def test_home_leads_to_acts_and_back_leads_between_them(page):
    home = page.locator(".home")
    home.get_by_text("26 acts · 6 models").wait_for()
    home.get_by_text("21 of 26 acts need a login").wait_for()
    first = home.get_by_role("region", name="Start here").get_by_role("button")
    assert first.first.inner_text().split("\n") == [
        "user.getUsers",
        "Return a page of users, oldest first, optionally filtered.",
    ]
    first.first.click()
    open_act(page, "addUser")
    open_act(page, "getUsers")
    tabs = page.locator(".strip-tab")
    assert tabs.count() == 2
    page.go_back()
    heading(page).get_by_text("addUser").wait_for()
    page.go_back()
    heading(page).get_by_text("getUsers").wait_for()
    page.go_back()
    home.wait_for()
    page.go_forward()
    page.reload()
    heading(page).get_by_text("getUsers").wait_for()
    page.get_by_role("navigation", name="Acts").get_by_role("button", name="getUsers").click(modifiers=["Control"])
    assert tabs.count() == 3


def test_a_required_text_that_is_empty_is_sent_only_when_that_is_meant(page):
    open_act(page, "login")
    sent = []
    page.on("request", lambda request: request.url.endswith("/gateway") and sent.append(request.post_data))
    page.keyboard.press("Control+Enter")
    page.get_by_text("Not sent: email, password are empty.").wait_for()
    assert [at(page, f"set.{name}").get_attribute("aria-invalid") for name in ("email", "password")] == ["true", "true"]
    assert sent == []
    at(page, "set.email").fill("nobody@example.com")
    page.keyboard.press("Control+Enter")
    page.get_by_text("Not sent: password is empty.").wait_for()
    assert at(page, "set.email").get_attribute("aria-invalid") is None
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Send it empty").click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    assert len(sent) == 1
    assert json.loads(sent[0])["details"]["set"] == {"email": "nobody@example.com", "password": ""}


def test_what_is_removed_can_be_had_back(page):
    open_act(page, "addCity")
    at(page, "set.name").fill("Kiruna")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Reset").click()
    assert at(page, "set.name").input_value() == ""
    undo(page, "Reset.")
    assert at(page, "set.name").input_value() == "Kiruna"
    page.get_by_role("button", name="Close addCity").click()
    page.locator(".home").wait_for()
    undo(page, "Closed addCity.")
    assert at(page, "set.name").input_value() == "Kiruna"
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("dialog", name="Save the request").wait_for()
    assert page.evaluate("document.activeElement.tagName") == "INPUT"
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Send it empty").click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("No requests yet").wait_for()
    undo(page, "History cleared.")
    assert page.locator(".library-title").all_inner_texts() == ["city.addCity"]
    page.get_by_role("tab", name="Saved").click()
    page.get_by_role("button", name="Remove city.addCity").click()
    page.get_by_text("No saved requests").wait_for()
    undo(page, "“city.addCity” removed.")
    page.get_by_text("city.addCity").first.wait_for()


def test_the_history_has_no_token(page, login):
    login()
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="200 OK user.login").click()
    rows = page.get_by_role("treeitem").all_inner_texts()
    assert 'token: ""' in [" ".join(row.split()) for row in rows] or 'token:""' in rows


def test_a_reply_is_searched_sorted_in_a_table_and_shown_with_its_headers(page, login):
    login()
    open_act(page, "getUsers")
    shape = page.get_by_role("region", name="Shape of the reply").inner_text()
    assert "rows: [\n" in shape
    assert "first_name: text" in shape
    send(page)
    page.get_by_role("searchbox", name="Search the reply").fill("employee@")
    rows = [row.replace("\n", "") for row in page.get_by_role("treeitem").all_inner_texts()]
    assert rows[-1] == 'email:"employee@example.com"'
    assert len(rows) == 4
    page.get_by_role("searchbox", name="Search the reply").fill("")
    page.get_by_role("tab", name="Table").click()
    table = page.get_by_role("region", name="Reply as a table")
    table.wait_for()
    column = table.get_by_role("columnheader", name="email")
    cells = table.locator("tbody td:nth-child(4)")
    before = cells.all_inner_texts()
    column.get_by_role("button").click()
    assert (column.get_attribute("aria-sort"), cells.all_inner_texts()) == ("ascending", sorted(before))
    column.get_by_role("button").click()
    assert (column.get_attribute("aria-sort"), cells.all_inner_texts()) == ("descending", sorted(before, reverse=True))
    page.get_by_role("tab", name="Headers").click()
    exchange = page.get_by_role("region", name="Request and headers")
    assert {"(the token)", "application/json"} <= set(exchange.locator("dd").all_inner_texts())


def test_a_request_has_a_key_and_asks_for_the_revision(page, stage):
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    books = gw.odm.new_model("book", {"title": string()}, {})

    @gw.acts.act("book", "addBook", set={"title": string()}, get=1, public=True, idempotent="1h", idempotent_by=str)
    def add_book(body):
        return books.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    open_act(page, "addBook")
    at(page, "set.title").fill("Emma")
    at(page, "get._rev").check()
    page.get_by_role("button", name="New key").click()
    key = page.get_by_label("Idempotency-Key").input_value()
    with page.expect_request("**/gateway") as asked:
        send(page)
    assert (len(key), asked.value.headers["idempotency-key"]) == (32, key)
    assert asked.value.post_data_json["details"]["get"] == {"title": 1, "_rev": 1}
    page.get_by_role("button", name="Code", exact=True).click()
    page.get_by_role("region", name="Code").get_by_text(f"'Idempotency-Key: {key}'").wait_for()


def test_back_from_the_acts_takes_one_step(page):
    open_act(page, "getUsers")
    before = page.evaluate("history.length")
    for view in ("Sequences", "Acts"):
        page.get_by_role("link", name=view, exact=True).click()
    page.get_by_role("region", name="Request").get_by_role("heading", name="getUsers").wait_for()
    assert page.evaluate("[history.length, location.hash]") == [before + 2, "#/acts/main/user/getUsers"]
    page.go_back()
    page.get_by_role("button", name="Add a step").wait_for()
    page.go_back()
    page.get_by_role("region", name="Request").get_by_role("heading", name="getUsers").wait_for()
