"""What a sequence expects and captures, chosen by a click in a reply; steps as forms."""

from __future__ import annotations

import json

import pytest

from tests.playground.test_acts import at
from tests.playground.test_sequences import (  # noqa: F401  # a fixture
    SEQUENCE,
    counts,
    exported,
    imported,
    pytest_of,
    run,
    sequences,
)

LOGIN = {"name": "Log in", "variables": SEQUENCE["variables"], "format": "gatewayfw-sequence", "version": 1}


def choose(page, text):
    """Choose a value in the reply of the first request of the first step."""
    page.get_by_role("tree", name="Reply", exact=True).get_by_role("treeitem").filter(has_text=text).first.click()
    return page.get_by_role("group", name="The chosen value")


@pytest.fixture
def run_once(sequences):  # noqa: F811
    """A sequence of a log-in and a look at oneself, which ran; the reply of the log-in is open."""
    me = {**SEQUENCE["steps"][2], "name": "Me", "request": {"model": "user", "act": "getMe", "set": {}, "get": {}}}
    imported(sequences, {**LOGIN, "steps": [{**SEQUENCE["steps"][0], "captures": []}, {**me, "token": "none"}]})
    sequences.get_by_label("Stop at the first failure").uncheck()
    run(sequences, "failed")
    sequences.get_by_role("button", name="Replies of step 1").click()
    return sequences


def test_a_value_is_captured_by_a_click_and_taken_back(run_once):
    bar = choose(run_once, "roleId")
    bar.get_by_role("button", name="Capture").click()
    run_once.get_by_text("Later steps have it as {{roleId}}.").wait_for()
    marked = run_once.get_by_role("treeitem").filter(has_text="{{roleId}}")
    assert marked.inner_text().startswith("roleId:")
    run_once.get_by_role("button", name="1. Log in").click()
    row = run_once.get_by_role("group", name="Capture roleId")
    assert row.get_by_label("From").input_value() == "body.roles[0].roleId"
    run_once.get_by_role("button", name="Remove the capture roleId").click()
    row.wait_for(state="detached")
    run_once.get_by_role("status").filter(has_text="Capture roleId removed.").get_by_role("button", name="Undo").click()
    assert row.get_by_label("From").input_value() == "body.roles[0].roleId"


def test_a_token_is_captured_and_never_expected(run_once):
    assert choose(run_once, "token:").get_by_role("button").all_inner_texts() == ["Capture"]


def test_what_is_expected_by_a_click_is_judged_here_and_by_pytest(run_once, service_url, tmp_path):
    choose(run_once, "name:").get_by_role("button", name="Expect this").click()
    run_once.get_by_role("button", name="2. Me").click()
    run_once.get_by_label("Expect", exact=True).select_option("no")
    run_once.get_by_label("Status").fill("401")
    run(run_once, "passed")
    assert counts(run_once) == "2 of 2 sent, 2 as expected, 0 not"
    written = json.loads(exported(run_once, "Sequence as a file", tmp_path).read_text())
    assert written["steps"][0]["checks"] == [{"path": "body.roles[0].name", "value": "Manager"}]
    path = exported(run_once, "Test for pytest", tmp_path)
    code, output = pytest_of(path, service_url, GATEWAY_PASSWORD="demo-manager")
    assert code == 0, output
    run_once.get_by_role("button", name="1. Log in").click()
    run_once.get_by_role("group", name="Expected at body.roles[0].name").get_by_label("the value").fill("King")
    run(run_once, "failed")
    problem = 'xpected "King" at body.roles[0].name, got "Manager"'
    assert run_once.get_by_text(problem).first.is_visible()
    code, output = pytest_of(
        exported(run_once, "Test for pytest", tmp_path), service_url, GATEWAY_PASSWORD="demo-manager"
    )
    assert code == 1, output
    assert problem in output, output


