"""What a sequence would send empty is told before it runs or is exported; blank secrets are variables in files."""

from __future__ import annotations

import json

import pytest

from tests.playground.test_acts import at
from tests.playground.test_sequences import (  # noqa: F401  # sequences is a fixture
    SEQUENCE,
    exported,
    import_text,
    pytest_of,
    run,
    sequences,
    step,
)

LOG_IN = {"email": "manager@example.com", "password": "demo-manager"}
PLAIN = {**SEQUENCE, "name": "Plain", "variables": [], "steps": [step("Log in", "login", LOG_IN, {}, token="none")]}
HELD = "Step 1, Log in: password is empty."


@pytest.fixture
def reloaded(sequences):  # noqa: F811
    """A sequence whose step had a password, after a reload: it is not kept."""
    import_text(sequences, json.dumps(PLAIN))
    sequences.get_by_role("list", name="Steps").wait_for()
    sequences.reload()
    sequences.get_by_role("list", name="Steps").wait_for()
    return sequences


def press_run(page):
    page.get_by_role("button", name="Run", exact=True).click()
    return page.get_by_role("alert").filter(has_text="Not run: a text is empty.")


def test_a_password_that_a_reload_forgot_is_not_sent_as_an_empty_text(reloaded):
    bodies = []
    reloaded.on("request", lambda request: request.url.endswith("/gateway") and bodies.append(request.post_data_json))
    held = press_run(reloaded)
    held.get_by_text(HELD).wait_for()
    assert bodies == []
    held.get_by_role("button", name="Go there").click()
    at(reloaded, "set.password").and_(reloaded.locator(":focus")).wait_for()
    reloaded.keyboard.type("demo-manager")
    held.wait_for(state="detached")
    run(reloaded, "passed")
    assert [body["details"]["set"] for body in bodies] == [LOG_IN]


def test_an_empty_text_is_sent_when_the_user_says_so_and_until_it_has_another_value(reloaded):
    press_run(reloaded).get_by_role("button", name="Send it empty").click()
    with reloaded.expect_request("**/gateway") as request:
        run(reloaded, "failed")
    assert request.value.post_data_json["details"]["set"] == {**LOG_IN, "password": ""}
    reloaded.reload()
    run(reloaded, "failed")
    reloaded.get_by_role("button", name="1. Log in").click()
    for text in ("x", ""):
        at(reloaded, "set.password").fill(text)
    press_run(reloaded).get_by_text(HELD).wait_for()


def test_a_required_text_that_is_empty_is_told_before_a_run_and_an_export(sequences):  # noqa: F811
    given = step("Add", "addCountry", {"name": "", "population": 1}, {}, model="country", token="none")
    import_text(sequences, json.dumps({**PLAIN, "steps": [given]}))
    sequences.get_by_role("list", name="Steps").wait_for()
    press_run(sequences).get_by_text("Step 1, Add: name is empty.").wait_for()
    sequences.get_by_role("button", name="Export").click()
    sequences.get_by_role("menuitem", name="Test for pytest").click()
    alert = sequences.get_by_role("alert").filter(has_text="Not exported: a text is empty.")
    alert.get_by_text("Step 1, Add: name is empty.").wait_for()
    assert sequences.get_by_role("dialog").count() == 0
    alert.get_by_role("button", name="Send it empty").click()
    with sequences.expect_request("**/gateway") as request:
        sequences.get_by_role("button", name="Run", exact=True).click()
    assert request.value.post_data_json["details"]["set"] == {"name": "", "population": 1}


def test_a_secret_variable_without_a_value_holds_a_run_back(sequences):  # noqa: F811
    import_text(sequences, json.dumps(SEQUENCE))
    sequences.get_by_role("list", name="Steps").wait_for()
    held = press_run(sequences)
    held.get_by_text("Step 1, Log in: the variable password has no value.").wait_for()
    held.get_by_role("button", name="Go there").click()
    sequences.locator("[data-variable]:focus").wait_for()
    sequences.keyboard.type("demo-manager")
    run(sequences, "passed")


def test_a_blank_password_is_a_variable_of_the_exported_files(reloaded, service_url, tmp_path):
    path = exported(reloaded, "Test for pytest", tmp_path)
    assert '"password": ""' not in path.read_text()
    code, output = pytest_of(path, service_url)
    assert code == 1, output
    assert "set the environment variable GATEWAY_PASSWORD" in output, output
    assert pytest_of(path, service_url, GATEWAY_PASSWORD="demo-manager")[0] == 0
    written = json.loads(exported(reloaded, "Sequence as a file", tmp_path).read_text())
    assert written["variables"] == [{"name": "password", "value": "", "secret": True}]
    assert written["steps"][0]["request"]["set"] == {**LOG_IN, "password": "{{password}}"}
