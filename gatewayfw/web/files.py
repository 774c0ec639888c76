"""Files as replies: ``{base}/gateway/files/<id>``, and static files.

Only images that cannot hold a script are shown in a page; everything else is downloaded, and nothing is ever taken for
another type than the stored one. Source: RFC 9110, section 13; RFC 9110, section 14; RFC 6266, section 4; the rest is
our choice.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast, final
from urllib.parse import quote

from flask import Request, Response, request, send_file
from werkzeug.exceptions import RequestedRangeNotSatisfiable
from werkzeug.http import quote_etag
from werkzeug.wsgi import wrap_file

from gatewayfw import messages
from gatewayfw.acts.context import fill
from gatewayfw.errors import DefinitionError, MethodNotAllowed
from gatewayfw.files import Files, StoredFile
from gatewayfw.observe.calls import Names, OpenCall
from gatewayfw.schemas.kinds.file import IMAGES, SIGNATURES, UNKNOWN
from gatewayfw.web.endpoint import Endpoint, request_id_of

#: The route, below the gateway's.
RULE = "/gateway/files/<file_id>"
#: Headers of every file.
FIXED: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-cache",
    "Referrer-Policy": "no-referrer",
}
_METHODS = "GET, HEAD, OPTIONS"
_CHUNK = 64 * 1024


def file_view(endpoint: Endpoint, files: Files) -> Callable[..., Response]:
    """Return the view of the route; every error is an envelope."""

    def view(file_id: str, **_values: Any) -> Response:
        sent: Request = request._get_current_object()  # type: ignore[attr-defined]  # a proxy
        request_id = request_id_of(sent)
        if sent.method == "OPTIONS":
            return endpoint.options(sent, request_id, _METHODS, "GET")
        return endpoint.answer_by(partial(run, file_id), sent, request_id)

    def run(file_id: str, sent: Request, request_id: str, asked: dict[str, Any], call: OpenCall | None) -> Response:
        if sent.method not in ("GET", "HEAD"):
            refusal = MethodNotAllowed(messages.USE_GET)
            refusal.headers = {"Allow": _METHODS}
            raise refusal
        endpoint.check()
        act, body = files.find_act(file_id, sent.args)
        asked.update(body)
        fill(endpoint.contexts, sent, request_id, body)
        if call is not None:
            call.begin(Names(body["service"], body["model"], body["act"]), sent.headers)
        ran = endpoint.lifecycle.run(body, lambda found, _: reply_of(found, sent), act=act)
        reply = cast(Response, ran)  # no other without a key or a remote service
        reply.headers["X-Request-Id"] = request_id
        return endpoint.with_cors(reply)

    return view


def reply_of(found: StoredFile, sent: Request) -> Response:
    """Return a file, or the part that a request asks for; 304, 412 and 416 have none.

    Files have an entity tag and no date, so conditions on dates are ignored.
    """
    media_type = found.type if found.type in SIGNATURES else UNKNOWN
    etag = quote_etag(found.sha256)
    part = _part_of(sent, etag, found.size)
    if sent.if_match and not sent.if_match.contains(found.sha256):
        return _nothing(found, 412)
    if sent.if_none_match.contains_weak(found.sha256):
        return _nothing(found, 304, ETag=etag)
    try:
        reply = Response(wrap_file(sent.environ, found.content, _CHUNK), direct_passthrough=True)
        reply.content_type = media_type
        reply.call_on_close(found.content.close)
        reply.headers.update(FIXED)
        reply.headers["Content-Disposition"] = disposition(found.name, inline=media_type in IMAGES)
        reply.headers["ETag"] = etag
        reply.headers["Accept-Ranges"] = "bytes"
        reply.content_length = found.size
        if part:
            # Only what was decided here: werkzeug reads conditions and ranges in another way.
            wanted = {"REQUEST_METHOD": "GET", "HTTP_RANGE": part}
            reply.make_conditional(wanted, accept_ranges=True, complete_length=found.size)
    except RequestedRangeNotSatisfiable:
        return _nothing(found, 416, **{"Content-Range": f"bytes */{found.size}"})
    return reply


def _part_of(sent: Request, etag: str, size: int) -> str:
    """Return the range of bytes that a request gets; empty for the whole file.

    Other units, several ranges and what is no range are ignored.
    """
    if sent.method != "GET" or sent.headers.get("If-Range", etag) != etag:
        return ""
    asked = sent.range
    if asked is None or asked.units != "bytes" or len(asked.ranges) != 1 or not size:
        return ""
    return "" if -asked.ranges[0][0] >= size else asked.to_header()


def _nothing(found: StoredFile, status: int, **headers: str) -> Response:
    found.content.close()
    reply = Response(status=status, headers={**FIXED, **headers})
    del reply.headers["Content-Type"]
    return reply


def disposition(name: str, *, inline: bool) -> str:
    """Return the header that says how a file is shown, and what it is called.

    In ASCII, without quotes, and once more as it is.
    """
    plain = "".join(char if " " <= char <= "~" and char not in '"\\%' else "_" for char in name)
    word = "inline" if inline else "attachment"
    return f"{word}; filename=\"{plain}\"; filename*=UTF-8''{quote(name.encode('utf-8', 'replace'), safe='')}"


# -- static files


@final
class StaticFiles:
    """The files of some directories, served only from inside them.

    The first directory that has a file wins. A path is refused unless the real path, links followed, is a regular file
    inside the real directory, and no component of either starts with a dot. `/` and a path that ends in `/` mean the
    `index.html` there; a directory without the slash is not found (our choice). Source: specification 11.3.

    Raises:
        DefinitionError: not a list of paths, a directory that does not exist, or one that is
            or holds the working directory: its files are the program's, not the public's.
    """

    def __init__(self, directories: Sequence[str | os.PathLike[str]]) -> None:
        if isinstance(directories, str | os.PathLike) or not isinstance(directories, Sequence):
            raise DefinitionError("option 'static_path': expected a list of directories")
        self.roots = tuple(_root(directory) for directory in directories)

    def find(self, path: str) -> str | None:
        """Return the real path of the file that a decoded URL path names, or None."""
        parts = path.removeprefix("/").split("/")
        if parts[-1] == "":
            parts[-1] = "index.html"
        if any(part.startswith(".") or not part or "\\" in part or "\0" in part for part in parts):
            return None
        return next((real for root in self.roots if (real := _inside(root, parts))), None)

    def response(self, path: str) -> Response | None:
        """Return the file as the reply to the current GET or HEAD request, or None.

        Conditional requests and ranges are answered; `max-age` is the app's setting.
        """
        real = self.find(path)
        if real is None:
            return None
        try:
            reply = send_file(real, conditional=True)
        except RequestedRangeNotSatisfiable as error:
            reply = Response(status=416, headers={"Content-Range": f"bytes */{error.length}"})
        except OSError:  # Removed or unreadable since it was found.
            return None
        reply.headers["X-Content-Type-Options"] = "nosniff"
        return reply


def _root(directory: Any) -> str:
    if not isinstance(directory, str | os.PathLike) or not os.path.isdir(directory):
        raise DefinitionError(f"option 'static_path': {str(directory)!r} is not a directory")
    real = os.path.realpath(directory)
    if _holds(real, os.path.realpath(os.getcwd())):
        raise DefinitionError(f"option 'static_path': {str(directory)!r} is or holds the working directory")
    return real


def _inside(root: str, parts: Sequence[str]) -> str | None:
    try:
        real = os.path.realpath(os.path.join(root, *parts))
        if not _holds(root, real) or not stat.S_ISREG(os.stat(real).st_mode):
            return None
    except (OSError, ValueError):  # Missing, too long, or not encodable.
        return None
    hidden = any(part.startswith(".") for part in os.path.relpath(real, root).split(os.sep))
    return None if hidden or not os.access(real, os.R_OK) else real


def _holds(directory: str, path: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)
