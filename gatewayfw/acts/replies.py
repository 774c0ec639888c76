"""What an act answers where a body is not enough: status, headers, cookies.

Source: our choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from gatewayfw.acts.cookies import TOKEN, cookie_header, cookie_problems
from gatewayfw.errors import UsageError

#: Headers that belong to the envelope, the connection or the mount; no act sets them.
_NEVER = frozenset(
    {
        *("cache-control", "content-encoding", "content-length", "content-range", "content-type", "date", "server"),
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate"),
        *("idempotent-replay", "x-content-type-options", "x-error-code", "x-request-id"),
    }
)
_VALUE = re.compile(r"([!-~]([ -~]*[!-~])?)?")
#: Most characters of one header's value: proxies refuse larger heads.
_MOST = 4_096
#: Statuses that say something else about the body than that it is an envelope.
_NO_ENVELOPE = (204, 205, 206)


@final
@dataclass(frozen=True)
class Reply:
    """What an act returns to choose the status, headers or cookies of its reply.

    ``body`` is the act's result. ``status`` is in 200..299; for failures raise an error. ``headers`` maps names to
    values; each of ``cookies`` maps the keywords of Flask's ``set_cookie`` to values::

        Reply({"_id": id_}, 201, {"Location": f"/books/{id_}"})
        Reply(user, cookies=[{"name": "__Host-session", "value": token, "max_age": 3600}])

    A cookie needs ``name`` and ``value``, and may have ``max_age`` (seconds; 0 deletes it), ``path`` (default "/"),
    ``domain``, ``secure`` (default True), ``httponly`` (default True) and ``samesite`` (default "Lax").

    Attributes:
        lines: the headers that are sent, cookies included, as pairs of name and value.

    Raises:
        UsageError: a status that is no success or has no body; a header of the envelope, of the
            connection or of CORS; a header or cookie that cannot be sent, or that browsers would drop.
            The message holds no value.
    """

    body: Any = field(repr=False)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    lines: tuple[tuple[str, str], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if problems := list(_problems(self)):
            raise UsageError(f"Reply: {'; '.join(problems)}")
        cookies = [("Set-Cookie", cookie_header(cookie)) for cookie in self.cookies]
        object.__setattr__(self, "lines", (*self.headers.items(), *cookies))


@final
@dataclass(frozen=True)
class WrittenReply:
    """A `Reply` whose body has become the JSON of an envelope."""

    status: int
    lines: tuple[tuple[str, str], ...]
    envelope: bytes


def _problems(reply: Reply) -> Iterator[str]:
    if isinstance(reply.body, Reply):
        yield "body: a Reply inside a Reply"
    status = reply.status
    if type(status) is not int or not 200 <= status <= 299:
        yield "status must be in 200..299; raise an error for others"
    elif status in _NO_ENVELOPE:
        yield f"status {status} cannot have a body, and every reply has one"
    yield from _header_problems(reply.headers)
    if not isinstance(reply.cookies, Sequence) or isinstance(reply.cookies, (str, bytes)):
        yield "cookies must be a list of objects"
        return
    for number, cookie in enumerate(reply.cookies):
        yield from (f"cookies[{number}]: {problem}" for problem in cookie_problems(cookie))


def _header_problems(headers: Any) -> Iterator[str]:
    if not isinstance(headers, Mapping):
        yield "headers must be an object of names and texts"
        return
    seen: set[str] = set()
    for name, value in headers.items():
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            yield "headers: a name is not one of HTTP"
            continue
        lowered = name.lower()
        if lowered == "set-cookie":
            yield "headers: Set-Cookie goes into cookies"
        elif lowered in _NEVER:
            yield f"headers: {name} is set by the gateway"
        elif lowered.startswith("access-control-"):
            yield f"headers: {name} is up to the option cors"
        if lowered in seen:
            yield f"headers: {name} is given twice"
        seen.add(lowered)
        if not isinstance(value, str) or not _VALUE.fullmatch(value) or len(value) > _MOST:
            yield f"headers: the value of {name} must be text of printable ASCII, up to {_MOST} characters"
