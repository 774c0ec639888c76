"""The command that runs an act in this process: ``call``."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
from flask import Flask
from flask.cli import with_appcontext
from werkzeug.routing import Rule

from gatewayfw.acts.headers import sent_by_all
from gatewayfw.acts.idempotent import HEADER
from gatewayfw.cli.command import NAME, Failed, app, find_gateway, format_json
from gatewayfw.client.in_process import InProcess
from gatewayfw.spelling import MAIN
from gatewayfw.token_carriers import Carrier
from gatewayfw.wire.posting import HttpReply, NotAGateway, check_head, envelope_of

#: Holds the token to send, where no option gives one.
TOKEN_VARIABLE = "GATEWAYFW_CALL_TOKEN"
_EXAMPLE = """\b
Example: flask gateway call book getBooks --set '{"year": 1974}' --get '{"title": 1}'"""


@click.command("call", epilog=_EXAMPLE)
@click.argument("model")
@click.argument("act")
@click.option("--set", "set_", default="{}", help="details.set as JSON.")
@click.option("--get", default="{}", help="details.get as JSON.")
@click.option(
    "--token",
    envvar=TOKEN_VARIABLE,
    help=f"The token to send. Other users of this machine may see it: the variable {TOKEN_VARIABLE} hides it.",
)
@click.option("--role", help="The id of the active role, if the app looks for it in a header or cookie.")
@click.option("--key", help="The Idempotency-Key to send: an idempotent act answers the same key with the same reply.")
@click.option("--service", default=MAIN, show_default=True, help="The service of the act.")
@NAME
@with_appcontext
def call(
    model: str,
    act: str,
    set_: str,
    get: str,
    token: str | None,
    role: str | None,
    key: str | None,
    service: str,
    name: str | None,
) -> None:
    """Run one act in this process and print the envelope of its reply.

    The exit status is 1 unless the act succeeded. If the reply is not an envelope, the error message names the HTTP
    status.
    """
    token = token and token.strip()
    for option, text in (("--token", token), ("--role", role), ("--key", key)):
        if text is not None and not (text.isascii() and text.isprintable()):
            raise click.UsageError(f"{option}: expected printable ASCII characters")
    details = {"set": _parsed("--set", set_), "get": _parsed("--get", get)}
    body = {"service": service, "model": model, "act": act, "details": details}
    envelope = route_of(find_gateway(name)[0]).ask(body, token, role, key)
    click.echo(format_json(envelope))
    if envelope["success"] is not True:
        sys.exit(1)


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


def _parsed(option: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.UsageError(f"{option}: expected a JSON object")
    return value
