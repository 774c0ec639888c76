"""The client that a generated module has of its own; it needs nothing but Python.

`gatewayfw.export.python.runtime` copies this file and those that it imports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

from gatewayfw.client.errors import CallError
from gatewayfw.client.paging import follow
from gatewayfw.client.posts import Posts, Reply, bad_reply, is_refusal
from gatewayfw.client.retries import HEADER, make_key, repeat
from gatewayfw.client.uploads import form_of, without_files
from gatewayfw.wire.json_text import encode

_Sender = TypeVar("_Sender", bound="Sender")
#: What may be the value of a header that the caller gives, and of the key.
_HEADER_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Headers that the client sets itself.
_OWN = {
    *(
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
    ),
    *("idempotency-key", "te", "trailer", "transfer-encoding", "upgrade", "x-gateway", "x-gateway-detail"),
}


class Sender:
    """Sends requests to a gateway over HTTP.

    ``url`` is the gateway's, with or without ``/gateway`` at its end. ``token`` is sent in the header
    ``token_header``; in ``Authorization`` with the word Bearer before it. A call takes at most ``timeout``
    seconds; only the look-up of the host's name has the system's own limit. A reply of more than ``max_bytes`` is
    refused, and so is a redirect. Threads may share a client; a forked process opens its own connections.

    Raises:
        ValueError: the URL, or what should stand in a header, does not fit.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        *,
        token_header: str = "token",
        max_bytes: int = 17_000_000,
    ) -> None:
        """Take the address and what to send with each call; nothing is sent yet."""
        self._posts = Posts(url, timeout, max_bytes)
        self._token_header = token_header.lower()
        self._headers = _checked_headers(headers or {}, _OWN | {self._token_header})
        self._token = None if token is None else _checked("token", token)

    def with_token(self: _Sender, token: str | None) -> _Sender:
        """Return a client that sends another token, or none, over the same connections."""
        other = object.__new__(type(self))
        found = None if token is None else _checked("token", token)
        other.__dict__.update(self.__dict__, _token=found)
        return other

    def close(self) -> None:
        """Close the open connections; another call opens new ones."""
        self._posts.close()

    def __enter__(self: _Sender) -> _Sender:
        """Return the client; leaving the block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the open connections."""
        self.close()

    def post(self, data: bytes, headers: Mapping[str, str]) -> Reply:
        """Return the reply to a body of JSON, or of the type in ``headers``."""
        sent = {**self._headers, "accept": "application/json", "content-type": "application/json", **headers}
        if self._token is not None:
            word = "Bearer " if self._token_header == "authorization" else ""
            sent[self._token_header] = word + self._token
        return self._posts.post(data, {**sent, "x-gateway-detail": "1"})


class UntypedClient(Sender):
    """Calls acts by their names; see `Sender` for the arguments."""

    def call(
        self,
        model: str,
        act: str,
        *,
        service: str = "main",
        set: Mapping[str, Any] | None = None,
        get: Mapping[str, Any] | None = None,
        retries: int = 0,
        key: str | None = None,
    ) -> Any:
        """Run an act and return its result; raise a `CallError` where it fails.

        An idempotent act is tried again up to ``retries`` times, with one ``key``, where no reply came or the gateway
        is busy.
        """
        files: dict[str, Any] = {}
        given = without_files(set or {}, "set", files)
        data, headers = encode(_body(model, act, service, given, get)), {}
        if files:
            data, media_type = form_of(data, files)
            headers = {"content-type": media_type, "x-gateway": "1"}
        if retries or key is not None:
            headers[HEADER.lower()] = make_key() if key is None else _checked("key", key)
        return repeat(lambda: self._answer(data, headers), retries)

    def pages(
        self,
        model: str,
        act: str,
        *,
        service: str = "main",
        set: Mapping[str, Any] | None = None,
        get: Mapping[str, Any] | None = None,
    ) -> Iterator[Any]:
        """Yield the pages of a list, each when it is wanted."""
        return follow(lambda given: self.call(model, act, service=service, set=given, get=get), set)

    def batch(self, requests: Iterable[Mapping[str, Any]], *, atomic: bool = False) -> list[Any]:
        """Run several acts by one request.

        A result is what the act returns, or the `CallError` that it raises.
        """
        bodies = [_body(**request) for request in requests]
        reply = self.post(encode({"batch": bodies, "atomic": atomic}), {})
        if reply.status >= 400:
            raise _refusal(reply)
        items = reply.envelope["body"]
        if not isinstance(items, list) or len(items) != len(bodies) or not all(map(_is_item, items)):
            raise bad_reply("its answer is not that to the batch", reply.status, reply.headers)
        return [item["body"] if item["success"] else _refusal(_reply_to(item)) for item in items]

    def _answer(self, data: bytes, headers: Mapping[str, str]) -> Any:
        reply = self.post(data, headers)
        if reply.status >= 400:
            raise _refusal(reply)
        if not reply.envelope["success"]:
            raise bad_reply("the status of its answer contradicts its envelope", reply.status, reply.headers)
        return reply.envelope["body"]


def _body(
    model: str,
    act: str,
    service: str = "main",
    set: Mapping[str, Any] | None = None,
    get: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    return {"service": service, "model": model, "act": act, "details": {"set": set or {}, "get": get or {}}}


def _checked(name: str, value: str) -> str:
    """Return what may stand in a header."""
    if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
        raise ValueError(f"{name}: it cannot stand in a header")
    return value


def _checked_headers(headers: Mapping[str, str], own: set[str]) -> dict[str, str]:
    """Return headers by their names in lower case."""
    for name in headers:
        if not _HEADER_NAME.fullmatch(name) or name.lower() in own:
            raise ValueError(f"headers: {name!r} is none, or the client's own")
    return {name.lower(): _checked(name, value) for name, value in headers.items()}


def _is_item(value: Any) -> bool:
    if not isinstance(value, dict) or not {"body", "success", "status"} <= value.keys():
        return False
    if type(value["status"]) is not int or value["success"] is not (value["status"] < 300):
        return False
    return value["success"] or is_refusal(value["body"])


def _reply_to(item: Mapping[str, Any]) -> Reply:
    """Return the reply that a refused item of a batch would be."""
    headers = {"x-error-code": str(item.get("code", "")), "retry-after": str(item.get("retryAfter", ""))}
    return Reply(item["status"], headers, item)


def _refusal(reply: Reply) -> CallError:
    body, seconds = reply.envelope["body"], reply.headers.get("retry-after", "")
    code, errors, request_id = body.get("code"), body.get("errors"), body.get("requestId")
    return CallError(
        body["message"],
        reply.status,
        code if isinstance(code, str) else reply.headers.get("x-error-code") or "error",
        errors={path: texts for path, texts in errors.items() if _are_texts(texts)} if isinstance(errors, dict) else {},
        request_id=request_id if isinstance(request_id, str) else None,
        retry_after=int(seconds) if re.fullmatch("[0-9]{1,6}", seconds) else None,
    )


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
