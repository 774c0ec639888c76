"""Batches: several acts in one request.

Each item is a request of its own: it begins with a copy of the request's context and globals and has its own hooks,
limits and reply. They share one deadline and the sums of `gatewayfw.acts.totals`. The items of an atomic batch are done
in one transaction, all or none. Source: specification 2.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar, final

from gatewayfw import messages
from gatewayfw.acts.act import Act
from gatewayfw.acts.context import ContextFns, Globals, copy_for_attempt
from gatewayfw.acts.lifecycle import Lifecycle, RequestBounds, say_what_is_done
from gatewayfw.acts.lookup import RemoteReply, RemoteService
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.acts.totals import BatchTotals
from gatewayfw.errors import BadRequest, GatewayError, NotDone
from gatewayfw.settings import Settings

T = TypeVar("T")


@final
@dataclass(frozen=True)
class Item:
    """One item of a batch: its checked body, or the error that says why it is none."""

    body: Mapping[str, Any] | GatewayError
    #: What its context has besides a copy of the request's.
    values: Mapping[str, Any]

    def checked(self) -> Mapping[str, Any]:
        """Return its body; raise the error if it is none."""
        if isinstance(self.body, GatewayError):
            raise self.body
        return self.body


@final
class ItemReply(NamedTuple):
    """The reply to one item, as JSON; ``error`` is what a `Call` tells of."""

    json: bytes
    status: int
    code: str
    error: Exception | None = None


class ItemReplies(Protocol):
    """Writes the replies of items."""

    def begin(self, number: int, /) -> None:
        """Note that an item runs from now on; those of an atomic batch run together."""

    def finish(self, result: Any, bounds: RequestBounds, /) -> bytes | WrittenReply:
        """Return the envelope of a result."""

    def done(self, reply: bytes | WrittenReply | RemoteReply, /) -> ItemReply:
        """Return the reply to an item that was done."""

    def failed(self, number: int, error: Exception, /) -> ItemReply:
        """Return the reply to an item that failed; log the error."""


class TransactionRunner(Protocol):
    """The database of a gateway; its `Odm`."""

    def has_transactions(self) -> bool:
        """Tell whether a failed `transaction` leaves no trace."""

    def transaction(self, fn: Callable[[], T], /) -> T:
        """Run ``fn`` all or nothing, perhaps several times."""

    def part(self, scope: Callable[[], AbstractContextManager[object]], /) -> AbstractContextManager[None]:
        """Let a block be a part of the transaction under way.

        It raises what has failed the transaction, even if caught. What it leaves for after the commit gets ``scope``.
        """


#: What hooks and act of an item share, and no other item sees: the values of its context, and of `Globals`.
Shared = tuple[Mapping[str, Any], Mapping[str, Any]]


@final
class ItemScopes:
    """Gives each item what it shares with nobody."""

    def __init__(self, contexts: ContextFns, globals_: Globals) -> None:
        self._contexts = contexts
        self._globals = globals_

    def begin(self, item: Item) -> Shared:
        """Return what an item begins with: copies of what the request has."""
        body = None if isinstance(item.body, GatewayError) else item.body
        context, values = copy_for_attempt([{**self._contexts.get_context_model()}, self._globals.read()])
        return {**context, **item.values, "body": body}, values

    @contextmanager
    def open(self, shared: Shared) -> Iterator[Shared]:
        """Let it be that of the block, which gets it as it is then."""
        with self._contexts.open(shared[0]) as context, self._globals.open(shared[1]) as values:
            yield context, values


@final
class Batches:
    """Runs the batches of one gateway."""

    def __init__(
        self, lifecycle: Lifecycle, scopes: ItemScopes, settings: Settings, transactions: TransactionRunner
    ) -> None:
        self._lifecycle = lifecycle
        self._scopes = scopes
        self._settings = settings
        self._transactions = transactions

    def run(self, items: Sequence[Item], replies: ItemReplies, *, atomic: bool) -> list[ItemReply]:
        """Return the replies to the items of one batch, in order.

        The caller has opened the request's context.

        Raises:
            BadRequest: the batch cannot be ``atomic``, and nothing ran.
            Exception: of an atomic batch, as a whole: nothing of its acts is written, or the outcome is unknown.
        """
        if atomic:
            return self._run_atomic(items, replies)
        written: list[ItemReply] = []
        with self._lifecycle.deadline() as bounds:
            bounds.totals = totals = BatchTotals(self._settings)
            for number, item in enumerate(items):
                totals.begin_item()
                reply = self._answer(number, item, replies)
                totals.add_bytes(len(reply.json))
                written.append(reply)
        return written

    def _answer(self, number: int, item: Item, replies: ItemReplies) -> ItemReply:
        replies.begin(number)
        with self._scopes.open(self._scopes.begin(item)):
            try:
                return replies.done(self._lifecycle.run(item.checked(), replies.finish))
            except Exception as error:  # The seam: every error of an item becomes its reply.
                return replies.failed(number, error)

    def _run_atomic(self, items: Sequence[Item], replies: ItemReplies) -> list[ItemReply]:
        acts = [self._find(number, item) for number, item in enumerate(items)]
        with self._lifecycle.deadline() as bounds:
            if not self._transactions.has_transactions():
                raise BadRequest(messages.NO_TRANSACTIONS)
            batch = _Atomic(self._lifecycle, self._scopes, replies, bounds, self._transactions, acts)
            try:
                batch.prepare(items, BatchTotals(self._settings))
                return self._transactions.transaction(lambda: batch.attempt(BatchTotals(self._settings)))
            except Exception as error:
                if error is batch.error:  # else it is that of the transaction
                    return batch.refusals(error)
                shown = say_what_is_done(error, bounds)
                if shown is error:
                    raise
                raise shown from error

    def _find(self, number: int, item: Item) -> Act | GatewayError:
        try:
            found = self._lifecycle.resolve(item.checked())
        except GatewayError as error:
            return error
        if isinstance(found, RemoteService):
            raise BadRequest(messages.REMOTE_IN_BATCH.format(number=number))
        return found


@final
@dataclass(eq=False)
class _Atomic:
    """One atomic batch under way; the item that failed, what it shared, and its error."""

    lifecycle: Lifecycle
    scopes: ItemScopes
    replies: ItemReplies
    bounds: RequestBounds
    transactions: TransactionRunner
    acts: Sequence[Act | GatewayError]
    prepared: list[tuple[Act, Mapping[str, Any], Shared]] = field(default_factory=list)
    failed: int = 0
    shared: Shared = ({}, {})
    error: Exception | None = None

    def prepare(self, items: Sequence[Item], totals: BatchTotals) -> None:
        """Do for each item what comes before its act; raise what its first failure raised."""
        self.bounds.totals = totals
        for number, (item, act) in enumerate(zip(items, self.acts, strict=True)):
            totals.begin_item()
            with self._working(number, self.scopes.begin(item)) as shared:
                if isinstance(act, GatewayError):
                    raise act
                body = self.lifecycle.prepare(act, item.checked(), self.bounds)
                self.prepared.append((act, body, shared))

    def attempt(self, totals: BatchTotals) -> list[ItemReply]:
        """Run the acts, in a transaction that may begin again; return the replies."""
        self.bounds.totals = totals
        written: list[ItemReply] = []
        for number, (act, body, shared) in enumerate(self.prepared):
            totals.begin_item()
            totals.claim()  # its hooks ran before
            self.bounds.reply_bytes = totals.bytes_left(act.reply_bytes)
            body, *both = copy_for_attempt([body, *shared])
            with self._working(number, tuple(both)) as own, self.transactions.part(partial(self.scopes.open, own)):
                self.bounds.check()
                reply = self.replies.done(self.replies.finish(act.run(body), self.bounds))
            totals.add_bytes(len(reply.json))
            written.append(reply)
        return written

    def refusals(self, error: Exception) -> list[ItemReply]:
        """Return the replies after an item failed: that error, and that no other was done."""
        with self.scopes.open(self.shared) as (context, _):
            shown = self.lifecycle.translate(self.acts[self.failed], context["body"], error, self.bounds)
            reply = self.replies.failed(self.failed, shown)
        return [
            reply if number == self.failed else self.replies.failed(number, NotDone())
            for number in range(len(self.acts))
        ]

    @contextmanager
    def _working(self, number: int, shared: Shared) -> Iterator[Shared]:
        with self.scopes.open(shared) as shared:
            try:
                yield shared
            except Exception as error:
                self.failed, self.shared, self.error = number, shared, error
                raise
