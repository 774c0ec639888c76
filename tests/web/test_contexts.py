"""Whose context is seen: by hooks and views of the host, in threads, streams and nested requests, on every server."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context as Variables
from pathlib import Path
from types import SimpleNamespace

import pytest
import urllib3
from flask import Flask, Response, copy_current_request_context, request, stream_with_context
from werkzeug.test import EnvironBuilder

from gatewayfw import gateway
from gatewayfw.client import InProcessClient
from tests.web.crowd import ask, body_of, crowd, dispatching_twice, in_thread, served, served_alone
from tests.web.mount import BODY

ROOT = Path(__file__).parent.parent.parent
REQUESTS, THREADS = 2000, 8


@pytest.fixture
def shop():
    """A gateway in a host app: ``fn`` is what the act answers, ``view`` what the host's view does."""
    gw, app = gateway(), Flask("host", static_folder=None)
    shop = SimpleNamespace(
        gw=gw, app=app, fns=gw.context_fns, fn=lambda: gw.context_fns.get_context_model().get("user")
    )
    gw.acts.act("user", "getUser")(lambda body: shop.fn())
    shop.mount = gw.blueprint("gw")
    app.add_url_rule("/view", view_func=lambda: shop.view())
    shop.client = app.test_client()
    shop.act = lambda **headers: shop.client.post("/gateway", json=BODY, headers=headers).get_json()["body"]
    shop.see = lambda **headers: shop.client.get("/view", headers=headers)
    return shop


@pytest.fixture
def mounted(shop):
    """The same, with the gateway's blueprint registered already."""
    shop.app.register_blueprint(shop.mount)
    return shop


def sign_in(shop):
    """Note the caller whom a header names."""

    def note():
        if "User" in request.headers:
            shop.fns.add_context({"user": request.headers["User"]})

    return note


def test_the_act_sees_what_the_host_added(mounted):
    mounted.app.before_request(sign_in(mounted))
    assert [mounted.act(User="Ana"), mounted.act()] == ["Ana", None]


def test_the_act_sees_what_its_blueprints_own_hook_added(shop):
    shop.mount.before_request(sign_in(shop))
    shop.app.register_blueprint(shop.mount)
    assert [shop.act(User="Ana"), shop.act()] == ["Ana", None]


def test_a_view_sees_only_the_context_of_its_own_request(mounted):
    mounted.app.before_request(sign_in(mounted))
    mounted.view = lambda: str(mounted.fns.get_context_model().get("user"))
    seen = [mounted.see(**{"User": user} if user else {}).text for user in ("Ana", None, "Bo", None)]
    assert seen == ["Ana", "None", "Bo", "None"]


def test_the_host_sees_afterwards_what_the_act_added(mounted):
    mounted.fn = lambda: mounted.fns.add_context({"sold": 3})

    @mounted.app.after_request
    def note(reply):
        context = mounted.fns.get_context_model()
        reply.headers["X-Sold"] = f"{context.sold} {context.Request.path} {context.body['act']}"
        return reply

    reply = mounted.client.post("/gateway", json=BODY)
    assert reply.headers["X-Sold"] == "3 /gateway getUser"


def test_a_context_that_the_host_began_has_all_but_the_body(mounted):
    seen = []

    @mounted.app.before_request
    def look():
        context = mounted.fns.get_context_model()
        seen.append((sorted(context), context.body, context.Headers["X-Who"], context.Address, context.Request.path))

    def fn():
        context = mounted.fns.get_context_model()
        return [sorted(context), context.body["act"], context.Headers["X-Request-Id"], context.Request.path]

    mounted.fn = fn
    keys = ["Address", "Headers", "Request", "body"]
    assert mounted.act(**{"X-Who": "Ana", "X-Request-Id": "r-1"}) == [keys, "getUser", "r-1", "/gateway"]
    assert seen == [(keys, None, "Ana", "127.0.0.1", "/gateway")]


def test_what_the_gateway_knows_of_the_request_it_says_itself(mounted):
    @mounted.app.before_request
    def replace():
        mounted.fns.set_context({"user": "Ana", "body": "mine", "Address": "::1"})

    mounted.fn = lambda: [mounted.fns.get_context_model()[key] for key in ("user", "Address")]
    assert mounted.act() == ["Ana", "127.0.0.1"]


