"""Where something was defined: the author's line, for `DefinitionError`."""

from __future__ import annotations

import os
import sys

_PACKAGE = __name__.partition(".")[0]


def called_from() -> str:
    """Return file and line of the nearest caller outside this package, ``app.py:31``.

    Below the working directory the path is relative to it. Empty where no such caller is known.
    """
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if str(name).partition(".")[0] != _PACKAGE:
            return f"{_shortened(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]  # None at the end
    return ""


def defined_at(place: str) -> str:
    """Say where something was defined before; empty for no place."""
    return f", at {place}" if place else ""


def _shortened(path: str) -> str:
    try:
        relative = os.path.relpath(path)
    except (OSError, ValueError):  # no working directory any more, or another drive
        return path
    return path if relative.startswith(os.pardir) else relative
