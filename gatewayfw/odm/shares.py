"""How much of a document its windows may fill; pure.

A window is the exact top of its members while the document it stands in, the target, fits into the
database. Where it would not, each window that exceeds its *share* is cut to the longest prefix that
does not: half of the most bytes of a document, divided evenly among the windows of the target, or
less where the rest of the document leaves less room. The hidden field notes the share of each window
that is cut, ``_gw.cut.<reverse>``, so that nobody takes it for the whole one, and anybody can tell
whether it is as long as it may be: one more member would exceed that share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from bson import encode

#: Bytes of an empty list or document, and of an element around its name and its value.
_EMPTY, _ELEMENT = 5, 2
#: Bytes kept free for the counters of the hidden field, which grow while nothing else does.
_RESERVE = 64
#: Bytes of a number.
_NUMBER = 8

Copies = list[dict[str, Any]]


class Care(IntEnum):
    """How much an operation does so that no document becomes too large; each does what those before it do.

    ``NONE``: nothing, as nearly always. ``WINDOWS``: windows are cut where they must be.
    ``HOLDERS``: all copies in holders are left to jobs, which pass over those that are too large.
    """

    NONE = 0
    WINDOWS = 1
    HOLDERS = 2


def share_of(most_bytes: int, windows: int) -> int:
    """Return the bytes that each of so many windows of a document may fill once they do not fit as they are."""
    return most_bytes // 2 // max(1, windows)


def fills(copies: Sequence[Mapping[str, Any]], following: Mapping[str, Any], share: int) -> bool:
    """Return whether the beginning of a window fills a share: with the member that follows it would exceed it."""
    return _EMPTY + sum(_element(number, copy) for number, copy in enumerate([*copies, following])) > share


def room_in(rest: Mapping[str, Any], names: Iterable[str], most_bytes: int) -> int:
    """Return the bytes that a document without its windows leaves for those of these names; may be negative."""
    marks = _ELEMENT + len("cut") + _EMPTY
    marks += sum(_ELEMENT + len(name.encode()) + _NUMBER for name in names)
    return most_bytes - len(encode(rest)) - marks - _RESERVE


def fitted(
    windows: Mapping[str, Iterator[dict[str, Any]]], room: int, share: int
) -> tuple[dict[str, Copies], dict[str, int]]:
    """Return the windows of one target as it can hold them, and the share of each that is cut.

    ``windows`` are the members of each in order, as far as they are in it; no more of them are
    read than it takes to see that they do not fit.
    """
    read = [_Window(name, members) for name, members in windows.items()]
    left = room
    for window in read:
        left -= window.measure(left)
        if left < 0:
            break
    else:
        return {window.name: window.copies for window in read}, {}
    share = max(0, min(share, room // len(read)))
    whole = [window.cut(share) for window in read]
    cut = {window.name: share for window, is_whole in zip(read, whole, strict=True) if not is_whole}
    return {window.name: window.copies for window in read}, cut


@dataclass
class _Window:
    """One window while it is read: the copies so far, and the bytes of the list with each of them."""

    name: str
    members: Iterator[dict[str, Any]]
    copies: Copies = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    def measure(self, most: int) -> int:
        """Read on until the window ends, or has more than ``most`` bytes; return what it adds to the document."""
        while not self.ends or self._around + self.ends[-1] <= most:
            copy = next(self.members, None)
            if copy is None:
                break
            before = self.ends[-1] if self.ends else _EMPTY
            self.ends.append(before + _element(len(self.copies), copy))
            self.copies.append(copy)
        return self._around + self.ends[-1] if self.ends else 0

    @property
    def _around(self) -> int:
        """Bytes around the list, in the document."""
        return _ELEMENT + len(self.name.encode())

    def cut(self, share: int) -> bool:
        """Keep the longest beginning that the share holds; return whether that is all there is."""
        self.measure(self._around + share)
        kept = sum(1 for end in self.ends if end <= share)
        is_whole = kept == len(self.copies) and next(self.members, None) is None
        del self.copies[kept:], self.ends[kept:]
        self.members = iter(())
        return is_whole


def _element(number: int, copy: Mapping[str, Any]) -> int:
    """Return the bytes of a list's element: its number, from 0, is its name."""
    return _ELEMENT + len(str(number)) + len(encode(copy))
