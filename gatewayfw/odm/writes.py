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
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from gatewayfw.errors import Conflict, ValidationError, missing_related
from gatewayfw.odm.projection import copies_in
from gatewayfw.odm.queries import Change, check_result
from gatewayfw.odm.snapshots import HIDDEN, Effects, Hidden, Link, assign, copy_of, embedded, ids_in, merged, without
from gatewayfw.odm.targets import Sources, Targets
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.storage import Document, Storage


@dataclass(frozen=True)
class NewDocument:
    """A document to be inserted: its pure fields and `_id`, its version, and its relations."""

    fields: Mapping[str, Any]
    version: int
    links: Mapping[str, Link]


class Writes:
    """Inserting, updating and relating documents. Sequences of commands are as few as the rules allow."""

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas = schemas
        self._storage = storage
        self._targets = Targets(schemas, storage)

    # -- insert

    def insert(self, schema: ModelSchema, new: Sequence[NewDocument]) -> list[Document]:
        """Insert documents with their copies, and return them as stored.

        Raises:
            NotFound: a related document does not exist.
            DuplicateKey: a unique index refused one.
        """
        sources = self._targets.touch(
            copied=[(link.relation, id_) for one in new for link in one.links.values() for id_ in link.ids]
        )
        effects = Effects()
        documents = [self._assembled(schema, one, sources, effects) for one in new]
        self._storage.insert(schema.name, documents)
        self._targets.settle(effects)
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
        return copy_of(source, self._targets.source_fields(relation))

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
        self._targets.touch(windows=[*_window_targets(in_place), *effects.targets().items()])
        self._spread(schema, document, change.named)
        for reverse, ids in in_place:
            copy = copy_of(document, schema.copy_fields(reverse.excludes))
            path, holds = _place(reverse.name, reverse.type == "multiple", document["_id"])
            storage.update_many(reverse.target, {"_id": {"$in": ids}, **holds}, {"$set": {path: copy}})
        self._targets.settle(effects)
        return self._targets.reread(schema, document)

    def _spread(self, schema: ModelSchema, source: Document, named: frozenset[str]) -> None:
        """Bring a changed document to every holder of a copy: one command per relation."""
        version = Hidden(source).v
        for relation in self._schemas.embedders(schema.name):
            fields = self._targets.source_fields(relation)
            if named.intersection(fields):
                path, holds = _place(relation.name, relation.type == "multiple", source["_id"])
                at = f"{HIDDEN}.at.{relation.name}.{source['_id']}"
                self._storage.update_many(relation.model, holds, {"$set": {at: version, path: copy_of(source, fields)}})

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
        sources = self._targets.touch(
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
        effects.depart(relation, gone, document["_id"])
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
            if not link.relation.optional and link.ids and set(link.ids) == set(present):
                raise Conflict(f"{link.relation.name} is required")
        self._targets.touch(windows=[(link.relation.schema_name, set(link.ids)) for link in links.values()])
        hidden, effects = Hidden(document), Effects()
        update: dict[str, dict[str, Any]] = {}
        for link in links.values():
            self._depart(document, link.relation, link.ids, hidden, effects)
            update = merged(update, without(link.relation, document, link.ids))
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
        self._targets.settle(effects)
        return self._targets.reread(schema, document)

    def _own_reverses(self, schema: ModelSchema) -> list[RelatedRelation]:
        """Return the reverse relations in which documents of a model appear as members."""
        return [reverse for relation in schema.relations.values() for reverse in self._schemas.reverses(relation)]


def _place(name: str, multiple: bool, id_: ObjectId) -> tuple[str, dict[str, Any]]:
    """Return where the copy of a document stands, and the filter of those that hold it there.

    The filter passes over a single copy where a list is declared: the positional path would fail on it.
    """
    if multiple:
        return f"{name}.$", {name: {"$elemMatch": {"_id": id_}}}
    return name, {f"{name}._id": id_}


def _window_targets(replaced: Iterable[tuple[RelatedRelation, list[ObjectId]]]) -> list[tuple[str, set[ObjectId]]]:
    """Return the targets that are touched because a copy in one of their windows is replaced.

    A `single` reverse needs no touch: whoever claims it writes the member's own document.
    """
    return [(reverse.target, set(ids)) for reverse, ids in replaced if reverse.type == "multiple"]
