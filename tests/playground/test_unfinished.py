"""What is not valid is not sent, nor is anything in its place; what was written stays. A double click acts once."""

from __future__ import annotations

import pytest

from tests.playground.conftest import empty, open_act
from tests.playground.test_acts import at
from tests.playground.test_numbers import bodies, sent, service_url, write_json  # noqa: F401  # fixtures
from tests.playground.test_sequences import SEQUENCE, imported

BROKEN = '{"set": {"note": "all"},\n  "get": {}'
REASON = "Not sent: the JSON of the request is not valid."


def send_button(page):
    return page.get_by_role("region", name="Request").get_by_role("button", name="Send", exact=True)


def text_of_editor(page):
    page.locator(".cm-content").wait_for()
    return "\n".join(page.locator(".cm-line").all_inner_texts())


def try_to_send(page):
    """Try all ways to send the open request."""
    page.keyboard.press("Control+Enter")
    for button in page.get_by_role("button", name="Send", exact=True).all():
        button.click(force=True)


@pytest.fixture
def broken(page):
    """A tab with a request that is valid, and then with a text that is not, as its JSON."""
    open_act(page, "remove")
    at(page, "set.note").fill("one")
    write_json(page, BROKEN)
    page.get_by_text("Line 2:").wait_for()
    return page


def test_broken_json_is_not_sent_and_neither_is_what_was_there_before(broken, bodies):  # noqa: F811
    button = send_button(broken)
    assert button.is_disabled()
    assert button.get_attribute("aria-describedby") is not None
    broken.get_by_role("region", name="Request").get_by_role("status").filter(has_text=REASON).wait_for()
    try_to_send(broken)
    broken.locator(".notice.bad").get_by_text(REASON).first.wait_for()
    assert bodies == []
    for shown in ("Code", "Save"):
        assert broken.get_by_role("button", name=shown, exact=True).is_disabled()
    broken.get_by_role("button", name="More", exact=True).click()
    states = {item.inner_text(): item.is_disabled() for item in broken.get_by_role("menuitem").all()}
    assert states == {"Share": True, "Add to a sequence": True, "Reset": False}


def test_json_that_is_too_much_is_not_called_broken(broken):
    write_json(broken, '{"set": {}, "get": {}, "more": 1}')
    told = broken.get_by_text("“more” would not be sent.")
    told.wait_for()
    assert told.inner_text() == "Not valid, so nothing is sent. Expected only set and get; “more” would not be sent."


def test_broken_json_waits_while_other_parts_and_tabs_are_shown(broken, bodies):  # noqa: F811
    broken.get_by_role("tab", name="Form").click()
    assert at(broken, "set.note").input_value() == "one"
    assert at(broken, "set.note").is_disabled()
    broken.get_by_role("alert").get_by_text(REASON).wait_for()
    try_to_send(broken)
    open_act(broken, "echo")
    assert not send_button(broken).is_disabled()
    broken.get_by_role("button", name="thing.remove").click()
    broken.get_by_role("link", name="History").click()
    broken.get_by_role("link", name="Acts").click()
    broken.get_by_role("button", name="Go there").click()
    assert text_of_editor(broken) == BROKEN
    assert bodies == []
    broken.get_by_role("textbox", name="Details as JSON").press("Control+End")
    broken.keyboard.type("}")
    assert sent(broken, bodies) == '{"note":"all"}'


def test_broken_json_is_given_up_on_request(broken, bodies):  # noqa: F811
    broken.get_by_role("tab", name="Form").click()
    discard = broken.get_by_role("button", name="Discard it")
    discard.click()
    assert at(broken, "set.note").is_enabled()
    broken.locator(".notice").filter(has_text="Discarded.").get_by_role("button", name="Undo").click()
    assert at(broken, "set.note").is_disabled()
    discard.click()
    assert sent(broken, bodies) == '{"note":"one"}'


REFUSED = {
    "[]": "Expected an object with set and get.",
    '{"model": "thing", "details": {}}': "“model” would not be sent.",
    '{"set": null}': "Expected set and get to be objects.",
    "": "Unexpected end",
    '{"set": {"note": "a",\n "any": [{"note": 1}], "note": "b"}}': "Line 2: “note” is there twice in one object.",
    '{"set": {"any": {"a": [{"b\\u0062": 1,\n\n"bb": 2}]}}}': "Line 3: “bb” is there twice in one object.",
}


def test_json_that_would_be_sent_otherwise_than_it_is_written_is_refused(page, bodies):  # noqa: F811
    open_act(page, "remove")
    for text, problem in REFUSED.items():
        write_json(page, text)
        page.locator(".request-json").get_by_text(problem).wait_for()
        assert send_button(page).is_disabled()
    page.locator(".cm-lintRange-error").get_by_text('"bb"', exact=True).wait_for()
    try_to_send(page)
    assert bodies == []


