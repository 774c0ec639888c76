"""``call``: through the app in this process, and to a running service."""

from __future__ import annotations

import json
import socket
import ssl
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread

import mongomock
import pytest
from click.testing import CliRunner
from flask import Flask

from gatewayfw.cli import gateway_group
from gatewayfw.schemas import string
from tests.certificates import shake_hands, write_certificate
from tests.cli.shop import make_app, runner, shop
from tests.commands_page import has_page
from tests.export.test_typescript_live import served
from tests.wire.scripts import SLOW, answer


def test_call_prints_the_envelope(run):
    set_, get = '{"name": "é", "price": 2}', '{"name": 1, "price": 1, "_id": 0}'
    status, output = run("call", "item", "addItem", "--set", set_, "--get", get)
    assert status == 0
    assert json.loads(output) == {"body": {"name": "é", "price": 2}, "success": True}
    assert "é" in output


def test_call_writes_out_what_a_terminal_would_obey(run):
    evil = "\x9b31m\u202e"
    words = ("call", "item", "addItem", "--set", json.dumps({"name": evil, "price": 2}), "--get", '{"name": 1}')
    status, output = run(*words)
    assert status == 0
    assert json.loads(output)["body"]["name"] == evil
    assert r"\u009b31m\u202e" in output
    assert all(line.isprintable() for line in output.splitlines())


def test_call_sends_the_token(run):
    status, output = run("call", "item", "whoAmI", "--token", "t")
    assert (status, json.loads(output)) == (0, {"body": "t", "success": True})


def test_call_with_a_key_does_it_once(database):
    gw = shop(database)

    @gw.acts.act("shop", "open", set={"name": string()}, idempotent="1h", idempotent_by=lambda body: "all", public=True)
    def open_(body):
        return gw.odm.model("shop").insert_one(doc=body["details"]["set"])["_id"]

    call = partial(runner(make_app(shop=gw)), "call", "shop", "open", "--set")
    first = call('{"name": "a"}', "--key", "k")
    assert first[0] == 0
    assert call('{"name": "a"}', "--key", "k") == first
    assert gw.odm.model("shop").count() == 1
    reused = {"body": {"message": "this Idempotency-Key was sent with another body"}, "success": False}
    status, output = call('{"name": "b"}', "--key", "k")
    assert (status, json.loads(output)) == (1, reused)
    assert "must be 1 to 255 printable ASCII characters" in call('{"name": "a"}', "--key", "")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("item", "none"), "act not found: item.none"),
        (("item", "addItem", "--set", '{"name": 1, "price": 1}'), "validation error: set.name: Not a valid string."),
        (("item", "addItem", "--service", "none"), "service not found: none"),
    ],
    ids=["act", "input", "service"],
)
def test_call_fails_with_the_envelope(run, words, message):
    status, output = run("call", *words)
    assert (status, json.loads(output)) == (1, {"body": {"message": message}, "success": False})


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--set", "{", "--set: not JSON: "),
        ("--get", "[]", "--get: expected a JSON object"),
        ("--set", "1", "--set: expected a JSON object"),
    ],
)
def test_call_refuses_what_is_no_object(run, option, text, message):
    status, output = run("call", "item", "addItem", option, text)
    assert status == 2
    assert output.splitlines()[-1].startswith(f"Error: {message}")


def test_call_sends_a_role_only_where_a_hook_looks_for_it(run):
    status, output = run("call", "item", "whoAmI", "--role", "r")
    told = "Error: --role: no hook looks for a role in a header or cookie; it is a field of set"
    assert (status, output.splitlines()[-1]) == (2, told)


def test_gateway_of_create_app_needs_no_name(database):
    run = runner(shop(database).create_app(url_prefix="/api"))
    assert run("call", "item", "whoAmI")[0] == 0