def test_two_gateways_of_an_app_have_each_their_own(mounted):
    other = gateway()
    other.init_app(mounted.app, "/other")
    other.acts.act("user", "getUser")(lambda body: sorted(other.context_fns.get_context_model()))
    mounted.app.before_request(lambda: mounted.fns.add_context({"user": "Ana"}))
    reply = mounted.client.post("/other/gateway", json=BODY).get_json()["body"]
    assert [reply, mounted.act()] == [["Address", "Headers", "Request", "body"], "Ana"]


def test_an_environment_dispatched_twice_is_two_requests(mounted):
    met = []
    mounted.app.before_request(lambda: met.append("user" in mounted.fns.get_context_model()))
    mounted.app.before_request(lambda: mounted.fns.add_context({"user": "Ana"}))
    mounted.app.wsgi_app = dispatching_twice(mounted.app.wsgi_app)
    assert (mounted.act(**{"X-Twice": "1"}), met) == ("Ana", [False, False])


def test_requests_within_an_outer_app_context_share_nothing(mounted):
    mounted.app.before_request(sign_in(mounted))
    with mounted.app.app_context():
        assert [mounted.act(User="Ana"), mounted.act()] == ["Ana", None]


def test_a_request_within_a_request_has_its_own(mounted):
    mounted.app.before_request(sign_in(mounted))
    inner = InProcessClient(mounted.app)

    def fn():
        if "User" not in request.headers:
            return mounted.fns.get_context_model().get("user")
        with mounted.fns.open({"user": "of a block"}):
            return [inner.call("user", "getUser"), mounted.fns.get_context_model().user]

    mounted.fn = fn
    assert mounted.act(User="Ana") == [None, "of a block"]


def test_a_thread_with_flasks_request_shares_the_context(mounted):
    def work():
        mounted.fns.add_context({"seen": mounted.fns.get_context_model().user})

    def fn():
        mounted.fns.add_context({"user": "Ana"})
        in_thread(copy_current_request_context(work))
        return mounted.fns.get_context_model().get("seen")

    mounted.fn = fn
    assert mounted.act() == "Ana"


@pytest.mark.parametrize("way", ["act", "view"])
def test_a_pool_gets_a_copy(mounted, way):
    def work():
        context = mounted.fns.get_context_model()
        context["seen"] = 1
        return [context.user, context.Request.path]

    def fn():
        mounted.fns.add_context({"user": "Ana"})
        return [*in_thread(mounted.fns.run_in_context(work)), "seen" in mounted.fns.get_context_model()]

    mounted.fn = mounted.view = fn
    found = mounted.act() if way == "act" else mounted.see().get_json()
    assert found == ["Ana", {"act": "/gateway", "view": "/view"}[way], False]


def test_threads_of_asyncio_share_the_context(mounted):
    def fn():
        asyncio.run(asyncio.to_thread(mounted.fns.add_context, {"user": "Ana"}))
        return mounted.fns.get_context_model().user

    mounted.fn = fn
    assert mounted.act() == "Ana"


def test_a_bare_thread_has_no_context(mounted):
    def work():
        with pytest.raises(RuntimeError, match="there is no context outside of a request"):
            mounted.fns.get_context_model()
        return "none"

    def fn():
        mounted.fns.add_context({"user": "Ana"})
        return [in_thread(work), in_thread(mounted.fns.run_in_context(lambda: mounted.fns.get_context_model().user))]

    mounted.fn = fn
    assert mounted.act() == ["none", "Ana"]


def test_a_stream_has_a_context_with_flasks_stream_with_context_only(mounted):
    def lines():
        yield mounted.fns.get_context_model().user

    def view():
        mounted.fns.add_context({"user": "Ana"})
        return Response(stream_with_context(lines()) if "Keep" in request.headers else lines())

    def outside():
        with pytest.raises(RuntimeError, match="there is no context"):
            mounted.see()

    mounted.view = view
    assert mounted.see(Keep="1").text == "Ana"
    Variables().run(outside)


