"""The dialog of a sequence's test: what it asks for, and what may be refused the second time."""

from __future__ import annotations

import json
import re

import pytest

from tests.playground.test_acts import at
from tests.playground.test_identities import account, log_in
from tests.playground.test_sequences import (  # noqa: F401  # sequences is a fixture
    NEW_USER,
    SEQUENCE,
    add_step,
    exported,
    import_text,
    imported,
    pytest_dialog,
    pytest_of,
    run,
    sequences,
    step,
)

ME = step("Me", "getMe", {}, {"email": 1})


def given(page, *steps, **more):
    import_text(page, json.dumps({**SEQUENCE, "name": "Me", "variables": [], **more, "steps": steps}))
    page.get_by_role("list", name="Steps").wait_for()


def test_the_dialog_has_the_command_and_whose_value_each_variable_is(sequences):  # noqa: F811
    first = SEQUENCE["steps"][0]
    imported(sequences, {**SEQUENCE, "steps": [first, ME]})
    dialog = pytest_dialog(sequences)
    command = "GATEWAY_TOKEN=... GATEWAY_PASSWORD=... pytest test_add_users.py"
    assert dialog.locator("pre").inner_text() == command
    dialog.get_by_role("button", name="Copy the command").click()
    dialog.get_by_text("Copied.").wait_for()
    assert sequences.evaluate("navigator.clipboard.readText()") == command
    rows = [row.inner_text().split("\n") for row in dialog.locator("dl > div").all()]
    assert rows[:2] == [
        ["GATEWAY_TOKEN", "The token that step 2 sends."],
        ["GATEWAY_PASSWORD", "The password of step 1, Log in."],
    ]
    assert rows[2][0] == "GATEWAY_URL"
    assert rows[2][2].endswith(f"then it is {sequences.url.partition('/playground')[0]}.")


def test_the_token_is_copied_where_the_test_asks_for_it(page, login):
    login()
    page.get_by_role("link", name="Sequences", exact=True).click()
    given(page, ME)
    pytest_dialog(page).get_by_role("button", name="Copy the token").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").count(".") == 2


def test_the_exported_test_asks_for_the_token_by_name(sequences, service_url, tmp_path):  # noqa: F811
    given(sequences, ME)
    code, output = pytest_of(exported(sequences, "Test for pytest", tmp_path), service_url)
    assert code == 1, output
    assert "set the environment variable GATEWAY_TOKEN" in output, output


def test_the_exported_test_needs_no_token_for_what_anyone_may_call(sequences, service_url, tmp_path):  # noqa: F811
    country = step("Add", "addCountry", {"name": "Here", "population": 1}, {}, model="country")
    given(sequences, country)
    code, output = pytest_of(exported(sequences, "Test for pytest", tmp_path), service_url)
    assert code == 0, output


def test_the_exported_test_shows_the_errors_of_a_refusal(sequences, service_url, tmp_path):  # noqa: F811
    given(sequences, step("Add", "addCountry", {"name": "Here", "population": "many"}, {}, model="country"))
    code, output = pytest_of(exported(sequences, "Test for pytest", tmp_path), service_url)
    assert code == 1, output
    assert "set.population" in output.split("AssertionError: 1. Add:")[1], output


@pytest.fixture
def fixed(sequences):  # noqa: F811
    """The dialog of a sequence that adds a user with an address that is written out, and logs in as that user."""
    email = "new@example.com"
    first = SEQUENCE["steps"][0]
    user = {**NEW_USER, "last_name": "Doe", "email": email, "password": "{{password}}"}
    added = step("Add", "addUser", user, {"email": 1}, token="{{token}}")
    again = step("Log in as it", "login", {"email": email, "password": "{{password}}"}, {}, token="none")
    imported(sequences, {**SEQUENCE, "steps": [first, added, again]})
    return sequences


def test_a_literal_that_must_be_unique_becomes_a_new_one_in_each_run(fixed, service_url, tmp_path):
    before = exported(fixed, "Test for pytest", tmp_path)
    codes = [pytest_of(before, service_url, GATEWAY_PASSWORD="demo-manager")[0] for _ in range(2)]
    assert codes == [0, 1]
    dialog = pytest_dialog(fixed)
    dialog.get_by_text("Step 2, Add: email is new@example.com").wait_for()
    dialog.get_by_role("button", name="Use {{$email}}").click()
    dialog.get_by_text("These values may have to be unique").wait_for(state="detached")
    dialog.get_by_role("button", name="Done", exact=True).click()
    assert fixed.get_by_role("group", name="Variable email").get_by_label("Value").input_value() == "{{$email}}"
    after = exported(fixed, "Test for pytest", tmp_path)
    codes = [pytest_of(after, service_url, GATEWAY_PASSWORD="demo-manager")[0] for _ in range(2)]
    assert codes == [0, 0]


def test_a_step_with_the_token_of_the_page_is_sent_in_the_role_of_who_is_logged_in(page, service_url, tmp_path):
    page.get_by_role("banner").get_by_role("button", name="Log in", exact=True).click()
    log_in(page, "manager")
    page.get_by_role("link", name="Sequences", exact=True).click()
    add_step(page, "getMyUsers")
    field = at(page, "set.activeRoleId")
    first = field.input_value()
    account(page, "manager")
    page.get_by_role("menuitem", name="Log in as another user").click()
    log_in(page, "admin")
    second = field.input_value()
    assert first != second
    with page.expect_request("**/gateway") as sent:
        run(page, "passed")
    assert sent.value.post_data_json["details"]["set"]["activeRoleId"] == second
    rows = [row.inner_text().split("\n")[0] for row in pytest_dialog(page).locator("dl > div").all()]
    assert rows == ["GATEWAY_TOKEN", "GATEWAY_ACTIVEROLEID", "GATEWAY_URL"]
    page.get_by_role("button", name="Done", exact=True).click()
    path = exported(page, "Test for pytest", tmp_path)
    token = sent.value.headers["token"]
    code, output = pytest_of(path, service_url, GATEWAY_TOKEN=token)
    assert code == 0, output
    assert "1 passed" in output, output
    code, output = pytest_of(path, service_url, GATEWAY_TOKEN=token, GATEWAY_ACTIVEROLEID=first)
    assert code == 1, output
    assert "got status 403" in output, output


def test_the_command_is_copied_with_the_token(page, login):
    login()
    page.get_by_role("link", name="Sequences", exact=True).click()
    given(page, ME)
    pytest_dialog(page).get_by_role("button", name="Copy the command with the token").click()
    page.get_by_text("Copied.").wait_for()
    assert re.fullmatch(
        r"GATEWAY_TOKEN='?[\w-]+\.[\w-]+\.[\w-]+'? pytest test_me\.py", page.evaluate("navigator.clipboard.readText()")
    )
