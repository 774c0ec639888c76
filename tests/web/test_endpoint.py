"""The blueprint: every method, every error as an envelope, and a host app that stays as it was."""

import asyncio
import multiprocessing
import re
import sys
import warnings
from dataclasses import FrozenInstanceError
from inspect import iscoroutinefunction
from wsgiref.validate import validator

import pytest
from flask import Blueprint, Flask, Response, abort, g, got_request_exception, redirect, request, url_for
from werkzeug.datastructures import Headers
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import Client

from gatewayfw import errors, gateway
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.settings import Settings
from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.flask_bypass import FlaskBypass
from gatewayfw.web.flask_request import make_contexts
from gatewayfw.web.mount import make_app, make_blueprint
from gatewayfw.web.reply import Answer, Success
from tests.web.mount import BODY, ID, Script, answer, endpoint, host, post, raising, refusal, seen

pytestmark = pytest.mark.usefixtures("entry")
WHOLE = {"service": "main", **BODY}
FIXED = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


def headers_of(reply):
    return {name: value for name, value in reply.headers if name != "Content-Length"}


def test_these_tests_run_through_both_entries(entry):
    assert isinstance(host().wsgi_app, FlaskBypass) == (entry == "lane")


def test_post_runs_the_act_on_the_whole_body():
    reply = post(host())
    assert seen(reply) == answer(WHOLE)
    assert headers_of(reply) == {**FIXED, "X-Request-Id": ID}


def test_error_has_its_headers():
    reply = post(host(raising(errors.Unavailable())))
    assert seen(reply) == refusal(503, "service unavailable, try again")
    assert headers_of(reply) == {**FIXED, "X-Request-Id": ID, "X-Error-Code": "unavailable", "Retry-After": "1"}


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_other_methods_are_an_envelope_with_allow(method):
    reply = host(raising(AssertionError)).test_client().open("/api/gateway", method=method, json=BODY)
    assert seen(reply) == refusal(405, "method not allowed: use POST")
    assert (reply.headers["Allow"], reply.headers["X-Error-Code"]) == ("POST, OPTIONS", "method_not_allowed")


def test_head_is_refused_without_a_body():
    reply = host().test_client().head("/api/gateway")
    assert reply.status_code == 405
    assert reply.data == b""
    assert reply.headers["Allow"] == "POST, OPTIONS"


@pytest.mark.parametrize("given", ["trace-1.A_b", "x" * 64])
def test_plain_request_id_is_kept(given):
    assert post(host(), headers={"X-Request-Id": given}).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "a;b", "é", "a\tb"])
def test_other_request_id_is_replaced(given):
    found = post(host(), headers={"X-Request-Id": given}).headers["X-Request-Id"]
    assert len(found) == 32
    assert set(found) <= set("0123456789abcdef")


def test_act_finds_request_headers_and_body_in_its_context():
    contexts = make_contexts()

    def fn(body):
        context = contexts.get_context_model()
        method, same = context.Request.method, context.body is body
        sent = [context.Headers["TOKEN"], context.Headers.getlist("x-request-id"), context.Address]
        return [method, same, *sent, sorted(context)]

    reply = post(host(fn, contexts=contexts), headers={"Token": "abc"})
    assert seen(reply) == answer(["POST", True, "abc", [ID], "127.0.0.1", ["Address", "Headers", "Request", "body"]])


@pytest.mark.parametrize("proxies", [0, 1])
def test_address_is_the_connections_unless_the_host_trusts_a_proxy(proxies):
    contexts = make_contexts()
    app = host(lambda body: contexts.get_context_model().Address, contexts=contexts)
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies)
    reply = post(app, headers={"X-Forwarded-For": "203.0.113.7"}, environ_base={"REMOTE_ADDR": "10.0.0.2"})
    assert seen(reply) == answer(["10.0.0.2", "203.0.113.7"][proxies])


def test_address_of_a_connection_without_one_is_empty():
    contexts = make_contexts()
    app = host(lambda body: contexts.get_context_model().Address, contexts=contexts)
    assert seen(post(app, environ_base={"REMOTE_ADDR": ""})) == answer("")


