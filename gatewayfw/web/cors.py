"""CORS: which origins may read the replies, and the answer to a preflight.

A preflight is an OPTIONS request with `Origin` and `Access-Control-Request-Method`; it never
runs an act. Credentials are never allowed: tokens travel in a header that the page sets.
Source: contract, `runServer` option `cors`; Fetch standard, "CORS protocol".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import Headers

from gatewayfw.errors import DefinitionError

ALLOWED_HEADERS = "content-type, token, authorization, accept-language, x-request-id, x-gateway-detail, idempotency-key"
EXPOSED_HEADERS = "X-Error-Code, X-Request-Id, Retry-After"
#: Seconds a browser may remember a preflight.
MAX_AGE = "600"

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_DEFAULT_PORTS = re.compile(r"http://.*:80|https://.*:443")


@dataclass(frozen=True)
class Cors:
    """The policy of one mount: nobody (``None``), everybody (``"*"``) or exact origins."""

    origins: frozenset[str] | str | None = None

    @classmethod
    def checked(cls, option: Any) -> Cors:
        """Return the policy that the option `cors` means: None, `"*"` or a list of origins.

        Raises:
            DefinitionError: anything else; an origin that no browser ever sends (a path, a
                trailing slash, capitals, the default port) or that names nobody (`null`).
        """
        if option is None or option == "*":
            return cls(option)
        if isinstance(option, str) or not isinstance(option, Sequence):
            raise DefinitionError("option 'cors': expected '*' or a list of origins")
        for origin in option:
            _check_origin(origin)
        return cls(frozenset(option))

    def complete(self, headers: Headers, origin: str | None, *, preflight: bool) -> None:
        """Add the headers of this policy to a reply's; those that are set already stay."""
        if self.origins is None:
            return
        if self.origins != "*" and "origin" not in [name.strip().lower() for name in _vary(headers)]:
            headers.add("Vary", "Origin")
        if self.origins == "*" or (origin is not None and origin in self.origins):
            headers.setdefault("Access-Control-Allow-Origin", "*" if self.origins == "*" else str(origin))
            for name, value in _PREFLIGHT if preflight else _REPLY:
                headers.setdefault(name, value)


_REPLY = (("Access-Control-Expose-Headers", EXPOSED_HEADERS),)
_PREFLIGHT = (
    ("Access-Control-Allow-Methods", "POST"),
    ("Access-Control-Allow-Headers", ALLOWED_HEADERS),
    ("Access-Control-Max-Age", MAX_AGE),
)


def _vary(headers: Headers) -> Iterator[str]:
    for value in headers.getlist("Vary"):
        yield from value.split(",")


def _check_origin(origin: Any) -> None:
    if not isinstance(origin, str) or not _ORIGIN.fullmatch(origin):
        raise DefinitionError(
            "option 'cors': an origin looks like 'https://host' or 'https://host:port', in lower case"
        )
    if _DEFAULT_PORTS.fullmatch(origin):
        raise DefinitionError(f"option 'cors': browsers leave the default port out, write {origin.rsplit(':', 1)[0]!r}")
