"""The model file and its acts, for everybody who has signed in."""

from ..service import Service
from . import add_file, get_file, get_file_link


def register(service: Service) -> None:
    """Register all acts of file."""
    for act in (add_file, get_file, get_file_link):
        act.register(service)
