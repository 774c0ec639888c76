"""The commands for upkeep: ``indexes``, ``jobs``, ``work`` and ``files sweep``."""

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC
from threading import Event
from typing import Any

import click
from bson import ObjectId
from flask.cli import with_appcontext

from gatewayfw.cli.command import (
    JSON,
    NAME,
    find_gateway,
    find_odm,
    format_json,
    has_terminal,
    interruptible,
    reason_of,
    status_line,
    stopping,
    table,
    tell_outages_of,
)
from gatewayfw.errors import Unavailable
from gatewayfw.logs import escaped
from gatewayfw.odm import Odm
from gatewayfw.odm.jobs.records import LEASE, Job
from gatewayfw.odm.upkeep.indexes import IndexRow, create_missing, index_report

#: Seconds between two checks for new jobs.
INTERVAL = 1.0
_INDEX_COLUMNS = ("collection", "keys", "options", "state", "reason")
_JOB_COLUMNS = ("kind", "source", "relation", "progress", "since", "failures", "leased")


@click.command("indexes", epilog="Example: flask gateway indexes --create")
@click.option("--create", is_flag=True, help="Create the missing ones, however large their collections.")
@NAME
@JSON
@with_appcontext
def indexes(create: bool, name: str | None, as_json: bool) -> None:
    """List the indexes that the models want and those that the database has.

    The exit status is 1 if a wanted one is missing or different.

    No index is ever dropped or changed: deal with different and extra ones yourself.
    """
    odm = find_odm(name)
    if create:
        rows = create_missing(odm.schemas, odm.storage, on_progress=_show_index)
        status_line("")
    else:
        rows = index_report(odm.schemas, odm.storage)
    if as_json:
        click.echo(format_json([_index_object(row) for row in rows]))
    else:
        click.echo(table(_INDEX_COLUMNS, [_index_cells(row) for row in rows]))
    if not all(row.fine for row in rows):
        sys.exit(1)


@click.command("jobs", epilog="Example: flask gateway jobs")
@NAME
@JSON
@with_appcontext
def jobs(name: str | None, as_json: bool) -> None:
    """List the pending jobs: changes that have not reached all of their copies yet."""
    odm = find_odm(name)
    pending = odm.jobs()
    if as_json:
        click.echo(format_json([_job_object(job) for job in pending]))
    else:
        click.echo(table(_JOB_COLUMNS, [_job_cells(job) for job in pending]) if pending else "no pending jobs")


@click.command("work", epilog="Example: flask gateway work --once")
@click.option("--once", is_flag=True, help="End when no job is left, or none makes progress.")
@NAME
@JSON
@with_appcontext
def work(once: bool, name: str | None, as_json: bool) -> None:
    """Work on pending jobs, and wait for new ones, until Ctrl-C or SIGTERM.

    A signal ends it when the current batch is done.

    With --once it ends when no job is left, or with exit status 1 when the jobs that are left make no progress; it
    waits for jobs that another process works on, and tries those that have failed again at once. With --json each job
    is an object on a line of its own; with --once the last line says how many are left.
    """
    odm = find_odm(name)
    left: int | None = None
    with stopping() as stop:
        steps = _Steps(stop, as_json)
        with suppress(_Stopped):
            if once:
                left = _work_once(odm, steps)
            else:
                _work_on(odm, steps)
        status_line("")
    if once:
        left = odm.work(0) if left is None else left
        told = "no job is left" if left == 0 else f"{left} {'job is' if left == 1 else 'jobs are'} left"
        click.echo(format_json({"left": left}, indent=None) if as_json else told)
        sys.exit(1 if left else 0)


@click.group("files")
def files() -> None:
    """Look after the bytes of files."""


@files.command("sweep", epilog="Example: flask gateway files sweep")
@NAME
@JSON
@with_appcontext
def sweep(name: str | None, as_json: bool) -> None:
    """Delete the bytes of files that have no document, if older than an hour.

    The thread that works on jobs does this about once an hour; if it is switched off, run this command now and then.
    """
    _, gateway = find_gateway(name)
    tell_outages_of(gateway.odm)
    with interruptible():
        try:
            count = gateway.files.sweep(on_progress=lambda swept: status_line(_swept(swept)))
        finally:
            status_line("")
    click.echo(format_json({"swept": count}) if as_json else _swept(count))


