"""The rules of embedded copies, as pure functions and plain data.

Terms: a *copy* is a document's ``_id`` and pure fields embedded elsewhere; the *source* is the
document it was taken from; a *holder* embeds copies through its relations; a *target* has
reverse relations whose content is decided by its *members*, the holders that did not opt out.

The hidden field ``_gw`` of a document, absent while it says nothing (a job may leave empty parts):

- ``rev``: counts locks, and at least the copies ever made (MongoDB only);
- ``v``: version of the pure fields; absent means 0;
- ``out.<relation>.<reverse>``: ids of targets whose `multiple` reverse must not list this member;
  of a `single` relation the presence alone counts, so that an index can tell members from others;
- ``at.<relation>.<id>``: version of the source that a copy was taken from; absent means 0.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bson import ObjectId

from gatewayfw.errors import ValidationError
from gatewayfw.odm.projection import copies_in
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation
from gatewayfw.schemas.fields import HEX_ID

HIDDEN = "_gw"
REQUIRED = "Missing data for required field."
_UNKNOWN = "Unknown field."


@dataclass(frozen=True)
class Link:
    """Relation input: the ids of one relation and the reverse flags that were given."""

    relation: Relation
    ids: tuple[ObjectId, ...]
    flags: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class WindowQuery:
    """The query whose result is the whole window of one reverse relation."""

    collection: str
    filter: Mapping[str, Any]
    fields: tuple[str, ...]
    sort: tuple[tuple[str, int], ...]
    limit: int


def object_id(value: object) -> ObjectId | None:
    """Return the id that a value means: an ObjectId or 24 hexadecimal characters; else None."""
    if isinstance(value, ObjectId):
        return value
    return ObjectId(value) if isinstance(value, str) and HEX_ID.fullmatch(value) else None


def parse_links(schema: ModelSchema, given: Mapping[str, Any] | None) -> dict[str, Link]:
    """Parse relation input: ``{name: {"_ids": ..., "relatedRelations": {reverse: bool}}}``.

    ``_ids`` is an id (or a list of one) for `single`, a list of distinct ids for `multiple`.
    Source: contract, "Relation input on insert".

    Raises:
        ValidationError: an unknown relation, key or reverse, or a value of another shape.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValidationError({"relations": ["Expected an object."]})
    errors: dict[str, list[str]] = {}
    links = {}
    for name, value in given.items():
        path = f"relations.{name}"
        if name not in schema.relations:
            errors[path] = [_UNKNOWN]
        elif not isinstance(value, Mapping) or "_ids" not in value:
            errors[path] = ["Expected an object with _ids."]
        else:
            errors.update({f"{path}.{key}": [_UNKNOWN] for key in value if key not in ("_ids", "relatedRelations")})
            relation = schema.relations[name]
            ids = _parse_ids(relation, value["_ids"], f"{path}._ids", errors)
            flags = _parse_flags(relation, value.get("relatedRelations", {}), f"{path}.relatedRelations", errors)
            links[name] = Link(relation, ids, flags)
    if errors:
        raise ValidationError(errors)
    return links


def _parse_ids(relation: Relation, value: object, path: str, errors: dict[str, list[str]]) -> tuple[ObjectId, ...]:
    given = list(value) if isinstance(value, (list, tuple)) else [value] if relation.type == "single" else None
    if given is None:
        errors[path] = ["Expected a list of ids."]
        return ()
    ids = [object_id(one) for one in given]
    if relation.type == "single" and len(ids) != 1:
        errors[path] = ["Expected one id."]
    elif None in ids:
        errors[path] = ["Not a valid id."]
    elif len(set(ids)) < len(ids):
        errors[path] = ["Ids may not repeat."]
    elif relation.limit is not None and len(ids) > relation.limit:
        errors[path] = [f"More than {relation.limit} ids."]
    return tuple(id_ for id_ in ids if id_ is not None)


def _parse_flags(relation: Relation, value: object, path: str, errors: dict[str, list[str]]) -> dict[str, bool]:
    if not isinstance(value, Mapping):
        errors[path] = ["Expected an object."]
        return {}
    for name, flag in value.items():
        if name not in relation.related_relations:
            errors[f"{path}.{name}"] = [_UNKNOWN]
        elif not isinstance(flag, bool):
            errors[f"{path}.{name}"] = ["Not a valid boolean."]
    return dict(value)


