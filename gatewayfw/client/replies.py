"""Replies of a gateway for a caller: an answer, a refusal, or none; what follows."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from gatewayfw.error_codes import ClientCode, ErrorDetail, GatewayCode
from gatewayfw.wire.posting import HttpReply, NotAGateway, check_head, envelope_of, is_envelope, read_json

T = TypeVar("T")

HEADER = "Idempotency-Key"
#: Statuses after which a try may succeed that is the same request.
_PASSING = frozenset({502, 503, 504})
#: Seconds before the second try; doubled for each further one, unless the gateway says otherwise.
_PAUSE = 0.1
_LONGEST_PAUSE = 10.0
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class CallError(Exception):
    """A call failed: the gateway refused it, or, in a subclass, did not answer.

    Attributes:
        message: what went wrong, for people, in the gateway's words.
        status: the HTTP status; 0 without a reply.
        code: a stable word for programs: the gateway's, the client's, or one of the act's own.
        errors: messages by the path of the value, for validation and duplicate keys; else empty.
        details: for each message of ``errors`` its code with the bounds of the field, for programs.
        request_id: the request's id in the gateway's log, if the gateway sent it.
        retry_after: the seconds after which a retry may succeed, if the gateway sent it.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        code: GatewayCode | ClientCode | str = "error",
        *,
        errors: Mapping[str, list[str]] | None = None,
        details: Mapping[str, list[ErrorDetail]] | None = None,
        request_id: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.errors = dict(errors or {})
        self.details = dict(details or {})
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


def bad_reply(error: NotAGateway) -> BadReply:
    """Return the error for a reply that is not from a gateway; it quotes nothing."""
    request_id = error.reply.headers.get("X-Request-Id", "")
    known = request_id if _REQUEST_ID.fullmatch(request_id) else None
    return BadReply(f"bad reply of the gateway: {error}", error.reply.status, "bad_reply", request_id=known)


class CallReply(NamedTuple):
    """A successful reply: its ``body`` with status and headers.

    Attributes:
        body: the result of the act.
        status: the HTTP status.
        headers: those of the reply, by names in any case; ``Idempotent-Replay`` is 1 if it is a repeated reply.
    """

    body: Any
    status: int
    headers: Mapping[str, str]


def reply_of(reply: HttpReply) -> CallReply:
    """Return a successful reply.

    Raises:
        CallError: the gateway refused.
        BadReply: it is not an envelope, or contradicts its status.
    """
    try:
        check_head(reply)
        envelope = envelope_of(reply)
    except NotAGateway as error:
        raise bad_reply(error) from error
    if envelope["success"]:
        return CallReply(envelope["body"], reply.status, reply.headers)
    raise _refusal(reply, envelope["body"])


def answers(reply: HttpReply, count: int) -> list[Any]:
    """Return for each request of a batch its body, or the error that refused it.

    Raises:
        CallError: the gateway refused all of them.
        BadReply: it is not the reply to a batch, or contradicts its status.
    """
    try:
        check_head(reply)
        if reply.status >= 400:
            raise _refusal(reply, envelope_of(reply)["body"])
        items = _items_of(reply, count)
    except NotAGateway as error:
        raise bad_reply(error) from error
    return [item["body"] if item["success"] else _refusal(_reply_to(item), item["body"]) for item in items]


def _items_of(reply: HttpReply, count: int) -> list[dict[str, Any]]:
    """Return the items of a reply with the status 200, ``count`` of them.

    Each has ``body``, ``success`` and ``status``; a failed one perhaps ``code`` and ``retryAfter``.

    Raises:
        NotAGateway: it is not the reply to a batch of so many requests.
    """
    envelope = read_json(reply)
    items = envelope.get("body") if isinstance(envelope, dict) else None
    if not isinstance(items, list) or len(items) != count or not all(map(_is_item, items)):
        raise NotAGateway("its answer is not that to the batch", reply)
    if envelope.keys() != {"body", "success"} or envelope["success"] is not all(item["success"] for item in items):
        raise NotAGateway("its answer is not that to the batch", reply)
    return items


def _reply_to(item: dict[str, Any]) -> HttpReply:
    code, seconds = item.get("code"), item.get("retryAfter")
    headers = {"X-Error-Code": code} if isinstance(code, str) else {}
    return HttpReply(item["status"], headers | ({"Retry-After": str(seconds)} if type(seconds) is int else {}), b"")


def _is_item(value: Any) -> bool:
    if not isinstance(value, dict) or not is_envelope({key: value[key] for key in ("body", "success") if key in value}):
        return False
    least, most = (200, 299) if value["success"] else (400, 599)
    return type(value.get("status")) is int and least <= value["status"] <= most


def _refusal(reply: HttpReply, body: dict[str, Any]) -> CallError:
    known = reply.pick_headers()
    code, request_id, errors, details = map(body.get, ("code", "requestId", "errors", "details"))
    return CallError(
        body["message"],
        reply.status,
        code if isinstance(code, str) else known.get("X-Error-Code", "error"),
        errors={path: texts for path, texts in errors.items() if _are_texts(texts)} if isinstance(errors, dict) else {},
        details={at: told for at, told in details.items() if _are_details(told)} if isinstance(details, dict) else {},
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after=int(known["Retry-After"]) if "Retry-After" in known else None,
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _are_details(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and isinstance(one.get("code"), str) for one in value)


def follow(ask: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any] | None) -> Iterator[Any]:
    """Yield what ``ask`` returns for a ``set``, page by page.

    Raises:
        BadReply: a result is no page, or its ``next`` came before.
    """
    wanted = {} if given is None else dict(given)
    seen = {wanted.get("after")} - {None}
    while True:
        page = ask(wanted)
        after = page.get("next", ...) if isinstance(page, dict) and isinstance(page.get("rows"), list) else ...
        if after is not None and not isinstance(after, str):
            raise BadReply("bad reply of the gateway: it is no page of a list", 200, "bad_reply")
        if after in seen:
            raise BadReply("bad reply of the gateway: its list does not go on", 200, "bad_reply")
        yield page
        if after is None:
            return
        seen.add(after)
        wanted = {**wanted, "after": after}


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
