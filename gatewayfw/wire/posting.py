"""Bounded posts to one gateway, and strict reading of its replies.

For remote services and for clients alike. Strict on purpose: an HTML page of a proxy, a redirect or a cut reply must
not pass for an act's answer. No redirects, retries, cookies or proxies from the environment. Source: specification 3;
the limits are our choice.
"""

import contextlib
import http.client
import os
import re
import ssl
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, final
from urllib.parse import quote, urlsplit

from gatewayfw.wire.connections import PostConnection
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
_SENT = {"content-type": "application/json", "accept": "application/json", "user-agent": "gatewayfw"}


@final
class HttpReply(NamedTuple):
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


class ReplyHeaders(Mapping[str, str]):
    """Headers of a reply, by names in any case; several values are one, with commas."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self._values: dict[str, tuple[str, str]] = {}
        for name, value in pairs:
            if name in self:
                value = f"{self[name]}, {value}"
            self._values[name.lower()] = (name, value)

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._values.values())

    def __len__(self) -> int:
        return len(self._values)


class Posts:
    """Posts to one URL over kept connections, shared by threads.

    A forked process makes its own.

    A reply has at most ``max_bytes``; ``connections`` are kept open.
    """

    def __init__(self, url: str, *, max_bytes: int, connections: int) -> None:
        parts = urlsplit(url)
        self._path = quote(parts.path, safe="%/:@!$&'()*+,;=~")
        self._host, self._port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        self._context = _tls() if parts.scheme == "https" else None
        self._max_bytes = max_bytes
        self._connections = connections
        self._pid = os.getpid()
        self._idle: list[PostConnection] = []
        weakref.finalize(self, _close_all, self._idle)

    def close(self) -> None:
        """Close open connections; the next post connects again."""
        _close_all(self._idle)

    def post(self, data: bytes, headers: Mapping[str, str], *, connect: float, total: float) -> HttpReply:
        """Return the reply to a JSON body, within so many seconds.

        ``connect`` bounds the connection to any address of the host, ``total`` everything.

        Raises:
            NotAGateway: it is too large, or its headers show it is not from a gateway.
            OSError: none came; `Unreachable` when nothing was sent, `TimeoutError` when it took too long.
        """
        begun = time.monotonic()
        sent = _SENT | {name.lower(): value for name, value in headers.items()}
        connection = self._kept_or_new()
        try:
            if connection.sock is None:
                connection.open(begun + min(connect, total))
            with connection.post(self._path, data, sent, begun + total) as response:
                reply = self._read(response)
        except http.client.HTTPException as error:
            connection.close()
            raise OSError("the reply cannot be read") from error
        except BaseException:
            connection.close()  # the next post must not read what is left unread
            raise
        if connection.sock is not None and len(self._idle) < self._connections:
            self._idle.append(connection)
        else:
            connection.close()
        return reply

    def _read(self, response: http.client.HTTPResponse) -> HttpReply:
        head = HttpReply(response.status, ReplyHeaders(response.headers.items()), b"")
        check_head(head)
        if "," in head.headers.get("Content-Length", ""):
            raise http.client.HTTPException("two lengths")
        if (response.length or 0) > self._max_bytes:  # what Content-Length announces
            raise NotAGateway("its answer is too large", head)
        data = bytearray()
        try:
            while chunk := response.read1(_CHUNK):
                data += chunk
                if len(data) > self._max_bytes:
                    raise NotAGateway("its answer is too large", head)
        except ValueError as error:  # http.client of a chunk whose size is below zero
            raise NotAGateway("its answer cannot be read", head) from error
        if response.length:
            raise http.client.HTTPException("the end is missing")
        return HttpReply(head.status, head.headers, bytes(data))

    def _kept_or_new(self) -> PostConnection:
        # No lock: a fork could copy a held one.
        if self._pid != os.getpid():  # two processes must not write to one socket
            self._pid = os.getpid()
            _close_all(self._idle)
        with contextlib.suppress(IndexError):
            while not (kept := self._idle.pop()).is_usable():
                kept.close()
            return kept
        return PostConnection(self._host, self._port, self._context, 2 * self._max_bytes + _FRAMING)


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
    if not is_envelope(envelope):
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
    if not _URL.fullmatch(url) or "\\" in url:
        raise ValueError("must be printable ASCII without spaces or backslashes")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("has a bad host or port") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError("must start with http:// or https://")
    if not host or port == 0:
        raise ValueError("must name a host")
    if "@" in parts.netloc:
        raise ValueError("must not hold credentials")
    if "?" in url or "#" in url:
        raise ValueError("must not have a query or fragment")
    path = parts.path.rstrip("/")
    return parts._replace(path=path if path.endswith("/gateway") else f"{path}/gateway").geturl()


def _close_all(connections: list[PostConnection]) -> None:
    with contextlib.suppress(IndexError):  # there are no more
        while True:
            connections.pop().close()


def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.hostname_checks_common_name = False
    context.set_alpn_protocols(["http/1.1"])
    return context


def is_envelope(value: Any) -> bool:
    """Tell whether a value is a success or, with a message, an error."""
    if not isinstance(value, dict) or value.keys() != {"body", "success"}:
        return False
    body, success = value["body"], value["success"]
    return success is True or (success is False and isinstance(body, dict) and isinstance(body.get("message"), str))
