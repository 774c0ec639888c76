"""Write what an operation changes in its targets: windows and `single` reverses.

A window is read from its members through an index, never edited from memory, and with ``_id`` as its last sort key
there is only one right content. The usual way measures nothing that the definitions bound. Where a window may exceed
its share, where a target has a cut window, or where the database refuses a document that would be too large, each
target is filled anew with what fits.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.errors import StorageError, TooLarge
from gatewayfw.odm.copies.rules import CUT, LOCK, assign, holding, ids_in, merged, place, single_reverse, window_query
from gatewayfw.odm.hidden import HIDDEN, cuts_of, revision_of
from gatewayfw.odm.ids import ordered
from gatewayfw.odm.sizes.budgets import (
    bytes_of_member,
    fitted,
    fitting,
    holder_fits,
    is_small,
    room_in,
    share_of,
    share_within,
)
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Copy, Effects, Key
from gatewayfw.odm.writing.plan.locks import Crowded, listing, lock_targets
from gatewayfw.odm.writing.plan.steps import FilteredUpdate, FindMembers, Plan
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation
from gatewayfw.storage import Document
from gatewayfw.storage.documents import encode
from gatewayfw.storage.terms import Filter, Paths, Update

_LOG = logging.getLogger("gatewayfw.odm")


def renew_members(attempt: Attempt, effects: Effects) -> Plan[None]:
    """Lock the targets of an operation, and replace members' copies in them.

    Where sizes are checked, `settle` replaces the copies.

    Raises:
        Marked: as for `lock_all`.
        Crowded: a window may exceed its share and must be measured.
    """
    if not attempt.size_checks:
        try:
            changes = _replacements(attempt, effects)
            yield from lock_targets(attempt, effects, changes)
        except TooLarge:
            if attempt.can.has_transactions:
                raise
        else:
            effects.renewals.clear()
            return
    yield from lock_targets(attempt, effects)


def _replacements(attempt: Attempt, effects: Effects) -> dict[str, list[FilteredUpdate]]:
    """Return the changes, by model, that replace members' copies in targets."""
    found: dict[str, list[FilteredUpdate]] = {}
    for reverse, ids, copy in effects.renewals:
        if reverse.type == "multiple" and not is_small(attempt.window_budget(reverse), copy):
            raise Crowded()
        path, holds = place(reverse, copy["_id"])
        found.setdefault(reverse.target, []).append(({"_id": {"$in": list(ids)}, **holds}, {"$set": {path: copy}}))
    return found


def settle(attempt: Attempt, effects: Effects) -> Plan[None]:
    """Write an operation's effects on its targets: releases, then windows and claims.

    It leaves out what their locks have written.

    Raises:
        Crowded: a window may exceed its share and must be measured.
    """
    if not (attempt.size_checks or effects.removed or effects.renewals):
        try:
            return (yield from _settle(attempt, effects))
        except TooLarge:
            if attempt.can.has_transactions:
                raise
    yield from _fill(attempt, effects)


def _settle(attempt: Attempt, effects: Effects) -> Plan[None]:
    for (reverse, _key), (member_id, ids) in effects.releases.items():
        if ids:
            held = {"_id": {"$in": ordered(ids)}, **holding(reverse, member_id)}
            yield steps.update_many(reverse.target, held, {"$unset": {reverse.name: ""}})
    yield from _ask_for_departed(attempt, effects)
    values: dict[Key, object] = {}
    for reverse, ids in effects.to_recompute().items():
        for id_ in ordered(ids):
            values[reverse, id_] = yield from window(attempt, reverse, id_)
    values.update((key, copy) for key, copy in effects.claims.items() if key not in effects.written)
    changes: dict[str, dict[ObjectId, dict[str, dict[str, Any]]]] = {}
    for key, value in values.items():
        if key in effects.presumed and value == effects.presumed[key]:
            continue
        reverse, id_ = key
        written = changes.setdefault(reverse.target, {})
        written[id_] = merged(written.get(id_, {}), assign(reverse.name, value))
    for model in sorted(changes):
        yield steps.update_each(model, [(id_, changes[model][id_]) for id_ in ordered(changes[model])])


