"""Remote services: a request is posted on to a fixed URL and its envelope comes back unchanged.

The target comes only from ``set_service``, never from a request. No redirects, retries, cookies
or proxies of the environment. Source: contract, "Registration interface"; the limits and the
forwarded headers are our choice.
"""

from __future__ import annotations

import io
import json
import os
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPResponse as RawResponse
from typing import Any, Protocol, final
from urllib.parse import urlsplit

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, NewConnectionError
from urllib3.exceptions import TimeoutError as TooSlow
from urllib3.util import parse_url

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

_CHUNK = 64 * 1024
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
    """What a remote service answered: its status (200..299 or 400..599) and its envelope as sent."""

    status: int
    envelope: bytes


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
        success = _success(envelope)
        if success is None:
            raise self._bad("its answer is not an envelope")
        if success != (response.status < 300):
            raise self._bad("the status of its answer contradicts its envelope")
        return RemoteReply(response.status, envelope)

    def _bounded(self, response: BaseHTTPResponse) -> bytes:
        data = bytearray()
        for chunk in response.stream(_CHUNK, decode_content=False):
            data += chunk
            if len(data) > self._settings.remote_max_bytes:
                raise self._bad("its answer is too large")
        return bytes(data)

    def _bad(self, reason: str) -> RemoteError:
        return RemoteError(f"bad reply of service {self.name}: {reason}")

    def _connections(self) -> HTTPConnectionPool:
        # No lock: a fork could copy a held one. Two threads that race make two pools, of which one is
        # used once. A child process makes its own, so that it never writes to its parent's sockets.
        found = self._pool
        if found is None or found[0] != os.getpid():
            url = parse_url(self.url)
            pool = (_SecurePool if url.scheme == "https" else _Pool)(url.host or "", url.port, maxsize=32)
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


def _success(envelope: bytes) -> bool | None:
    """Return ``success`` of an envelope, None when the bytes are none: strict JSON, exactly two keys."""
    try:
        value = json.loads(envelope.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.keys() != {"body", "success"}:
        return None
    success = value["success"]
    return success if isinstance(success, bool) else None


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class _UntilDeadline(io.RawIOBase):
    """Reads of one answer, all before one point in time.

    A socket's own time-out starts anew with every byte that arrives, so that a server which sends
    one byte per second would hold a worker for hours.
    """

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        seconds = sock.gettimeout()
        self._raw, self._sock = raw, sock
        self._deadline = time.monotonic() + (float("inf") if seconds is None else seconds)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(None if left == float("inf") else left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(RawResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_UntilDeadline(self.fp.detach(), sock))


class _Connection(HTTPConnection):
    response_class = _Response


class _SecureConnection(HTTPSConnection):
    response_class = _Response


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection
