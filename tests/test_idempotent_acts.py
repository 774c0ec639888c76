"""Idempotent acts end to end: a request that comes twice is done once, and answered twice with the same bytes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from bson import ObjectId
from flask import g

from gatewayfw import DefinitionError, HttpError, Reply, file, gateway, integer, object_id, string
from gatewayfw.client import InProcessClient
from gatewayfw.errors import OutcomeUnknown
from gatewayfw.odm.stored_replies import COLLECTION
from gatewayfw.testing.kit import assert_copies_right
from tests.storage.mongo.commits import failing_commit, take_a_minute
from tests.waiting import wait_until

UNIQUE = {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}
REPLAYED = {"Idempotent-Replay": "1"}


class Shop:
    """A gateway whose act ``add`` adds a thing for the caller that the body names."""

    def __init__(self, database):
        self.gw = gw = gateway()
        gw.odm.set_db(database)
        self.things = gw.odm.new_model("thing", {"name": string(), "n": integer()}, options=UNIQUE)
        self.ran = []
        self.add(lambda given: self.things.insert_one(doc=given, projection={"name": 1}), "add")

    def add(self, fn, name, **options):
        """Define an idempotent act of the function of the ``name`` and ``n`` that were sent."""

        def run(body):
            given = dict(body["details"]["set"])
            self.ran.append(given)
            given.pop("caller")
            return fn(given)

        kinds = {"caller": string(), "name": string(), "n": integer()}
        by = {"idempotent": "1h", "idempotent_by": lambda body: body["details"]["set"]["caller"]}
        self.gw.acts.act("thing", name, set=kinds, **by, **options)(run)

    def app(self, **options):
        return self.gw.create_app(**options)

    def send(self, key="k", name="a", n=1, *, act="add", caller="ann", app=None, **headers):
        """Send a request; a key of None is none."""
        body = {"model": "thing", "act": act, "details": {"set": {"caller": caller, "name": name, "n": n}, "get": {}}}
        keyed = {} if key is None else {"Idempotency-Key": key}
        return (app or self.app()).test_client().post("/gateway", json=body, headers={**keyed, **headers})

    def count(self, rival=None):
        """Add 1 to the thing ``shared``, after a rival has added 10 in a transaction of its own."""
        shared = {"name": "shared"}
        self.things.find_one(shared)
        if rival is not None:
            with ThreadPoolExecutor(1) as thread:
                thread.submit(rival.things.find_one_and_update, filter=shared, update={"$inc": {"n": 10}}).result()
        return self.things.find_one_and_update(filter=shared, update={"$inc": {"n": 1}})["n"]

    def names(self):
        return sorted(one["name"] for one in self.things.find(projection={"name": 1}))

    def records(self):
        return list(self.gw.odm.storage.find(COLLECTION, {}))


@pytest.fixture
def shop(database):
    return Shop(database)


def refused(reply):
    return reply.status_code, reply.headers["X-Error-Code"], reply.get_json()["body"]["message"]


def headers_of(reply):
    """What a reply's own headers are, as a set of pairs."""
    return {pair for pair in reply.headers if pair[0] not in ("X-Request-Id", "Idempotent-Replay")}


@pytest.mark.parametrize("fast", [True, False], ids=["lane", "blueprint"])
def test_the_same_request_is_done_once_and_answered_with_the_same_bytes(shop, fast):
    app = shop.app(fast_lane=fast)
    first, again, third = (shop.send(app=app) for _ in range(3))
    assert (shop.names(), len(shop.ran)) == (["a"], 1)
    assert first.status == again.status
    assert first.data == again.data
    assert headers_of(first) == headers_of(again)
    assert [reply.headers.get("Idempotent-Replay") for reply in (first, again, third)] == [None, "1", "1"]
    assert first.headers["X-Request-Id"] != again.headers["X-Request-Id"]


def test_status_headers_and_cookies_are_the_same_again(shop):
    cookies = [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]
    shop.add(lambda given: Reply(given, 201, {"Location": "/things/1"}, cookies), "create")
    first, again = shop.send(act="create"), shop.send(act="create")
    assert (again.status, again.data) == (first.status, first.data)
    assert (first.status_code, headers_of(again)) == (201, headers_of(first))
    assert again.headers.getlist("Set-Cookie") == first.headers.getlist("Set-Cookie")


def test_pages_of_an_allowed_origin_see_that_it_is_a_replay(shop):
    app = shop.app(cors="*")
    replies = [shop.send(app=app, Origin="https://a.example") for _ in range(2)]
    exposed = [reply.headers["Access-Control-Expose-Headers"] for reply in replies]
    assert exposed == ["X-Error-Code, X-Request-Id, Retry-After, Idempotent-Replay"] * 2


