"""What is shown of a document. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.storage.memory_updates import copy_value
from gatewayfw.storage.terms import Document

#: What is wanted of an object, by name; None is the whole value.
_Shape = dict[str, "_Shape | None"]


def show(document: Document, fields: Sequence[str] | None) -> Document:
    """Return a copy of a document with these fields and, as its first one, the `_id`.

    None are all fields. A path below a list shows that of each object in it, and drops what is none.
    """
    if fields is None:
        return {"_id": document["_id"], **copy_value(document)}
    shape: _Shape = {}
    for path in fields:
        _add(shape, path.split("."))
    return {"_id": document["_id"], **_cut(document, shape)}


def _add(shape: _Shape, names: Sequence[str]) -> None:
    """Add a path; of a value that is shown as a whole nothing is taken back."""
    for name in names[:-1]:
        inner = shape.setdefault(name, {})
        if inner is None:
            return
        shape = inner
    shape[names[-1]] = None


def _cut(value: Mapping[str, Any], shape: _Shape) -> Document:
    shown = {}
    for name, inner in value.items():
        wanted = shape.get(name, {})
        if wanted is None:
            shown[name] = copy_value(inner)
        elif wanted and isinstance(inner, Mapping):
            shown[name] = _cut(inner, wanted)
        elif wanted and isinstance(inner, list):
            shown[name] = _cut_list(inner, wanted)
    return shown


def _cut_list(values: list[Any], shape: _Shape) -> list[Any]:
    return [
        _cut(value, shape) if isinstance(value, Mapping) else _cut_list(value, shape)
        for value in values
        if isinstance(value, (Mapping, list))
    ]
