"""The command that runs an act: ``call``, in this process or of a running service."""

from __future__ import annotations

import json
import os
import re
import ssl
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

import click
from flask import Flask
from flask.cli import with_appcontext
from werkzeug.routing import Rule

from gatewayfw.acts.headers import sent_by_all
from gatewayfw.acts.idempotent import HEADER
from gatewayfw.cli.command import NAME, Failed, app, find_gateway, format_json
from gatewayfw.client.clients import MAX_BYTES, Http
from gatewayfw.client.in_process import InProcess
from gatewayfw.client.replies import CallError
from gatewayfw.errors import DefinitionError
from gatewayfw.spelling import MAIN
from gatewayfw.token_carriers import Carrier, bearer, cookie, header
from gatewayfw.wire.posting import HttpReply, NotAGateway, check_head, endpoint, envelope_of

#: Holds the token to send, where no option gives one.
TOKEN_VARIABLE = "GATEWAYFW_CALL_TOKEN"
_EXAMPLE = """\b
Example: flask gateway call book getBooks --get '{"title": 1}' --url https://shop.example/api"""
_PLACE = re.compile(r"(bearer)|(header|cookie):(.+)")


def _carrier(_context: click.Context, _option: click.Parameter, place: str) -> Carrier:
    """Return the carrier that a text means."""
    found = _PLACE.fullmatch(place)
    if found is None:
        raise click.BadParameter("expected bearer, header:NAME or cookie:NAME")
    try:
        return bearer() if found[1] else (header if found[2] == "header" else cookie)(found[3])
    except DefinitionError as error:
        raise click.BadParameter(error.message) from None


@click.command("call", epilog=_EXAMPLE)
@click.argument("model")
@click.argument("act")
@click.option("--set", "set_", default="{}", help="details.set as JSON.")
@click.option("--get", default="{}", help="details.get as JSON.")
@click.option("--url", help="Call the running service at this URL; no app is needed then.")
@click.option("--token", help="The token to send. Other users of this machine may see it; see --token-file.")
@click.option(
    "--token-file",
    type=click.File(encoding="utf-8"),
    help=f"A file with the token; - is standard input. Without either option, the variable {TOKEN_VARIABLE} has it.",
)
@click.option(
    "--token-in",
    metavar="PLACE",
    default="header:token",
    show_default=True,
    callback=_carrier,
    help="Where the service at --url looks for the token: bearer, header:NAME or cookie:NAME.",
)
@click.option(
    "--role", help="The id of the active role, if the app looks for it in a header or cookie; not with --url."
)
@click.option("--key", help="The Idempotency-Key to send: an idempotent act answers the same key with the same reply.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3600, min_open=True),
    default=10,
    show_default=True,
    help="Most seconds to wait for the service at --url.",
)
@click.option("--service", default=MAIN, show_default=True, help="The service of the act.")
@NAME
def call(
    model: str,
    act: str,
    set_: str,
    get: str,
    url: str | None,
    token: str | None,
    token_file: TextIO | None,
    token_in: Carrier,
    role: str | None,
    key: str | None,
    timeout: float,
    service: str,
    name: str | None,
) -> None:
    """Run one act and print the envelope of its reply.

    The request goes to the app, in this process, or with --url to a running service.

    The exit status is 1 unless the act succeeded. If the reply is not an envelope, the error message names the HTTP
    status.
    """
    place = "--token-file" if token_file else TOKEN_VARIABLE if token is None else "--token"
    token = _token(token, token_file)
    for option, text in ((place, token), ("--role", role), ("--key", key)):
        if text is not None and not (text.isascii() and text.isprintable()):
            raise click.UsageError(f"{option}: expected printable ASCII characters")
    details = {"set": _parsed("--set", set_), "get": _parsed("--get", get)}
    body = {"service": service, "model": model, "act": act, "details": details}
    if url is None:
        envelope = with_appcontext(lambda: route_of(find_gateway(name)[0]).ask(body, token, role, key))()
    elif role is not None or name is not None:
        raise click.UsageError(f"--url and --{'role' if name is None else 'name'} do not go together")
    else:
        envelope = _ask_url(url, body, token_in.sent(token) if token else {}, key, timeout)
    click.echo(format_json(envelope))
    if envelope["success"] is not True:
        sys.exit(1)


def _token(given: str | None, file: TextIO | None) -> str | None:
    """Return the token to send: as given, in the file, or in the environment."""
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip() or None if given is None else given
    if given is not None:
        raise click.UsageError("--token and --token-file do not go together")
    try:
        found = file.read().strip()
    except (OSError, ValueError):
        raise click.UsageError("--token-file: it cannot be read as text") from None
    if not found:
        raise click.UsageError("--token-file: it is empty")
    return found


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


def _ask_url(
    url: str, body: Mapping[str, Any], headers: Mapping[str, str], key: str | None, timeout: float
) -> Mapping[str, Any]:
    """Return the envelope with which a service answers a body."""
    try:
        transport = Http(endpoint(url), timeout, 1, MAX_BYTES)
    except ValueError as error:
        raise click.UsageError(f"--url: it {error}") from None
    sent = {**headers, "X-Gateway-Detail": "1", **({} if key is None else {HEADER: key})}
    try:
        return read_envelope(transport.ask(json.dumps(body).encode(), sent))
    except CallError as error:
        told = (f"HTTP {error.status}" if error.status else "", error.message, _cause(error))
        raise Failed(": ".join(filter(None, told))) from error
    finally:
        transport.close()


def _cause(error: BaseException) -> str:
    """Return why, in the words of the system; empty where it says nothing.

    The client's own words are the same for a wrong name, a closed port and an expired certificate.
    """
    found, cause = "", error.__cause__
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            found = cause.verify_message
        elif isinstance(cause, OSError):
            found = cause.strerror or found
        cause = cause.__cause__ or cause.__context__
    return found


def _parsed(option: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.UsageError(f"{option}: expected a JSON object")
    return value
