"""Pure functions that bound how much of a document its windows may fill.

A window is the exact top of its members, unless they exceed its *share*: then it is cut to the longest
prefix that fits. The windows of a target share the setting `windows_bytes` evenly, or less where the
rest of the document leaves less room. The hidden field notes the share of each cut window in
``_gw.cut.<reverse>``. So no reader takes it for the complete window, and every reader can tell whether it
is as long as possible: one more member would exceed that share. A complete window that fills more than half
of its share is noted with null, which means that entering members must be measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any

from gatewayfw.storage.documents import encode

#: Bytes of an empty list or document, and of an element around its name and its value.
_EMPTY, _ELEMENT = 5, 2
#: Bytes reserved for the counters of the hidden field, which grow even if nothing else does.
_RESERVE = 64
#: Bytes of a number.
_NUMBER = 8

Copies = list[dict[str, Any]]


class SizeChecks(IntEnum):
    """What an operation measures so that no document becomes too large.

    Each level includes those before it.

    ``NONE``: nothing, the usual case. ``WINDOWS``: windows are measured and, where necessary, cut.
    ``HOLDERS``: copies are written only to holders with room for them; the others are left to jobs.
    """

    NONE = 0
    WINDOWS = 1
    HOLDERS = 2


def share_of(windows_bytes: int, windows: int) -> int:
    """Return the share of each of so many windows that do not all fit, in bytes."""
    return windows_bytes // max(1, windows)


def fills(copies: Sequence[Mapping[str, Any]], following: Mapping[str, Any], share: int) -> bool:
    """Tell whether the next member would take a window beyond its share."""
    return _EMPTY + sum(_element(number, copy) for number, copy in enumerate([*copies, following])) > share


def room_in(rest: Mapping[str, Any], names: Iterable[str], most_bytes: int) -> int:
    """Return the bytes a document leaves for windows of these names.

    The result may be negative.
    """
    marks = _ELEMENT + len("cut") + _EMPTY
    marks += sum(_ELEMENT + len(name.encode()) + _NUMBER for name in names)
    return most_bytes - len(encode(rest)) - marks - _RESERVE


def fitting(copies: Mapping[str, Any], room: int) -> set[str]:
    """Return the names of the single copies that fit into some bytes, smallest first."""
    kept = set()
    sizes = {name: _ELEMENT + len(name.encode()) + len(encode(copy)) for name, copy in copies.items()}
    for name in sorted(sizes, key=lambda one: (sizes[one], one)):
        room -= sizes[name]
        if room < 0:
            break
        kept.add(name)
    return kept


def share_within(room: int, windows: int, share: int) -> int:
    """Return the share of each of so many windows that have some ``room`` together."""
    return max(0, min(share, room // max(1, windows)))


def fitted(
    windows: Mapping[str, Iterable[dict[str, Any]]], share: int
) -> tuple[dict[str, Copies], dict[str, int | None]]:
    """Return the part of a target's windows that fits, and the notes about them.

    The notes have the share of each cut window, and None for each complete one that fills more than half
    of its share, so that entering members must be measured. ``windows`` has the members of each window in
    order, all or enough to show that they do not fit.
    """
    read = {name: _prefix(members, share) for name, members in windows.items()}
    most = max(_EMPTY, share // 2)
    noted = {name: share if size > share else None for name, (_, size) in read.items() if size > most}
    return {name: copies for name, (copies, _) in read.items()}, noted


def _prefix(members: Iterable[dict[str, Any]], share: int) -> tuple[Copies, int]:
    """Return a window's longest prefix in a share, and its bytes with one more member."""
    copies: Copies = []
    size = _EMPTY
    for copy in members:
        size += _element(len(copies), copy)
        if size > share:
            break
        copies.append(copy)
    return copies, size


def _element(number: int, copy: Mapping[str, Any]) -> int:
    """Return the bytes of a list's element: its number, from 0, is its name."""
    return _ELEMENT + len(str(number)) + len(encode(copy))
