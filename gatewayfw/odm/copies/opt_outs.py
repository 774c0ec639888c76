"""How a document notes which windows it opted out of, and how members are found.

A document is a member of each target that it embeds, unless it opted out. An index finds the members of a window only
by what is there, and it has room for one list. So the hidden field of a document has, by relation and reverse:

- ``out``, for a `single` relation: its presence says that the document opted out; it lists the target;
- ``some``, for a `multiple` relation: true where it opted out of some targets; then ``in`` lists the others, in whose
  windows it is all the same. Earlier versions noted in ``out`` the targets that must not list it.

While two definitions of a relation are in use, each reads what the other notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, final

from bson import ObjectId

from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.schemas import RelatedRelation

#: The parts of the hidden field that are written here.
PARTS: Final = ("out", "some", "in")
#: Ids in order, with fast lookup.
_Ids = dict[ObjectId, None]
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


@final
class OptOuts:
    """The windows that one document opted out of: read and change them.

    ``parts`` are the valid ones of its hidden field, ``ids_of`` gives the ids that it embeds in a relation.
    """

    def __init__(self, parts: Mapping[str, Any], ids_of: Callable[[str], Sequence[ObjectId]]) -> None:
        self._ids_of = ids_of
        self._out: dict[str, dict[str, _Ids]] = {
            relation: {name: dict.fromkeys(ids) for name, ids in reverses.items()}
            for relation, reverses in parts.get("out", _NOTHING).items()
        }
        listed = parts.get("in", _NOTHING)
        self._listed: dict[str, dict[str, _Ids]] = {
            relation: {name: dict.fromkeys(listed.get(relation, _NOTHING).get(name, ())) for name in reverses}
            for relation, reverses in parts.get("some", _NOTHING).items()
        }
        #: What was said of windows of `multiple` relations since, by target.
        self._said: dict[str, dict[str, dict[ObjectId, bool]]] = {}
        self._gone: dict[str, set[ObjectId]] = {}

    def is_out(self, reverse: RelatedRelation, target_id: ObjectId) -> bool:
        """Tell whether the document opted out of a target's reverse relation."""
        if reverse.of_single and self._outs(reverse.relation, reverse.name):
            return True
        return self._is_out(reverse.relation, reverse.name, target_id)

    def _is_out(self, relation: str, name: str, target_id: ObjectId) -> bool:
        said = self._said.get(relation, {}).get(name, {})
        if target_id in said:
            return said[target_id]
        listed = self._listed.get(relation, {}).get(name)
        return target_id in self._outs(relation, name) if listed is None else target_id not in listed

    def _outs(self, relation: str, name: str) -> _Ids:
        return self._out.get(relation, {}).get(name, {})

    def set_out(self, reverse: RelatedRelation, target_id: ObjectId, out: bool) -> None:
        """Note whether the document opts out of a target's `multiple` reverse."""
        relation, name = reverse.relation, reverse.name
        if not reverse.of_single:
            self._said.setdefault(relation, {}).setdefault(name, {})[target_id] = out
            return
        self._listed.get(relation, {}).pop(name, None)
        ids = self._out.setdefault(relation, {}).setdefault(name, {})
        if out:
            ids[target_id] = None
        else:
            ids.pop(target_id, None)

    def renote(self, reverses: Iterable[RelatedRelation]) -> None:
        """Note the same opt-outs in the form of the relation of these reverses.

        An index holds at most one list of a document, so what a `single` relation noted keeps it from holding a list.
        """
        for reverse in reverses:
            for id_ in self._ids_of(reverse.relation):
                self.set_out(reverse, id_, self.is_out(reverse, id_))

    def forget(self, relation: str, ids: Iterable[ObjectId]) -> None:
        """Delete what is noted about targets that the document no longer embeds."""
        gone = set(ids)
        self._gone.setdefault(relation, set()).update(gone)
        parts: tuple[dict[str, dict[str, dict[ObjectId, Any]]], ...] = (self._out, self._listed, self._said)
        for part in parts:
            for targets in part.get(relation, {}).values():
                for id_ in gone:
                    targets.pop(id_, None)

    def parts(self) -> dict[str, Any]:
        """Return the parts of the hidden field; some may be empty."""
        out = {
            relation: {name: list(ids) for name, ids in reverses.items() if ids and not self._has_said(relation, name)}
            for relation, reverses in self._out.items()
        }
        some: dict[str, dict[str, bool]] = {}
        listed: dict[str, dict[str, list[ObjectId]]] = {}
        for relation in dict.fromkeys((*self._listed, *self._said)):
            said, noted = self._said.get(relation, {}), self._listed.get(relation, {})
            for name in dict.fromkeys((*noted, *said)):
                if (ids := self._listing(relation, name)) is not None:
                    some.setdefault(relation, {})[name] = True
                    listed.setdefault(relation, {})[name] = ids
        return dict(zip(PARTS, (out, some, listed), strict=True))

    def _has_said(self, relation: str, name: str) -> bool:
        return name in self._said.get(relation, ())

    def _listing(self, relation: str, name: str) -> list[ObjectId] | None:
        """Return the targets whose window lists the document; None for all that it embeds."""
        if not self._has_said(relation, name) and not self._gone.get(relation):
            return list(self._listed[relation][name])
        said, gone = self._said.get(relation, {}).get(name, ()), self._gone.get(relation, ())
        embedded = dict.fromkeys((*(id_ for id_ in self._ids_of(relation) if id_ not in gone), *said))
        ids = [id_ for id_ in embedded if not self._is_out(relation, name, id_)]
        return None if len(ids) == len(embedded) else ids
