"""A reload keeps the open requests and the token, in the storage of this browser tab, and no password."""

from __future__ import annotations

import json

import mongomock
import pytest

from gatewayfw import gateway
from tests.playground.conftest import open_act, send, watch
from tests.playground.echo import echo_app
from tests.playground.test_acts import at
from tests.playground.test_numbers import sent, write_json
from tests.playground.test_two_tabs import opened
from tests.playground.test_unfinished import BROKEN, send_button, text_of_editor

PREFIX = "gatewayfw:/playground/:"


@pytest.fixture
def bodies():
    """What the server got, as text."""
    return []


@pytest.fixture
def service_url(stage, bodies):
    """A service that gives back what it gets."""
    return stage(echo_app(bodies))


def reloaded(page):
    page.reload()
    page.get_by_role("navigation", name="Views").wait_for()
    page.locator(".loading").wait_for(state="detached")


def tabs_of(page):
    """The open requests, and which one is shown."""
    strip = page.get_by_role("group", name="Open requests").locator(".strip-open")
    strip.first.wait_for()
    return [(one.inner_text(), one.get_attribute("aria-pressed")) for one in strip.all()]


def session(page):
    """What the browser tab keeps, by name."""
    found = page.evaluate("({...sessionStorage})")
    return {name.removeprefix(PREFIX): text for name, text in found.items() if name.startswith(PREFIX)}


def written(page):
    """The tabs as they are kept, once they are."""
    page.wait_for_function("name => sessionStorage.getItem(name) !== null", arg=PREFIX + "tabs")
    return json.loads(session(page)["tabs"])["tabs"]


def test_a_reload_keeps_the_open_requests(page, bodies):
    open_act(page, "echo")
    at(page, "set.decimal").fill("1.10000000000000000001")
    open_act(page, "keep")
    at(page, "set.note").fill("a note")
    open_act(page, "remove")
    page.get_by_role("button", name="thing.keep").click()
    reloaded(page)
    assert tabs_of(page) == [("thing.echo", "false"), ("thing.keep", "true"), ("thing.remove", "false")]
    assert at(page, "set.note").input_value() == "a note"
    page.get_by_role("button", name="thing.echo").click()
    assert sent(page, bodies) == '{"decimal":1.10000000000000000001}'
    page.get_by_role("button", name="Close remove").click()
    reloaded(page)
    assert tabs_of(page) == [("thing.echo", "true"), ("thing.keep", "false")]


def test_a_reload_while_a_reply_is_awaited_says_what_is_not_known(page):
    open_act(page, "echo")
    page.route("**/gateway", lambda route: None)  # It never answers.
    send_button(page).click()
    page.get_by_text("Waiting…").wait_for()
    page.wait_for_function("name => sessionStorage.getItem(name)?.includes('\"isSending\":true')", arg=PREFIX + "tabs")
    reloaded(page)
    page.locator(".empty-title").get_by_text("The page closed before the reply came").wait_for()
    page.unroute("**/gateway")
    send(page)
    reloaded(page)
    page.get_by_text("No reply yet").wait_for()


def test_a_reload_keeps_the_idempotency_key(page, stage):
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("book", "addBook", public=True, idempotent="1h", idempotent_by=str)(lambda body: "done")
    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    open_act(page, "addBook")
    page.get_by_label("Idempotency-Key").fill("a key")
    page.wait_for_function("name => sessionStorage.getItem(name)?.includes('a key')", arg=PREFIX + "tabs")
    reloaded(page)
    assert page.get_by_label("Idempotency-Key").input_value() == "a key"


def test_a_reload_keeps_what_is_not_valid_and_does_not_send_it(page, bodies):
    open_act(page, "remove")
    page.get_by_label("Send any").check()
    page.get_by_label("Type of any").select_option("JSON")
    at(page, "set.any").fill("[1,")
    open_act(page, "echo")
    write_json(page, BROKEN)
    reloaded(page)
    assert page.get_by_role("tab", name="JSON").get_attribute("aria-selected") == "true"
    assert text_of_editor(page) == BROKEN
    assert send_button(page).is_disabled()
    page.get_by_role("button", name="thing.remove").click()
    assert at(page, "set.any").input_value() == "[1,"
    assert send_button(page).is_disabled()
    assert bodies == []


def test_a_password_is_in_no_storage(page):
    open_act(page, "echo")
    at(page, "set.password").fill("a secret")
    open_act(page, "keep")
    write_json(page, '{"set": {"password": "a secret"')
    reloaded(page)
    page.get_by_text("Invalid JSON that names a password or token was not stored.").wait_for()
    assert "a secret" not in page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert text_of_editor(page) == '{\n  "set": {},\n  "get": {}\n}'
    page.get_by_role("button", name="thing.echo").click()
    assert at(page, "set.password").input_value() == ""


