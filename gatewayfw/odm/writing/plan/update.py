"""Plan the update of one document's pure fields."""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bson import ObjectId
from marshmallow import missing

from gatewayfw import messages
from gatewayfw.errors import StorageError, TooLarge, ValidationError
from gatewayfw.odm.copies.rules import (
    VERSION_BYTES,
    HiddenField,
    copy_of,
    followers_of,
    ids_in,
    merged,
    older,
    renewal_of,
    version_of,
)
from gatewayfw.odm.hidden import HIDDEN, RAISED, clock
from gatewayfw.odm.jobs.records import JobKind
from gatewayfw.odm.sizes.budgets import SizeChecks, most_bytes_before
from gatewayfw.odm.sizes.own_fields import Allowance, foresee
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.odm.writing.plan.steps import Plan, PutJob
from gatewayfw.odm.writing.plan.windows import change_document, read_again, refuse_uncounted, renew_members, settle
from gatewayfw.odm.writing.updates import Change, named_field, refusal_of
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.models import Link
from gatewayfw.schemas.values import HIGHEST, LOWEST
from gatewayfw.storage import Document
from gatewayfw.storage.documents import encode, value_at
from gatewayfw.storage.order import order_key
from gatewayfw.storage.terms import Filter, Paths
from gatewayfw.storage.update_operators import update_refusal

#: A part of a change that may be left to a job: copies in holders, or windows of targets.
_Part = tuple[JobKind, Relation]


def update(
    attempt: Attempt,
    schema: ModelSchema,
    filter: Filter,
    change: Change,
    shown: Iterable[str],
    allowance: Allowance | None = None,
) -> Plan[Document | None]:
    """Change one document's pure fields and every copy; None for no match.

    ``shown`` has the paths that the caller wants of the result. Windows may be long, so those that it
    does not name are not read. ``allowance`` is the limit on its size, if it needs one.

    Raises:
        ValidationError: the result no longer fits the model.
        DuplicateKey: a unique index refused it.
        TooLarge: ``allowance`` refused it, or a document would exceed the database's limit.
    """
    effects = Effects()
    document = yield from update_unsettled(attempt, schema, filter, change, shown, allowance, effects)
    if document is None:
        return None
    yield from settle(attempt, effects)
    return (yield from read_again(attempt, schema, document, effects))


def update_unsettled(
    attempt: Attempt,
    schema: ModelSchema,
    filter: Filter,
    change: Change,
    shown: Iterable[str],
    allowance: Allowance | None,
    effects: Effects,
) -> Plan[Document | None]:
    """Change one document, but leave its ``effects`` to be settled."""
    fields = _fields_to_read(attempt, schema, shown)
    document = yield from _change(attempt, schema, filter, change, fields, allowance, effects)
    if document is None:
        return None
    holders = [
        relation for relation in followers_of(attempt.schemas, schema, document) if _is_shown(attempt, relation, change)
    ]
    listings = _listings(attempt, schema, document, change)
    left = yield from _choose(attempt, document, holders, listings)
    if left:
        document = yield from _leave_to_jobs(attempt, schema, document, fields, left)
    for one in listings:
        if ("windows", one.relation) not in left:
            _change_members(attempt, document, change, one, effects)
    yield from renew_members(attempt, effects)
    for relation in holders:
        if ("copies", relation) not in left:
            yield from _renew_holders(attempt, schema, relation, document)
    return document


def _change(
    attempt: Attempt,
    schema: ModelSchema,
    filter: Filter,
    change: Change,
    fields: Paths,
    allowance: Allowance | None,
    effects: Effects,
) -> Plan[Document | None]:
    """Change the document itself, which locks it, and check the result."""
    before: Document | None = None
    if allowance is not None and allowance.looks_first:
        found: list[Document] = yield steps.find(schema.name, filter, allowance.names, limit=1)
        if not found:
            return None
        (before,) = found
        filter = {**filter, "_id": before["_id"]}
        if not attempt.can.has_transactions:  # which could undo the change
            allowance.check_change(change, before, foresee(before, change.update))
    update = merged(change.update, {"$inc": {f"{HIDDEN}.v": 1}}, RAISED)
    try:
        document = yield from change_document(attempt, schema, filter, update, fields, effects)
    except ValidationError as error:
        raise refusal_of(change, error) from error
    if document is None:
        return None
    refuse_uncounted(attempt, schema, document)
    check_result(schema, change, document)
    if change.calculated and (corrections := find_corrections(schema, change, document)):
        corrected = steps.update_one(schema.name, {"_id": document["_id"]}, {"$set": corrections}, fields)
        document = (yield corrected) or document
    if allowance is not None and attempt.can.has_transactions:
        allowance.check_change(change, before, document)
    return document


def _fields_to_read(attempt: Attempt, schema: ModelSchema, shown: Iterable[str]) -> list[str] | None:
    """Return the paths that an update reads of its document; None for all.

    They leave out windows that nobody asked for.
    """
    windows = attempt.schemas.get_related_relations(schema.name).keys()
    unseen = windows - {path.partition(".")[0] for path in shown}
    return [*schema.pure, *schema.relations, HIDDEN, *(windows - unseen)] if unseen else None


class _Listing(NamedTuple):
    """Targets in one relation, and their reverse relations that show what has changed."""

    relation: Relation
    ids: list[ObjectId]
    reverses: list[RelatedRelation]


def _is_shown(attempt: Attempt, link: Link, change: Change) -> bool:
    """Tell whether copies show what has changed."""
    return change.retires or not change.named.isdisjoint(attempt.fields_of(link))


def _listings(attempt: Attempt, schema: ModelSchema, document: Document, change: Change) -> list[_Listing]:
    found = []
    for relation in schema.relations.values():
        reverses = relation.related_relations.values()
        if shown := [one for one in reverses if _is_shown(attempt, one, change)]:
            found.append(_Listing(relation, ids_in(document.get(relation.name)), shown))
    return found


