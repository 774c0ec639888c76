"""The model organization."""

from __future__ import annotations

from gatewayfw import Gateway, optional, string
from gatewayfw.odm import Model


def define_organization(gw: Gateway) -> Model:
    """Define organization; its reverse relations are `users`, from user, and `units`, from unit."""
    return gw.odm.new_model("organization", {"name": string(), "description": optional(string())})
