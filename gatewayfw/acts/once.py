"""Run idempotent acts once for each key.

`find` looks for the record of a request; if there is none, `attempt` writes it, runs the act and adds the reply, all in
one transaction. So there are both a record with a reply and what the act wrote, or neither. Of two requests with one
key both write the record first: one of them fails there, and gives the reply of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Protocol, TypeVar, cast, final

from gatewayfw.acts.act import Act
from gatewayfw.acts.context import ContextFns
from gatewayfw.acts.fresh import Globals, fresh
from gatewayfw.acts.idempotent import MOST, Idempotency, Keyed, Record, describe, judge
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.errors import InProgress
from gatewayfw.schemas.kinds.file import Upload
from gatewayfw.spelling import MAIN

T = TypeVar("T")


class Bounds(Protocol):
    """The bounds of a request that are asked here.

    See `gatewayfw.acts.lifecycle.RequestBounds`.
    """

    reply_bytes: int | None

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""


class Outcome(Enum):
    """How an attempt ended that raised nothing."""

    DONE = "done"
    CONFLICT = "another request is writing the record"
    DUPLICATE = "another request has written the record"


class Store(Protocol):
    """Keeps records; the `Odm` of a gateway has one."""

    def find(self, id_: str, /) -> Record | None:
        """Return a record as others have committed it.

        Raises:
            DefinitionError: there is no database, or it has no transactions.
            UsageError: a transaction is under way.
        """

    def attempt(self, record: Record, answer: Callable[[], Mapping[str, Any]], /, *, replace: str | None) -> str:
        """Write a record, run ``answer`` and add what it returns, in one transaction.

        ``answer`` may run several times. ``replace`` is the token of an expired record, which makes room. Returns the
        name of an `Outcome`; if it is not ``DONE``, ``answer`` has not run.

        Raises:
            Exception: that of ``answer`` or the database; then nothing is written, or the outcome is unknown.
        """


@final
class Once:
    """Runs the idempotent acts of one gateway."""

    def __init__(self, store: Store, contexts: ContextFns, globals_: Globals) -> None:
        self._store = store
        self._contexts = contexts
        self._globals = globals_

    def run(
        self,
        keyed: Keyed,
        act: Act,
        body: Mapping[str, Any],
        bounds: Bounds,
        finish: Callable[[Any, Any], T],
        uploads: Mapping[str, Upload],
    ) -> T | WrittenReply:
        """Return the finished result of an act, or the reply that it gave before.

        Each attempt has a fresh copy of the body, of the context and of what Flask's `g` held before. Its files begin
        anew.

        Raises:
            KeyReused: the key was sent with another body.
            InProgress: another request with this key is under way.
            ReplyTooLarge: the reply is too large to be kept; nothing is written.
            Exception: any error of the act; nothing is written.
        """
        names = (body.get("service") or MAIN, act.schema, act.act_name)
        rule = cast(Idempotency, act.once)
        caller = rule.name_caller(body, self._contexts.get_context_model())
        record = keyed.begin(caller, names, rule.seconds, _now())
        bounds.reply_bytes = min(bounds.reply_bytes or MOST, MOST)
        given = fresh([dict(self._contexts.get_context_model()), body, self._globals.read()])
        results: list[T] = []
        is_first = True

        def answer() -> dict[str, Any]:
            nonlocal is_first
            context, own, values = fresh(given)
            self._contexts.set_context(context)
            if not is_first:
                self._globals.reset(values)
            is_first = False
            for upload in uploads.values():
                upload.stream.seek(0)
            results[:] = [finish(act.run(own), bounds)]
            return describe(_written(results[0]))

        while True:
            bounds.check()
            found = self._store.find(record["_id"])
            if known := judge(found, record, _now()):
                return known
            outcome = Outcome[self._store.attempt(record, answer, replace=None if found is None else found["token"])]
            if outcome is Outcome.DONE:
                return results[0]
            if outcome is Outcome.CONFLICT:
                return self._known(record)

    def _known(self, record: Record) -> WrittenReply:
        """Return the reply of the request that was faster."""
        known = judge(self._store.find(record["_id"]), record, _now())
        if known is None:
            raise InProgress()
        return known


def _written(result: Any) -> WrittenReply:
    return result if isinstance(result, WrittenReply) else WrittenReply(200, (), result)


def _now() -> datetime:
    """Return the time as stores give it back: naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
