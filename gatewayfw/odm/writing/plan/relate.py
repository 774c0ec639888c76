"""Plan changes of one document's relations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.errors import Conflict, ValidationError, missing_related
from gatewayfw.odm.copies.rules import LOCK, assign, copies_by_id, embedded, has_form, ids_in, merged, without
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.writing.inputs import RelationInput
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Copy, Effects, Member
from gatewayfw.odm.writing.plan.locks import Sources, lock_sources, lock_targets
from gatewayfw.odm.writing.plan.steps import Plan
from gatewayfw.odm.writing.plan.windows import change_document, read_again, refuse_uncounted, settle
from gatewayfw.schemas import ModelSchema
from gatewayfw.storage import Document
from gatewayfw.storage.terms import Filter


@dataclass(frozen=True)
class _Addition:
    """What is added to one relation.

    Attributes:
        before: the copies that the relation has, by id.
        after: the ids that it will have, in order.
        removed: the ids that leave it.
        taken: the ids whose sources are copied, see `ids_to_copy`.
    """

    given: RelationInput
    before: dict[ObjectId, Copy]
    after: list[ObjectId]
    removed: list[ObjectId]
    taken: list[ObjectId]

    @property
    def others(self) -> list[ObjectId]:
        """The ids to lock that are not copied: their reverse relations may change."""
        kept = [id_ for id_ in self.given.ids if id_ not in self.taken] if self.given.flags else []
        return [*self.removed, *kept]

    def change(self, member: Member, sources: Sources) -> dict[str, dict[str, Any]]:
        """Return the update that stores the copies that the relation will have."""
        relation = self.given.relation
        fresh = {id_: member.take(relation, sources[relation.schema_name, id_]) for id_ in self.taken}
        return assign(relation.name, embedded(relation, [fresh.get(id_) or self.before[id_] for id_ in self.after]))


def add(
    attempt: Attempt, schema: ModelSchema, filter: Filter, inputs: Mapping[str, RelationInput], replace: bool
) -> Plan[Document | None]:
    """Add or replace one document's related documents; None for no match.

    Raises:
        NotFound: a related document does not exist.
        Conflict: a `single` relation is present and ``replace`` is false, or holds several documents, which
            another definition put there; or a required relation would be left empty.
        ValidationError: more ids than the relation's limit.
    """
    document = yield steps.touch(schema.name, filter, [*schema.pure, *inputs, HIDDEN], LOCK)
    if document is None:
        return None
    additions = [_addition(document, given, replace) for given in inputs.values()]
    member = Member(attempt, document, Effects())
    for one in additions:
        member.leave(one.given.relation, one.removed)
        member.enter(one.given, present=one.before)
    all_new = all(id_ not in one.before for one in additions for id_ in one.given.ids)
    sources = yield from lock_sources(
        attempt,
        [(one.given.relation, id_) for one in additions for id_ in one.taken],
        others=[(one.given.relation.schema_name, one.others) for one in additions],
        locked={(schema.name, document["_id"]): document} if isinstance(document["_id"], ObjectId) else None,
        entering=member.effects if all_new else None,
    )
    changes = [one.change(member, sources) for one in additions]
    return (yield from _store(attempt, schema, member, merged(*changes)))


def _addition(document: Document, given: RelationInput, replace: bool) -> _Addition:
    relation, value = given.relation, document.get(given.relation.name)
    present = ids_in(value)
    if relation.type == "single" and present and not replace:
        raise Conflict(messages.ALREADY_RELATED.format(model=relation.model, relation=relation.name))
    if relation.type == "single" and len(present) > 1:  # another definition put them there
        raise Conflict(messages.SEVERAL_RELATED.format(model=relation.model, relation=relation.name))
    if not given.ids and not relation.optional and (replace or not present):
        raise Conflict(messages.RELATION_REQUIRED.format(relation=relation.name))
    after = list(given.ids) if replace else [*present, *(id_ for id_ in given.ids if id_ not in present)]
    if relation.limit is not None and len(after) > relation.limit:
        raise ValidationError({f"relations.{relation.name}._ids": [messages.TOO_MANY_IDS.format(max=relation.limit)]})
    removed = [id_ for id_ in present if id_ not in after]
    return _Addition(given, copies_by_id(value), after, removed, ids_to_copy(given, value, after, replace))


def ids_to_copy(given: RelationInput, stored: object, after: Sequence[ObjectId], replace: bool) -> list[ObjectId]:
    """Return the ids whose sources an `add_relation` copies.

    ``after`` are those that the relation will have. A frozen relation that is replaced keeps the copies of ids that
    stay, so their sources may be gone. Of a value in the other form all are copied anew, because changes of their
    sources have passed over it.
    """
    if given.relation.frozen:
        present = ids_in(stored) if replace else ()
        return [id_ for id_ in given.ids if id_ not in present]
    return list(given.ids if has_form(given.relation.type, stored) else after)


def remove(
    attempt: Attempt, schema: ModelSchema, filter: Filter, inputs: Mapping[str, RelationInput]
) -> Plan[Document | None]:
    """Remove related documents from one document; None for no match.

    Raises:
        NotFound: an id is not related.
        Conflict: a required relation would be left empty.
    """
    document = yield steps.touch(schema.name, filter, [*schema.pure, *inputs, HIDDEN], LOCK)
    if document is None:
        return None
    for given in inputs.values():
        present = ids_in(document.get(given.relation.name))
        if missing := [id_ for id_ in given.ids if id_ not in present]:
            raise missing_related(given.relation.name, missing)
        if not given.relation.optional and given.ids and set(given.ids) == set(present):
            raise Conflict(messages.RELATION_REQUIRED.format(relation=given.relation.name))
    member = Member(attempt, document, Effects())
    for given in inputs.values():
        member.leave(given.relation, given.ids)
    yield from lock_targets(attempt, member.effects)
    changes = [without(given.relation, document, given.ids) for given in inputs.values()]
    return (yield from _store(attempt, schema, member, merged(*changes)))


def _store(
    attempt: Attempt, schema: ModelSchema, member: Member, update: dict[str, dict[str, Any]]
) -> Plan[Document | None]:
    """Change the document and its targets; return the document afterwards."""
    effects, own = member.effects, {"_id": member.document["_id"]}
    whole = yield from change_document(attempt, schema, own, merged(update, member.hidden.revised()), None, effects)
    yield from settle(attempt, effects)
    if whole is None:
        return None
    refuse_uncounted(attempt, schema, whole)
    return (yield from read_again(attempt, schema, whole, effects))
