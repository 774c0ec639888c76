"""History, saved requests, files and share links."""

from __future__ import annotations

import json

from tests.playground.conftest import send, share
from tests.playground.links import decoded, encoded, open_shared

LOGIN = {
    "service": "main",
    "model": "user",
    "act": "login",
    "set": {"email": "manager@example.com", "password": "demo-manager"},
    "get": {"token": 1},
}
KEPT = {**LOGIN, "set": {"email": "manager@example.com", "password": ""}}
ANSWER = {"service": "main", "model": "city", "act": "getCity", "set": {"cityId": "5" * 24}, "get": {"name": 1}}


def history(page):
    """Go to the history; give its rows."""
    page.get_by_role("link", name="History").click()
    page.get_by_role("tab", name="History").click()
    return page.get_by_role("region", name="History").get_by_role("listitem").filter(has=page.locator(".library-line"))


def saved(page):
    """Go to the saved requests; give their rows."""
    page.get_by_role("link", name="History").click()
    page.get_by_role("tab", name="Saved").click()
    return page.get_by_role("region", name="Saved requests").locator(".library-line")


def sent(page, service_url, request):
    open_shared(page, service_url, request)
    send(page)


def fill_password(page):
    page.locator("[data-path='set.password']").fill("demo-manager")


def log_in(page, service_url):
    open_shared(page, service_url, LOGIN)
    fill_password(page)
    send(page)


def save_as(page, name):
    page.get_by_role("button", name="Save user.login").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Save").click()


def test_a_request_is_sent_again_from_the_history(page, service_url):
    log_in(page, service_url)
    assert history(page).count() == 1
    page.get_by_role("button", name="Send again user.login").click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    assert [row.locator(".badge").inner_text() for row in history(page).all()] == ["200 OK", "200 OK"]


def test_the_history_is_searched_and_shows_request_and_reply(page, service_url):
    log_in(page, service_url)
    rows = history(page)
    box = page.get_by_role("searchbox", name="Search requests and replies")
    box.fill("manager@example token")
    assert rows.count() == 1
    box.fill("no such thing")
    page.get_by_text("No results").wait_for()
    box.fill("")
    rows.first.get_by_role("button", name="200 OK user.login").click()
    page.get_by_role("tree", name="Request").get_by_text("manager@example.com").wait_for()
    reply = page.get_by_role("tree", name="Reply").get_by_role("treeitem")
    reply.filter(has_text="token").wait_for()
    assert reply.filter(has_text="success").count() == 0


def test_a_line_of_the_history_tells_what_was_sent(page, service_url):
    log_in(page, service_url)
    fold = history(page).first.get_by_role("button", name="200 OK user.login")
    assert fold.inner_text().split("\n") == ["200 OK", "user.login", "email manager@example.com"]


def test_what_is_done_seldom_shows_at_the_line_that_is_pointed_at(page, service_url):
    log_in(page, service_url)
    line = history(page).first
    opacity = "one => getComputedStyle(one).opacity"
    page.mouse.move(0, 0)
    assert line.locator(".library-acts").evaluate(opacity) == "0"
    line.hover()
    assert line.locator(".library-acts").evaluate(opacity) == "1"


def test_an_empty_history_leads_to_the_acts(page):
    page.get_by_role("link", name="History", exact=True).click()
    page.get_by_text("Requests you send appear here with their replies, newest first.").wait_for()
    assert page.get_by_label("Keep after a reload").count() == 0
    page.get_by_role("link", name="Open an act").click()
    page.locator(".home").wait_for()


def test_one_entry_is_removed_and_all_are_cleared(page, service_url):
    log_in(page, service_url)
    history(page)
    page.get_by_role("button", name="Send again user.login").click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    rows = history(page)
    page.get_by_role("button", name="Remove user.login from the history").first.click()
    assert rows.count() == 1
    assert page.evaluate("document.activeElement.className") == "library-fold"
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("No requests yet").wait_for()
    page.get_by_text("Runs of sequences do not appear.").wait_for()


def test_the_history_is_kept_only_when_asked_and_without_secrets(page, service_url):
    log_in(page, service_url)
    history(page)
    page.get_by_text("A reload of the page clears it.").wait_for()
    is_kept = "Object.keys(sessionStorage).some((name) => name.endsWith(':history'))"
    assert page.evaluate(is_kept) is False
    page.get_by_label("Keep after a reload").check()
    assert page.evaluate(is_kept) is True
    kept = page.evaluate("Object.values(sessionStorage).join()")
    assert "manager@example.com" in kept
    assert "demo-manager" not in kept
    assert "eyJ" not in kept  # how a token begins
    page.reload()
    page.get_by_role("navigation", name="Views").wait_for()
    assert history(page).count() == 1
    page.get_by_label("Keep after a reload").uncheck()
    assert page.evaluate(is_kept) is False


def test_a_saved_request_has_no_password_and_outlives_a_reload(page, service_url):
    log_in(page, service_url)
    history(page)
    save_as(page, "As the manager")
    stored = page.evaluate("Object.entries(localStorage).find(([name]) => name.endsWith(':saved/As the manager'))[1]")
    assert json.loads(stored) == {"name": "As the manager", **KEPT}
    page.reload()
    page.get_by_role("navigation", name="Views").wait_for()
    assert saved(page).locator(".library-title").all_inner_texts() == ["As the manager"]
    page.get_by_role("button", name="Open As the manager in a tab").click()
    assert page.locator("[data-path='set.email']").input_value() == "manager@example.com"
    saved(page)
    page.get_by_role("button", name="Remove As the manager").click()
    page.get_by_text("No saved requests").wait_for()


