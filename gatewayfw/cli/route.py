"""The route of a gateway, and requests to it in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from flask import Flask
from werkzeug.routing import Rule

from gatewayfw.acts.headers import sent_by_all
from gatewayfw.acts.idempotent import HEADER
from gatewayfw.carriers import Carrier
from gatewayfw.cli.choice import app
from gatewayfw.cli.output import Failed
from gatewayfw.client.in_process import InProcess
from gatewayfw.wire.posting import HttpReply, NotAGateway, check_head, envelope_of


@dataclass(frozen=True)
class Route:
    """Where a gateway is in an app, and where its hooks look for token and role."""

    host: Flask
    rule: Rule
    tokens: tuple[Carrier, ...]
    roles: tuple[Carrier, ...]

    def ask(
        self, body: Mapping[str, Any], token: str | None, role: str | None = None, key: str | None = None
    ) -> Mapping[str, Any]:
        """Send a body to the app and return the envelope of the reply.

        Sends token, role and the key of an idempotent act too, if there are any.

        Raises:
            UsageError: a role is given, but no hook looks for one in a header or cookie.
            ClickException: the reply is no envelope, such as an error page of the host; names the status and why.
        """
        if role and not self.roles:
            raise click.UsageError("--role: no hook looks for a role in a header or cookie; it is a field of set")
        values = [(carrier, token) for carrier in self.tokens if token]
        headers = sent_by_all([*values, *((carrier, role) for carrier in self.roles if role)])
        if key is not None:
            headers = {**headers, HEADER: key}
        transport = InProcess(self.host, self.rule.rule, self.rule.subdomain or None)
        return read_envelope(transport.post(json.dumps(body).encode(), {**headers, "Content-Type": "application/json"}))


def read_envelope(reply: HttpReply) -> Mapping[str, Any]:
    """Return the envelope in a reply.

    Raises:
        ClickException: it is none, such as an error page of the host; names the status and why.
    """
    try:
        check_head(reply)
        return envelope_of(reply)
    except NotAGateway as error:
        raise Failed(f"HTTP {reply.status}, no envelope: {error}") from error


def route_of(name: str) -> Route:
    """Return the route of the gateway of that name in the current app.

    Raises:
        ClickException: the route has variables, whose values are unknown here.
    """
    host = app()
    rule = next(host.url_map.iter_rules(f"{name}.gateway"))
    if rule.arguments:
        raise Failed(f"the route {rule.rule} has variables, which a command cannot fill in")
    acts = host.extensions["gatewayfw"][name].acts
    roles = tuple(carrier for carrier in acts.role_carriers if carrier.place != "set")
    return Route(host, rule, acts.token_carriers, roles)
