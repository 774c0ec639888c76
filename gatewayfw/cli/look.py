"""The commands to explore a gateway: ``acts`` and ``schemas``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click
from flask.cli import with_appcontext

from gatewayfw.cli.command import JSON, NAME, find_gateway, format_json, table
from gatewayfw.core import Gateway
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.kinds import as_kind

_ACT_COLUMNS = ("service", "model", "act", "mode", "description")


@click.command("acts", epilog="Example: flask gateway acts --json")
@NAME
@JSON
@with_appcontext
def list_acts(name: str | None, as_json: bool) -> None:
    """List all acts: service, model, act, mode and the first line of the description."""
    _, gateway = find_gateway(name)
    rows = list(_act_rows(gateway))
    if as_json:
        click.echo(format_json([dict(zip(_ACT_COLUMNS, row, strict=True)) for row in rows]))
    else:
        click.echo(table(_ACT_COLUMNS, rows))


@click.command("schemas", epilog="Example: flask gateway schemas")
@NAME
@JSON
@with_appcontext
def list_schemas(name: str | None, as_json: bool) -> None:
    """List all models with their pure fields, relations and reverse relations."""
    _, gateway = find_gateway(name)
    models = {model: _describe(gateway, schema) for model, schema in gateway.schemas.get_schemas().items()}
    if as_json:
        click.echo(format_json(models))
    else:
        rows = [row for model, parts in models.items() for row in _schema_rows(model, parts)]
        click.echo(table(("model", "name", "kind"), rows))


def _act_rows(gateway: Gateway) -> Iterator[tuple[str, ...]]:
    for service, acts in gateway.acts.get_acts_with_services().items():
        if isinstance(acts, str):
            yield service, "", "", "", f"remote: {acts}"
            continue
        for by_name in acts.values():
            for act in by_name.values():
                yield service, act.schema, act.act_name, act.validation_run_type, act.description.partition("\n")[0]


def _describe(gateway: Gateway, schema: ModelSchema) -> dict[str, Any]:
    excludes = schema.options.excludes
    return {
        "fields": {
            name: {"kind": as_kind(field).kind, "required": field.required, "excluded": name in excludes}
            for name, field in schema.pure.items()
        },
        "relations": {
            name: {
                "schemaName": relation.schema_name,
                "type": relation.type,
                "optional": relation.optional,
                "frozen": relation.frozen,
            }
            for name, relation in schema.relations.items()
        },
        "relatedRelations": {
            name: {
                "schemaName": reverse.member,
                "relation": reverse.relation,
                "type": reverse.type,
                "limit": reverse.limit,
                "default": reverse.default,
            }
            for name, reverse in gateway.schemas.get_related_relations(schema.name).items()
        },
    }


def _schema_rows(model: str, parts: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, ...]]:
    for name, field in parts["fields"].items():
        notes = [*([] if field["required"] else ["optional"]), *(["excluded"] if field["excluded"] else [])]
        yield model, name, " ".join([field["kind"], *notes])
    for name, relation in parts["relations"].items():
        said = "".join(f" {note}" for note in ("optional", "frozen") if relation[note])
        yield model, name, f"relation: {relation['type']} {relation['schemaName']}{said}"
    for name, reverse in parts["relatedRelations"].items():
        limit = f", limit {reverse['limit']}" if reverse["limit"] is not None else ""
        default = ", listed by default" if reverse["default"] else ""
        source = f"{reverse['schemaName']}.{reverse['relation']}"
        yield model, name, f"reverse relation: {reverse['type']} of {source}{limit}{default}"
