"""Batches on the wire: what is refused, and how items are answered, logged and told apart."""

from __future__ import annotations

import copy
import logging
from time import perf_counter

import mongomock
import pytest
from flask import got_request_exception
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw import Reply
from gatewayfw.errors import HttpError
from tests.batches import ID, NOT_DONE, Library, add, asked, done, failed, library

__all__ = ["library"]

PING = asked("ping")
EMPTY = "batch must be a list of requests that is not empty"
MORE = "a body with batch may have atomic beside it, and nothing else"
REFUSED = {
    "empty": ({"batch": []}, EMPTY),
    "an object": ({"batch": {"0": PING}}, EMPTY),
    "null": ({"batch": None}, EMPTY),
    "a request beside it": ({**PING, "batch": [PING]}, MORE),
    "a request beside null": ({**PING, "batch": None}, MORE),
    "unknown key": ({"batch": [PING], "Atomic": True}, MORE),
    "atomic text": ({"batch": [PING], "atomic": "true"}, "atomic must be true or false"),
    "atomic number": ({"batch": [PING], "atomic": 1}, "atomic must be true or false"),
    "atomic null": ({"batch": [PING], "atomic": None}, "atomic must be true or false"),
    "too many": ({"batch": [PING] * 21}, "batch: at most 20 requests"),
    "a batch in it": ({"batch": [add("a"), {"batch": [PING]}]}, "batch.1: a batch cannot hold another"),
    "batch beside a request in it": (
        {"batch": [add("a"), {**PING, "batch": 0}]},
        "batch.1: a batch cannot hold another",
    ),
}


