"""Remote services: requests are forwarded, and envelopes come back unchanged.

Only ``set_service`` sets the target, never a request. No redirects, retries, cookies or proxies from the environment.

Source: specification 18.5; the limits, the hooks in front and the forwarded headers are our choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, final

from gatewayfw import messages
from gatewayfw.acts.headers import Headers, read_headers
from gatewayfw.acts.hooks import Hook, call_with_body, find_hook_problems
from gatewayfw.acts.replies import TOKEN, WrittenReply, error_headers
from gatewayfw.errors import BadRequest, DefinitionError, RemoteError, RemoteTimeout
from gatewayfw.settings import Settings
from gatewayfw.spelling import MAIN
from gatewayfw.token_carriers import Carrier
from gatewayfw.wire.json_text import encode
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
    "idempotency-key",
)
HOPS = "X-Gateway-Hops"
#: How many gateways may forward a request; more count as a loop.
MAX_HOPS = 5

#: The remote service counts callers by this header. It is set here; a client's own is dropped.
FORWARDED_FOR = "X-Forwarded-For"

#: Headers that this gateway sets itself, or that belong to one connection: no service may name them.
_NEVER = frozenset(
    {
        *("accept", "accept-encoding", "content-encoding", "content-length", "content-type", "user-agent"),
        *("connection", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
        *(FORWARDED_FOR.lower(), HOPS.lower()),
    }
)
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


@final
class RemoteService:
    """A service of another gateway.

    Attributes:
        name: the name it is registered under, for messages.
        given: the URL as it was given.
        url: the URL requests are posted to: ``given`` with ``/gateway`` appended unless its path ends in it.
        pre_act: the hooks that run before a request is posted on.
        act_hooks: the same, each callable with the body.
        forwarded: the headers of a request that are passed on, in lower case.

    Raises:
        DefinitionError: the URL is not plain http or https with a host, or has credentials, a query or a fragment; a
            hook is none; ``headers`` is no list of names, or names one that this gateway makes itself.
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
        if problems := list(find_hook_problems({"pre_act": pre_act})):
            raise DefinitionError(f"service {name}: {'; '.join(problems)}")
        self.pre_act = self._own = tuple(pre_act)
        self.act_hooks = tuple(map(call_with_body, self.pre_act))
        self.forwarded = tuple(dict.fromkeys((*FORWARDED, *_checked_names(headers, name))))
        self._settings = settings or Settings()
        try:
            self.url = endpoint(url)
        except ValueError as error:
            raise DefinitionError(f"service {name}: the URL {error}") from None
        # A service with the same setting may send this much.
        most = self._settings.max_reply_bytes + ENVELOPE_BYTES
        self._posts = Posts(self.url, max_bytes=most, connections=32)

    def with_common_hooks(self, hooks: Sequence[Hook]) -> RemoteService:
        """Return it with these hooks before its own, and no other common ones."""
        service = copy(self)
        service.pre_act = (*hooks, *self._own)
        service.act_hooks = tuple(map(call_with_body, service.pre_act))
        return service

    def call(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        seconds: float,
        carriers: Iterable[Carrier] = (),
        address: str = "",
    ) -> WrittenReply:
        """Forward a request to the service ``main`` there; return the answer in time.

        What ``carriers`` find in the headers is passed on, too: of all cookies those that carry a token or a role.
        ``address`` is that of the caller's connection; an IP address is sent as ``X-Forwarded-For``. The setting
        ``remote_timeout`` also applies, from connecting to the last byte; only the look-up of the host's name has the
        system's own limit.

        Status and envelope come back unchanged, with the headers of an error, or ``Idempotent-Replay`` of a success.
        Without them an unknown outcome (503, ``outcome_unknown``) would look like a reply that wrote nothing.

        Raises:
            BadRequest: the body or a forwarded header cannot be written.
            RemoteError: unreachable, too many hops, or an answer that is not an envelope.
            RemoteTimeout: too slow.
        """
        sent = {**_carried(headers, carriers), **_forwarded(headers, self.forwarded, address, self.name)}
        try:
            data = encode({**body, "service": MAIN})
        except (TypeError, ValueError) as error:
            raise BadRequest(messages.NOT_PASSED_ON.format(name=self.name)) from error
        limit = min(self._settings.remote_timeout, seconds)
        if limit <= 0:
            raise RemoteTimeout(messages.REMOTE_TIMED_OUT.format(name=self.name))
        try:
            reply = self._posts.post(data, sent, connect=self._settings.remote_connect_timeout, total=limit)
            envelope = envelope_of(reply)
        except NotAGateway as error:
            raise RemoteError(messages.BAD_REMOTE_REPLY.format(name=self.name, reason=error)) from error
        except TimeoutError as error:
            raise RemoteTimeout(messages.REMOTE_TIMED_OUT.format(name=self.name)) from error
        except OSError as error:
            raise RemoteError(messages.REMOTE_UNREACHABLE.format(name=self.name)) from error
        told = {**error_headers(reply.status), **reply.pick_headers()}
        if envelope["success"]:  # the others speak of errors
            told = {name: value for name, value in told.items() if name == "Idempotent-Replay"}
        return WrittenReply(reply.status, tuple(told.items()), reply.data)


def _checked_names(headers: Any, name: str) -> list[str]:
    is_list = isinstance(headers, Sequence) and not isinstance(headers, str)
    if not is_list or not all(isinstance(header, str) and TOKEN.fullmatch(header) for header in headers):
        raise DefinitionError(f"service {name}: headers must be a list of names such as 'x-tenant'")
    for header in headers:
        if header.lower() in _NEVER:
            raise DefinitionError(f"service {name}: headers: {header} is made here and never passed on")
    return [header.lower() for header in headers]


def _carried(headers: Mapping[str, str], carriers: Iterable[Carrier]) -> dict[str, str]:
    """Return the headers with the values that carriers find.

    A cookie sent twice is forwarded twice, and refused there too.
    """
    sent: dict[str, str] = {}
    given = Headers(headers)
    for carrier in carriers:
        if carrier.place in ("header", "bearer") and carrier.header in given:
            sent[carrier.header] = _checked_value(carrier.header, given[carrier.header])
        elif carrier.place == "cookie":
            pairs = [f"{carrier.name}={_checked_value('cookie', value)}" for value in read_headers(carrier, given)]
            sent.update({"cookie": "; ".join(filter(None, [sent.get("cookie", ""), *pairs]))} if pairs else {})
    return sent


def _checked_value(header: str, *values: str) -> str:
    """Return the only value of a header; several values are refused, not guessed from."""
    if len(values) > 1 or not _HEADER_VALUE.fullmatch(values[0]):
        raise BadRequest(messages.HEADER_NOT_PASSED_ON.format(header=header))
    return values[0]


def _forwarded(headers: Mapping[str, str], names: Iterable[str], address: str, name: str) -> dict[str, str]:
    sent = {FORWARDED_FOR: address} if _ADDRESS.fullmatch(address) else {}
    given = Headers(headers)
    sent |= {header: _checked_value(header, *given.getlist(header)) for header in names if header in given}
    hops = headers.get(HOPS, "0")
    if not re.fullmatch(r"[0-9]{1,3}", hops) or int(hops) >= MAX_HOPS:
        raise RemoteError(messages.TOO_MANY_HOPS.format(name=name))
    return {**sent, HOPS: str(int(hops) + 1)}
