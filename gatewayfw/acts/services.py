"""Services, whose acts run here or behind a URL, and how they are found by name.

`gatewayfw.remote.HttpService` calls one over HTTP. Source: specification 18.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, final

from gatewayfw.acts.act import Act, ActsByName, Service
from gatewayfw.acts.hooks import Hook, call_with_body, find_hook_problems
from gatewayfw.carriers import Carrier
from gatewayfw.errors import DefinitionError, NotFound
from gatewayfw.schemas.paths import shown
from gatewayfw.spelling import MAIN, PYTHON


@final
@dataclass(frozen=True)
class RemoteReply:
    """The answer of a remote service: status and envelope, unchanged.

    The status is in 200..299 or 400..599.

    ``headers`` holds those of `gatewayfw.wire.posting.TOLD` that came with an error, and only
    ``Idempotent-Replay`` of a success. Without them a reply with an unknown outcome (503,
    ``outcome_unknown``) would look like one that wrote nothing.
    """

    status: int
    envelope: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class RemoteService:
    """A service of another gateway.

    Attributes:
        name: the name it is registered under, for messages.
        given: the URL as it was given.
        pre_act: the hooks that run before a request is posted on.
        act_hooks: the same, each callable with the body.

    Raises:
        DefinitionError: a hook is not valid.
    """

    def __init__(self, url: str, name: str, pre_act: Sequence[Hook]) -> None:
        self.name = name
        self.given = url
        if problems := list(find_hook_problems("preAct", pre_act, PYTHON)):
            raise DefinitionError(f"service {name}: {'; '.join(problems)}")
        self._own = tuple(pre_act)
        self.set_common(())

    def set_common(self, hooks: Sequence[Hook]) -> None:
        """Let these hooks, checked already, come before its own, and no other common ones."""
        self.pre_act = (*hooks, *self._own)
        self.act_hooks = tuple(map(call_with_body, self.pre_act))

    def call(
        self,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        *,
        seconds: float,
        carriers: Iterable[Carrier] = (),
        address: str = "",
    ) -> RemoteReply:
        """Forward a request to the service ``main`` there, and return the answer.

        What ``carriers`` find in the headers is passed on, too: of all cookies those that carry a token or a role.
        ``address`` is that of the caller's connection. Takes at most ``seconds``.

        Raises:
            BadRequest: the body or a forwarded header cannot be written.
            RemoteError: unreachable, too many hops, or an answer that is not an envelope.
            RemoteTimeout: too slow.
        """
        raise NotImplementedError


class Connect(Protocol):
    """Makes a `RemoteService`, which connects later."""

    def __call__(self, url: str, /, *, name: str, pre_act: Sequence[Hook], headers: Sequence[str]) -> RemoteService:
        """Return the service at a URL.

        ``headers`` are names of request headers that are passed on to it.

        Raises:
            DefinitionError: the URL, a hook or a header is not valid.
        """


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


def list_hooks(service: Service | RemoteService) -> Iterator[Hook]:
    """Yield the hooks of a service."""
    if isinstance(service, RemoteService):
        yield from service.pre_act
        return
    for acts in service.values():
        for act in acts.values():
            yield from act.early_hooks


def copy_service(service: Service | RemoteService) -> dict[str, dict[str, Act]] | str:
    """Return a service as it was set: its acts by name, or its URL."""
    if isinstance(service, RemoteService):
        return service.given
    return {schema: dict(acts) for schema, acts in service.items()}


def find_acts(service: Service, model: str) -> ActsByName:
    """Return the acts of a model by name.

    Raises:
        UnknownName: there are none.
    """
    acts = service.get(model)
    if not acts:
        raise UnknownName(f"no acts found for model: {shown(model)}", service)
    return acts


def find_act(service: Service, model: str, act: str) -> Act:
    """Return one act.

    Raises:
        UnknownName: there is none of this name.
    """
    acts = find_acts(service, model)
    found = acts.get(act)
    if found is None:
        raise UnknownName(f"act not found: {shown(model)}.{shown(act)}", acts)
    return found


class Directory:
    """The services of one gateway, to be read."""

    _services: Services

    def resolve(self, service: str, model: str, act: str) -> Act | RemoteService:
        """Return the act, or the remote service, that a request names.

        Raises:
            UnknownName: nothing of that name is registered. This is a `NotFound`.
        """
        found = self._services.get(service)
        if isinstance(found, RemoteService):
            return found
        acts = None if found is None else found.get(model)
        known = None if acts is None else acts.get(act)
        return find_act(find_local(self._services, service), model, act) if known is None else known

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
        return copy_service(find_service(self._services, name))

    def get_acts_with_services(self) -> dict[str, dict[str, dict[str, Act]] | str]:
        """Return ``{service: {schema: {act name: Act}}}``; a remote service has its URL."""
        return {name: copy_service(service) for name, service in self._services.items()}

    def get_main_acts(self) -> dict[str, dict[str, Act]]:
        """Return ``{schema: {act name: Act}}`` of ``main``; empty without acts."""
        return {schema: dict(acts) for schema, acts in find_local(self._services, MAIN).items()}

    def get_main_act(self, schema: str, act_name: str) -> Act:
        """Return one act of the service ``main``; NotFound when there is none."""
        return self.get_act(MAIN, schema, act_name)

    def get_acts(self, schema: str) -> dict[str, Act]:
        """Return the acts of a schema in ``main`` by name; NotFound when it has none."""
        return dict(find_acts(find_local(self._services, MAIN), schema))

    def get_act_keys(self, schema: str) -> list[str]:
        """Return the names of the acts of a schema in ``main``; NotFound when it has none."""
        return self.get_acts_keys(MAIN, schema)

    def get_acts_keys(self, service: str, schema: str) -> list[str]:
        """Return the names of a schema's acts in a service, in order of registration.

        Raises:
            NotFound: there is no such service, it has no act of that schema, or it is remote, so that
                its acts are not known here.
        """
        return list(find_acts(find_local(self._services, service), schema))

    def get_act(self, service: str, schema: str, act: str) -> Act:
        """Return one act; NotFound in the same cases as `get_acts_keys`."""
        return find_act(find_local(self._services, service), schema, act)

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
