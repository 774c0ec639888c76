"""What a reply becomes: the body, or the error that it tells of."""

from __future__ import annotations

import json
import pickle

import pytest

from gatewayfw.client.replies import BadReply, CallError, NoReply, answers, reply_of
from gatewayfw.wire.posting import HttpReply, ReplyHeaders


def reply(envelope, status=200, **headers):
    data = envelope if isinstance(envelope, bytes) else json.dumps(envelope).encode()
    return HttpReply(status, ReplyHeaders({"Content-Type": "application/json", **headers}.items()), data)


def refusal(body, status=400, **headers):
    with pytest.raises(CallError) as caught:
        reply_of(reply({"body": body, "success": False}, status, **headers))
    error = caught.value
    return error.message, error.status, error.code, error.errors, error.request_id, error.retry_after


def test_the_body_of_a_success_comes_back():
    body, status, headers = reply_of(reply({"body": {"a": [1]}, "success": True}, 201, **{"X-A": "b"}))
    assert body == {"a": [1]}
    assert status == 201
    assert headers["x-a"] == "b"


def test_a_detailed_refusal_is_told_in_full():
    body = {"message": "no", "code": "validation_error", "errors": {"set.x": ["a"]}, "requestId": "r1"}
    assert refusal(body) == ("no", 400, "validation_error", {"set.x": ["a"]}, "r1", None)


def test_a_short_refusal_has_its_code_in_the_headers():
    headers = {"X-Error-Code": "unavailable", "Retry-After": "3"}
    assert refusal({"message": "later"}, 503, **headers) == ("later", 503, "unavailable", {}, None, 3)


def test_what_has_another_form_is_left_out():
    body = {"message": "no", "code": 5, "errors": {"set.x": "a", "set.y": ["b"]}, "requestId": 7}
    assert refusal(body) == ("no", 400, "error", {"set.y": ["b"]}, None, None)


@pytest.mark.parametrize(
    ("envelope", "status"),
    [(b"<html>", 200), ({"body": 1}, 200), ({"body": 1, "success": True}, 500), ({"body": 1, "success": False}, 400)],
    ids=["no JSON", "no envelope", "a success with the status of an error", "a refusal without message"],
)
def test_anything_else_is_a_bad_reply_that_quotes_nothing(envelope, status):
    with pytest.raises(BadReply) as caught:
        reply_of(reply(envelope, status, **{"X-Request-Id": "r<1>"}))
    error = caught.value
    assert error.status == status
    assert error.code == "bad_reply"
    assert error.request_id is None
    assert "html" not in error.message


def test_a_bad_reply_keeps_the_id_of_the_request():
    with pytest.raises(BadReply) as caught:
        reply_of(reply(b"", 500, **{"X-Request-Id": "aB.9_-z"}))
    assert caught.value.request_id == "aB.9_-z"


def test_each_item_of_a_batch_is_a_body_or_an_error():
    body = {"message": "no", "code": "taken", "errors": {"email": ["is taken"]}, "requestId": "r.1"}
    items = [{"body": 1, "success": True, "status": 200}, {"body": body, "success": False, "status": 429}]
    items[1] |= {"code": "other", "retryAfter": 7}
    done, failed = answers(reply({"body": items, "success": False}), 2)
    found = (failed.message, failed.status, failed.code, failed.errors, failed.request_id, failed.retry_after)
    assert (done, found) == (1, ("no", 429, "taken", {"email": ["is taken"]}, "r.1", 7))


def test_a_batch_that_is_refused_as_a_whole_is_an_error():
    with pytest.raises(CallError) as caught:
        answers(reply({"body": {"message": "no"}, "success": False}, 400, **{"X-Error-Code": "bad_request"}), 2)
    assert type(caught.value) is CallError
    assert caught.value.message == "no"
    assert caught.value.status == 400


DONE = {"body": None, "success": True, "status": 200}
FAILED = {"body": {"message": "x"}, "success": False, "status": 409}


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
def test_items_of_a_batch_are_read(items, success):
    found = answers(reply({"body": items, "success": success}), len(items))
    assert [getattr(one, "status", None) for one in found] == [
        None if item["success"] else item["status"] for item in items
    ]


NO_BATCH = {
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


@pytest.mark.parametrize("envelope", NO_BATCH.values(), ids=NO_BATCH)
def test_anything_else_is_no_reply_to_the_batch(envelope):
    with pytest.raises(BadReply, match="^bad reply of the gateway: its answer is not that to the batch$"):
        answers(reply(envelope), 1)


def test_too_many_values_are_refused():
    with pytest.raises(BadReply, match="^bad reply of the gateway: its answer holds too many values$"):
        answers(reply(b'{"body": [' + b"[]," * 600_000 + b'[]], "success": true}'), 1)


ODD = [{}, {"code": 1, "retryAfter": "7"}, {"retryAfter": True}, {"code": "a\nb", "retryAfter": -1}]


@pytest.mark.parametrize("odd", ODD, ids=str)
def test_code_and_seconds_of_an_item_are_kept_where_they_fit(odd):
    (error,) = answers(reply({"body": [{**FAILED, **odd}], "success": False}), 1)
    assert (error.code, error.retry_after) == ("error", None)


@pytest.mark.parametrize(
    ("envelope", "status"), [({"body": [1], "success": True}, 200), ({"body": [], "success": True}, 400)]
)
def test_what_is_no_reply_to_the_batch_is_a_bad_reply(envelope, status):
    with pytest.raises(BadReply):
        answers(reply(envelope, status), 1)


def test_an_error_without_a_reply_has_a_value_for_everything():
    error = CallError("why")
    assert (str(error), vars(error)) == (
        "why",
        {"message": "why", "status": 0, "code": "error", "errors": {}, "details": {}}
        | {"request_id": None, "retry_after": None},
    )


def test_one_except_catches_all_of_them():
    assert [kind.__bases__ for kind in (BadReply, NoReply)] == [(CallError,), (CallError,)]


def test_an_error_survives_the_way_between_processes():
    error = CallError("why", 409, "stale", errors={"set.a": ["no"]}, request_id="r", retry_after=3)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
