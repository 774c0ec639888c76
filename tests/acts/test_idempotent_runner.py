"""The running of idempotent acts over a store whose outcomes the test chooses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from time import tzset

import pytest

from gatewayfw.acts.replies import WrittenReply
from gatewayfw.errors import BadRequest, HttpError, InProgress, KeyReused, Timeout, Unauthenticated
from gatewayfw.schemas import file, integer
from gatewayfw.schemas.kinds.file import Upload
from tests.acts.parts import make_lifecycle

SET = {"n": integer()}


@pytest.fixture
def ran():
    """What acts got, one entry for each time they ran."""
    return []


@pytest.fixture
def ask(acts, context_fns, lifecycle, ran):
    """Call an act with a key; gives what is sent."""

    def add(body):
        ran.append(body)
        return body["details"]["set"]["n"]

    acts.act("user", "add", set=SET, idempotent="1h", idempotent_by=lambda body: "ann")(add)

    def ask(key="k", act="add", n=1, user=None, service="main", **sent):
        body = {"service": service, "model": "user", "act": act, "details": {"set": {"n": n, **sent}, "get": {}}}
        with context_fns.open({"user": user}):
            context_fns.add_body_to_context(body)
            return lifecycle.run(body, lambda result, _: b"%d" % result, key)

    return ask


AGAIN = WrittenReply(200, (("Idempotent-Replay", "1"),), b"1")


def test_the_second_request_gets_the_reply_of_the_first(ask, ran):
    assert ask() == b"1"
    assert ask() == AGAIN
    assert len(ran) == 1


def test_another_key_is_another_request(ask, ran):
    assert ask("a") == b"1"
    assert ask("b") == b"1"
    assert len(ran) == 2


def test_another_body_is_refused(ask, ran):
    ask()
    with pytest.raises(KeyReused):
        ask(n=2)
    assert len(ran) == 1


def test_who_loses_against_a_request_that_is_done_gets_its_reply(ask, store, ran):
    ask()
    store.found, store.outcomes = [None], ["CONFLICT"]
    assert (ask(), len(ran)) == (AGAIN, 1)
    store.found, store.outcomes = [None], ["DUPLICATE"]
    assert (ask(), len(ran)) == (AGAIN, 1)


def test_who_loses_against_a_request_under_way_may_try_again(ask, store, ran):
    store.outcomes = ["CONFLICT"]
    with pytest.raises(InProgress) as raised:
        ask()
    assert raised.value.status == 409
    assert raised.value.code == "in_progress"
    assert raised.value.headers == {"Retry-After": "1"}
    assert (ask(), len(ran)) == (b"1", 1)


def test_after_a_duplicate_that_is_gone_it_begins_again(ask, store, ran):
    store.outcomes = ["DUPLICATE", "DUPLICATE"]
    assert (ask(), len(ran)) == (b"1", 1)


def test_it_begins_again_until_the_deadline_only(ask, store, clock, ran):
    class Endless(list):
        def pop(self, _):
            clock.left -= 1
            return "DUPLICATE"

    store.outcomes = Endless([1])
    with pytest.raises(Timeout):
        ask()
    assert ran == []


def test_who_loses_with_another_body_is_refused(ask, store):
    ask()
    store.found, store.outcomes = [None], ["CONFLICT"]
    with pytest.raises(KeyReused):
        ask(n=2)


def test_after_its_time_the_act_runs_again_and_its_record_makes_room(ask, store, ran):
    ask()
    (record,) = store.values()
    first = record["token"]
    record["expires"] = datetime(2020, 1, 1)
    assert ask() == b"1"
    assert ask() == AGAIN
    assert len(ran) == 2
    assert len(store) == 1
    assert next(iter(store.values()))["token"] != first


def test_a_key_counts_for_one_service_only(acts, ask, ran):
    act = {**acts.get_main_act("user", "add"), "fn": lambda body: ran.append(body) or 2}
    acts.set_service("other", {"user": {"add": act}})
    assert [ask(service=name) for name in ("main", "other", "other", None)] == [
        b"1",
        b"2",
        WrittenReply(200, AGAIN.lines, b"2"),
        AGAIN,
    ]


def test_times_are_naive_utc_wherever_the_server_is(ask, store, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Asia/Tehran")
        tzset()
        ask()
    tzset()
    (record,) = store.values()
    left = record["expires"] - datetime.now(UTC).replace(tzinfo=None)
    assert timedelta(minutes=59) < left <= timedelta(hours=1)


class Kept:
    """What a framework keeps of a request, and how often it was put back."""

    def __init__(self):
        self.values, self.resets = {"user": {"visits": 0}}, 0

    def read(self):
        return self.values

    def reset(self, values):
        self.values, self.resets = values, self.resets + 1


def test_what_the_framework_keeps_is_put_back_before_an_act_runs_again(schemas, acts, context_fns, clock, store):
    kept, seen = Kept(), []
    lifecycle = make_lifecycle(schemas, acts, context_fns, clock, store, kept)
    before = kept.values

    @acts.act("user", "visit", idempotent="1h", idempotent_by=lambda body: "ann")
    def visit(body):
        kept.values["user"]["visits"] += 1
        seen.append((kept.values["user"]["visits"], kept.values is before, kept.resets))

    store.attempt = partial(thrice, store)
    body = {"model": "user", "act": "visit", "details": {"set": {}, "get": {}}}
    with context_fns.open():
        lifecycle.run(body, lambda result, _: b"1", "k")
    assert seen == [(1, True, 0), (1, False, 1), (1, False, 2)]


def thrice(store, record, answer, *, replace):
    """Attempt it three times, as after conflicts."""
    answer()
    answer()
    store[record["_id"]] = {**record, **answer()}
    return "DONE"


def test_an_error_is_not_kept(acts, ask, store):
    errors = [HttpError("no", 409)]

    @acts.act("user", "fail", set=SET, idempotent="1h", idempotent_by=lambda body: "ann")
    def fail(body):
        if errors:
            raise errors.pop()
        return 5

    with pytest.raises(HttpError, match="^no$"):
        ask(act="fail")
    assert (len(store), ask(act="fail")) == (0, b"5")


def test_each_attempt_has_a_fresh_body_and_context(acts, ask, store, context_fns):
    seen = []

    @acts.act("user", "greedy", set=SET, idempotent="1h", idempotent_by=lambda body: "ann")
    def greedy(body):
        context = context_fns.get_context_model()
        roles = list(context.user["roles"])
        seen.append((dict(body["details"]["set"]), roles, context.body is body, "mine" in context))
        body["details"]["set"].clear()
        context.user["roles"].append("more")
        context["mine"] = True
        return 1

    def twice(record, answer, *, replace):
        answer()
        store[record["_id"]] = {**record, **answer()}
        return "DONE"

    store.attempt = twice
    user = {"_id": 1, "roles": ["a"]}
    assert ask(act="greedy", user=user) == b"1"
    assert seen == [({"n": 1}, ["a"], True, False)] * 2
    assert user == {"_id": 1, "roles": ["a"]}


def test_the_body_counts_as_it_was_sent(acts, ask, ran):
    def change(body):
        body["details"]["set"]["n"] = len(ran) + 10

    acts.act("user", "hooked", set=SET, pre_validation=[change], idempotent="1h", idempotent_by=lambda body: "ann")(
        lambda body: ran.append(body) or body["details"]["set"]["n"]
    )
    assert ask(act="hooked") == b"10"
    assert ask(act="hooked") == WrittenReply(200, AGAIN.lines, b"10")


def test_hooks_and_validation_come_before_the_look_up(acts, ask, ran):
    stops = []

    def stop():
        if stops:
            raise HttpError("stopped", 403)

    acts.act("user", "guarded", set=SET, pre_act=[stop], idempotent="1h", idempotent_by=lambda body: "ann")(
        lambda body: 1
    )
    ask(act="guarded")
    stops.append(1)
    with pytest.raises(HttpError, match="^stopped$"):
        ask(act="guarded")


def test_an_act_that_is_not_idempotent_takes_no_key(acts, ask, ran):
    acts.act("user", "plain", set=SET)(ran.append)
    with pytest.raises(BadRequest) as raised:
        ask(act="plain")
    assert (raised.value.message, ran) == ("this act takes no Idempotency-Key", [])


def test_the_user_is_the_caller_without_a_function(acts, ask, ran):
    from_user = {"idempotent": "1h", "idempotent_by": lambda body: None}
    acts.act("user", "own", set=SET, **from_user)(lambda body: ran.append(body) or len(ran))
    replies = [ask(act="own", user={"_id": id_}) for id_ in (1, 2, 1)]
    assert replies == [b"1", b"2", AGAIN]
    with pytest.raises(Unauthenticated, match="callers who are signed in"):
        ask(act="own")


def test_the_reply_is_bounded_by_what_is_kept(acts, context_fns, lifecycle, schemas):
    bounds = []
    acts.act("user", "small", idempotent="1h", idempotent_by=lambda body: "ann", max_reply_bytes=10)(lambda body: 1)
    acts.act("user", "large", idempotent="1h", idempotent_by=lambda body: "a", max_reply_bytes=10**9)(lambda body: 1)
    for act in ("small", "large"):
        body = {"service": "main", "model": "user", "act": act, "details": {"set": {}, "get": {}}}
        with context_fns.open():
            lifecycle.run(body, lambda result, given: bounds.append(given.reply_bytes) or b"", "k")
    assert bounds == [10, 1024 * 1024]


def test_files_count_and_each_attempt_reads_them_from_the_beginning(acts, context_fns, lifecycle, store):
    read = []
    acts.act("user", "load", set={"photo": file(most="1kB")}, idempotent="1h", idempotent_by=lambda body: "ann")(
        lambda body: read.append(body["details"]["set"]["photo"].stream.read()) or 1
    )

    class Parts:
        def __init__(self, content):
            self.content = content

        def receive(self, expected):
            return {"set.photo": Upload("a", "text/plain", 1, self.content.hex(), BytesIO(self.content))}

    def send(content):
        body = {"service": "main", "model": "user", "act": "load", "details": {"set": {}, "get": {}}}
        with context_fns.open():
            return lifecycle.run(body, lambda result, _: b"1", "k", Parts(content).receive)

    def twice(record, answer, *, replace):
        answer()
        store[record["_id"]] = {**record, **answer()}
        return "DONE"

    store.attempt = twice
    assert send(b"x") == b"1"
    assert send(b"x") == AGAIN
    assert read == [b"x", b"x"]
    with pytest.raises(KeyReused):
        send(b"y")
