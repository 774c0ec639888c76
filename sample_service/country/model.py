"""The model country."""

from __future__ import annotations

from gatewayfw import Gateway, number
from gatewayfw.odm import Model

from ..mixins import NAME


def define_country(gw: Gateway) -> Model:
    """Define country; its reverse relation `cities` comes from city."""
    return gw.odm.new_model("country", {"name": NAME, "population": number()})
