"""Attempts: each begins with a copy of what hooks and acts may change."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Protocol

_COPIED = (dict, list)


class Globals(Protocol):
    """What the host's framework keeps for a request besides: Flask's `g`."""

    def read(self) -> dict[str, Any]:
        """Return what it holds."""

    def reset(self, values: Mapping[str, Any], /) -> None:
        """Let it hold these values and no others."""

    def open(self, values: Mapping[str, Any], /) -> AbstractContextManager[dict[str, Any]]:
        """Let it hold these values in a block, which gets them as they are then."""


def copy_for_attempt(value: Any) -> Any:
    """Return a copy of a value and of all dictionaries and lists in it.

    All other objects are shared. What was one object, or a circle, is one in the copy, too.
    """
    return _copy(value, {}) if isinstance(value, _COPIED) else value


def _copy(value: Any, known: dict[int, Any]) -> Any:
    if id(value) in known:
        return known[id(value)]
    # Those of other classes keep theirs; `copy` takes four times as long.
    known[id(value)] = new = value.copy() if type(value) in _COPIED else copy(value)
    for key, inner in new.items() if isinstance(new, dict) else enumerate(new):
        if isinstance(inner, _COPIED):
            new[key] = _copy(inner, known)
    return new
