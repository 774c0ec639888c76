"""The lane: the same answers as by Flask's dispatch, which takes over whenever it could be noticed."""

import gc
import io
import json
import threading
import weakref
from wsgiref.validate import validator

import pytest
from flask import (
    Flask,
    Request,
    Response,
    abort,
    after_this_request,
    copy_current_request_context,
    current_app,
    g,
    has_app_context,
    has_request_context,
    request,
    session,
    signals,
    url_for,
)
from flask.sessions import SecureCookieSessionInterface
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import Client, EnvironBuilder

from gatewayfw import Reply, errors
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.errors import DefinitionError
from gatewayfw.web import flask_bypass
from gatewayfw.web import mount as server
from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.flask_request import make_contexts
from gatewayfw.web.mount import make_app
from tests.web.mount import BODY, ID, Script, answer, endpoint, post, raising, refusal, seen

WHOLE = {"service": "main", **BODY}


def make(fn=lambda body: body, *, url_prefix="", fast_lane=True, **parts):
    """An app of our own that counts what Flask dispatches, in its attribute ``dispatched``."""
    app = make_app(endpoint(fn, **parts), url_prefix=url_prefix, fast_lane=fast_lane)
    dispatch, app.dispatched = app.full_dispatch_request, 0

    def counted():
        app.dispatched += 1
        return dispatch()

    app.full_dispatch_request = counted
    return app


def send(app, **given):
    return post(app, "/gateway", **given)


def test_the_gateways_route_is_answered_before_flasks_dispatch():
    app = make()
    replies = [send(app), app.test_client().get("/gateway"), app.test_client().options("/gateway")]
    assert [reply.status_code for reply in replies] == [200, 405, 204]
    assert (seen(replies[0]), app.dispatched) == (answer(WHOLE), 0)


@pytest.mark.parametrize("path", ["/", "/gateway/", "/gateway/x", "//gateway", "/GATEWAY", "/gatewa%79x", "/a.txt"])
def test_every_other_path_is_flasks(path):
    app = make()
    app.test_client().get(path)
    assert app.dispatched == 1


@pytest.mark.parametrize(
    ("prefix", "path", "dispatched"),
    [("/api", "/api/gateway", 0), ("/\u00e9/b c", "/\u00e9/b c/gateway", 0), ("/<tenant>", "/acme/gateway", 1)],
    ids=["plain", "encoded", "variable"],
)
def test_a_prefix_is_part_of_the_path_unless_it_varies(prefix, path, dispatched):
    app = make(url_prefix=prefix)
    assert (seen(post(app, path)), app.dispatched) == (answer(WHOLE), dispatched)


def test_without_the_lane_flask_dispatches():
    app = make(fast_lane=False)
    assert (seen(send(app)), app.dispatched) == (answer(WHOLE), 1)


def test_a_flask_without_the_contexts_of_3_1_has_no_lane(monkeypatch):
    monkeypatch.setattr(server, "SUPPORTED", False)
    app = make()
    assert (seen(send(app)), app.dispatched) == (answer(WHOLE), 1)


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_fast_lane_must_be_a_boolean(value):
    with pytest.raises(DefinitionError) as caught:
        make(fast_lane=value)
    assert caught.value.message == "option 'fast_lane': expected true or false"


#: What a user may add to the app, and what calls ``note`` when it is not passed over.
HOOKS = {
    "before_request": lambda app, note: app.before_request(lambda: note() and None),
    "after_request": lambda app, note: app.after_request(lambda reply: note() or reply),
    "teardown_request": lambda app, note: app.teardown_request(lambda error: note()),
    "teardown_appcontext": lambda app, note: app.teardown_appcontext(lambda error: note()),
    "url_value_preprocessor": lambda app, note: app.url_value_preprocessor(lambda view, values: note()),
    "of the blueprint": lambda app, note: app.before_request_funcs.update({"gateway": [note]}),
    "in place of the app's": lambda app, note: setattr(app, "before_request_funcs", {"gateway": [note]}),
    "another view": lambda app, note: app.view_functions.update({"gateway.gateway": lambda: note() or "mine"}),
}
SIGNALS = [
    signals.request_started,
    signals.request_finished,
    signals.request_tearing_down,
    signals.appcontext_pushed,
    signals.appcontext_tearing_down,
    signals.appcontext_popped,
]


