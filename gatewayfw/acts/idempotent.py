"""Idempotent acts: whose key came with which body, and what records mean.

A record is a document that a store keeps: ``{"_id", "body", "token", "expires", "status", "lines", "envelope"}``; it
appears together with what the act wrote, or not at all. Source: our choice.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, final
from uuid import UUID

from bson import ObjectId

from gatewayfw.acts.hooks import Hook, access_rules, fn_problems
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.acts.steps import steps_of
from gatewayfw.errors import BadRequest, DefinitionError, KeyReused, Unauthenticated, UsageError
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


@final
@dataclass(frozen=True)
class Idempotency:
    """How long replies of an act are kept, and whose they are.

    Attributes:
        seconds: how long.
        by: gives the caller by the body; None for the ``_id`` of the context's ``user``.
    """

    seconds: int
    by: Callable[[Any], Any] | None = None

    def name_caller(self, body: Mapping[str, Any], context: Mapping[str, Any]) -> list[str]:
        """Return who calls, as the name of a type and a text.

        Raises:
            Unauthenticated: nobody is logged in.
            UsageError: ``by``, or the ``_id`` of the user, is something that names nobody.
        """
        caller = None if self.by is None else self.by(body)
        if caller is None:
            user = context.get("user")
            if user is None:
                raise Unauthenticated(f"the header {HEADER} is for callers who are signed in")
            caller = user.get("_id") if isinstance(user, Mapping) else None
        if not isinstance(caller, _CALLERS) or isinstance(caller, bool):
            raise UsageError(
                f"idempotent: a {type(caller).__name__} names no caller: "
                "idempotent_by, or the _id of user in the context, must be text, a whole number, an ObjectId or a UUID"
            )
        return [next(kind.__name__ for kind in _CALLERS if isinstance(caller, kind)), str(caller)]


@final
@dataclass(frozen=True)
class Keyed:
    """A request with a key, before its hooks have run.

    Attributes:
        key: the key.
        body: the hash of the details as they were sent.
    """

    key: str
    body: str

    def with_files(self, uploads: Mapping[str, Upload]) -> Keyed:
        """Return it with the contents of files in its hash."""
        files = [[path, upload.sha256] for path, upload in sorted(uploads.items())]
        return Keyed(self.key, _hash([self.body, files]))

    def begin(self, caller: Sequence[str], names: Sequence[str], seconds: int, now: datetime) -> dict[str, Any]:
        """Return the record that this request begins with.

        ``names`` are service, model and act; ``now`` is naive UTC. Its ``token`` is that of this request alone.
        """
        return {
            "_id": _hash([*caller, *names, self.key]),
            "body": self.body,
            "token": secrets.token_hex(16),
            "expires": now + timedelta(seconds=seconds),
        }


def read_key(key: str, body: Mapping[str, Any]) -> Keyed:
    """Return the request that a key and a body make.

    Bodies that differ in the order of keys only are the same; 1 and 1.0 are not.

    Raises:
        BadRequest: the key has no or too many characters, or others than printable ASCII.
    """
    if not _KEY.fullmatch(key):
        raise BadRequest(f"the header {HEADER} must be 1 to 255 printable ASCII characters")
    return Keyed(key, _hash(body["details"]))


def judge(found: Record | None, record: Record, now: datetime) -> WrittenReply | None:
    """Return the reply to give again; None without one, or after its time.

    Raises:
        KeyReused: the key was sent with another body.
    """
    if found is None or is_expired(found, now):
        return None
    if found["body"] != record["body"]:
        raise KeyReused()
    lines = tuple((name, value) for name, value in found["lines"])
    return WrittenReply(found["status"], (*lines, REPLAY), bytes(found["envelope"]))


def is_expired(found: Record, now: datetime) -> bool:
    """Tell whether a record counts as absent."""
    return bool(found["expires"] <= now)


def describe(written: WrittenReply) -> dict[str, Any]:
    """Return what a record gets of a reply."""
    return {"status": written.status, "lines": [list(line) for line in written.lines], "envelope": written.envelope}


def parse_idempotent(given: Any, by: Any, hooks: Iterable[Hook]) -> Idempotency | None:
    """Return a checked ``idempotent=`` with its ``idempotent_by=``; None without.

    Raises:
        DefinitionError: it is no time such as ``"24h"``, the function is none, or nothing names the caller.
    """
    if problems := list(_problems(given, by, list(hooks))):
        raise DefinitionError("; ".join(problems))
    if given is None:
        return None
    count, unit = _SPAN.fullmatch(given).groups()  # type: ignore[union-attr]  # judged above
    return Idempotency(int(count) * _SECONDS[unit], by)


def _problems(given: Any, by: Any, hooks: Sequence[Hook]) -> Iterator[str]:
    if by is not None:
        yield from fn_problems(by, "idempotent_by")
    if given is None:
        if by is not None:
            yield "idempotent_by goes with idempotent"
        return
    if not isinstance(given, str) or not _SPAN.fullmatch(given):
        yield "idempotent: expected how long replies are kept, such as '24h' (s, m, h or d)"
    signs_in = access_rules(hooks) or any(step.gives == "user" for step in steps_of(hooks))
    if by is None and not signs_in:
        yield "idempotent: nobody knows whose key it is: add access hooks, or idempotent_by"


def _hash(value: Any) -> str:
    """Return the hash of JSON, whatever the order of keys."""
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
