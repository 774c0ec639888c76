"""The model unit, a part of an organization."""

from __future__ import annotations

from gatewayfw import Gateway
from gatewayfw.odm import Model

from ..mixins import NAME


def define_unit(gw: Gateway) -> Model:
    """Define unit; an organization lists the 100 newest of its units. Reverse relation: `members`, from user."""
    return gw.odm.new_model(
        "unit",
        {"name": NAME},
        {
            "organization": {
                "schemaName": "organization",
                "type": "single",
                "optional": False,
                "relatedRelations": {
                    "units": {"type": "multiple", "limit": 100, "sort": {"field": "_id", "order": "desc"}}
                },
            }
        },
    )
