"""The view of a sequence: names of captures, the list of all, rows of steps, where steps come from."""

from __future__ import annotations

import json

import pytest

from tests.playground.conftest import open_act
from tests.playground.test_acts import at
from tests.playground.test_sequences import (  # noqa: F401  # sequences is a fixture
    SEQUENCE,
    add_step,
    import_text,
    imported,
    run,
    sequences,
    step,
)

LIST = step("List", "getOrganizations", {}, {"rows": {"name": 1}}, model="organization")
READ = step("Read", "getUser", {"userId": "{{organizationId}}"}, {"last_name": 1})
ONE = step("One", "getOrganization", {"organizationId": ""}, {"name": 1}, model="organization")


@pytest.fixture
def three(sequences):  # noqa: F811
    """A list of organizations, a user, an organization."""
    import_text(sequences, json.dumps({**SEQUENCE, "variables": [], "steps": [LIST, READ, ONE]}))
    sequences.get_by_role("list", name="Steps").wait_for()
    return sequences


def capture(page, number, name):
    """Begin a capture; give its name and path."""
    page.get_by_role("button", name=f"{number}. {name}").click()
    page.get_by_role("button", name="Capture a value of the reply").click()
    row = page.get_by_role("group", name="Capture ").last
    return row.get_by_label("Capture as").input_value(), row.get_by_label("From").input_value()


def test_a_capture_begins_with_the_shape_of_the_reply_and_the_name_of_the_model(three):
    assert capture(three, 1, "List") == ("organizationId", "body.rows[0]._id")
    three.get_by_role("button", name="1. List").click()
    assert capture(three, 2, "Read") == ("userId", "body._id")
    three.get_by_role("button", name="Capture a value of the reply").click()
    assert three.get_by_role("group", name="Capture userId_2").count() == 1


def test_a_renamed_capture_is_renamed_where_it_is_used_and_has_a_name_of_its_own(three):
    capture(three, 1, "List")
    three.get_by_role("button", name="Capture a value of the reply").click()
    three.get_by_role("group", name="Capture organizationId", exact=True).get_by_label("Capture as").fill("first")
    three.get_by_role("button", name="2. Read").click()
    assert at(three, "set.userId").input_value() == "{{first}}"
    second = three.get_by_role("group", name="Capture organizationId_2")
    second.get_by_label("Capture as").fill("first")
    second.get_by_text("Another variable or capture is called so.").wait_for()


def test_captures_are_offered_at_fields_of_their_model_only(three):
    capture(three, 1, "List")
    for number, name, offers in ((2, "Read", []), (3, "One", ["{{organizationId}}"])):
        three.get_by_role("button", name=f"{number}. {name}").click()
        form = three.get_by_role("group", name=f"Form of step {number}")
        form.get_by_role("heading", name="Input set").wait_for()
        assert form.locator(".roles button").all_inner_texts() == offers


def test_the_list_has_each_sequence_with_its_steps_and_its_last_run(sequences):  # noqa: F811
    imported(sequences)
    run(sequences, "passed")
    rail = sequences.get_by_role("navigation", name="Sequences")
    rail.get_by_role("button", name="New", exact=True).click()
    add_step(sequences, "getMe")
    run(sequences, "failed")
    said = [
        (row.locator(".sequences-rail-name").inner_text(), row.locator(".acts-count").inner_text())
        + (row.get_by_role("img").get_attribute("aria-label"),)
        for row in rail.get_by_role("listitem").all()
    ]
    assert said == [("Add users", "4 steps", "Last run: passed"), ("Sequence", "1 step", "Last run: failed")]
    rail.get_by_role("button", name="Add users").click()
    sequences.get_by_role("region", name="Report").get_by_text("passed", exact=True).wait_for()


def test_a_long_name_stays_in_one_row_of_the_list(sequences):  # noqa: F811
    sequences.get_by_label("Name", exact=True).fill("Everything that a new employee needs at first")
    row = sequences.get_by_role("navigation", name="Sequences").get_by_role("listitem").bounding_box()
    assert row["height"] == 32


