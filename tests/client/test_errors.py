"""What an error of a call says."""

import pickle

from gatewayfw.client import BadReply, CallError, NoReply


def test_an_error_without_a_reply_has_a_value_for_everything():
    error = CallError("why")
    assert (str(error), vars(error)) == (
        "why",
        {"message": "why", "status": 0, "code": "error", "errors": {}, "request_id": None, "retry_after": None},
    )


def test_one_except_catches_all_of_them():
    assert [kind.__bases__ for kind in (BadReply, NoReply)] == [(CallError,), (CallError,)]


def test_an_error_survives_the_way_between_processes():
    error = CallError("why", 409, "stale", errors={"set.a": ["no"]}, request_id="r", retry_after=3)
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)
