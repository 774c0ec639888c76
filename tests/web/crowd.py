"""A host app in which everything puts the caller's name into the context, and says what it finds there.

It answers with 599 as soon as a request begins with a context that is not empty, so that whoever asks it
has only to compare each reply with the one that `asked` expects.
"""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

from flask import Blueprint, Flask, Response, copy_current_request_context, g, request, stream_with_context

from gatewayfw import HttpError, gateway, string

LEAK = 599


class Boom(Exception):
    """What half of the requests raise."""


def served():
    """The host app that the servers load."""
    return Crowd().app


def served_alone():
    """The gateway's own app, whose route is answered before Flask's dispatch."""
    return Crowd(is_host=False).app


class Crowd:
    """Two gateways, and views of the host, with hooks of app and blueprints around them."""

    def __init__(self, *, is_host=True):
        self.gw, self.other = gateway(), gateway()
        for gw in (self.gw, self.other):
            self._add_acts(gw)
        self.app = self._host() if is_host else self.gw.create_app()
        if not is_host:
            self.other.init_app(self.app, "/other")
        self.app.wsgi_app = dispatching_twice(self.app.wsgi_app)

    def found(self, fns=None):
        """What the context of the running request says of the caller."""
        context = (fns or self.gw.context_fns).get_context_model()
        return [context.get("user"), context.get("hook")]

    def _add_acts(self, gw):
        fns = gw.context_fns

        def note():
            if "hook" in fns.get_context_model():
                raise HttpError("leak", LEAK)
            fns.add_context({"hook": fns.get_context_model().Headers.get("x-who")})

        @gw.acts.act("crowd", "who", set={"way": string()}, pre_act=[note])
        def who(body):
            return getattr(self, f"_{body['details']['set']['way']}")(gw)

    def _plain(self, gw):
        return self.found(gw.context_fns)

    def _raising(self, gw):
        raise Boom(self.found(gw.context_fns))

    def _refusing(self, gw):
        raise HttpError("/".join(map(str, self.found(gw.context_fns))), 418)

    def _thread(self, gw):
        """In a thread that has Flask's request, where the context is shared."""
        return in_thread(copy_current_request_context(lambda: self.found(gw.context_fns)))

    def _pool(self, gw):
        """In a pool, whose thread changes its own copy only."""

        def work():
            seen = self.found(gw.context_fns)
            gw.context_fns.add_context({"user": "of the pool"})
            return seen

        with ThreadPoolExecutor(1) as pool:
            return [pool.submit(gw.context_fns.run_in_context(work)).result(), self.found(gw.context_fns)]

    def _nested(self, gw):
        """Within an outer app context: a request of somebody else, and one that raises."""
        with self.app.app_context(), gw.context_fns.open({"user": "of a block"}):
            replies = [ask(self.app.test_client(), act(way, "inner")) for way in ("plain", "raising")]
            seen = self.found(gw.context_fns)
        return [[status for status, _ in replies], seen, self.found(gw.context_fns)]

    def _host(self):
        app, shop = Flask("host", static_folder=None), Blueprint("shop", "shop")
        app.before_request(self._greet)
        app.after_request(self._stamp)
        app.register_error_handler(Boom, lambda error: (json.dumps(error.args[0]), 510))
        shop.before_request(lambda: self.gw.context_fns.add_context({"hook": request.headers.get("x-who")}))
        shop.add_url_rule("/<way>", view_func=self._view)
        app.register_blueprint(shop, url_prefix="/shop")
        mine = self.gw.blueprint("mine")
        mine.before_request(lambda: g.setdefault("seen", self.found()) and None)
        app.register_blueprint(mine)
        self.other.init_app(app, "/other")
        return app

    def _greet(self):
        if "user" in self.gw.context_fns.get_context_model() or "user" in self.other.context_fns.get_context_model():
            return "leak", LEAK
        who = request.headers.get("x-who")
        for gw in (self.gw, self.other):
            if who:
                gw.context_fns.add_context({"user": who})
        if request.headers.get("x-early"):
            raise Boom(self.found())
        return None

    def _stamp(self, reply):
        reply.headers["X-Seen"] = str(self.found()[0])
        return reply

    def _view(self, way):
        if way == "stream":
            return Response(stream_with_context(self._lines()))
        return json.dumps(getattr(self, f"_{way}")(self.gw))

    def _lines(self):
        yield json.dumps(self.found()[0]) + "\n"
        with self.gw.context_fns.open({"user": "of a block"}):
            yield json.dumps(self.found()[0]) + "\n"
        yield json.dumps(self.found()[0])


