"""Guards of pages: gatewayfw.web.guard."""

from __future__ import annotations

import pytest
from flask import Request, abort
from werkzeug.test import EnvironBuilder

from gatewayfw.web.guard import accepts

SENT = Request(EnvironBuilder(headers={"X-Team": "a"}).get_environ())


async def wait(_sent):
    return True


def fail(_sent):
    raise LookupError("secret")


GUARDS = {
    "none": (None, True, ""),
    "true": (lambda sent: True, True, ""),
    "false": (lambda sent: False, False, ""),
    "of the request": (lambda sent: sent.headers["X-Team"] == "a", True, ""),
    "aborts": (lambda sent: abort(403), False, ""),
    "fails": (fail, False, "the guard of the page failed"),
    "a text": (lambda sent: "yes", False, "the guard of the page must answer true or false, not str"),
    "nothing": (lambda sent: None, False, "the guard of the page must answer true or false, not NoneType"),
    "async": (wait, False, "the guard of the page must answer true or false, not coroutine"),
}


@pytest.mark.parametrize(("guard", "accepted", "logged"), GUARDS.values(), ids=GUARDS)
def test_only_true_accepts(caplog, guard, accepted, logged):
    assert accepts(guard, SENT, "the guard of the page") is accepted
    assert logged in caplog.text
    assert bool(caplog.records) is bool(logged)
