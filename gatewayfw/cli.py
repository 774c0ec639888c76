"""``flask gateway ...``: look at the gateways of an app, run an act, find what is wrong.

An app may have several gateways; ``--name`` chooses one by the name of its blueprint.
All commands and their output are our choice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from flask import Flask, current_app
from flask.cli import with_appcontext
from marshmallow.fields import Field
from werkzeug.routing import Rule

from gatewayfw.acts import Act
from gatewayfw.core import Gateway
from gatewayfw.errors import GatewayError
from gatewayfw.schemas import ModelSchema

_NAME = click.option("--name", help="The gateway's name, where the app has several.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("gateway")
def gateway_group() -> None:
    """Look at gateways, run acts, find problems."""


@gateway_group.command("acts")
@_NAME
@_JSON
@with_appcontext
def list_acts(name: str | None, as_json: bool) -> None:
    """List all acts: service, model, act, mode and the first line of the description."""
    _, gateway = _chosen(name)
    rows = list(_act_rows(gateway))
    if as_json:
        click.echo(_dumped([dict(zip(_ACT_COLUMNS, row, strict=True)) for row in rows]))
    else:
        click.echo(_table(_ACT_COLUMNS, rows))


@gateway_group.command("schemas")
@_NAME
@_JSON
@with_appcontext
def list_schemas(name: str | None, as_json: bool) -> None:
    """List all models with their pure fields, relations and reverse relations."""
    _, gateway = _chosen(name)
    models = {model: _described(gateway, schema) for model, schema in gateway.schemas.get_schemas().items()}
    if as_json:
        click.echo(_dumped(models))
    else:
        rows = [row for model, parts in models.items() for row in _schema_rows(model, parts)]
        click.echo(_table(("model", "name", "kind"), rows))


@gateway_group.command("call")
@click.argument("model")
@click.argument("act")
@click.option("--set", "set_", default="{}", help="details.set as JSON.")
@click.option("--get", default="{}", help="details.get as JSON.")
@click.option("--token", help="Sent as the header token.")
@click.option("--service", default="main", show_default=True)
@_NAME
@with_appcontext
def call(model: str, act: str, set_: str, get: str, token: str | None, service: str, name: str | None) -> None:
    """Run one request through the app and print its envelope; exit status 1 unless it succeeded.

    A reply of the app that is no envelope is an error that names its status.
    """
    chosen, _ = _chosen(name)
    if token is not None and not (token.isascii() and token.isprintable()):
        raise click.UsageError("--token: expected printable ASCII characters")
    details = {"set": _parsed("--set", set_), "get": _parsed("--get", get)}
    body = {"service": service, "model": model, "act": act, "details": details}
    headers = {"token": token} if token is not None else {}
    app = _app()
    rule = _rule(app, chosen)
    reply = app.test_client().post(rule.rule, subdomain=rule.subdomain or None, json=body, headers=headers)
    envelope = reply.get_json(silent=True)
    if not isinstance(envelope, dict) or envelope.keys() != {"body", "success"}:
        raise click.ClickException(f"HTTP {reply.status_code}, no envelope")
    click.echo(_dumped(envelope))
    if envelope["success"] is not True:
        sys.exit(1)


@gateway_group.command("doctor")
@_NAME
@_JSON
@with_appcontext
def doctor(name: str | None, as_json: bool) -> None:
    """Check definitions, database and indexes; exit status 1 when there is a problem.

    Missing indexes are built where that is quick. A warning alone leaves the exit status 0.
    """
    _, gateway = _chosen(name)
    problems, warnings = _examined(gateway)
    if as_json:
        click.echo(_dumped({"problems": problems, "warnings": warnings}))
    else:
        lines = [*(f"problem: {text}" for text in problems), *(f"warning: {text}" for text in warnings)]
        click.echo("\n".join(lines) or "no problems found")
    if problems:
        sys.exit(1)


_ACT_COLUMNS = ("service", "model", "act", "mode", "description")


def _app() -> Flask:
    return current_app._get_current_object()  # type: ignore[attr-defined,no-any-return]  # a proxy


def _chosen(name: str | None) -> tuple[str, Gateway]:
    """Return the gateway that ``--name`` means, with its name; without one the only one there is."""
    gateways: Mapping[str, Gateway] = _app().extensions.get("gatewayfw", {})
    if not gateways:
        raise click.ClickException("this app has no gateway")
    listed = ", ".join(gateways)
    if name is None:
        if len(gateways) > 1:
            raise click.UsageError(f"this app has several gateways; give --name with one of: {listed}")
        name = next(iter(gateways))
    if name not in gateways:
        raise click.UsageError(f"no gateway is named {name!r}; there are: {listed}")
    return name, gateways[name]


def _rule(app: Flask, name: str) -> Rule:
    rule = next(app.url_map.iter_rules(f"{name}.gateway"))
    if rule.arguments:
        raise click.ClickException(f"the route {rule.rule} has variables; use an HTTP client")
    return rule


def _parsed(option: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.UsageError(f"{option}: expected a JSON object")
    return value


def _act_rows(gateway: Gateway) -> Iterator[tuple[str, ...]]:
    for service, acts in gateway.acts.get_acts_with_services().items():
        if isinstance(acts, str):
            yield service, "", "", "", f"remote: {acts}"
            continue
        for by_name in acts.values():
            yield from ((service, *_act_columns(act)) for act in by_name.values())


def _act_columns(act: Act) -> tuple[str, ...]:
    return act.schema, act.act_name, act.validation_run_type, act.description.partition("\n")[0]


def _described(gateway: Gateway, schema: ModelSchema) -> dict[str, Any]:
    excludes = schema.options.excludes
    return {
        "fields": {
            name: {"kind": _kind(field), "required": field.required, "excluded": name in excludes}
            for name, field in schema.pure.items()
        },
        "relations": {
            name: {"schemaName": relation.schema_name, "type": relation.type, "optional": relation.optional}
            for name, relation in schema.relations.items()
        },
        "relatedRelations": {
            name: {
                "schemaName": reverse.member,
                "relation": reverse.relation,
                "type": reverse.type,
                "limit": reverse.limit,
            }
            for name, reverse in gateway.schemas.get_related_relations(schema.name).items()
        },
    }


def _kind(field: Field[Any]) -> str:
    return str(getattr(field, "kind", type(field).__name__))


def _schema_rows(model: str, parts: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for name, field in parts["fields"].items():
        notes = [*([] if field["required"] else ["optional"]), *(["excluded"] if field["excluded"] else [])]
        yield model, name, " ".join([field["kind"], *notes])
    for name, relation in parts["relations"].items():
        optional = " optional" if relation["optional"] else ""
        yield model, name, f"relation: {relation['type']} {relation['schemaName']}{optional}"
    for name, reverse in parts["relatedRelations"].items():
        limit = f", limit {reverse['limit']}" if reverse["limit"] is not None else ""
        source = f"{reverse['schemaName']}.{reverse['relation']}"
        yield model, name, f"reverse relation: {reverse['type']} of {source}{limit}"


def _examined(gateway: Gateway) -> tuple[list[str], list[str]]:
    """Return problems and warnings. Without a database only the definitions are judged."""
    problems = gateway.schemas.problems()
    if problems:
        return problems, []
    try:
        storage = gateway.odm.storage
        index_problems = gateway.odm.ready()
        transactions = storage.has_transactions()
    except GatewayError as error:
        return [f"database: {error.message}"], []
    standalone = "the database is a standalone server, without transactions: make it a one-node replica set"
    return index_problems, [] if transactions else [standalone]


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (columns, *rows))
    return "\n".join(line.rstrip() for line in lines)


def _dumped(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