@pytest.fixture
def field(page):
    """A field of the form that is written as JSON; what is in it is not valid."""
    open_act(page, "remove")
    page.get_by_label("Send any").check()
    page.get_by_label("Type of any").select_option("JSON")
    at(page, "set.any").fill('{"a": 1}')
    at(page, "set.any").fill('{"a": ')
    return at(page, "set.any")


def test_a_broken_field_of_the_form_is_not_sent_and_stays(page, field, bodies):  # noqa: F811
    assert field.get_attribute("aria-invalid") == "true"
    try_to_send(page)
    page.locator(".notice.bad").get_by_text("Not sent: what is written at set.any is not valid.").first.wait_for()
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    page.get_by_role("textbox", name="Details as JSON").press("Control+a")
    page.keyboard.type("x")
    assert '"a": 1' in text_of_editor(page)
    page.get_by_role("tab", name="About").click()
    page.get_by_role("button", name="Go there").click()
    assert field.input_value() == '{"a": '
    assert bodies == []
    field.fill('{"a": 2}')
    assert sent(page, bodies) == '{"any":{"a":2}}'


def test_a_broken_field_that_is_left_out_is_no_hindrance(page, field, bodies):  # noqa: F811
    page.get_by_label("Send any").uncheck()
    assert sent(page, bodies) == "{}"
    page.get_by_label("Send any").check()
    assert field.input_value() == "null"


def test_beginning_anew_gives_up_what_is_broken(broken, bodies):  # noqa: F811
    broken.get_by_role("button", name="More", exact=True).click()
    broken.get_by_role("menuitem", name="Reset").click()
    assert sent(broken, bodies) == "{}"


def test_a_broken_step_is_neither_run_nor_written_and_stays(page):
    page.get_by_role("link", name="Sequences", exact=True).click()
    imported(page, SEQUENCE)
    page.get_by_role("button", name="1. Log in").click()
    page.locator(".cm-content").wait_for()
    empty(page.get_by_role("textbox", name="set and get of step 1"))
    page.keyboard.insert_text(BROKEN)
    page.get_by_text("Step 1 is not valid: fix it first.").wait_for()
    page.get_by_role("button", name="1. Log in").click()
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Sequences", exact=True).click()
    assert page.get_by_role("button", name="Run", exact=True).is_disabled()
    page.get_by_role("button", name="Export").click()
    assert [item.is_disabled() for item in page.get_by_role("menuitem").all()] == [True, True]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="1. Log in").click()
    assert text_of_editor(page) == BROKEN
    page.get_by_role("textbox", name="set and get of step 1").press("Control+End")
    page.keyboard.type("}")
    page.get_by_text("Step 1 is not valid: fix it first.").wait_for(state="detached")


def test_a_double_click_sends_once_and_does_not_cancel(page, bodies):  # noqa: F811
    open_act(page, "remove")
    send_button(page).dblclick()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    page.get_by_role("group", name="About the reply").wait_for()
    assert len(bodies) == 1


def test_a_held_key_sends_once(page, bodies):  # noqa: F811
    open_act(page, "remove")
    page.keyboard.down("Control")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    page.keyboard.up("Control")
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    assert len(bodies) == 1


def test_a_double_click_closes_one_tab(page):
    for act in ("echo", "keep", "remove"):
        open_act(page, act)
    page.get_by_role("button", name="Close echo").dblclick()
    strip = page.get_by_role("group", name="Open requests")
    assert [one.inner_text() for one in strip.locator(".strip-open").all()] == ["thing.keep", "thing.remove"]


def test_a_note_of_what_was_not_sent_goes_when_something_is_sent(broken):
    for _ in range(2):
        broken.keyboard.press("Control+Enter")
    assert broken.locator(".notice.bad").all_inner_texts() == [REASON]
    broken.get_by_role("textbox", name="Details as JSON").press("Control+End")
    broken.keyboard.type("}")
    broken.keyboard.press("Control+Enter")
    broken.get_by_role("group", name="About the reply").wait_for()
    assert broken.locator(".notice.bad").all_inner_texts() == []


def test_a_click_below_short_json_is_one_into_the_text(page):
    open_act(page, "remove")
    write_json(page, "{}")
    editor = page.locator(".editor-host")
    page.get_by_role("tab", name="JSON").focus()
    editor.click(position={"x": 200, "y": editor.bounding_box()["height"] - 8})
    page.keyboard.press("Control+a")
    page.keyboard.type("{{")
    assert text_of_editor(page) == "{{}}"