def test_context_of_the_request_is_gone_afterwards():
    contexts = make_contexts()
    with contexts.open():
        post(host(lambda body: contexts.add_context({"user": 1}), contexts=contexts))
        assert dict(contexts.get_context_model()) == {"Headers": {}, "body": None}


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"data": b"{", "content_type": "application/json"}, refusal(400, "malformed JSON at line 1 column 2")),
        (
            {"data": b"{}", "content_type": "text/plain"},
            refusal(415, "unsupported media type: send application/json in UTF-8"),
        ),
        ({"json": {**BODY, "act": ""}}, refusal(400, "act must be a string that is not empty")),
        ({"data": b" " * 1_048_577, "content_type": "application/json"}, refusal(413, "the request body is too large")),
    ],
    ids=["json", "type", "shape", "size"],
)
def test_bad_request_runs_no_act(given, refused):
    given = {"json": None, **given}
    assert seen(post(host(raising(AssertionError)), **given)) == refused


def test_result_that_is_no_json_is_an_internal_error(caplog):
    reply = post(host(lambda body: {"password": {"secret"}}))
    assert seen(reply) == refusal(500, "internal error")
    assert "of the type set, which is not JSON" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(("code", "name"), [(403, "Forbidden"), (404, "Not Found"), (500, "Internal Server Error")])
@pytest.mark.parametrize("said", [(), (None,), ("",), ("not yours",)], ids=repr)
def test_abort_in_an_act_is_an_envelope_and_no_page_of_the_host(code, name, said):
    app = host(lambda body: abort(code, *said))
    app.register_error_handler(code, lambda error: ("host page", 599))
    assert seen(post(app)) == refusal(code, "not yours" if "not yours" in said else name)


def test_redirect_raised_in_an_act_is_an_internal_error():
    assert seen(post(host(lambda body: abort(redirect("/login"))))) == refusal(500, "internal error")


def test_unexpected_error_is_hidden_logged_and_sent_to_trackers(caplog):
    error = KeyError("secret")
    app, sent = host(raising(error)), []

    def receiver(sender, exception, **extra):
        sent.append((sender, exception))

    with got_request_exception.connected_to(receiver, app):
        reply = post(app, json={**BODY, "act": "a\nb"})
    assert seen(reply) == refusal(500, "internal error")
    [first, *places, last] = [line for record in caplog.records for line in record.getMessage().splitlines()]
    assert first == f"unexpected error: request_id={ID} service=main model=user act=a\\nb"
    assert (places[0], last) == ("Traceback (most recent call last):", "KeyError: 'secret'")
    assert sent == [(app, error)]


def test_expected_error_is_not_sent_to_trackers():
    app, sent = host(raising(errors.Unavailable())), []
    with got_request_exception.connected_to(lambda *args, **extra: sent.append(1), app):
        post(app)
    assert sent == []


def test_tracker_that_fails_does_not_harm_the_reply(caplog):
    app = host(raising(KeyError()))

    def receiver(sender, **extra):
        raise RuntimeError

    with got_request_exception.connected_to(receiver, app):
        assert seen(post(app)) == refusal(500, "internal error")
    first, *_, last = caplog.messages[-1].splitlines()
    assert (first, last) == ("a receiver of got_request_exception failed", "RuntimeError")
    assert caplog.records[-1].name == "gatewayfw"


def test_a_tracker_may_be_async(monkeypatch):
    error, sent = KeyError(), []
    app = host(raising(error))

    def ensure_sync(func):  # Flask's own needs asgiref.
        return (lambda *args, **keys: asyncio.run(func(*args, **keys))) if iscoroutinefunction(func) else func

    async def receiver(sender, exception, **extra):
        sent.append((sender, exception))

    monkeypatch.setattr(app, "ensure_sync", ensure_sync)
    with got_request_exception.connected_to(receiver, app):
        assert seen(post(app)) == refusal(500, "internal error")
    assert sent == [(app, error)]


