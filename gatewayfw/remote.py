"""Remote services: a request is posted on to a fixed URL and its envelope comes back unchanged.

The target comes only from ``set_service``, never from a request. No redirects, retries, cookies
or proxies of the environment.

Source: specification 18.5; the limits, the hooks in front and the forwarded headers are our choice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TooSlow

from gatewayfw.acts.act import Hook, parse_hooks
from gatewayfw.acts.carriers import Carrier
from gatewayfw.acts.context import Headers
from gatewayfw.errors import BadRequest, DefinitionError, RemoteError, RemoteTimeout
from gatewayfw.settings import Settings
from gatewayfw.spelling import PYTHON
from gatewayfw.wire.posting import ENVELOPE_BYTES, NotAGateway, Posts, endpoint, envelope_of

#: Headers of the request that are passed on, besides those that a service names; all others stay here.
FORWARDED = (
    "token",
    "authorization",
    "accept-language",
    "x-request-id",
    "traceparent",
    "tracestate",
    "x-gateway-detail",
)
HOPS = "X-Gateway-Hops"
#: Gateways a request may be passed on by; more is taken for a loop.
MAX_HOPS = 5

#: What the remote service counts callers by. Made here: a client's own header of that name stays here.
FORWARDED_FOR = "X-Forwarded-For"

#: Headers that are this gateway's own, or those of one connection: no service may name them.
_NEVER = frozenset(
    {
        *("accept", "accept-encoding", "content-encoding", "content-length", "content-type", "user-agent"),
        *("connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *(FORWARDED_FOR.lower(), HOPS.lower()),
    }
)
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class Encoder(Protocol):
    """What writes the forwarded body: a JSON encoder that gives UTF-8 bytes."""

    def __call__(self, value: Any, /) -> bytes:
        """Return the JSON of a value; ValueError or TypeError when it has none."""


def encode(value: Any, /) -> bytes:
    """Return a value as strict JSON in UTF-8.

    Raises:
        TypeError: a value JSON has no form for.
        ValueError: NaN, an infinite number, or text that has no UTF-8 form.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


@final
@dataclass(frozen=True)
class RemoteReply:
    """What a remote service answered: its status (200..299 or 400..599) and its envelope as sent.

    ``headers`` holds those of `gatewayfw.wire.posting.TOLD` that came with an error. Without them a reply that leaves
    open what was written (503, ``outcome_unknown``) would look like one that wrote nothing.
    """

    status: int
    envelope: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@final
