"""Running the items of a batch: each by itself, or all in one transaction."""

from __future__ import annotations

import contextlib
import json

import pytest
from bson import ObjectId
from flask import g

from gatewayfw import HttpError, string
from gatewayfw.errors import DuplicateKey, Timeout
from gatewayfw.testing.kit import assert_copies_right
from tests.batches import NOT_DONE, Library, add, asked, done, failed, library, stopped

__all__ = ["library", "stopped"]

FAIL = asked("addAndFail", {"title": "b"})
SOLD_OUT = failed(409, "sold_out", "sold out")


def test_items_run_in_order_and_see_what_those_before_them_wrote(library):
    replies = [done({"title": "a"}), done([{"title": "a"}]), done({"title": "b"})]
    assert library.post(add("a"), asked("list", get={"_id": 0, "title": 1}), add("b")) == (
        200,
        {"body": replies, "success": True},
    )
    assert library.titles() == ["a", "b"]


def test_an_item_that_fails_leaves_the_others_alone(library):
    replies = [done({"title": "a"}), SOLD_OUT, done({"title": "c"})]
    assert library.post(add("a"), FAIL, add("c")) == (200, {"body": replies, "success": False})
    assert library.titles() == ["a", "b", "c"]


@pytest.mark.parametrize("atomic", [False, True])
def test_more_items_than_allowed_do_nothing(library, atomic):
    message = {"body": {"message": "batch: at most 20 requests"}, "success": False}
    assert library.post(*[add("a")] * 21, atomic=atomic) == (400, message)
    assert library.titles() == []
    assert library.post(*[add("a")] * 20, atomic=atomic)[1]["success"] is True
    assert library.titles() == ["a"] * 20


# -- the context


def test_each_item_has_a_context_of_its_own(library):
    fns, seen = library.gw.context_fns, []

    @library.gw.acts.act(
        "book", "keep", set={"name": string()}, pre_act=[lambda: fns.get_context_model().tags.append(1)]
    )
    def keep(body):
        context = fns.get_context_model()
        seen.append((context.body["details"]["set"]["name"], context.tags, context.get("user"), context.Request.path))
        fns.add_context({"user": body["details"]["set"]["name"]})

    kept = {}

    @library.client.application.before_request
    def begin():
        kept["context"] = fns.get_context_model()
        fns.add_context({"tags": [0]})

    for atomic in (False, True):
        assert library.post(asked("keep", {"name": "x"}), asked("keep", {"name": "y"}), atomic=atomic)[1]["success"]
        assert seen == [("x", [0, 1], None, "/gateway"), ("y", [0, 1], None, "/gateway")]
        assert kept["context"].tags == [0]
        assert "user" not in kept["context"]
        assert kept["context"].body is None
        seen.clear()


@pytest.mark.parametrize("atomic", [False, True])
def test_each_item_has_a_flask_g_of_its_own(library, atomic):
    seen, kept = [], {}

    @library.client.application.before_request
    def begin():
        g.host, g.tags = "host", []

    @library.client.application.after_request
    def end(reply):
        kept.update({name: g.get(name) for name in g})
        return reply

    def load_user(body):
        g.setdefault("user", body["details"]["set"]["name"])
        g.tags.append(g.user)

    @library.gw.acts.act("book", "keep", set={"name": string()}, pre_act=[load_user])
    def keep(body):
        seen.append((g.host, body["details"]["set"]["name"], g.user, list(g.tags)))
        g.host = "changed"
        if g.user == "z":
            raise HttpError("not z", 409)

    library.post(*(asked("keep", {"name": name}) for name in "xyz"), atomic=atomic)
    assert seen == [("host", name, name, [name]) for name in "xyz"]
    assert kept == {"host": "host", "tags": []}


def test_each_item_has_an_id_of_its_own(library):
    fns = library.gw.context_fns
    library.gw.acts.act("book", "id")(lambda body: fns.get_context_model().Headers.getlist("x-request-id"))
    replies = [done(["batch-1.0"]), done(["batch-1.1"])]
    assert library.post(asked("id"), asked("id")) == (200, {"body": replies, "success": True})
    assert library.post(asked("id"), asked("id"), atomic=True) == (200, {"body": replies, "success": True})
    long = {"X-Request-Id": "x" * 64}
    assert library.post(asked("id"), headers=long)[1]["body"] == [done(["x" * 62 + ".0"])]