def _change_members(attempt: Attempt, document: Document, change: Change, listing: _Listing, effects: Effects) -> None:
    """Note which copies in reverse relations to replace, which windows to recompute."""
    for reverse in listing.reverses:
        if reverse.window is None or reverse.window.sort.field not in change.named:
            # A `single` reverse holds no other ids; null would be found where it holds nothing.
            if listing.ids and (reverse.type == "multiple" or isinstance(document["_id"], ObjectId)):
                copy = copy_of(document, attempt.fields_of(reverse))
                effects.renewals.append((reverse, listing.ids, copy))
            continue
        hidden = HiddenField(document)
        for id_ in listing.ids:
            if not hidden.is_out(reverse, id_):
                effects.recompute(reverse, id_)


# -- what is left to jobs


def _choose(
    attempt: Attempt, document: Document, holders: Sequence[Relation], listings: Sequence[_Listing]
) -> Plan[set[_Part]]:
    """Choose what is too much for one transaction; if necessary, count the copies."""
    if not attempt.is_bounded:
        return set()
    sizes: dict[_Part, int] = {("windows", one.relation): len(one.ids) for one in listings}
    known = {relation: attempt.counts.take(relation, document) for relation in holders}
    bounds = {**sizes, **{("copies", relation): most for relation, most in known.items() if most is not None}}
    if None not in known.values() and not attempt.beyond(bounds):
        attempt.spend(sum(bounds.values()))
        return set()
    most = int(attempt.limit) + 1
    for relation in holders:
        sizes["copies", relation] = yield steps.count(relation.model, {f"{relation.name}._id": document["_id"]}, most)
    left = attempt.beyond(sizes)
    attempt.spend(sum(size for part, size in sizes.items() if part not in left))
    return left


def _leave_to_jobs(
    attempt: Attempt, schema: ModelSchema, document: Document, fields: Paths, left: set[_Part]
) -> Plan[Document]:
    """Leave parts to jobs; return the document, which may have got another version."""
    if any(kind == "copies" for kind, _relation in left):
        document = yield from _raise_version(schema, document, fields)
    for kind, relation in left:
        ids = ids_in(document.get(relation.name)) if kind == "windows" else ()
        job = PutJob(kind, (schema.name, document["_id"]), relation, version_of(document), ids)
        attempt.jobs.add((yield job))
    return document


def _raise_version(schema: ModelSchema, document: Document, fields: Paths) -> Plan[Document]:
    """Give a changed document a version above that of every copy.

    This also works if another tool has replaced it. A job skips copies with its version or above.
    """
    dated = {"$set": {f"{HIDDEN}.v": max(version_of(document), clock())}}
    return (yield steps.update_one(schema.name, {"_id": document["_id"]}, dated, fields)) or document


def _renew_holders(attempt: Attempt, schema: ModelSchema, relation: Relation, source: Document) -> Plan[None]:
    """Write a changed document to holders with room; leave the others to a job."""
    update, holds = renewal_of(attempt.schemas, relation, source)
    most = _most_before(attempt, relation, source)
    try:
        met = yield steps.update_many(relation.model, holds, update, most)
    except (StorageError, TooLarge):
        if attempt.can.has_transactions:
            raise  # the operation begins again
        dated = yield from _raise_version(schema, source, [HIDDEN])
        yield from _leave_copies(attempt, schema, relation, dated)
        return
    if most is not None:
        stale = older(relation, source["_id"], "$lt", version_of(source))
        if (yield steps.count(relation.model, {**holds, **stale}, 1)):
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


def check_result(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> None:
    """Check the current values of the fields that operators changed.

    Raises:
        ValidationError: one no longer fits its field.
    """
    calculated = {path: value_at(document, path) for path, _ in change.calculated}
    # A permissive storage holds numbers beyond 64 bits.
    if beyond := [path for path, one in calculated.items() if isinstance(one, int) and not LOWEST <= one <= HIGHEST]:
        raise update_refusal(beyond, messages.BEYOND_64_BITS)
    for name in change.recheck:
        field = schema.pure[name]
        if name in document:
            checked = check_value(field, document[name], f"update.{name}")
            if not _is_kept(document[name], checked, name, calculated):
                raise update_refusal([name], messages.NOT_KEPT)
        elif field.required:
            raise ValidationError({f"update.{name}": [messages.REQUIRED]})


def _is_kept(stored: Any, checked: Any, path: str, calculated: Container[str]) -> bool:
    """Tell whether a value that was checked again has all that is stored.

    It may have defaults beside that; what was ``calculated`` is corrected later.
    """
    if isinstance(stored, Mapping) and isinstance(checked, Mapping):
        parts = ((one, checked.get(key, missing), f"{path}.{key}") for key, one in stored.items())
        return all(_is_kept(*part, calculated) for part in parts)
    if isinstance(stored, list) and isinstance(checked, list) and len(stored) == len(checked):
        return all(_is_kept(one, other, "", ()) for one, other in zip(stored, checked, strict=True))
    return path in calculated or order_key(stored) == order_key(checked)


def find_corrections(schema: ModelSchema, change: Change, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results that their fields would store otherwise, corrected, by path.

    For example, MongoDB multiplies an absent decimal to 0, without its places, and adds parts of a microsecond.

    Raises:
        ValidationError: one does not fit its field.
    """
    corrections: dict[str, Any] = {}
    for path, _ in change.calculated:
        value = value_at(document, path)
        stored = check_value(named_field(schema, path), value, f"update.{path}")
        if getattr(stored, "bid", stored) != getattr(value, "bid", value):
            corrections[path] = stored
    return corrections
