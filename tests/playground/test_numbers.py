"""Numbers keep their digits: from the form and the JSON to the server, and from the reply to all that shows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.playground.conftest import empty, open_act, send, share
from tests.playground.echo import LARGEST, echo_app
from tests.playground.links import decoded_text, open_text
from tests.playground.test_acts import at, compact, reply_rows
from tests.playground.test_sequences import exported, import_text, pytest_of, run

#: JavaScript would write each of them otherwise.
DIGITS = ["9007199254740993", "-9223372036854775807", "1.10000000000000000001", "1.10", "5.0", "1e5", "1E+5", "-0"]


@pytest.fixture
def bodies():
    """What the server got, as text."""
    return []


@pytest.fixture
def service_url(stage, bodies):
    """A service that gives back what it gets."""
    return stage(echo_app(bodies))


def set_of(body):
    """The text of ``set`` in a body."""
    return re.search(r'"set":(.*),"get":', body)[1]


def write_json(page, text):
    page.get_by_role("tab", name="JSON").click()
    page.locator(".cm-content").wait_for()
    editor = page.get_by_role("textbox", name="Details as JSON")
    empty(editor)
    page.keyboard.insert_text(text)


def sent(page, bodies):
    """Send the request; give the text of its ``set`` as it came."""
    before = len(bodies)
    send(page)
    assert len(bodies) == before + 1
    return set_of(bodies[-1])


def test_a_number_of_the_form_is_sent_as_it_is_typed(page, bodies):
    open_act(page, "echo")
    page.get_by_label("Send any").check()
    for digits in DIGITS:
        at(page, "set.decimal").fill(digits)
        page.get_by_label("Type of any").select_option("JSON")
        at(page, "set.any").fill(f'{{"deep": [{digits}, "1.10"]}}')
        assert sent(page, bodies) == f'{{"decimal":{digits},"any":{{"deep":[{digits},"1.10"]}}}}'


def test_a_number_keeps_its_digits_from_the_form_to_the_json_and_back(page):
    open_act(page, "echo")
    page.get_by_label("Send any").check()
    for digits in DIGITS:
        at(page, "set.decimal").fill(digits)
        page.get_by_label("Type of any").select_option("JSON")
        at(page, "set.any").fill(f'{{"deep": [{digits}, "1.10"]}}')
        page.get_by_role("tab", name="JSON").click()
        page.get_by_role("tab", name="Form").click()
        assert at(page, "set.decimal").input_value() == digits
        page.get_by_label("Type of any").select_option("JSON")
        assert compact(at(page, "set.any").input_value()) == f'{{"deep":[{digits},"1.10"]}}'


def test_numbers_of_the_json_are_sent_as_they_are_typed(page, bodies):
    open_act(page, "echo")
    numbers = ", ".join(DIGITS)
    write_json(page, f'{{"set": {{"any": [{numbers}], "__proto__": 1.10, "note": "\\" 1.10 \\\\"}}, "get": {{}}}}')
    assert sent(page, bodies) == (f'{{"any":[{numbers.replace(" ", "")}],"__proto__":1.10,"note":"\\" 1.10 \\\\"}}')


def test_the_reply_shows_all_digits_of_what_was_sent(page, bodies):
    open_act(page, "echo")
    at(page, "set.whole").fill("9007199254740993")
    assert sent(page, bodies) == '{"whole":9007199254740993}'
    assert "whole:9007199254740993" in reply_rows(page)
    assert f"default:{LARGEST}" in reply_rows(page)
    page.get_by_role("button", name="Copy the reply").click()
    page.get_by_text("Copied.").wait_for()
    assert '"whole": 9007199254740993' in page.evaluate("navigator.clipboard.readText()")
    page.get_by_role("link", name="History").click()
    page.get_by_role("button", name="200 OK thing.echo").click()
    rows = reply_rows(page)
    assert rows.count("whole:9007199254740993") == 2  # of the request and of the reply


def test_a_default_of_the_catalog_is_sent_with_its_digits(page, bodies):
    open_act(page, "echo")
    assert at(page, "set.default").get_attribute("placeholder") == str(LARGEST)
    page.get_by_text(f"integer, {-LARGEST}–{LARGEST}").wait_for()
    at(page, "set.default").fill(str(LARGEST))
    assert sent(page, bodies) == f'{{"default":{LARGEST}}}'


def test_what_the_server_does_not_take_is_its_answer(page, bodies):
    open_act(page, "echo")
    at(page, "set.whole").fill("9223372036854775808")
    assert sent(page, bodies) == '{"whole":9223372036854775808}'
    page.get_by_role("group", name="About the reply").get_by_text("400 Bad request").wait_for()


def test_a_reply_is_shown_as_it_is_written(page):
    numbers = ",".join(DIGITS)
    body = f'{{"body": {{"all": [{numbers}], "__proto__": 1.50, "t": "\\"1.10"}}, "success": true}}'
    page.route("**/gateway", lambda route: route.fulfill(body=body, content_type="application/json"))
    open_act(page, "echo")
    send(page)
    rows = reply_rows(page)
    assert [row.partition(":")[2] for row in rows if re.match(r"\d+:", row)] == DIGITS
    assert "__proto__:1.50" in rows
    assert 't:"\\"1.10"' in rows


def test_a_link_and_code_keep_the_digits(page, service_url, tmp_path):
    given = '{"v":1,"service":"main","model":"thing","act":"echo","set":{"any":[9007199254740993,1.10]},"get":{}}'
    open_text(page, service_url, given, "echo")
    share(page)
    page.get_by_text("Link copied").wait_for()
    assert decoded_text(page.evaluate("navigator.clipboard.readText()")) == given
    page.get_by_role("button", name="Code", exact=True).click()
    for language in ("curl", "Python", "TypeScript"):
        page.get_by_role("tab", name=language).click()
        text = page.get_by_role("region", name="Code").inner_text()
        assert '"any":[9007199254740993,1.10]' in re.sub(r"[\\\s]", "", text)
        if language == "Python":
            (tmp_path / "snippet.py").write_text(text)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "snippet.py")], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["body"]["any"] == [9007199254740993, 1.1]


SEQUENCE = """{"format": "gatewayfw-sequence", "version": 1, "name": "Digits",
  "variables": [{"name": "given", "value": 1.10000000000000000001, "secret": false}], "steps": [
  {"name": "First", "request": {"model": "thing", "act": "echo",
    "set": {"whole": 9007199254740993, "any": "{{given}}"}, "get": {}},
    "captures": [{"name": "got", "path": "body.whole"}]},
  {"name": "Second", "request": {"model": "thing", "act": "echo",
    "set": {"whole": "{{got}}", "any": [2.50, "n={{got}} {{given}}"]}, "get": {}}}]}"""
STEPS = [
    '{"whole":9007199254740993,"any":1.10000000000000000001}',
    '{"whole":9007199254740993,"any":[2.50,"n=9007199254740993 1.10000000000000000001"]}',
]


def test_a_sequence_keeps_the_digits_and_so_do_its_files(page, service_url, bodies, tmp_path):
    page.get_by_role("link", name="Sequences", exact=True).click()
    import_text(page, SEQUENCE)
    page.get_by_role("list", name="Steps").wait_for()
    run(page, "passed")
    assert list(map(set_of, bodies)) == STEPS
    del bodies[:]
    page.reload()
    page.get_by_role("list", name="Steps").wait_for()
    run(page, "passed")
    assert list(map(set_of, bodies)) == STEPS
    assert '"value": 1.10000000000000000001' in exported(page, "Sequence as a file", tmp_path).read_text()
    del bodies[:]
    code, output = pytest_of(exported(page, "Test for pytest", tmp_path), service_url)
    assert (code, list(map(set_of, bodies))) == (0, STEPS), output
