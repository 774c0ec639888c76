"""The objects that all acts share: the gateway, the access hooks and the models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gatewayfw import Gateway
from gatewayfw.auth import Auth, PasswordHasher, access_rule
from gatewayfw.odm import Model

#: The body that an act gets: ``{"service", "model", "act", "details": {"set", "get"}}``.
Body = dict[str, Any]


@dataclass(frozen=True)
class Service:
    """One running service. `app.create_app` makes it and hands it to each act's ``register``."""

    gw: Gateway
    auth: Auth
    hasher: PasswordHasher
    countries: Model
    cities: Model
    files: Model
    organizations: Model
    units: Model
    users: Model
    #: How often one address may try to log in, such as ``30/minute``; None for no limit.
    login_limit: str | None = None

    @property
    def signed_in(self) -> list[Callable[[], None]]:
        """The hooks of acts that every user may run."""
        return signed_in(self.auth)

    @property
    def caller(self) -> Mapping[str, Any]:
        """The user of the request's token, as `load_user` found it."""
        user: Mapping[str, Any] = self.gw.context_fns.get_context_model()["user"]
        return user

    @property
    def active_role(self) -> Mapping[str, Any] | None:
        """The role that the request is made in; None for a ghost without one."""
        role: Mapping[str, Any] | None = self.gw.context_fns.get_context_model()["active_role"]
        return role


def signed_in(auth: Auth) -> list[Callable[[], None]]:
    """Return the hooks that admit every user."""
    return [auth.read_token, access_rule(auth.load_user)]
