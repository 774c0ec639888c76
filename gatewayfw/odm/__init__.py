"""Models over a storage: documents, relations, and embedded copies that are kept right."""

from gatewayfw.odm.integrity import Problem, check
from gatewayfw.odm.models import Cursor, DeleteResult, Model
from gatewayfw.odm.odm import Odm

__all__ = ["Cursor", "DeleteResult", "Model", "Odm", "Problem", "check"]
