"""The playground sends the token where the gateway looks for it, and so does the code it writes."""

from __future__ import annotations

import json
import urllib.request

import mongomock
import pytest

from gatewayfw import gateway, string
from gatewayfw.auth import Auth, Tokens, access_rule, bearer, cookie, header
from tests.playground.conftest import open_act, send
from tests.playground.test_sequences import exported, import_text, pytest_of
from tests.playground.test_snippets import RUNNERS, every, ran, snippet  # noqa: F401  (a fixture)

ID = "0123456789abcdef01234567"
TOKENS = Tokens("k" * 32)
GOOD = TOKENS.issue({"_id": ID})
CARRIERS = {"header": header("X-Key"), "bearer": bearer(), "cookie": cookie("sid")}
HINTS = {
    "header": "Sent in the header “x-key”.",
    "bearer": "Sent as “Authorization: Bearer”.",
    "cookie": "Sent in the cookie “sid”, by the code of requests only: the browser sends its own.",
}
REQUEST = {"model": "user", "act": "name", "set": {}, "get": {}}
SIGNED_IN = {"success": True, "body": "Ana"}


@pytest.fixture(params=CARRIERS.values(), ids=CARRIERS)
def carrier(request):
    """Where the token is."""
    return request.param


@pytest.fixture
def service_url(stage, carrier):
    """A service with an act for whoever is signed in."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    auth = Auth(gw.context_fns, TOKENS, {ID: {"name": "Ana"}}.get, token_from=carrier)

    @gw.acts.act("user", "name", pre_act=[auth.read_token, access_rule(auth.load_user)], returns=string())
    def name(body):
        return gw.context_fns.get_context_model()["user"]["name"]

    return stage(gw.create_app(playground=True))


def replied(page):
    return page.get_by_role("tree", name="Reply as a tree").inner_text()


def test_an_act_gets_the_token_of_the_dialog_or_the_browsers_cookie(page, service_url, carrier):
    open_act(page, "name")
    send(page)
    assert "you should send your" in replied(page)
    page.get_by_role("button", name="Headers and token").click()
    page.get_by_role("dialog").get_by_text(HINTS[carrier.place]).wait_for()
    page.get_by_label("Token", exact=True).fill(GOOD)
    page.get_by_role("button", name="Done").click()
    if carrier.place == "cookie":
        page.context.add_cookies([{"name": "sid", "value": GOOD, "url": service_url}])
    with page.expect_response("**/gateway") as reply:
        page.get_by_role("button", name="Send", exact=True).first.click()
    assert reply.value.json() == SIGNED_IN


def test_a_snippet_of_each_language_sends_the_token_there(snippet, tmp_path):  # noqa: F811
    texts = {language: snippet(language, REQUEST) for language in RUNNERS}
    assert {language: ran(language, texts[language], tmp_path, GOOD) for language in texts} == every(SIGNED_IN)
    assert {language: ran(language, texts[language], tmp_path)["success"] for language in texts} == every(False)


def test_the_generated_client_sends_the_token_there(snippet, service_url, tmp_path):  # noqa: F811
    text = snippet("Generated client", REQUEST)
    with urllib.request.urlopen(f"{service_url}/playground/gateway_types.py") as module:
        (tmp_path / "gateway_types.py").write_bytes(module.read())
    assert ran("Python", text.replace("print(", "import json\nprint(json.dumps(") + ")\n", tmp_path, GOOD) == "Ana"


def test_an_exported_test_sends_the_token_there(page, service_url, tmp_path):
    page.get_by_role("link", name="Sequences", exact=True).click()
    page.get_by_text("No steps yet").wait_for()
    step = {"name": "Name", "request": REQUEST, "token": "current"}
    whole = {"format": "gatewayfw-sequence", "version": 1, "name": "Names", "variables": [], "steps": [step]}
    import_text(page, json.dumps(whole))
    page.get_by_role("list", name="Steps").wait_for()
    path = exported(page, "Test for pytest", tmp_path)
    assert pytest_of(path, service_url, GATEWAY_TOKEN=GOOD)[0] == 0
    code, output = pytest_of(path, service_url, GATEWAY_TOKEN="another")
    assert code == 1, output
    assert "1. Name: expected success, got status 401" in output, output