def _ask_for_departed(attempt: Attempt, effects: Effects) -> Plan[None]:
    """Ask, once for each model, which targets list members that leave them."""
    changed = effects.to_recompute()
    effects.decide([key for key in effects.departures if key[1] in changed.get(key[0], ())], ())
    left: dict[str, list[Key]] = {}
    for key in effects.departures:
        left.setdefault(key[0].target, []).append(key)
    for model in sorted(left):
        listed = {id_ for _reverse, id_ in left[model]}
        if attempt.trusts_windows:
            filter = {"_id": {"$in": ordered(listed)}, **listing(left[model], effects)}
            listed = {target["_id"] for target in (yield steps.find(model, filter, ()))}
        effects.decide(left[model], listed)


def window(attempt: Attempt, reverse: RelatedRelation, target_id: ObjectId) -> Plan[list[Copy]]:
    """Return the window of a `multiple` reverse relation, recomputed from its members.

    Raises:
        Crowded: the members exceed its share.
    """
    budget = attempt.window_budget(reverse)
    query = window_query(reverse, attempt.fields_of(reverse), target_id)
    if query is None:
        return []
    copies: list[Copy] = yield FindMembers(query, None if budget is None else budget.all)
    if budget is not None and sum(map(bytes_of_member, copies)) > budget.all:
        raise Crowded()
    return copies


# -- where sizes are checked


def _fill(attempt: Attempt, effects: Effects) -> Plan[None]:
    """Write an operation's effects on its targets, so that each fits.

    Each target is read as a whole, and all of its reverse relations are written together.
    """
    measured = []
    for renewal in effects.renewals:
        if not (yield from _replace_with_room(attempt, *renewal)):
            measured.append(renewal)
    effects.renewals[:] = measured
    concerned = effects.targets()
    for reverse, listed, _copy in effects.renewals:
        if reverse.type == "single":  # no lock concerned it
            yield steps.touch_many(reverse.target, ordered(listed), LOCK)
            concerned.setdefault(reverse.target, set()).update(listed)
    for reverse, id_ in effects.removed:
        concerned.setdefault(reverse.target, set()).add(id_)
    for model in sorted(concerned):
        for id_ in ordered(concerned[model]):
            for target in (yield steps.find(model, {"_id": id_}, limit=1, stored=True)):
                if update := (yield from _filled(attempt, model, target, effects)):
                    yield steps.update_each(model, [(id_, update)])


def _replace_with_room(attempt: Attempt, reverse: RelatedRelation, ids: Sequence[ObjectId], copy: Copy) -> Plan[bool]:
    """Replace a copy in crowded windows whose documents leave room for it.

    False if another target must be measured. As entering members measure them, such windows may fill their share.
    """
    budget = attempt.window_budget(reverse)
    if reverse.type == "single" or budget is None:
        return False
    (path, holds), noted = place(reverse, copy["_id"]), f"{CUT}.{reverse.name}"
    targets, is_cut = {"_id": {"$in": list(ids)}}, {"$gte": 0}
    whole = {**targets, **holds, noted: {"$exists": True, "$not": is_cut}}
    room = 2 * budget.all - bytes_of_member(copy)
    replaced = yield steps.update_many(reverse.target, whole, {"$set": {path: copy}}, room)
    concerned = {**targets, "$or": [holds, {noted: is_cut}]}
    return bool(replaced == len(ids) or replaced == (yield steps.count(reverse.target, concerned)))


