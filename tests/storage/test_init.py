"""The names that the package offers: gatewayfw.storage."""

from __future__ import annotations

from typing import Any

from gatewayfw import storage


def test_what_is_offered_is_there():
    offered = "Index Lock MockStorage MongoStorage Scope Storage Trouble"
    assert storage.__all__ == ["Document", *offered.split()]
    assert [getattr(storage, name).__name__ for name in offered.split()] == offered.split()
    assert storage.Document == dict[str, Any]
