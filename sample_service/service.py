"""What the acts share: the gateway, the access hooks and the models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gatewayfw import Gateway
from gatewayfw.auth import Auth, PasswordHasher
from gatewayfw.odm import Model

#: The body that an act gets: ``{"service", "model", "act", "details": {"set", "get"}}``.
Body = dict[str, Any]


@dataclass(frozen=True)
class Service:
    """One running service. `sample_service.app` makes it and hands it to each act's ``register``."""

    gw: Gateway
    auth: Auth
    hasher: PasswordHasher
    countries: Model
    cities: Model
    files: Model
    organizations: Model
    units: Model
    users: Model

    @property
    def caller(self) -> Mapping[str, Any]:
        """The user of the request's token, as `load_user` found it."""
        user: Mapping[str, Any] = self.gw.context_fns.get_context_model()["user"]
        return user
