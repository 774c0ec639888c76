"""Batches on the wire: several requests in a body, several answers in a reply.

The body is ``{"batch": [body, ...], "atomic"?: false}``, the reply ``{"body": [item, ...], "success"}`` with the status
200. An item is the envelope of its request, with ``status`` and, if it failed, ``code`` and perhaps ``retryAfter``,
seconds: what a reply of its own has in its status line and headers. Source: specification 2.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, final

from gatewayfw import messages
from gatewayfw.acts.batch import Item, ItemReply
from gatewayfw.acts.context import ADDRESS
from gatewayfw.acts.lifecycle import RequestBounds
from gatewayfw.acts.lookup import RemoteReply
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.errors import BadRequest
from gatewayfw.observe.calls import NO_HEADERS, OK, CallObservers, OpenCall, SentHeaders
from gatewayfw.web.failure import error_headers, is_unexpected
from gatewayfw.web.reader import check_request
from gatewayfw.web.reply import finish

#: The header of idempotent acts, as WSGI writes it.
KEY = "HTTP_IDEMPOTENCY_KEY"
_SECONDS = re.compile(r"[0-9]{1,9}")
_LONGEST_ID = 64

#: Writes the failure of an item: status, headers and envelope. Takes the error, the item's id, and its names.
Refuse = Callable[[Exception, str, Mapping[str, Any]], tuple[int, Mapping[str, str], bytes]]


@final
@dataclass(frozen=True)
class Batch:
    """A checked batch: its items' bodies, or why one is none."""

    bodies: tuple[dict[str, Any] | BadRequest, ...]
    atomic: bool


def check_batch(value: Mapping[str, Any], environ: Mapping[str, Any], most: int) -> Batch:
    """Return the batch that a body means, of at most ``most`` requests.

    Raises:
        BadRequest: it is none; nothing of it runs.
    """
    given, atomic = value["batch"], value.get("atomic", False)
    if value.keys() - {"batch", "atomic"}:
        raise BadRequest(messages.OTHERS_IN_BATCH)
    if not isinstance(given, list) or not given:
        raise BadRequest(messages.NO_BATCH)
    if len(given) > most:
        raise BadRequest(messages.LONG_BATCH.format(max=most))
    if not isinstance(atomic, bool):
        raise BadRequest(messages.NO_ATOMIC_FLAG)
    if KEY in environ:
        raise BadRequest(messages.KEY_OF_BATCH)
    for number, one in enumerate(given):
        if isinstance(one, dict) and "batch" in one:
            raise BadRequest(messages.BATCH_IN_BATCH.format(number=number))
    return Batch(tuple(map(_check, given)), atomic)


def _check(value: Any) -> dict[str, Any] | BadRequest:
    try:
        return check_request(value)
    except BadRequest as error:
        return error


@final
class BatchReplies:
    """Writes the replies to the items of one batch, and reports each to ``calls``."""

    def __init__(
        self,
        batch: Batch,
        request_id: str,
        refuse: Refuse,
        calls: CallObservers | None = None,
        headers: SentHeaders = NO_HEADERS,
    ) -> None:
        self._batch = batch
        self._request_id = request_id
        self._refuse = refuse
        self._calls = calls
        self._headers = headers
        self._address = ""
        self._started = perf_counter()
        self._call: OpenCall | None = None  # of the item that runs

    def items(self, begin: Callable[[str], Mapping[str, Any]]) -> list[Item]:
        """Return the items; ``begin`` gives content of their contexts, by their ids."""
        items = [Item(body, begin(self._id(number))) for number, body in enumerate(self._batch.bodies)]
        self._address = items[0].values[ADDRESS]
        return items

    def begin(self, number: int) -> None:
        """Tell the observers of calls that an item runs from now on."""
        if self._calls is None:
            return
        call = self._call = self._calls.open(self._id(number), self._address)
        body = self._batch.bodies[number]
        if isinstance(body, dict):
            call.begin(self._calls.names(body), self._headers)

    def report(self, items: Sequence[ItemReply]) -> None:
        """Report the items of an atomic batch to the observers; others report themselves."""
        if self._calls is None or not self._batch.atomic:
            return
        for number, item in enumerate(items):
            call = self._calls.open(self._id(number), self._address, self._started)
            body = self._batch.bodies[number]
            if isinstance(body, dict):
                call.names = self._calls.names(body)
            call.error = item.error
            call.end(item.status, item.code)

    def finish(self, result: Any, bounds: RequestBounds) -> bytes | WrittenReply:
        """Return the envelope of a result.

        Raises:
            BadRequest: it has headers or cookies, and the reply of a batch has only those of its own.
        """
        written = finish(result, bounds)
        if isinstance(written, WrittenReply) and written.lines:
            stays = messages.WRITES_OF_ACT_STAY if bounds.committed else ""
            raise BadRequest(messages.HEADERS_IN_BATCH.format(stays=stays))
        return written

    def done(self, reply: bytes | WrittenReply | RemoteReply) -> ItemReply:
        """Return the reply to an item that was done, here or by a remote service."""
        if isinstance(reply, bytes):
            return self._end(_item(reply, 200, {}))
        if isinstance(reply, WrittenReply):
            return self._end(_item(reply.envelope, reply.status, {}))
        headers = {**error_headers(reply.status), **reply.headers}
        return self._end(_item(reply.envelope, reply.status, headers))

    def failed(self, number: int, error: Exception) -> ItemReply:
        """Return the reply to an item that failed; its log line has the item's own id."""
        body = self._batch.bodies[number]
        names = {} if isinstance(body, BadRequest) else {key: body[key] for key in ("service", "model", "act")}
        status, headers, envelope = self._refuse(error, self._id(number), names)
        unexpected = error if self._calls is not None and is_unexpected(error) else None
        return self._end(_item(envelope, status, headers)._replace(error=unexpected))

    def _end(self, item: ItemReply) -> ItemReply:
        call, self._call = self._call, None
        if call is not None:
            call.error = item.error
            call.end(item.status, item.code)
        return item

    def _id(self, number: int) -> str:
        """Return the id of an item: that of the batch, a dot, its number from 0."""
        end = f".{number}"
        return self._request_id[: _LONGEST_ID - len(end)] + end


def write_batch(items: Sequence[ItemReply]) -> bytes:
    """Return the envelope of a batch, which succeeded if each of its items did."""
    succeeded = b"true" if all(item.status < 400 for item in items) else b"false"
    return b'{"body":[%b],"success":%b}' % (b",".join([item.json for item in items]), succeeded)


def _item(envelope: bytes, status: int, headers: Mapping[str, str]) -> ItemReply:
    more, code = f',"status":{status}', OK
    if status >= 400:
        code = headers["X-Error-Code"]  # made of letters, digits and `_.-` only
        more += f',"code":"{code}"'
        if _SECONDS.fullmatch(seconds := headers.get("Retry-After", "")):
            more += f',"retryAfter":{int(seconds)}'
    return ItemReply(b"%b%b}" % (envelope.rstrip()[:-1], more.encode()), status, code)