def test_create_gives_each_item_its_own_loaded_body(library):
    fns = library.gw.context_fns

    @library.gw.acts.act("book", "load", set={"n": string()}, mode="create")
    def load(body):
        return [body["details"]["set"]["n"], fns.get_context_model().body["details"]["set"]["n"]]

    for atomic in (False, True):
        items = library.post(asked("load", {"n": "x"}), asked("load", {"n": "y"}), atomic=atomic)[1]["body"]
        assert items == [done(["x", "x"]), done(["y", "y"])]


# -- what a batch cannot get around


@pytest.mark.usefixtures("stopped")
def test_each_item_counts_for_the_limit_of_its_act(library):
    refused = failed(429, "rate_limited", "too many requests, try again later", retryAfter=60)
    replies = [done("passed")] * 3 + [refused] * 2
    assert library.post(*[asked("limited")] * 5) == (200, {"body": replies, "success": False})
    assert library.post(asked("limited"), asked("ping"))[1]["body"] == [refused, done("pong")]


@pytest.mark.usefixtures("stopped")
def test_the_limit_of_an_act_refuses_an_atomic_batch(library):
    refused = failed(429, "rate_limited", "too many requests, try again later", retryAfter=60)
    replies = [NOT_DONE, NOT_DONE, NOT_DONE, NOT_DONE, refused]
    items = [add("a"), *[asked("limited")] * 4]
    assert library.post(*items, atomic=True) == (200, {"body": replies, "success": False})
    assert library.titles() == []


def refused_get(text):
    return failed(400, "validation_error", f"validation error: get: {text}")


@pytest.mark.parametrize("atomic", [False, True])
def test_fields_are_summed(database, atomic):
    library = Library(database, max_get_leaves=4)
    refused = refused_get("Too many fields: at most 4 in a batch.")
    expected = [NOT_DONE, NOT_DONE] if atomic else [done({"title": "a"}), done({"title": "b"})]
    body = library.post(add("a"), add("b"), add("c"), atomic=atomic)[1]["body"]
    assert body == [*expected, refused]
    assert library.titles() == ([] if atomic else ["a", "b"])
    assert library.send(add("c", n=1))[0] == 200


@pytest.mark.parametrize("atomic", [False, True])
def test_what_an_act_asks_of_another_is_not_counted(database, atomic):
    library = Library(database, max_get_leaves=3)

    @library.gw.acts.act("book", "addTwice", set={"title": string()})
    def add_twice(body):
        title = body["details"]["set"]["title"]
        body = {"service": "main", **add(title)}
        return [library.gw.lifecycle.run(body, lambda result, _: result)["title"] for _ in range(2)]

    items = [asked("addTwice", {"title": "a"}), asked("addTwice", {"title": "b"})]
    assert library.post(*items, atomic=atomic)[1]["body"] == [done(["a", "a"]), done(["b", "b"])]
    assert library.titles() == ["a", "a", "b", "b"]


def test_depth_is_that_of_each_item(database):
    library = Library(database, max_get_depth=2)
    flat, deep = {"author": {"name": 1}}, {"author": {"books": {"title": 1}}}
    body = library.post(asked("list", get=flat), asked("list", get=deep), asked("list", get=flat))[1]["body"]
    assert body == [done([]), refused_get("Nested too deeply: at most 2 levels."), done([])]


@pytest.mark.parametrize("atomic", [False, True])
def test_queries_are_summed(database, atomic):
    library = Library(database, max_get_queries=3)
    one, two = {"author": {"books": 1}}, {"author": {"books": {"author": 1}}}
    refused = refused_get("Too many relations of related documents: at most 3 in a batch.")
    body = library.post(asked("list", get=two), asked("list", get=one), asked("list", get=one), atomic=atomic)[1][
        "body"
    ]
    assert body == [*([NOT_DONE] * 2 if atomic else [done([])] * 2), refused]
    assert library.send(asked("list", get=two))[0] == 200


