"""Trying again: after which errors, when, and always with the same key."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import HttpError, Reply, gateway, integer
from gatewayfw.client import BadReply, CallError, InProcessClient, NoReply
from gatewayfw.client.clients import Calls
from gatewayfw.client.replies import may_pass, pause_after, repeat
from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import TOKEN
from gatewayfw.wire.posting import HttpReply, ReplyHeaders

BUSY = CallError("x", 503, "unavailable")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NoReply("x", code="timeout"), True),
        (NoReply("x", code="unreachable"), True),
        (BUSY, True),
        (CallError("x", 503, "outcome_unknown"), True),
        (CallError("x", 504, "remote_timeout"), True),
        (CallError("x", 502, "remote_error"), True),
        (CallError("x", 409, "in_progress"), True),
        (CallError("x", 409, "conflict"), False),
        (CallError("x", 400, "bad_request"), False),
        (CallError("x", 422, "key_reused"), False),
        (CallError("x", 429, "rate_limited"), False),
        (CallError("x", 500, "internal_error"), False),
        (BadReply("x", 503, "bad_reply"), False),
    ],
)
def test_errors_that_may_pass(error, expected):
    assert may_pass(error) is expected


def test_pauses_double_unless_the_gateway_says_otherwise():
    assert [pause_after(BUSY, tries) for tries in range(4)] == [0.1, 0.2, 0.4, 0.8]
    told = [pause_after(CallError("x", 503, retry_after=seconds), 5) for seconds in (0, 1, 3600)]
    assert (told, pause_after(BUSY, 50)) == ([0.0, 1.0, 10.0], 10.0)


def failing(errors):
    """A call that raises these errors, then returns; and the list that it empties."""

    def send():
        if errors:
            raise errors.pop(0)
        return "done"

    return send


def at_once(code="unavailable", status=503):
    return CallError("x", status, code, retry_after=0)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_it_tries_as_often_as_it_may(count):
    assert repeat(failing([at_once() for _ in range(count)]), 3) == "done"
    errors = [at_once() for _ in range(5)]
    with pytest.raises(CallError):
        repeat(failing(errors), 3)
    assert len(errors) == 1


def test_an_error_that_will_not_pass_is_the_last():
    errors = [at_once("conflict", 409), at_once()]
    with pytest.raises(CallError):
        repeat(failing(errors), 3)
    assert len(errors) == 1


def test_it_waits_longer_before_each_further_try(monkeypatch):
    pauses = []
    monkeypatch.setattr("gatewayfw.client.replies.time.sleep", pauses.append)
    assert (repeat(failing([BUSY] * 3), 3), pauses) == ("done", [0.1, 0.2, 0.4])


def test_keys_differ():
    sent, reply = [], HttpReply(200, ReplyHeaders([("Content-Type", "application/json")]), b'{"body":1,"success":true}')
    client = Calls(lambda data, headers: sent.append(headers["Idempotency-Key"]) or reply, "", None, None, TOKEN)
    assert [client.call("order", "add", retries=1), client.call("order", "add", retries=1)] == [1, 1]
    assert len(set(sent)) == 2


@pytest.fixture
def shop():
    """A gateway whose idempotent act fails as often as ``shop.failures`` says, and then counts."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.failures, gw.ran = 0, []

    class Busy(HttpError):
        headers = {"Retry-After": "0"}

    @gw.acts.act("thing", "add", set={"n": integer()}, idempotent="1h", idempotent_by=lambda body: "ann")
    def add(body):
        gw.ran.append(gw.context_fns.get_context_model().Headers["Idempotency-Key"])
        if len(gw.ran) <= gw.failures:
            raise Busy("busy", 503)
        return Reply(len(gw.ran), 201, {"Location": "/1"})

    gw.acts.act("thing", "plain")(lambda body: gw.ran.append("plain"))
    return gw


def test_the_key_stays_the_same_for_the_tries_of_one_call(shop):
    shop.failures = 2
    client = InProcessClient(shop)
    assert client.call("thing", "add", set={"n": 1}, retries=2) == 3
    assert len(set(shop.ran)) == 1
    assert client.call("thing", "add", set={"n": 1}, retries=2) == 4
    assert len(set(shop.ran)) == 2


def test_a_key_of_ones_own_joins_calls(shop):
    client = InProcessClient(shop)
    first, again = (client.send("thing", "add", set={"n": 1}, key="order 17") for _ in range(2))
    assert first.body == 1
    assert first.status == 201
    assert first.headers["location"] == "/1"
    assert "Idempotent-Replay" not in first.headers
    assert again.headers["idempotent-replay"] == "1"
    assert (again[:2], shop.ran) == ((1, 201), ["order 17"])


def test_without_retries_and_key_there_is_no_header(shop):
    with pytest.raises(CallError):  # the act reads it
        InProcessClient(shop).call("thing", "add", set={"n": 1})
    assert shop.ran == []


def test_an_act_that_takes_no_key_does_not_run(shop):
    with pytest.raises(CallError) as refused:
        InProcessClient(shop).call("thing", "plain", retries=3)
    assert (refused.value.message, shop.ran) == ("this act takes no Idempotency-Key", [])


@pytest.mark.parametrize("key", ["", " a", "x" * 256, "a\n", "é", 5])
def test_a_bad_key_is_refused_before_anything_is_sent(shop, key):
    with pytest.raises(ValueError, match="^key: expected 1 to 255 printable ASCII characters$"):
        InProcessClient(shop).call("thing", "add", set={"n": 1}, key=key)


def test_the_header_is_the_clients_own(shop):
    with pytest.raises(DefinitionError, match="Idempotency-Key is the client's own"):
        InProcessClient(shop, headers={"Idempotency-Key": "k"})
