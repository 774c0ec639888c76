"""Whether a validator takes what it was sent as it was sent."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from bson import ObjectId

from gatewayfw.schemas.values import same


def kept(sent, loaded) -> bool:
    """Whether what was sent is in what was loaded, unchanged; defaults may have come to it."""
    if isinstance(sent, dict) and isinstance(loaded, dict):
        return all(key in loaded and kept(item, loaded[key]) for key, item in sent.items())
    if isinstance(sent, list) and isinstance(loaded, list):
        return len(sent) == len(loaded) and all(map(kept, sent, loaded))
    if isinstance(loaded, (UUID, Decimal, bytes, ObjectId, datetime)):
        return isinstance(sent, str)
    return same(sent, loaded)
