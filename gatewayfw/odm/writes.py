"""The write algorithms: each operation as one transaction that keeps every copy right.

Why it holds (measured; without the touch every design broke under snapshot isolation although
each transaction committed): whoever copies a document, or decides a window of it, *touches* it,
a real write, in the same transaction, and whoever changes or deletes it writes it too. Two such
transactions that overlap conflict on that document, so for each document there is one order of
all of them: a copier after a change reads the new content, a copier before it is visible to the
change's fan-out. Windows are recomputed from their members, never edited from memory, and
``_id`` as the last sort key makes each of them unique.

Every function here runs inside ``storage.transaction`` and may run several times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bson import ObjectId

from gatewayfw.errors import Conflict, StillReferenced, ValidationError, missing_related
from gatewayfw.odm.projection import copies_in
from gatewayfw.odm.queries import Change, check_result
from gatewayfw.odm.snapshots import (
    HIDDEN,
    Effects,
    Hidden,
    Link,
    assign,
    copy_of,
    embedded,
    ids_in,
    merged,
    window_query,
)
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.storage import Document, Storage

Sources = dict[tuple[str, ObjectId], Document]


@dataclass(frozen=True)
class NewDocument:
    """A document to be inserted: its pure fields and `_id`, its version, and its relations."""

    fields: Mapping[str, Any]
    version: int
    links: Mapping[str, Link]


@dataclass
class _Loss:
    """What one holder loses in a cascade: ids by relation."""

    document: Document
    ids: dict[str, set[ObjectId]] = field(default_factory=dict)


class Writes:
    """The operations on one storage. Sequences of commands are as few as the rules allow."""

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas = schemas
        self._storage = storage

    # -- insert

    def insert(self, schema: ModelSchema, new: Sequence[NewDocument]) -> list[Document]:
        """Insert documents with their copies, and return them as stored.

        Raises:
            NotFound: a related document does not exist.
            DuplicateKey: a unique index refused one.
        """
        sources = self._touch(
            copied=[(link.relation, id_) for one in new for link in one.links.values() for id_ in link.ids]
        )
        effects = Effects()
        documents = [self._assembled(schema, one, sources, effects) for one in new]
        self._storage.insert(schema.name, documents)
        self._settle(effects)
        return documents

    def _assembled(self, schema: ModelSchema, new: NewDocument, sources: Sources, effects: Effects) -> Document:
        document = dict(new.fields)
        hidden = Hidden()
        hidden.v = new.version
        for name, link in new.links.items():
            copies = [self._copied(link.relation, id_, sources, hidden) for id_ in link.ids]
            if copies:
                document[name] = embedded(link.relation, copies)
            for reverse in self._schemas.reverses(link.relation):
                flag = link.flags.get(reverse.name, False)
                for id_ in link.ids:
                    self._enrol(reverse, id_, document, schema, flag, hidden, effects)
        if hidden.document():
            document[HIDDEN] = hidden.document()
        return document

    def _copied(self, relation: Relation, id_: ObjectId, sources: Sources, hidden: Hidden) -> Document:
        """Return the copy of a touched source and note its version."""
        source = sources[relation.schema_name, id_]
        hidden.set_at(relation.name, id_, Hidden(source).v)
        return copy_of(source, self._source_fields(relation))

    def _enrol(
        self,
        reverse: RelatedRelation,
        target_id: ObjectId,
        member: Mapping[str, Any],
        schema: ModelSchema,
        flag: bool,
        hidden: Hidden,
        effects: Effects,
    ) -> None:
        """Make a document part of a reverse relation, or note that it opted out."""
        if reverse.type == "multiple":
            hidden.set_out(reverse, target_id, not flag)
        if flag:
            effects.enter(reverse, target_id, copy_of(member, schema.copy_fields(reverse.excludes)))

    # -- update

    def update(self, schema: ModelSchema, filter: Mapping[str, Any], change: Change) -> Document | None:
        """Change the pure fields of one document and every copy of it; None when nothing matched.

        Raises:
            ValidationError: the result no longer fits the model.
            DuplicateKey: a unique index refused it.
        """
        storage = self._storage
        update = merged(change.update, {"$inc": {f"{HIDDEN}.v": 1}})
        document = storage.update_one(schema.name, filter, update, None)
        if document is None:
            return None
        check_result(schema, change, document)
        effects = Effects()
        replaced = [
            (reverse, ids_in(document.get(reverse.relation)))
            for reverse in self._own_reverses(schema)
            if change.named.intersection(schema.copy_fields(reverse.excludes))
        ]
        hidden = Hidden(document)
        for reverse, ids in replaced:
            if reverse.sort is not None and reverse.sort.field in change.named:
                for id_ in ids:
                    if not hidden.is_out(reverse, id_):
                        effects.recompute(reverse, id_)
        in_place = [(reverse, ids) for reverse, ids in replaced if reverse not in effects.windows and ids]
        self._touch(windows=[*_window_targets(in_place), *effects.targets().items()])
        self._spread(schema, document, change.named)
        for reverse, ids in in_place:
            copy = copy_of(document, schema.copy_fields(reverse.excludes))
            path = reverse.name if reverse.type == "single" else f"{reverse.name}.$"
            storage.update_many(
                reverse.target, {"_id": {"$in": ids}, f"{reverse.name}._id": document["_id"]}, {"$set": {path: copy}}
            )
        self._settle(effects)
        return self._reread(schema, document)

    def _spread(self, schema: ModelSchema, source: Document, named: frozenset[str]) -> None:
        """Bring a changed document to every holder of a copy: one command per relation."""
        version = Hidden(source).v
        for relation in self._schemas.embedders(schema.name):
            fields = self._source_fields(relation)
            if named.intersection(fields):
                path = relation.name if relation.type == "single" else f"{relation.name}.$"
                at = f"{HIDDEN}.at.{relation.name}.{source['_id']}"
                self._storage.update_many(
                    relation.model,
                    {f"{relation.name}._id": source["_id"]},
                    {"$set": {at: version, path: copy_of(source, fields)}},
                )

    # -- relations

    def add(
        self, schema: ModelSchema, filter: Mapping[str, Any], links: Mapping[str, Link], replace: bool
    ) -> Document | None:
        """Add related documents to one document, or replace them; None when nothing matched.

        Raises:
            NotFound: a related document does not exist.
            Conflict: a `single` relation is present and ``replace`` is false, or a required
                relation would be left empty.
            ValidationError: more ids than the relation's limit.
        """
        document = self._storage.touch(schema.name, filter, None)
        if document is None:
            return None
        kept = {name: self._kept_ids(document, link, replace) for name, link in links.items()}
        removed = {name: [id_ for id_ in ids_in(document.get(name)) if id_ not in kept[name]] for name in links}
        sources = self._touch(
            copied=[(link.relation, id_) for link in links.values() for id_ in link.ids],
            windows=[(links[name].relation.schema_name, set(ids)) for name, ids in removed.items()],
            locked={(schema.name, document["_id"]): document},
        )
        hidden, effects = Hidden(document), Effects()
        update: dict[str, dict[str, Any]] = {}
        for name, link in links.items():
            before = {copy.get("_id"): copy for copy in copies_in(document.get(name))}
            self._enrol_added(schema, document, link, before, hidden, effects)
            self._depart(document, link.relation, removed[name], hidden, effects)
            fresh = {id_: self._copied(link.relation, id_, sources, hidden) for id_ in link.ids}
            copies = [fresh.get(id_) or before[id_] for id_ in kept[name]]
            update = merged(update, assign(name, embedded(link.relation, copies)))
        return self._store_relations(schema, document, update, hidden, effects)

    def _kept_ids(self, document: Document, link: Link, replace: bool) -> list[ObjectId]:
        """Return the ids the relation holds afterwards, in order."""
        relation = link.relation
        present = ids_in(document.get(relation.name))
        if relation.type == "single" and present and not replace:
            raise Conflict(f"{relation.model} already has {relation.name}")
        if not link.ids and not relation.optional and (replace or not present):
            raise Conflict(f"{relation.name} is required")
        kept = list(link.ids) if replace else [*present, *(id_ for id_ in link.ids if id_ not in present)]
        if relation.limit is not None and len(kept) > relation.limit:
            raise ValidationError({f"relations.{relation.name}._ids": [f"More than {relation.limit} ids."]})
        return kept

    def _enrol_added(
        self,
        schema: ModelSchema,
        document: Document,
        link: Link,
        before: Mapping[Any, Document],
        hidden: Hidden,
        effects: Effects,
    ) -> None:
        """Apply the flags: an id that stays keeps its membership where its flag is omitted."""
        for reverse in self._schemas.reverses(link.relation):
            for id_ in link.ids:
                if id_ in before and reverse.name not in link.flags:
                    continue
                flag = link.flags.get(reverse.name, False)
                self._enrol(reverse, id_, document, schema, flag, hidden, effects)
                if id_ in before and not flag:
                    effects.leave(reverse, id_, document["_id"])

    def _depart(
        self, document: Document, relation: Relation, ids: Iterable[ObjectId], hidden: Hidden, effects: Effects
    ) -> None:
        """Note that copies leave the document, and it the reverse relations of their sources."""
        gone = list(ids)
        for reverse in self._schemas.reverses(relation):
            for id_ in gone:
                effects.leave(reverse, id_, document["_id"])
        hidden.forget(relation.name, gone)

    def remove(self, schema: ModelSchema, filter: Mapping[str, Any], links: Mapping[str, Link]) -> Document | None:
        """Remove related documents from one document; None when nothing matched.

        Raises:
            NotFound: an id is not related.
            Conflict: a required relation would be left empty.
        """
        document = self._storage.touch(schema.name, filter, None)
        if document is None:
            return None
        for link in links.values():
            present = ids_in(document.get(link.relation.name))
            if missing := [id_ for id_ in link.ids if id_ not in present]:
                raise missing_related(link.relation.name, missing)
            if not link.relation.optional and link.ids and len(link.ids) == len(present):
                raise Conflict(f"{link.relation.name} is required")
        self._touch(windows=[(link.relation.schema_name, set(link.ids)) for link in links.values()])
        hidden, effects = Hidden(document), Effects()
        update: dict[str, dict[str, Any]] = {}
        for name, link in links.items():
            self._depart(document, link.relation, link.ids, hidden, effects)
            copies = [copy for copy in copies_in(document.get(name)) if copy.get("_id") not in link.ids]
            update = merged(update, assign(name, embedded(link.relation, copies)))
        return self._store_relations(schema, document, update, hidden, effects)

    def _store_relations(
        self,
        schema: ModelSchema,
        document: Document,
        update: dict[str, dict[str, Any]],
        hidden: Hidden,
        effects: Effects,
    ) -> Document | None:
        update = merged(update, hidden.update())
        if update:
            document = self._storage.update_one(schema.name, {"_id": document["_id"]}, update, None) or document
        self._settle(effects)
        return self._reread(schema, document)

    # -- delete

    def delete(self, schema: ModelSchema, filter: Mapping[str, Any], cascade: bool) -> dict[str, int] | None:
        """Delete one document; return how many went with it, by model. None when nothing matched.

        With ``cascade`` holders that need it are deleted with the same procedure; others lose
        their copy. Windows of everything concerned are recomputed once, at the end.

        Raises:
            StillReferenced: a relation embeds the document and ``cascade`` is false.
        """
        root = self._storage.touch(schema.name, filter, None)
        if root is None:
            return None
        if not cascade:
            self._refuse_if_held(schema, root)
        doomed, losses = self._cascade(schema, root)
        effects = Effects()
        for (model, id_), document in doomed.items():
            for relation in self._schemas.get_schema(model).relations.values():
                for reverse in self._schemas.reverses(relation):
                    for target_id in ids_in(document.get(relation.name)):
                        effects.leave(reverse, target_id, id_)
        by_model = _by_model(doomed)
        for model, ids in by_model.items():
            effects.forget(model, ids)
        self._touch(windows=list(effects.targets().items()))
        for model in sorted(by_model):
            self._storage.delete_many(model, {"_id": {"$in": sorted(by_model[model])}})
        self._lose(losses)
        self._settle(effects)
        counts = {model: len(ids) for model, ids in sorted(by_model.items())}
        counts[schema.name] -= 1
        return {model: count for model, count in counts.items() if count}

    def _refuse_if_held(self, schema: ModelSchema, root: Document) -> None:
        counts: dict[str, int] = {}
        for relation in self._schemas.embedders(schema.name):
            holders: dict[str, Any] = {f"{relation.name}._id": root["_id"]}
            if relation.model == schema.name:
                holders["_id"] = {"$ne": root["_id"]}
            if count := self._storage.count(relation.model, holders):
                counts[relation.model] = counts.get(relation.model, 0) + count
        if counts:
            raise StillReferenced(schema.name, counts)

    def _cascade(self, schema: ModelSchema, root: Document) -> tuple[Sources, dict[tuple[str, ObjectId], _Loss]]:
        """Return the documents to be deleted, and what the remaining holders lose."""
        doomed: Sources = {(schema.name, root["_id"]): root}
        losses: dict[tuple[str, ObjectId], _Loss] = {}
        level = {schema.name: {root["_id"]}}
        while level:
            following: dict[str, set[ObjectId]] = {}
            for model, ids in sorted(level.items()):
                for relation in self._schemas.embedders(model):
                    for holder in self._storage.find(relation.model, {f"{relation.name}._id": {"$in": sorted(ids)}}):
                        key = (relation.model, holder["_id"])
                        if key in doomed:
                            continue
                        loss = losses.setdefault(key, _Loss(holder))
                        lost = loss.ids.setdefault(relation.name, set())
                        present = ids_in(holder.get(relation.name))
                        lost.update(ids.intersection(present))
                        if not relation.optional and lost.issuperset(present):
                            doomed[key] = holder
                            following.setdefault(relation.model, set()).add(holder["_id"])
            for model, ids in sorted(following.items()):
                self._storage.touch_many(model, sorted(ids))
            level = following
        return doomed, {key: loss for key, loss in losses.items() if key not in doomed}

    def _lose(self, losses: Mapping[tuple[str, ObjectId], _Loss]) -> None:
        """Take copies of deleted documents out of the holders that stay."""
        changes: dict[str, list[tuple[object, dict[str, dict[str, Any]]]]] = {}
        for (model, id_), loss in sorted(losses.items(), key=lambda item: item[0]):
            hidden = Hidden(loss.document)
            update: dict[str, dict[str, Any]] = {}
            for name, gone in loss.ids.items():
                relation = self._schemas.get_schema(model).relations[name]
                copies = [copy for copy in copies_in(loss.document.get(name)) if copy.get("_id") not in gone]
                hidden.forget(name, gone)
                update = merged(update, assign(name, embedded(relation, copies)))
            changes.setdefault(model, []).append((id_, merged(update, hidden.update())))
        for model, listed in changes.items():
            self._storage.update_each(model, listed)

    # -- what they share

    def _source_fields(self, relation: Relation) -> tuple[str, ...]:
        return self._schemas.get_schema(relation.schema_name).copy_fields(relation.excludes)

    def _own_reverses(self, schema: ModelSchema) -> list[RelatedRelation]:
        """Return the reverse relations in which documents of a model appear as members."""
        return [reverse for relation in schema.relations.values() for reverse in self._schemas.reverses(relation)]

    def _touch(
        self,
        copied: Iterable[tuple[Relation, ObjectId]] = (),
        windows: Iterable[tuple[str, set[ObjectId]]] = (),
        locked: Mapping[tuple[str, ObjectId], Document] | None = None,
    ) -> Sources:
        """Lock sources and targets in the order of (collection, _id), and return the sources.

        ``locked`` are documents this operation has touched already.

        Raises:
            NotFound: a document to be copied does not exist, naming all such ids of its model.
        """
        fields: dict[str, set[str]] = {}
        wanted: dict[str, set[ObjectId]] = {}
        for relation, id_ in copied:
            wanted.setdefault(relation.schema_name, set()).add(id_)
            fields.setdefault(relation.schema_name, {f"{HIDDEN}.v"}).update(self._source_fields(relation))
        all_ids = {model: set(ids) for model, ids in wanted.items()}
        for model, ids in windows:
            all_ids.setdefault(model, set()).update(ids)
        sources: Sources = dict(locked or {})
        for model in sorted(all_ids):
            ids = {id_ for id_ in all_ids[model] if (model, id_) not in sources}
            sources.update(self._touched(model, sorted(ids), wanted.get(model, set()) & ids, fields.get(model, set())))
            if missing := [id_ for id_ in sorted(wanted.get(model, ())) if (model, id_) not in sources]:
                raise missing_related(model, missing)
        return sources

    def _touched(self, model: str, ids: Sequence[ObjectId], read: set[ObjectId], fields: set[str]) -> Sources:
        """Touch documents of one model; read those that are copied. One trip where one is enough."""
        if len(ids) == 1 and read:
            document = self._storage.touch(model, {"_id": ids[0]}, sorted(fields))
            return {} if document is None else {(model, ids[0]): document}
        if ids:
            self._storage.touch_many(model, ids)
        if not read:
            return {}
        found = self._storage.find(model, {"_id": {"$in": sorted(read)}}, sorted(fields))
        return {(model, document["_id"]): document for document in found}

    def _settle(self, effects: Effects) -> None:
        """Write what an operation does to its targets: releases, then windows and claims."""
        for (reverse, member_id), ids in effects.releases.items():
            if ids:
                self._storage.update_many(
                    reverse.target,
                    {"_id": {"$in": sorted(ids)}, f"{reverse.name}._id": member_id},
                    {"$unset": {reverse.name: ""}},
                )
        changes: dict[str, dict[ObjectId, dict[str, dict[str, Any]]]] = {}
        for reverse, ids in effects.windows.items():
            for id_ in sorted(ids):
                written = changes.setdefault(reverse.target, {})
                written[id_] = merged(written.get(id_, {}), assign(reverse.name, self._window(reverse, id_)))
        for (reverse, id_), copy in effects.claims.items():
            written = changes.setdefault(reverse.target, {})
            written[id_] = merged(written.get(id_, {}), assign(reverse.name, copy))
        for model in sorted(changes):
            self._storage.update_each(model, [(id_, changes[model][id_]) for id_ in sorted(changes[model])])

    def _window(self, reverse: RelatedRelation, target_id: ObjectId) -> list[Document]:
        fields = self._schemas.get_schema(reverse.member).copy_fields(reverse.excludes)
        query = window_query(reverse, fields, target_id)
        found = self._storage.find(query.collection, query.filter, query.fields, sort=query.sort, limit=query.limit)
        return [copy_of(document, fields) for document in found]

    def _reread(self, schema: ModelSchema, document: Document) -> Document | None:
        """Return the document as it is now: a model related to itself may have changed it again."""
        if all(relation.model != schema.name for relation in self._schemas.embedders(schema.name)):
            return document
        return next(self._storage.find(schema.name, {"_id": document["_id"]}, limit=1), None)


def _window_targets(replaced: Iterable[tuple[RelatedRelation, list[ObjectId]]]) -> list[tuple[str, set[ObjectId]]]:
    """Return the targets that are touched because a copy in one of their windows is replaced.

    A `single` reverse needs no touch: whoever claims it writes the member's own document.
    """
    return [(reverse.target, set(ids)) for reverse, ids in replaced if reverse.type == "multiple"]


def _by_model(keys: Iterable[tuple[str, ObjectId]]) -> dict[str, set[ObjectId]]:
    found: dict[str, set[ObjectId]] = {}
    for model, id_ in keys:
        found.setdefault(model, set()).add(id_)
    return found
