"""The rules of embedded copies, as pure functions and plain data.

Terms: a *copy* is a document's ``_id`` and pure fields embedded elsewhere; the *source* is the
document it was taken from; a *holder* embeds copies through its relations; a *target* has
reverse relations whose content is decided by its *members*, the holders that did not opt out.

The hidden field ``_gw`` of a document, absent while it would be empty (a job may leave empty parts), has:

- ``rev``: counts locks, and at least the copies ever made (MongoDB only); it starts at the first
  version if the caller gave the ``_id``, which a deleted document may have had;
- ``v``: version of the pure fields; absent means 0;
- ``r``: the revision, see `gatewayfw.odm.hidden`; absent means 0;
- ``out``, ``some``, ``in``: the `multiple` reverses that it opted out of, see `gatewayfw.odm.copies.opt_outs`;
- ``at.<relation>.<id>``: version of the source that a copy was taken from; absent means 0;
- ``cut.<reverse>``: the share of bytes that a window of this target is cut to. Without it, the window is the
  exact top of its members; null means that it fills more than half of its share.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from gatewayfw.odm.copies.opt_outs import PARTS, OptOuts, members, note_path
from gatewayfw.odm.hidden import HIDDEN, MOST, RAISED, counter_in, examine
from gatewayfw.odm.reading.projection import source_of
from gatewayfw.odm.reading.shapes import copies_in
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.schemas.models import Link
from gatewayfw.schemas.relations import Cardinality, Window
from gatewayfw.storage import Document, Lock
from gatewayfw.storage.terms import Filter, Update

#: How documents of models are locked.
LOCK = Lock(f"{HIDDEN}.rev")
#: Where a target notes which of its windows are cut; see `gatewayfw.odm.sizes.budgets`.
CUT = f"{HIDDEN}.cut"
#: Most bytes that the version of one more copy adds to a holder, besides the relation's name.
VERSION_BYTES = 256
#: The parts that `HiddenField` changes.
_OWN = frozenset({"v", *PARTS, "at"})


def copy_of(document: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return a copy of a document: its `_id` and those of the given fields it has."""
    return {"_id": document["_id"], **{name: document[name] for name in fields if name in document}}


def embedded(relation: Relation, copied: list[dict[str, Any]]) -> object:
    """Return the value a holder stores for a relation: a copy, a list, or None."""
    if not copied:
        return None
    return copied[0] if relation.type == "single" else copied


def ids_in(value: object) -> list[ObjectId]:
    """Return the ids embedded in a relation's value, in order; absent means none."""
    return [copy["_id"] for copy in copies_in(value) if isinstance(copy.get("_id"), ObjectId)]


def copies_by_id(value: object) -> dict[ObjectId, Document]:
    """Return the copies embedded in a relation's value, by their ids."""
    return {copy["_id"]: copy for copy in copies_in(value) if isinstance(copy.get("_id"), ObjectId)}


