"""Sequences: their steps, runs, files, and the test that they are exported as."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.playground.links import open_shared


def step(name, act, set_, get, model="user", **more):
    return {"name": name, "request": {"model": model, "act": act, "set": set_, "get": get}, **more}


NEW_USER = {
    "activeRoleId": "{{role}}",
    "first_name": "{{$name}}",
    "last_name": 'No. {{$index}} "{{odd}}"',
    "email": "{{$email}}",
    "password": "{{password}}",
}
#: Logs in with a password that is in no file, adds three users, reads the last one, and is refused once.
SEQUENCE = {
    "format": "gatewayfw-sequence",
    "version": 1,
    "name": "Add users",
    "variables": [
        {"name": "password", "value": "", "secret": True},
        {"name": "odd", "value": "it's $HOME \\ \n \u2028", "secret": False},
    ],
    "steps": [
        step(
            "Log in",
            "login",
            {"email": "manager@example.com", "password": "{{password}}"},
            {"token": 1, "roles": 1},
            token="none",
            captures=[{"name": "token", "path": "body.token"}, {"name": "role", "path": "body.roles[0].roleId"}],
        ),
        step(
            "Add",
            "addUser",
            NEW_USER,
            {"last_name": 1},
            repeat=3,
            token="{{token}}",
            captures=[{"name": "user", "path": "body._id"}, {"name": "last", "path": 'body["last_name"]'}],
        ),
        step("Read", "getUser", {"userId": "{{user}}"}, {"last_name": 1}, token="{{token}}", expect={"status": 200}),
        step("Nobody", "getMe", {}, {"email": 1}, token="none", expect={"success": False, "status": 401}),
    ],
}


@pytest.fixture
def sequences(page):
    """The view of sequences."""
    page.get_by_role("link", name="Sequences", exact=True).click()
    page.get_by_text("No steps yet").wait_for()
    return page


def import_text(page, text, name="sequence.json"):
    file = {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    page.locator("input[type=file]").set_input_files(file)


def imported(page, sequence=SEQUENCE, password="demo-manager"):
    import_text(page, json.dumps(sequence))
    page.get_by_role("list", name="Steps").wait_for()
    page.get_by_role("group", name="Variable password").get_by_label("Value").fill(password)


def run(page, state):
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("region", name="Report").get_by_text(state, exact=True).wait_for()


def counts(page):
    return page.get_by_role("region", name="Report").get_by_role("status").inner_text().split(";")[0]


def results(page):
    """What the rows of the steps say of the last run, without the times."""
    rows = page.get_by_role("button", name="Replies of step").all()
    texts = [" ".join(row.inner_text().split()).split(": ")[1] for row in rows]
    return [re.sub(r"( [\d.]+ m?s)? Reply$", "", text) for text in texts]


def problems(page):
    """The reasons in the rows of the steps."""
    return page.locator(".sequences-line .sequences-problem").all_inner_texts()


def add_step(page, name):
    """Add a step made of an act, an open tab or a saved request."""
    page.get_by_role("button", name="Add a step").click()
    page.locator(".sequences-choices").get_by_role("button", name=name, exact=True).click()


def names(page):
    """The names of all sequences in the list of them."""
    return page.get_by_role("navigation", name="Sequences").locator(".sequences-rail-name")


def pytest_dialog(page):
    page.get_by_role("button", name="Export").click()
    page.get_by_role("menuitem", name="Test for pytest").click()
    return page.get_by_role("dialog", name="Test for pytest")


def exported(page, item, tmp_path):
    is_test = item.startswith("Test")
    if is_test:
        button = pytest_dialog(page).get_by_role("button", name="Download")
    else:
        page.get_by_role("button", name="Export").click()
        button = page.get_by_role("menuitem", name=item)
    with page.expect_download() as download:
        button.click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    if is_test:
        page.get_by_role("button", name="Done", exact=True).click()
    return path


def pytest_of(path, service_url, **environ):
    """Run a test file as somebody without this project would; give its exit code and output."""
    environ = {"GATEWAY_URL": service_url, **environ}
    command = [sys.executable, "-I", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(path.parent)]
    done = subprocess.run(
        [*command, str(path)],
        cwd=path.parent,
        env={"PATH": os.environ["PATH"], "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_sequence_runs_with_captures_repeats_and_expectations(sequences):
    imported(sequences)
    run(sequences, "passed")
    assert counts(sequences) == "6 of 6 sent, 6 as expected, 0 not"
    assert (results(sequences), problems(sequences)) == (["200", "200", "200", "401"], [])
    sequences.get_by_role("button", name="Replies of step 2").click()
    sequences.get_by_role("button", name="200 Request 3").click()
    last_name = json.dumps('No. 2 "it\'s $HOME \\ \n \u2028"', ensure_ascii=False)
    row = sequences.get_by_role("tree", name="Reply", exact=True).get_by_role("treeitem").filter(has_text="{{last}}")
    assert row.inner_text().startswith(f"last_name:\n{last_name.split(' ' + chr(92) + 'n')[0]}")


def test_the_exported_test_passes_under_pytest(sequences, service_url, tmp_path):
    imported(sequences)
    path = exported(sequences, "Test for pytest", tmp_path)
    assert path.name == "test_add_users.py"
    assert "demo-manager" not in path.read_text()
    code, output = pytest_of(path, service_url, GATEWAY_PASSWORD="demo-manager")
    assert code == 0, output
    assert "1 passed" in output, output


def test_the_exported_test_fails_where_the_sequence_does(sequences, service_url, tmp_path):
    imported(sequences)
    path = exported(sequences, "Test for pytest", tmp_path)
    code, output = pytest_of(path, service_url, GATEWAY_PASSWORD="wrong")
    assert code == 1, output
    assert "1. Log in: expected success, got status 401" in output, output
    path.write_text(path.read_text().replace("status=401", "status=403"))
    code, output = pytest_of(path, service_url, GATEWAY_PASSWORD="demo-manager")
    assert code == 1, output
    assert "4. Nobody: expected status 403, got 401" in output, output


def test_the_exported_test_is_checked_python(sequences, tmp_path):
    imported(sequences)
    path = exported(sequences, "Test for pytest", tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_exported_test_has_two_blank_lines_before_each_definition(sequences, tmp_path):
    imported(sequences)
    text = exported(sequences, "Test for pytest", tmp_path).read_text()
    before = re.findall(r"(\n*)\n(?:def|class) ", text)
    assert (len(before), set(before)) == (12, {"\n\n"})
    assert not re.search(r"\n{4}", text)


def test_a_failure_ends_the_run_unless_told_otherwise(sequences):
    imported(sequences, password="wrong")
    run(sequences, "failed")
    assert counts(sequences) == "1 of 6 sent, 0 as expected, 1 not"
    sequences.get_by_label("Stop at the first failure").uncheck()
    run(sequences, "failed")
    assert counts(sequences) == "2 of 6 sent, 1 as expected, 1 not, 4 could not be sent"
    assert results(sequences) == ["401", "0 of 3 sent not sent", "not sent", "401"]
    refused, missing, last = problems(sequences)
    assert refused.startswith("Expected success, got status 401: ")
    assert (missing, last) == ("{{role}} has no value", "{{user}} has no value")
    report = sequences.get_by_role("region", name="Report")
    assert " ".join(report.inner_text().split()).startswith(f"failed Step 1, Log in: {refused}")


def test_a_run_is_stopped(sequences, service_url):
    slow = step(
        "Log in", "login", {"email": "x@example.com", "password": "{{password}}"}, {}, repeat=1000, token="none"
    )
    imported(sequences, {**SEQUENCE, "steps": [{**slow, "expect": {"success": False}}]})
    sequences.route("**/gateway", lambda route: None)  # it never answers
    sequences.get_by_role("button", name="Run", exact=True).click()
    sequences.get_by_role("button", name="Stop", exact=True).click()
    sequences.get_by_role("region", name="Report").get_by_text("stopped", exact=True).wait_for()
    assert counts(sequences) == "0 of 1000 sent, 0 as expected, 0 not"
    sequences.unroute_all()


def test_a_capture_that_finds_nothing_fails_its_step(sequences):
    first = {**SEQUENCE["steps"][0], "captures": [{"name": "token", "path": "body.roles[7]._id"}]}
    imported(sequences, {**SEQUENCE, "steps": [first]})
    run(sequences, "failed")
    assert problems(sequences) == ["Nothing to capture at body.roles[7]._id"]


def test_the_file_comes_back_as_it_was_without_secrets(sequences, tmp_path):
    given = json.loads(json.dumps(SEQUENCE))
    given["steps"][3]["request"]["set"] = {"token": "a token", "tokens": ["{{token}}", "another"]}
    imported(sequences, given)
    path = exported(sequences, "Sequence as a file", tmp_path)
    written = json.loads(path.read_text())
    assert path.name == "Add-users.json"
    blank = [{"name": name, "value": "", "secret": True} for name in ("token_2", "tokens")]
    assert written["variables"] == [*SEQUENCE["variables"], *blank]
    assert written["steps"][3]["request"]["set"] == {"token": "{{token_2}}", "tokens": ["{{token}}", "{{tokens}}"]}
    assert written["steps"][1] == {
        "name": "Add",
        "request": {"service": "main", "model": "user", "act": "addUser", "set": NEW_USER, "get": {"last_name": 1}},
        "repeat": 3,
        "token": "{{token}}",
        "captures": SEQUENCE["steps"][1]["captures"],
        "expect": {"success": True, "status": None},
    }


BROKEN = {
    "no JSON": ("nothing", "not JSON"),
    "requests": ('{"format": "gatewayfw-requests", "version": 1}', "is not in the format gatewayfw-sequence"),
    "a token": (
        json.dumps({**SEQUENCE, "steps": [{**SEQUENCE["steps"][0], "token": "eyJhbGciOi"}]}),
        "steps.0.token: expected current, none or a variable such as {{token}}",
    ),
    "a path": (
        json.dumps({**SEQUENCE, "steps": [{**SEQUENCE["steps"][0], "captures": [{"name": "a", "path": "body..x"}]}]}),
        '"body..x" is not a path such as body.user._id or body[0]._id',
    ),
    "too often": (
        json.dumps({**SEQUENCE, "steps": [{**SEQUENCE["steps"][0], "repeat": 1_000_000}]}),
        "steps.0.repeat: expected a whole number from 1 to 1000",
    ),
}


def test_a_broken_file_is_refused_with_the_reason(sequences):
    for name, (text, reason) in BROKEN.items():
        import_text(sequences, text, f"{name}.json")
        alert = sequences.get_by_role("alert").filter(has_text=f"{name}.json was not imported.")
        assert reason in alert.inner_text()
        assert sequences.get_by_text("No steps yet").is_visible()


def test_an_open_tab_becomes_a_step_and_its_password_a_secret_variable(page, service_url):
    login = {"model": "user", "act": "login", "set": {"email": "manager@example.com"}, "get": {"token": 1}}
    open_shared(page, service_url, login)
    page.locator("[data-path='set.password']").fill("demo-manager")
    page.get_by_role("link", name="Sequences", exact=True).click()
    add_step(page, "user.login")
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    assert '"password": "{{password}}"' in page.locator(".cm-content").inner_text()
    stored = page.evaluate("JSON.stringify(localStorage)")
    assert "{{password}}" in stored
    assert "demo-manager" not in stored
    run(page, "passed")


def test_broken_json_in_a_step_is_told_and_not_run(sequences):
    imported(sequences)
    sequences.get_by_role("button", name="1. Log in").click()
    sequences.get_by_role("tab", name="JSON").click()
    sequences.locator(".cm-content").wait_for()
    editor = sequences.get_by_role("textbox", name="set and get of step 1")
    editor.press("Control+End")
    editor.press_sequentially("x")
    sequences.get_by_text("Step 1 is not valid: fix it first.").wait_for()
    assert sequences.get_by_role("button", name="Run", exact=True).is_disabled()
    editor.press("Backspace")
    sequences.get_by_role("button", name="Run", exact=True).and_(sequences.locator(":enabled")).wait_for()


def test_steps_are_moved_copied_and_removed(sequences):
    imported(sequences)

    def titles():
        return sequences.locator(".sequences-step .library-title").all_inner_texts()

    sequences.get_by_role("button", name="Move step 2 up").click()
    assert titles() == ["Add", "Log in", "Read", "Nobody"]
    sequences.get_by_role("button", name="Duplicate step 4").click()
    assert titles() == ["Add", "Log in", "Read", "Nobody", "Nobody"]
    sequences.get_by_role("button", name="Remove step 1").click()
    assert titles() == ["Log in", "Read", "Nobody", "Nobody"]


def test_removing_a_variable_leaves_the_others_as_they_are(sequences):
    imported(sequences)
    sequences.get_by_role("button", name="Remove the variable password").click()
    row = sequences.get_by_role("group", name="Variable odd")
    assert row.get_by_label("Name").input_value() == "odd"
    assert row.get_by_label("Value").input_value().startswith("it's $HOME")


def test_an_imported_sequence_is_one_of_several(sequences):
    imported(sequences)
    imported(sequences)
    assert names(sequences).all_inner_texts() == ["Add users", "Add users 2"]
    names(sequences).first.click()
    assert sequences.get_by_label("Name", exact=True).first.input_value() == "Add users"
    sequences.get_by_role("button", name="Remove", exact=True).click()
    assert sequences.get_by_label("Name", exact=True).first.input_value() == "Add users 2"


def test_values_are_generated_and_keep_their_types(sequences):
    values = {
        "uuid": "{{$uuid}}",
        "int": "{{$int 5 5}}",
        "text": "n={{$int 5 5}} {{list}} {{ $index }}",
        "list": "{{list}}",
        "id": "{{$objectId}}",
        "now": "{{$now}}",
        "other": "{{ not one }} {{$int}",
    }
    variables = [*SEQUENCE["variables"], {"name": "list", "value": [1, True, None], "secret": False}]
    echo = step("Echo", "getMe", values, {}, token="none", expect={"success": False})
    imported(sequences, {**SEQUENCE, "variables": variables, "steps": [echo]})
    with sequences.expect_request("**/gateway") as request:
        run(sequences, "passed")
    sent = request.value.post_data_json["details"]["set"]
    assert {name: sent[name] for name in ("int", "text", "list", "other")} == {
        "int": 5,
        "text": "n=5 [1,true,null] 0",
        "list": [1, True, None],
        "other": "{{ not one }} {{$int}",
    }
    assert [len(sent[name]) for name in ("uuid", "id", "now")] == [36, 24, 24]
