"""The reply to a batch, read strictly."""

from __future__ import annotations

import json

import pytest

from gatewayfw.wire.batch import items_of, reply_to
from gatewayfw.wire.posting import HttpReply, NotAGateway

DONE = {"body": None, "success": True, "status": 200}
FAILED = {"body": {"message": "x"}, "success": False, "status": 409}


def reply(envelope):
    data = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    return HttpReply(200, {}, data)


@pytest.mark.parametrize(
    ("items", "success"),
    [
        ([DONE], True),
        ([DONE, {**FAILED, "code": "taken"}], False),
        ([{**DONE, "more": 1}], True),
        ([{**DONE, "status": 299}], True),
        ([{**FAILED, "status": 400}, {**FAILED, "status": 599}], False),
    ],
)
def test_items_are_read(items, success):
    assert items_of(reply({"body": items, "success": success}), len(items)) == items


BAD = {
    "no JSON": b"<html>",
    "not strict": b'{"body": [NaN], "success": true}',
    "a list": [DONE],
    "an envelope": {"body": DONE, "success": True},
    "without success": {"body": [DONE]},
    "another key": {"body": [DONE], "success": True, "n": 1},
    "success that is none": {"body": [FAILED], "success": True},
    "success as a number": {"body": [DONE], "success": 1},
    "no success that is one": {"body": [DONE], "success": False},
    "too few": {"body": [], "success": True},
    "too many": {"body": [DONE, DONE], "success": True},
    "an item that is none": {"body": [1], "success": True},
    "an item without status": {"body": [{"body": 1, "success": True}], "success": True},
    "an item without body": {"body": [{"success": True, "status": 200}], "success": True},
    "a status of text": {"body": [{**DONE, "status": "200"}], "success": True},
    "a status that is none": {"body": [{**DONE, "status": 600}], "success": True},
    "a status before all": {"body": [{**DONE, "status": 199}], "success": True},
    "done with a failure's status": {"body": [{**DONE, "status": 409}], "success": True},
    "done with a redirect's status": {"body": [{**DONE, "status": 300}], "success": True},
    "failed with a success's status": {"body": [{**FAILED, "status": 200}], "success": False},
    "failed with a redirect's status": {"body": [{**FAILED, "status": 399}], "success": False},
    "failed with a text": {"body": [{**FAILED, "body": "message"}], "success": False},
    "failed with a list": {"body": [{**FAILED, "body": ["message"]}], "success": False},
    "failed with a message that is none": {"body": [{**FAILED, "body": {"message": 1}}], "success": False},
    "neither done nor failed": {"body": [{**FAILED, "success": None}], "success": False},
    "failed as a number": {"body": [{**FAILED, "success": 0}], "success": False},
    "a status that is true": {"body": [{**DONE, "status": True}], "success": True},
    "failed with a status beyond all": {"body": [{**FAILED, "status": 600}], "success": False},
    "an item that is a list": {"body": [["body", "success", "status"]], "success": True},
    "an item without success": {"body": [{"body": None, "status": 200}], "success": True},
    "a body without items": {"body": None, "success": True},
    "a text of that length": {"body": "x", "success": True},
    "failed without a message": {"body": [{**FAILED, "body": {}}], "success": False},
}


@pytest.mark.parametrize("envelope", BAD.values(), ids=BAD)
def test_anything_else_is_refused(envelope):
    given = reply(envelope)
    with pytest.raises(NotAGateway, match="^its answer is not that to the batch$") as raised:
        items_of(given, 1)
    assert raised.value.reply is given


def test_too_many_values_are_refused():
    with pytest.raises(NotAGateway, match="^its answer holds too many values$"):
        items_of(reply(b'{"body": [' + b"[]," * 600_000 + b'[]], "success": true}'), 1)


def test_an_item_has_status_and_headers_of_a_reply():
    found = reply_to({**FAILED, "code": "taken", "retryAfter": 7})
    assert found == HttpReply(409, {"X-Error-Code": "taken", "Retry-After": "7"}, b"")
    for odd in ({}, {"code": 1, "retryAfter": "7"}, {"retryAfter": True}):
        assert reply_to({**FAILED, **odd}) == HttpReply(409, {}, b"")
    assert reply_to({**FAILED, "code": "a\nb", "retryAfter": -1}).pick_headers() == {}
