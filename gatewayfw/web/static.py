"""Static files of a few directories, served only from inside them.

A path is refused unless the real path, links followed, is a regular file inside the real
directory, and no component of either starts with a dot. `/` and a path that ends in `/`
mean the `index.html` there; a directory without the slash is not found (our choice).
Source: specification 11.3.
"""

import os
import stat
from collections.abc import Sequence
from typing import Any, final

from flask import Response, send_file
from werkzeug.exceptions import RequestedRangeNotSatisfiable

from gatewayfw.errors import DefinitionError


@final
class StaticFiles:
    """The files of some directories; the first directory that has a file wins.

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
