"""Lock documents that an operation copies, or that list its document.

A lock is a real write in the same transaction. Two operations that overlap conflict on the documents that
both lock, so all changes of one document have one order: what is copied after a change has the new content, and a
change finds each copy that was made before it. Each function here locks in the order of (collection, `_id`).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from bson import ObjectId

from gatewayfw.errors import TooLarge, missing_related
from gatewayfw.odm.copies.rules import assign, entry, merged
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.ids import key_of, ordered
from gatewayfw.odm.sizes.budgets import is_small
from gatewayfw.odm.writing.plan import steps
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.effects import Effects, Key
from gatewayfw.odm.writing.plan.steps import FilteredUpdate, Guess, Plan
from gatewayfw.schemas import Relation
from gatewayfw.storage import Document, Lock

#: Documents that this operation has locked and read, by (model, `_id`).
Sources = dict[tuple[str, ObjectId], Document]
NO_CHANGES: Mapping[str, Sequence[FilteredUpdate]] = MappingProxyType({})
_VERSION = f"{HIDDEN}.v"


class Crowded(TooLarge):
    """A window may exceed its share and must be measured; internal to the ODM."""


class _Wanted(NamedTuple):
    """The copies wanted of one model: how many of each document, and which fields."""

    copies: dict[ObjectId, int]
    fields: set[str]


def lock_all(
    attempt: Attempt,
    ids: Iterable[tuple[str, Iterable[ObjectId]]],
    changes: Mapping[str, Sequence[FilteredUpdate]] = NO_CHANGES,
) -> Plan[None]:
    """Lock documents, then do changes, by model.

    Raises:
        Marked: one of these documents has a cut window, which must be measured.
    """
    wanted = _by_model(ids)
    for model in sorted(wanted.keys() | changes.keys()):
        listed = ordered(wanted.get(model, ()))
        if listed or model in changes:
            yield steps.touch_many(model, listed, attempt.lock, changes.get(model, ()))


def lock_targets(
    attempt: Attempt, effects: Effects, changes: Mapping[str, Sequence[FilteredUpdate]] = NO_CHANGES
) -> Plan[None]:
    """Lock targets that the operation has not locked yet, then do changes, by model.

    Raises:
        Marked: as for `lock_all`.
    """
    targets = {model: ids - effects.locked.get(model, set()) for model, ids in effects.targets().items()}
    new = [(model, id_) for model, ids in targets.items() for id_ in ids]
    if len(new) == 1 and not changes and not effects.shared and attempt.trusts_windows:
        yield from _lock_and_ask(attempt, *new[0], effects)
    else:
        yield from lock_all(attempt, targets.items(), changes)
    for model, ids in targets.items():
        effects.locked.setdefault(model, set()).update(ids)


def _lock_and_ask(attempt: Attempt, model: str, id_: ObjectId, effects: Effects) -> Plan[None]:
    """Lock a target, and find out whether it lists members that leave it.

    If it does, that takes one command.
    """
    left = [key for key in effects.departures if key[0].target == model and key[1] == id_]
    lock = steps.touch(model, {"_id": id_}, (), attempt.lock)
    if not left:
        yield lock
        return
    asked = steps.touch(model, {"_id": id_, **listing(left, effects)}, (), attempt.lock)
    _document, is_listed = yield Guess(asked, otherwise=lock)
    effects.decide(left, {id_} if is_listed else ())


def listing(keys: Iterable[Key], effects: Effects) -> dict[str, Any]:
    """Return the filter of targets that list one of the members that leave windows."""
    gone: dict[str, dict[Hashable, Any]] = {}
    for key in keys:
        members = gone.setdefault(f"{key[0].name}._id", {})
        members.update((key_of(member), member) for member in effects.departures[key])
    ways = [{path: {"$in": ordered(members.values())}} for path, members in sorted(gone.items())]
    return ways[0] if len(ways) == 1 else {"$or": ways}


def lock_sources(
    attempt: Attempt,
    copied: Iterable[tuple[Relation, ObjectId]],
    others: Iterable[tuple[str, Iterable[ObjectId]]] = (),
    locked: Mapping[tuple[str, ObjectId], Document] | None = None,
    entering: Effects | None = None,
) -> Plan[Sources]:
    """Lock the documents to copy and others; return those to copy.

    ``locked`` has the documents that this operation has locked already. ``entering`` has the effects of new
    members: a lock writes those of them that need no look at the window, and notes that they are written.

    Raises:
        NotFound: a document to copy does not exist; the message names all such ids of its model.
        Marked: as for `lock_all`.
    """
    wanted = _collect(attempt, copied)
    to_lock = _by_model((*others, *((model, one.copies) for model, one in wanted.items())))
    sources = dict(locked or {})
    for model in sorted(to_lock):
        ids = ordered(id_ for id_ in to_lock[model] if (model, id_) not in sources)
        one = wanted.get(model)
        if one is None:
            yield from lock_all(attempt, [(model, ids)])
            continue
        # A member enters one document, and leaves at most one other.
        if entering is not None and attempt.lets_members_in and len(ids) <= 2 and len(one.copies.keys() & ids) == 1:
            found = []
            for id_ in ids:
                if id_ in one.copies:
                    found = yield from _lock_and_enter(attempt, model, id_, one, entering)
                else:
                    yield from _lock_and_ask(attempt, model, id_, entering)
        else:
            found = yield from _lock_and_read(attempt, model, ids, one)
        sources.update({(model, document["_id"]): document for document in found})
        if missing := [id_ for id_ in ordered(one.copies) if (model, id_) not in sources]:
            raise missing_related(model, missing)
    return sources


def _collect(attempt: Attempt, copied: Iterable[tuple[Relation, ObjectId]]) -> dict[str, _Wanted]:
    found: dict[str, _Wanted] = {}
    for relation, id_ in copied:
        one = found.get(relation.schema_name)
        if one is None:
            one = found[relation.schema_name] = _Wanted({}, {_VERSION})
        one.copies[id_] = one.copies.get(id_, 0) + 1
        one.fields.update(attempt.fields_of(relation))
    return found


def _lock_for(attempt: Attempt, wanted: _Wanted) -> Lock:
    """Return a lock that counts the copies about to be made."""
    most = max(wanted.copies.values())
    return attempt.lock if most == 1 else replace(attempt.lock, step=most)


def _lock_and_read(attempt: Attempt, model: str, ids: Sequence[ObjectId], wanted: _Wanted) -> Plan[list[Document]]:
    """Lock documents and read those to copy; a single one takes one command."""
    fields, lock = sorted(wanted.fields), _lock_for(attempt, wanted)
    read = [id_ for id_ in ids if id_ in wanted.copies]
    if len(ids) == len(read) == 1:
        return _listed((yield steps.touch(model, {"_id": ids[0]}, fields, lock)))
    if ids:
        yield steps.touch_many(model, ids, lock)
    found: list[Document] = (yield steps.find(model, {"_id": {"$in": read}}, fields)) if read else []
    return found


def _lock_and_enter(
    attempt: Attempt, model: str, id_: ObjectId, wanted: _Wanted, effects: Effects
) -> Plan[list[Document]]:
    """Lock and read one document, if possible in one command with what enters it."""
    here = [key for key in (*effects.entries, *effects.claims) if key[1] == id_ and key[0].target == model]
    pushes = _pushes(attempt, here, effects) if here else None
    if pushes is None:
        return (yield from _lock_and_read(attempt, model, [id_], wanted))
    (filter, update), fields, lock = pushes, sorted(wanted.fields), _lock_for(attempt, wanted)
    # Most windows that cannot be pushed into are empty. `settle` checks whether this one was.
    alone = {key: effects.entries[key] for key in here if key in effects.entries}
    first = merged(*(assign(reverse.name, copies) for (reverse, _), copies in alone.items()))
    pushed = steps.touch(model, {"_id": id_, **filter}, fields, lock, update)
    document, entered = yield Guess(pushed, otherwise=steps.touch(model, {"_id": id_}, fields, lock, first))
    if entered:
        effects.written.update(here)
    else:
        effects.presumed.update(alone)
    return _listed(document)


def _pushes(
    attempt: Attempt, keys: Iterable[Key], effects: Effects
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]] | None:
    """Return the filter and update that let members in; None for a recomputed window."""
    filter: dict[str, Any] = {}
    update: dict[str, dict[str, Any]] = {}
    for reverse, id_ in keys:
        if (reverse, id_) in effects.claims:
            update = merged(update, assign(reverse.name, effects.claims[reverse, id_]))
            continue
        copies, budget = effects.entries[reverse, id_], attempt.window_budget(reverse)
        found = None if reverse.window is None else entry(reverse, reverse.window, copies)
        if found is None or not all(is_small(budget, copy) for copy in copies):
            return None
        filter.update(found[0])
        update = merged(update, {"$push": {reverse.name: found[1]}})
    return filter, update


def _listed(document: Document | None) -> list[Document]:
    return [] if document is None else [document]


def _by_model(listed: Iterable[tuple[str, Iterable[ObjectId]]]) -> dict[str, set[ObjectId]]:
    found: dict[str, set[ObjectId]] = {}
    for model, ids in listed:
        found.setdefault(model, set()).update(ids)
    return found