class Sentry:
    """Sentry's SDK as far as it matters here: who listens, and which loggers it passes over."""

    def __init__(self, *integrations):
        self.ignored, self._integrations = set(), integrations

    def get_client(self):
        return self

    def get_integration(self, name):
        return name if name in self._integrations else None

    def ignore_logger(self, name):
        self.ignored.add(name)

    def events(self, caplog, sent):
        """What it would report: the signal where it listens, and records of a logger it does not ignore."""
        told = sent if "flask" in self._integrations else []
        return told + [one.name for one in caplog.records if one.levelname == "ERROR" and one.name not in self.ignored]


SENTRIES = {
    "with Flask": (Sentry("flask", "logging"), ["signal"]),
    "logs only": (Sentry("logging"), ["gatewayfw.errors"]),
}


@pytest.mark.parametrize(("sentry", "reported"), SENTRIES.values(), ids=SENTRIES)
def test_sentry_reports_an_error_once(monkeypatch, caplog, sentry, reported):
    monkeypatch.setitem(sys.modules, "sentry_sdk", sentry)
    monkeypatch.setitem(sys.modules, "sentry_sdk.integrations.logging", sentry)
    app, sent = host(raising(KeyError())), []
    with got_request_exception.connected_to(lambda *args, **extra: sent.append("signal"), app):
        assert seen(post(app)) == refusal(500, "internal error")
    assert (sentry.events(caplog, sent), sent) == (reported, ["signal"])
    assert all(record.exc_info is None for record in caplog.records)


def test_a_sentry_that_is_not_known_harms_nothing(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "sentry_sdk", object())
    monkeypatch.setitem(sys.modules, "sentry_sdk.integrations.logging", object())
    assert seen(post(host(raising(KeyError())))) == refusal(500, "internal error")
    assert [record.name for record in caplog.records] == ["gatewayfw.errors"]


@pytest.mark.parametrize(
    ("setting", "config", "message"),
    [
        (None, {}, "internal error"),
        (None, {"TESTING": True}, "KeyError: 'x'"),
        (None, {"DEBUG": True}, "KeyError: 'x'"),
        (False, {"TESTING": True}, "internal error"),
        (True, {}, "KeyError: 'x'"),
    ],
)
def test_expose_errors_shows_unexpected_ones(setting, config, message):
    app = host(raising(KeyError("x")), expose_errors=setting)
    app.config.update(config)
    assert seen(post(app)) == refusal(500, message)


@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()])
def test_what_stops_the_process_is_not_swallowed(error):
    with pytest.raises(type(error)):
        post(host(raising(error)))


@pytest.mark.parametrize(("header", "setting"), [("1", False), ("0", True)])
def test_detail_is_in_the_body_when_asked_for(header, setting):
    app = host(raising(errors.NotFound("user not found")), error_detail=setting)
    body = {"message": "user not found", "code": "not_found", "errors": {}, "details": {}, "requestId": ID}
    assert seen(post(app, headers={"X-Gateway-Detail": header})) == (
        404,
        "application/json",
        {"body": body, "success": False},
    )


@pytest.mark.parametrize("header", ["0", "true", ""])
def test_detail_is_not_in_the_body_otherwise(header):
    app = host(raising(errors.NotFound("user not found")))
    assert seen(post(app, headers={"X-Gateway-Detail": header})) == refusal(404, "user not found")


@pytest.mark.parametrize(
    ("status", "extra"),
    [
        (200, {}),
        (401, {"X-Error-Code": "unauthenticated", "WWW-Authenticate": "Token"}),
        (502, {"X-Error-Code": "bad_gateway"}),
    ],
)
def test_reply_of_a_remote_service_passes_unchanged(status, extra):
    class Remote:
        def run(self, body, finish, key=None, files=None):
            return WrittenReply(status, tuple(extra.items()), b'{ "body": 1, "success": null }')

    app = Flask("host")
    app.register_blueprint(make_blueprint(endpoint().__class__(Remote(), make_contexts(), endpoint().settings), "gw"))
    reply = post(app, "/gateway")
    assert (reply.status_code, reply.data) == (status, b'{ "body": 1, "success": null }')
    assert headers_of(reply) == {**FIXED, "X-Request-Id": ID, **extra}