def _filled(
    attempt: Attempt, model: str, target: Mapping[str, Any], effects: Effects
) -> Plan[dict[str, dict[str, Any]]]:
    """Return the update that gives a target all reverse relations that fit."""
    reverses = attempt.schemas.get_related_relations(model).values()
    windows = {one.name: one for one in reverses if one.type == "multiple"}
    singles = {one.name: _single(one, target, effects) for one in reverses if one.type == "single"}
    # As they are stored: in Python 1, 1.0 and True are equal.
    changed = {name: copy for name, copy in singles.items() if encode({"": copy}) != encode({"": target.get(name)})}
    rest = {name: value for name, value in target.items() if name not in windows and name not in singles}
    kept = {**rest, **_present({name: copy for name, copy in singles.items() if name not in changed})}
    wanted = _present(changed)
    fit = fitting(wanted, room_in(kept, windows, attempt.can.most_bytes))
    if lost := sorted(wanted.keys() - fit):
        _LOG.error("%s %s is too large and loses %s", model, target["_id"], ", ".join(lost))
        changed.update(dict.fromkeys(lost))
    room = room_in({**kept, **_present(changed)}, windows, attempt.can.most_bytes)
    share = share_within(room, len(windows), share_of(attempt.schemas.settings.windows_bytes, len(windows)))
    members = {}
    for name, reverse in windows.items():
        query = window_query(reverse, attempt.fields_of(reverse), target["_id"])
        members[name] = [] if query is None else (yield FindMembers(query, share, stored=True))
    lists, noted = fitted(members, share)
    for name in {name for name, share in noted.items() if share is not None} - cuts_of(target).keys():
        _LOG.warning("%s %s is too large for all of %s: it keeps those that fit", model, target["_id"], name)
    updates = [assign(name, value) for name, value in (*changed.items(), *lists.items())]
    # If there is not even room for the note, the window stays empty, and the integrity check reports it.
    return merged(*updates, _marking(target, noted if room >= 0 else {}))


