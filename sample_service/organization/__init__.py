"""The model organization and its acts."""

from ..service import Service
from . import add_organization, get_organization, get_organizations, update_organization


def register(service: Service) -> None:
    """Register all acts of organization."""
    for act in (add_organization, get_organization, get_organizations, update_organization):
        act.register(service)
