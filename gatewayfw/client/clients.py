"""The clients: how they call acts, and what they send: headers, tokens, files.

Modules that `gatewayfw.export.python` generates contain this file and those that it imports.
Source: RFC 7578, section 4.2; https://html.spec.whatwg.org/#multipart-form-data.
"""

import os
import re
import secrets
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, Self
from uuid import uuid4

from gatewayfw.client.replies import HEADER, CallReply, NoReply, answers, bad_reply, follow, repeat, reply_of
from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import TOKEN, Carrier
from gatewayfw.wire.connections import Unreachable
from gatewayfw.wire.json_text import encode
from gatewayfw.wire.posting import ENVELOPE_BYTES, HttpReply, NotAGateway, Posts, endpoint

#: Most bytes of one reply by default, as many as a gateway sends by default.
MAX_BYTES = 16 * 1024 * 1024 + ENVELOPE_BYTES

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[!-~\x80-\xff]([\t -~\x80-\xff]*[!-~\x80-\xff])?")
_KEY = re.compile(r"[!-~]([ -~]{0,253}[!-~])?")
#: Headers that the client sets itself.
_OWN = frozenset(
    {
        *("accept", "accept-encoding", "content-encoding", "content-length", "content-type"),
        *("connection", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade"),
        "idempotency-key",
        "x-gateway",
        "x-gateway-detail",
    }
)
#: Characters of names in a form.
_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})
_FIXED = {"Accept": "application/json", "Content-Type": "application/json", "X-Gateway-Detail": "1"}


