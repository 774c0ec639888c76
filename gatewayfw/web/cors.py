"""CORS: which origins may read the replies, and the answer to a preflight.

A preflight is an OPTIONS request with `Origin` and `Access-Control-Request-Method`; it never
runs an act. Credentials are never allowed: tokens of other origins travel in a header that the page sets.
Source: specification 18.3; https://fetch.spec.whatwg.org/#http-cors-protocol.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import Headers

from gatewayfw.errors import DefinitionError

#: Headers that pages of an allowed origin may send; the option `cors_headers` adds others.
ALLOWED_HEADERS = (
    "content-type",
    "token",
    "authorization",
    "accept-language",
    "x-request-id",
    "x-gateway",
    "x-gateway-detail",
    "idempotency-key",
)
EXPOSED_HEADERS = "X-Error-Code, X-Request-Id, Retry-After, Idempotent-Replay"
#: Seconds a browser may remember a preflight.
MAX_AGE = "600"

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'+.^_`|~-]{1,100}")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORTS = re.compile(r"http://.*:80|https://.*:443")


@dataclass(frozen=True)
class Cors:
    """The policy of one mount: who may read replies, and which headers they may send.

    Attributes:
        origins: nobody (None), everybody (``"*"``) or exact origins.
        headers: what a preflight allows.
        carried: returns further headers, those where hooks look for a token or a role.
    """

    origins: frozenset[str] | str | None = None
    headers: str = ", ".join(ALLOWED_HEADERS)
    carried: Callable[[], Iterable[str]] = tuple

    @classmethod
    def checked(cls, option: Any, headers: Any = (), carried: Callable[[], Iterable[str]] = tuple) -> Cors:
        """Return the policy that the options `cors` and `cors_headers` mean.

        ``option`` is None, `"*"` or a list of origins. ``headers`` are names of request headers that a
        preflight allows besides `ALLOWED_HEADERS` and what ``carried`` returns.

        Raises:
            DefinitionError: anything else; an origin that no browser ever sends (a path, a
                trailing slash, capitals, the default port) or that names nobody (`null`); headers
                without `cors`.
        """
        allowed = ", ".join(dict.fromkeys([*ALLOWED_HEADERS, *_checked_headers(headers)]))
        if option is None and headers:
            raise DefinitionError("option 'cors_headers' goes with 'cors'")
        if option is None or option == "*":
            return cls(option, allowed, carried)
        if isinstance(option, str) or not isinstance(option, Sequence):
            raise DefinitionError("option 'cors': expected '*' or a list of origins")
        for origin in option:
            _check_origin(origin)
        return cls(frozenset(option), allowed, carried)

    def complete(self, headers: Headers, origin: str | None, *, preflight: str, exposed: Sequence[str] = ()) -> None:
        """Add the headers of this policy to a reply; headers that it already has stay.

        ``preflight`` is the method that the answer to one allows, else empty; ``exposed`` are further headers that
        pages may read.
        """
        if self.origins is None:
            return
        if self.origins != "*" and "origin" not in map(str.strip, ",".join(headers.getlist("Vary")).lower().split(",")):
            headers.add("Vary", "Origin")
        if self.origins == "*" or (origin is not None and origin in self.origins):
            headers.setdefault("Access-Control-Allow-Origin", "*" if self.origins == "*" else str(origin))
            shown = ", ".join(dict.fromkeys([*EXPOSED_HEADERS.split(", "), *exposed]))
            for name, value in self._preflight(preflight) if preflight else [("Access-Control-Expose-Headers", shown)]:
                headers.setdefault(name, value)

    def _preflight(self, method: str) -> tuple[tuple[str, str], ...]:
        allowed = ", ".join(dict.fromkeys([*self.headers.split(", "), *self.carried()]))
        return (
            ("Access-Control-Allow-Methods", method),
            ("Access-Control-Allow-Headers", allowed),
            ("Access-Control-Max-Age", MAX_AGE),
        )


def _checked_headers(headers: Any) -> Iterator[str]:
    is_list = isinstance(headers, Sequence) and not isinstance(headers, str)
    if not is_list or not all(isinstance(name, str) and _HEADER.fullmatch(name) for name in headers):
        raise DefinitionError("option 'cors_headers': expected a list of header names such as 'x-api-key'")
    yield from map(str.lower, headers)


def _check_origin(origin: Any) -> None:
    if not isinstance(origin, str) or not _ORIGIN.fullmatch(origin):
        raise DefinitionError(
            "option 'cors': an origin looks like 'https://host' or 'https://host:port', in lower case"
        )
    if _DEFAULT_PORTS.fullmatch(origin):
        raise DefinitionError(f"option 'cors': browsers leave the default port out, write {origin.rsplit(':', 1)[0]!r}")
