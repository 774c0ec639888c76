"""``flask gateway ...``: look at the gateways of an app, run an act, keep its database right, find what is wrong.

An app may have several gateways; ``--name`` chooses one by the name of its blueprint.
All commands and their output are our choice.
"""

from __future__ import annotations

import click

from gatewayfw.cli.doctor import doctor
from gatewayfw.cli.integrity import check, repair
from gatewayfw.cli.look import call, list_acts, list_schemas
from gatewayfw.cli.upkeep import indexes, jobs, work


@click.group("gateway")
def gateway_group() -> None:
    """Look at gateways, run acts, keep databases right, find problems."""


for _command in (list_acts, list_schemas, call, doctor, indexes, jobs, work, check, repair):
    gateway_group.add_command(_command)
