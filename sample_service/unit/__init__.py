"""The model unit and its acts."""

from ..service import Service
from . import add_unit, get_unit, get_units, update_unit


def register(service: Service) -> None:
    """Register all acts of unit."""
    for act in (add_unit, get_unit, get_units, update_unit):
        act.register(service)
