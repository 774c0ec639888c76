"""In which apps a gateway is mounted, and how; the gateways of an app."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, final
from weakref import WeakKeyDictionary

from flask.sansio.app import App

from gatewayfw.web.endpoint import Endpoint


@final
@dataclass(frozen=True)
class Mount:
    """How a gateway was mounted in an app: the options that other parts check.

    Attributes:
        playground: whether it is switched on.
        cors: the origins that may read replies: nobody (None), everybody (``"*"``) or these.
    """

    playground: bool
    cors: frozenset[str] | str | None


class _MountedGateway(Protocol):
    def init_worker(self) -> None:
        """See `gatewayfw.core.Gateway.init_worker`."""


def init_worker(app: App) -> None:
    """Start what each gateway of an app needs in a process that serves.

    Raises:
        DefinitionError: greenlets have replaced the threads of this process.
    """
    gateways: Mapping[str, _MountedGateway] = app.extensions.get("gatewayfw", {})
    for gateway in gateways.values():
        gateway.init_worker()


@final
class Mounts(WeakKeyDictionary[App, dict[str, Mount]]):
    """The mounts of one gateway by app, and by the names of its blueprints."""

    def note(self, gateway: object, app: App, name: str, endpoint: Endpoint) -> None:
        """Add a mount, and tell the app, in which the command line looks for gateways."""
        self.setdefault(app, {})[name] = Mount(endpoint.playground is not None, endpoint.cors.origins)
        app.extensions.setdefault("gatewayfw", {})[name] = gateway
