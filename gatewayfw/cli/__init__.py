"""``flask gateway ...``: the command line of an app's gateways.

The commands inspect gateways, maintain databases, find problems, and write types for clients and documents for other
tools.

An app may have several gateways; ``--name`` chooses one by the name of its blueprint.
All commands and their output are our choice.
"""

import click

from gatewayfw.cli.command import Commands
from gatewayfw.cli.doctor import doctor
from gatewayfw.cli.exports import jsonschema, list_acts, mcp, openapi, types
from gatewayfw.cli.integrity import check, repair
from gatewayfw.cli.migrations import migrate
from gatewayfw.cli.mongod import mongod
from gatewayfw.cli.new import new
from gatewayfw.cli.upkeep import files, indexes, jobs, work


@click.group("gateway", cls=Commands)
def gateway_group() -> None:
    """Look at gateways, keep databases right, find problems, write types."""


_TRY = (new, mongod, list_acts, doctor)
_KEEP_RIGHT = (indexes, jobs, work, check, repair, migrate, files)
for _command in (*_TRY, *_KEEP_RIGHT, types, openapi, jsonschema, mcp):
    gateway_group.add_command(_command)
