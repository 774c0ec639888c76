"""The model organization."""

from __future__ import annotations

from gatewayfw import Gateway, optional
from gatewayfw.odm import Model

from ..mixins import DESCRIPTION, NAME


def define_organization(gw: Gateway) -> Model:
    """Define organization; its reverse relations are `users`, from user, and `units`, from unit."""
    return gw.odm.new_model("organization", {"name": NAME, "description": optional(DESCRIPTION)})
