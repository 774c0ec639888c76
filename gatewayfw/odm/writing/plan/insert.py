"""Plan the insert of documents."""

from collections.abc import Collection, Sequence

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.errors import Conflict
from gatewayfw.odm.copies.rules import embedded, ids_in
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.writing.inputs import NewDocument
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects, Member
from gatewayfw.odm.writing.plan.locks import Sources, lock_sources
from gatewayfw.odm.writing.plan.steps import FindBlocked, Plan
from gatewayfw.odm.writing.plan.windows import settle
from gatewayfw.schemas import ModelSchema
from gatewayfw.storage import Document


def insert(attempt: Attempt, schema: ModelSchema, new: Sequence[NewDocument]) -> Plan[list[Document]]:
    """Insert documents with their copies, and return them as stored.

    Raises:
        NotFound: a related document does not exist.
        DuplicateKey: a unique index refused one.
        Conflict: an ``_id`` belonged to a deleted document whose copies are still being removed,
            or which a frozen copy still shows.
    """
    chosen = [one.fields["_id"] for one in new if one.version]
    if chosen:
        yield from _refuse_taken(attempt, schema, chosen)
    effects = Effects()
    members = [_member(attempt, one, effects) for one in new]
    sources = yield from lock_sources(
        attempt,
        [(given.relation, id_) for one in new for given in one.inputs.values() for id_ in given.ids],
        entering=None if chosen else effects,  # a window may still list what had the same _id
    )
    counts = attempt.can.counts_locks and attempt.holder_budget(schema.name) is not None
    documents = [_document(attempt, one, member, sources, counts) for one, member in zip(new, members, strict=True)]
    yield steps.insert(schema.name, documents)
    yield from settle(attempt, effects)
    return documents


def _refuse_taken(attempt: Attempt, schema: ModelSchema, chosen: Collection[ObjectId]) -> Plan[None]:
    """Refuse the chosen ids of deleted documents that have copies.

    Otherwise the holder of a frozen copy would become a member of a document that it was never related to.
    """
    if attempt.is_bounded and (blocked := (yield FindBlocked(schema.name, list(chosen)))):
        raise Conflict(messages.STILL_SPREAD.format(model=schema.name, ids=", ".join(map(str, blocked))))
    for relation in attempt.schemas.embedders(schema.name):
        if relation.frozen:
            path = f"{relation.name}._id"
            for holder in (yield steps.find(relation.model, {path: {"$in": list(chosen)}}, [path], limit=1)):
                shown = ", ".join(str(id_) for id_ in ids_in(holder[relation.name]) if id_ in chosen)
                raise Conflict(messages.STILL_FROZEN.format(holder=relation.model, model=schema.name, ids=shown))


def _member(attempt: Attempt, new: NewDocument, effects: Effects) -> Member:
    """Return a new document that enters its targets, without its copies."""
    member = Member(attempt, new.fields, effects)
    member.hidden.v = new.version
    for given in new.inputs.values():
        member.enter(given)
    return member


def _document(attempt: Attempt, new: NewDocument, member: Member, sources: Sources, counts: bool) -> Document:
    """Return a new document as stored.

    It has its lock counter if it ``counts`` or needs one. Without it, its first lock would make it grow, so that a full
    document could not even be deleted.
    """
    document = dict(new.fields)
    for name, given in new.inputs.items():
        relation = given.relation
        if copies := [member.take(relation, sources[relation.schema_name, id_]) for id_ in given.ids]:
            document[name] = embedded(relation, copies)
    hidden = member.hidden.document()
    if counts or (new.version and attempt.can.counts_locks):
        hidden["rev"] = new.version  # a caller's own _id: above that of any earlier document with it
    if new.version:
        hidden["r"] = new.version  # likewise
    if hidden:
        document[HIDDEN] = hidden
    return document