@pytest.mark.parametrize("atomic", [False, True])
def test_bytes_are_summed(database, atomic):
    library = Library(database, max_reply_bytes=1000)
    say, said = asked("say", {"text": "x" * 300}), done("x" * 300)
    message = "the reply would have more than 1000 bytes; ask for fewer fields or documents"
    refused = failed(413, "reply_too_large", message)
    body = library.post(add("a"), say, say, say, atomic=atomic)[1]["body"]
    assert body == [*([NOT_DONE] * 3 if atomic else [done({"title": "a"}), said, said]), refused]
    assert library.titles() == ([] if atomic else ["a"])


def test_what_an_item_wrote_before_its_reply_was_refused_stays_and_is_told(database):
    library = Library(database, max_reply_bytes=400)
    message = (
        "the reply would have more than 400 bytes; whatever this request wrote stays; ask for fewer fields or documents"
    )
    body = library.post(asked("say", {"text": "x" * 360}), add("a"), asked("ping"))[1]["body"]
    assert body[1] == failed(413, "reply_too_large", message)
    assert library.titles() == ["a"]


# -- the deadline


def end_time(library):
    """Use up the time that is left."""
    with library.gw.odm.database.request_deadline() as scope:
        scope.end()


@pytest.fixture
def expiring(library):
    """A library with an act that adds a book and then uses up all time."""

    @library.gw.acts.act("book", "addLate", set={"title": string()})
    def add_late(body):
        library.books.insert_one(doc=body["details"]["set"])
        end_time(library)
        library.books.find_one({"title": "a"})

    return library


LATE = failed(503, "timeout", "the request timed out, try again", retryAfter=1)


def test_the_deadline_is_that_of_the_whole_batch_and_each_status_is_honest(expiring):
    partly = failed(503, "partly_done", "service unavailable; a part of this request was done")
    items = [add("a"), asked("addLate", {"title": "b"}), add("c"), asked("ping")]
    assert expiring.post(*items)[1]["body"] == [done({"title": "a"}), partly, LATE, LATE]
    assert expiring.titles() == ["a", "b"]


def test_the_deadline_undoes_an_atomic_batch(expiring):
    items = [add("a"), asked("addLate", {"title": "b"}), add("c")]
    assert expiring.post(*items, atomic=True)[1]["body"] == [NOT_DONE, LATE, NOT_DONE]
    assert expiring.titles() == []


def test_one_deadline_covers_a_batch_without_a_database():
    library = Library(None)
    library.gw.acts.act("book", "end")(lambda body: end_time(library))
    assert library.post(asked("ping"), asked("end"), asked("ping"))[1]["body"] == [done("pong"), done(None), LATE]


# -- atomic


def test_the_acts_of_an_atomic_batch_see_each_others_writes(library):
    items = [add("a"), asked("list", get={"_id": 0, "title": 1}), add("b")]
    replies = [done({"title": "a"}), done([{"title": "a"}]), done({"title": "b"})]
    assert library.post(*items, atomic=True) == (200, {"body": replies, "success": True})
    assert library.titles() == ["a", "b"]


INVALID = add("")
LATER_FAILURES = {
    "act": (FAIL, SOLD_OUT),
    "unknown": (asked("buy"), failed(404, "not_found", "act not found: book.buy")),
    "malformed": ({"model": "book"}, failed(400, "bad_request", "act must be a string that is not empty")),
    "not an object": (1, failed(400, "bad_request", "the request body must be an object")),
    "invalid": (
        INVALID,
        failed(400, "validation_error", "validation error: set.title: Length must be between 1 and 20."),
    ),
    "broken": (asked("break"), failed(500, "internal_error", "internal error")),
}


@pytest.mark.parametrize(("item", "reply"), LATER_FAILURES.values(), ids=LATER_FAILURES)
def test_an_atomic_batch_with_a_failing_third_stores_nothing(database, item, reply):
    library = Library(database, expose_errors=False)
    body = library.post(add("a"), add("b"), item, add("d"), atomic=True)
    assert body == (200, {"body": [NOT_DONE, NOT_DONE, reply, NOT_DONE], "success": False})
    assert library.titles() == []


def test_hooks_and_validation_of_all_items_come_before_the_first_act(library):
    order = []

    def step(name):
        return [lambda body: order.append((name, body["details"]["set"]["title"]))]

    @library.gw.acts.act(
        "book", "step", set={"title": string()}, pre_validation=step("validation"), pre_act=step("act")
    )
    def run(body):
        order.append(("fn", body["details"]["set"]["title"]))

    library.post(asked("step", {"title": "x"}), asked("step", {"title": "y"}), atomic=True)
    assert order == [(name, title) for title in "xy" for name in ("validation", "act")] + [("fn", "x"), ("fn", "y")]


