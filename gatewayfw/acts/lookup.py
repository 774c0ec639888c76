"""Services, whose acts run here or behind a URL, and how they are found by name.

Source: specification 18.2.
"""

from collections.abc import Iterable, Mapping
from typing import final

from gatewayfw import messages
from gatewayfw.acts.act import Act, ActsByName, Service
from gatewayfw.acts.hooks import Hook
from gatewayfw.acts.remote import RemoteService
from gatewayfw.errors import NotFound
from gatewayfw.schemas.paths import shown
from gatewayfw.spelling import MAIN

Services = Mapping[str, Service | RemoteService]


@final
class UnknownName(NotFound):
    """A service, model or act is not registered; ``known`` lists those that are."""

    def __init__(self, message: str, known: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.known = tuple(known)

    def with_known(self) -> NotFound:
        """Return the error whose message names those that are registered, too."""
        return NotFound(messages.KNOWN_NAMES.format(message=self.message, names=", ".join(self.known) or messages.NONE))


def list_hooks(service: Service | RemoteService) -> list[Hook]:
    """Return the hooks before the acts of a service."""
    if isinstance(service, RemoteService):
        return list(service.pre_act)
    return [hook for act in list_acts(service) for hook in act.early_hooks]


def list_acts(service: Service) -> list[Act]:
    """Return the acts of a service that is not remote."""
    return [act for acts in _copied(service).values() for act in acts.values()]


class Directory:
    """The services of one gateway, to be read.

    Where nothing has the name that is asked for, its methods raise `UnknownName`, which is a `NotFound`; those that
    give acts raise NotFound for a remote service, whose acts are not known here.
    """

    _services: Services

    def resolve(self, service: str, model: str, act: str) -> Act | RemoteService:
        """Return the act, or the remote service, that a request names."""
        try:
            found = self._services[service]
            return found if isinstance(found, RemoteService) else found[model][act]
        except KeyError:
            return self.get_act(service, model, act)  # which says what is not there

    @property
    def takes_files(self) -> bool:
        """Whether some act takes files."""
        services = (one for one in self._services.values() if not isinstance(one, RemoteService))
        return any(act.struct.files for service in services for act in list_acts(service))

    def get_service_keys(self) -> list[str]:
        """Return the names of all services in order of registration, ``main`` first."""
        return list(self._services)

    def get_service(self, name: str) -> dict[str, dict[str, Act]] | str:
        """Return a service as it was set: ``{schema: {act name: Act}}``, or the URL."""
        return _as_set(self._find(name))

    def get_acts_with_services(self) -> dict[str, dict[str, dict[str, Act]] | str]:
        """Return ``{service: {schema: {act name: Act}}}``; a remote service has its URL."""
        return {name: _as_set(service) for name, service in self._services.items()}

    def get_main_acts(self) -> dict[str, dict[str, Act]]:
        """Return ``{schema: {act name: Act}}`` of ``main``; empty without acts."""
        return _copied(self._local(MAIN))

    def get_main_act(self, schema: str, act_name: str) -> Act:
        """Return one act of the service ``main``."""
        return self.get_act(MAIN, schema, act_name)

    def get_acts(self, schema: str) -> dict[str, Act]:
        """Return the acts of a schema in ``main`` by name."""
        return dict(self._acts_of(MAIN, schema))

    def get_act_keys(self, schema: str) -> list[str]:
        """Return the names of the acts of a schema in ``main``."""
        return self.get_acts_keys(MAIN, schema)

    def get_acts_keys(self, service: str, schema: str) -> list[str]:
        """Return the names of a schema's acts in a service, in order of registration."""
        return list(self._acts_of(service, schema))

    def get_act(self, service: str, schema: str, act: str) -> Act:
        """Return one act."""
        acts = self._acts_of(service, schema)
        if act not in acts:
            raise UnknownName(messages.NO_ACT.format(name=f"{shown(schema)}.{shown(act)}"), acts)
        return acts[act]

    def remote_services(self) -> list[RemoteService]:
        """Return the services at URLs, in order of registration."""
        return [service for service in self._services.values() if isinstance(service, RemoteService)]

    def _acts_of(self, service: str, schema: str) -> ActsByName:
        found = self._local(service)
        if not found.get(schema):
            raise UnknownName(messages.NO_ACTS.format(name=shown(schema)), found)
        return found[schema]

    def _local(self, name: str) -> Service:
        found = self._find(name)
        if isinstance(found, RemoteService):
            raise NotFound(messages.REMOTE_ACTS.format(name=shown(name)))
        return found

    def _find(self, name: str) -> Service | RemoteService:
        if name not in self._services:
            raise UnknownName(messages.NO_SERVICE.format(name=shown(name)), self._services)
        return self._services[name]

    # The contract's spellings of the methods above.
    def getMainAct(self, schema: str, actName: str) -> Act:  # noqa: N803  (the contract's word)
        """Return one act of the service ``main``; see `get_main_act`."""
        return self.get_main_act(schema, actName)

    getService = get_service
    getServiceKeys = get_service_keys
    getActs = get_acts
    getActsKeys = get_acts_keys
    getActKeys = get_act_keys
    getAct = get_act
    getAtcsWithServices = get_acts_with_services
    getMainActs = get_main_acts


def _as_set(service: Service | RemoteService) -> dict[str, dict[str, Act]] | str:
    return service.given if isinstance(service, RemoteService) else _copied(service)


def _copied(service: Service) -> dict[str, dict[str, Act]]:
    """Return a copy of a table into which another thread may put an act meanwhile.

    To copy a dictionary is one step; a loop over it is not.
    """
    return {schema: dict(acts) for schema, acts in dict(service).items()}
