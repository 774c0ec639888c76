"""In which apps a gateway is mounted, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final
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


@final
class Mounts(WeakKeyDictionary[App, dict[str, Mount]]):
    """The mounts of one gateway by app, and by the names of its blueprints."""

    def note(self, gateway: object, app: App, name: str, endpoint: Endpoint) -> None:
        """Add a mount, and tell the app, in which the command line looks for gateways."""
        self.setdefault(app, {})[name] = Mount(endpoint.playground is not None, endpoint.cors.origins)
        app.extensions.setdefault("gatewayfw", {})[name] = gateway
