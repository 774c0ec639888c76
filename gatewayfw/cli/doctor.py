"""``doctor``: what is wrong with definitions, configuration and database."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

import click
from flask.cli import with_appcontext

from gatewayfw.acts.checks import acts_by_name
from gatewayfw.cli.command import JSON, NAME, app, find_gateway, format_json, reason_of, tell_outages_of
from gatewayfw.cli.doctor_configuration import Finding, findings, first_names, policy_findings
from gatewayfw.core import Gateway
from gatewayfw.errors import GatewayError
from gatewayfw.logs import escaped
from gatewayfw.odm.jobs.records import COLLECTION, MOST_COUNTED, Jobs, now
from gatewayfw.odm.notes import MigrationNotes, find_refused, read_index_notes
from gatewayfw.odm.sizes.budgets import MOST_BYTES, Part, Size, share_of, worst_sizes
from gatewayfw.odm.stored_replies import NO_TRANSACTIONS
from gatewayfw.odm.upkeep.indexes import IndexRow, index_report, listing_hints
from gatewayfw.odm.upkeep.misfits import read_fit_notes
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import Index, Storage
from gatewayfw.storage.terms import LARGE

#: The age of a job above which no worker seems to take it.
_OLD = timedelta(seconds=60)
#: The lifetime of transactions, in seconds, above which a killed client blocks its documents for too long.
_LIFETIME = 30.0
#: How many parts of a large document are named.
_NAMED = 3
_MAY_COLLIDE = (
    "until the first use of the model or `flask gateway indexes --create` builds it, documents may share a value"
)
_STANDALONE = "the database is a standalone server, without transactions: make it a one-node replica set"


@click.command("doctor", epilog="Example: flask gateway doctor")
@NAME
@JSON
@with_appcontext
def doctor(name: str | None, as_json: bool) -> None:
    """Check definitions, configuration, database and indexes; change nothing.

    The exit status is 1 if there is a problem; with warnings and hints alone it is 0.
    """
    _, gateway = find_gateway(name)
    tell_outages_of(gateway.odm)
    found = list(_examined(gateway, findings(app(), gateway, os.environ)))
    problems, warnings, hints = (
        [text for one, text in found if one == kind] for kind in ("problem", "warning", "hint")
    )
    if as_json:
        click.echo(format_json({"problems": problems, "warnings": warnings, "hints": hints}))
    else:
        lines = [*(f"problem: {text}" for text in problems), *(f"warning: {text}" for text in warnings)]
        lines = [*(lines or ["no problems found"]), *(f"hint: {text}" for text in hints)]
        click.echo("\n".join(map(escaped, lines)))
    if problems:
        sys.exit(1)


def _examined(gateway: Gateway, configuration: Iterable[Finding]) -> Iterator[Finding]:
    """Check definitions and configuration, then the database.

    The database only if there is one and the models are correct.
    """
    yield from (("problem", text) for text in gateway.checks.problems())
    yield from configuration
    schemas = gateway.schemas
    if schemas.problems():
        return
    yield from (("warning", text) for text in (*_unlimited(schemas), *_too_large(schemas)))
    yield from policy_findings(schemas, gateway.checks.roles)
    for schema in schemas.get_schemas().values():
        yield from (("hint", text) for text in listing_hints(schemas, schema))
    if gateway.odm.database.is_set:
        try:
            yield from _examined_database(gateway, gateway.odm.storage)
        except GatewayError as error:
            yield "problem", f"database: {reason_of(error)}"


def _examined_database(gateway: Gateway, storage: Storage) -> Iterator[Finding]:
    schemas = gateway.schemas
    sharded = [name for name in (*schemas.get_schemas(), COLLECTION) if storage.is_sharded(name)]
    if sharded:
        yield from (("problem", f"{name}: the collection is sharded, which is not supported") for name in sharded)
        return
    rows = index_report(schemas, storage)
    yield from _lacking(rows, storage, gateway.settings.index_build_limit)
    if not storage.has_transactions():
        yield "warning", _STANDALONE
        acts = acts_by_name(gateway.acts)
        yield from (("problem", f"{name}: {NO_TRANSACTIONS}") for name, act in acts if act.once)
    yield from (("warning", text) for text in (*_waiting(storage), *_unreadable(storage)))
    yield from _misfits(schemas, storage)
    yield from _migrations(schemas, storage)
    hints = _lifetime(storage.transaction_lifetime(), gateway.settings.deadline)
    yield from (("hint", text) for text in (*hints, *_to_renew(rows)))


# -- definitions


def _unlimited(schemas: Schemas) -> Iterator[str]:
    for schema in schemas.get_schemas().values():
        for relation in schema.relations.values():
            for name, reverse in relation.related_relations.items():
                if reverse.type == "multiple" and not reverse.limited:
                    place = f"model {schema.name!r}, relation {relation.name!r}, reverse {name!r}"
                    yield f"{place}: no limit is given; each {reverse.target} keeps up to {reverse.limit}"


def _too_large(schemas: Schemas) -> Iterator[str]:
    for size in worst_sizes(schemas):
        reverses = schemas.get_related_relations(size.model).values()
        windows = {one.name for one in reverses if one.type == "multiple"}
        share = share_of(schemas.settings.windows_bytes, len(windows))
        unstated = _unstated(size, schemas.settings)
        if long := [part for part in size.parts if part.name in windows and part.bytes > share]:
            yield f"model {size.model!r}: each list is cut to {_megabytes(share)}: {_parts(long)}{unstated}"
        lists = [part.bytes for part in size.parts if part.name in windows]
        rest = size.bytes - sum(lists)
        whole = rest + sum(min(part, share) for part in lists)
        if whole > MOST_BYTES:
            largest = _parts([part for part in size.parts if part.name not in windows])
            yields = "a changed copy that does not fit stays as it was" if rest > MOST_BYTES else "its lists give way"
            yield (
                f"model {size.model!r}: with its copies a document may reach {_megabytes(whole)}, MongoDB holds "
                f"{_megabytes(MOST_BYTES)}: {largest}; {yields}{unstated}"
            )


def _parts(parts: Sequence[Part]) -> str:
    """Return the largest parts of a document in words."""
    return ", ".join(
        f"{part.name} may reach {_megabytes(part.bytes)}"
        + (f" ({part.count:,} of {part.each:,} bytes)" if part.count > 1 else "")
        for part in parts[:_NAMED]
    )


def _unstated(size: Size, settings: Settings) -> str:
    """Return which kinds state no size, and which size is assumed for them."""
    if not size.unstated:
        return ""
    return (
        f"; these state no size: {', '.join(size.unstated)}: a text counts with {settings.max_text:,} characters, "
        "binary data with as many bytes, "
        f"the fields of a document with {_megabytes(settings.document_bytes)} at most"
    )


def _megabytes(number: int) -> str:
    return f"{number / 1024 / 1024:.1f} MB"


# -- the database


def _lacking(rows: Iterable[IndexRow], storage: Storage, build_limit: int) -> Iterator[Finding]:
    """Name missing indexes; count those that the first use of their models builds."""
    notes, small = read_index_notes(storage), 0
    for row in rows:
        index = Index(row.keys, row.wanted or {})
        if row.state == "differs" and index.unique and not (row.present or {}).get("unique"):
            yield "problem", index.problem(row.collection, "exists, but is not unique")
        if row.state != "missing":
            continue
        count = storage.count(row.collection, {}, build_limit + 1)
        if count > (0 if index.unique else build_limit):
            known = find_refused(row.collection, notes.get(row.collection, {}), [index])
            why = f"is missing; {_MAY_COLLIDE if index.unique else LARGE}"
            yield "problem", known[0] if known else index.problem(row.collection, why)
        else:
            small += count > 0
    if small:
        which = "an index is" if small == 1 else f"{small} indexes are"
        yield "hint", f"{which} missing, which the first use of the models or `flask gateway indexes --create` builds"


def _waiting(storage: Storage) -> Iterator[str]:
    number, oldest = Jobs(storage).pending(now() - _OLD)
    if oldest is not None:
        told = "a job has" if number == 1 else f"{'at least ' if number == MOST_COUNTED else ''}{number:,} jobs have"
        yield f"{told} been pending for more than {_OLD.seconds} s, since {oldest:%Y-%m-%d %H:%M:%S} UTC"


def _unreadable(storage: Storage) -> Iterator[str]:
    unreadable = Jobs(storage).unreadable()
    for key in unreadable:
        more = sum(1 for _ in unreadable)
        others = f", nor are {more:,} others" if more else ""
        yield f"{COLLECTION}: {key!r} is no job that this version can read{others}, so nobody works on it"


def _misfits(schemas: Schemas, storage: Storage) -> Iterator[Finding]:
    """Tell what ``check --fit`` last found, and of which models it was not run."""
    notes = read_fit_notes(schemas, storage)
    unread = [name for name in schemas.get_schemas() if name not in notes and storage.count(name, {}, 1)]
    fine = {name: note.at for name, note in notes.items() if not note.misfits}
    for name, note in notes.items():
        if note.misfits:
            what = "1 misfit" if note.misfits == 1 else f"{note.misfits:,} misfits"
            yield "warning", f"{name}: check --fit found {what} on {note.at:%Y-%m-%d %H:%M:%S} UTC"
    if unread:
        yield (
            "hint",
            f"{first_names(unread)}: the documents were not compared with their models, or not as these are now; "
            "run flask gateway check --fit",
        )
    if fine:
        yield (
            "hint",
            f"{first_names(list(fine))}: check --fit found no misfits, on {min(fine.values()):%Y-%m-%d} UTC or later",
        )


def _migrations(schemas: Schemas, storage: Storage) -> Iterator[Finding]:
    """Tell what is noted of migrations, and which have not run."""
    declared, noted = schemas.migrations(), MigrationNotes(storage).all()
    for name, migration in declared.items():
        if name not in noted and storage.count(migration.model, {}, 1):
            yield "hint", f"migration {name!r} has not run; run flask gateway migrate"
    for name, note in noted.items():
        if not note.left:
            continue
        documents = "1 document was" if note.left == 1 else f"{note.left:,} documents were"
        left = f"when it last ended, on {note.at:%Y-%m-%d %H:%M:%S} UTC, {documents} left"
        if name in declared:
            yield "warning", f"migration {name!r}: {left}; flask gateway migrate lists those that it cannot change"
        else:
            yield "hint", f"migration {name!r} is not declared any more; {left}"


def _to_renew(rows: Iterable[IndexRow]) -> Iterator[str]:
    """Name the indexes that are better made anew, with ``_id`` at their end."""
    for row in rows:
        if row.state == "present" and row.reason:
            better = {**dict(row.keys), "_id": row.keys[0][1]}
            yield f"{row.collection}: index {dict(row.keys)} is {row.reason}; create {better} and drop it"


def _lifetime(seconds: float | None, deadline: float) -> Iterator[str]:
    if seconds is None:
        return
    name = f"transactionLifetimeLimitSeconds is {seconds:g}"
    if seconds > _LIFETIME:
        yield (
            f"{name}: a client killed inside a transaction blocks "
            "the documents it touched for that long; 5 is recommended"
        )
    if seconds < deadline:
        yield f"{name}, the deadline {deadline:g}: the server ends the transaction of an act before its deadline does"