def test_a_step_is_edited_by_its_form_and_what_is_not_valid_does_not_run(run_once):
    run_once.get_by_role("button", name="1. Log in").click()
    at(run_once, "set.email").fill("employee@example.com")
    at(run_once, "set.password").fill("demo-employee")
    at(run_once, "get.roles").uncheck()
    run_once.get_by_role("tab", name="JSON").click()
    run_once.locator(".cm-content").wait_for()
    text = "".join("".join(run_once.locator(".cm-line").all_inner_texts()).split())
    assert '"email":"employee@example.com"' in text
    assert text.endswith('"get":{"token":1}}')
    run_once.reload()
    run_once.get_by_role("button", name="1. Log in").click()
    assert at(run_once, "set.email").input_value() == "employee@example.com"


def test_a_removed_variable_comes_back_where_it_was(run_once):
    names = run_once.locator(".sequences-variables [role=group]")
    before = [one.get_attribute("aria-label") for one in names.all()]
    run_once.get_by_role("button", name="Remove the variable password").click()
    assert names.count() == 1
    run_once.get_by_role("status").filter(has_text="Variable password removed.").get_by_role(
        "button", name="Undo"
    ).click()
    names.nth(1).wait_for()
    assert [one.get_attribute("aria-label") for one in names.all()] == before


def check_of_me(page):
    page.get_by_role("button", name="2. Me").click()
    page.get_by_role("button", name="Expect a value in the reply").click()
    return page.get_by_role("group", name="Expected at")


def test_a_new_check_is_in_sight_with_the_focus_in_its_path_and_offers_the_paths(run_once):
    row = check_of_me(run_once)
    path = row.get_by_label("Expect at")
    path.and_(run_once.locator(":focus")).wait_for()
    box, pane = row.bounding_box(), run_once.locator(".sequences").bounding_box()
    assert pane["y"] < box["y"]
    assert box["y"] + box["height"] <= pane["y"] + pane["height"]
    run_once.get_by_role("button", name="2. Me").click()
    run_once.get_by_role("button", name="1. Log in").click()
    run_once.get_by_role("button", name="Expect a value in the reply").click()
    options = [one.get_attribute("value") for one in row.locator("datalist option").all()]
    assert {"body.token", "body.roles[0].roleId", "body.roles[0].name"} <= set(options)


def test_a_path_is_offered_before_any_reply_as_the_act_promises_it(sequences):  # noqa: F811
    me = {**SEQUENCE["steps"][2], "name": "Me"}
    imported(sequences, {**LOGIN, "steps": [me]})
    sequences.get_by_role("button", name="1. Me").click()
    sequences.get_by_role("button", name="Expect a value in the reply").click()
    options = sequences.get_by_role("group", name="Expected at").locator("datalist option")
    assert [one.get_attribute("value") for one in options.all()] == ["body", "body._id", "body.last_name"]


def test_what_is_expected_may_be_json_or_a_variable_and_a_number_is_no_text(run_once):
    row = check_of_me(run_once)
    row.get_by_text('JSON or text: 123 is a number, "123" a text.').wait_for()
    row.get_by_role("button", name="{{odd}}").click()
    assert row.get_by_label("the value").input_value() == "{{odd}}"
    run_once.get_by_role("button", name="2. Me").click()
    run_once.get_by_role("button", name="1. Log in").click()
    run_once.get_by_role("button", name="Expect a value in the reply").click()
    row.first.get_by_label("Expect at").fill("body.roles[0].name")
    row.first.get_by_label("the value").fill("[1]")
    run(run_once, "failed")
    run_once.get_by_text('Expected [1] at body.roles[0].name, got "Manager" (a text)').first.wait_for()


def test_who_is_not_logged_in_is_told_so_where_a_step_needs_it(run_once):
    run_once.get_by_role("button", name="2. Me").click()
    report = run_once.get_by_role("region", name="Report")
    assert report.get_by_text("You are not logged in.").count() == 0
    run_once.get_by_label("Token", exact=True).select_option("current")
    run(run_once, "failed")
    report.get_by_text("You are not logged in.").wait_for()
    report.get_by_role("button", name="Log in").click()
    run_once.get_by_role("dialog", name="Log in").wait_for()


def test_the_button_of_the_reply_says_so(run_once):
    assert run_once.get_by_role("button", name="Replies of step 2").inner_text().split()[-1] == "Reply"