@pytest.mark.parametrize(("body", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_batch_is_refused_before_anything_runs(library, body, message):
    assert library.send(body) == (400, {"body": {"message": message}, "success": False})
    assert library.titles() == []


@pytest.mark.parametrize("atomic", [False, True])
def test_the_key_of_one_act_is_refused(library, atomic):
    message = "the header Idempotency-Key belongs to one act: a batch takes none"
    reply = library.post(add("a"), atomic=atomic, headers={"Idempotency-Key": "k"})
    assert reply == (400, {"body": {"message": message}, "success": False})
    assert library.titles() == []


@pytest.mark.parametrize("body", [{"batch": [PING]}, {"batch": []}, {**PING, "batch": 1}])
def test_batches_are_off_by_default(body):
    library = Library(mongomock.MongoClient().test, max_batch=0)
    message = "batch: this gateway takes one act at a time"
    assert library.send(body) == (400, {"body": {"message": message}, "success": False})


def test_the_limits_of_a_body_are_those_of_any_other(library):
    deep = {"x": 1}
    for _ in range(31):
        deep = {"x": deep}
    message = "the request body is nested deeper than 32 levels"
    assert library.post(asked("ping", deep)) == (400, {"body": {"message": message}, "success": False})
    many = asked("ping", {"x": [0] * 10_000})
    message = "the request body holds more than 20000 values"
    assert library.post(many, many) == (400, {"body": {"message": message}, "success": False})


def test_a_model_and_an_act_may_be_called_batch(library):
    library.gw.acts.act("batch", "batch")(lambda body: "ran")
    body = {"model": "batch", "act": "batch", "details": {"set": {}, "get": {}}}
    assert library.send(body) == (200, {"body": "ran", "success": True})
    assert library.post(body)[1]["body"] == [done("ran")]


# -- how items are answered


def test_a_malformed_item_fails_by_itself(library):
    items = [{"model": "book"}, [], None, {"model": "book", "act": "ping", "details": {"set": {}}}, PING]
    expected = [
        failed(400, "bad_request", "act must be a string that is not empty"),
        failed(400, "bad_request", "the request body must be an object"),
        failed(400, "bad_request", "the request body must be an object"),
        failed(400, "bad_request", "details.get must be an object"),
        done("pong"),
    ]
    assert library.post(*items) == (200, {"body": expected, "success": False})


def test_the_reply_has_the_headers_of_a_success(library):
    reply = library.client.post("/gateway", json={"batch": [PING, asked("none")]}, headers={"X-Request-Id": ID})
    assert dict(reply.headers) == {
        "Content-Type": "application/json",
        "Content-Length": str(len(reply.data)),
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Request-Id": ID,
    }


@pytest.mark.parametrize("atomic", [False, True])
def test_details_of_errors_have_the_id_of_their_item(library, atomic):
    body = library.post(PING, asked("none"), atomic=atomic, headers={"X-Gateway-Detail": "1"})[1]["body"]
    message = {"message": "act not found: book.none", "code": "not_found", "errors": {}, "details": {}}
    message["requestId"] = "batch-1.1"
    assert body[1] == {"body": message, "success": False, "status": 404, "code": "not_found"}
    assert ("requestId" in body[0]["body"]) is atomic


def test_ids_of_items_have_at_most_64_characters(library):
    headers = {"X-Gateway-Detail": "1", "X-Request-Id": "x" * 64}
    body = library.post(*[asked("none")] * 11, headers=headers)[1]["body"]
    assert [item["body"]["requestId"] for item in body[::10]] == ["x" * 62 + ".0", "x" * 61 + ".10"]


@pytest.mark.parametrize("atomic", [False, True])
def test_acts_find_the_ids_of_their_items_in_their_headers(library, atomic):
    get_context = library.gw.context_fns.get_context_model
    library.gw.acts.act("book", "told")(lambda body: get_context()["Headers"]["X-Request-Id"])
    body = library.post(asked("told"), asked("told"), atomic=atomic, headers={"X-Request-Id": "b"})[1]["body"]
    assert body == [done("b.0"), done("b.1")]


def test_as_many_requests_as_the_setting_says_are_a_batch(library):
    assert library.post(*[PING] * 20)[1]["body"] == [done("pong")] * 20


class Watching:
    """An observer of acts, and of what it is told."""

    def __init__(self):
        self.begun, self.calls = [], []

    def begin(self, names, headers):
        self.begun.append((str(names), headers.get("traceparent")))
        return self.calls.append

    def __call__(self, call):
        self.calls.append(call)


@pytest.fixture
def watched(database):
    """Send a batch, and return what an observer is told: the calls, and which acts began."""

    def send(*items, atomic):
        library, watching = Library(database, expose_errors=False), Watching()
        library.gw.on_call(watching)
        headers = {"X-Request-Id": "b", "traceparent": "t"}
        address = {"REMOTE_ADDR": "192.0.2.7"}
        body = {"batch": items, "atomic": atomic}
        library.gw.create_app().test_client().post("/gateway", json=body, headers=headers, environ_base=address)
        assert {call.address for call in watching.calls} == {"192.0.2.7"}
        told = [(call.request_id, str(call.names), call.status, call.code, type(call.error)) for call in watching.calls]
        return told, watching.begun, [call.seconds for call in watching.calls]

    return send


NOTHING = type(None)


def test_observers_are_told_of_each_item_as_of_a_request(watched):
    told, begun, _ = watched(PING, {"model": 1}, asked("none"), asked("break"), atomic=False)
    assert told == [
        ("b.0", "main.book.ping", 200, "ok", NOTHING),
        ("b.1", "_unknown", 400, "bad_request", NOTHING),
        ("b.2", "_unknown", 404, "not_found", NOTHING),
        ("b.3", "main.book.break", 500, "internal_error", ValueError),
    ]
    assert begun == [("main.book.ping", "t"), ("_unknown", "t"), ("main.book.break", "t")]


@pytest.mark.parametrize(
    ("item", "failure"),
    [
        ({"model": 1}, ("_unknown", 400, "bad_request", NOTHING)),
        (asked("break"), ("main.book.break", 500, "internal_error", ValueError)),
    ],
    ids=["malformed", "broken"],
)
def test_observers_are_told_of_an_atomic_batch_when_it_is_over(watched, monkeypatch, item, failure):
    monkeypatch.setattr("gatewayfw.web.batch.perf_counter", lambda: perf_counter() - 1000)
    told, begun, seconds = watched(PING, item, atomic=True)
    assert told == [("b.0", "main.book.ping", 409, "not_done", NOTHING), ("b.1", *failure)]
    assert begun == []
    assert all(1000 < one < 2000 for one in seconds)


@pytest.mark.parametrize("atomic", [False, True])
def test_what_goes_wrong_in_an_item_is_logged_and_signalled_once(database, caplog, atomic):
    library, heard = Library(database, expose_errors=False), []

    def listen(sender, exception, **_):
        heard.append(str(exception))

    with caplog.at_level(logging.WARNING, "gatewayfw"), got_request_exception.connected_to(listen):
        body = library.post(PING, asked("break"), PING, atomic=atomic)[1]["body"]
    assert body[1] == failed(500, "internal_error", "internal error")
    (record,) = caplog.records
    first, *_, last = record.getMessage().splitlines()
    assert first == "unexpected error: request_id=batch-1.1 service=main model=book act=break"
    assert (last, heard) == ("ValueError: a secret", ["a secret"])


def test_an_act_chooses_when_to_try_again(library):
    error = HttpError("closed", 503, code="closed")
    seconds = ["7", "soon", "1e3", "-1", "٣", "9" * 10]

    @library.gw.acts.act("book", "closed")
    def closed(body):
        error.headers = {"Retry-After": seconds.pop(0), "X-Error-Code": "other"}
        raise error

    expected = [failed(503, "closed", "closed", retryAfter=7), *[failed(503, "closed", "closed")] * 5]
    assert library.post(*[asked("closed")] * 6)[1]["body"] == expected


def test_names_are_told_to_those_who_see_the_playground(database):
    library = Library(database)
    library.client = library.gw.create_app(playground=True).test_client()
    message = "act not found: book.none (known: add, addAndFail, list, ping, limited, break, say)"
    assert library.post(asked("none"))[1]["body"] == [failed(404, "not_found", message)]


def test_a_batch_is_answered_in_a_blueprint_with_cors_too(library):
    app = library.gw.create_app(fast_lane=False, cors=["https://a.example"], url_prefix="/api")
    reply = app.test_client().post("/api/gateway", json={"batch": [PING]}, headers={"Origin": "https://a.example"})
    assert reply.get_json() == {"body": [done("pong")], "success": True}
    assert reply.headers["Access-Control-Allow-Origin"] == "https://a.example"


def test_a_wrong_definition_refuses_the_whole_batch(library):
    missing = {"schemaName": "none", "type": "single", "optional": True}
    library.gw.odm.new_model("late", {}, {"shop": missing})
    assert library.post(PING)[0] == 500


# -- against single requests

TEXTS = st.sampled_from(["", "a", "b" * 21, 1])
GETS = st.sampled_from([{}, {"title": 1}, {"title": 2}, {"author": {"books": 1}}, {"secret": 1}])
ONES = st.one_of(
    st.builds(lambda title, get: asked("add", {"title": title}, get), TEXTS, GETS),
    st.builds(lambda get: asked("list", {}, {"_id": 0, **get}), GETS),
    st.builds(lambda text: asked("addAndFail", {"title": text}), TEXTS),
    st.sampled_from([PING, asked("break"), asked("none"), {}, 1, {**PING, "details": []}, {**PING, "service": "none"}]),
)


def without_ids(value):
    """Return replies in which ids are alike."""
    if isinstance(value, list):
        return [without_ids(one) for one in value]
    if isinstance(value, dict):
        return {key: "id" if key == "_id" else without_ids(one) for key, one in value.items()}
    return value


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(ONES, min_size=1, max_size=8))
def test_a_batch_gives_item_by_item_what_single_requests_give(items):
    single, batch = Library(mongomock.MongoClient().test), Library(mongomock.MongoClient().test)
    expected = []
    for item in items:
        reply = single.client.post("/gateway", json=item)
        code = {"code": reply.headers["X-Error-Code"]} if reply.status_code >= 400 else {}
        expected.append({**reply.get_json(), "status": reply.status_code, **code})
    status, envelope = batch.post(*copy.deepcopy(items))
    success = all(item["success"] for item in expected)
    assert (status, without_ids(envelope)) == (200, {"body": without_ids(expected), "success": success})
    assert batch.titles() == single.titles()


def choosing(library, **choices):
    """Define an act that adds a book and chooses its reply."""

    def add_choosing(body):
        return Reply(library.books.insert_one(doc={"title": "b"}, projection={"_id": 0, "title": 1}), **choices)

    library.gw.acts.act("book", "choose")(add_choosing)


@pytest.mark.parametrize("atomic", [False, True])
def test_an_item_has_the_status_that_its_act_chose(library, atomic):
    choosing(library, status=201)
    status, envelope = library.post(add("a"), asked("choose"), atomic=atomic)
    assert (status, envelope["body"]) == (200, [done({"title": "a"}), {**done({"title": "b"}), "status": 201}])


@pytest.mark.parametrize("choice", [{"headers": {"X-A": "1"}}, {"cookies": [{"name": "a", "value": "1"}]}])
def test_an_item_cannot_have_headers_or_cookies(library, choice):
    choosing(library, **choice)
    message = "this act answers with headers or cookies: call it outside of a batch"
    _, envelope = library.post(add("a"), asked("choose"))
    stays = failed(400, "bad_request", f"{message}; whatever it wrote stays")
    assert (envelope["body"], library.titles()) == ([done({"title": "a"}), stays], ["a", "b"])
    _, envelope = library.post(add("c"), asked("choose"), atomic=True)
    assert (envelope["body"], library.titles()) == ([NOT_DONE, failed(400, "bad_request", message)], ["a", "b"])


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("where", ["hook", "act"])
def test_a_mapped_exception_of_an_item_is_its_error(library, atomic, where):
    def fail(body):
        raise OSError("secret")

    hooks, mapped = ([fail] if where == "hook" else []), {OSError: (503, "disk", "try later")}
    library.gw.acts.act("book", "fail", pre_act=hooks, exceptions=mapped)(fail)
    _, envelope = library.post(add("a"), asked("fail"), atomic=atomic)
    first = NOT_DONE if atomic else done({"title": "a"})
    assert envelope["body"] == [first, failed(503, "disk", "try later")]
