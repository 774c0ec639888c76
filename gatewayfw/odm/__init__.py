"""Models over a storage: documents, relations, and copies that are kept right."""

from gatewayfw.odm.models import Model
from gatewayfw.odm.odm import Odm
from gatewayfw.odm.reading.cursor import Cursor, DeleteResult
from gatewayfw.odm.upkeep.integrity import Integrity, Place, Problem
from gatewayfw.odm.writing.updates import Operators

__all__ = ["Cursor", "DeleteResult", "Integrity", "Model", "Odm", "Operators", "Place", "Problem"]
