"""Copies of what hooks and acts may change: dictionaries and lists."""

from __future__ import annotations

from copy import copy
from typing import Any


def fresh(value: Any) -> Any:
    """Return a copy of a value and of all dictionaries and lists in it.

    All other objects are shared. What was one object, or a circle, is one in the copy, too.
    """
    return _copied(value, {})


def _copied(value: Any, known: dict[int, Any]) -> Any:
    if not isinstance(value, dict | list):
        return value
    if id(value) in known:
        return known[id(value)]
    known[id(value)] = new = copy(value)  # of a subclass, too
    for key, inner in new.items() if isinstance(new, dict) else enumerate(new):
        new[key] = _copied(inner, known)
    return new
