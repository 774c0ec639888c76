"""The model city, which embeds its country and is listed there."""

from __future__ import annotations

from gatewayfw import Gateway
from gatewayfw.odm import Model

from ..mixins import NAME


def define_city(gw: Gateway) -> Model:
    """Define city; a country lists the 50 newest of its cities."""
    return gw.odm.new_model(
        "city",
        {"name": NAME},
        {
            "country": {
                "schemaName": "country",
                "type": "single",
                "optional": False,
                "relatedRelations": {
                    "cities": {"type": "multiple", "limit": 50, "sort": {"field": "_id", "order": "desc"}}
                },
            }
        },
    )
