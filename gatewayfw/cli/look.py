"""The commands to explore a gateway: ``acts`` and ``schemas``."""

from collections.abc import Iterator

import click
from flask.cli import with_appcontext

from gatewayfw.cli.command import JSON, NAME, find_gateway, show_rows
from gatewayfw.core import Gateway
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.kinds import as_kind


@click.command("acts", epilog="Example: flask gateway acts --json")
@NAME
@JSON
@with_appcontext
def list_acts(name: str | None, as_json: bool) -> None:
    """List all acts: service, model, act, mode and the first line of the description."""
    _, gateway = find_gateway(name)
    show_rows(("service", "model", "act", "mode", "description"), list(_act_rows(gateway)), as_json)


@click.command("schemas", epilog="Example: flask gateway schemas")
@NAME
@JSON
@with_appcontext
def list_schemas(name: str | None, as_json: bool) -> None:
    """List all models with their pure fields, relations and reverse relations."""
    _, gateway = find_gateway(name)
    rows = [row for schema in gateway.schemas.get_schemas().values() for row in _schema_rows(gateway, schema)]
    show_rows(("model", "name", "kind"), rows, as_json)


def _act_rows(gateway: Gateway) -> Iterator[tuple[str, ...]]:
    for service, acts in gateway.acts.get_acts_with_services().items():
        if isinstance(acts, str):
            yield service, "", "", "", f"remote: {acts}"
            continue
        for by_name in acts.values():
            for act in by_name.values():
                yield service, act.schema, act.act_name, act.validation_run_type, act.description.partition("\n")[0]


def _schema_rows(gateway: Gateway, schema: ModelSchema) -> Iterator[tuple[str, ...]]:
    for name, field in schema.pure.items():
        optional = "" if field.required else " optional"
        excluded = " excluded" if name in schema.options.excludes else ""
        yield schema.name, name, f"{as_kind(field).kind}{optional}{excluded}"
    for name, relation in schema.relations.items():
        notes = f"{' optional' if relation.optional else ''}{' frozen' if relation.frozen else ''}"
        yield schema.name, name, f"relation: {relation.type} {relation.schema_name}{notes}"
    for name, reverse in gateway.schemas.get_related_relations(schema.name).items():
        limit = f", limit {reverse.limit}" if reverse.limit is not None else ""
        default = ", listed by default" if reverse.default else ""
        source = f"{reverse.member}.{reverse.relation}"
        yield schema.name, name, f"reverse relation: {reverse.type} of {source}{limit}{default}"