def check_required(schema: ModelSchema, links: Mapping[str, Link]) -> None:
    """Check that input for a new document names every required relation.

    Raises:
        ValidationError: one is missing, or has no ids.
    """
    missing = [
        name
        for name, relation in schema.relations.items()
        if not relation.optional and not (name in links and links[name].ids)
    ]
    if missing:
        raise ValidationError({f"relations.{name}": [REQUIRED] for name in missing})


def copy_of(document: Mapping[str, Any], fields: Iterable[str]) -> dict[str, Any]:
    """Return the copy of a document: its `_id` and the given pure fields; absent ones stay absent."""
    return {"_id": document["_id"], **{name: document[name] for name in fields if name in document}}


def embedded(relation: Relation, copied: list[dict[str, Any]]) -> object:
    """Return the value a holder stores for a relation: one copy or the list; None for none."""
    if not copied:
        return None
    return copied[0] if relation.type == "single" else copied


def ids_in(value: object) -> list[ObjectId]:
    """Return the ids embedded in a relation's value, in stored order; absent means none."""
    return [copy["_id"] for copy in copies_in(value) if isinstance(copy.get("_id"), ObjectId)]


def window_query(reverse: RelatedRelation, fields: tuple[str, ...], target_id: ObjectId) -> WindowQuery:
    """Return the query whose result is the whole window of one `multiple` reverse relation.

    The result is ordered by ``reverse.sort``, ties by ``_id`` ascending, and has at most
    ``reverse.limit`` documents; members that opted out are not in it.
    Source: contract, "Relation definition".
    """
    assert reverse.limit is not None
    order = window_order(reverse)
    return WindowQuery(reverse.member, members(reverse, target_id), fields, order, reverse.limit)