def _single(reverse: RelatedRelation, target: Mapping[str, Any], effects: Effects) -> Any:
    """Return the new value of a target's `single` reverse; None for nothing."""
    key = (reverse, target["_id"])
    value = effects.removed.get(key, target.get(reverse.name))
    member = next(iter(ids_in(value)), None)
    if member is not None and target["_id"] in effects.releases.get((reverse, member), (member, ()))[1]:
        value = None
    for renewed, ids, copy in effects.renewals:
        if renewed == reverse and target["_id"] in ids and copy["_id"] == member:
            value = copy
    return effects.claims.get(key, value)


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not missing."""
    return {name: value for name, value in values.items() if value is not None}


def _marking(target: Mapping[str, Any], noted: Mapping[str, int | None]) -> dict[str, dict[str, Any]]:
    """Return the update that notes which windows are cut or must be measured."""
    if noted:
        return {"$set": {CUT: dict(noted)}}
    hidden = target.get(HIDDEN)
    if not isinstance(hidden, Mapping) or "cut" not in hidden:
        return {}
    return {"$unset": {CUT if len(hidden) > 1 else HIDDEN: ""}}


# -- for jobs


def refresh(attempt: Attempt, relation: Relation, ids: Iterable[ObjectId]) -> Plan[None]:
    """Lock targets and correct the reverse relations that a relation causes on them.

    A `multiple` one becomes the exact window; a `single` one becomes a fresh copy of its member, or
    nothing if that member is gone or no longer embeds the target.
    """
    targets = ordered(ids)
    yield steps.touch_many(relation.schema_name, targets, LOCK)
    effects = Effects()
    for reverse in relation.related_relations.values():
        if reverse.type == "multiple":
            for id_ in targets:
                effects.recompute(reverse, id_)
        else:
            yield from _refresh_single(attempt, reverse, targets, effects)
    yield from settle(attempt, effects)


def _refresh_single(
    attempt: Attempt, reverse: RelatedRelation, targets: Sequence[ObjectId], effects: Effects
) -> Plan[None]:
    path = f"{reverse.relation}._id"
    fields = attempt.fields_of(reverse)
    claimable = {"_id": {"$in": list(targets)}, reverse.name: {"$exists": True}}
    held = yield steps.find(reverse.target, claimable, [f"{reverse.name}._id"])
    claimed = {target["_id"]: next(iter(ids_in(target.get(reverse.name))), None) for target in held}
    wanted = {"_id": {"$in": [id_ for id_ in claimed.values() if id_]}, path: {"$in": list(targets)}}
    found = (yield steps.find(reverse.member, wanted, [*fields, path])) if claimed else ()
    members = {member["_id"]: member for member in found}
    for target_id, member_id in claimed.items():
        effects.claims[reverse, target_id] = single_reverse(reverse, fields, target_id, members.get(member_id))


# -- windows that give way: those of the operation's own document, and of holders


def change_document(
    attempt: Attempt, schema: ModelSchema, filter: Filter, update: Update, fields: Paths, effects: Effects
) -> Plan[Document | None]:
    """Change the operation's own document; return it afterwards, None for no match.

    Where sizes are checked it loses its reverse relations, and ``effects`` notes what `settle` needs to put them back.
    """
    if not attempt.size_checks:
        try:
            document: Document | None = yield steps.update_one(schema.name, filter, update, fields)
        except TooLarge:
            if attempt.can.has_transactions:
                raise  # the operation begins again, and measures
        else:
            return document
    before = yield steps.touch(schema.name, filter, reverse_fields(attempt, schema), LOCK)
    if before is None:
        return None
    gone = emptied(attempt, schema, before, effects)
    effects.is_emptied = bool(gone)
    document = yield steps.update_one(schema.name, {**filter, "_id": before["_id"]}, merged(update, gone), fields)
    return document


def reverse_fields(attempt: Attempt, schema: ModelSchema) -> list[str]:
    """Return what `emptied` needs to know of a document: windows, other reverses."""
    reverses = attempt.schemas.get_related_relations(schema.name).values()
    return [one.name if one.type == "single" else f"{one.name}._id" for one in reverses]


def emptied(
    attempt: Attempt, schema: ModelSchema, document: Mapping[str, Any], effects: Effects
) -> dict[str, dict[str, Any]]:
    """Return the update that removes all reverse relations from a document.

    ``effects`` notes what `settle` needs to put them back.
    """
    reverses = attempt.schemas.get_related_relations(schema.name).values()
    present = [one for one in reverses if one.name in document]
    id_ = document["_id"]
    for reverse in present if isinstance(id_, ObjectId) else ():  # nothing can embed another one
        if reverse.type == "multiple":
            effects.recompute(reverse, id_)
        else:
            effects.removed[reverse, id_] = document[reverse.name]
    return {"$unset": {reverse.name: "" for reverse in present}} if present else {}


def refuse_uncounted(attempt: Attempt, schema: ModelSchema, document: Document) -> None:
    """Refuse a change that its counter did not count, so that this is reset."""
    if not revision_of(document) and attempt.can.has_transactions:
        error = StorageError()
        error.met = schema.name, [{"_id": document["_id"]}]
        raise error


def read_again(attempt: Attempt, schema: ModelSchema, document: Document, effects: Effects) -> Plan[Document | None]:
    """Return the current document: the effects may have changed it again.

    They do in a model related to itself, also through a frozen relation, which has reverse relations, too; and
    where its reverse relations were removed to make room.
    """
    embedders = attempt.schemas.embedders(schema.name)
    if not effects.is_emptied and all(relation.model != schema.name for relation in embedders):
        return document
    found: list[Document] = yield steps.find(schema.name, {"_id": document["_id"]}, limit=1)
    return found[0] if found else None


def renew_with_room(attempt: Attempt, model: str, filter: Filter, update: Update) -> Plan[None]:
    """Renew the copy in one holder, whose windows give way to it.

    Raises:
        TooLarge: even then the holder has no room for it.
    """
    schema = attempt.schemas.get_schema(model)
    # Its own change locks it; a touch would write this large document once more.
    fields = [*reverse_fields(attempt, schema), *schema.relations]
    for holder in (yield steps.find(model, filter, fields, limit=1)):
        effects = Effects()
        yield steps.update_many(model, filter, merged(update, emptied(attempt, schema, holder, effects)))
        (after,) = yield steps.find(model, {"_id": holder["_id"]}, [*schema.relations], limit=1)
        if not holder_fits(attempt.holder_budget(model), schema, holder, after):
            raise TooLarge(messages.NO_ROOM_FOR_COPIES)
        yield from settle(attempt, effects)