def test_call_of_a_reply_that_is_no_envelope_names_its_status(database):
    app = make_app(shop=shop(database))
    app.before_request(lambda: ("log in first", 401))
    assert runner(app)("call", "item", "whoAmI") == (
        1,
        "Error: HTTP 401, no envelope: its answer is not application/json\n",
    )


def test_call_reaches_a_subdomain(database):
    app = Flask("host", subdomain_matching=True)
    app.config["SERVER_NAME"] = "shop.example"
    app.register_blueprint(shop(database).blueprint(), subdomain="api")
    status, output = runner(app)("call", "item", "whoAmI")
    assert (status, json.loads(output)) == (0, {"body": None, "success": True})


@pytest.mark.parametrize("option", ["--token", "--role", "--key"])
@pytest.mark.parametrize("text", ["a\nb", "\u00e9"])
def test_call_refuses_what_no_header_can_carry(run, option, text):
    status, output = run("call", "item", "whoAmI", option, text)
    assert (status, output.splitlines()[-1]) == (2, f"Error: {option}: expected printable ASCII characters")


def test_call_names_the_place_of_a_token_that_no_header_can_carry(run, monkeypatch, tmp_path):
    (tmp_path / "token").write_text("a\nb", "utf-8")
    monkeypatch.setenv("GATEWAYFW_CALL_TOKEN", "a\nb")
    told = [run("call", "item", "whoAmI", *words)[1] for words in ((), ("--token-file", tmp_path / "token"))]
    assert [text.splitlines()[-1].split(": ")[1] for text in told] == ["GATEWAYFW_CALL_TOKEN", "--token-file"]


# -- a running service


@pytest.fixture(scope="module")
def url():
    """Where a service runs that tells what it was sent."""
    gw = shop(mongomock.MongoClient().shop)

    @gw.acts.act("item", "headers", public=True)
    def headers(body):
        sent = gw.context_fns.get_context_model().Headers
        return {name: sent.get(name) for name in ("token", "authorization", "cookie")}

    with served(gw.create_app(url_prefix="/api")) as address:
        yield f"{address}/api"


@pytest.fixture
def anywhere():
    """Run a command where no app is: exit status and output."""

    def run(*words, **options):
        result = CliRunner().invoke(gateway_group, list(words), **options)
        return result.exit_code, result.output

    return run


def test_a_service_elsewhere_answers_without_an_app(anywhere, url):
    words = (
        "call",
        "--url",
        url,
        "item",
        "addItem",
        "--set",
        '{"name": "é", "price": 2}',
        "--get",
        '{"name": 1, "_id": 0}',
    )
    status, output = anywhere(*words)
    assert (status, json.loads(output)) == (0, {"body": {"name": "é"}, "success": True})


def test_a_refusal_of_a_service_has_its_details(anywhere, url):
    status, output = anywhere("call", "--url", url, "item", "none")
    told = json.loads(output)
    assert told["body"].pop("requestId")
    expected = {"body": {"message": "act not found: item.none", "code": "not_found", "errors": {}}, "success": False}
    assert (status, told) == (1, expected)


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ((), {"token": "t", "authorization": None, "cookie": None}),
        (("--token-in", "bearer"), {"token": None, "authorization": "Bearer t", "cookie": None}),
        (("--token-in", "cookie:session"), {"token": None, "authorization": None, "cookie": "session=t"}),
    ],
    ids=["header", "bearer", "cookie"],
)
def test_the_token_is_sent_where_the_service_looks_for_it(anywhere, url, tmp_path, words, sent):
    (tmp_path / "token").write_text("t\n")
    for token in (("--token", "t"), ("--token-file", str(tmp_path / "token"))):
        status, output = anywhere("call", "--url", url, "item", "headers", *token, *words)
        assert (status, json.loads(output)["body"]) == (0, sent)
    status, output = anywhere("call", "--url", url, "item", "headers", "--token-file", "-", *words, input="t\n")
    assert json.loads(output)["body"] == sent