@pytest.mark.parametrize(("atomic", "second"), [(True, done(None)), (False, failed(403, "forbidden", "no role"))])
def test_an_atomic_batch_is_judged_as_of_its_beginning(library, atomic, second):
    def editor(_body):
        if not library.authors.exists({"name": "editor"}):
            raise HttpError("no role", 403)

    @library.gw.acts.act("book", "resign", set={}, pre_act=[editor])
    def resign(body):
        library.authors.delete_one({"name": "editor"})

    library.authors.insert_one({"name": "editor"})
    body = library.post(asked("resign"), asked("resign"), atomic=atomic)[1]["body"]
    assert (body, library.authors.count()) == ([done(None), second], 0)


def test_each_attempt_has_a_fresh_body_context_and_g(library, monkeypatch):
    fns, seen = library.gw.context_fns, []

    def load_user():
        fns.add_context({"user": {"visits": 0}})
        g.user = fns.get_context_model().user

    @library.gw.acts.act("book", "visit", set={"title": string()}, pre_act=[load_user])
    def visit(body):
        context = fns.get_context_model()
        assert context.body is body
        context.user["visits"] += 1
        assert g.user is context.user
        body["details"]["set"]["title"] += "!"
        seen.append((context.user["visits"], body["details"]["set"]["title"]))
        return library.books.insert_one(doc=body["details"]["set"], projection={"_id": 0, "title": 1})

    again(library.gw.odm, monkeypatch)
    replies = [done({"title": "a!"}), done({"title": "b!"})]
    items = [asked("visit", {"title": "a"}), asked("visit", {"title": "b"})]
    assert library.post(*items, atomic=True) == (200, {"body": replies, "success": True})
    assert seen == [(1, "a!"), (1, "b!")] * 2
    assert library.titles() == ["a!", "b!"]


def test_after_the_commit_functions_find_the_context_and_g_of_their_item(library):
    fns, seen = library.gw.context_fns, []

    def note():
        seen.append((fns.get_context_model().body["details"]["set"]["title"], g.user, g.host))

    @library.client.application.before_request
    def begin():
        g.host = "host"

    def load_user(body):
        g.user = body["details"]["set"]["title"]

    @library.gw.acts.act("book", "addAndTell", set={"title": string()}, pre_act=[load_user])
    def add_and_tell(body):
        library.gw.odm.after_commit(note)
        g.user += "!"

    items = [asked("addAndTell", {"title": title}) for title in "ab"]
    assert library.post(*items, atomic=True) == (200, {"body": [done(None)] * 2, "success": True})
    assert seen == [("a", "a!", "host"), ("b", "b!", "host")]


@pytest.mark.parametrize("more", [[], [add("later")]], ids=["last", "first"])
def test_who_caught_what_failed_the_transaction_is_the_item_that_failed(library, more):
    unique = {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}
    shelves = library.gw.odm.new_model("shelf", {"name": string()}, options=unique)
    shelves.insert_one(doc={"name": "a"})

    @library.gw.acts.act("book", "careless", set={})
    def careless(body):
        with contextlib.suppress(DuplicateKey):
            shelves.insert_one(doc={"name": "a"})

    refused = failed(409, "duplicate_key", "Duplicate key error")
    status, envelope = library.post(add("b"), asked("careless"), *more, atomic=True)
    assert (status, envelope["body"]) == (200, [NOT_DONE, refused, *[NOT_DONE] * len(more)])
    assert library.titles() == []


def again(odm, monkeypatch):
    """Let each transaction fail once before it commits, as after a conflict."""
    run = odm.transaction

    class Again(Exception):
        pass

    def twice(fn):
        def fail():
            fn()
            raise Again

        with pytest.raises(Again):
            run(fail)
        return run(fn)

    monkeypatch.setattr(odm, "transaction", twice)


def test_an_error_of_the_commit_is_that_of_the_whole_batch(library, monkeypatch):
    run = library.gw.odm.transaction

    def late(fn):
        fn()
        raise Timeout

    monkeypatch.setattr(library.gw.odm, "transaction", lambda fn: run(lambda: late(fn)))
    message = {"body": {"message": "the request timed out, try again"}, "success": False}
    assert library.post(add("a"), atomic=True) == (503, message)