def test_without_a_key_each_request_is_its_own(shop):
    assert [shop.send(None).status_code, refused(shop.send(None))[1]] == [200, "duplicate_key"]
    assert (len(shop.ran), shop.records()) == (2, [])


@pytest.mark.parametrize("key", ["", "x" * 256, "é".encode().decode("latin-1"), "a\x7f", "a\tb"])
def test_a_bad_key_is_refused(shop, key):
    message = "the header Idempotency-Key must be 1 to 255 printable ASCII characters"
    assert refused(shop.send(key)) == (400, "bad_request", message)
    assert shop.ran == []


def test_a_key_for_an_act_that_is_not_idempotent_is_refused(shop):
    shop.gw.acts.act("thing", "ping")(lambda body: shop.ran.append(1))
    body = {"model": "thing", "act": "ping", "details": {"set": {}, "get": {}}}
    reply = shop.app().test_client().post("/gateway", json=body, headers={"Idempotency-Key": "k"})
    assert refused(reply) == (400, "bad_request", "this act takes no Idempotency-Key")
    assert shop.ran == []


def test_another_caller_with_the_same_key_sees_nothing_of_it(shop):
    replies = [shop.send(name="a", caller="ann"), shop.send(name="b", caller="bob")]
    assert [reply.get_json()["body"]["name"] for reply in replies] == ["a", "b"]
    assert all("Idempotent-Replay" not in reply.headers for reply in replies)


def test_another_act_with_the_same_key_is_another_request(shop):
    shop.add(lambda given: "other", "other")
    assert (shop.send().status_code, shop.send(act="other").get_json()["body"]) == (200, "other")


def test_another_body_is_refused_and_nothing_is_done(shop):
    shop.send()
    assert refused(shop.send(name="b")) == (422, "key_reused", "this Idempotency-Key was sent with another body")
    assert shop.names() == ["a"]


def test_the_order_of_keys_does_not_matter(shop):
    app = shop.app()
    texts = [
        '{"model":"thing","act":"add","details":{"get":{},"set":{"n":1,"name":"a","caller":"ann"}}}',
        '{"details":{"set":{"caller":"ann","name":"a","n":1},"get":{}},"act":"add","model":"thing","service":"main"}',
    ]
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    replies = [app.test_client().post("/gateway", data=text, headers=headers) for text in texts]
    assert (replies[0].data, replies[1].headers["Idempotent-Replay"]) == (replies[1].data, "1")


def test_an_error_frees_the_key_and_leaves_no_trace(shop):
    errors = [HttpError("no", 409)]

    def fail(given):
        shop.things.insert_one(doc=given)
        if errors:
            raise errors.pop()
        return "done"

    shop.add(fail, "fail")
    assert refused(shop.send(act="fail"))[0] == 409
    assert shop.names() == []
    assert shop.records() == []
    assert (shop.send(act="fail").get_json()["body"], shop.names()) == ("done", ["a"])


def test_a_duplicate_of_the_act_itself_is_its_error(shop):
    shop.send("first")
    assert refused(shop.send("second"))[:2] == (409, "duplicate_key")
    assert len(shop.records()) == 1


def test_a_reply_that_is_too_large_to_keep_undoes_everything(shop):
    def large(given):
        shop.things.insert_one(doc=given)
        return "x" * (1024 * 1024)

    shop.add(large, "large")
    message = "the reply would have more than 1048576 bytes; ask for fewer fields or documents"
    assert refused(shop.send(act="large")) == (413, "reply_too_large", message)
    assert (shop.names(), shop.records()) == ([], [])
    assert shop.send(None, act="large").status_code == 200


def test_a_reply_that_cannot_be_written_undoes_everything(shop):
    def broken(given):
        shop.things.insert_one(doc=given)
        return {1, 2}

    shop.add(broken, "broken")
    assert refused(shop.send(act="broken")) == (500, "internal_error", "internal error")
    assert (shop.names(), shop.records()) == ([], [])


def test_after_its_time_a_key_is_new(shop):
    first = shop.send()
    shop.things.delete_one(filter={"name": "a"})
    past = datetime(2020, 1, 1)
    # The database may delete it at any moment, which comes to the same.
    shop.gw.odm.storage.update_many(COLLECTION, {}, {"$set": {"expires": past}})
    again = shop.send()
    assert again.status_code == 200
    assert "Idempotent-Replay" not in again.headers
    assert again.get_json()["body"]["_id"] != first.get_json()["body"]["_id"]
    (record,) = shop.records()
    assert record["expires"] > past
    assert shop.send().headers["Idempotent-Replay"] == "1"