@pytest.mark.parametrize("add", HOOKS.values(), ids=HOOKS)
@pytest.mark.parametrize("is_late", [False, True], ids=["before", "after the first request"])
def test_hooks_of_the_app_run(add, is_late):
    app, noted = make(), []
    if is_late:
        send(app)
    add(app, lambda: noted.append(1))
    assert send(app).status_code == 200
    assert noted == [1]
    assert app.dispatched == 1


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
def test_receivers_of_flasks_signals_are_called(signal):
    app, noted = make(), []
    with signal.connected_to(lambda sender, **extra: noted.append(1), app):
        send(app)
    send(app)
    assert (noted, app.dispatched) == ([1], 1)


@pytest.mark.parametrize(
    "name",
    [
        *("before_request_funcs", "after_request_funcs", "teardown_request_funcs", "teardown_appcontext_funcs"),
        "url_value_preprocessors",
    ],
)
def test_functions_around_requests_are_seen_where_somebody_replaced_all_of_them(name):
    app = make()
    setattr(app, name, [lambda error: None] if name == "teardown_appcontext_funcs" else {"elsewhere": [id]})
    assert send(app).status_code == 200
    assert app.dispatched == 1


class OtherSession(SecureCookieSessionInterface):
    pass


class OtherResponse(Response):
    default_mimetype = "text/plain"


@pytest.mark.parametrize(
    "change",
    [
        lambda app: app.config.update(SECRET_KEY="k"),
        lambda app: setattr(app, "session_interface", OtherSession()),
        lambda app: setattr(app, "response_class", OtherResponse),
        lambda app: setattr(app, "subdomain_matching", True),
        lambda app: setattr(app.url_map, "host_matching", True),
    ],
    ids=["secret key", "sessions", "response class", "subdomains", "hosts"],
)
def test_what_only_flask_does_is_left_to_it(change):
    app = make()
    change(app)
    assert send(app).status_code in (200, 404)
    assert app.dispatched == 1


def test_sessions_of_the_app_work():
    app = make(lambda body: session.setdefault("seen", 5))
    app.config["SECRET_KEY"] = "k" * 32
    assert "Set-Cookie" in send(app).headers


@pytest.mark.parametrize(
    ("trusted", "host", "expected", "dispatched"),
    [
        (["localhost"], "localhost:8000", answer(WHOLE), 0),
        ([".shop.example"], "a.shop.example", answer(WHOLE), 0),
        (["localhost"], "evil.example", refusal(400, "the header Host is not valid"), 1),
        (None, "a..b", refusal(400, "the header Host is not valid"), 1),
        (None, "x" * 64, refusal(400, "the header Host is not valid"), 1),
        (None, "a b", answer(WHOLE), 1),
        (None, "", answer(WHOLE), 1),
        (None, "[::1]:8000", answer(WHOLE), 0),
    ],
)
def test_hosts_are_judged_as_by_flask(trusted, host, expected, dispatched):
    app = make()
    app.config["TRUSTED_HOSTS"] = trusted
    assert (seen(send(app, headers={"Host": host})), app.dispatched) == (expected, dispatched)


def test_a_websocket_is_flasks():
    app = make()
    send(app, headers={"Connection": "upgrade", "Upgrade": "websocket"})
    assert app.dispatched == 1


def test_the_test_client_keeps_the_contexts():
    app = make()
    with app.test_client() as client:
        client.post("/gateway", json=BODY)
        assert request.path == "/gateway"


