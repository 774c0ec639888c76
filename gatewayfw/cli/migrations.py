"""The command ``migrate``: bring documents in line with changed models."""

import json
import sys
from collections.abc import Iterable
from typing import Any

import click
from flask.cli import with_appcontext

from gatewayfw.cli.command import INTERRUPTED, JSON, NAME, find_odm, format_json, interruptible, status_line, table
from gatewayfw.logs import escaped
from gatewayfw.odm import Odm
from gatewayfw.odm.migrations.plans import ListedDocument, MigrationPlan, Outcome
from gatewayfw.odm.notes import MigrationNote
from gatewayfw.schemas.values import shown_form

_COLUMNS = ("migration", "model", "left", "changed", "last run", "left then", "version", "note")
_NONE = "no migrations"


@click.command("migrate", epilog="Example: flask gateway migrate --plan")
@click.option("--plan", is_flag=True, help="Change nothing: count, estimate the time, show examples.")
@click.option("--status", is_flag=True, help="Change nothing: list the migrations, what is left and what is noted.")
@click.option("--only", metavar="NAME", help="One migration alone.")
@NAME
@JSON
@with_appcontext
def migrate(plan: bool, status: bool, only: str | None, name: str | None, as_json: bool) -> None:
    """Run the declared migrations, in order; exit status 1 if documents are left.

    It is safe while others write, and may be interrupted and repeated: what matches the condition of a migration is
    what is left. Documents that cannot be changed are listed with the reason, and stay as they are. With --json each
    migration is an object on a line of its own.
    """
    if plan and status:
        raise click.UsageError("give --plan or --status, not both")
    odm = find_odm(name)
    if not (as_json or status or odm.migrations.chosen(only)):
        click.echo(_NONE)
    if status:
        left = _show_status(odm, only, as_json)
    elif plan:
        left = _show_plans(odm, only, as_json)
    else:
        left = _run(odm, only, as_json)
    sys.exit(1 if left else 0)


def _run(odm: Odm, only: str | None, as_json: bool) -> int:
    left = 0
    try:
        with interruptible():
            for migration in odm.migrations.chosen(only):
                outcome = odm.migrations.run(migration, _show_progress)
                status_line("")
                left += outcome.left
                if as_json:
                    click.echo(format_json(_object(outcome), indent=None))
                    continue
                _tell(f"{outcome.name}: {outcome.changed:,} changed, {outcome.left:,} left")
                _tell_listed(outcome.listed)
    except KeyboardInterrupt:
        status_line("")
        click.echo("interrupted; what is done is done, and the next run goes on", err=True)
        sys.exit(INTERRUPTED)
    return left


def _show_progress(outcome: Outcome) -> None:
    status_line(f"{outcome.name}: {outcome.changed:,} of {outcome.total:,} documents")


def _show_plans(odm: Odm, only: str | None, as_json: bool) -> int:
    left = 0
    for migration in odm.migrations.chosen(only):
        with interruptible():
            plan = odm.migrations.plan(migration)
        left += plan.outcome.left
        if as_json:
            click.echo(format_json({**_object(plan.outcome), **_details(plan)}, indent=None))
            continue
        number = "1 document" if plan.outcome.left == 1 else f"{plan.outcome.left:,} documents"
        _tell(f"{migration.name}: {number} of {migration.model}{_time(plan)}")
        for example in plan.examples:
            _tell(f"  {example['_id']}: {format_json(_shown(example['before']), None)}")
            _tell(f"    becomes {format_json(_shown(example['after']), None)}")
        _tell_listed(plan.outcome.listed)
        for follow_up in plan.follow_ups:
            _tell(f"  {follow_up}")
    return left


def _show_status(odm: Odm, only: str | None, as_json: bool) -> int:
    noted, rows, left = odm.migrations.noted(), list[dict[str, Any]](), 0
    for migration in odm.migrations.chosen(only):
        count = odm.migrations.count(migration)
        left += count
        note = noted.pop(migration.name, None)
        rows.append({"name": migration.name, "model": migration.model, "left": count, **_noted(note)})
    gone = {} if only else noted
    rows += [{"name": one.name, "model": one.model, "left": None, **_noted(one), "gone": True} for one in gone.values()]
    if as_json:
        for row in rows:
            click.echo(format_json(row, indent=None))
    else:
        click.echo(table(_COLUMNS, [_cells(row) for row in rows]) if rows else _NONE)
    return left


def _noted(note: MigrationNote | None) -> dict[str, Any]:
    if note is None:
        return {"changed": 0, "at": None, "leftThen": None, "version": None, "gone": False}
    at = f"{note.at.isoformat(timespec='seconds')}Z"
    return {"changed": note.changed, "at": at, "leftThen": note.left, "version": note.version, "gone": False}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    left, then = ("" if count is None else f"{count:,}" for count in (row["left"], row["leftThen"]))
    note = "not declared any more" if row["gone"] else "" if row["at"] else "never ran"
    return row["name"], row["model"], left, f"{row['changed']:,}", row["at"] or "", then, row["version"] or "", note


def _object(outcome: Outcome) -> dict[str, Any]:
    listed = [{"_id": str(one["_id"]), "reason": one["reason"]} for one in outcome.listed]
    return {**outcome.told(), "listed": listed}


def _details(plan: MigrationPlan) -> dict[str, Any]:
    seconds = None if plan.seconds is None else round(plan.seconds, 1)
    examples = [_shown(dict(one)) for one in plan.examples]
    return {"seconds": seconds, "examples": examples, "followUps": list(plan.follow_ups)}


def _shown(value: dict[str, Any]) -> Any:
    """Return stored values as JSON: those that are none as text."""
    return json.loads(json.dumps(shown_form(value), default=str))


def _time(plan: MigrationPlan) -> str:
    if plan.seconds is None or not plan.outcome.left:
        return ""
    seconds = round(plan.seconds)
    return f", about {seconds} s" if seconds < 120 else f", about {seconds // 60} min"


def _tell_listed(listed: Iterable[ListedDocument]) -> None:
    for one in listed:
        _tell(f"  {one['_id']}: {one['reason']}")


def _tell(text: str) -> None:
    click.echo(escaped(text))