def test_a_record_holds_no_key_no_caller_and_expires(shop):
    shop.send("secret-key", caller="ann")
    (record,) = shop.records()
    assert set(record) == {"_id", "body", "token", "expires", "status", "lines", "envelope"}
    assert not any(word in str(record) for word in ("secret-key", "ann"))
    left = record["expires"] - datetime.now(UTC).replace(tzinfo=None)
    assert timedelta(minutes=55) < left <= timedelta(hours=1)
    indexes = shop.gw.odm.storage.indexes(COLLECTION)
    assert [(one.keys, one.options["expireAfterSeconds"]) for one in indexes] == [((("expires", 1),), 0)]


@pytest.mark.parametrize("same", [True, False])
def test_many_at_once_do_it_once(shop, same):
    app, count = shop.app(), 20
    start = threading.Barrier(count)

    def send(number):
        start.wait(30)
        replies = []

        def answered():
            replies.append(shop.send(name="a" if same else f"a{number % 2}", app=app))
            return replies[-1].status_code in (200, 422)

        assert wait_until(answered)
        return replies

    with ThreadPoolExecutor(count) as threads:
        replies = [reply for some in threads.map(send, range(count)) for reply in some]
    assert len(shop.names()) == 1
    bodies = {reply.data for reply in replies if reply.status_code == 200}
    refusals = {refused(reply)[:2] for reply in replies if reply.status_code != 200}
    assert len(bodies) == 1
    assert refusals <= {(409, "in_progress"), *([] if same else [(422, "key_reused")])}


def test_a_request_under_way_is_told_when_to_try_again(shop, storage):
    begun, go = threading.Event(), threading.Event()

    def slow(given):
        begun.set()
        go.wait(10)
        return "done"

    shop.add(slow, "slow")
    app = shop.app()
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(shop.send, act="slow", app=app)
        begun.wait(10)
        if storage.multi_process:
            second = shop.send(act="slow", app=app)
            message = "a request with this Idempotency-Key is under way, try again"
            assert refused(second) == (409, "in_progress", message)
            assert second.headers["Retry-After"] == "1"
        go.set()  # in memory the second one waits for the first
        assert first.result().get_json()["body"] == "done"
    assert (shop.send(act="slow", app=app).headers["Idempotent-Replay"], len(shop.ran)) == ("1", 1)


def test_conflicts_of_the_act_begin_it_again_with_a_fresh_body(shop, storage):
    shop.things.insert_one(doc={"name": "shared", "n": 0})
    rival = Shop(storage)
    bodies = []

    def count(given):
        bodies.append(dict(given))
        given["name"] = "changed"
        return shop.count(rival if len(bodies) == 1 and storage.multi_process else None)

    shop.add(count, "count")
    expected = (11, 2) if storage.multi_process else (1, 1)
    assert (shop.send(act="count").get_json()["body"], len(bodies)) == expected
    assert bodies == [{"name": "a", "n": 1}] * len(bodies)
    assert len(shop.records()) == 1


def test_each_attempt_has_flasks_g_as_it_was_and_hooks_see_that_of_the_last(shop, storage):
    shop.things.insert_one(doc={"name": "shared", "n": 0})
    rival, seen, app = Shop(storage), [], shop.app()

    @app.before_request
    def begin():
        g.log = ["begun"]

    @app.after_request
    def look(response):
        seen.append((g.log, g.get("attempt")))
        return response

    def count(given):
        seen.append([*g.log, g.get("attempt")])
        g.log.append("ran")
        g.attempt = len(seen)
        return shop.count(rival if len(seen) == 1 and storage.multi_process else None)

    shop.add(count, "count")
    assert shop.send(act="count", app=app).status_code == 200
    attempts = 2 if storage.multi_process else 1
    assert seen == [["begun", None]] * attempts + [(["begun", "ran"], attempts)]


def test_a_caller_who_is_not_signed_in_has_no_keys(shop):
    shop.gw.acts.act(
        "thing", "free", idempotent="1h", idempotent_by=lambda body: shop.gw.context_fns.get_context_model().get("user")
    )(lambda body: "done")
    body = {"model": "thing", "act": "free", "details": {"set": {}, "get": {}}}
    reply = shop.app().test_client().post("/gateway", json=body, headers={"Idempotency-Key": "k"})
    assert refused(reply) == (401, "unauthenticated", "the header Idempotency-Key is for callers who are signed in")
    assert shop.app().test_client().post("/gateway", json=body).get_json() == {"body": "done", "success": True}


def test_functions_of_after_commit_run_once_and_not_for_a_replay(shop):
    mails = []

    def mail(given):
        shop.gw.odm.after_commit(lambda: mails.append(shop.names()))
        return str(shop.things.insert_one(doc=given)["_id"])

    shop.add(mail, "mail")
    assert [shop.send(act="mail").status_code for _ in range(3)] == [200] * 3
    assert mails == [["a"]]


