"""How a document notes which windows it opted out of, and how members are found.

A document is a member of each target that it embeds, unless it opted out. An index finds the members of a window only
by what is there, and it has room for one list. So the hidden field of a document has, by relation and reverse:

- ``out``, for a `single` relation: its presence says that the document opted out; it lists the target;
- ``some``, for a `multiple` relation: true where it opted out of some targets; then ``in`` lists the others, in whose
  windows it is all the same. Earlier versions noted in ``out`` the targets that must not list it.

While two definitions of a relation are in use, each reads what the other notes.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from bson import ObjectId

from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.schemas import RelatedRelation, Relation

#: The parts of the hidden field that are written here.
PARTS: Final = ("out", "some", "in")
_NOTHING: Mapping[str, Any] = {}


def note_path(part: str, reverse: RelatedRelation) -> str:
    """Return where a document notes in a part that it opted out of a reverse."""
    return f"{HIDDEN}.{part}.{reverse.relation}.{reverse.name}"


def members(reverse: RelatedRelation, target_id: ObjectId) -> dict[str, Any]:
    """Return the filter that matches the members of a target.

    Each of its branches has an index, so that who opted out is not even looked at.
    """
    embeds = {f"{reverse.relation}._id": target_id}
    out, some, listed = (note_path(part, reverse) for part in PARTS)
    if reverse.of_single:
        return {**embeds, out: {"$exists": False}, "$or": [{some: {"$exists": False}}, {listed: target_id}]}
    return {"$or": [{**embeds, some: {"$exists": False}, out: {"$ne": target_id}}, {listed: target_id, **embeds}]}


def member_indexes(reverse: RelatedRelation) -> Iterator[tuple[tuple[tuple[str, int], ...], dict[str, Any]]]:
    """Yield keys and options of the indexes that find members in a window's order."""
    if reverse.window is not None:
        noted = "out" if reverse.of_single else "some"
        yield ((f"{reverse.relation}._id", 1), (note_path(noted, reverse), 1), *reverse.window.order), {}
        if not reverse.of_single:
            listed = note_path("in", reverse)
            yield ((listed, 1), *reverse.window.order), {"partialFilterExpression": {listed: {"$exists": True}}}


class OptOuts:
    """The windows that one document opted out of: read and change them.

    ``parts`` are the valid ones of its hidden field, ``ids_of`` gives the ids that it embeds in a relation.
    """

    def __init__(self, parts: Mapping[str, Any], ids_of: Callable[[str], Sequence[ObjectId]]) -> None:
        self._ids_of = ids_of
        self._noted = _copied(parts)
        #: Whether a document that embeds a target stays out, by relation and reverse, then target, where that changes.
        self._changed: dict[tuple[str, str], dict[ObjectId, bool]] = {}
        self._gone: dict[str, set[ObjectId]] = {}

    def is_out(self, reverse: RelatedRelation, target_id: ObjectId) -> bool:
        """Tell whether the document opted out of a target's reverse relation."""
        if reverse.of_single and self._read("out", reverse.relation, reverse.name):
            return True
        return self._is_out(reverse.relation, reverse.name, target_id)

    def _is_out(self, relation: str, name: str, target_id: ObjectId) -> bool:
        if (relation, name) in self._changed:
            return self._changed[relation, name].get(target_id, False)
        if self._read("some", relation, name):
            return target_id not in self._read("in", relation, name)
        return target_id in self._read("out", relation, name)

    def _read(self, part: str, relation: str, name: str) -> Any:
        return self._noted.get(part, _NOTHING).get(relation, _NOTHING).get(name, ())

    def set_out(self, reverse: RelatedRelation, target_id: ObjectId, out: bool) -> None:
        """Note whether the document opts out of a target's `multiple` reverse."""
        relation, name = reverse.relation, reverse.name
        if not reverse.of_single:
            self._change(relation, name)[target_id] = out
            return
        self._changed.pop((relation, name), None)
        for part in ("some", "in"):
            self._noted.get(part, {}).get(relation, {}).pop(name, None)
        ids = dict.fromkeys(self._read("out", relation, name))
        if out:
            ids[target_id] = None
        else:
            ids.pop(target_id, None)
        self._noted.setdefault("out", {}).setdefault(relation, {})[name] = list(ids)

    def _change(self, relation: str, name: str) -> dict[ObjectId, bool]:
        """Return what changes of a window of a `multiple` relation: at first what is."""
        if (relation, name) not in self._changed:
            gone = self._gone.get(relation, ())
            embedded = [id_ for id_ in self._ids_of(relation) if id_ not in gone]
            self._changed[relation, name] = {id_: self._is_out(relation, name, id_) for id_ in embedded}
        return self._changed[relation, name]

    def renote(self, relation: Relation) -> None:
        """Note the same opt-outs in the form of a relation's type.

        An index holds at most one list of a document, so what a `single` relation noted keeps it from holding a list.
        """
        for reverse in relation.related_relations.values():
            for id_ in self._ids_of(relation.name) if reverse.type == "multiple" else ():
                self.set_out(reverse, id_, self.is_out(reverse, id_))

    def forget(self, relation: str, ids: Iterable[ObjectId]) -> None:
        """Delete what is noted about targets that the document no longer embeds."""
        if not (gone := set(ids)):
            return
        self._gone.setdefault(relation, set()).update(gone)
        for name in {
            *self._noted.get("some", _NOTHING).get(relation, ()),
            *(name for one, name in self._changed if one == relation),
        }:
            for id_ in gone:
                self._change(relation, name).pop(id_, None)
        outs = self._noted.get("out", {}).get(relation, {})
        outs.update({name: [id_ for id_ in listed if id_ not in gone] for name, listed in outs.items()})

    def parts(self) -> dict[str, Any]:
        """Return the parts of the hidden field; some may be empty."""
        parts = _copied(self._noted)
        for (relation, name), outs in self._changed.items():
            for by in parts.values():
                by.get(relation, {}).pop(name, None)
            if any(outs.values()):
                parts.setdefault("some", {}).setdefault(relation, {})[name] = True
                parts.setdefault("in", {}).setdefault(relation, {})[name] = [
                    id_ for id_, out in outs.items() if not out
                ]
        return parts


def _copied(parts: Mapping[str, Any]) -> dict[str, dict[str, dict[str, Any]]]:
    return {part: {one: dict(reverses) for one, reverses in parts[part].items()} for part in parts if part in PARTS}