def test_two_gateways_in_one_app_do_not_see_each_other():
    app = host(lambda body: "first", url_prefix="/one", name="one", cors="*")
    app.register_blueprint(make_blueprint(endpoint(lambda body: "second"), "two"), url_prefix="/two")
    replies = [post(app, "/one/gateway"), post(app, "/two/gateway")]
    assert [seen(reply) for reply in replies] == [answer("first"), answer("second")]
    assert ["Access-Control-Allow-Origin" in reply.headers for reply in replies] == [True, False]


@pytest.mark.parametrize("prefix", [None, "", "/api", "/api/", "/v1/deep"])
def test_mount_under_any_prefix(prefix):
    app = host(url_prefix=prefix)
    assert seen(post(app, f"{(prefix or '').rstrip('/')}/gateway")) == answer(WHOLE)


def test_mount_in_a_nested_blueprint_twice():
    app, parent = Flask("host"), Blueprint("parent", "host", url_prefix="/<tenant>")
    parent.register_blueprint(make_blueprint(endpoint(), "gw"), url_prefix="/api")
    app.register_blueprint(parent)
    app.register_blueprint(parent, name="again", url_prefix="/again")
    assert [seen(post(app, path)) for path in ("/acme/api/gateway", "/again/api/gateway")] == [answer(WHOLE)] * 2
    with app.test_request_context():
        assert url_for("parent.gw.gateway", tenant="x") == "/x/api/gateway"


def crowded():
    """An app of somebody else who does everything a mount could disturb, without a gateway."""
    app = Flask("host", static_folder=None)
    app.config.update(MAX_CONTENT_LENGTH=500)
    app.before_request(lambda: g.setdefault("raw", request.get_data()) and None)
    for code in (404, 405, 413, 500):
        app.register_error_handler(code, lambda error, code=code: (f"host {code}", code))
    app.add_url_rule("/own", "own", lambda: "own", methods=["GET"])
    app.add_url_rule("/own/fails", "fails", lambda: {}["x"])
    app.add_url_rule("/echo", "echo", lambda: request.get_data(), methods=["POST"])
    app.add_url_rule("/playground", "playground", lambda: "mine")
    return app


def with_catch_all(app):
    app.add_url_rule("/<path:path>", "rest", lambda path: f"rest {path}")
    return app


REQUESTS = [
    ("GET", "/own", None),
    ("POST", "/own", None),
    ("OPTIONS", "/own", None),
    ("GET", "/own/", None),
    ("GET", "/own/fails", None),
    ("GET", "/missing", None),
    ("POST", "/missing", None),
    ("GET", "/api", None),
    ("GET", "/api/", None),
    ("POST", "/api/gateway/", b"{}"),
    ("POST", "/api/gateway/x", b"{}"),
    ("POST", "/gateway", b"{}"),
    ("GET", "/playground", None),
    ("POST", "/playground", None),
    ("GET", "/api/playground", None),
    ("POST", "/echo", b"x" * 500),
    ("POST", "/echo", b"x" * 501),
    ("GET", "/static/a.txt", None),
]


def behaviour(app):
    client = app.test_client()
    replies = [client.open(path, method=method, data=data) for method, path, data in REQUESTS]
    return [(reply.status_code, reply.data, sorted(reply.headers)) for reply in replies]


@pytest.mark.parametrize("shape", [lambda app: app, with_catch_all], ids=["plain", "catch-all"])
def test_mounting_changes_nothing_in_the_host_app(shape):
    alone, mounted = shape(crowded()), shape(crowded())
    mounted.register_blueprint(make_blueprint(endpoint(cors="*"), "gw"), url_prefix="/api")
    assert behaviour(mounted) == behaviour(alone)
    assert mounted.config == alone.config
    assert seen(post(mounted)) == answer(WHOLE)


def test_limit_of_the_host_is_an_envelope_on_the_gateway():
    app = crowded()
    app.before_request_funcs.clear()
    app.register_blueprint(make_blueprint(endpoint(), "gw"), url_prefix="/api")
    assert seen(post(app, json={**BODY, "x": "x" * 500})) == refusal(413, "the request body is too large")


