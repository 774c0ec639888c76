"""Bounded posts to one gateway, and strict reading of its replies.

For remote services and for clients alike. Strict on purpose: an HTML page of a proxy, a redirect or a cut reply must
not pass for an act's answer. No redirects, retries, cookies or proxies from the environment. Source: specification 3;
the limits are our choice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final
from urllib.parse import urlsplit

from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Timeout
from urllib3.util import parse_url

from gatewayfw.wire.connections import Pool, SecurePool
from gatewayfw.wire.json_text import decode, holds_too_many

#: Headers that say more than a body, and their valid values; all others are ignored.
TOLD = {
    "X-Error-Code": re.compile(r"[A-Za-z0-9_.-]{1,64}"),
    "Retry-After": re.compile(r"[0-9]{1,6}"),
    "Idempotent-Replay": re.compile("1"),
}
#: Bytes of an envelope beside its body.
ENVELOPE_BYTES = len(b'{"body":,"success":true}')

_CHUNK = 64 * 1024
#: Bytes that head and framing of a reply may take, besides as much as the largest body.
_FRAMING = 1024 * 1024
_URL = re.compile(r"[!-~]+")
_SENT = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "gatewayfw"}


@final
@dataclass(frozen=True)
class HttpReply:
    """A reply as it came: its body is read to the end and within the limit."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    def pick_headers(self) -> dict[str, str]:
        """Return its headers that `TOLD` names, if their values are valid."""
        return {name: self.headers[name] for name, rule in TOLD.items() if rule.fullmatch(self.headers.get(name, ""))}


@final
class NotAGateway(Exception):
    """The reply is not from a gateway; the text says why and quotes none of it.

    Attributes:
        reply: its status and headers, perhaps without its data.
    """

    def __init__(self, reason: str, reply: HttpReply) -> None:
        super().__init__(reason)
        self.reply = reply


@final
class Posts:
    """Posts to one URL over kept connections, shared by threads.

    A forked process makes its own.

    A reply has at most ``max_bytes``; ``connections`` are kept open.
    """

    def __init__(self, url: str, *, max_bytes: int, connections: int) -> None:
        self._url = parse_url(url)
        self._max_bytes = max_bytes
        self._connections = connections
        self._kept: tuple[int, HTTPConnectionPool] | None = None

    def close(self) -> None:
        """Close open connections; the next post connects again."""
        kept, self._kept = self._kept, None
        if kept is not None and kept[0] == os.getpid():
            kept[1].close()

    def post(self, data: bytes, headers: Mapping[str, str], *, connect: float, total: float) -> HttpReply:
        """Return the reply to a JSON body, within so many seconds.

        ``connect`` bounds the connection, ``total`` everything.

        Raises:
            NotAGateway: it is too large, or its headers show it is not from a gateway.
            urllib3.exceptions.HTTPError: none came; `NewConnectionError` when nothing was sent, else
                `TimeoutError` when it took too long.
        """
        response = self._pool().urlopen(
            "POST",
            self._url.request_uri,
            body=data,
            headers={**_SENT, **headers},
            timeout=Timeout(connect=min(connect, total), total=total),
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        try:
            return self._read(response)
        except BaseException:
            response.close()  # the next post must not read what is left unread
            raise
        finally:
            response.release_conn()

    def _read(self, response: BaseHTTPResponse) -> HttpReply:
        head = HttpReply(response.status, response.headers, b"")
        check_head(head)
        if (response.length_remaining or 0) > self._max_bytes:  # what Content-Length announces
            raise NotAGateway("its answer is too large", head)
        data = bytearray()
        try:
            for chunk in response.stream(_CHUNK, decode_content=False):
                data += chunk
                if len(data) > self._max_bytes:
                    raise NotAGateway("its answer is too large", head)
        except ValueError as error:  # http.client of a chunk whose size is below zero
            raise NotAGateway("its answer cannot be read", head) from error
        return HttpReply(head.status, head.headers, bytes(data))

    def _pool(self) -> HTTPConnectionPool:
        # No lock: a fork could copy a held one. Of two threads that race, one makes a pool that is used once.
        # A child process makes its own, so that it never writes to its parent's sockets.
        found = self._kept
        if found is None or found[0] != os.getpid():
            kind = SecurePool if self._url.scheme == "https" else Pool
            most = 2 * self._max_bytes + _FRAMING
            pool = kind(self._url.host or "", self._url.port, maxsize=self._connections, most=most)
            found = self._kept = (os.getpid(), pool)
        return found[1]


def check_head(reply: HttpReply) -> None:
    """Refuse a reply whose headers or status show it is not from a gateway.

    Raises:
        NotAGateway: says why.
    """
    if not (200 <= reply.status <= 299 or 400 <= reply.status <= 599):
        raise NotAGateway("it answered with a redirect or an unknown status", reply)
    if reply.headers.get("Content-Type", "").partition(";")[0].strip().lower() != "application/json":
        raise NotAGateway("its answer is not application/json", reply)
    if reply.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise NotAGateway("its answer is compressed", reply)


def envelope_of(reply: HttpReply) -> dict[str, Any]:
    """Return the envelope of a reply.

    It is strict JSON with exactly two keys and, for an error, a message.

    Raises:
        NotAGateway: it is not an envelope, or contradicts its status.
    """
    envelope = read_json(reply)
    if not _is_envelope(envelope):
        raise NotAGateway("its answer is not an envelope", reply)
    if envelope["success"] != (reply.status < 300):
        raise NotAGateway("the status of its answer contradicts its envelope", reply)
    return envelope  # type: ignore[no-any-return]  # judged above


def read_json(reply: HttpReply) -> Any:
    """Return what the JSON of a reply means; None if it is not strict.

    Raises:
        NotAGateway: it holds too many values.
    """
    if holds_too_many(reply.data):
        raise NotAGateway("its answer holds too many values", reply)
    return decode(reply.data)


def endpoint(url: str) -> str:
    """Return the URL that requests are posted to.

    ``/gateway`` is appended unless its path ends in it.

    Raises:
        ValueError: it is not plain http or https with a host, or has credentials, a query or a fragment.
    """
    problem = _problem(url)
    if problem:
        raise ValueError(problem)
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


def _is_envelope(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() != {"body", "success"}:
        return False
    body, success = value["body"], value["success"]
    return success is True or (success is False and isinstance(body, dict) and isinstance(body.get("message"), str))
