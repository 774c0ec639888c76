"""Which gateway a command is for, and the options that all commands share."""

from __future__ import annotations

from collections.abc import Mapping

import click
from flask import Flask, current_app

from gatewayfw.cli.outages import tell_outages_of
from gatewayfw.cli.output import Failed
from gatewayfw.core import Gateway
from gatewayfw.odm import Odm

NAME = click.option("--name", help="The name of the gateway, if the app has several.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def app() -> Flask:
    """Return the app that the command runs in."""
    return current_app._get_current_object()  # type: ignore[attr-defined,no-any-return]  # a proxy


def find_gateway(name: str | None) -> tuple[str, Gateway]:
    """Return the gateway that ``--name`` means, with its name.

    Without a name: the only one there is.
    """
    gateways: Mapping[str, Gateway] = app().extensions.get("gatewayfw", {})
    if not gateways:
        raise Failed("this app has no gateway")
    listed = ", ".join(gateways)
    if name is None:
        if len(gateways) > 1:
            raise click.UsageError(f"this app has several gateways; give --name with one of: {listed}")
        name = next(iter(gateways))
    if name not in gateways:
        raise click.UsageError(f"no gateway is named {name!r}; there are: {listed}")
    return name, gateways[name]


def find_odm(name: str | None) -> Odm:
    """Return the object-document mapper of the gateway that ``--name`` means.

    Ends the command with exit status 1 when a definition is wrong.

    Raises:
        DefinitionError: no database is set.
    """
    _, gateway = find_gateway(name)
    problems = gateway.schemas.problems()
    if problems:
        raise Failed("; ".join(problems))
    _ = gateway.odm.storage
    tell_outages_of(gateway.odm)
    return gateway.odm
