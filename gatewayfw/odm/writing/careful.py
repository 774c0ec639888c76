"""Targets that measure their windows and make room in full documents.

The ordinary path measures nothing that a definition bounds. Where a window may exceed its share
(`Crowded`), where a target has a window that is cut, which its lock refuses (`Marked`), or where the
database refuses a document that would be too large, the operation begins again with `CarefulTargets`.
They cut windows until each document fits; only an operation whose own document is too large even without
reverse relations still fails.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bson import ObjectId

from gatewayfw.errors import ReplyTooLarge, StorageError, TooLarge, ValidationError
from gatewayfw.odm.copies.rules import CUT, LOCK, assign, ids_in, merged
from gatewayfw.odm.copies.shares import Care, fitted, fitting, room_in, share_of
from gatewayfw.odm.hidden import HIDDEN, cuts_of
from gatewayfw.odm.ids import ordered
from gatewayfw.odm.writing.allowance import FieldsTooLarge
from gatewayfw.odm.writing.effects import UNSETTLED, Effects, Settled
from gatewayfw.odm.writing.mending import mend_met
from gatewayfw.odm.writing.targets import Targets
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.documents import encode
from gatewayfw.storage.terms import Filter, Marked, Update

T = TypeVar("T")
_LOG = logging.getLogger("gatewayfw.odm")


def with_care(storage: Storage, write: Callable[[Care], T], first: Care = Care.NONE) -> T:
    """Run a write; if documents get too large, run it again with more care.

    Where a damaged hidden field stops it, this is reset, and the write runs again. The write must do all or nothing.
    Without transactions it may have done a part, so it is not run again: see `StandaloneTargets`.
    """
    care = first
    while True:
        try:
            return write(care)
        except (ReplyTooLarge, FieldsTooLarge):
            raise
        except (Marked, TooLarge):  # `Crowded` is one of them
            if care is Care.HOLDERS or not storage.has_transactions():
                raise
            care = Care(care + 1)
        except (StorageError, ValidationError) as error:
            if not mend_met(storage, error) or not storage.has_transactions():
                raise


def targets_for(schemas: Schemas, storage: Storage, care: Care) -> Targets:
    """Return the targets of an operation in one storage."""
    if care:
        return CarefulTargets(schemas, storage)
    return Targets(schemas, storage) if storage.has_transactions() else StandaloneTargets(schemas, storage)


class CarefulTargets(Targets):
    """Targets that are read completely before their reverse relations are written.

    All windows of a target are written together.
    """

    by = LOCK
    enters = False

    def renew(self, effects: Effects) -> Settled:
        """Lock the targets and do nothing else: `settle` applies the ``effects``."""
        self.lock(effects.targets().items())
        return UNSETTLED

    def change(
        self, schema: ModelSchema, filter: Filter, update: Update, fields: Sequence[str] | None, effects: Effects
    ) -> Document | None:
        """Change the operation's own document without its reverse relations.

        `settle` puts them back.
        """
        before = self._storage.touch(schema.name, filter, self.reverse_fields(schema), lock=LOCK)
        if before is None:
            return None
        update = merged(update, self.emptied(schema, before, effects))
        return self._storage.update_one(schema.name, {**filter, "_id": before["_id"]}, update, fields)

    def reverse_fields(self, schema: ModelSchema) -> list[str]:
        """Return what `emptied` needs to know of a document: windows, other reverses."""
        reverses = self._schemas.get_related_relations(schema.name).values()
        return [one.name if one.type == "single" else f"{one.name}._id" for one in reverses]

    def emptied(self, schema: ModelSchema, document: Document, effects: Effects) -> dict[str, dict[str, Any]]:
        """Return the update that removes all reverse relations from a document.

        `settle` puts them back.
        """
        present = [one for one in self._schemas.get_related_relations(schema.name).values() if one.name in document]
        id_ = document["_id"]
        for reverse in present if isinstance(id_, ObjectId) else ():  # nothing can embed another one
            if reverse.type == "multiple":
                effects.recompute(reverse, id_)
            else:
                effects.removed[reverse, id_] = document[reverse.name]
        return {"$unset": {reverse.name: "" for reverse in present}} if present else {}

    def settle(self, effects: Effects, settled: Settled = UNSETTLED) -> None:
        """Write an operation's effects on its targets, so that each fits."""
        concerned = effects.targets()
        for reverse, listed, _copy in effects.renewals:
            if reverse.type == "single":  # `touch` did not lock it
                self._storage.touch_many(reverse.target, ordered(listed), lock=LOCK)
                concerned.setdefault(reverse.target, set()).update(listed)
        for reverse, id_ in effects.removed:
            concerned.setdefault(reverse.target, set()).add(id_)
        for model in sorted(concerned):
            for id_ in ordered(concerned[model]):
                for target in self._storage.find_stored(model, {"_id": id_}, limit=1):
                    if update := self._filled(model, target, effects):
                        self._storage.update_each(model, [(id_, update)])

    def _filled(self, model: str, target: Mapping[str, Any], effects: Effects) -> dict[str, dict[str, Any]]:
        """Return the update that gives a target all reverse relations that fit."""
        reverses = self._schemas.get_related_relations(model).values()
        windows = {one.name: one for one in reverses if one.type == "multiple"}
        singles = {one.name: self._single(one, target, effects) for one in reverses if one.type == "single"}
        changed = {name: copy for name, copy in singles.items() if _differ(copy, target.get(name))}
        rest = {name: value for name, value in target.items() if name not in windows and name not in singles}
        most = self._storage.most_bytes
        kept = {**rest, **_present({name: copy for name, copy in singles.items() if name not in changed})}
        wanted = _present(changed)
        fit = fitting(wanted, room_in(kept, windows, most))
        if lost := sorted(wanted.keys() - fit):
            _LOG.error("%s %s is too large and loses %s", model, target["_id"], ", ".join(lost))
            changed.update(dict.fromkeys(lost))
        room = room_in({**kept, **_present(changed)}, windows, most)
        members = {name: self.members(reverse, target["_id"]) for name, reverse in windows.items()}
        lists, noted = fitted(members, room, share_of(self._schemas.settings.windows_bytes, len(windows)))
        for name in {name for name, share in noted.items() if share is not None} - cuts_of(target).keys():
            _LOG.warning("%s %s is too large for all of %s: it holds what fills its share", model, target["_id"], name)
        updates = [assign(name, value) for name, value in (*changed.items(), *lists.items())]
        # If there is not even room for the note, the window stays empty, and the integrity check reports it.
        return merged(*updates, _marking(target, noted if room >= 0 else {}))

    def _single(self, reverse: RelatedRelation, target: Mapping[str, Any], effects: Effects) -> Any:
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

    def members(self, reverse: RelatedRelation, target_id: ObjectId, most: int | None = None) -> Iterator[Document]:
        """Yield the copies in a window, to store them without decoding.

        See `Targets.members`.
        """
        return self._members(self._storage.find_stored, reverse, target_id, most)

    def reread(self, schema: ModelSchema, document: Document) -> Document | None:
        """Return the current document, with its newly written reverse relations."""
        return next(self._storage.find(schema.name, {"_id": document["_id"]}, limit=1), None)