def _swept(count: int) -> str:
    return f"{count} {'file' if count == 1 else 'files'} swept"


class _Stopped(KeyboardInterrupt):
    """A signal asked the command to end; unlike a job's error, it ends a worker."""


class _Steps:
    """Shows the current job.

    One line that changes on a terminal, one line for each job elsewhere; as JSON always the latter.
    """

    def __init__(self, stop: Event, as_json: bool = False) -> None:
        self.stop = stop
        self._as_json = as_json
        self._batches = 0
        self._key = ""

    def __call__(self, job: Job) -> None:
        self._batches += 1
        what = f"{job.kind} of {job.model} {job.id} in {job.relation}"
        status_line(f"{what}: {_progress(job)}; {self._batches} batches")
        if job.key != self._key and (self._as_json or not has_terminal()):
            click.echo(format_json(_job_object(job), indent=None) if self._as_json else escaped(what))
        self._key = job.key
        if self.stop.is_set():
            raise _Stopped


def _work_on(odm: Odm, steps: _Steps) -> None:
    """Work until a signal comes; wait while the database is unreachable."""
    told = ""
    while not steps.stop.is_set():
        try:
            odm.database.worker.attend(steps)
            if told:
                click.echo("the database answers again", err=True)
            told = ""
        except Unavailable as error:
            if (reason := reason_of(error)) != told:  # not each second of an outage
                click.echo(f"waiting: {escaped(reason)}", err=True)
            told = reason
        steps.stop.wait(INTERVAL)


def _work_once(odm: Odm, steps: _Steps) -> int:
    """Work until no job is left or none progresses; return how many are left.

    Jobs count as stuck when a dead worker's lease passes without progress.
    """
    jobs, needs = odm.database.worker.jobs, odm.database.worker.needs
    jobs.wake(needs)
    before, patience = dict[str, ObjectId](), 0.0
    while (left := odm.work(on_progress=steps)) and (held := jobs.held(needs)) and not steps.stop.is_set():
        if held != before:
            before, patience = held, time.monotonic() + LEASE + INTERVAL
        if time.monotonic() > patience:
            break
        steps.stop.wait(INTERVAL)
    return left


def _show_index(row: IndexRow) -> None:
    status_line(f"{row.collection}: building {', '.join(name for name, _ in row.keys)}")


def _index_object(row: IndexRow) -> dict[str, Any]:
    return {
        "collection": row.collection,
        "keys": dict(row.keys),
        "state": row.state,
        "wanted": None if row.wanted is None else dict(row.wanted),
        "present": None if row.present is None else dict(row.present),
        "reason": row.reason,
    }


def _index_cells(row: IndexRow) -> tuple[str, ...]:
    options: Mapping[str, Any] = (row.present if row.wanted is None else row.wanted) or {}
    told = [name if value is True else f"{name}={value}" for name, value in options.items() if value is not False]
    keys = ", ".join(f"{name}: {order}" for name, order in row.keys)
    return row.collection, keys, ", ".join(told), row.state, row.reason


def _progress(job: Job) -> str:
    """Return how far a job is: how many windows are left, or the last holder done."""
    if job.kind == "windows":
        return f"{len(job.targets)} left"
    return "at the start" if job.after is None else f"after {job.after}"


def _job_cells(job: Job) -> tuple[str, ...]:
    source, since, leased = f"{job.model} {job.id}", f"{job.since:%Y-%m-%d %H:%M:%S}", "yes" if job.leased else "no"
    return job.kind, source, job.relation, _progress(job), since, str(job.failures), leased


def _job_object(job: Job) -> dict[str, Any]:
    return {
        "kind": job.kind,
        "model": job.model,
        "id": str(job.id),
        "relation": job.relation,
        "after": None if job.after is None else str(job.after),
        "targets": len(job.targets),
        "since": job.since.replace(tzinfo=UTC).isoformat(),
        "failures": job.failures,
        "leased": job.leased is not None,
    }
