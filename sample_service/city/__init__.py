"""The model city and its acts, which anyone may call."""

from ..service import Service
from . import add_city, get_city


def register(service: Service) -> None:
    """Register all acts of city."""
    for act in (add_city, get_city):
        act.register(service)
