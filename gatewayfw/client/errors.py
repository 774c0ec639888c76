"""Why a call failed."""

from __future__ import annotations

from collections.abc import Mapping


class CallError(Exception):
    """A call failed: the gateway refused it, or, in a subclass, did not answer.

    Attributes:
        message: what went wrong, for people, in the gateway's words.
        status: the HTTP status; 0 without a reply.
        code: a stable word for programs, such as ``validation_error``.
        errors: messages by the path of the value, for validation and duplicate keys; else empty.
        request_id: the request's id in the gateway's log, if the gateway sent it.
        retry_after: the seconds after which a retry may succeed, if the gateway sent it.
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
    """The reply is not that of a gateway; code ``bad_reply``. The act may have run.

    It is also raised if the reply to a request for a page of a list is not such a page.
    """


class NoReply(CallError):
    """No reply came.

    Code ``unreachable``: nothing was sent; ``no_reply``, ``timeout``: the act may have run.
    """