@pytest.mark.parametrize(
    ("method", "path", "given", "status"),
    [
        ("POST", "/gateway", {"json": BODY}, 200),
        ("POST", "/gateway", {"data": b"{"}, 415),
        ("GET", "/gateway", {}, 405),
        ("HEAD", "/gateway", {}, 405),
        ("OPTIONS", "/gateway", {"headers": {"Origin": "https://a.b", "Access-Control-Request-Method": "POST"}}, 204),
        ("GET", "/playground", {}, 200),
        ("HEAD", "/playground/", {}, 200),
        ("GET", "/playground/catalog.json", {}, 200),
        ("POST", "/playground", {}, 405),
        ("GET", "/playground/missing", {}, 404),
        ("GET", "/a.txt", {}, 200),
        ("GET", "/missing", {}, 404),
    ],
)
def test_every_route_speaks_proper_wsgi(tmp_path, method, path, given, status):
    (tmp_path / "a.txt").write_text("a")
    app = make_app(endpoint(cors="*", playground=True), static_path=[tmp_path])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Client(validator(app)).open(path, method=method, **given) as reply:
            assert reply.status_code == status


def test_abort_with_a_response_keeps_its_status_only():
    app = host(lambda body: abort(Response("secret", body["details"]["set"]["status"], {"Retry-After": "7"})))
    replies = [post(app, json={**BODY, "details": {"set": {"status": code}, "get": {}}}) for code in (403, 503, 302)]
    assert [seen(reply) for reply in replies] == [
        refusal(403, "Forbidden"),
        refusal(503, "Service Unavailable"),
        refusal(500, "internal error"),
    ]
    assert [reply.headers.get("Retry-After") for reply in replies] == ["7", "7", None]


def test_an_improper_error_of_an_act_is_an_internal_error(caplog):
    class Improper(errors.HttpError):
        headers = None

    assert seen(post(host(raising(Improper("no", 404))))) == refusal(500, "internal error")
    named = f"request_id={ID} service=main model=user act=getUser"
    assert [message.splitlines()[0] for message in caplog.messages] == [
        f"Improper is no proper error: {ID}",
        f"Improper: status=500 {named}",
    ]
    assert seen(post(host(raising(errors.HttpError("no", 404))))) == refusal(404, "no")


def test_headers_of_an_error_change_neither_type_nor_length():
    class Own(errors.HttpError):
        headers = {"content-type": "text/html", "Content-Length": "1", "cache-control": "public", "X-Own": "1"}

    reply = post(host(raising(Own("no", 404))))
    assert seen(reply) == refusal(404, "no")
    names = [name.lower() for name, _ in reply.headers]
    assert [names.count(name) for name in ("content-type", "content-length", "x-own")] == [1, 1, 1]
    assert reply.headers["Content-Length"] == str(len(reply.data))


def test_a_hook_of_the_host_may_change_the_reply():
    app = host()

    @app.after_request
    def shorter(reply):
        reply.set_data(reply.get_data()[:5])
        reply.headers["Cache-Control"] = "private"
        return reply

    reply = post(app)
    assert reply.data == b'{"bod'
    assert reply.headers["Content-Length"] == "5"
    assert reply.headers["Cache-Control"] == "private"
    assert len([name for name, _ in reply.headers if name == "Content-Length"]) == 1


def test_observers_hear_of_a_request_that_ends_its_thread():
    gw, calls = gateway(), []
    gw.on_call(calls.append)
    gw.acts.act("user", "getUser")(raising(SystemExit(1)))
    app = Flask("host")
    gw.init_app(app, "/api")
    with pytest.raises(SystemExit):
        post(app, environ_base={"REMOTE_ADDR": ""})
    told = [(str(call.names), call.code, call.status, call.request_id, call.address) for call in calls]
    assert told == [("main.user.getUser", "internal_error", 500, ID, "")]


