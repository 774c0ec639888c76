"""Find the line that defined something, for the messages of `DefinitionError`."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

_PACKAGE = __name__.partition(".")[0]


def called_from() -> str:
    """Return file and line of the nearest caller outside this package: ``app.py:31``.

    The path is relative for files below the working directory. Empty where no such caller is known.
    """
    frame = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] != _PACKAGE:
            return f"{_shorten(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # None at the end
    return ""


def defined_at(place: str) -> str:
    """Return the part of a message that says where something was defined before."""
    return f", at {place}" if place else ""


def _shorten(path: str) -> str:
    try:
        relative = _relative(path, os.getcwd())
    except (OSError, ValueError):  # the working directory is gone, or on another drive
        return path
    return path if relative.startswith(os.pardir) else relative


_relative = lru_cache(maxsize=256)(os.path.relpath)
