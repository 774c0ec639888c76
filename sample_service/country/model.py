"""The model country."""

from __future__ import annotations

from gatewayfw import Gateway, number, string
from gatewayfw.odm import Model


def define_country(gw: Gateway) -> Model:
    """Define country; its reverse relation `cities` comes from city."""
    return gw.odm.new_model("country", {"name": string(), "population": number()})