def test_an_atomic_batch_needs_a_database_with_transactions(library, monkeypatch):
    message = {"body": {"message": "atomic: this gateway has no database with transactions"}, "success": False}
    monkeypatch.setattr(library.gw.odm.storage, "has_transactions", lambda: False)
    assert library.post(add("a"), atomic=True) == (400, message)
    assert library.titles() == []
    assert Library(None).post(asked("ping"), atomic=True) == (400, message)


def test_copies_hold_after_an_atomic_batch(library):
    ana = library.authors.insert_one(doc={"name": "Ana"}, projection={"_id": 1})["_id"]

    @library.gw.acts.act("book", "addOf", set={"title": string(), "author": string()})
    def add_of(body):
        given = body["details"]["set"]
        return library.books.insert_one(
            doc={"title": given["title"]},
            relations={"author": {"_ids": ObjectId(given["author"])}},
            projection={"_id": 0, "title": 1},
        )

    @library.gw.acts.act("book", "rename", set={"name": string()})
    def rename(body):
        return library.authors.find_one_and_update(
            {"_id": ana}, {"$set": body["details"]["set"]}, projection={"_id": 0, "name": 1}
        )

    items = [asked("addOf", {"title": "a", "author": str(ana)}), asked("rename", {"name": "Bea"}), FAIL]
    assert library.post(*items, atomic=True)[1]["body"] == [NOT_DONE, NOT_DONE, SOLD_OUT]
    assert library.authors.find_one({"_id": ana}) == {"_id": ana, "name": "Ana", "books": []}
    assert library.post(*items[:2], atomic=True)[1]["success"] is True
    assert library.books.find_one({"title": "a"})["author"] == {"_id": ana, "name": "Bea"}
    assert_copies_right(library.gw)


@pytest.mark.parametrize("atomic", [False, True])
def test_an_idempotent_act_runs_in_a_batch_as_without_a_key(library, atomic):
    @library.gw.acts.act("book", "order", set={"title": string()}, idempotent="1h", idempotent_by=lambda body: "ana")
    def order(body):
        return library.books.insert_one(doc=body["details"]["set"], projection={"_id": 0, "title": 1})

    items = [asked("order", {"title": "a"})] * 2
    for _ in range(2):
        assert library.post(*items, atomic=atomic)[1]["body"] == [done({"title": "a"})] * 2
    assert library.titles() == ["a"] * 4


# -- remote services


@pytest.fixture
def asking(library, upstream):
    """A library with a service behind a URL that answers as it is told; and what it was asked."""
    heard = []

    def script(handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        heard.append((body["act"], handler.headers["X-Request-Id"]))
        wanted = body["details"]["set"]
        data = json.dumps(wanted["envelope"]).encode() + b" \r\n"
        handler.send_response(wanted["status"])
        for name, value in {**wanted["headers"], "Content-Type": "application/json"}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    library.gw.acts.set_service("shop", upstream(script))
    return library, heard


def remotely(status, body, **headers):
    envelope = {"body": body, "success": status < 300}
    return asked("buy", {"status": status, "envelope": envelope, "headers": headers}, service="shop")


def test_a_remote_service_answers_items_of_a_batch(asking):
    library, heard = asking
    items = [
        remotely(201, {"n": 1}),
        remotely(409, {"message": "sold out"}, **{"X-Error-Code": "sold_out", "Retry-After": "7"}),
        remotely(404, {"message": "gone"}),
        add("a"),
    ]
    assert library.post(*items)[1] == {
        "body": [
            {"body": {"n": 1}, "success": True, "status": 201},
            failed(409, "sold_out", "sold out", retryAfter=7),
            failed(404, "not_found", "gone"),
            done({"title": "a"}),
        ],
        "success": False,
    }
    assert heard == [("buy", "batch-1.0"), ("buy", "batch-1.1"), ("buy", "batch-1.2")]


def test_an_atomic_batch_takes_no_remote_service(asking):
    library, heard = asking
    message = {"body": {"message": "batch.1: an atomic batch takes no acts of remote services"}, "success": False}
    assert library.post(add("a"), remotely(200, 1), atomic=True) == (400, message)
    assert (library.titles(), heard) == ([], [])