def single_reverse(
    reverse: RelatedRelation, fields: Iterable[str], target_id: object, member: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return what a `single` reverse that copies a member should hold; None for nothing.

    ``member`` is that document as it is now, with its relation; None when it is gone.
    """
    if member is None or target_id not in ids_in(member.get(reverse.relation)):
        return None
    return copy_of(member, fields)


def members(reverse: RelatedRelation, target_id: ObjectId) -> dict[str, Any]:
    """Return the filter that matches the members of a target."""
    opted_out = {"$exists": False} if reverse.of_single else {"$ne": target_id}
    return {f"{reverse.relation}._id": target_id, out_path(reverse): opted_out}


def entry(
    reverse: RelatedRelation, copies: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the filter of targets into whose window copies can be pushed, and the value of ``$push``.

    Of an exact window and of members that are new to it this makes the exact window: the top of all
    members is among both, and copies show what they are sorted by. None for more copies than the
    window holds. The filter passes over a target without a list, which may have members that were
    never listed, and over one that lists a member already.
    """
    assert reverse.limit is not None
    if len(copies) > reverse.limit:
        return None
    some = {"$elemMatch": {"_id": {"$exists": True}}}
    others = {"$nin": [copy["_id"] for copy in copies]}
    push = {"$each": list(copies), "$sort": dict(window_order(reverse)), "$slice": reverse.limit}
    return {reverse.name: some, f"{reverse.name}._id": others}, push


def out_path(reverse: RelatedRelation) -> str:
    """Return where a member notes that it opted out of a reverse relation."""
    return f"{HIDDEN}.out.{reverse.relation}.{reverse.name}"


def window_order(reverse: RelatedRelation) -> tuple[tuple[str, int], ...]:
    """Return the order of a window, with ``_id`` as the last word."""
    assert reverse.sort is not None
    first = (reverse.sort.field, reverse.sort.direction)
    return (first,) if reverse.sort.field == "_id" else (first, ("_id", 1))


class Hidden:
    """The hidden field of one document, read, changed and turned into an update.

    ``rev`` is never part of it: locking alone changes that.
    """

    def __init__(self, document: Mapping[str, Any] | None = None) -> None:
        self._stored = stored = _field(document or {})
        self.v: int = _version(stored)
        self._out: dict[str, dict[str, list[ObjectId]]] = {
            relation: {reverse: list(ids) for reverse, ids in reverses.items() if isinstance(ids, list)}
            for relation, reverses in _parts(stored.get("out"))
        }
        self._at: dict[str, dict[str, int]] = {
            relation: dict(versions) for relation, versions in _parts(stored.get("at"))
        }

    def outs(self, reverse: RelatedRelation) -> Sequence[ObjectId]:
        """Return the targets whose reverse relation the document opted out of."""
        return self._out.get(reverse.relation, {}).get(reverse.name, ())

    def is_out(self, reverse: RelatedRelation, target_id: ObjectId) -> bool:
        """Return whether the document opted out of a target's reverse relation."""
        outs = self.outs(reverse)
        return bool(outs) if reverse.of_single else target_id in outs

    def set_out(self, reverse: RelatedRelation, target_id: ObjectId, out: bool) -> None:
        """Note that the document opts out of a target's `multiple` reverse relation, or no longer."""
        ids = self._out.setdefault(reverse.relation, {}).setdefault(reverse.name, [])
        if out and target_id not in ids:
            ids.append(target_id)
        elif not out and target_id in ids:
            ids.remove(target_id)

    def set_at(self, relation: str, source_id: ObjectId, version: int) -> None:
        """Note the source's version that a copy was taken from."""
        self._at.setdefault(relation, {})[str(source_id)] = version

    def forget(self, relation: str, ids: Iterable[ObjectId]) -> None:
        """Drop what is noted of copies that leave the document."""
        gone = set(ids)
        for id_ in gone:
            self._at.get(relation, {}).pop(str(id_), None)
        for reverse, listed in self._out.get(relation, {}).items():
            self._out[relation][reverse] = [id_ for id_ in listed if id_ not in gone]

    def document(self) -> dict[str, Any]:
        """Return the field's value without ``rev``; ``{}`` when it says nothing."""
        out = {name: _told({reverse: list(ids) for reverse, ids in part.items()}) for name, part in self._out.items()}
        at = {name: _told(versions) for name, versions in self._at.items()}
        return _told({"v": self.v, "out": _told(out), "at": _told(at)})

    def update(self) -> dict[str, dict[str, Any]]:
        """Return the update that stores what was changed since reading; ``{}`` when nothing was."""
        before, after = Hidden({HIDDEN: self._stored}).document(), self.document()
        if after == before:
            return {}
        if not after and "rev" not in self._stored:
            return {"$unset": {HIDDEN: ""}}
        changed = {f"{HIDDEN}.{name}": after[name] for name in after if after[name] != before.get(name)}
        gone = {f"{HIDDEN}.{name}": "" for name in before if name not in after}
        return {operator: changes for operator, changes in (("$set", changed), ("$unset", gone)) if changes}


def version_of(document: Mapping[str, Any]) -> int:
    """Return the version of a document's pure fields."""
    return _version(_field(document))


def locks_of(document: Mapping[str, Any]) -> int:
    """Return the counter of locks; 0 where there is none."""
    rev = _field(document).get("rev")
    return rev if isinstance(rev, int) else 0


def _field(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a document's hidden field; empty if another tool made something else of it."""
    stored = document.get(HIDDEN)
    return stored if isinstance(stored, Mapping) else {}


def _version(stored: Mapping[str, Any]) -> int:
    v = stored.get("v")
    return v if isinstance(v, int) else 0


def _parts(value: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the objects in a part of a hidden field, whatever another tool made of it."""
    items = value.items() if isinstance(value, Mapping) else ()
    return [(name, part) for name, part in items if isinstance(part, Mapping)]


def _told(parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts that say something: no zero and nothing empty."""
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
    """Return the update that takes copies out of a document's relation."""
    copies = [copy for copy in copies_in(document.get(relation.name)) if copy.get("_id") not in gone]
    return assign(relation.name, embedded(relation, copies))


def place(name: str, multiple: bool, id_: ObjectId) -> tuple[str, dict[str, Any]]:
    """Return where the copy of a document stands, and the filter of those that hold it there.

    The filter passes over a single copy where a list is declared: the positional path would fail on it.
    """
    if multiple:
        return f"{name}.$", {name: {"$elemMatch": {"_id": id_}}}
    return name, {f"{name}._id": id_}


def version_path(relation: Relation, source_id: ObjectId) -> str:
    """Return where a holder notes the version that the copy of a source was taken from."""
    return f"{HIDDEN}.at.{relation.name}.{source_id}"


def renewal(
    relation: Relation, source: Mapping[str, Any], fields: Iterable[str]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the update that renews the copies of a source, and the filter of those that hold one."""
    path, holds = place(relation.name, relation.type == "multiple", source["_id"])
    at = version_path(relation, source["_id"])
    return {"$set": {at: version_of(source), path: copy_of(source, fields)}}, holds


def older(relation: Relation, source_id: ObjectId, comparison: str, version: int) -> dict[str, Any]:
    """Return the filter of holders whose copy is of an older version: ``comparison`` is $lt or $lte."""
    at = version_path(relation, source_id)
    return {"$or": [{at: {comparison: version}}, {at: {"$exists": False}}]}


def clock() -> int:
    """Return a version above all that were counted: microseconds since 1970.

    For a document whose versions need not go on from where they were: one that has the ``_id`` of a
    deleted document, or that another tool put in place of a newer one.
    """
    return int(time.time() * 1_000_000)


@dataclass
class Effects:
    """What an operation does to targets, collected first and written once, at its end."""

    #: Targets whose window must be recomputed, by reverse relation.
    windows: dict[RelatedRelation, set[ObjectId]] = field(default_factory=dict)
    #: Copies of members that enter a window.
    entries: dict[tuple[RelatedRelation, ObjectId], list[dict[str, Any]]] = field(default_factory=dict)
    #: What windows hold already if the copies that entered are all.
    presumed: dict[tuple[RelatedRelation, ObjectId], list[dict[str, Any]]] = field(default_factory=dict)
    #: Copies that become the content of a `single` reverse; None unsets it.
    claims: dict[tuple[RelatedRelation, ObjectId], dict[str, Any] | None] = field(default_factory=dict)
    #: Targets whose `single` reverse is unset if it still copies the member.
    releases: dict[tuple[RelatedRelation, ObjectId], set[ObjectId]] = field(default_factory=dict)

    def recompute(self, reverse: RelatedRelation, target_id: ObjectId) -> None:
        """Note that a member entered, left or moved in a window."""
        self.windows.setdefault(reverse, set()).add(target_id)

    def enter(self, reverse: RelatedRelation, target_id: ObjectId, copy: dict[str, Any]) -> None:
        """Note that a member becomes part of a reverse relation."""
        if reverse.type == "single":
            self.claims[reverse, target_id] = copy
        else:
            self.entries.setdefault((reverse, target_id), []).append(copy)

    def leave(self, reverse: RelatedRelation, target_id: ObjectId, member_id: ObjectId) -> None:
        """Note that a member is no longer part of a reverse relation."""
        if reverse.type == "single":
            self.releases.setdefault((reverse, member_id), set()).add(target_id)
        else:
            self.recompute(reverse, target_id)

    def depart(self, relation: Relation, target_ids: Iterable[ObjectId], member_id: ObjectId) -> None:
        """Note that a member no longer embeds targets: it leaves all of their reverse relations."""
        for target_id in target_ids:
            for reverse in relation.related_relations.values():
                self.leave(reverse, target_id, member_id)

    def settled(self, keys: Iterable[tuple[RelatedRelation, ObjectId]]) -> None:
        """Drop entries and claims that have been written."""
        for key in keys:
            self.entries.pop(key, None)
            self.claims.pop(key, None)

    def recomputed(self) -> dict[RelatedRelation, set[ObjectId]]:
        """Return the targets whose window must be recomputed, those that members enter included."""
        found = {reverse: set(ids) for reverse, ids in self.windows.items()}
        for reverse, id_ in self.entries:
            found.setdefault(reverse, set()).add(id_)
        return found

    def targets(self) -> dict[str, set[ObjectId]]:
        """Return the targets concerned, by model."""
        found: dict[str, set[ObjectId]] = {}
        for reverse, ids in self.recomputed().items():
            found.setdefault(reverse.target, set()).update(ids)
        for reverse, id_ in self.claims:
            found.setdefault(reverse.target, set()).add(id_)
        for (reverse, _member), ids in self.releases.items():
            found.setdefault(reverse.target, set()).update(ids)
        return found

    def forget(self, model: str, gone: set[ObjectId]) -> None:
        """Drop targets of a model that are being deleted themselves."""
        for reverse, ids in self.windows.items():
            if reverse.target == model:
                ids -= gone
        for (reverse, _member), ids in self.releases.items():
            if reverse.target == model:
                ids -= gone
