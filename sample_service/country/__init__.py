"""The model country and its acts, which anyone may call."""

from ..service import Service
from . import add_country, get_country


def register(service: Service) -> None:
    """Register all acts of country."""
    for act in (add_country, get_country):
        act.register(service)