def everything(body):
    """Use all that Flask offers to a view."""
    g.mine = 1
    after_this_request(lambda reply: reply.headers.add("X-Later", "1") or reply)
    own = current_app.config["OWN"], request.headers["Token"], request.endpoint, request.view_args, request.blueprints
    own += (
        request.host,
        request.url,
        url_for("gateway.gateway", _external=True),
        request.json_module is current_app.json,
    )
    found = []
    thread = threading.Thread(target=copy_current_request_context(lambda: found.append(request.path)))
    thread.start()
    thread.join()
    return [*own, dict(session), g.mine, found]


@pytest.mark.parametrize("fast_lane", [True, False])
def test_acts_find_all_of_flask(fast_lane):
    app = make(everything, fast_lane=fast_lane)
    app.config["OWN"] = "own"
    reply = send(app, headers={"Token": "abc"})
    url = "http://localhost/gateway"
    own = ["own", "abc", "gateway.gateway", {}, ["gateway"]]
    assert seen(reply) == answer([*own, "localhost", url, url, True, {}, 1, ["/gateway"]])
    assert (reply.headers["X-Later"], app.dispatched) == ("1", not fast_lane)


@pytest.mark.parametrize("fast_lane", [True, False])
def test_a_session_without_a_secret_key_is_refused_as_ever(fast_lane):
    app = make(lambda body: session.update(a=1), fast_lane=fast_lane)
    app.testing = True
    status, _, envelope = seen(send(app))
    assert (status, envelope["body"]["message"][:39]) == (500, "RuntimeError: The session is unavailabl")


@pytest.mark.parametrize("fast_lane", [True, False])
def test_a_function_after_this_request_that_fails_is_flasks_error(fast_lane):
    received = []
    app = make(lambda body: after_this_request(raising(KeyError("x"))) and None, fast_lane=fast_lane)
    with signals.got_request_exception.connected_to(lambda sender, exception: received.append(exception), app):
        reply = send(app)
    assert (reply.status_code, reply.mimetype) == (500, "text/html")
    assert [type(error) for error in received] == [KeyError]


@pytest.mark.parametrize("fast_lane", [True, False])
def test_a_function_after_this_request_may_reply_in_pieces_and_hear_of_the_end(fast_lane):
    noted = []

    def fn(body):
        pieces = Response(piece for piece in ("a", "b"))
        pieces.call_on_close(lambda: noted.append("closed"))
        after_this_request(lambda reply: pieces)

    with send(make(fn, fast_lane=fast_lane)) as reply:
        assert (reply.status_code, reply.data) == (200, b"ab")
    assert noted == ["closed"]


def test_unexpected_errors_are_sent_as_a_signal():
    received = []
    app = make(raising(KeyError("x")))
    with signals.got_request_exception.connected_to(lambda sender, exception: received.append(exception), app):
        assert seen(send(app)) == refusal(500, "internal error")
    assert ([type(error) for error in received], app.dispatched) == ([KeyError], 0)


@pytest.mark.parametrize("error", [KeyError("x"), SystemExit(3)], ids=["error", "exit"])
def test_nothing_is_left_of_the_contexts(error):
    app = make(raising(error))
    if isinstance(error, SystemExit):
        with pytest.raises(SystemExit):
            send(app)
    else:
        send(app)
    assert has_request_context() is False
    assert has_app_context() is False


def test_the_request_is_freed_without_a_collection():
    kept = []
    app = make(lambda body: kept.append(weakref.ref(request._get_current_object())))
    gc.disable()
    try:
        app(EnvironBuilder("/gateway", method="POST", json=BODY).get_environ(), lambda *reply: None)
        assert (kept[0](), app.dispatched) == (None, 0)
    finally:
        gc.enable()


def test_the_request_is_of_the_apps_class_and_closed():
    class Own(Request):
        closed = 0

        def close(self):
            Own.closed += 1
            super().close()

    app = make(lambda body: type(request._get_current_object()) is Own)
    app.request_class = Own
    assert seen(send(app)) == answer(True)
    assert Own.closed == 1
    assert app.dispatched == 0


