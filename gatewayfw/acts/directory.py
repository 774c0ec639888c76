"""What is registered: services and acts, found by name.

Source: specification 18.2.
"""

from __future__ import annotations

from gatewayfw.acts.act import Act
from gatewayfw.acts.lookup import Services, act_of, acts_of, copy_of, find_local, find_service
from gatewayfw.acts.services import RemoteService
from gatewayfw.spelling import MAIN


class Directory:
    """The services of one gateway, to be read."""

    _services: Services

    def resolve(self, service: str, model: str, act: str) -> Act | RemoteService:
        """Return the act, or the remote service, that a request names.

        Raises:
            UnknownName: nothing of that name is registered. This is a `NotFound`.
        """
        found = find_service(self._services, service)
        return found if isinstance(found, RemoteService) else act_of(found, model, act)

    @property
    def takes_files(self) -> bool:
        """Whether some act takes files."""
        services = (one for one in self._services.values() if not isinstance(one, RemoteService))
        return any(act.struct.files for service in services for acts in service.values() for act in acts.values())

    def get_service_keys(self) -> list[str]:
        """Return the names of all services in order of registration, ``main`` first."""
        return list(self._services)

    def get_service(self, name: str) -> dict[str, dict[str, Act]] | str:
        """Return a service as it was set: ``{schema: {act name: Act}}``, or the URL.

        Raises:
            NotFound: no such service.
        """
        return copy_of(find_service(self._services, name))

    def get_acts_with_services(self) -> dict[str, dict[str, dict[str, Act]] | str]:
        """Return ``{service: {schema: {act name: Act}}}``; a remote service has its URL."""
        return {name: copy_of(service) for name, service in self._services.items()}

    def get_main_acts(self) -> dict[str, dict[str, Act]]:
        """Return ``{schema: {act name: Act}}`` of ``main``; empty without acts."""
        return {schema: dict(acts) for schema, acts in find_local(self._services, MAIN).items()}

    def get_main_act(self, schema: str, act_name: str) -> Act:
        """Return one act of the service ``main``; NotFound when there is none."""
        return self.get_act(MAIN, schema, act_name)

    def get_acts(self, schema: str) -> dict[str, Act]:
        """Return the acts of a schema in ``main`` by name; NotFound when it has none."""
        return dict(acts_of(find_local(self._services, MAIN), schema))

    def get_act_keys(self, schema: str) -> list[str]:
        """Return the names of the acts of a schema in ``main``; NotFound when it has none."""
        return self.get_acts_keys(MAIN, schema)

    def get_acts_keys(self, service: str, schema: str) -> list[str]:
        """Return the names of a schema's acts in a service, in order of registration.

        Raises:
            NotFound: there is no such service, it has no act of that schema, or it is remote, so that
                its acts are not known here.
        """
        return list(acts_of(find_local(self._services, service), schema))

    def get_act(self, service: str, schema: str, act: str) -> Act:
        """Return one act; NotFound in the same cases as `get_acts_keys`."""
        return act_of(find_local(self._services, service), schema, act)

    def remote_services(self) -> list[RemoteService]:
        """Return the services at URLs, in order of registration."""
        return [service for service in self._services.values() if isinstance(service, RemoteService)]

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
