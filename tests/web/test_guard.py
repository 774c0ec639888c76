"""Guards of pages: gatewayfw.web.playground."""

from __future__ import annotations

import logging

import pytest
from flask import Request, abort
from werkzeug.test import EnvironBuilder

from gatewayfw.web.playground import accepts

SENT = Request(EnvironBuilder(headers={"X-Team": "a"}).get_environ())


async def wait(_sent):
    return True


def fail(_sent):
    raise LookupError("secret")


NO_ANSWER = "gatewayfw.errors.DefinitionError: the guard of the page must answer true or false"
GUARDS = {
    "none": (None, True, ""),
    "true": (lambda sent: True, True, ""),
    "false": (lambda sent: False, False, ""),
    "of the request": (lambda sent: sent.headers["X-Team"] == "a", True, ""),
    "aborts": (lambda sent: abort(403), False, ""),
    "fails": (fail, False, "LookupError: secret"),
    **{
        name: (guard, False, f"{NO_ANSWER}, not {kind}")
        for name, guard, kind in [
            ("a text", lambda sent: "yes", "str"),
            ("nothing", lambda sent: None, "NoneType"),
            ("async", wait, "coroutine"),
        ]
    },
}


@pytest.mark.parametrize(("guard", "accepted", "logged"), GUARDS.values(), ids=GUARDS)
def test_only_true_accepts(caplog, guard, accepted, logged):
    assert accepts(guard, SENT, "the guard of the page") is accepted
    lines = [text.splitlines() for *_, text in caplog.record_tuples]
    assert [(first, last) for first, *_, last in lines] == [("the guard of the page failed", logged)] * bool(logged)
    assert [record[:2] for record in caplog.record_tuples] == [("gatewayfw", logging.ERROR)] * bool(logged)
