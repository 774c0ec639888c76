"""Passwords and tokens are in no exported file, and whoever runs an exported test is told what to set."""

from __future__ import annotations

import json

from tests.playground.test_environments import dialog_of
from tests.playground.test_sequences import (  # noqa: F401  # sequences is a fixture
    SEQUENCE,
    exported,
    import_text,
    pytest_of,
    sequences,
    step,
)
from tests.playground.test_two_tabs import FULL

LOG_IN = {"email": "manager@example.com", "password": "demo-manager"}
#: A password as plain text in a step, in an expected value and in a variable that is not marked as secret.
PLAIN = {
    **SEQUENCE,
    "name": "Plain",
    "variables": [{"name": "old_password", "value": "hunter-2", "secret": False}],
    "steps": [
        step("Log in", "login", LOG_IN, {"token": 1}, token="none"),
        step(
            "Wrong",
            "login",
            {**LOG_IN, "password": "{{old_password}}"},
            {},
            token="none",
            expect={"success": False},
            checks=[{"path": "body.token", "value": "demo-manager"}],
        ),
    ],
}


def test_the_exported_test_holds_no_password_and_says_which_are_to_be_set(sequences, service_url, tmp_path):  # noqa: F811
    given = {**PLAIN, "steps": [PLAIN["steps"][0]]}
    import_text(sequences, json.dumps(given))
    sequences.get_by_role("list", name="Steps").wait_for()
    path = exported(sequences, "Test for pytest", tmp_path)
    assert [word for word in ("demo-manager", "hunter-2") if word in path.read_text()] == []
    code, output = pytest_of(path, service_url, GATEWAY_OLD_PASSWORD="x", GATEWAY_PASSWORD="")
    assert code == 1, output
    assert "set the environment variable GATEWAY_PASSWORD" in output, output
    code, output = pytest_of(path, service_url, GATEWAY_OLD_PASSWORD="x", GATEWAY_PASSWORD="demo-manager")
    assert code == 0, output
    assert "1 passed" in output, output


def test_no_file_of_a_sequence_and_no_storage_holds_a_password(sequences, tmp_path):  # noqa: F811
    import_text(sequences, json.dumps(PLAIN))
    sequences.get_by_role("list", name="Steps").wait_for()
    for item in ("Test for pytest", "Sequence as a file"):
        text = exported(sequences, item, tmp_path).read_text()
        assert [word for word in ("demo-manager", "hunter-2") if word in text] == [], item
    stored = sequences.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert [word for word in ("demo-manager", "hunter-2") if word in stored] == []


def test_a_variable_that_is_named_like_a_secret_is_one(sequences):  # noqa: F811
    sequences.get_by_text("Variables (0)").click()
    sequences.get_by_role("button", name="Add a variable").click()
    row = sequences.get_by_role("group", name="Variable value")
    row.get_by_role("textbox", name="Value").fill("5")
    row.get_by_label("Name").fill("api_key")
    row = sequences.get_by_role("group", name="Variable api_key")
    assert row.get_by_label("Secret").is_checked()
    assert row.get_by_label("Value").input_value() == "5"


def test_environments_that_are_not_stored_are_not_to_be_exported(page):
    page.add_init_script(FULL)
    page.reload()
    page.locator(".home").wait_for()  # Before it is there no key opens anything.
    dialog = dialog_of(page)
    dialog.get_by_role("button", name="Add an environment").click()
    dialog.get_by_text("Remove saved requests or sequences, or note the values").wait_for()
    assert dialog.get_by_text("Export it").count() == 0
