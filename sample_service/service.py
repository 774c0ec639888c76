"""What the acts share: the gateway, the access hooks and the models."""

from __future__ import annotations

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
