"""The reply to a successful request, sent without being examined again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Response
from werkzeug.datastructures import Headers

from gatewayfw.web.reply import CONTENT_TYPE

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

FIXED = (("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"))
_CONTENT_TYPE = ("Content-Type", CONTENT_TYPE)
#: The status of a `Success`.
OK = "200 OK"


class Success(NamedTuple):
    """The reply to a successful request, sent with the status `OK`."""

    payload: bytes
    headers: list[tuple[str, str]]

    @classmethod
    def of(cls, payload: bytes, request_id: str) -> Success:
        """Return the reply with an envelope's JSON, without the headers of CORS."""
        length = ("Content-Length", str(len(payload)))
        return cls(payload, [_CONTENT_TYPE, length, *FIXED, ("X-Request-Id", request_id)])


class Answer(Response):
    """A `Success` as a response, sent unchanged unless somebody has changed it.

    What werkzeug makes of it is the same, but it looks through the headers several times. That is left
    to it after a hook of the host set another status or body, a header, an attribute or a callback.
    """

    def __init__(self, success: Success) -> None:
        """Take the content."""
        payload, self._pairs = success
        self._chunks = [payload]
        headers = Headers()
        headers[:] = self._pairs
        super().__init__(self._chunks, OK, headers)
        self._attributes = len(self.__dict__) + 1

    def call_on_close(self, func: Callable[[], Any]) -> Callable[[], Any]:
        """Call a function at the end; werkzeug's way of sending does."""
        self._attributes = 0
        return super().call_on_close(func)

    def get_wsgi_response(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        """Return body, status and headers."""
        pairs = self.headers.to_wsgi_list()
        is_as_made = self.response is self._chunks and self.status == OK and pairs == self._pairs
        if is_as_made and len(self.__dict__) == self._attributes and environ["REQUEST_METHOD"] == "POST":
            return self._chunks, OK, pairs
        return super().get_wsgi_response(environ)