def test_saved_requests_go_to_a_file_and_come_back(page, service_url, tmp_path):
    log_in(page, service_url)
    history(page)
    save_as(page, "As the manager")
    saved(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    download.value.save_as(tmp_path / "requests.json")
    written = json.loads((tmp_path / "requests.json").read_text())
    assert written == {"format": "gatewayfw-requests", "version": 1, "requests": [{"name": "As the manager", **KEPT}]}
    page.get_by_role("button", name="Remove As the manager").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "requests.json")
    assert saved(page).locator(".library-title").all_inner_texts() == ["As the manager"]


BROKEN = {
    "no JSON": ("{", "not JSON"),
    "a list": ("[]", "The file: expected an object"),
    "another format": ('{"format": "postman"}', "The file is not in the format gatewayfw-requests"),
    "another version": ('{"format": "gatewayfw-requests", "version": 9}', "The file comes from another version"),
    "no requests": ('{"format": "gatewayfw-requests", "version": 1}', "requests: expected a list"),
    "no act": (
        '{"format": "gatewayfw-requests", "version": 1, "requests": [{"name": "x", "model": "user"}]}',
        "requests.0.act: expected a text that is not empty",
    ),
    "a list as set": (
        '{"format": "gatewayfw-requests", "version": 1,'
        ' "requests": [{"name": "x", "model": "user", "act": "login", "set": []}]}',
        "requests.0.set: expected an object",
    ),
}


def test_a_broken_file_is_refused_with_the_reason(page):
    saved(page)
    for name, (text, reason) in BROKEN.items():
        file = {"name": f"{name}.json", "mimeType": "application/json", "buffer": text.encode()}
        page.locator("input[type=file]").set_input_files(file)
        alert = page.get_by_role("alert").filter(has_text=f"{name}.json was not imported.")
        assert reason in alert.inner_text()
        assert page.get_by_text("No saved requests").is_visible()


def test_a_share_link_makes_the_round_trip(page, service_url):
    given = {**ANSWER, "set": {"cityId": "5" * 24}, "get": {"name": 1, "country": {"name": 1}}}
    open_shared(page, service_url, given)
    share(page)
    page.get_by_text("Link copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{service_url}/playground/#share=")
    assert decoded(link) == {"v": 1, **given}
    page.goto("about:blank")
    page.goto(link)
    assert page.locator("[data-path='set.cityId']").input_value() == "5" * 24
    assert page.locator("[data-path='get.country']").evaluate("box => box.indeterminate") is True
    assert page.evaluate("location.hash") == "#/acts/main/city/getCity"


def test_a_link_opens_in_the_page_that_is_open(page, service_url):
    open_shared(page, service_url, LOGIN)
    page.evaluate("hash => { location.hash = hash }", f"share={encoded({'v': 1, **ANSWER})}")
    page.locator("[data-path='set.cityId']").wait_for()
    assert page.get_by_role("group", name="Open requests").locator(".strip-tab").count() == 2
    assert page.evaluate("location.hash") == "#/acts/main/city/getCity"


def test_a_request_that_is_too_long_for_a_link_is_told(page, service_url):
    open_shared(page, service_url, LOGIN)
    page.locator("[data-path='set.email']").fill("x" * 30_000)
    share(page)
    page.get_by_text("The request is too long for a link. Save it and export a file instead.").wait_for()


def test_a_share_link_has_no_token_and_no_password(page, service_url, login):
    login()
    fill_password(page)
    share(page)
    page.get_by_text("Link copied").wait_for()
    assert decoded(page.evaluate("navigator.clipboard.readText()")) == {"v": 1, **KEPT, "get": {"token": 1, "roles": 1}}


HOSTILE = {
    "damaged": ("%%%", "it is cut off or damaged"),
    "cut off": (encoded(ANSWER)[:-7], "its content is not JSON"),
    "no object": (encoded([1]), "its content: expected an object"),
    "another version": (encoded({"v": 2, **ANSWER}), "it comes from another version"),
    "a model that is no text": (encoded({"v": 1, **ANSWER, "model": {"x": 1}}), "request.model: expected a text"),
    "set that is no object": (encoded({"v": 1, **ANSWER, "set": "<b>"}), "request.set: expected an object"),
    "too long": ("A" * 33_000, "it is longer than 32000 characters"),
    "too deep": (
        encoded({"v": 1, **ANSWER, "set": json.loads('{"a":' * 70 + "1" + "}" * 70)}),
        "request.set: more than 64 levels deep",
    ),
}


def test_a_hostile_link_is_refused_with_a_message(page, service_url):
    for fragment, reason in HOSTILE.values():
        page.goto("about:blank")
        page.goto(f"{service_url}/playground/#share={fragment}")
        page.get_by_text(f"This link cannot be opened: {reason}").wait_for()
        assert page.get_by_role("group", name="Open requests").count() == 0