class HiddenField(OptOuts):
    """The hidden field of one document: read it, change it, turn it into an update.

    It leaves out ``rev``, which only locks change, ``cut``, which only windows change, and ``r``, which only counts.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        right, damaged = examine(document)
        self._others = any(name not in _OWN for name in right) or bool(damaged)
        self.v: int = right.get("v", 0)
        super().__init__(right, lambda relation: ids_in(document.get(relation)))
        self._at: dict[str, dict[str, int]] = right.get("at", {})
        self._before = self.document() if right else {}

    def set_at(self, relation: str, source_id: ObjectId, version: int) -> None:
        """Note which version of its source a copy shows."""
        self._at.setdefault(relation, {})[str(source_id)] = version

    def forget(self, relation: str, ids: Iterable[ObjectId]) -> None:
        """Delete the notes about copies that the document no longer has."""
        gone = set(ids)
        for id_ in gone:
            self._at.get(relation, {}).pop(str(id_), None)
        super().forget(relation, gone)

    def document(self) -> dict[str, Any]:
        """Return the field's value without ``rev`` and ``r``; ``{}`` if it is empty."""
        parts = {**self.parts(), "at": self._at}
        told = {part: _told({name: _told(noted) for name, noted in by.items()}) for part, by in parts.items()}
        return _told({"v": self.v, **told})

    def update(self) -> dict[str, dict[str, Any]]:
        """Return the update that stores changes since reading; ``{}`` for none."""
        after = self.document()
        if after == self._before:
            return {}
        return self.changes(after) if after or self._others else {"$unset": {HIDDEN: ""}}

    def revised(self) -> dict[str, dict[str, Any]]:
        """Return the update that also raises the document's revision."""
        return merged(self.changes(self.document()), RAISED)

    def changes(self, after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the update that makes the field another `document`, part by part."""
        before = self._before
        changed = {f"{HIDDEN}.{name}": after[name] for name in after if after[name] != before.get(name)}
        gone = {f"{HIDDEN}.{name}": "" for name in before if name not in after}
        return {operator: changes for operator, changes in (("$set", changed), ("$unset", gone)) if changes}


def version_of(document: Mapping[str, Any]) -> int:
    """Return the version of a document's pure fields."""
    return counter_in(document, "v")


def _told(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that are neither zero nor empty."""
    return {name: value for name, value in parts.items() if value}


def merged(*updates: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return one update with the changes of several; they name different paths."""
    result: dict[str, dict[str, Any]] = {}
    for update in updates:
        for operator, changes in update.items():
            result.setdefault(operator, {}).update(changes)
    return result


def assign(name: str, value: object) -> dict[str, dict[str, Any]]:
    """Return the update that stores a value; None and ``[]`` are stored as absence."""
    return {"$unset": {name: ""}} if value is None or value == [] else {"$set": {name: value}}


def without(relation: Relation, document: Mapping[str, Any], gone: Container[object]) -> dict[str, dict[str, Any]]:
    """Return the update that takes copies out of a relation, which keeps its form."""
    value = document.get(relation.name)
    copies = [copy for copy in copies_in(value) if copy.get("_id") not in gone]
    return assign(relation.name, copies if isinstance(value, list) else next(iter(copies), None))


def has_form(type: Cardinality, value: object) -> bool:
    """Tell whether a stored value has the declared form: one copy, or a list.

    A job has the type that its maker's relation had. A value in the other form was written by a process with another
    definition. It holds copies as well, but only who names its document changes it: `holding` and `place` pass over it.
    """
    return isinstance(value, list) == (type == "multiple")


def holding(link: Link, id_: ObjectId) -> dict[str, Any]:
    """Return the filter of holders of a document's copy, in the declared form."""
    listed = {"$elemMatch": {"_id": id_}}
    return {link.name: listed} if link.type == "multiple" else {f"{link.name}._id": id_, link.name: {"$not": listed}}


def place(link: Link, id_: ObjectId) -> tuple[str, dict[str, Any]]:
    """Return the path of a copy, and the filter of `holding`."""
    return f"{link.name}.$" if link.type == "multiple" else link.name, holding(link, id_)


def version_path(relation: Relation, source_id: ObjectId) -> str:
    """Return where a holder notes which version of a source its copy shows."""
    return f"{HIDDEN}.at.{relation.name}.{source_id}"


def followers(schemas: Schemas, model: str) -> list[Relation]:
    """Return the relations whose copies follow their sources: all but frozen ones."""
    return [relation for relation in schemas.embedders(model) if not relation.frozen]


def followers_of(schemas: Schemas, schema: ModelSchema, source: Document) -> list[Relation]:
    """Return the relations that may embed a document, frozen ones apart.

    There are none if its ``_id`` is no ObjectId: asking for one of another type may find what does not embed it, for
    null all that embed nothing.
    """
    return followers(schemas, schema.name) if isinstance(source["_id"], ObjectId) else []


def renewal_of(schemas: Schemas, relation: Relation, source: Document) -> tuple[Update, Filter]:
    """Return the update that renews a source's copies, and the filter of its holders.

    A single copy is written field by field: writing its indexed ``_id``, too, would cost the database twice as much.
    It loses those pure fields of the source's model that are not copied, such as one that was excluded later, and
    the names that migrations of it take away. Where these are known only to a function, the copy is written as a whole.
    """
    model = source_of(schemas, relation)
    copy = copy_of(source, model.copy_fields(relation.excludes))
    path, holds = place(relation, source["_id"])
    noted = {version_path(relation, source["_id"]): version_of(source)}
    retired = schemas.retired(model.name)
    if relation.type == "multiple" or retired is None:
        return {"$set": {**noted, path: copy}}, holds
    update = {"$set": {**noted, **{f"{path}.{name}": value for name, value in copy.items() if name != "_id"}}}
    if gone := {f"{path}.{name}": "" for name in (*model.pure, *retired) if name not in copy}:
        update["$unset"] = gone
    return update, holds


def unset_relation(relation: Relation) -> dict[str, dict[str, Any]]:
    """Return the update that removes a relation and its notes from a holder."""
    noted = (f"{HIDDEN}.{part}.{relation.name}" for part in ("at", *PARTS))
    return {"$unset": dict.fromkeys((relation.name, *noted), "")}


def pull_copy(relation: Relation, source_id: ObjectId) -> dict[str, dict[str, Any]]:
    """Return the update that removes one of several copies and its notes."""
    windows = [one for one in relation.related_relations.values() if one.type == "multiple"]
    noted = [note_path(part, window) for part in ("out", "in") for window in windows]
    return {
        "$pull": {relation.name: {"_id": source_id}, **dict.fromkeys(noted, source_id)},
        "$unset": {version_path(relation, source_id): ""},
    }


def older(relation: Relation, source_id: ObjectId, comparison: str, version: int) -> dict[str, Any]:
    """Return the filter of holders of an older copy; ``comparison`` is $lt or $lte."""
    newer = {"$lt": "$gte", "$lte": "$gt"}[comparison]
    return {version_path(relation, source_id): {"$not": {newer: version, "$lte": MOST}}}  # a damaged one is older


@dataclass(frozen=True)
class WindowQuery:
    """The query whose result is the whole window of one reverse relation."""

    collection: str
    filter: Mapping[str, Any]
    fields: tuple[str, ...]
    sort: tuple[tuple[str, int], ...]
    limit: int


def window_query(
    reverse: RelatedRelation, fields: tuple[str, ...], target_id: ObjectId, most: int | None = None
) -> WindowQuery | None:
    """Return the query for a reverse relation's window, or its first ``most`` members.

    The result is in the order of the window, ties by ``_id`` ascending, and has at most as many
    documents as the window may have; members that opted out are not in it. None for a `single` one.
    Source: specification 6.1.
    """
    window = reverse.window
    if window is None:
        return None
    limit = window.limit if most is None else min(most, window.limit)
    return WindowQuery(reverse.member, members(reverse, target_id), fields, window.order, limit)


def single_reverse(
    reverse: RelatedRelation, fields: Iterable[str], target_id: object, member: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return the value of a `single` reverse that copies a member; None for nothing.

    ``member`` is the current document with its relation, or None if it is gone.
    """
    if member is None or target_id not in ids_in(member.get(reverse.relation)):
        return None
    return copy_of(member, fields)


def entry(
    reverse: RelatedRelation, window: Window, copies: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return a ``$push`` of copies, and the filter of targets in which it is right.

    An exact window and its new members give the exact window again: together they contain the top of all
    members, and copies contain the field they are sorted by. Returns None for more copies than the
    window holds. The filter skips a target without a list, which may have members that were
    never listed, and a target that lists one of the members already.
    """
    if len(copies) > window.limit:
        return None
    some = {"$elemMatch": {"_id": {"$exists": True}}}
    others = {"$nin": [copy["_id"] for copy in copies]}
    push = {"$each": list(copies), "$sort": dict(window.order), "$slice": window.limit}
    return {reverse.name: some, f"{reverse.name}._id": others}, push
