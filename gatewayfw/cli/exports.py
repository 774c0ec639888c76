"""The commands that list acts, and write for clients and other tools."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from flask import Flask
from flask.cli import with_appcontext
from werkzeug.routing import Rule

from gatewayfw.acts.headers import sent_by_all
from gatewayfw.cli.command import JSON, NAME, Failed, app, find_gateway, format_json, show_rows
from gatewayfw.client.in_process import InProcess
from gatewayfw.export.files import LANGUAGES, difference, generated, write
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.mcp import make_server, serve, tools_of
from gatewayfw.export.openapi import openapi as openapi_document
from gatewayfw.logs import escaped
from gatewayfw.token_carriers import Carrier
from gatewayfw.wire.posting import NotAGateway, check_head, envelope_of

#: How many lines of a difference are shown.
_SHOWN = 40
#: Holds the token that MCP tools send.
TOKEN_VARIABLE = "GATEWAYFW_MCP_TOKEN"


@click.command("acts", epilog="Example: flask gateway acts --json")
@NAME
@JSON
@with_appcontext
def list_acts(name: str | None, as_json: bool) -> None:
    """List all acts: service, model, act, mode and the first line of the description."""
    _, gateway = find_gateway(name)
    rows: list[tuple[str, ...]] = []
    for service, acts in gateway.acts.get_acts_with_services().items():
        if isinstance(acts, str):
            rows.append((service, "", "", "", f"remote: {acts}"))
            continue
        for act in (act for by_name in acts.values() for act in by_name.values()):
            summary = act.description.partition("\n")[0]
            rows.append((service, act.schema, act.act_name, act.validation_run_type, summary))
    show_rows(("service", "model", "act", "mode", "description"), rows, as_json)


@click.command("types", epilog="Example: flask gateway types --lang ts --path src/api")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="ts", show_default=True, help="The language.")
@click.option("--path", default="declarations", show_default=True, help="The folder to write into.")
@click.option("--check", is_flag=True, help="Write nothing; exit status 1 if a file is missing or out of date.")
@click.option("--stdout", is_flag=True, help="Print the file instead of writing it.")
@NAME
@JSON
@with_appcontext
def types(lang: str, path: str, check: bool, stdout: bool, name: str | None, as_json: bool) -> None:
    """Write the types of all models and acts, with a client."""
    _, gateway = find_gateway(name)
    for option, given in (("--check", check), ("--json", as_json)):
        if given and stdout:
            raise click.UsageError(f"{option} and --stdout do not go together")
    file, text = generated(gateway.catalog(), lang)
    if stdout:
        click.echo(text, nl=False)
        return
    place = Path(path) / file
    try:
        lines = difference(place, text) if check else []
        is_written = not check and write(place, text)
    except OSError as error:
        raise Failed(str(error)) from error
    if check:
        _check(place, lines, as_json)
    else:
        _tell(place, is_written, as_json)


def _tell(place: Path, is_written: bool, as_json: bool) -> None:
    if as_json:
        click.echo(format_json({str(place): is_written}))
    else:
        click.echo(escaped(f"wrote {place}" if is_written else f"{place} is up to date"))


def _check(place: Path, lines: list[str], as_json: bool) -> None:
    if as_json:
        click.echo(format_json({"upToDate": not lines, "difference": lines}))
    elif not lines:
        _tell(place, False, as_json)
    else:
        for line in lines[:_SHOWN]:
            click.echo(escaped(line))
        if len(lines) > _SHOWN:
            click.echo(f"... and {len(lines) - _SHOWN} more lines")
    if lines:
        sys.exit(1)


@click.command("openapi", epilog="Example: flask gateway openapi --server https://example.com")
@click.option("--virtual-paths", is_flag=True, help="Give each act a path of its own, for tools that need that.")
@click.option("--title", default="Gateway", show_default=True, help="The title in the document.")
@click.option("--api-version", default="1", show_default=True, help="The version in the document.")
@click.option("--server", "servers", multiple=True, default=["/"], help="Where clients find the app; may be repeated.")
@NAME
@with_appcontext
def openapi(virtual_paths: bool, title: str, api_version: str, servers: tuple[str, ...], name: str | None) -> None:
    """Print the OpenAPI 3.1 document of a gateway."""
    name, gateway = find_gateway(name)
    document = openapi_document(
        gateway.catalog(),
        path=route_of(name).rule.rule,
        title=title,
        version=api_version,
        virtual_paths=virtual_paths,
        servers=servers,
    )
    click.echo(format_json(document))


@click.command("jsonschema", epilog="Example: flask gateway jsonschema")
@NAME
@with_appcontext
def jsonschema(name: str | None) -> None:
    """Print the JSON Schema of a gateway's requests, replies and models."""
    _, gateway = find_gateway(name)
    click.echo(format_json(json_schema(gateway.catalog())))


@click.command("mcp", epilog="Example: flask gateway mcp --list")
@click.option("--list", "only_list", is_flag=True, help="List the tools and end.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"A file with the token to send, read for each call. Without it, the variable {TOKEN_VARIABLE} has the token.",
)
@click.option("--role", help="The id of the active role, if the app looks for it in a header or cookie.")
@NAME
@JSON
@with_appcontext
def mcp(only_list: bool, token_file: Path | None, role: str | None, name: str | None, as_json: bool) -> None:
    """Serve acts as tools of a language model, over standard input and output.

    The tools are the acts with mcp=. Each call of one is a request to the app, in this process.
    """
    name, gateway = find_gateway(name)
    catalog = gateway.catalog()
    tools = tools_of(catalog)
    if only_list:
        rows = [(tool.name, tool.description.partition("\n")[0]) for tool in tools.values()]
        show_rows(("tool", "description"), rows, as_json)
        return
    if not tools:
        raise Failed("no act is offered as a tool: give those that should be mcp=True")
    route = route_of(name)
    if role and not route.roles:
        raise click.UsageError("--role: no hook looks for a role in a header or cookie; it is a field of set")
    server = make_server(catalog, lambda body: _sent(route, body, token_file, role), name)
    serve(server)


# -- the way to the app


@dataclass(frozen=True)
class Route:
    """Where a gateway is in an app, and where its hooks look for token and role."""

    host: Flask
    rule: Rule
    tokens: tuple[Carrier, ...]
    roles: tuple[Carrier, ...]

    def ask(self, body: Mapping[str, Any], token: str, role: str | None) -> Mapping[str, Any]:
        """Send a body to the app, and token and role if any; return the envelope.

        Raises:
            NotAGateway: the reply is no envelope, such as an error page of the host.
        """
        values = [(carrier, token) for carrier in self.tokens if token]
        headers = sent_by_all([*values, *((carrier, role) for carrier in self.roles if role)])
        transport = InProcess(self.host, self.rule.rule, self.rule.subdomain or None)
        reply = transport.post(json.dumps(body).encode(), {**headers, "Content-Type": "application/json"})
        check_head(reply)
        return envelope_of(reply)


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


def _sent(route: Route, body: dict[str, Any], token_file: Path | None, role: str | None) -> Mapping[str, Any]:
    """Send a body to the app and return the envelope of its reply.

    A reply that is no envelope becomes an error, and so does a token file that is away.
    """
    try:
        token = os.environ.get(TOKEN_VARIABLE, "") if token_file is None else token_file.read_text("utf-8")
        return route.ask(body, token.strip(), role)
    except (OSError, UnicodeDecodeError):
        told = "the token file cannot be read"
    except NotAGateway as error:
        told = f"HTTP {error.reply.status}, no envelope: {error}"
    return {"success": False, "body": {"message": told}}