class Sender:
    """What sends requests; it is immutable, so threads may share one."""

    def __init__(
        self,
        post: Callable[[bytes, Mapping[str, str]], HttpReply],
        shown: str,
        token: str | None,
        headers: Mapping[str, str] | None,
        token_from: Carrier,
    ) -> None:
        if not isinstance(token_from, Carrier) or not token_from.header:
            raise DefinitionError("token_from: expected header(...), bearer() or cookie(...)")
        self._request = post  # clients with different tokens share it
        self._shown = shown
        self._token_from = token_from
        self._headers = _checked_headers(headers, token_from)
        self._token = _checked_token(token)

    def send(
        self,
        model: str,
        act: str,
        *,
        service: str = "main",
        set: Mapping[str, Any] | None = None,
        get: Mapping[str, Any] | None = None,
        retries: int = 0,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> CallReply:
        """Run an act as `call` does, and return its result with status and headers."""
        given, files = split_files({} if set is None else set)
        data, more = encode(_body(model, act, service, given, get)), {}
        if files:
            data, media_type = form_of(data, files)
            more = {"Content-Type": media_type, "X-Gateway": "1"}
        if retries or key is not None:
            more[HEADER] = str(uuid4()) if key is None else _checked_key(key)
        more |= _checked_headers(headers, self._token_from)
        return repeat(lambda: reply_of(self._post(data, more)), retries)

    def with_token(self, token: str | None) -> Self:
        """Return a client that sends another token, or none, over the same connections.

        Raises:
            DefinitionError: the token cannot be sent in a header.
        """
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, _token=_checked_token(token))
        return other

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r})"

    def _post(self, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        token = {} if self._token is None else self._token_from.sent(self._token)
        return self._request(data, {**self._headers, **_FIXED, **token, **headers})


class HttpSender(Sender):
    """What sends requests over HTTP; see `HttpClient`."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        *,
        token_from: Carrier = TOKEN,
        connections: int = 8,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        if isinstance(timeout, bool) or not (timeout > 0 and isfinite(timeout)):
            raise DefinitionError("timeout: expected seconds above 0")
        for name, value in (("connections", connections), ("max_bytes", max_bytes)):
            if type(value) is not int or value < 1:
                raise DefinitionError(f"{name}: expected a positive integer")
        try:
            target = endpoint(url)
        except ValueError as error:
            raise DefinitionError(f"the URL {error}") from None
        self._http = Http(target, timeout, connections, max_bytes)
        super().__init__(self._http.ask, target, token, headers, token_from)

    def close(self) -> None:
        """Close the open connections; another call opens new ones.

        Clients made by `with_token` share them.
        """
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Calls(Sender):
    """What calls acts by their names."""

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
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Run an act and return its result, the ``body`` of the reply.

        ``set`` and ``get`` are JSON; the default is ``{}``. Ids and dates are text, also in the result. A file in
        ``set`` is a path (`pathlib.Path`) or a file that is open in binary mode; the whole request is put together in
        memory. ``headers`` are sent besides those of the client, or in their place.

        ``retries`` and ``key`` are for idempotent acts, others refuse them. The request is sent up to ``retries`` more
        times after errors that may pass: no reply, the statuses 502 to 504, and ``in_progress``. Each time has the same
        ``Idempotency-Key``, so the act is done once. ``key`` is a key of your own, such as the number of an order, so
        that another process may repeat this call; without it the client makes one.

        Raises:
            CallError: the gateway refused, or see `BadReply` and `NoReply`.
            DefinitionError: a header cannot be sent, or is the client's own.
            OSError: a file cannot be read.
            TypeError: ``set`` or ``get`` holds a value that JSON cannot express.
            ValueError: one holds NaN, an infinite number, or text that UTF-8 cannot encode; or ``key`` is not valid.
        """
        return self.send(model, act, service=service, set=set, get=get, retries=retries, key=key, headers=headers).body

    def batch(
        self,
        requests: Iterable[Mapping[str, Any]],
        *,
        atomic: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> list[Any]:
        """Run several acts by one request and return their results, in order.

        A request is ``{"model", "act", "service"?, "set"?, "get"?}``, the arguments of `call`. A result is what `call`
        returns or, if the act failed, the `CallError` that it raises. With ``atomic`` all acts are done or none.

        Raises:
            CallError: the gateway refused the whole batch, or see `BadReply` and `NoReply`.
            TypeError, ValueError: as for `call`; or a request has a file or another key, or lacks one.
        """
        bodies = [_body(**request) for request in requests]
        data = encode({"batch": bodies, "atomic": atomic})
        return answers(self._post(data, _checked_headers(headers, self._token_from)), len(bodies))

    def pages(
        self,
        model: str,
        act: str,
        *,
        service: str = "main",
        set: Mapping[str, Any] | None = None,
        get: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Any]:
        """Yield the pages of a list, each what `call` returns, with ``rows`` and ``next``.

        The first page is the one that ``after`` in ``set`` names, if it is given; each is requested when it is needed.

        Raises:
            CallError: as for `call`; `BadReply` if the result is not a page, or its ``next`` came before.
        """
        return follow(lambda given: self.call(model, act, service=service, set=given, get=get, headers=headers), set)


class HttpClient(HttpSender, Calls):
    """A client over HTTP.

    ``url`` is that of the gateway, with or without ``/gateway`` at its end. ``headers`` are sent with each request,
    besides the client's own. ``token_from`` is where the gateway's `Auth` looks for the token: ``header(name)``,
    ``bearer()`` or ``cookie(name)`` of `gatewayfw.auth`. A call takes at most ``timeout`` seconds, from connecting to
    the last byte of the reply; only looking up the host's name has the system's own limit. At most ``connections``
    connections are kept open for later calls; more threads than that may call. A reply of more than ``max_bytes`` is
    refused. A forked process opens its own connections.

    Raises:
        DefinitionError: an argument does not fit; the message never holds a token or header.
    """


def _body(
    model: str,
    act: str,
    service: str = "main",
    set: Mapping[str, Any] | None = None,
    get: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    details = {"set": {} if set is None else dict(set), "get": {} if get is None else dict(get)}
    return {"service": service, "model": model, "act": act, "details": details}


def _checked_headers(headers: Mapping[str, str] | None, token_from: Carrier) -> dict[str, str]:
    own = _OWN | {token_from.header}
    sent: dict[str, str] = {}
    for name, value in (headers or {}).items():
        if not isinstance(name, str) or not _HEADER_NAME.fullmatch(name):
            raise DefinitionError("headers: a name is not one of HTTP")
        if name.lower() in own:
            raise DefinitionError(f"headers: {name} is the client's own")
        if name.lower() in sent:
            raise DefinitionError(f"headers: {name} is given twice")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise DefinitionError(f"headers: the value of {name} cannot stand in a header")
        sent[name.lower()] = value
    return sent


def _checked_key(key: str) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError("key: expected 1 to 255 printable ASCII characters")
    return key


def _checked_token(token: str | None) -> str | None:
    if token is not None and (not isinstance(token, str) or not _HEADER_VALUE.fullmatch(token)):
        raise DefinitionError("token: it cannot stand in a header")
    return token


def split_files(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a ``set`` without its files, and these by their paths (``set.avatar``)."""
    files = {name: value for name, value in given.items() if isinstance(value, os.PathLike) or hasattr(value, "read")}
    kept = {name: value for name, value in given.items() if name not in files}
    return kept, {f"set.{name}": file for name, file in files.items()}


def form_of(data: bytes, files: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a request body with files, and its content type; all of it is in memory.

    Raises:
        OSError: a file cannot be read.
        TypeError: an open file gives text.
    """
    boundary = f"gatewayfw-{secrets.token_hex(16)}"
    parts = [_part(boundary, 'name="gateway-body"', data)]
    for path, file in files.items():
        name, content = _read(file)
        parts.append(_part(boundary, f'name="{_escaped(path)}"; filename="{_escaped(name)}"', content))
    return b"".join([*parts, f"--{boundary}--\r\n".encode()]), f"multipart/form-data; boundary={boundary}"


def _part(boundary: str, names: str, content: bytes) -> bytes:
    return f"--{boundary}\r\nContent-Disposition: form-data; {names}\r\n\r\n".encode() + content + b"\r\n"


def _read(file: Any) -> tuple[str, bytes]:
    if isinstance(file, os.PathLike):
        with open(file, "rb") as opened:
            return os.path.basename(os.fspath(file)), opened.read()
    content = file.read()
    if not isinstance(content, bytes):
        raise TypeError("a file must be open in binary mode")
    name = getattr(file, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "file", content


def _escaped(name: str) -> str:
    return name.encode("utf-8", "replace").decode().translate(_ESCAPES)


class Http(Posts):
    """Posts to one URL, each within ``timeout`` seconds."""

    def __init__(self, target: str, timeout: float, connections: int, max_bytes: int) -> None:
        super().__init__(target, max_bytes=max_bytes, connections=connections)
        self._timeout = timeout

    def ask(self, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Return the reply to a request body.

        Raises:
            NoReply: none came, or not in time.
            BadReply: it is too large, or not from a gateway.
        """
        try:
            return self.post(data, headers, connect=self._timeout, total=self._timeout)
        except NotAGateway as error:
            raise bad_reply(error) from error
        except Unreachable as error:
            raise NoReply("the gateway is unreachable", code="unreachable") from error
        except TimeoutError as error:
            raise NoReply("the gateway took too long", code="timeout") from error
        except ssl.SSLError as error:
            raise NoReply("the secure connection to the gateway failed", code="no_reply") from error
        except OSError as error:
            raise NoReply("the connection broke before the reply was complete", code="no_reply") from error
