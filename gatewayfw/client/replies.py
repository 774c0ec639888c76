"""Replies of a gateway, judged: an answer, a refusal, or no reply of a gateway at all.

Strict on purpose, as for remote services: what an HTML page of a proxy, a redirect or a cut reply
says must not be taken for what an act answered. Source: contract, "Response envelope"; our choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from gatewayfw.acts.remote import ANSWERED, MAX_VALUES

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class CallError(Exception):
    """A call did not go well. This class itself: the gateway refused; for the others see there.

    Attributes:
        message: what went wrong, for people; written by the gateway.
        status: the HTTP status; 0 where no reply came.
        code: a stable word for programs, such as ``validation_error``.
        errors: for validation, messages by the path of the value; else empty.
        request_id: what the gateway's log calls the request, where it said so.
        retry_after: the seconds after which another try may go well, where the gateway said so.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        code: str = "error",
        *,
        errors: Mapping[str, list[str]] | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.errors = dict(errors or {})
        self.request_id = request_id
        self.retry_after = retry_after


class BadReply(CallError):
    """What came is no reply of a gateway; code ``bad_reply``. The act may have run."""


class NoReply(CallError):
    """No reply came. Code ``unreachable``: nothing was sent; ``no_reply``, ``timeout``: the act may have run."""


@dataclass(frozen=True)
class Reply:
    """A reply as it came: its body is read to the end and within the limit."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    def bad(self, reason: str) -> BadReply:
        """Return the error for a reply that is none of a gateway; nothing it holds is told."""
        request_id = self.headers.get("X-Request-Id", "")
        known = request_id if _REQUEST_ID.fullmatch(request_id) else None
        return BadReply(f"bad reply of the gateway: {reason}", self.status, "bad_reply", request_id=known)


def answer(reply: Reply) -> Any:
    """Return the body of a successful reply.

    Raises:
        CallError: it says that the gateway refused.
        BadReply: it is no envelope, or contradicts its status.
    """
    check_head(reply)
    if sum(reply.data.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
        raise reply.bad("its answer holds too many values")
    try:
        envelope = json.loads(reply.data.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        envelope = None
    if not _is_envelope(envelope):
        raise reply.bad("its answer is not an envelope")
    if envelope["success"] != (reply.status < 300):
        raise reply.bad("the status of its answer contradicts its envelope")
    if envelope["success"]:
        return envelope["body"]
    raise _refusal(reply, envelope["body"])


def check_head(reply: Reply) -> None:
    """Refuse a reply whose status and headers show that it is none of a gateway; its data is not looked at.

    Raises:
        BadReply: says why.
    """
    if not (200 <= reply.status <= 299 or 400 <= reply.status <= 599):
        raise reply.bad("it answered with a redirect or an unknown status")
    if reply.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        raise reply.bad("its answer is not application/json")
    if reply.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise reply.bad("its answer is compressed")


def _is_envelope(value: Any) -> bool:
    """Whether a value has exactly two keys and, in an error, a message."""
    if not isinstance(value, dict) or value.keys() != {"body", "success"}:
        return False
    body, success = value["body"], value["success"]
    return success is True or (success is False and isinstance(body, dict) and isinstance(body.get("message"), str))


def _refusal(reply: Reply, body: dict[str, Any]) -> CallError:
    told = {name: reply.headers.get(name, "") for name in ANSWERED}
    known = {name: value for name, value in told.items() if ANSWERED[name].fullmatch(value)}
    code, request_id, errors = body.get("code"), body.get("requestId"), body.get("errors")
    return CallError(
        body["message"],
        reply.status,
        code if isinstance(code, str) else known.get("X-Error-Code", "error"),
        errors={path: texts for path, texts in errors.items() if _are_texts(texts)} if isinstance(errors, dict) else {},
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after=int(known["Retry-After"]) if "Retry-After" in known else None,
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
