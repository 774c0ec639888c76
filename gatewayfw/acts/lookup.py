"""Find an act, the acts of a model or a service by name in the table of services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import final

from gatewayfw.acts.act import Act, ActsByName, Service
from gatewayfw.acts.hooks import Hook
from gatewayfw.acts.services import RemoteService
from gatewayfw.errors import NotFound
from gatewayfw.schemas.paths import shown

Services = Mapping[str, Service | RemoteService]


@final
class UnknownName(NotFound):
    """A service, model or act is not registered; ``known`` lists those that are."""

    def __init__(self, message: str, known: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.known = tuple(known)

    def with_known(self) -> NotFound:
        """Return the error whose message names those that are registered, too."""
        return NotFound(f"{self.message} (known: {', '.join(self.known) or 'none'})")


def find_service(services: Services, name: str) -> Service | RemoteService:
    """Return a service.

    Raises:
        UnknownName: there is none of this name.
    """
    found = services.get(name)
    if found is None:
        raise UnknownName(f"service not found: {shown(name)}", services)
    return found


def find_local(services: Services, name: str) -> Service:
    """Return a service whose acts run here.

    Raises:
        NotFound: there is none of this name, or it is remote.
    """
    found = find_service(services, name)
    if isinstance(found, RemoteService):
        raise NotFound(f"service {shown(name)} is remote: its acts are not known here")
    return found


def hooks_of(service: Service | RemoteService) -> Iterator[Hook]:
    """Yield the hooks of a service."""
    if isinstance(service, RemoteService):
        yield from service.pre_act
        return
    for acts in service.values():
        for act in acts.values():
            yield from act.early_hooks


def copy_of(service: Service | RemoteService) -> dict[str, dict[str, Act]] | str:
    """Return a service as it was set: its acts by name, or its URL."""
    if isinstance(service, RemoteService):
        return service.given
    return {schema: dict(acts) for schema, acts in service.items()}


def acts_of(service: Service, model: str) -> ActsByName:
    """Return the acts of a model by name.

    Raises:
        UnknownName: there are none.
    """
    acts = service.get(model)
    if not acts:
        raise UnknownName(f"no acts found for model: {shown(model)}", service)
    return acts


def act_of(service: Service, model: str, act: str) -> Act:
    """Return one act.

    Raises:
        UnknownName: there is none of this name.
    """
    acts = acts_of(service, model)
    found = acts.get(act)
    if found is None:
        raise UnknownName(f"act not found: {shown(model)}.{shown(act)}", acts)
    return found
