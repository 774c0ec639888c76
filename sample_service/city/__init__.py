"""The model city and its acts, which anyone may call."""

from sample_service.city import add_city, get_city
from sample_service.service import Service


def register(service: Service) -> None:
    """Register all acts of city."""
    for act in (add_city, get_city):
        act.register(service)
