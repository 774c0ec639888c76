"""What an operation does: to its own document as a member, and to its targets."""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

from bson import ObjectId

from gatewayfw.odm.copies.rules import HiddenField, copy_of, version_of
from gatewayfw.odm.ids import key_of
from gatewayfw.odm.writing.inputs import RelationInput
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.schemas import RelatedRelation, Relation
from gatewayfw.storage import Document

#: One reverse relation of one target.
Key = tuple[RelatedRelation, ObjectId]
Copy = dict[str, Any]


@dataclass
class Effects:
    """The changes of targets that an operation causes.

    Attributes:
        shared: whether plans of several documents add to it, and it is settled once after all of them.
    """

    shared: bool = False
    #: Targets whose window must be recomputed, by reverse relation.
    windows: dict[RelatedRelation, set[ObjectId]] = field(default_factory=dict)
    #: Members that leave a window, which is recomputed only if it lists one of them.
    departures: dict[Key, list[Any]] = field(default_factory=dict)
    #: Copies of members that enter a window.
    entries: dict[Key, list[Copy]] = field(default_factory=dict)
    #: Copies that become the content of a `single` reverse; None unsets it.
    claims: dict[Key, Copy | None] = field(default_factory=dict)
    #: Copies of members that are replaced where they stand, and the targets that may list them.
    renewals: list[tuple[RelatedRelation, Sequence[ObjectId], Copy]] = field(default_factory=list)
    #: Targets whose `single` reverse is unset if it still copies the member, by its `key_of`, and its `_id`.
    releases: dict[tuple[RelatedRelation, Hashable], tuple[Any, set[ObjectId]]] = field(default_factory=dict)
    #: The values of `single` reverses that were removed from the operation's own document to make room.
    removed: dict[Key, Any] = field(default_factory=dict)

    # -- what the locks of targets have done already

    #: The targets that are locked, by model.
    locked: dict[str, set[ObjectId]] = field(default_factory=dict)
    #: Where entries and claims are written.
    written: set[Key] = field(default_factory=set)
    #: What windows hold already if they have no other members than the entered copies.
    presumed: dict[Key, Sequence[Copy]] = field(default_factory=dict)
    #: Whether reverse relations of the own document were removed.
    is_emptied: bool = False

    def recompute(self, reverse: RelatedRelation, target_id: ObjectId) -> None:
        """Note that a window changes, or may."""
        self.windows.setdefault(reverse, set()).add(target_id)

    def enter(self, reverse: RelatedRelation, target_id: ObjectId, copy: Copy) -> None:
        """Note that a member becomes part of a reverse relation."""
        if reverse.type == "single":
            self.claims[reverse, target_id] = copy
        else:
            self.entries.setdefault((reverse, target_id), []).append(copy)

    def leave(self, reverse: RelatedRelation, target_id: ObjectId, member_id: ObjectId) -> None:
        """Note that a member is no longer part of a reverse relation."""
        if reverse.type == "single":
            self.releases.setdefault((reverse, key_of(member_id)), (member_id, set()))[1].add(target_id)
        else:
            self.departures.setdefault((reverse, target_id), []).append(member_id)

    def decide(self, left: Iterable[Key], listing: Container[ObjectId]) -> None:
        """Recompute those of the left windows whose targets list a departing member."""
        for reverse, id_ in left:
            del self.departures[reverse, id_]
            if id_ in listing:
                self.recompute(reverse, id_)

    def depart(self, relation: Relation, target_ids: Iterable[ObjectId], member_id: Any, hidden: HiddenField) -> None:
        """Note that a member no longer embeds targets.

        It leaves all their reverses, but for windows of which it opted out.
        """
        for target_id in target_ids:
            for reverse in relation.related_relations.values():
                if reverse.type == "single" or not hidden.is_out(reverse, target_id):
                    self.leave(reverse, target_id, member_id)

    def forget(self, gone: Mapping[str, set[ObjectId]]) -> None:
        """Drop targets that are being deleted themselves, by model."""
        for reverse, ids in self.windows.items():
            ids -= gone.get(reverse.target, set())
        for (reverse, _key), (_id, ids) in self.releases.items():
            ids -= gone.get(reverse.target, set())
        for key in [(reverse, id_) for reverse, id_ in self.departures if id_ in gone.get(reverse.target, ())]:
            del self.departures[key]

    def to_recompute(self) -> dict[RelatedRelation, set[ObjectId]]:
        """Return the targets whose window must be recomputed.

        They include windows that members enter, unless that is written.
        """
        found = {reverse: set(ids) for reverse, ids in self.windows.items()}
        for reverse, id_ in self.entries:
            if (reverse, id_) not in self.written:
                found.setdefault(reverse, set()).add(id_)
        return found

    def targets(self) -> dict[str, set[ObjectId]]:
        """Return the targets to lock, by model.

        A `single` reverse whose copy is replaced needs no lock, because a claim writes the member's
        own document.
        """
        found: dict[str, set[ObjectId]] = {}
        for reverse, listed, _copy in self.renewals:
            if reverse.type == "multiple":
                found.setdefault(reverse.target, set()).update(listed)
        for reverse, ids in self.windows.items():
            found.setdefault(reverse.target, set()).update(ids)
        for reverse, id_ in (*self.entries, *self.claims, *self.departures):
            found.setdefault(reverse.target, set()).add(id_)
        for (reverse, _key), (_id, ids) in self.releases.items():
            found.setdefault(reverse.target, set()).update(ids)
        return found


@final
class Member:
    """One document of an operation.

    Attributes:
        document: as it was given or read, with its pure fields.
        hidden: its hidden field as it will be.
        effects: what the operation does to targets; documents of one operation share it.
    """

    def __init__(self, attempt: Attempt, document: Mapping[str, Any], effects: Effects) -> None:
        self._attempt = attempt
        self.document = document
        self.hidden = HiddenField(document)
        self.effects = effects

    def enter(self, given: RelationInput, present: Container[Any] = ()) -> None:
        """Enter the reverse relations of targets, or note the opt-outs.

        An id that is ``present`` keeps its membership if the flag is omitted.
        """
        for reverse in given.relation.related_relations.values():
            flag = given.flags.get(reverse.name, reverse.default)
            copy = copy_of(self.document, self._attempt.fields_of(reverse))
            for id_ in given.ids:
                if id_ in present and reverse.name not in given.flags:
                    continue
                if reverse.type == "multiple":
                    self.hidden.set_out(reverse, id_, not flag)
                if flag:
                    self.effects.enter(reverse, id_, copy)
                elif id_ in present:
                    self.effects.leave(reverse, id_, self.document["_id"])

    def leave(self, relation: Relation, ids: Iterable[ObjectId]) -> None:
        """Leave all reverse relations of targets whose copies are dropped."""
        gone = list(ids)
        self.effects.depart(relation, gone, self.document["_id"], self.hidden)
        self.hidden.forget(relation.name, gone)

    def take(self, relation: Relation, source: Document) -> Copy:
        """Return a copy of a source, and note its version."""
        self.hidden.set_at(relation.name, source["_id"], version_of(source))
        return copy_of(source, self._attempt.fields_of(relation))