@pytest.mark.parametrize(("act", "closed"), [(lambda body: len(request.files), 1), (lambda body: 0, 0)])
def test_files_that_an_act_asked_for_are_closed(monkeypatch, act, closed):
    noted, app = [], make(act)
    monkeypatch.setattr(Request, "close", lambda self: noted.append(self.path))
    assert seen(send(app)) == answer(0)
    assert noted == ["/gateway"] * closed
    assert app.dispatched == 0


@pytest.mark.parametrize("proxies", [0, 1])
def test_the_app_may_be_wrapped(proxies):
    app = make(lambda body: [request.remote_addr, request.scheme])
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=proxies, x_proto=proxies)
    reply = send(app, headers={"X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"})
    assert seen(reply) == answer([["127.0.0.1", "http"], ["203.0.113.7", "https"]][proxies])
    assert app.dispatched == 0


def test_the_app_may_be_mounted_below_another():
    app = make(lambda body: request.script_root)
    outer = DispatcherMiddleware(Flask("outer"), {"/inner": app})
    reply = Client(outer).post("/inner/gateway", json=BODY)
    assert (reply.json, app.dispatched) == ({"body": "/inner", "success": True}, 0)


@pytest.mark.parametrize("method", ["POST", "GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("cors", [None, "*"])
def test_the_lane_speaks_proper_wsgi(cors, method):
    app = make(cors=cors)
    headers = {"Origin": "https://a.b", "Access-Control-Request-Method": "POST"}
    with Client(validator(app)).open("/gateway", method=method, json=BODY, headers=headers) as reply:
        assert (reply.status_code, app.dispatched) == ({"POST": 200, "OPTIONS": 204}.get(method, 405), 0)


def test_a_remote_reply_passes():
    class Remote:
        def run(self, body, finish, key=None, files=None):
            return WrittenReply(200, (), b'{"body":1,"success":true}')

    app = make_app(Endpoint(Remote(), make_contexts(), endpoint().settings))
    assert (send(app).data, send(app).status_code) == (b'{"body":1,"success":true}', 200)


#: What the acts of the two apps that are compared do, by the body's ``set.do``.
DEEDS = {
    "answer": lambda body: body,
    "context": lambda body: [request.path, request.method, request.remote_addr, request.is_json],
    "refuse": raising(errors.Forbidden("no")),
    "retry": raising(errors.Unavailable()),
    "fail": raising(KeyError("secret")),
    "plain": raising(Exception("own text")),
    "abort": lambda body: abort(409),
    "moved": lambda body: abort(Response("x", 302, {"Location": "/x"})),
    "set": lambda body: {1},
    "reply": lambda body: Reply(body, 201, {"Location": "/x"}, [{"name": "a", "value": "1"}]),
    "later": lambda body: after_this_request(lambda reply: reply.headers.add("X-Later", "1") or reply) and None,
}


def deed(body):
    return DEEDS.get(body["details"]["set"].get("do"), DEEDS["answer"])(body)


def bytes_of(value):
    return json.dumps(value).encode()


BODIES = st.one_of(
    st.sampled_from(sorted(DEEDS)).map(
        lambda do: bytes_of({"model": "a", "act": "b", "details": {"set": {"do": do}, "get": {}}})
    ),
    st.sampled_from([b"", b"{", b"[]", b"\xff", b"null", b'{"model": 5}', b"[" * 200, b" " * 3000, b'"\\ud800"']),
    st.binary(max_size=50),
)
HEADERS = st.fixed_dictionaries(
    {
        "HTTP_HOST": st.sampled_from(
            ["localhost", "a..b", "", "x:80", "[::1]", "evil.example", "b\xe9", "a b", "y" * 70]
        )
    },
    optional={
        "CONTENT_TYPE": st.sampled_from(["text/plain", "application/json; charset=utf-8", "application/json;x", ""]),
        "CONTENT_LENGTH": st.sampled_from(["", "5", "-1", "abc", "99999", "0"]),
        "HTTP_TRANSFER_ENCODING": st.just("chunked"),
        "HTTP_CONTENT_ENCODING": st.sampled_from(["gzip", "identity", ""]),
        "HTTP_X_REQUEST_ID": st.sampled_from(["id-1", "", "a b", "x" * 65]),
        "HTTP_X_GATEWAY_DETAIL": st.sampled_from(["1", "0"]),
        "HTTP_ORIGIN": st.sampled_from(["https://shop.example", "null", "https://evil.example"]),
        "HTTP_ACCESS_CONTROL_REQUEST_METHOD": st.just("POST"),
        "HTTP_EXPECT": st.just("100-continue"),
        "HTTP_UPGRADE": st.just("websocket"),
        "HTTP_CONNECTION": st.sampled_from(["upgrade", "close"]),
        "HTTP_COOKIE": st.just("session=x"),
        "HTTP_IF_NONE_MATCH": st.just("*"),
        "HTTP_RANGE": st.just("bytes=0-1"),
        "SCRIPT_NAME": st.sampled_from(["", "/x"]),
        "wsgi.input_terminated": st.booleans(),
    },
)
REQUESTS = st.fixed_dictionaries(
    {
        "REQUEST_METHOD": st.sampled_from(["POST"] * 4 + ["GET", "HEAD", "OPTIONS", "PUT", "TRACE", "BREW", "post"]),
        "PATH_INFO": st.sampled_from(["/api/gateway"] * 5 + ["", "/", "/gateway", "/api/gateway/", "//api/gateway"]),
        "QUERY_STRING": st.sampled_from(["", "a=1&b=%ff", "\xff"]),
    }
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "cors": st.sampled_from(["*", ["https://shop.example"]]),
        "error_detail": st.booleans(),
        "expose_errors": st.booleans(),
        "max_body_bytes": st.just(100),
    },
)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "DEBUG": st.booleans(),
        "TESTING": st.booleans(),
        "MAX_CONTENT_LENGTH": st.sampled_from([20, 200]),
        "TRUSTED_HOSTS": st.sampled_from([["localhost", "x"], []]),
        "SERVER_NAME": st.just("shop.example"),
    },
)


