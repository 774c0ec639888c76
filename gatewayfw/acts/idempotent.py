"""Idempotent acts: run once for each key that a caller sends.

The runner looks for the record of a request; if there is none, it writes one, runs the act and adds the reply, all in
one transaction. So there are both a record with a reply and what the act wrote, or neither. Of two requests with one
key both write the record first: one of them fails there, and gives the reply of the other. A record is a document that
a store keeps: ``{"_id", "body", "token", "expires", "status", "lines", "envelope"}``. Source: our choice.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Literal, Protocol, TypeVar, final
from uuid import UUID

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.acts.context import ContextFns, Globals, copy_for_attempt
from gatewayfw.acts.hooks import ActFn, Hook, find_access_rules, find_fn_problems, find_marks
from gatewayfw.acts.replies import RequestBounds, WrittenReply
from gatewayfw.errors import BadRequest, DefinitionError, InProgress, KeyReused, Unauthenticated, UsageError
from gatewayfw.schemas.kinds.file import Upload

HEADER = "Idempotency-Key"
#: The header of a reply that was given before.
REPLAY = ("Idempotent-Replay", "1")
#: Most bytes of the JSON of a reply's body that is kept.
MOST = 1024 * 1024

_KEY = re.compile(r"[\x20-\x7e]{1,255}")
_SPAN = re.compile(r"([1-9][0-9]{0,4})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
#: Types of what may name a caller; the type counts, so that 1 and "1" are two.
_CALLERS = (str, int, ObjectId, UUID)

Record = Mapping[str, Any]
T = TypeVar("T")


@final
@dataclass(frozen=True)
class Idempotency:
    """How long replies of an act are kept, in seconds, and whose they are.

    ``by`` gives the caller by the body; None for the ``_id`` of the context's ``user``.
    """

    seconds: int
    by: Callable[[Any], Any] | None = None

    def name_caller(self, body: Mapping[str, Any], context: Mapping[str, Any]) -> list[str]:
        """Return who calls, as the name of a type and a text."""
        caller = None if self.by is None else self.by(body)
        if caller is None:
            user = context.get("user")
            if user is None:
                raise Unauthenticated(messages.KEY_WITHOUT_CALLER.format(header=HEADER))
            caller = user.get("_id") if isinstance(user, Mapping) else None
        if not isinstance(caller, _CALLERS) or isinstance(caller, bool):
            raise UsageError(
                f"idempotent: a {type(caller).__name__} names no caller: "
                "idempotent_by, or the _id of user in the context, must be text, a whole number, an ObjectId or a UUID"
            )
        return [next(kind.__name__ for kind in _CALLERS if isinstance(caller, kind)), str(caller)]


@final
@dataclass(frozen=True)
class KeyedRequest:
    """A request with a key, before its hooks have run."""

    key: str
    rule: Idempotency
    #: Service, model and act.
    names: tuple[str, str, str]
    #: The hash of the details as they were sent.
    body: str

    def with_files(self, uploads: Mapping[str, Upload]) -> KeyedRequest:
        """Return it with the contents of files in its hash."""
        files = [[path, upload.sha256] for path, upload in sorted(uploads.items())]
        return replace(self, body=_hash([self.body, files]))

    def of(self, whose: Sequence[str]) -> KeyedRequest:
        """Return it with a caller in its hash, so that nobody else gets its reply."""
        return replace(self, body=_hash([self.body, list(whose)]))

    def begin_record(self, caller: Sequence[str], now: datetime) -> dict[str, Any]:
        """Return the record that this request begins with; its ``token`` is no other's."""
        return {
            "_id": _hash([*caller, *self.names, self.key]),
            "body": self.body,
            "token": secrets.token_hex(16),
            "expires": now + timedelta(seconds=self.rule.seconds),
        }


def read_key(
    key: str, rule: Idempotency | None, names: tuple[str, str, str], details: Mapping[str, Any]
) -> KeyedRequest:
    """Return the request that a key, an act and details make.

    Details that differ in the order of keys only are the same; 1 and 1.0 are not.
    """
    if rule is None:
        raise BadRequest(messages.NO_KEY_TAKEN.format(header=HEADER))
    if not _KEY.fullmatch(key):
        raise BadRequest(messages.BAD_KEY.format(header=HEADER))
    return KeyedRequest(key, rule, names, _hash(details))