def test_a_key_is_sent_to_the_service_too(anywhere, url):
    status, output = anywhere("call", "--url", url, "item", "headers", "--key", "k")
    assert (status, json.loads(output)["body"]["message"]) == (1, "this act takes no Idempotency-Key")


def test_a_service_has_the_time_of_the_option(anywhere, upstream):
    status, output = anywhere("call", "item", "none", "--url", upstream(SLOW["silent"]), "--timeout", "0.2")
    assert (status, output.splitlines()[-1]) == (1, "Error: the gateway took too long")


def test_the_environment_may_hold_the_token(run, monkeypatch, tmp_path):
    monkeypatch.setenv("GATEWAYFW_CALL_TOKEN", "env\n")
    (tmp_path / "token").write_text("file")
    call = ("call", "item", "whoAmI")
    given = (call, (*call, "--token", "t"), (*call, "--token-file", str(tmp_path / "token")))
    assert [json.loads(run(*words)[1])["body"] for words in given] == ["env", "t", "file"]
    monkeypatch.setenv("GATEWAYFW_CALL_TOKEN", "")
    assert json.loads(run(*call)[1])["body"] is None


@pytest.mark.parametrize(
    ("data", "message"), [(b" \n", "it is empty"), (b"\xff", "it cannot be read as text")], ids=["empty", "binary"]
)
def test_a_file_without_a_token_is_refused(run, tmp_path, data, message):
    (tmp_path / "token").write_bytes(data)
    status, output = run("call", "item", "whoAmI", "--token-file", str(tmp_path / "token"))
    assert (status, output.splitlines()[-1]) == (2, f"Error: --token-file: {message}")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--url", "ftp://x"), "--url: it must start with http:// or https://"),
        (("--url", "http://me:secret@x"), "--url: it must not hold credentials"),
        (("--url", "http://x", "--role", "r"), "--url and --role do not go together"),
        (("--url", "http://x", "--name", "n"), "--url and --name do not go together"),
        (("--url", "http://x", "--token", "t", "--token-file", "-"), "--token and --token-file do not go together"),
        (("--url", "http://x", "--timeout", "0"), "Invalid value for '--timeout': 0.0 is not in the range 0<x<=3600."),
        (
            ("--url", "http://x", "--token-in", "body"),
            "Invalid value for '--token-in': expected bearer, header:NAME or cookie:NAME",
        ),
        (
            ("--url", "http://x", "--token-in", "header:a b"),
            "Invalid value for '--token-in': header: expected a name of letters, digits and any of ._-",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_of_a_service_is_named(anywhere, words, message):
    status, output = anywhere("call", "item", "none", *words)
    assert (status, output.splitlines()[-1]) == (2, f"Error: {message}")


def test_what_is_no_gateway_is_told_in_words(anywhere, closed_port, upstream):
    page = upstream(answer(b"<html>\x1b[31m</html>", 502, content_type="text/html"))
    bad = "Error: HTTP 502: bad reply of the gateway: its answer is not application/json"
    status, output = anywhere("call", "item", "none", "--url", page)
    assert (status, output.splitlines()[-1]) == (1, bad)  # the server may print that its client left
    nobody = f"http://127.0.0.1:{closed_port}"
    unreachable = "Error: the gateway is unreachable: Connection refused\n"
    assert anywhere("call", "item", "none", "--url", nobody) == (1, unreachable)


@contextmanager
def greeting(certificate):
    """A server that shows one caller a certificate; gives its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            connection, _ = server.accept()
            with connection, suppress(OSError):  # The caller refuses it.
                shake_hands(connection, context)

        thread = Thread(target=greet)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


def test_a_certificate_that_nobody_vouches_for_is_told(anywhere, tmp_path):
    write_certificate(tmp_path / "pem")
    with greeting(tmp_path / "pem") as port:
        ended = anywhere("call", "item", "none", "--url", f"https://127.0.0.1:{port}")
    assert ended == (1, "Error: the secure connection to the gateway failed: self-signed certificate\n")


def test_the_help_is_on_the_page():
    assert has_page("call")