def token_and_headers(page, text="a.b.c"):
    page.get_by_role("button", name="Headers and token").click()
    page.get_by_label("Token", exact=True).fill(text)
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of header 1").fill("X-Tenant")
    page.get_by_label("Value of header 1").fill("north")


def test_a_reload_keeps_token_and_headers_in_this_tab_only(page):
    token_and_headers(page)
    page.get_by_role("button", name="Done").click()
    reloaded(page)
    open_act(page, "echo")
    with page.expect_request("**/gateway") as asked:
        send(page)
    assert (asked.value.headers["token"], asked.value.headers["x-tenant"]) == ("a.b.c", "north")
    assert "a.b.c" not in page.evaluate("JSON.stringify({...localStorage})")
    assert {"token", "headers"} <= set(session(page))


def test_token_and_headers_are_not_kept_where_that_is_switched_off(page):
    token_and_headers(page)
    page.get_by_label("Keep token and headers").uncheck()
    assert {"token", "headers"}.isdisjoint(session(page))
    reloaded(page)
    page.get_by_role("button", name="Headers and token").click()
    assert not page.get_by_label("Keep token and headers").is_checked()
    assert page.get_by_label("Name of header 1").count() == 0


def test_a_token_that_is_forgotten_is_gone(page):
    token_and_headers(page)
    page.get_by_role("button", name="Forget the token").click()
    assert "token" not in session(page)


def test_a_duplicated_tab_begins_with_copies_and_goes_its_own_way(page, service_url):
    open_act(page, "echo")
    written(page)
    with page.context.expect_page() as popup:
        page.evaluate("url => { window.open(url) }", f"{service_url}/playground")
    other = popup.value
    problems = watch(other, service_url)
    other.get_by_role("heading", name="thing.echo").wait_for()
    open_act(other, "keep")
    reloaded(other)
    reloaded(page)
    assert [name for name, _ in tabs_of(other)] == ["thing.echo", "thing.keep"]
    assert [name for name, _ in tabs_of(page)] == ["thing.echo"]
    assert problems == []


def test_a_tab_of_an_act_that_is_gone_can_still_be_copied(page, service_url):
    open_act(page, "keep")
    at(page, "set.note").fill("a note")
    written(page)
    page.wait_for_function("name => sessionStorage.getItem(name).includes('a note')", arg=PREFIX + "tabs")
    kept = session(page)["tabs"].replace('"act":"keep"', '"act":"gone"')
    page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [PREFIX + "tabs", kept])
    opened(page, service_url)
    page.get_by_text("There is no such act").wait_for()
    page.get_by_role("button", name="Copy the request").click()
    page.get_by_text("Copied.").wait_for()
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == {"set": {"note": "a note"}, "get": {}}


def test_a_field_that_is_gone_is_shown_as_unknown(page, service_url):
    open_act(page, "keep")
    written(page)
    kept = {"active": 0, "tabs": [{"model": "thing", "act": "keep", "set": {"old": 5}, "get": {}, "lost": 0}]}
    page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [PREFIX + "tabs", json.dumps(kept)])
    opened(page, service_url)
    page.get_by_text("This act has no such field.").wait_for()


DAMAGED = {
    "no JSON": ("{", []),
    "no tabs": ('{"active": 0}', []),
    "one that is none": (
        '{"active": 1, "tabs": [5, {"model": "thing", "act": "echo", "set": {}, "get": {}, "lost": 0}]}',
        [("thing.echo", "true")],
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_tabs_break_nothing_and_are_not_lost(page, service_url, name):
    text, expected = DAMAGED[name]
    page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [PREFIX + "tabs", text])
    for other in ("token", "headers", "history"):
        page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [PREFIX + other, "{"])
    opened(page, service_url)
    page.get_by_text("cannot be read").first.wait_for()
    page.locator(".home").or_(page.get_by_role("heading", name="thing.echo")).wait_for()
    assert (tabs_of(page) if expected else []) == expected
    copies = {name: text for name, text in session(page).items() if name.endswith(":damaged")}
    assert copies == {"tabs:damaged": text, "token:damaged": "{", "headers:damaged": "{", "history:damaged": "{"}


def test_tabs_that_do_not_fit_are_told(page):
    page.evaluate("() => { Storage.prototype.setItem = () => { throw new DOMException('no', 'QuotaExceededError') } }")
    open_act(page, "echo")
    page.get_by_text("The open requests will be lost on reload: its storage is full.").wait_for()


def test_a_hundred_requests_are_open_at_most(page, service_url):
    tab = {"model": "thing", "act": "echo", "set": {}, "get": {}, "lost": 0}
    text = json.dumps({"active": 0, "tabs": [tab] * 100})
    page.evaluate("([name, text]) => sessionStorage.setItem(name, text)", [PREFIX + "tabs", text])
    opened(page, service_url)
    page.get_by_role("navigation", name="Acts").get_by_role("button", name="keep", exact=True).click()
    page.get_by_text("100 requests are open: close some first.").wait_for()
    assert len(tabs_of(page)) == 100
