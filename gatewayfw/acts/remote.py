"""Remote services: a request is posted on to a fixed URL and its envelope comes back unchanged.

The target comes only from ``set_service``, never from a request. No redirects, retries, cookies
or proxies of the environment. Source: contract, "Registration interface"; the limits and the
forwarded headers are our choice.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, final
from urllib.parse import urlsplit

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Timeout
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TooSlow
from urllib3.util import parse_url

from gatewayfw.acts.connections import Pool, SecurePool
from gatewayfw.errors import BadRequest, DefinitionError, RemoteError, RemoteTimeout
from gatewayfw.settings import Settings

#: Headers of the request that are passed on; all others stay here.
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
#: Headers of the answer that are passed back, and what they may say; all others stay here.
ANSWERED = {"X-Error-Code": re.compile(r"[A-Za-z0-9_.-]{1,64}"), "Retry-After": re.compile(r"[0-9]{1,6}")}
#: Values, as its commas and brackets tell, that an answer may hold. 10 MB of nothing but "[]," would take
#: seconds and 200 MB to parse, in which no other thread runs.
MAX_VALUES = 500_000

_CHUNK = 64 * 1024
#: Bytes that head and framing of an answer may take, besides as much as the largest body.
_FRAMING = 1024 * 1024
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_URL = re.compile(r"[!-~]+")


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

    ``headers`` holds those of `ANSWERED` that came with an error. Without them a reply that leaves
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

    Raises:
        DefinitionError: the URL is not plain http or https with a host, or has credentials, a
            query or a fragment.
    """

    def __init__(self, url: str, *, name: str = "remote", settings: Settings | None = None) -> None:
        self.name = name
        self.given = url
        self.url = _target(url, name)
        self._settings = settings or Settings()
        self._pool: tuple[int, HTTPConnectionPool] | None = None

    def call(
        self, body: Mapping[str, Any], headers: Mapping[str, str], *, seconds: float, encode: Encoder = encode
    ) -> RemoteReply:
        """Post a request on, with its ``service`` rewritten to ``main``, and return the answer.

        Takes at most ``seconds``, and at most the settings' ``remote_timeout``, from connecting to
        the last byte; only the look-up of the host's name has the system's own limit.

        Raises:
            BadRequest: the body or a forwarded header cannot be written.
            RemoteError: unreachable, too many hops, or an answer that is no envelope.
            RemoteTimeout: too slow.
        """
        sent = _forwarded(headers, self.name)
        try:
            data = encode({**body, "service": "main"})
        except (TypeError, ValueError) as error:
            raise BadRequest(f"the request cannot be passed on to service {self.name}") from error
        limit = min(self._settings.remote_timeout, seconds)
        if limit <= 0:
            raise RemoteTimeout(f"service {self.name} took too long")
        try:
            return self._posted(data, sent, limit)
        except NewConnectionError as error:  # a subclass of the time-out below
            raise RemoteError(f"service {self.name} is unreachable") from error
        except TooSlow as error:
            raise RemoteTimeout(f"service {self.name} took too long") from error
        except HTTPError as error:
            raise RemoteError(f"service {self.name} is unreachable") from error

    def _posted(self, data: bytes, headers: Mapping[str, str], limit: float) -> RemoteReply:
        response = self._connections().urlopen(
            "POST",
            parse_url(self.url).request_uri,
            body=data,
            headers=headers,
            timeout=Timeout(connect=min(self._settings.remote_connect_timeout, limit), total=limit),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        try:
            return self._reply(response)
        except BaseException:
            response.close()  # what is left unread must not be read by the next request
            raise
        finally:
            response.release_conn()

    def _reply(self, response: BaseHTTPResponse) -> RemoteReply:
        if 300 <= response.status <= 399 or not 200 <= response.status <= 599:
            raise self._bad("it answered with a redirect or an unknown status")
        if response.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
            raise self._bad("its answer is not application/json")
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise self._bad("its answer is compressed")
        envelope = self._bounded(response)
        if sum(envelope.count(mark) for mark in (b",", b"[", b"{")) > MAX_VALUES:
            raise self._bad("its answer holds too many values")
        success = _success(envelope)
        if success is None:
            raise self._bad("its answer is not an envelope")
        if success != (response.status < 300):
            raise self._bad("the status of its answer contradicts its envelope")
        return RemoteReply(response.status, envelope, {} if success else _answered(response.headers))

    def _bounded(self, response: BaseHTTPResponse) -> bytes:
        limit = self._settings.remote_max_bytes
        if (response.length_remaining or 0) > limit:  # what Content-Length announces
            raise self._bad("its answer is too large")
        data = bytearray()
        try:
            for chunk in response.stream(_CHUNK, decode_content=False):
                data += chunk
                if len(data) > limit:
                    raise self._bad("its answer is too large")
        except ValueError as error:  # http.client of a chunk whose size is below zero
            raise self._bad("its answer cannot be read") from error
        return bytes(data)

    def _bad(self, reason: str) -> RemoteError:
        return RemoteError(f"bad reply of service {self.name}: {reason}")

    def _connections(self) -> HTTPConnectionPool:
        # No lock: a fork could copy a held one. Two threads that race make two pools, of which one is
        # used once. A child process makes its own, so that it never writes to its parent's sockets.
        found = self._pool
        if found is None or found[0] != os.getpid():
            url = parse_url(self.url)
            kind = SecurePool if url.scheme == "https" else Pool
            most = 2 * self._settings.remote_max_bytes + _FRAMING
            pool = kind(url.host or "", url.port, maxsize=32, most=most)
            found = self._pool = (os.getpid(), pool)
        return found[1]


def _target(url: str, name: str) -> str:
    problem = _problem(url)
    if problem:
        raise DefinitionError(f"service {name}: the URL {problem}")
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith("/gateway") else f"{path}/gateway").geturl()


def _problem(url: str) -> str:
    if not _URL.fullmatch(url) or "\\" in url:
        return "must be printable ASCII without spaces or backslashes"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return "has a bad host or port"
    if parts.scheme not in ("http", "https"):
        return "must start with http:// or https://"
    if not host or port == 0:
        return "must name a host"
    if "@" in parts.netloc:
        return "must not hold credentials"
    if "?" in url or "#" in url:
        return "must not have a query or fragment"
    return ""


def _forwarded(headers: Mapping[str, str], name: str) -> dict[str, str]:
    sent = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "gatewayfw"}
    for header in FORWARDED:
        if header in headers:
            if not _HEADER_VALUE.fullmatch(headers[header]):
                raise BadRequest(f"the header {header} cannot be passed on")
            sent[header] = headers[header]
    hops = headers.get(HOPS, "0")
    if not re.fullmatch(r"[0-9]{1,3}", hops) or int(hops) >= MAX_HOPS:
        raise RemoteError(f"service {name} was not asked: too many hops")
    return {**sent, HOPS: str(int(hops) + 1)}


def _answered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: headers[name] for name, rule in ANSWERED.items() if rule.fullmatch(headers.get(name, ""))}


def _success(envelope: bytes) -> bool | None:
    """Return ``success`` of an envelope, None when the bytes are none.

    Strict JSON, exactly two keys, and in an error a body with a ``message``, which clients read.
    """
    try:
        value = json.loads(envelope.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != {"body", "success"}:
        return None
    body, success = value["body"], value["success"]
    if success is False and not (isinstance(body, dict) and isinstance(body.get("message"), str)):
        return None
    return success if isinstance(success, bool) else None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")
