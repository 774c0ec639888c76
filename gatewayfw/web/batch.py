"""Batches: several acts in one request, several answers in its reply.

The body is ``{"batch": [body, ...], "atomic"?: false}``, the reply ``{"body": [item, ...], "success"}`` with the status
200. An item is the envelope of its request, with ``status`` and, if it failed, ``code`` and perhaps ``retryAfter``,
seconds: what a reply of its own has in its status line and headers.

Each item is a request of its own: it begins with a copy of the request's context and globals and has its own hooks,
limits and reply. They share one deadline and the sums of `BatchTotals`. The items of an atomic batch are done
in one transaction, all or none. Source: specification 2.3.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, final

from flask import Request

from gatewayfw import messages
from gatewayfw.acts.act import Act
from gatewayfw.acts.context import ContextFns, copy_for_attempt
from gatewayfw.acts.lifecycle import BatchTotals, Lifecycle, say_what_is_done
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import RequestBounds, WrittenReply
from gatewayfw.context_variables import Caller, anew
from gatewayfw.errors import BadRequest, GatewayError, NotDone
from gatewayfw.observe.calls import OK, CallObservers, OpenCall
from gatewayfw.odm import Odm
from gatewayfw.odm.reading.rights import fix_rights
from gatewayfw.settings import Settings
from gatewayfw.web.failure import is_unexpected
from gatewayfw.web.flask_request import FlaskGlobals, address_of, begin
from gatewayfw.web.reader import check_request
from gatewayfw.web.reply import finish

#: The header of idempotent acts, as WSGI writes it.
KEY = "HTTP_IDEMPOTENCY_KEY"
_SECONDS = re.compile(r"[0-9]{1,9}")
_GLOBALS = FlaskGlobals()
_LONGEST_ID = 64

#: Writes the failure of an item: status, headers and envelope. Takes the error, the item's id, and its names.
Refuse = Callable[[Exception, str, Mapping[str, Any]], tuple[int, Mapping[str, str], bytes]]
#: What hooks and act of an item share, and no other item sees: the values of its context, and of Flask's `g`; and
#: whose rights hold, which None leaves to `Lifecycle.run`.
Shared = tuple[Mapping[str, Any], Mapping[str, Any], Any]


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
class ItemReply(NamedTuple):
    """The reply to one item, as JSON; ``error`` is what a `Call` tells of."""

    json: bytes
    status: int
    code: str
    error: Exception | None = None


@final
@dataclass(frozen=True)
class Batches:
    """What runs the batches of one gateway."""

    lifecycle: Lifecycle
    contexts: ContextFns
    settings: Settings
    odm: Odm

    def run(
        self, batch: Batch, sent: Request, request_id: str, refuse: Refuse, calls: CallObservers | None = None
    ) -> bytes:
        """Return the envelope of a batch, which succeeded if each of its items did.

        The caller has opened the request's context. Each item is reported to ``calls``.

        Raises:
            BadRequest: the batch cannot be atomic, and nothing ran.
            Exception: of an atomic batch, as a whole: nothing of its acts is written, or the outcome is unknown.
        """
        running = _Running(self, batch, sent, request_id, refuse, calls)
        replies = running.run_together() if batch.atomic else running.run_each()
        succeeded = b"true" if all(reply.status < 400 for reply in replies) else b"false"
        return b'{"body":[%b],"success":%b}' % (b",".join([reply.json for reply in replies]), succeeded)


@final
@dataclass(eq=False)
class _Running:
    """One batch under way; it notes which item of an atomic one failed, and how."""

    parts: Batches
    batch: Batch
    sent: Request
    request_id: str
    refuse: Refuse
    calls: CallObservers | None
    failed: int = 0
    shared: Shared = ({}, {}, None)
    error: Exception | None = None

    # -- each by itself

    def run_each(self) -> list[ItemReply]:
        """Run the items one after the other; return their replies."""
        replies: list[ItemReply] = []
        with self.parts.lifecycle.deadline() as bounds:
            bounds.totals = totals = BatchTotals(self.parts.settings)
            for number in range(len(self.batch.bodies)):
                totals.begin_item()
                call = self._open_call(number)
                if call is not None and isinstance(self.batch.bodies[number], dict):
                    call.begin(call.names, self.sent.headers)
                with self._open(self._begin(number)):
                    reply = self._answer(number)
                    _end(call, reply)
                totals.add_bytes(len(reply.json))
                replies.append(reply)
        return replies

    def _answer(self, number: int) -> ItemReply:
        try:
            return _item(self.parts.lifecycle.run(self._body(number), _finish))
        except Exception as error:  # The seam: every error of an item becomes its reply.
            return self._refusal(number, error)

    # -- all in one transaction

    def run_together(self) -> list[ItemReply]:
        """Run the items in one transaction, all or none; return their replies."""
        started = perf_counter()
        acts = [self._find(number) for number in range(len(self.batch.bodies))]
        with self.parts.lifecycle.deadline() as bounds:
            if not self.parts.odm.has_transactions():
                raise BadRequest(messages.NO_TRANSACTIONS)
            try:
                prepared = self._prepare(acts, bounds)
                replies = self.parts.odm.transaction(lambda: self._attempt(prepared, bounds))
            except Exception as error:
                if error is not self.error:  # it is that of the transaction
                    shown = say_what_is_done(error, bounds)
                    if shown is error:
                        raise
                    raise shown from error
                replies = self._refusals(acts, error, bounds)
        for number, reply in enumerate(replies):
            _end(self._open_call(number, started), reply)
        return replies

    def _find(self, number: int) -> Act | GatewayError:
        try:
            found = self.parts.lifecycle.resolve(self._body(number))
        except GatewayError as error:
            return error
        if isinstance(found, RemoteService):
            raise BadRequest(messages.REMOTE_IN_BATCH.format(number=number))
        return found

    def _prepare(
        self, acts: Sequence[Act | GatewayError], bounds: RequestBounds
    ) -> list[tuple[Act, Mapping[str, Any], Shared]]:
        """Do for each item what comes before its act; raise what its first failure raised."""
        prepared, callers = [], self.parts.lifecycle.callers
        bounds.totals = totals = BatchTotals(self.parts.settings)
        for number, act in enumerate(acts):
            totals.begin_item()
            hooks = callers.hooks()
            with self._working(number, (*self._begin(number)[:2], hooks)) as shared:
                if isinstance(act, GatewayError):
                    raise act
                body = self.parts.lifecycle.prepare(act, self._body(number), bounds)
                caller = callers.now()
                if isinstance(caller, Caller):
                    fix_rights(self.parts.odm.schemas, caller)  # before other items write
                prepared.append((act, body, (*shared[:2], caller)))
        return prepared

    def _attempt(
        self, prepared: Sequence[tuple[Act, Mapping[str, Any], Shared]], bounds: RequestBounds
    ) -> list[ItemReply]:
        """Run the acts, in a transaction that may begin again; return the replies."""
        replies: list[ItemReply] = []
        bounds.totals = totals = BatchTotals(self.parts.settings)
        for number, (act, body, shared) in enumerate(prepared):
            totals.begin_item()
            totals.claim()  # its hooks ran before
            bounds.reply_bytes = totals.bytes_left(act.reply_bytes)
            body, *both = copy_for_attempt([body, *shared])
            with self._working(number, tuple(both)) as own, self.parts.odm.part(partial(self._open, own)):
                bounds.check()
                reply = _item(_finish(act.run(body), bounds))
            totals.add_bytes(len(reply.json))
            replies.append(reply)
        return replies

    def _refusals(self, acts: Sequence[Act | GatewayError], error: Exception, bounds: RequestBounds) -> list[ItemReply]:
        """Return the replies after an item failed: that error, and that no other was done."""
        with self._open(self.shared) as (context, _, _):
            shown = self.parts.lifecycle.translate(acts[self.failed], context["body"], error, bounds)
            reply = self._refusal(self.failed, shown)
        return [reply if number == self.failed else self._refusal(number, NotDone()) for number in range(len(acts))]

    @contextmanager
    def _working(self, number: int, shared: Shared) -> Iterator[Shared]:
        with self._open(shared) as shared:
            try:
                yield shared
            except Exception as error:
                self.failed, self.shared, self.error = number, shared, error
                raise

    # -- one item

    def _body(self, number: int) -> dict[str, Any]:
        body = self.batch.bodies[number]
        if isinstance(body, BadRequest):
            raise body
        return body

    def _begin(self, number: int) -> Shared:
        """Return what an item begins with: copies of what the request has."""
        body = self.batch.bodies[number]
        context, values = copy_for_attempt([{**self.parts.contexts.get_context_model()}, _GLOBALS.read()])
        own = begin(self.sent, self._id(number), body if isinstance(body, dict) else None)
        return {**context, **own}, values, None

    @contextmanager
    def _open(self, shared: Shared) -> Iterator[Shared]:
        """Let it be that of the block, which gets it as it is then."""
        given, held, entry = shared
        rights = self.parts.lifecycle.callers.open(entry and anew(entry))
        with self.parts.contexts.open(given) as context, _GLOBALS.open(held) as values, rights:
            yield context, values, entry

    def _open_call(self, number: int, started: float | None = None) -> OpenCall | None:
        if self.calls is None:
            return None
        call = self.calls.open(self._id(number), address_of(self.sent), started)
        body = self.batch.bodies[number]
        if isinstance(body, dict):
            call.names = self.calls.names(body)
        return call

    def _refusal(self, number: int, error: Exception) -> ItemReply:
        """Return the reply to an item that failed; its log line has the item's own id."""
        body = self.batch.bodies[number]
        names = {} if isinstance(body, BadRequest) else {key: body[key] for key in ("service", "model", "act")}
        status, headers, envelope = self.refuse(error, self._id(number), names)
        return _write(envelope, status, headers)._replace(error=error if is_unexpected(error) else None)

    def _id(self, number: int) -> str:
        """Return the id of an item: that of the batch, a dot, its number from 0."""
        end = f".{number}"
        return self.request_id[: _LONGEST_ID - len(end)] + end


