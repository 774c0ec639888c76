"""Read the hidden field of documents, which other tools may have damaged. Pure.

`gatewayfw.odm.copies.rules` says what its parts mean. A part that has not the form given here says nothing: readers
take it for absent, and `examine` names it.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

from bson import ObjectId

HIDDEN = "_gw"
#: Counters of a damaged field go on from the clock, above all that they have counted.
_COUNTERS = ("rev", "v", "r")
#: A counter above this, which no clock reaches, could soon not be raised any more.
MOST = 2**62
_GONE: Any = object()


def counter_in(document: Mapping[str, Any], name: str) -> int:
    """Return a counter of a document's hidden field; 0 if there is none."""
    stored = document.get(HIDDEN)
    if type(stored) is not dict and not isinstance(stored, Mapping):  # the second question takes much longer
        return 0
    value = stored.get(name, 0)
    return value if _is_counter(value) else 0


def cuts_of(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the share of each cut window of a document."""
    stored = document.get(HIDDEN)
    cut = stored.get("cut") if isinstance(stored, Mapping) else None
    shares = cut.items() if isinstance(cut, Mapping) else ()
    return {name: share for name, share in shares if _is_counter(share)}


def examine(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a document's hidden field without its damaged parts, and their paths."""
    if HIDDEN not in document:
        return {}, []
    stored = document[HIDDEN]
    if not isinstance(stored, Mapping):
        return {}, [HIDDEN]
    damaged: list[str] = []
    right = _parts(stored, lambda name, part: _right(part, *_FORMS.get(name, _ANY), f"{HIDDEN}.{name}", damaged))
    return right, damaged


def reset(document: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return the hidden field without its damaged parts.

    Damaged counters go on from ``version``. Opt-outs that cannot be read are lost, a copy without a version is renewed
    by the next job, and a window without a share is recomputed.
    """
    right, damaged = examine(document)
    counters = _COUNTERS if damaged == [HIDDEN] else [name for name in _COUNTERS if f"{HIDDEN}.{name}" in damaged]
    return {**right, **dict.fromkeys(counters, version)}


def _right(value: Any, depth: int, read: Callable[[Any], Any], path: str, damaged: list[str]) -> Any:
    """Return the valid parts, ``depth`` objects below; note the paths of others."""
    if depth and isinstance(value, Mapping):
        return _parts(value, lambda name, part: _right(part, depth - 1, read, f"{path}.{name}", damaged))
    right = _GONE if depth else read(value)
    if right is _GONE or (right is not value and right != value):  # NaN differs from itself
        damaged.append(path)
    return right


def _parts(value: Mapping[str, Any], right_of: Callable[[str, Any], Any]) -> dict[str, Any]:
    found = ((name, right_of(name, part)) for name, part in value.items())
    return {name: right for name, right in found if right is not _GONE}


def _is_counter(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _read_counter(value: Any) -> Any:
    return value if _is_counter(value) else _GONE


def _read_ids(value: Any) -> Any:
    ids = [one for one in value if isinstance(one, ObjectId)] if isinstance(value, list) else _GONE
    return ids or (_GONE if value else [])  # even an empty list opts out where a relation is `single`


#: How deep the values of each part are, and what reads one of them.
_FORMS: Mapping[str, tuple[int, Callable[[Any], Any]]] = {
    **dict.fromkeys(_COUNTERS, (0, _read_counter)),
    "out": (2, _read_ids),
    "some": (2, lambda value: value is True or _GONE),
    "in": (2, _read_ids),
    "at": (2, _read_counter),
    "cut": (1, lambda value: value if value is None else _read_counter(value)),
}
_ANY: tuple[int, Callable[[Any], Any]] = (0, lambda value: value)  # of another version