@pytest.mark.parametrize("fast_lane", [True, False], ids=["lane", "flask"])
def test_an_id_that_is_made_up_is_the_same_everywhere(caplog, fast_lane):
    gw, found = gateway(error_detail=True), []
    gw.on_call(lambda call: found.append(call.request_id))
    gw.acts.act("user", "fails")(raising(KeyError("x")))
    gw.acts.act("user", "works")(lambda body: gw.context_fns.get_context_model()["Headers"]["X-Request-Id"])
    client = gw.create_app(fast_lane=fast_lane).test_client()
    works, fails = (client.post("/gateway", json={**BODY, "act": act}) for act in ("works", "fails"))
    ids = [reply.headers["X-Request-Id"] for reply in (works, fails)]
    assert (found, [works.get_json()["body"], fails.get_json()["body"]["requestId"]]) == (ids, ids)
    assert caplog.messages[0].startswith(f"unexpected error: request_id={ids[1]} service=main model=user act=fails\n")


def test_an_endpoint_alone_has_neither_files_nor_batches_nor_a_playground():
    app = Flask("host", static_folder=None)
    alone = Endpoint(Script(raising(KeyError())), make_contexts(), Settings(max_batch=2))
    app.register_blueprint(make_blueprint(alone))
    assert [rule.rule for rule in app.url_map.iter_rules()] == ["/gateway"]
    assert seen(post(app, "/gateway")) == refusal(500, "internal error")
    batch = post(app, "/gateway", json={"batch": [BODY]})
    assert seen(batch) == refusal(400, "batch: this gateway takes one act at a time")
    with pytest.raises(FrozenInstanceError):
        alone.probes = True


def test_request_ids_are_all_different():
    app = host()
    given = [app.test_client().post("/api/gateway", json=BODY).headers["X-Request-Id"] for _ in range(100)]
    assert len(set(given)) == 100
    assert [one for one in given if not re.fullmatch("[0-9a-f]{32}", one)] == []


# Python 3.12 warns of any fork while threads run, and other tests leave some.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_processes_give_ids_of_their_own():
    app = host()

    def tell(sender):
        sender.send(app.test_client().post("/api/gateway", json=BODY).headers["X-Request-Id"])

    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    children = [context.Process(target=tell, args=(sender,)) for _ in range(2)]
    for child in children:
        child.start()
    given = [receiver.recv() for child in children if receiver.poll(30)]
    for child in children:
        child.join(30)
    assert (len(given), len(set(given))) == (2, 2)


CHANGES = {
    "nothing": lambda reply: None,
    "a header": lambda reply: reply.headers.add("X-Host", "1"),
    "a header less": lambda reply: reply.headers.remove("Cache-Control"),
    "no length": lambda reply: reply.headers.remove("Content-Length"),
    "a place": lambda reply: reply.headers.set("Location", "/else where"),
    "a status": lambda reply: setattr(reply, "status", "201 CREATED"),
    "no content": lambda reply: setattr(reply, "status_code", 204),
    "not modified": lambda reply: setattr(reply, "status_code", 304),
    "a body": lambda reply: reply.set_data(b"[]"),
    "a stream": lambda reply: setattr(reply, "response", iter([b"a", b"b"])),
    "a callback": lambda reply: reply.call_on_close(lambda: CLOSED.append(1)),
    "a method": lambda reply: setattr(reply, "get_wsgi_headers", lambda environ: Headers({"X-Own": "1"})),
}
CLOSED = []


def sent(reply, method):
    """What a server gets of a reply, and how often a callback was called."""
    CLOSED.clear()
    body, status, headers = reply.get_wsgi_response({"REQUEST_METHOD": method})
    whole = b"".join(body)
    if hasattr(body, "close"):
        body.close()
    return whole, status, headers, len(CLOSED)


@pytest.mark.parametrize("method", ["POST", "HEAD"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_answer_is_sent_as_werkzeug_would_send_it(change, method):
    ours = Answer(Success(b"{}", ID))
    theirs = Response([b"{}"], "200 OK", list(ours.headers))
    change(ours)
    change(theirs)
    assert sent(ours, method) == sent(theirs, method)


def test_act_finds_all_headers_once_and_the_id_of_the_request():
    contexts = make_contexts()
    app = host(lambda body: dict(contexts.get_context_model().Headers), contexts=contexts)
    found = post(app, headers={"Accept-Language": "fa"}).get_json()["body"]
    del found["Content-Length"], found["User-Agent"], found["Host"]
    assert found == {"Content-Type": "application/json", "Accept-Language": "fa", "X-Request-Id": ID}
