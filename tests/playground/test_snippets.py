"""The request as code: what it says is what is sent, whatever the values hold."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request

import pytest

from tests.playground.links import open_shared

HOSTILE = 'it\'s "quoted" $HOME `id` $(id) \\ \n\t %s {{x}} </script> \'\'\'""" \u2028 \U0001f600 !x'
REQUEST = {
    "model": "country",
    "act": "addCountry",
    "set": {"name": HOSTILE, "population": 5},
    "get": {"_id": 0, "name": 1},
}
RUNNERS = {"curl": ["sh"], "Python": [sys.executable], "TypeScript": ["node"]}
SUFFIXES = {"curl": ".sh", "Python": ".py", "TypeScript": ".mjs"}


@pytest.fixture
def token(service_url):
    """The token of the manager."""
    body = {
        "model": "user",
        "act": "login",
        "details": {"set": {"email": "manager@example.com", "password": "demo-manager"}, "get": {"token": 1}},
    }
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{service_url}/gateway", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["body"]["token"]


@pytest.fixture
def snippet(page, service_url):
    """A function that gives the snippet of a request in a language."""
    shown = []

    def given(language, request=REQUEST):
        if shown != [request]:
            open_shared(page, service_url, request)
            page.get_by_role("button", name="Code", exact=True).click()
            shown[:] = [request]
        page.get_by_role("region", name="Reply").get_by_role("tab", name=language).click()
        return page.get_by_role("region", name="Code").locator("pre").evaluate("element => element.textContent")

    return given


def ran(language, text, tmp_path, token=""):
    """Run a snippet; give the envelope that it prints."""
    command = RUNNERS[language]
    if shutil.which(command[0]) is None or (language == "curl" and shutil.which("curl") is None):
        pytest.skip(f"there is no {language} here")
    if language == "TypeScript":  # what a compiler leaves of it
        text = re.sub("^type Envelope.*\n", "", text, flags=re.MULTILINE).replace(" as Envelope", "")
    path = tmp_path / f"snippet{SUFFIXES[language]}"
    path.write_text(text)
    environ = {"PATH": os.environ["PATH"], "HOME": "/nowhere", **({"GATEWAY_TOKEN": token} if token else {})}
    done = subprocess.run(
        [*command, str(path)], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def every(reply):
    """The reply to the snippet of each language."""
    return dict.fromkeys(RUNNERS, reply)


def test_a_snippet_sends_hostile_values_as_they_are(snippet, tmp_path):
    replies = {language: ran(language, snippet(language), tmp_path) for language in RUNNERS}
    assert replies == every({"success": True, "body": {"name": HOSTILE}})


def test_a_snippet_takes_the_token_from_the_environment(snippet, token, tmp_path):
    request = {"model": "user", "act": "getMe", "set": {}, "get": {"_id": 0, "email": 1}}
    texts = {language: snippet(language, request) for language in RUNNERS}
    replies = {language: ran(language, texts[language], tmp_path, token) for language in RUNNERS}
    assert replies == every({"success": True, "body": {"email": "manager@example.com"}})
    message = "you should send your id with token key in req header"
    replies = {language: ran(language, texts[language], tmp_path) for language in RUNNERS}
    assert replies == every({"success": False, "body": {"message": message}})


def test_hostile_names_are_quoted_too(snippet, tmp_path):
    request = {"model": "user", "act": "getMe", "set": {"__proto__": 1, "a'b\"\n$(id)": [True, None, 1.5]}, "get": {}}
    replies = {language: ran(language, snippet(language, request), tmp_path) for language in RUNNERS}
    message = "validation error: set.__proto__: Unknown field.; set.a'b\"\\n$(id): Unknown field."
    assert replies == every({"success": False, "body": {"message": message}})


def test_a_snippet_is_copied_and_has_no_token(page, snippet, login):
    login()
    text = snippet("curl")
    page.get_by_role("region", name="Reply").get_by_role("button", name="Copy").click()
    page.get_by_text("Copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == text
    assert "eyJ" not in text  # how a token begins


def test_the_snippet_with_the_generated_client_sends_the_same(page, service_url, token, tmp_path):
    request = {"model": "user", "act": "getMe", "set": {}, "get": {"_id": 0, "email": 1}}
    open_shared(page, service_url, request)
    page.get_by_role("button", name="Code", exact=True).click()
    code = page.get_by_role("region", name="Code")
    page.get_by_role("tab", name="Generated client").click()
    text = code.inner_text()
    page.locator("[data-path='get.last_name']").check()
    code.get_by_text('"last_name": 1').wait_for()
    page.get_by_role("tab", name="HTTPie").click()
    assert code.inner_text().startswith("http --ignore-stdin POST ")
    (tmp_path / "snippet.py").write_text(text.replace("print(", "import json\nprint(json.dumps(") + ")\n")
    with urllib.request.urlopen(f"{service_url}/playground/gateway_types.py") as module:
        (tmp_path / "gateway_types.py").write_bytes(module.read())
    assert ran("Python", (tmp_path / "snippet.py").read_text(), tmp_path, token) == {"email": "manager@example.com"}


COLOURS = "element => [...element.querySelectorAll('span')].map(one => [one.className, one.textContent])"


@pytest.mark.parametrize(
    ("language", "some"),
    [
        ("curl", {"key": '"population"', "text": '"x"', "number": "5", "word": "--data-raw"}),
        ("Python", {"key": '"population"', "text": '"x"', "number": "5", "word": "import"}),
        ("TypeScript", {"text": '"x"', "number": "5", "word": "await"}),
    ],
)
def test_a_snippet_is_coloured_by_its_language(snippet, page, language, some):
    given = snippet(language, {**REQUEST, "set": {"name": "x", "population": 5}})
    code = page.get_by_role("region", name="Code").locator("pre")
    code.locator(".code-word").first.wait_for()
    found = code.evaluate(COLOURS)
    assert [look for look, text in some.items() if [f"code-{look}", text] not in found] == []
    assert code.evaluate("element => element.textContent") == given


def test_the_body_of_a_command_has_a_line_for_each_name(snippet):
    text = snippet("curl", {"model": "user", "act": "getMe", "set": {}, "get": {"_id": 0, "email": 1}})
    assert text.splitlines()[-11:] == [
        "  --data-raw '{",
        '  "model": "user",',
        '  "act": "getMe",',
        '  "details": {',
        '    "set": {},',
        '    "get": {',
        '      "_id": 0,',
        '      "email": 1',
        "    }",
        "  }",
        "}'",
    ]
