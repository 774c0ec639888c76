"""Environments: variables in fields, headers and sequences; what is removed can be had back, also inside a dialog."""

from __future__ import annotations

import json
import re

import pytest

from tests.playground.conftest import open_act, send, watch
from tests.playground.test_acts import at
from tests.playground.test_looks import axe, judged  # noqa: F401  # a fixture
from tests.playground.test_numbers import bodies, service_url, set_of  # noqa: F401  # fixtures
from tests.playground.test_sequences import exported
from tests.playground.test_two_tabs import add_step, keys, opened


def dialog_of(page):
    """Open the dialog of the environments."""
    page.bring_to_front()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search acts, models and views").fill("environments")
    page.keyboard.press("Enter")
    return page.get_by_role("dialog", name="Environments")


def add_variable(dialog, name, value):
    number = dialog.get_by_role("group").count() + 1
    dialog.get_by_role("button", name="Add a variable").click()
    dialog.get_by_label(f"Name of variable {number}").fill(name)
    dialog.get_by_label(f"Value of variable {number}").fill(value)


@pytest.fixture
def two(page):
    """Two environments, local and staging, in which `who` differs; staging is used."""
    dialog = dialog_of(page)
    for who in ("Ann", "Bob"):
        dialog.get_by_role("button", name="Add an environment").click()
        add_variable(dialog, "who", who)
    add_variable(dialog, "api_token", "word of nobody")
    dialog.get_by_role("button", name="Done").click()
    return page


def sent(page):
    with page.expect_response("**/gateway") as answered:  # else the next test's service may get it
        page.keyboard.press("Control+Enter")
    return answered.value.request


def test_variables_are_filled_in_as_the_chosen_environment_says(two):
    open_act(two, "echo")
    at(two, "set.note").fill("I am {{who}}")
    assert sent(two).post_data_json["details"]["set"] == {"note": "I am Bob"}
    two.get_by_role("tab", name="Headers").click()
    two.get_by_role("tree", name="Request as it was sent").get_by_text('"I am Bob"').wait_for()
    two.get_by_role("button", name="staging").click()
    two.get_by_role("menuitemradio", name="local").click()
    assert sent(two).post_data_json["details"]["set"] == {"note": "I am Ann"}
    assert at(two, "set.note").input_value() == "I am {{who}}"
    two.get_by_role("button", name="local").click()
    two.get_by_role("menuitemradio", name="No environment").click()
    two.keyboard.press("Control+Enter")
    two.get_by_role("alert").get_by_text("Not sent: {{who}} has no value, as no environment is chosen.").wait_for()


def test_a_variable_without_a_value_is_not_sent(two, bodies):  # noqa: F811
    open_act(two, "echo")
    at(two, "set.note").fill("{{nobody}}")
    two.keyboard.press("Control+Enter")
    two.get_by_role("alert").get_by_text("Not sent: {{nobody}} has no value in the environment “staging”.").wait_for()
    assert bodies == []


def test_braces_are_sent_as_they_are_written_where_that_is_meant(page, bodies):  # noqa: F811
    open_act(page, "echo")
    at(page, "set.note").fill("{{nope}} {{$uuid}} {{not one}}")
    page.keyboard.press("Control+Enter")
    page.get_by_role("alert").get_by_text("Not sent: {{nope}} has no value, as no environment is chosen.").wait_for()
    assert bodies == []
    page.get_by_role("button", name="Send as written").click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    assert set_of(bodies[0]) == '{"note":"{{nope}} {{$uuid}} {{not one}}"}'


def test_generated_values_need_no_environment(page, bodies):  # noqa: F811
    open_act(page, "echo")
    at(page, "set.note").fill("{{$objectId}} {{not one}}")
    send(page)
    assert re.fullmatch(r'\{"note":"[0-9a-f]{24} \{\{not one\}\}"\}', set_of(bodies[0]))


def test_headers_and_sequences_have_the_variables(two):
    two.get_by_role("button", name="Headers and token").click()
    two.get_by_role("button", name="Add a header").click()
    two.get_by_label("Name of header 1").fill("X-Who")
    two.get_by_label("Value of header 1").fill("{{who}}")
    two.get_by_role("button", name="Remove header 1").click()
    two.get_by_role("dialog").get_by_text("X-Who removed.").get_by_role("button", name="Undo").click()
    two.get_by_role("button", name="Done").click()
    open_act(two, "echo")
    at(two, "set.note").fill("{{who}}")
    assert sent(two).headers["x-who"] == "Bob"
    add_step(two, "thing.echo")
    with two.expect_request("**/gateway") as asked:
        two.get_by_role("button", name="Run", exact=True).click()
    assert asked.value.post_data_json["details"]["set"] == {"note": "Bob"}
    two.get_by_text("passed", exact=True).wait_for()


def test_an_exported_test_has_the_variables_that_it_uses(two, tmp_path):
    open_act(two, "echo")
    at(two, "set.note").fill("{{who}}")
    add_step(two, "thing.echo")
    assert '    values["who"] = fill("Bob", values)\n' in exported(two, "Test for pytest", tmp_path).read_text()


def test_code_and_exported_tests_call_the_gateway_of_the_environment(two, tmp_path):
    dialog = dialog_of(two)
    dialog.get_by_label("Gateway URL").fill("https://staging.example/api/gateway")
    dialog.get_by_role("button", name="Done").click()
    open_act(two, "echo")
    two.get_by_role("button", name="Code", exact=True).click()
    code = two.get_by_role("region", name="Code")
    code.get_by_text("'https://staging.example/api/gateway'").wait_for()
    assert sent(two).url.startswith("http://127.0.0.1")
    add_step(two, "thing.echo")
    test = exported(two, "Test for pytest", tmp_path).read_text()
    assert 'os.environ.get("GATEWAY_URL", "https://staging.example/api")' in test
    two.reload()
    two.get_by_role("button", name="Add a step").wait_for()
    assert dialog_of(two).get_by_label("Gateway URL").input_value().endswith("/api/gateway")


def test_environments_outlive_a_reload_without_secrets_and_merge_between_tabs(two, service_url):  # noqa: F811
    assert "word of nobody" not in json.dumps(two.evaluate("[{...localStorage}, {...sessionStorage}]"))
    two.reload()
    two.get_by_role("button", name="staging").wait_for()
    other = two.context.new_page()
    problems = watch(other, service_url)
    opened(other, service_url)
    dialog = dialog_of(other)
    dialog.get_by_role("button", name="Add an environment").click()
    dialog.get_by_label("Name", exact=True).fill("third")
    choice = dialog_of(two).get_by_label("Current environment")
    choice.locator("option", has_text="third").wait_for(state="attached")
    assert choice.locator("option").all_inner_texts() == ["None", "local", "staging", "third"]
    assert len(keys(two, "environment/")) == 3
    assert problems == []


def test_axe_finds_nothing_in_the_dialog(two, axe):  # noqa: F811
    dialog_of(two).wait_for()
    assert judged(two, axe) == []


def test_what_is_removed_can_be_had_back(two):
    dialog = dialog_of(two)
    dialog.get_by_role("button", name="Remove variable 1").click()
    assert dialog.get_by_label("Name of variable 1").input_value() == "api_token"
    dialog.get_by_text("who removed.").get_by_role("button", name="Undo").click()
    assert dialog.get_by_label("Name of variable 1").input_value() == "who"
    dialog.get_by_role("button", name="Remove staging").click()
    dialog.get_by_text("“staging” removed.").get_by_role("button", name="Undo").click()
    assert dialog.get_by_label("Value of variable 1").input_value() == "Bob"
