"""The value kinds: one class for each, which knows all about it.

`gatewayfw.schemas.kinds.base` says what each answers, `gatewayfw.schemas.fields` makes them.
"""

from __future__ import annotations

from gatewayfw.schemas.kinds.base import Constant, Kind, KindField, Maxima, Parts, quick_of
from gatewayfw.schemas.kinds.foreign import as_kind

__all__ = ["Constant", "Kind", "KindField", "Maxima", "Parts", "as_kind", "quick_of"]
