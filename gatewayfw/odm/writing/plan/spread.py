"""Write a changed document to its copies in holders, at once or by jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bson import ObjectId

from gatewayfw.errors import StorageError, TooLarge
from gatewayfw.odm.copies.jobs import JobKind
from gatewayfw.odm.copies.rules import VERSION_BYTES, clock, copy_of, older, renewal, version_of
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.odm.sizes.budgets import most_bytes_before
from gatewayfw.odm.sizes.window_shares import SizeChecks
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.steps import Count, Plan, PutJob, UpdateMany, UpdateOne
from gatewayfw.schemas import ModelSchema, Relation, Schemas
from gatewayfw.storage import Document
from gatewayfw.storage.documents import encode
from gatewayfw.storage.terms import Filter, Update


def followers(schemas: Schemas, model: str) -> list[Relation]:
    """Return the relations whose copies follow their sources: all but frozen ones."""
    return [relation for relation in schemas.embedders(model) if not relation.frozen]


def renewal_of(schemas: Schemas, relation: Relation, source: Document) -> tuple[Update, Filter]:
    """Return the update that renews a source's copies, and their holders' filter."""
    model = source_of(schemas, relation)
    return renewal(relation, source, model.copy_fields(relation.excludes), model.pure)


def followers_of(schemas: Schemas, schema: ModelSchema, source: Document) -> list[Relation]:
    """Return the relations that may embed a document, frozen ones apart.

    There are none if its ``_id`` is no ObjectId: asking for one of another type may find what does not embed it, for
    null all that embed nothing.
    """
    return followers(schemas, schema.name) if isinstance(source["_id"], ObjectId) else []


class Spread(NamedTuple):
    """The copies and windows that the change of one document reaches.

    Attributes:
        holders: the relations whose copies it changes.
        targets: the ids in its own relations, whose reverse relations list it.
    """

    holders: Sequence[Relation]
    targets: Mapping[Relation, Sequence[ObjectId]]

    def without(self, left: set[tuple[JobKind, Relation]]) -> Spread:
        """Return the rest, where some of it is left to jobs."""
        holders = [relation for relation in self.holders if ("copies", relation) not in left]
        targets = {relation: ids for relation, ids in self.targets.items() if ("windows", relation) not in left}
        return Spread(holders, targets)


def leave_to_jobs(
    attempt: Attempt, schema: ModelSchema, document: Document, fields: Sequence[str] | None, spread: Spread
) -> Plan[tuple[Document, Spread]]:
    """Leave to jobs what is too much for one transaction; return the rest.

    The document comes first: it may have got another version.
    """
    left = yield from _choose(attempt, document, spread)
    if any(kind == "copies" for kind, _relation in left):
        document = yield from _raise_version(schema, document, fields)
    for kind, relation in left:
        ids = spread.targets[relation] if kind == "windows" else ()
        job = PutJob(kind, (schema.name, document["_id"]), relation, version_of(document), ids)
        attempt.jobs.add((yield job))
    return document, spread.without(left) if left else spread


def _choose(attempt: Attempt, document: Document, spread: Spread) -> Plan[set[tuple[JobKind, Relation]]]:
    """Choose what to leave to jobs; if necessary, count the copies."""
    if not attempt.is_bounded:
        return set()
    bounds = {relation: attempt.counts.take(relation, document) for relation in spread.holders}
    known = {relation: most for relation, most in bounds.items() if most is not None}
    if len(known) == len(spread.holders):
        sizes = _sizes(known, spread)
        if not attempt.beyond(sizes):
            attempt.spend(sum(sizes.values()))
            return set()
    most, copies = int(attempt.limit) + 1, {}
    for relation in spread.holders:
        copies[relation] = yield Count(relation.model, {f"{relation.name}._id": document["_id"]}, most)
    sizes = _sizes(copies, spread)
    left = attempt.beyond(sizes)
    attempt.spend(sum(size for name, size in sizes.items() if name not in left))
    return left


def _sizes(copies: Mapping[Relation, int], spread: Spread) -> dict[tuple[JobKind, Relation], int]:
    """Return how much a change would write: copies, and windows of targets."""
    sizes: dict[tuple[JobKind, Relation], int] = {}
    sizes.update((("windows", relation), len(ids)) for relation, ids in spread.targets.items())
    sizes.update((("copies", relation), size) for relation, size in copies.items())
    return sizes


def _raise_version(schema: ModelSchema, document: Document, fields: Sequence[str] | None) -> Plan[Document]:
    """Give a changed document a version above that of every copy.

    This also works if another tool has replaced it. A job skips copies with its version or above.
    """
    dated = {"$set": {f"{HIDDEN}.v": max(version_of(document), clock())}}
    return (yield UpdateOne(schema.name, {"_id": document["_id"]}, dated, fields)) or document


def renew_holders(attempt: Attempt, schema: ModelSchema, relation: Relation, source: Document) -> Plan[None]:
    """Write a changed document to holders with room; leave the others to a job."""
    update, holds = renewal_of(attempt.schemas, relation, source)
    most = _most_before(attempt, relation, source)
    try:
        met = yield UpdateMany(relation.model, holds, update, most)
    except (StorageError, TooLarge):
        if attempt.can.has_transactions:
            raise  # the operation begins again
        dated = yield from _raise_version(schema, source, [HIDDEN])
        yield from _leave_copies(attempt, schema, relation, dated)
        return
    if most is not None:
        stale = older(relation, source["_id"], "$lt", version_of(source))
        if (yield Count(relation.model, {**holds, **stale}, 1)):
            yield from _leave_copies(attempt, schema, relation, source)
            return
    if attempt.can.counts_locks:
        attempt.renewed.append((relation, source, met))


def _leave_copies(attempt: Attempt, schema: ModelSchema, relation: Relation, source: Document) -> Plan[None]:
    attempt.jobs.add((yield PutJob("copies", (schema.name, source["_id"]), relation, version_of(source))))


def _most_before(attempt: Attempt, relation: Relation, source: Document) -> int | None:
    """Return the most bytes of a holder to write at once; None for any."""
    checks_holders = attempt.size_checks and attempt.size_checks is SizeChecks.HOLDERS
    budget = attempt.holder_budget(relation.model)
    if budget is None and not checks_holders:
        return None
    copy = copy_of(source, attempt.fields_of(relation))
    most = most_bytes_before(budget, copy)
    if not checks_holders:
        return most
    fits = attempt.can.most_bytes - len(encode(copy)) - VERSION_BYTES
    return fits if most is None else min(fits, most)