def dispatching_twice(app):
    """A middleware that first sends a request with `X-Twice` to a host's view, and forgets the reply."""

    def dispatch(environ, start_response):
        if environ.get("HTTP_X_TWICE"):
            path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
            environ |= {"PATH_INFO": "/shop/plain", "REQUEST_METHOD": "GET"}
            b"".join(app(environ, lambda *reply: lambda data: None))
            environ |= {"PATH_INFO": path, "REQUEST_METHOD": method}
        return app(environ, start_response)

    return dispatch


def in_thread(fn):
    """Return what a function returns in a thread of its own, which inherits nothing."""
    found = []
    thread = Thread(target=lambda: found.append(fn()))
    thread.start()
    thread.join()
    return found[0]


def act(way, who, base="", **headers):
    """A request for an act: method, path, headers, JSON."""
    body = {"model": "crowd", "act": "who", "details": {"set": {"way": way}, "get": {}}}
    return "POST", f"{base}/gateway", named(who, headers), body


def view(way, who, **headers):
    """A request for a view of the host."""
    return "GET", f"/shop/{way}", named(who, headers), None


def named(who, headers):
    """Headers with the caller's name, if there is one."""
    return {f"X-{name}": "1" for name in headers} | ({"X-Who": who} if who else {})


def asked(who, *, is_host=True):
    """Requests of one caller with their right replies: status and body; every other one raises."""
    user = who if is_host else None
    seen, both = [user, who], f"{user}/{who}"
    good = [
        (act("plain", who), 200, seen),
        (act("plain", who, "/other"), 200, seen),
        (act("thread", who), 200, seen),
        (act("pool", who), 200, [seen, seen]),
        (act("nested", who), 200, [[200, 500], ["of a block", None], seen]),
        (act("plain", who, Twice=1), 200, seen),
    ]
    bad = [
        (act("raising", who), 500, {"message": "internal error"}),
        (act("refusing", who), 418, {"message": both}),
        (act("refusing", who, "/other"), 418, {"message": both}),
        (act("refusing", who, Twice=1), 418, {"message": both}),
    ]
    if not is_host:
        return good, bad
    good += [
        (view("plain", who), 200, seen),
        (view("thread", who), 200, seen),
        (view("pool", who), 200, [seen, seen]),
        (view("nested", who), 200, [[200, 500], ["of a block", None], seen]),
        (view("stream", who), 200, f'{json.dumps(who)}\n"of a block"\n{json.dumps(who)}'),
        (view("plain", who, Twice=1), 200, seen),
    ]
    bad += [
        (view("raising", who), 510, seen),
        (view("raising", who, Twice=1), 510, seen),
        (view("plain", who, Early=1), 510, [who, None]),
        (act("plain", who, Early=1), 510, [who, None]),
    ]
    return good, bad


def crowd(count, *, is_host=True):
    """That many different requests with their right replies, half of them raising, some without a name."""
    chosen = random.Random(7)
    for number in range(count):
        who = None if chosen.random() < 0.3 else f"user-{number}"
        yield chosen.choice(asked(who, is_host=is_host)[number % 2])


def ask(client, wanted):
    """Send a request with Flask's test client; gives status and body."""
    method, path, headers, body = wanted
    reply = client.open(path, method=method, headers=headers, json=body)
    return reply.status_code, body_of(reply.get_data())


def body_of(data):
    """The body of an envelope, JSON of a view, or text."""
    try:
        read = json.loads(data)
    except ValueError:
        return data.decode()
    return read["body"] if isinstance(read, dict) and "success" in read else read