def test_a_stream_that_was_never_finished_leaves_nothing(mounted):
    def lines():
        with mounted.fns.open({"user": "Ana"}):
            yield "a"
            yield "b"

    mounted.view = lambda: Response(lines())
    reply = mounted.client.get("/view", buffered=False)
    assert next(reply.response) == b"a"
    mounted.view = lambda: str(mounted.fns.get_context_model().get("user"))
    assert (mounted.see().text, mounted.act()) == ("None", None)
    reply.close()


def test_test_request_contexts_work_as_requests(mounted):
    with mounted.app.test_request_context("/a"):
        mounted.fns.add_context({"user": "Ana"})
        with mounted.app.test_request_context("/b"):
            assert mounted.fns.get_context_model().get("user") is None
        assert mounted.fns.get_context_model().user == "Ana"


@contextmanager
def uncollected():
    """Without the collector of cycles."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# The log that pytest keeps holds what a host's view raises; what an act raises leaves no trace.
@pytest.mark.parametrize(
    ("path", "fails"),
    [("/gateway", False), ("/gateway", True), ("/view", False)],
    ids=["act", "raising act", "view"],
)
@pytest.mark.parametrize("alone", [False, True], ids=["host", "alone"])
def test_a_request_is_freed_without_a_collection(mounted, alone, path, fails):
    kept = []

    def fn():
        context = mounted.fns.get_context_model()
        kept.append(weakref.ref(request._get_current_object()))
        found = [context.Headers["X-Who"], context.Request.path]
        if fails:
            raise KeyError(found)
        return found

    mounted.fn = mounted.view = fn
    app = mounted.app
    if alone:
        app = mounted.gw.create_app()
        app.add_url_rule("/view", view_func=fn)
    else:
        app.before_request(lambda: mounted.fns.add_context({"user": "Ana"}))
    given = {"json": BODY, "method": "POST"} if path == "/gateway" else {}
    environ = EnvironBuilder(path, headers={"X-Who": "Ana"}, **given).get_environ()
    with uncollected():
        b"".join(app(environ, lambda *reply: None))
        assert [ref() for ref in kept] == [None]


def program(way, port):
    """The command of one worker with threads for the host app."""
    host, load = f"127.0.0.1:{port}", f"{served.__module__}:{served.__name__}"
    if way == "granian":
        granian = ["granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port), "--factory"]
        return [*granian, "--blocking-threads", "4", "--no-ws", load]
    return ["gunicorn", f"{load}()", "-k", way, "--threads", "4", "-b", host, "--no-control-socket"]


@contextmanager
def serving(way, log):
    """Serve the host app; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", *program(way, port)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for(port, process, log)
        yield f"http://127.0.0.1:{port}"
    except BaseException:
        print(log.read_text())  # Shown beside the failure.
        raise
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(port, process, log):
    """Wait until something listens."""
    for _ in range(1200):
        assert process.poll() is None, log.read_text()
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text())


def wrong(send, *, is_host=True):
    """Send all requests from as many threads; gives those with another reply than the right one."""
    chosen = list(crowd(REQUESTS, is_host=is_host))
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(send, (wanted for wanted, *_ in chosen)))
    pairs = zip(chosen, found, strict=True)
    return [(wanted, answer) for (wanted, *right), answer in pairs if list(answer) != right]


@pytest.mark.parametrize("is_host", [True, False], ids=["host", "alone"])
def test_no_request_of_the_test_client_sees_another(is_host):
    app = served() if is_host else served_alone()
    assert wrong(lambda wanted: ask(app.test_client(), wanted), is_host=is_host) == []


@pytest.mark.slow
@pytest.mark.parametrize("way", ["gthread", "sync", "granian"])
def test_no_request_of_a_server_sees_another(way, tmp_path):
    # granian closes a kept connection behind a body that no one read in time, and the next request may meet that.
    retries = urllib3.Retry(2, allowed_methods=None) if way == "granian" else False
    with serving(way, tmp_path / "log") as url, urllib3.PoolManager(maxsize=THREADS, retries=retries) as pool:

        def send(wanted):
            method, path, headers, body = wanted
            reply = pool.request(method, url + path, headers=headers, json=body, timeout=60)
            return reply.status, body_of(reply.data)

        assert wrong(send) == []
