"""Lock sources and targets, and write an operation's effects on its targets.

An operation that copies a document, or decides a window of it, *touches* it first: a real write in the
same transaction. `gatewayfw.odm.writing.writes` says why this keeps copies right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from bson import ObjectId

from gatewayfw.errors import TooLarge, missing_related
from gatewayfw.odm.copies.rooms import Room, bytes_of_member, is_small, room_in_window
from gatewayfw.odm.copies.rules import CUT, LOCK, assign, copy_of, holding, ids_in, merged, place, renewal
from gatewayfw.odm.copies.windows import entry, single_reverse, window_query
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.ids import ordered
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.odm.writing.effects import UNSETTLED, Effects, Key, Settled
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.schemas.models import Link
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.terms import Filter, Lock, Update

#: Documents that this operation has locked and read, by (model, `_id`).
Sources = dict[tuple[str, ObjectId], Document]
_Change = tuple[Filter, Update]
_VERSION = f"{HIDDEN}.v"
NO_CHANGES: Mapping[str, Sequence[_Change]] = MappingProxyType({})


class Crowded(TooLarge):
    """A window may exceed its share and must be measured; internal to the ODM."""


class _Wanted(NamedTuple):
    """The copies wanted of one model: how many of each document, and which fields."""

    copies: dict[ObjectId, int]
    fields: set[str]


class Targets:
    """The sources and targets of an operation, in one storage."""

    #: How to lock documents: this class must not write a target with a cut window.
    by = replace(LOCK, unmarked=CUT)
    #: Whether locks also write the members that enter their documents.
    enters = True

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas = schemas
        self._storage = storage

    def source_fields(self, link: Link) -> tuple[str, ...]:
        """Return the pure fields of the copies that a relation or reverse relation holds."""
        return source_of(self._schemas, link).copy_fields(link.excludes)

    def renewal(self, relation: Relation, source: Document) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """Return the update that renews a source's copies, and their holders' filter."""
        model = source_of(self._schemas, relation)
        return renewal(relation, source, model.copy_fields(relation.excludes), model.pure)

    def lock(
        self, ids: Iterable[tuple[str, Iterable[ObjectId]]], changes: Mapping[str, Sequence[_Change]] = NO_CHANGES
    ) -> None:
        """Lock documents in one order, (collection, _id), then do changes, by model.

        Raises:
            Marked: one of these documents has a cut window, which needs `CarefulTargets`.
        """
        wanted = _by_model(ids)
        for model in sorted(wanted.keys() | changes.keys()):
            listed = ordered(wanted.get(model, ()))
            if listed or model in changes:
                self._storage.touch_many(model, listed, changes.get(model, ()), lock=self.by)

    def renew(self, effects: Effects) -> Settled:
        """Lock the targets of an operation, and replace members' copies in them.

        Raises:
            Marked: as for `lock`.
            Crowded: a window may exceed its share, which needs `CarefulTargets`, too.
        """
        changes = self._replacements(effects)
        self.lock(effects.targets().items(), changes)
        return Settled(renewals=bool(changes))

    def _replacements(self, effects: Effects) -> dict[str, list[_Change]]:
        """Return the changes, by model, that replace members' copies in targets."""
        found: dict[str, list[_Change]] = {}
        for reverse, ids, copy in effects.renewals:
            if reverse.type == "multiple" and not is_small(self._room(reverse), copy):
                raise Crowded()
            path, holds = place(reverse, copy["_id"])
            found.setdefault(reverse.target, []).append(({"_id": {"$in": list(ids)}, **holds}, {"$set": {path: copy}}))
        return found

    def _room(self, reverse: RelatedRelation) -> Room | None:
        return room_in_window(self._schemas, reverse)

    def touch(
        self,
        copied: Iterable[tuple[Relation, ObjectId]],
        windows: Iterable[tuple[str, Iterable[ObjectId]]] = (),
        locked: Mapping[tuple[str, ObjectId], Document] | None = None,
        entering: Effects | None = None,
    ) -> tuple[Sources, Settled]:
        """Lock sources and targets, ordered by (collection, _id); return the sources.

        ``locked`` has the documents that this operation has touched already. ``entering`` has the effects of
        new members: the locks write what they can of them, and `settle` does the rest.

        Raises:
            NotFound: a document to copy does not exist; the message names all such ids of its model.
            Marked: as for `lock`.
        """
        wanted = self._collect(copied)
        touched = _by_model((*windows, *((model, one.copies) for model, one in wanted.items())))
        sources, settled = dict(locked or {}), UNSETTLED
        for model in sorted(touched):
            ids = ordered(id_ for id_ in touched[model] if (model, id_) not in sources)
            one = wanted.get(model)
            if one is None:
                self.lock([(model, ids)])
                continue
            if entering is not None and self.enters and len(ids) == 1 and ids[0] in one.copies:
                found, written = self._enter(model, ids[0], one, entering)
                settled = settled.plus(written)
            else:
                found = self._read(model, ids, one)
            sources.update({(model, document["_id"]): document for document in found})
            if missing := [id_ for id_ in ordered(one.copies) if (model, id_) not in sources]:
                raise missing_related(model, missing)
        return sources, settled

    def _collect(self, copied: Iterable[tuple[Relation, ObjectId]]) -> dict[str, _Wanted]:
        found: dict[str, _Wanted] = {}
        for relation, id_ in copied:
            one = found.get(relation.schema_name)
            if one is None:
                one = found[relation.schema_name] = _Wanted({}, {_VERSION})
            one.copies[id_] = one.copies.get(id_, 0) + 1
            one.fields.update(self.source_fields(relation))
        return found

    def _lock_for(self, wanted: _Wanted) -> Lock:
        """Return a lock that counts the copies about to be made."""
        most = max(wanted.copies.values())
        return self.by if most == 1 else replace(self.by, step=most)

    def _read(self, model: str, ids: Sequence[ObjectId], wanted: _Wanted) -> list[Document]:
        """Lock documents and read those to copy; a single one takes one command."""
        fields, lock = sorted(wanted.fields), self._lock_for(wanted)
        read = [id_ for id_ in ids if id_ in wanted.copies]
        if len(ids) == len(read) == 1:
            return _listed(self._storage.touch(model, {"_id": ids[0]}, fields, lock=lock))
        if ids:
            self._storage.touch_many(model, ids, lock=lock)
        return list(self._storage.find(model, {"_id": {"$in": read}}, fields)) if read else []

    def _enter(self, model: str, id_: ObjectId, wanted: _Wanted, entering: Effects) -> tuple[list[Document], Settled]:
        """Lock and read one document, if possible in one command with what enters it."""
        here = [key for key in (*entering.entries, *entering.claims) if key[1] == id_ and key[0].target == model]
        pushes = self._pushes(here, entering) if here and self._storage.sorts_pushes() else None
        if pushes is None:
            return self._read(model, [id_], wanted), UNSETTLED
        touch, fields, lock = self._storage.touch, sorted(wanted.fields), self._lock_for(wanted)
        filter, update = pushes
        document = touch(model, {"_id": id_, **filter}, fields, update, lock=lock)
        if document is not None:
            return [document], Settled(frozenset(here))
        # Most windows that cannot be pushed into are empty. `settle` checks whether this one was.
        alone = {key: entering.entries[key] for key in here if key in entering.entries}
        update = merged(*(assign(reverse.name, copies) for (reverse, _), copies in alone.items()))
        return _listed(touch(model, {"_id": id_}, fields, update, lock=lock)), Settled(presumed=alone)

    def _pushes(self, keys: Iterable[Key], effects: Effects) -> tuple[dict[str, Any], dict[str, dict[str, Any]]] | None:
        """Return the filter and update that let members in; None for a recomputed window."""
        filter: dict[str, Any] = {}
        update: dict[str, dict[str, Any]] = {}
        for reverse, id_ in keys:
            if (reverse, id_) in effects.claims:
                update = merged(update, assign(reverse.name, effects.claims[reverse, id_]))
                continue
            copies, room = effects.entries[reverse, id_], self._room(reverse)
            found = None if reverse.window is None else entry(reverse, reverse.window, copies)
            if found is None or not (room is None or all(is_small(room, copy) for copy in copies)):
                return None
            filter.update(found[0])
            update = merged(update, {"$push": {reverse.name: found[1]}})
        return filter, update

    def change(
        self, schema: ModelSchema, filter: Filter, update: Update, fields: Sequence[str] | None, effects: Effects
    ) -> Document | None:
        """Change the operation's own document; return it afterwards, None for no match.

        Effects on its own reverse relations are added to ``effects``.
        """
        return self._storage.update_one(schema.name, filter, update, fields)

    def settle(self, effects: Effects, settled: Settled = UNSETTLED) -> None:
        """Write an operation's effects on its targets: releases, then windows and claims.

        It leaves out what is ``settled``.
        """
        for (reverse, _key), (member_id, ids) in effects.releases.items():
            if ids:
                self._storage.update_many(
                    reverse.target,
                    {"_id": {"$in": ordered(ids)}, **holding(reverse, member_id)},
                    {"$unset": {reverse.name: ""}},
                )
        values: dict[Key, object] = {
            (reverse, id_): self.window(reverse, id_)
            for reverse, ids in effects.recomputed(settled).items()
            for id_ in ordered(ids)
        }
        values.update((key, copy) for key, copy in effects.claims.items() if key not in settled.keys)
        changes: dict[str, dict[ObjectId, dict[str, dict[str, Any]]]] = {}
        for key, value in values.items():
            if key in settled.presumed and value == settled.presumed[key]:
                continue
            reverse, id_ = key
            written = changes.setdefault(reverse.target, {})
            written[id_] = merged(written.get(id_, {}), assign(reverse.name, value))
        for model in sorted(changes):
            self._storage.update_each(model, [(id_, changes[model][id_]) for id_ in ordered(changes[model])])

    def refresh(self, relation: Relation, ids: Iterable[ObjectId]) -> None:
        """Lock targets and correct the reverse relations that a relation causes on them.

        A `multiple` one becomes the exact window; a `single` one becomes a fresh copy of its member, or
        nothing if that member is gone or no longer embeds the target.
        """
        targets = ordered(ids)
        self._storage.touch_many(relation.schema_name, targets, lock=LOCK)
        effects = Effects()
        for reverse in self._schemas.reverses(relation):
            if reverse.type == "multiple":
                for id_ in targets:
                    effects.recompute(reverse, id_)
            else:
                self._refresh_single(reverse, targets, effects)
        self.settle(effects)

    def _refresh_single(self, reverse: RelatedRelation, targets: Sequence[ObjectId], effects: Effects) -> None:
        path = f"{reverse.relation}._id"
        fields = self.source_fields(reverse)
        held = self._storage.find(
            reverse.target, {"_id": {"$in": list(targets)}, reverse.name: {"$exists": True}}, [f"{reverse.name}._id"]
        )
        claimed = {target["_id"]: next(iter(ids_in(target.get(reverse.name))), None) for target in held}
        wanted = {"_id": {"$in": [id_ for id_ in claimed.values() if id_]}, path: {"$in": list(targets)}}
        found = self._storage.find(reverse.member, wanted, [*fields, path]) if claimed else ()
        members = {member["_id"]: member for member in found}
        for target_id, member_id in claimed.items():
            effects.claims[reverse, target_id] = single_reverse(reverse, fields, target_id, members.get(member_id))

    def window(self, reverse: RelatedRelation, target_id: ObjectId) -> list[Document]:
        """Return the window of a `multiple` reverse relation, recomputed from its members.

        Raises:
            Crowded: the members exceed its share.
        """
        room = self._room(reverse)
        if room is None:
            return list(self.members(reverse, target_id))
        copies, size = [], 0
        for copy in self.members(reverse, target_id):
            size += bytes_of_member(copy)
            if size > room.all:
                raise Crowded()
            copies.append(copy)
        return copies

    def members(self, reverse: RelatedRelation, target_id: ObjectId, most: int | None = None) -> Iterator[Document]:
        """Yield the copies in a window, or at most so many, recomputed from its members."""
        return self._members(self._storage.find, reverse, target_id, most)

    def _members(
        self, find: Callable[..., Iterator[Any]], reverse: RelatedRelation, target_id: ObjectId, most: int | None
    ) -> Iterator[Document]:
        if reverse.window is None:
            return iter(())
        fields = self.source_fields(reverse)
        query = window_query(reverse, reverse.window, fields, target_id)
        limit = query.limit if most is None else min(most, query.limit)
        found = find(query.collection, query.filter, query.fields, sort=query.sort, limit=limit)
        return (copy_of(document, fields) for document in found)

    def reread(self, schema: ModelSchema, document: Document) -> Document | None:
        """Return the current document.

        In a model related to itself, the effects may have changed it again, also through a frozen relation:
        that has reverse relations, too.
        """
        if all(relation.model != schema.name for relation in self._schemas.embedders(schema.name)):
            return document
        return next(self._storage.find(schema.name, {"_id": document["_id"]}, limit=1), None)


def _listed(document: Document | None) -> list[Document]:
    return [] if document is None else [document]


def _by_model(listed: Iterable[tuple[str, Iterable[ObjectId]]]) -> dict[str, set[ObjectId]]:
    found: dict[str, set[ObjectId]] = {}
    for model, ids in listed:
        found.setdefault(model, set()).update(ids)
    return found
