"""The write algorithms: one transaction each, which keeps every copy right.

This is why it works (measured; without the touch every design broke under snapshot isolation although
each transaction committed): an operation that copies a document, or decides a window of it, *touches* it
with a real write in the same transaction, and an operation that changes or deletes it writes it, too. Two
such transactions that overlap conflict on that document, so they all have one order per
document: a copier after a change reads the new content, and a copier before it is visible to the
change's fan-out. Windows are recomputed from their members, never edited from memory, and
``_id`` as the last sort key makes each of them unique. If members only enter a window, and the storage
can sort what it pushes, the touch pushes them into it, which makes the same window.

Every function here runs inside ``storage.transaction`` and may run several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bson import ObjectId

from gatewayfw.errors import Conflict, StorageError, TooLarge, ValidationError, missing_related
from gatewayfw.odm.copies.counts import CopyCounts
from gatewayfw.odm.copies.jobs import Backlog, JobKind
from gatewayfw.odm.copies.rooms import Room, most_before, room_for_copies
from gatewayfw.odm.copies.rules import (
    LOCK,
    VERSION_BYTES,
    HiddenField,
    assign,
    clock,
    copies_by_id,
    copy_of,
    embedded,
    ids_in,
    merged,
    older,
    version_of,
    without,
)
from gatewayfw.odm.copies.shares import Care
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.reading.revisions import RAISED, revision_of
from gatewayfw.odm.writing.allowance import Growth
from gatewayfw.odm.writing.careful import targets_for
from gatewayfw.odm.writing.draft import Draft
from gatewayfw.odm.writing.effects import UNSETTLED, Effects, Settled
from gatewayfw.odm.writing.frozen import followers_of, ids_to_copy, refuse_shown
from gatewayfw.odm.writing.new_documents import NewDocument
from gatewayfw.odm.writing.relation_input import RelationInput
from gatewayfw.odm.writing.targets import Sources
from gatewayfw.odm.writing.updates import Change, check_result, find_corrections, refusal_of
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.documents import encode


class Writes:
    """Inserts, updates and relates documents with as few commands as the rules allow."""

    def __init__(self, schemas: Schemas, storage: Storage, backlog: Backlog, counts: CopyCounts) -> None:
        self._schemas = schemas
        self._storage = storage
        self._backlog = backlog
        self._counts = counts
        self._targets = targets_for(schemas, storage, backlog.care)

    # -- insert

    def insert(self, schema: ModelSchema, new: Sequence[NewDocument]) -> list[Document]:
        """Insert documents with their copies, and return them as stored.

        Raises:
            NotFound: a related document does not exist.
            DuplicateKey: a unique index refused one.
            Conflict: an ``_id`` belonged to a deleted document whose copies are still being removed,
                or which a frozen copy still shows.
        """
        chosen = [one.fields["_id"] for one in new if one.version]
        if chosen and self._backlog.bounded and (blocked := self._backlog.jobs.blocked(schema.name, chosen)):
            raise Conflict(f"{schema.name} is still being spread or removed: {', '.join(map(str, blocked))}")
        if chosen:
            refuse_shown(self._schemas, self._storage, schema, chosen)
        effects = Effects()
        begun = [(one, self._begun(one, effects)) for one in new]
        sources, settled = self._targets.touch(
            [(given.relation, id_) for one in new for given in one.inputs.values() for id_ in given.ids],
            entering=None if chosen else effects,  # a window may still list what had the same _id
        )
        counts = self._storage.counts_locks() and self._room(schema.name) is not None
        documents = [self._finished(one, draft, sources, counts) for one, draft in begun]
        self._storage.insert(schema.name, documents)
        self._targets.settle(effects, settled)
        return documents

    def _begun(self, new: NewDocument, effects: Effects) -> Draft:
        """Return the draft of a new document, without its copies."""
        draft = Draft(self._schemas, new.fields, effects)
        draft.hidden.v = new.version
        for given in new.inputs.values():
            draft.enrol(given)
        return draft

    def _finished(self, new: NewDocument, draft: Draft, sources: Sources, counts: bool) -> Document:
        """Return a new document as stored, with its lock counter if it needs one.

        Without the counter, its first lock would make it grow, so that a full document could not even be deleted.
        """
        document = dict(new.fields)
        for name, given in new.inputs.items():
            relation = given.relation
            if copies := [draft.take(relation, sources[relation.schema_name, id_]) for id_ in given.ids]:
                document[name] = embedded(relation, copies)
        told = draft.hidden.document()
        if counts or (new.version and self._storage.counts_locks()):
            told["rev"] = new.version  # a caller's own _id: above that of any earlier document with it
        if new.version:
            told["r"] = new.version  # likewise
        if told:
            document[HIDDEN] = told
        return document

    # -- update

    def update(
        self,
        schema: ModelSchema,
        filter: Mapping[str, Any],
        change: Change,
        shown: Iterable[str],
        growth: Growth | None = None,
    ) -> Document | None:
        """Change one document's pure fields and every copy; None for no match.

        ``shown`` has the paths that the caller wants of the result. Windows may be long, so those
        that it does not name are not read. ``growth`` checks the size of the result.

        Raises:
            ValidationError: the result no longer fits the model.
            DuplicateKey: a unique index refused it.
            TooLarge: ``growth`` refused it, or a document would exceed the database's limit.
        """
        fields = self._read_by_update(schema, shown)
        found = filter if growth is None else growth.look(self._storage, filter)
        if found is None:
            return None
        update = merged(change.update, {"$inc": {f"{HIDDEN}.v": 1}}, RAISED)
        effects = Effects()
        try:
            document = self._targets.change(schema, found, update, fields, effects)
        except ValidationError as error:
            raise refusal_of(change, error) from error
        if document is None:
            return None
        self._refuse_uncounted(schema, document)
        check_result(schema, change, document)
        if change.calculated and (corrections := find_corrections(schema, change, document)):
            corrected = {"$set": corrections}
            document = self._storage.update_one(schema.name, {"_id": document["_id"]}, corrected, fields) or document
        if growth is not None:
            growth.check(self._storage, document)
        holders = [
            relation
            for relation in followers_of(self._schemas, schema, document)
            if change.named.intersection(self._targets.source_fields(relation))
        ]
        related = {
            relation: ids_in(document.get(relation.name))
            for relation in schema.relations.values()
            if self._copied_reverses(relation, change)
        }
        later = self._left_for_later(document, holders, related)
        if any(kind == "copies" for kind, _relation in later):
            document = self._dated(schema, document, fields)
        for kind, relation in later:
            ids = related.pop(relation) if kind == "windows" else []
            if kind == "copies":
                holders.remove(relation)
            self._backlog.leave(kind, (schema.name, document["_id"]), relation, version_of(document), ids)
        self._change_reverses(document, change, related, effects)
        settled = self._targets.renew(effects)
        for relation in holders:
            self._spread(schema, relation, document)
        self._targets.settle(effects, settled)
        return self._targets.reread(schema, document)

    def _refuse_uncounted(self, schema: ModelSchema, document: Document) -> None:
        """Refuse a change that its counter did not count, so that the counter is reset: it may be not-a-number."""
        if not revision_of(document) and self._storage.has_transactions():
            error = StorageError()
            error.met = schema.name, [{"_id": document["_id"]}]
            raise error

    def _read_by_update(self, schema: ModelSchema, shown: Iterable[str]) -> list[str] | None:
        """Return the paths that an update reads of its document; None for all.

        They leave out windows that nobody asked for.
        """
        windows = self._schemas.get_related_relations(schema.name).keys()
        unseen = windows - {path.partition(".")[0] for path in shown}
        return [*schema.pure, *schema.relations, HIDDEN, *(windows - unseen)] if unseen else None

    def _copied_reverses(self, relation: Relation, change: Change) -> list[RelatedRelation]:
        """Return the reverses of a relation whose copies have a changed field."""
        reverses = self._schemas.reverses(relation)
        return [one for one in reverses if change.named.intersection(self._targets.source_fields(one))]

    def _left_for_later(
        self, document: Document, holders: Sequence[Relation], related: Mapping[Relation, list[ObjectId]]
    ) -> set[tuple[JobKind, Relation]]:
        """Choose which relations of a changed document to leave to jobs.

        If necessary, this counts its copies.
        """
        if not self._backlog.bounded:
            return set()
        bounds = {relation: self._counts.take(relation, document) for relation in holders}
        known = {relation: most for relation, most in bounds.items() if most is not None}
        if len(known) == len(holders):
            sizes = _sizes(known, related)
            if not self._backlog.beyond(sizes):
                self._backlog.spend(sum(sizes.values()))
                return set()
        most = int(self._backlog.limit) + 1
        copies = {
            relation: self._storage.count(relation.model, {f"{relation.name}._id": document["_id"]}, most)
            for relation in holders
        }
        sizes = _sizes(copies, related)
        later = self._backlog.beyond(sizes)
        self._backlog.spend(sum(size for name, size in sizes.items() if name not in later))
        return later

    def _dated(self, schema: ModelSchema, document: Document, fields: Sequence[str] | None) -> Document:
        """Give a changed document a version above that of every copy.

        This also works if another tool has replaced it. A job skips copies with its version or above.
        """
        dated = {"$set": {f"{HIDDEN}.v": max(version_of(document), clock())}}
        return self._storage.update_one(schema.name, {"_id": document["_id"]}, dated, fields) or document

    def _change_reverses(
        self, document: Document, change: Change, related: Mapping[Relation, list[ObjectId]], effects: Effects
    ) -> None:
        """Note which copies in reverse relations to replace, which windows to recompute."""
        for relation, ids in related.items():
            for reverse in self._copied_reverses(relation, change):
                if reverse.window is None or reverse.window.sort.field not in change.named:
                    # A `single` reverse holds no other ids; null would be found where it holds nothing.
                    if ids and (reverse.type == "multiple" or isinstance(document["_id"], ObjectId)):
                        copy = copy_of(document, self._targets.source_fields(reverse))
                        effects.renewals.append((reverse, ids, copy))
                    continue
                hidden = HiddenField(document)
                for id_ in ids:
                    if not hidden.is_out(reverse, id_):
                        effects.recompute(reverse, id_)

    def _spread(self, schema: ModelSchema, relation: Relation, source: Document) -> None:
        """Write a changed document to holders with room; leave the others to a job."""
        update, holds = self._targets.renewal(relation, source)
        most = self._most_before(relation, source)
        try:
            met = self._storage.update_many(relation.model, holds, update, most_bytes=most)
        except (StorageError, TooLarge):
            if self._storage.has_transactions():
                raise  # the operation begins again
            self._leave_copies(schema, relation, self._dated(schema, source, [HIDDEN]))
            return
        if most is not None and self._passed_over(relation, source, holds):
            self._leave_copies(schema, relation, source)
        elif self._storage.counts_locks():
            self._backlog.met.append((relation, source, met))

    def _most_before(self, relation: Relation, source: Document) -> int | None:
        """Return the most bytes of a holder to write at once; None for any."""
        is_full = self._backlog.care and self._backlog.care is Care.HOLDERS
        room = self._room(relation.model)
        if room is None and not is_full:
            return None
        copy = copy_of(source, self._targets.source_fields(relation))
        most = most_before(room, copy)
        if not is_full:
            return most
        fits = self._storage.most_bytes - len(encode(copy)) - VERSION_BYTES
        return fits if most is None else min(fits, most)

    def _room(self, model: str) -> Room | None:
        return room_for_copies(self._schemas, model, self._storage.most_bytes)

    def _passed_over(self, relation: Relation, source: Document, holds: Mapping[str, Any]) -> bool:
        stale = older(relation, source["_id"], "$lt", version_of(source))
        return self._storage.count(relation.model, {**holds, **stale}, 1) > 0

    def _leave_copies(self, schema: ModelSchema, relation: Relation, source: Document) -> None:
        self._backlog.leave("copies", (schema.name, source["_id"]), relation, version_of(source))

    # -- relations

    def add(
        self, schema: ModelSchema, filter: Mapping[str, Any], inputs: Mapping[str, RelationInput], replace: bool
    ) -> Document | None:
        """Add or replace one document's related documents; None for no match.

        A frozen copy stays if its id stays in a replaced relation: its source is not read and may be gone.

        Raises:
            NotFound: a related document does not exist.
            Conflict: a `single` relation is present and ``replace`` is false, or holds several documents, which
                another definition put there; or a required relation would be left empty.
            ValidationError: more ids than the relation's limit.
        """
        document = self._storage.touch(schema.name, filter, [*schema.pure, *inputs, HIDDEN], lock=LOCK)
        if document is None:
            return None
        kept = {name: self._kept_ids(document, given, replace) for name, given in inputs.items()}
        removed = {name: [id_ for id_ in ids_in(document.get(name)) if id_ not in kept[name]] for name in inputs}
        before = {name: copies_by_id(document.get(name)) for name in inputs}
        draft = Draft(self._schemas, document, Effects())
        for name, given in inputs.items():
            draft.enrol(given, present=before[name])
            draft.drop(given.relation, removed[name])
        is_new = all(id_ not in before[name] for name, given in inputs.items() for id_ in given.ids)
        taken = {name: ids_to_copy(given, document.get(name), kept[name], replace) for name, given in inputs.items()}
        unread = {name: [id_ for id_ in given.ids if id_ not in taken[name]] for name, given in inputs.items()}
        targets = {name: [*removed[name], *(unread[name] if given.flags else ())] for name, given in inputs.items()}
        sources, settled = self._targets.touch(
            [(inputs[name].relation, id_) for name, ids in taken.items() for id_ in ids],
            windows=[(inputs[name].relation.schema_name, ids) for name, ids in targets.items()],
            locked={(schema.name, document["_id"]): document} if isinstance(document["_id"], ObjectId) else None,
            entering=draft.effects if is_new else None,
        )
        update: dict[str, dict[str, Any]] = {}
        for name, given in inputs.items():
            fresh = {id_: draft.take(given.relation, sources[given.relation.schema_name, id_]) for id_ in taken[name]}
            copies = [fresh.get(id_) or before[name][id_] for id_ in kept[name]]
            update = merged(update, assign(name, embedded(given.relation, copies)))
        return self._store_relations(schema, draft, update, settled)

    def _kept_ids(self, document: Document, given: RelationInput, replace: bool) -> list[ObjectId]:
        """Return the ids that the relation has afterwards, in order."""
        relation = given.relation
        present = ids_in(document.get(relation.name))
        if relation.type == "single" and present and not replace:
            raise Conflict(f"{relation.model} already has {relation.name}")
        if relation.type == "single" and len(present) > 1:  # another definition put them there
            raise Conflict(f"{relation.model} has several documents in {relation.name}")
        if not given.ids and not relation.optional and (replace or not present):
            raise Conflict(f"{relation.name} is required")
        kept = list(given.ids) if replace else [*present, *(id_ for id_ in given.ids if id_ not in present)]
        if relation.limit is not None and len(kept) > relation.limit:
            raise ValidationError({f"relations.{relation.name}._ids": [f"More than {relation.limit} ids."]})
        return kept

    def remove(
        self, schema: ModelSchema, filter: Mapping[str, Any], inputs: Mapping[str, RelationInput]
    ) -> Document | None:
        """Remove related documents from one document; None for no match.

        Raises:
            NotFound: an id is not related.
            Conflict: a required relation would be left empty.
        """
        document = self._storage.touch(schema.name, filter, [*schema.pure, *inputs, HIDDEN], lock=LOCK)
        if document is None:
            return None
        for given in inputs.values():
            present = ids_in(document.get(given.relation.name))
            if missing := [id_ for id_ in given.ids if id_ not in present]:
                raise missing_related(given.relation.name, missing)
            if not given.relation.optional and given.ids and set(given.ids) == set(present):
                raise Conflict(f"{given.relation.name} is required")
        self._targets.lock((given.relation.schema_name, given.ids) for given in inputs.values())
        draft = Draft(self._schemas, document, Effects())
        update: dict[str, dict[str, Any]] = {}
        for given in inputs.values():
            draft.drop(given.relation, given.ids)
            update = merged(update, without(given.relation, document, given.ids))
        return self._store_relations(schema, draft, update)

    def _store_relations(
        self, schema: ModelSchema, draft: Draft, update: dict[str, dict[str, Any]], settled: Settled = UNSETTLED
    ) -> Document | None:
        update, own = merged(update, draft.hidden.revised()), {"_id": draft.document["_id"]}
        whole = self._targets.change(schema, own, update, None, draft.effects)
        self._targets.settle(draft.effects, settled)
        if whole is not None:
            self._refuse_uncounted(schema, whole)
        return None if whole is None else self._targets.reread(schema, whole)


def _sizes(
    copies: Mapping[Relation, int], related: Mapping[Relation, list[ObjectId]]
) -> dict[tuple[JobKind, Relation], int]:
    """Return how much a change would write: copies, and windows of targets."""
    sizes: dict[tuple[JobKind, Relation], int] = {("windows", relation): len(ids) for relation, ids in related.items()}
    sizes.update((("copies", relation), size) for relation, size in copies.items())
    return sizes