def _finish(result: Any, bounds: RequestBounds) -> bytes | WrittenReply:
    """Return the envelope of a result.

    Raises:
        BadRequest: it has headers or cookies, and the reply of a batch has only those of its own.
    """
    written = finish(result, bounds)
    if isinstance(written, WrittenReply) and written.lines:
        stays = messages.WRITES_OF_ACT_STAY if bounds.committed else ""
        raise BadRequest(messages.HEADERS_IN_BATCH.format(stays=stays))
    return written


def _item(reply: bytes | WrittenReply) -> ItemReply:
    """Return the reply to an item that was done, here or by a remote service."""
    if isinstance(reply, bytes):
        return _write(reply, 200, {})
    return _write(reply.envelope, reply.status, dict(reply.lines))


def _write(envelope: bytes, status: int, headers: Mapping[str, str]) -> ItemReply:
    more, code = f',"status":{status}', OK
    if status >= 400:
        code = headers["X-Error-Code"]  # made of letters, digits and `_.-` only
        more += f',"code":"{code}"'
        if _SECONDS.fullmatch(seconds := headers.get("Retry-After", "")):
            more += f',"retryAfter":{int(seconds)}'
    return ItemReply(b"%b%b}" % (envelope.rstrip()[:-1], more.encode()), status, code)


def _end(call: OpenCall | None, reply: ItemReply) -> None:
    if call is not None:
        call.error = reply.error
        call.end(reply.status, reply.code)
