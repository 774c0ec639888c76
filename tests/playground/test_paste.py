"""Requests that are pasted: curl commands as browsers, Postman and this page write them, and whole bodies."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.playground.conftest import open_act
from tests.playground.test_acts import at, request_of
from tests.playground.test_looks import CUT, WIDTHS, axe, judged  # noqa: F401  # a fixture
from tests.playground.test_numbers import write_json

TEXT = 'it\'s "a" \\ ü 😀\n$HOME `x` !'
SET = {"email": TEXT, "password": "p"}
BODY = {"model": "user", "act": "login", "details": {"set": SET, "get": {"token": 1}}}
JSON = json.dumps(BODY, ensure_ascii=False)
QUOTED = "'" + JSON.replace("'", "'\\''") + "'"
ANSI = "$'" + json.dumps(BODY).replace("\\", "\\\\").replace("'", "\\'") + "'"
#: As Chromium writes it: its escapeString for cmd.
CMD = "".join(
    one if one.isascii() and one.isalnum() or one in " _-:=+~'/.,?;()*`" else f"^{one}"
    for one in JSON.replace("\\", "\\\\").replace('"', '\\"')
)
#: As Postman writes it: a part in double quotes within those of the shell.
PART = 'gateway-body="' + JSON.replace("\\", "\\\\").replace('"', '\\"') + '"'
DOUBLE = '"' + "".join(f"\\{one}" if one in '\\"$`' else one for one in JSON) + '"'


def ansi(number):
    """The body as a text of bash with each letter that is not ASCII, and each backslash, as ``number`` writes it."""
    written = "".join(one if one.isascii() and one != "\\" else number(one) for one in JSON)
    return "$'" + written.replace("'", "\\'") + "'"


HEXADECIMAL = ansi(lambda one: "".join(f"\\x{byte:02x}" for byte in one.encode()))
OCTAL = ansi(lambda one: "".join(f"\\{byte:03o}" for byte in one.encode()))
CODE_POINTS = ansi(lambda one: f"\\U{ord(one):08X}")
HERE = "".join(f"\\{one}" if one in "\\$`" else one for one in json.dumps(BODY))


def commands(url):
    """Commands that all send the same, by what wrote them."""
    url = f"{url}/gateway"
    return {
        "chromium": f"curl '{url}' \\\n  -H 'Accept: */*' \\\n  -H 'token: t0' \\\n  --data-raw {QUOTED} ;",
        "chromium, other letters": f"curl '{url}' -H 'Content-Type: application/json' --data-raw {ANSI} --compressed",
        "hexadecimal bytes": f"curl {url} -d {HEXADECIMAL}",
        "octal bytes": f"curl {url} -d {OCTAL}",
        "code points": f"curl {url} -d {CODE_POINTS}",
        "chromium, cmd": f'curl ^"{url}^" ^\r\n  -H ^"Accept: */*^" ^\r\n  -X ^"POST^" ^\r\n  --data-raw ^"{CMD}^"',
        "firefox": f"curl '{url}' --compressed -X POST -H 'User-Agent: F (X11; \"L\")' --data-raw {QUOTED}",
        "postman": f"curl --location --request POST '{url}' \\\n--header 'Content-Type: application/json' \\\n"
        f"--data {QUOTED}",
        "postman, double quotes": f'curl -L -XPOST "{url}" -H "Content-Type: application/json" -d {DOUBLE}',
        "by hand": f"# log in\n$ curl -sSkd {QUOTED} -HX:1 -o out.json {url} | jq .body",
        "json": f"sudo curl --json {QUOTED} --url {url} -m 5",
        "postman, a form": f"curl --location '{url}' \\\n--form " + shlex.quote(PART),
        "options with values": f"curl --proxy-user a:b --noproxy '*' --cert-type PEM {url} -d {QUOTED}",
        "a form": f"curl -F gateway-body={QUOTED} -H 'X-Gateway: 1' {url}",
        "a body": json.dumps(BODY, indent=2),
        "a here-document": f"curl --json @- {url} <<'EOF' | jq .\n{json.dumps(BODY, indent=2)}\nEOF\n",
        "one that is filled in": f"curl -d @- \\\n {url} <<EOF\n{HERE}\nEOF\n# done",
        "one before it": f"cat <<-'END.' | curl -F 'gateway-body=<-' {url}\n\t{JSON}\n\tEND.",
        "a text before it": f"echo {QUOTED} | curl {url} --data-binary @-",
        "a text of the shell": f"curl {url} -sd @- <<< {QUOTED}",
        "cat within quotes": f"curl {url} -d \"$(cat <<'EOF'\n{json.dumps(BODY, indent=2)}\nEOF\n)\" -H 'X: 1'",
    }


PASTE = """text => { const clipboardData = new DataTransfer(); clipboardData.setData('text/plain', text);
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true })); }"""


@pytest.fixture
def paste(page):
    """Open the dialog with a text: ``paste(text)`` gives the dialog."""

    def done(text):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").fill("paste")
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Paste a request")
        dialog.get_by_label("curl command or body").fill(text)
        return dialog

    return done


def notes(dialog):
    return dialog.locator(".paste-notes li").all_inner_texts()


def test_each_way_to_write_a_command_opens_the_same_request(page, paste, service_url):
    for name, text in commands(service_url).items():
        dialog = paste(text)
        assert notes(dialog) == [], name
        dialog.get_by_role("button", name="Open", exact=True).click()
        dialog.wait_for(state="detached")
        assert at(page, "set.email").input_value() == TEXT, name
        assert json.loads(request_of(page)) == {"set": SET, "get": {"token": 1}}, name


def test_the_code_of_the_page_is_read_back(page, paste):
    open_act(page, "login")
    at(page, "set.email").fill("a@b.example")
    at(page, "set.password").fill("it's")
    page.get_by_role("button", name="Code", exact=True).click()
    code = page.get_by_role("region", name="Code").locator("pre").evaluate("element => element.textContent")
    dialog = paste(code)
    assert notes(dialog) == []
    dialog.get_by_role("button", name="Open", exact=True).click()
    assert json.loads(request_of(page))["set"] == {"email": "a@b.example", "password": "it's"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("curl http://other.example/gateway -d '{BODY}'", "It calls http://other.example/gateway; this page calls"),
        ("curl -X PUT --json '{BODY}' URL", "It uses PUT; acts are called with POST."),
        ("curl -F 'gateway-body={BODY}' -F 'set.photo=@\"me.png\"' URL", "set.photo is the file me.png: choose it"),
        ("curl -F 'gateway-body={BODY}' -F x=1 URL", "The part x of the form is left out."),
        ("curl -b sid=1 -d '{BODY}' URL", "Cookies are left out: the browser sends its own."),
        ("curl -H \"token: $TOKEN\" -d '{BODY}' URL", "Headers with variables of the shell are left out."),
        (
            'curl -d \'{"model": "user", "act": "\'$ACT\'"}\' URL',
            "The shell would fill in $ACT: write the values yourself.",
        ),
        (
            'curl -d "{\\"model\\": \\"user\\", \\"act\\": \\"$ACT ${A} \\$B\\"}" URL',
            "The shell would fill in $ACT, ${A}: write the values yourself.",
        ),
        ("curl -u a:b -d '{BODY}' URL", "The user and password of -u are left out."),
        ("curl -d @body.json URL", "The body is in the file body.json: paste what that has."),
        ('curl -d \'{"model": "no", "act": "no"}\' URL', "This service has no no.no."),
        ("curl URL", "The command sends no body, so it calls no act."),
        ("curl -d '{' URL", "The body is no JSON. Column 2: "),
        ("curl -d '{\n\"a\": x' URL", "The body is no JSON. Line 2: "),
        ("curl\\\n URL -d '{", "The quote ' at line 2, column "),
        (
            'curl -d "$(cat body.json)" URL',
            "The shell would fill in $(cat body.json): paste what that gives in its place.",
        ),
        (
            "curl -d `cat body.json` URL",
            "The shell would fill in $(cat body.json): paste what that gives in its place.",
        ),
        ("curl -d @- URL", "The body is what the command reads, which is not in this text: paste that."),
        ("curl http://other.example/gateway -d '{' ", "It calls http://other.example/gateway; this page calls"),
        ("curl -d '{' URL --next -d '{BODY}' URL", "Command 1: The body is no JSON."),
        ('curl -d \'{"model": "user", "act": "getUsr"}\' URL', "no user.getUsr; nearest: user.getUser, user.getUsers."),
        ("curl -d '{}' URL", "The body has no model and act."),
        ('curl -d \'{"model": "a", "act": "b", "details": 5}\' URL', "details: expected an object."),
        ('Invoke-WebRequest -Uri "URL"', "This is a command for PowerShell. Copy it as cURL, for bash or cmd."),
        ("wget URL", "This is neither a curl command nor the body of a request."),
    ],
)
def test_what_is_left_aside_or_cannot_be_read_is_said(paste, service_url, text, said):
    body = '{"model": "user", "act": "getMe", "details": {"set": {}, "get": {}}}'
    dialog = paste(text.replace("{BODY}", body).replace("URL", f"{service_url}/gateway"))
    dialog.get_by_text(said).wait_for()


def test_passwords_and_tokens_that_were_pasted_are_dots_until_asked_for(page, service_url):
    text = json.dumps({**BODY, "details": {"set": {"email": "a@b.example", "password": "hush-7"}}})
    for written in (text, f"curl {service_url}/gateway -H 'token: hush-77' -d '{text}'"):
        page.evaluate(PASTE, written)
        dialog = page.get_by_role("dialog", name="Paste a request")
        box = dialog.get_by_label("curl command or body")
        assert "hush" not in box.input_value()
        assert box.input_value().count("••••••") == written.count("hush")
        dialog.get_by_role("button", name="Show and edit").click()
        assert box.input_value() == written
        dialog.get_by_role("button", name="Open", exact=True).click()
        assert at(page, "set.password").input_value() == "hush-7"
        page.locator("main .acts-main:focus").wait_for()


def test_an_act_that_is_not_there_leads_to_the_nearest_and_to_all(page, paste):
    page.set_viewport_size(WIDTHS["narrow"])
    paste(json.dumps({**BODY, "act": "logn", "details": {"set": {"email": "a@b.example"}}})).get_by_role(
        "button", name="Open", exact=True
    ).click()
    page.get_by_text("There is no such act").wait_for()
    assert 0 < page.get_by_text("There is no such act").bounding_box()["x"] < WIDTHS["narrow"]["width"]
    page.get_by_role("button", name="user.login", exact=True).last.click()
    assert at(page, "set.email").input_value() == "a@b.example"
    page.evaluate("location.hash = '#/acts/main/user/getAll'")
    page.get_by_text("main / user / getAll").wait_for()
    page.get_by_role("button", name="Search all acts").click()
    page.get_by_role("dialog", name="Search").wait_for()


def test_a_token_and_headers_are_taken_only_if_the_user_agrees(page, paste, service_url):
    text = (
        f"curl {service_url}/gateway -H 'token: secret' -H 'X-Tenant: oak' -d '{json.dumps({**BODY, 'details': {}})}'"
    )
    for agrees in (False, True):
        dialog = paste(text)
        for label in ("Send its token", "Send these headers with every call: X-Tenant"):
            dialog.get_by_label(label).set_checked(agrees)
        dialog.get_by_role("button", name="Open", exact=True).click()
        with page.expect_request("**/gateway") as sent:
            page.keyboard.press("Control+Enter")
            page.get_by_role("button", name="Send it empty").or_(
                page.get_by_role("button", name="Send them empty")
            ).click()
        given = sent.value.headers
        assert (given.get("token"), given.get("x-tenant")) == (("secret", "oak") if agrees else (None, None))


def test_several_commands_and_the_items_of_a_batch_are_a_tab_each(page, paste):
    one = 'curl -d \'{"model": "user", "act": "getMe"}\' localhost'
    dialog = paste(
        f"{one} --next{one[4:]} && curl -d '{json.dumps({'batch': [{**BODY, 'details': {}}] * 2})}' localhost"
    )
    dialog.get_by_role("button", name="Open 4 requests").click()
    tabs = page.get_by_role("group", name="Open requests").locator(".strip-open")
    assert tabs.all_inner_texts() == ["user.getMe", "user.getMe", "user.login", "user.login"]


def test_what_is_pasted_onto_the_page_or_into_the_json_leads_there(page):
    page.evaluate(PASTE, "no request")
    page.evaluate(PASTE, json.dumps(BODY))
    dialog = page.get_by_role("dialog", name="Paste a request")
    dialog.get_by_role("button", name="Open", exact=True).click()
    assert at(page, "set.password").input_value() == "p"
    page.locator("main .acts-main:focus").wait_for()
    write_json(page, json.dumps({**BODY, "act": "getMe", "details": {}}))
    page.get_by_role("button", name="Open as a request").click()
    dialog.get_by_role("button", name="Open", exact=True).click()
    page.get_by_role("heading", name="user.getMe").wait_for()


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_axe_finds_nothing_in_the_dialog(page, paste, axe, width):  # noqa: F811
    page.set_viewport_size(WIDTHS[width])
    paste("curl http://other.example -H 'token: x' -H 'X-A: 1' -d '" + json.dumps(BODY).replace("'", "\\u0027") + "'")
    assert [*judged(page, axe), *page.evaluate(CUT)] == []
