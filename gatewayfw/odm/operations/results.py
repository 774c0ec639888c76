"""What writes return besides documents."""

from __future__ import annotations

from typing import Any, TypedDict


class DeleteResult(dict[str, Any]):
    """The result of a delete: ``{"deletedCount": n, "cascaded": {model: n}}``.

    It is falsy if nothing was deleted. ``deletedCount`` counts what the filter matched (0 or 1 for
    `delete_one`), ``cascaded`` those deleted with it. It has ``pending: True`` while a job is still removing
    a deleted document from its holders.
    """

    def __bool__(self) -> bool:
        return bool(self["deletedCount"])


class UpdateResult(TypedDict):
    """The result of `update_many`: how many documents matched, and how many differ."""

    matched: int
    modified: int
