"""The route of a gateway, and requests to it in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from flask import Flask
from werkzeug.routing import Rule

from gatewayfw.acts.carriers import Carrier, sent_by_all
from gatewayfw.cli.choice import app


@dataclass(frozen=True)
class Route:
    """Where a gateway stands in an app, and where its hooks look for a token."""

    host: Flask
    rule: Rule
    carriers: tuple[Carrier, ...]

    def ask(self, body: Mapping[str, Any], token: str | None) -> Mapping[str, Any]:
        """Send a body to the app, with a token if there is one, and return the envelope of the reply.

        Raises:
            ClickException: it is none, such as an error page of the host; names the status.
        """
        headers = sent_by_all(self.carriers, token) if token else {}
        # Without cookies of its own, which would take the place of one that is sent.
        client, rule = self.host.test_client(use_cookies=False), self.rule
        reply = client.post(rule.rule, subdomain=rule.subdomain or None, json=body, headers=headers)
        envelope = reply.get_json(silent=True)
        if not isinstance(envelope, dict) or envelope.keys() != {"body", "success"}:
            raise click.ClickException(f"HTTP {reply.status_code}, no envelope")
        return envelope


def route_of(name: str) -> Route:
    """Return the route of the gateway of that name in the app that the command runs in.

    Raises:
        ClickException: the route has variables, which nothing says here.
    """
    host = app()
    rule = next(host.url_map.iter_rules(f"{name}.gateway"))
    if rule.arguments:
        raise click.ClickException(f"the route {rule.rule} has variables, which a command cannot fill in")
    return Route(host, rule, host.extensions["gatewayfw"][name].acts.token_carriers)
