"""Too slow a database, too few connections, too slow a neighbour: refused in time, and it is said when to come back."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from gatewayfw import gateway
from tests.faults.clients import at_once
from tests.faults.replica import NAME

DETAILS = {"set": {}, "get": {}}
LATE = "the request timed out, try again"
UNAVAILABLE = "service unavailable, try again"


@pytest.fixture
def make(proxied, proxy):
    """Make a gateway on a database whose every reply can be delayed; gives it, its model, and a function to post."""
    made = []

    def make(options="", **settings):
        gw = gateway(**settings)
        made.append(gw)
        gw.odm.set_db(f"mongodb://127.0.0.1:{proxy.port}/overload?replicaSet={NAME}{options}")
        model = gw.odm.new_model("thing", {"name": gw.schemas.string()}, {})
        gw.odm.ready()
        app = gw.create_app()
        return gw, model, lambda act: timed(app, act)

    yield make
    for gw in made:
        gw.odm.storage.close()


def timed(app, act):
    """Post an act; gives status, message or body, Retry-After, and the seconds it took."""
    begun = time.monotonic()
    reply = app.test_client().post("/gateway", json={"model": "thing", "act": act, "details": DETAILS})
    assert reply.mimetype == "application/json"
    body = reply.json["body"]
    told = body["message"] if reply.status_code >= 400 else body
    return reply.status_code, told, reply.headers.get("Retry-After"), time.monotonic() - begun


def add(gw, name, fn):
    gw.acts.set_act(schema="thing", act_name=name, validator=gw.schemas.object_({"set": {}, "get": {}}), fn=fn)


class Silent(BaseHTTPRequestHandler):
    """A remote service that never answers."""

    def do_POST(self):  # the name http.server calls
        self.server.asked.append(self.path)
        self.rfile.read()

    def log_message(self, *_):
        pass


@pytest.fixture
def silent():
    """A running `Silent` server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads, server.asked = True, []
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def reading(model, times):
    """Return an act that looks into the database so many times."""
    return lambda body: [len(list(model.find(filters={}))) for _ in range(times)]


@pytest.mark.mongo
@pytest.mark.slow
def test_one_deadline_covers_all_calls_of_the_database(make, proxy):
    gw, model, post = make(deadline=1.0)
    add(gw, "read", reading(model, 20))
    assert post("read")[0] == 200
    with proxy.delaying(0.3):
        status, message, retry_after, took = post("read")
    assert status == 503
    assert message == LATE
    assert retry_after == "1"
    assert took < 4  # and not 20 times 0.3 s


@pytest.mark.mongo
@pytest.mark.slow
def test_the_deadline_ends_a_call_that_the_database_never_answers(make, proxy):
    gw, model, post = make(deadline=1.0)
    add(gw, "read", reading(model, 1))
    assert post("read")[0] == 200
    with proxy.swallowing():
        status, message, retry_after, took = post("read")
    assert status == 503
    assert retry_after == "1"
    assert message in (LATE, UNAVAILABLE)
    assert took < 4


@pytest.mark.mongo
@pytest.mark.slow
def test_one_deadline_covers_the_database_and_a_remote_service(make, proxy, silent):
    gw, model, post = make(deadline=2.0)
    gw.acts.set_service("far", f"http://127.0.0.1:{silent.server_port}")
    far = {"service": "far", "model": "a", "act": "b", "details": DETAILS}
    read = reading(model, 3)
    add(gw, "both", lambda body: (read(body), gw.lifecycle.run(far, lambda result: result)))
    with proxy.delaying(0.2):
        status, message, _, took = post("both")
    assert (status, message) == (504, "service far took too long")
    assert silent.asked == ["/gateway"]
    assert took < 5  # not remote_timeout (10) after the database


@pytest.mark.mongo
@pytest.mark.slow
def test_a_write_that_comes_too_late_writes_nothing(make, proxy):
    gw, model, post = make(deadline=1.0)
    before = model.count()

    def write(body):
        for number in range(3):
            list(model.find(filters={"name": str(number)}))
        return model.insert_one(doc={"name": "late"})

    add(gw, "write", write)
    with proxy.delaying(0.4):
        assert post("write")[:3] == (503, LATE, "1")
    assert model.count() == before


@pytest.mark.mongo
@pytest.mark.slow
def test_a_used_up_pool_is_refused_and_never_hangs(make, proxy):
    gw, model, post = make("&maxPoolSize=1", deadline=3.0)
    add(gw, "read", reading(model, 1))
    assert post("read")[0] == 200
    with proxy.delaying(1.5):
        replies = at_once(8, lambda _: post("read"))
    refused = [reply[:3] for reply in replies if reply[0] != 200]
    assert set(refused) <= {(503, UNAVAILABLE, "1"), (503, LATE, "1")}
    assert len(refused) >= 5
    assert max(reply[3] for reply in replies) < 6
    assert post("read")[0] == 200


@pytest.mark.mongo
@pytest.mark.slow
def test_every_thread_of_a_server_finds_a_connection(make, proxy):
    gw, model, post = make(deadline=10.0)
    add(gw, "read", reading(model, 1))
    post("read")
    with proxy.delaying(0.2):
        replies = at_once(16, lambda _: post("read"))
    assert {reply[0] for reply in replies} == {200}