class RemoteService:
    """A service that another gateway serves.

    Attributes:
        name: the name it is registered under, for messages.
        given: the URL as it was given.
        url: the URL requests are posted to: ``given`` with ``/gateway`` appended unless its path
            ends in it.
        pre_act: the hooks that run before a request is posted on.
        forwarded: the headers of a request that are passed on, in lower case.

    Raises:
        DefinitionError: the URL is not plain http or https with a host, or has credentials, a
            query or a fragment; a hook is none; ``headers`` is no list of names, or names one that
            this gateway makes itself.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str = "remote",
        settings: Settings | None = None,
        pre_act: Sequence[Hook] = (),
        headers: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.given = url
        try:
            self.act_hooks = parse_hooks("preAct", pre_act, PYTHON)
        except DefinitionError as error:
            raise DefinitionError(f"service {name}: {error.message}") from None
        self.pre_act = tuple(pre_act)
        self.forwarded = tuple(dict.fromkeys((*FORWARDED, *_checked_names(headers, name))))
        self._settings = settings or Settings()
        try:
            self.url = endpoint(url)
        except ValueError as error:
            raise DefinitionError(f"service {name}: the URL {error}") from None
        # What a service with the same setting may answer passes.
        most = self._settings.max_reply_bytes + ENVELOPE_BYTES
        self._posts = Posts(self.url, max_bytes=most, connections=32)

    def call(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        seconds: float,
        carriers: Iterable[Carrier] = (),
        address: str = "",
        encode: Encoder = encode,
    ) -> RemoteReply:
        """Post a request on, with its ``service`` rewritten to ``main``, and return the answer.

        What ``carriers`` find in the headers is passed on, too: of all cookies those that carry a token or a role.
        ``address`` is that of the caller's connection; an IP address goes along as ``X-Forwarded-For``.

        Takes at most ``seconds``, and at most the settings' ``remote_timeout``, from connecting to
        the last byte; only the look-up of the host's name has the system's own limit.

        Raises:
            BadRequest: the body or a forwarded header cannot be written.
            RemoteError: unreachable, too many hops, or an answer that is no envelope.
            RemoteTimeout: too slow.
        """
        sent = {**_carried(headers, carriers), **_forwarded(headers, self.forwarded, address, self.name)}
        try:
            data = encode({**body, "service": "main"})
        except (TypeError, ValueError) as error:
            raise BadRequest(f"the request cannot be passed on to service {self.name}") from error
        limit = min(self._settings.remote_timeout, seconds)
        if limit <= 0:
            raise RemoteTimeout(f"service {self.name} took too long")
        try:
            reply = self._posts.post(data, sent, connect=self._settings.remote_connect_timeout, total=limit)
            envelope = envelope_of(reply)
        except NotAGateway as error:
            raise RemoteError(f"bad reply of service {self.name}: {error}") from error
        except NewConnectionError as error:  # a subclass of the time-out below
            raise RemoteError(f"service {self.name} is unreachable") from error
        except TooSlow as error:
            raise RemoteTimeout(f"service {self.name} took too long") from error
        except HTTPError as error:
            raise RemoteError(f"service {self.name} is unreachable") from error
        return RemoteReply(reply.status, reply.data, {} if envelope["success"] else reply.told())


def _checked_names(headers: object, name: str) -> list[str]:
    if not isinstance(headers, Sequence) or isinstance(headers, str):
        raise DefinitionError(f"service {name}: headers must be a list of names such as 'x-tenant'")
    for header in headers:
        if not isinstance(header, str) or not _HEADER_NAME.fullmatch(header):
            raise DefinitionError(f"service {name}: headers must be a list of names such as 'x-tenant'")
        if header.lower() in _NEVER:
            raise DefinitionError(f"service {name}: headers: {header} is made here and never passed on")
    return [header.lower() for header in headers]


def _carried(headers: Mapping[str, str], carriers: Iterable[Carrier]) -> dict[str, str]:
    """Return the headers with what carriers find; a cookie sent twice goes on twice, and is refused there, too."""
    sent: dict[str, str] = {}
    given = Headers(headers)
    for carrier in carriers:
        if carrier.kind in ("header", "bearer") and carrier.header in given:
            sent[carrier.header] = _checked_value(carrier.header, given[carrier.header])
        elif carrier.kind == "cookie":
            pairs = [f"{carrier.name}={_checked_value('cookie', value)}" for value in carrier.found(given)]
            sent.update({"cookie": "; ".join(filter(None, [sent.get("cookie", ""), *pairs]))} if pairs else {})
    return sent


def _checked_value(header: str, value: str) -> str:
    if not _HEADER_VALUE.fullmatch(value):
        raise BadRequest(f"the header {header} cannot be passed on")
    return value


def _forwarded(headers: Mapping[str, str], names: Iterable[str], address: str, name: str) -> dict[str, str]:
    sent = {FORWARDED_FOR: address} if _ADDRESS.fullmatch(address) else {}
    sent |= {header: _checked_value(header, headers[header]) for header in names if header in headers}
    hops = headers.get(HOPS, "0")
    if not re.fullmatch(r"[0-9]{1,3}", hops) or int(hops) >= MAX_HOPS:
        raise RemoteError(f"service {name} was not asked: too many hops")
    return {**sent, HOPS: str(int(hops) + 1)}