class StandaloneTargets(Targets):
    """Targets in a storage without transactions, where each refused write is repeated.

    Nothing shows that a target has a cut window: if a member of it shrinks, the window may
    stay shorter than necessary until it is recomputed, at the latest by a repair.
    """

    by = LOCK
    enters = False
    _is_emptied = False

    def renew(self, effects: Effects) -> Settled:
        """Replace members' copies; leave what is too large to `settle`."""
        try:
            return super().renew(effects)
        except TooLarge:
            return self._careful().renew(effects)

    def change(
        self, schema: ModelSchema, filter: Filter, update: Update, fields: Sequence[str] | None, effects: Effects
    ) -> Document | None:
        """Change the operation's own document, if necessary without reverse relations."""
        try:
            return super().change(schema, filter, update, fields, effects)
        except TooLarge:
            self._is_emptied = True
            return self._careful().change(schema, filter, update, fields, effects)

    def settle(self, effects: Effects, settled: Settled = UNSETTLED) -> None:
        """Write an operation's effects on its targets, with care if necessary."""
        try:
            if effects.removed or (effects.renewals and not settled.renewals):
                self._careful().settle(effects)
            else:
                super().settle(effects)  # no lock has written more than renewals
        except TooLarge:
            self._careful().settle(effects)

    def reread(self, schema: ModelSchema, document: Document) -> Document | None:
        """Return the current document, with its reverse relations restored."""
        return self._careful().reread(schema, document) if self._is_emptied else super().reread(schema, document)

    def _careful(self) -> CarefulTargets:
        return CarefulTargets(self._schemas, self._storage)


def _differ(one: object, other: object) -> bool:
    """Tell whether two values are stored differently.

    In Python 1, 1.0 and True are equal.
    """
    return encode({"": one}) != encode({"": other})


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
