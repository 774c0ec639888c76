"""The model organization and its acts."""

from sample_service.organization import add_organization, get_organization, get_organizations, update_organization
from sample_service.service import Service


def register(service: Service) -> None:
    """Register all acts of organization."""
    for act in (add_organization, get_organization, get_organizations, update_organization):
        act.register(service)
