"""Trying a call again with the same key, so that an idempotent act is done once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

from gatewayfw.client.replies import BadReply, CallError, NoReply

T = TypeVar("T")

HEADER = "Idempotency-Key"
#: Statuses after which a try may succeed that is the same request.
_PASSING = frozenset({502, 503, 504})
#: Seconds before the second try; doubled for each further one, unless the gateway says otherwise.
_PAUSE = 0.1
_LONGEST_PAUSE = 10.0


def make_key() -> str:
    """Return a new key."""
    return str(uuid4())


def repeat(send: Callable[[], T], retries: int) -> T:
    """Return what ``send`` returns; call it again after errors that may pass.

    Raises:
        CallError: the last one of ``retries`` further calls, or one that will not pass.
    """
    for tries in range(retries):
        try:
            return send()
        except CallError as error:
            if not may_pass(error):
                raise
            time.sleep(pause_after(error, tries))
    return send()


def may_pass(error: CallError) -> bool:
    """Tell whether the same request may succeed later: no reply, or a busy server."""
    if isinstance(error, BadReply):
        return False
    return isinstance(error, NoReply) or error.status in _PASSING or error.code == "in_progress"


def pause_after(error: CallError, tries: int) -> float:
    """Return the seconds to wait after an error that so many tries preceded."""
    asked = _PAUSE * 2**tries if error.retry_after is None else error.retry_after
    return float(min(asked, _LONGEST_PAUSE))
