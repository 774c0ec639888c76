"""The value kinds, one class each.

`gatewayfw.schemas.kinds.base` defines their interface, `gatewayfw.schemas.fields` constructs them.
"""

from gatewayfw.schemas.kinds.base import Ability, Constant, Doubtful, Kind, KindField, quick_of
from gatewayfw.schemas.kinds.checks import Parts
from gatewayfw.schemas.kinds.foreign import as_kind

__all__ = ["Ability", "Constant", "Doubtful", "Kind", "KindField", "Parts", "as_kind", "quick_of"]