def find_reply(found: Record | None, record: Record, now: datetime) -> WrittenReply | None:
    """Return the reply to give again; None without one, or after its time."""
    if found is None or found["expires"] <= now:
        return None
    if found["body"] != record["body"]:
        raise KeyReused()
    lines = tuple((name, value) for name, value in found["lines"])
    return WrittenReply(found["status"], (*lines, REPLAY), bytes(found["envelope"]))


def describe_reply(finished: Any) -> dict[str, Any]:
    """Return what a record gets of a written reply, or of the JSON of an envelope."""
    written = finished if isinstance(finished, WrittenReply) else WrittenReply(200, (), finished)
    return {"status": written.status, "lines": [list(line) for line in written.lines], "envelope": written.envelope}


def parse_idempotent(given: Any, by: Any, hooks: Sequence[Hook]) -> Idempotency | None:
    """Return a checked ``idempotent=`` with its ``idempotent_by=``; None without.

    Raises:
        DefinitionError: it is no time such as ``"24h"``, the function is none, or nothing names the caller.
    """
    problems = [] if by is None else list(find_fn_problems(by, "idempotent_by"))
    span = _SPAN.fullmatch(given) if isinstance(given, str) else None
    if given is None:
        problems += [] if by is None else ["idempotent_by goes with idempotent"]
    elif span is None:
        problems.append("idempotent: expected how long replies are kept, such as '24h' (s, m, h or d)")
    signs_in = find_access_rules(hooks) or any(mark.gives == "user" for mark in find_marks(hooks))
    if given is not None and by is None and not signs_in:
        problems.append("idempotent: nobody knows whose key it is: add access hooks, or idempotent_by")
    if problems:
        raise DefinitionError("; ".join(problems))
    return None if span is None else Idempotency(int(span[1]) * _SECONDS[span[2]], by)


def _hash(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


#: How an attempt ended that raised nothing: or another request is writing the record, or has written it.
Outcome = Literal["DONE", "CONFLICT", "DUPLICATE"]


class Store(Protocol):
    """Keeps records; the `Odm` of a gateway has one."""

    def find(self, id_: str, /) -> Record | None:
        """Return a record as others have committed it; see `gatewayfw.odm.stored_replies`."""

    def attempt(self, record: Record, answer: Callable[[], Mapping[str, Any]], /, *, replace: str | None) -> Outcome:
        """Write a record, run ``answer`` and add what it returns, in one transaction.

        ``answer`` may run several times, and not at all unless the outcome is ``DONE``. ``replace`` is the token of an
        expired record, which makes room. After an error nothing is written, or the outcome is unknown.
        """


@final
class IdempotentRunner:
    """Runs the idempotent acts of one gateway."""

    def __init__(self, store: Store, contexts: ContextFns, globals_: Globals) -> None:
        self._store = store
        self._contexts = contexts
        self._globals = globals_

    def run(
        self,
        request: KeyedRequest,
        body: Mapping[str, Any],
        bounds: RequestBounds,
        act: ActFn,
        finish: Callable[[Any, RequestBounds], T],
        uploads: Mapping[str, Upload] | None,
    ) -> T | WrittenReply:
        """Return what ``finish`` makes of an act's result, or the reply that was kept.

        Each attempt has a copy of its own of the body, of the context and of what Flask's `g` held before. Its files
        begin anew. After an error nothing is written.

        Raises:
            KeyReused: the key was sent with another body.
            InProgress: another request with this key is under way.
            ReplyTooLarge: the reply is too large to be kept.
        """
        caller = request.rule.name_caller(body, self._contexts.get_context_model())
        record = request.begin_record(caller, _now())
        bounds.reply_bytes = min(bounds.reply_bytes or MOST, MOST)
        given = copy_for_attempt([dict(self._contexts.get_context_model()), body, self._globals.read()])
        results: list[T] = []
        is_first = True

        def attempt() -> dict[str, Any]:
            nonlocal is_first
            context, own, values = copy_for_attempt(given)
            self._contexts.set_context(context)
            if not is_first:
                self._globals.reset(values)
            is_first = False
            for upload in (uploads or {}).values():
                upload.stream.seek(0)
            results[:] = [finish(act(own), bounds)]
            return describe_reply(results[0])

        outcome: Outcome | None = None
        while outcome != "DONE":
            bounds.check()
            found = self._store.find(record["_id"])
            if known := find_reply(found, record, _now()):
                return known
            if outcome == "CONFLICT":
                raise InProgress()
            outcome = self._store.attempt(record, attempt, replace=None if found is None else found["token"])
        return results[0]


def _now() -> datetime:
    """Return the time as stores give it back: naive UTC."""
    return datetime.now(UTC).replace(tzinfo=None)
