"""The model country and its acts, which anyone may call."""

from sample_service.country import add_country, get_country
from sample_service.service import Service


def register(service: Service) -> None:
    """Register all acts of country."""
    for act in (add_country, get_country):
        act.register(service)