def raw(app, environ, body):
    """Status, headers and body as a server gets them; a request id that was made up is left out."""
    started = []
    whole = {
        **EnvironBuilder("/", method="POST").get_environ(),
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        **environ,
        "wsgi.input": io.BytesIO(body),
    }
    pieces = app(whole, lambda status, headers, error=None: started.append((status, headers)))
    data = b"".join(pieces)
    getattr(pieces, "close", lambda: None)()
    [(status, headers)] = started
    made_up = {value for name, value in headers if name == "X-Request-Id"} - {environ.get("HTTP_X_REQUEST_ID")}
    for one in made_up:
        data = data.replace(one.encode(), b"made-up")
    return status, [(name, "made-up" if value in made_up else value) for name, value in headers], data


@settings(max_examples=300)
@given(REQUESTS, HEADERS, BODIES, OPTIONS, CONFIGS)
def test_both_entries_answer_the_same_bytes(asked, headers, body, options, config):
    replies = []
    for fast_lane in (True, False):
        app = make_app(endpoint(deed, **options), url_prefix="/api", fast_lane=fast_lane)
        app.config.update(config)
        replies.append(raw(app, {**asked, **headers}, body))
    assert replies[0] == replies[1]


def test_the_comparison_sees_a_difference():
    app = make_app(endpoint(deed), url_prefix="/api")
    status, headers, data = raw(app, {"PATH_INFO": "/api/gateway", "HTTP_X_REQUEST_ID": ID}, bytes_of(BODY))
    assert status == "200 OK"
    assert dict(headers)["X-Request-Id"] == ID
    assert json.loads(data)["success"] is True
    other = make_app(endpoint(deed, cors="*"), url_prefix="/api")
    assert raw(other, {"PATH_INFO": "/api/gateway", "HTTP_X_REQUEST_ID": ID}, bytes_of(BODY))[1] != headers


def test_the_lane_is_there_with_the_flask_that_is_installed():
    assert flask_bypass.SUPPORTED is True
    assert isinstance(make_app(endpoint()).wsgi_app, flask_bypass.FlaskBypass)
    assert isinstance(endpoint().lifecycle, Script)
