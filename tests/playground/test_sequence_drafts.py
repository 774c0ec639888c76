"""What is written in a sequence and is not valid: it neither runs nor is exported, and it stays as it was written."""

from __future__ import annotations

import json

import pytest

from tests.playground.conftest import empty
from tests.playground.test_sequences import (  # noqa: F401  # sequences is a fixture
    SEQUENCE,
    import_text,
    sequences,
    step,
)

LIST = step(
    "List",
    "getOrganizations",
    {},
    {"rows": {"name": 1}},
    model="organization",
    captures=[{"name": "first", "path": "body.rows[0]._id"}],
    checks=[{"path": "body.rows[0].name", "value": "123"}],
)
READ = step("Read", "getUser", {"userId": "{{first}}"}, {"last_name": 1})
#: By the name of a field of the first step: what is not valid in it, and why, and what is.
FIELDS = {
    "Expect at": ("rows[0].name", 'A path must begin with body: "rows[0].name".', "body.rows[1].name"),
    "From": ("_id", 'A path must begin with body: "_id".', "body.rows[1]._id"),
    "Capture as": ("my id", "Letters, digits and _ only.", "second"),
    "Repeat": ("0", "From 1 to 1000.", "2"),
    "Status": ("99", "From 100 to 599.", "200"),
}


@pytest.fixture
def written(sequences):  # noqa: F811
    """A step with a check and a capture that the next one uses; it is unfolded."""
    variables = [{"name": "kind", "value": "a", "secret": False}]
    import_text(sequences, json.dumps({**SEQUENCE, "variables": variables, "steps": [LIST, READ]}))
    sequences.get_by_role("button", name="1. List").click()
    return sequences


def field(page, name):
    return page.locator(".sequences-step").first.get_by_label(name, exact=True)


def is_held_back(page):
    """Whether it can be neither run nor exported, as is said."""
    page.get_by_text("Step 1 is not valid: fix it first.").wait_for()
    page.get_by_role("button", name="Export").click()
    items = [item.is_disabled() for item in page.get_by_role("menuitem").all()]
    page.keyboard.press("Escape")
    return [page.get_by_role("button", name="Run", exact=True).is_disabled(), *items] == [True, True, True]


def test_a_field_that_is_not_valid_holds_all_back_and_stays_over_a_reload(written):
    for name, (wrong, problem, right) in FIELDS.items():
        field(written, name).fill(wrong)
        written.get_by_text(problem, exact=True).wait_for()
        assert is_held_back(written), name
        written.reload()
        assert is_held_back(written), name
        written.get_by_role("button", name="Step 1 is not valid").click()
        written.get_by_text(problem, exact=True).wait_for()
        assert field(written, name).input_value() == wrong
        assert field(written, name).get_attribute("aria-invalid") == "true"
        assert field(written, name).evaluate("one => one === document.activeElement")
        field(written, name).fill(right)
        written.get_by_role("button", name="Run", exact=True).and_(written.locator(":enabled")).wait_for()


def test_what_was_mended_stays_over_a_reload(written):
    for name, (wrong, _problem, right) in FIELDS.items():
        field(written, name).fill(wrong)
        field(written, name).fill(right)
    written.get_by_role("button", name="Run", exact=True).and_(written.locator(":enabled")).wait_for()
    written.reload()
    written.get_by_role("button", name="1. List").click()
    assert {name: field(written, name).input_value() for name in FIELDS} == {
        name: right for name, (_wrong, _problem, right) in FIELDS.items()
    }


def test_a_copy_of_a_step_is_as_invalid(written):
    field(written, "Expect at").fill("rows")
    written.get_by_role("button", name="Duplicate step 1").click()
    written.get_by_role("button", name="Remove step 1").click()
    written.get_by_text("Step 1 is not valid: fix it first.").wait_for()
    written.get_by_role("button", name="1. List").click()
    assert field(written, "Expect at").input_value() == "rows"


def test_a_variable_with_a_name_that_is_none_holds_all_back(written):
    name = written.locator(".sequences-variables").get_by_label("Name")
    name.fill("a kind")
    written.reload()
    written.get_by_role("button", name="A variable is not valid").click()
    assert name.input_value() == "a kind"
    assert written.get_by_role("button", name="Run", exact=True).is_disabled()
    assert name.evaluate("one => one === document.activeElement")


def test_a_name_that_was_taken_is_given_once_it_is_free(written):
    field(written, "Capture as").fill("kind")
    written.get_by_text("Another variable or capture is called so.").wait_for()
    written.get_by_role("button", name="Remove the variable kind").click()
    written.get_by_role("button", name="Run", exact=True).and_(written.locator(":enabled")).wait_for()
    written.get_by_role("button", name="2. Read").click()
    assert written.locator("[data-path='set.userId']").input_value() == "{{kind}}"


def text_of_editor(page):
    page.locator(".cm-content").wait_for()
    return "\n".join(page.locator(".cm-line").all_inner_texts())


def write_json(page, text):
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    empty(page.get_by_role("textbox", name="set and get of step 1"))
    page.keyboard.insert_text(text)
    page.get_by_text("Step 1 is not valid: fix it first.").wait_for()


def test_broken_json_of_a_step_stays_over_a_reload(written):
    broken = '{"set": {"token": "{{first}}", "pin_token": 4}, "get": '
    write_json(written, broken)
    written.reload()
    assert is_held_back(written)
    written.get_by_role("button", name="1. List").click()
    assert text_of_editor(written) == broken


def test_broken_json_with_a_password_is_not_kept_and_that_is_said(written):
    write_json(written, '{"set": {"password": "let me in"')
    assert "let me in" not in written.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    written.reload()
    written.get_by_text("Invalid JSON that names a password or token was not stored.").wait_for()
    assert written.get_by_role("button", name="Run", exact=True).is_enabled()


def test_a_name_that_is_emptied_comes_back(written):
    name = field(written, "Name")
    name.fill("")
    name.blur()
    assert name.input_value() == "List"