def test_a_step_has_the_headings_of_an_act_and_its_name_in_the_font_of_acts(sequences):  # noqa: F811
    add_step(sequences, "getUsers")
    form = sequences.get_by_role("group", name="Form of step 1")
    assert form.get_by_role("heading").all_inner_texts() == ["Input set", "Fields to return get"]
    assert sequences.locator(".sequences-line .act").all_inner_texts() == ["user.getUsers"]


def test_a_step_of_a_saved_request_has_its_name(page):
    open_act(page, "getMe")
    page.keyboard.press("Control+s")
    page.get_by_role("dialog").get_by_label("Name").fill("Who I am")
    page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("link", name="Sequences", exact=True).click()
    add_step(page, "Who I am")
    page.get_by_role("button", name="1. Who I am").wait_for()


def test_a_step_is_added_by_the_keyboard_and_the_icons_of_a_row_appear_with_the_focus(sequences):  # noqa: F811
    sequences.get_by_role("button", name="Add a step").press("Enter")
    sequences.locator(".sequences-choices input:focus").wait_for()
    sequences.keyboard.type("getusers")
    sequences.keyboard.press("Enter")
    sequences.get_by_role("button", name="1. user.getUsers").wait_for()
    icons = sequences.locator(".sequences-acts")
    sequences.mouse.move(0, 0)
    assert icons.evaluate("one => getComputedStyle(one).opacity") == "0"
    sequences.get_by_role("button", name="Duplicate step 1").focus()
    assert icons.evaluate("one => getComputedStyle(one).opacity") == "1"


ME = step("Me", "getMe", {}, {"email": 1})
ROWS = step("Rows", "getOrganizations", {}, {"name": 1}, model="organization")


def test_the_link_of_a_failure_shows_the_step_below_the_head_and_marks_the_check(page, login):
    login()
    page.get_by_role("link", name="Sequences", exact=True).click()
    checked = {**ROWS, "checks": [{"path": "body", "value": "123"}], "name": "Checked"}
    import_text(page, json.dumps({**SEQUENCE, "variables": [], "steps": [*[ME] * 14, checked]}))
    run(page, "failed")
    problem = page.get_by_role("region", name="Report").locator(".sequences-problem").inner_text()
    page.get_by_role("region", name="Report").get_by_role("button", name="Step 15, Checked").click()
    value = page.get_by_role("group", name="Expected at body").get_by_label("the value")
    value.and_(page.locator("[aria-invalid=true]:focus")).wait_for()
    assert page.get_by_text("The last run got ").inner_text() == f"The last run got {problem.split(', got ')[1]}."
    head, box = page.locator(".sequences-head").bounding_box(), value.bounding_box()
    assert head["y"] + head["height"] < box["y"] < 800
    value.fill("1234")
    page.get_by_text("The last run got ").wait_for(state="detached")


def test_the_link_of_a_failure_shows_the_head_of_the_step_where_no_check_failed(page, login):
    login()
    page.get_by_role("link", name="Sequences", exact=True).click()
    steps = [*[ME] * 14, {**ME, "token": "none"}, *[ME] * 14]
    import_text(page, json.dumps({**SEQUENCE, "variables": [], "steps": steps}))
    run(page, "failed")
    page.get_by_role("region", name="Report").get_by_role("button", name="Step 15").click()
    page.get_by_role("group", name="Form of step 15").wait_for()
    head = page.locator(".sequences-head").bounding_box()
    page.wait_for_function(
        """bottom => {
        const line = document.querySelectorAll(".sequences-line")[14].getBoundingClientRect();
        return line.y >= bottom && line.y < bottom + 60;
    }""",
        arg=head["y"] + head["height"],
    )


def test_the_list_of_acts_opens_in_sight(sequences):  # noqa: F811
    import_text(sequences, json.dumps({**SEQUENCE, "variables": [], "steps": [ME] * 16}))
    sequences.get_by_role("button", name="Add a step").click()
    pane = sequences.locator(".sequences").bounding_box()
    end = pane["y"] + pane["height"]
    sequences.locator(".sequences-choices input:focus").wait_for()
    box = sequences.locator(".sequences-choices").bounding_box()
    assert pane["y"] < box["y"]
    assert box["y"] + box["height"] <= end + 1