def test_jobs_and_copies_of_the_act_are_as_ever(shop):
    gw = shop.gw
    parts = {"type": "multiple", "limit": 3, "sort": {"field": "_id", "order": "asc"}}
    relation = {"schemaName": "thing", "type": "single", "relatedRelations": {"parts": parts}}
    part = gw.odm.new_model("part", {"name": string()}, {"thing": relation})
    owner = shop.things.insert_one(doc={"name": "owner", "n": 0})["_id"]

    @gw.acts.act("part", "add", set={"thing": object_id()}, mode="create", idempotent="1h", idempotent_by=lambda _: 1)
    def add(body):
        ids = {"_ids": body["details"]["set"]["thing"], "relatedRelations": {"parts": True}}
        return part.insert_one(doc={"name": "p"}, relations={"thing": ids}, projection={"name": 1})

    body = {"model": "part", "act": "add", "details": {"set": {"thing": str(owner)}, "get": {}}}
    replies = [shop.app().test_client().post("/gateway", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2)]
    assert replies[0].data == replies[1].data
    assert [one["name"] for one in shop.things.find_one({"_id": owner})["parts"]] == ["p"]
    assert_copies_right(gw)


def test_inside_a_transaction_a_key_is_refused(shop):
    client = InProcessClient(shop.gw)
    details = {"caller": "ann", "name": "a", "n": 1}

    def work():
        return (
            shop.app()
            .test_client()
            .post(
                "/gateway",
                json={"model": "thing", "act": "add", "details": {"set": details, "get": {}}},
                headers={"Idempotency-Key": "k"},
            )
        )

    assert refused(shop.gw.odm.transaction(work)) == (500, "usage_error", "internal error")
    assert shop.names() == []
    assert client.call("thing", "add", set=details, key="k")["name"] == "a"


def test_a_database_without_transactions_is_refused(shop, monkeypatch):
    monkeypatch.setattr(type(shop.gw.odm.storage), "has_transactions", lambda self: False)
    assert refused(shop.send())[:2] == (500, "definition_error")
    assert shop.ran == []


def test_a_gateway_without_a_database_says_so_at_the_start():
    gw = gateway()
    gw.acts.act("thing", "add", idempotent="1h", idempotent_by=lambda body: "ann")(lambda body: 1)
    with pytest.raises(DefinitionError) as raised:
        gw.create_app()
    message = "thing.add: idempotent acts need a database: call odm.set_db(...) first"
    assert raised.value.message == message


@pytest.mark.mongo
@pytest.mark.parametrize("really", [True, False])
def test_a_commit_with_an_unknown_outcome_never_doubles(mongo_database, monkeypatch, really):
    shop = Shop(mongo_database)
    assert shop.send("before", name="before").status_code == 200
    with monkeypatch.context() as broken:
        calls = failing_commit(broken, "UnknownTransactionCommitResult", really, times=1)
        take_a_minute(broken, calls)
        reply = shop.send()
    if really:  # its record is found, so it is known to have happened
        assert reply.status_code == 200
    else:
        assert refused(reply) == (503, "outcome_unknown", OutcomeUnknown().message)
    again = shop.send()
    assert (again.status_code, shop.names()) == (200, ["a", "before"])
    assert ("Idempotent-Replay" in again.headers, again.data == reply.data) == (really, really)


def test_files_count_with_their_content(shop):
    gw = shop.gw
    read = []

    @gw.acts.act("thing", "load", set={"photo": file(most="1kB")}, idempotent="1h", idempotent_by=lambda body: "ann")
    def load(body):
        read.append(body["details"]["set"]["photo"].stream.read())
        return str(ObjectId())

    def send(content):
        body = '{"model":"thing","act":"load","details":{"set":{},"get":{}}}'
        parts = [("gateway-body", None, body.encode()), ("set.photo", "a.txt", content)]
        lines = b""
        for name, filename, data in parts:
            named = f'; filename="{filename}"' if filename else ""
            lines += f'--x\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode() + data + b"\r\n"
        headers = {"Content-Type": "multipart/form-data; boundary=x", "X-Gateway": "1", "Idempotency-Key": "k"}
        return shop.app().test_client().post("/gateway", data=lines + b"--x--\r\n", headers=headers)

    first, again, other = send(b"one"), send(b"one"), send(b"two")
    assert first.status_code == 200
    assert again.data == first.data
    assert again.headers["Idempotent-Replay"] == "1"
    assert (refused(other)[:2], read) == ((422, "key_reused"), [b"one"])
