"""Models over a storage: documents, relations, and the copies they embed."""

from gatewayfw.odm.models import Model
from gatewayfw.odm.odm import Odm
from gatewayfw.odm.operations.write import DeleteResult, UpdateResult
from gatewayfw.odm.reading.cursor import Cursor
from gatewayfw.odm.reading.filters import Operators
from gatewayfw.odm.upkeep.inspection import Place
from gatewayfw.odm.upkeep.integrity import Integrity, Problem
from gatewayfw.odm.upkeep.misfits import Misfits

__all__ = [
    "Cursor",
    "DeleteResult",
    "Integrity",
    "Misfits",
    "Model",
    "Odm",
    "Operators",
    "Place",
    "Problem",
    "UpdateResult",
]
