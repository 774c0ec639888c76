"""Pure functions that find faults in a document's copies, and the right values.

The rules of `gatewayfw.odm.copies.rules` define what is right. A fault can be repaired unless the repair
would lose data found nowhere else in the database; then a person must decide.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bson import ObjectId

from gatewayfw.odm.copies.rules import assign, copy_of, embedded, has_form, version_of
from gatewayfw.odm.hidden import examine
from gatewayfw.odm.jobs.records import Job
from gatewayfw.schemas import Relation
from gatewayfw.storage import Document
from gatewayfw.storage.documents import encode

IS_DAMAGED = "is damaged"
IS_REQUIRED = "is required"
IS_EMPTY = "is empty"
IS_LIST = "is a list"
IS_NO_LIST = "is no list"
NO_COPY = "holds what is no copy"
DOUBLED = "embeds a document twice"
SEVERAL = "holds several documents"
OVER_LIMIT = "is over its limit"
EXCLUDED = "has an excluded field"
UNDECLARED = "has a field that is not declared"
DANGLING = "its source does not exist"
DIFFERS = "differs from its source"
AHEAD = "is newer than its source"
DIFFERS_FROM_MEMBERS = "differs from its members"

#: Gives the job that will correct a copy; see `Judge`.
JobOf = Callable[[Relation, Mapping[str, Any], ObjectId, int, bool], Job | None]


@dataclass(frozen=True)
class Fault:
    """One fault: where, what, whether it is repairable, and the job that repairs it."""

    path: str
    reason: str
    mendable: bool = True
    job: Job | None = None


@dataclass
class Verdict:
    """What is wrong with one relation of a document.

    Attributes:
        copies: the copies that the relation should hold, in order.
        taken: the versions of the sources that copies are taken from anew, by id.
        gone: ids of the copies to drop.
        orphaned: whether the relation is required and each of its sources is gone for good.
    """

    faults: list[Fault] = field(default_factory=list)
    copies: list[Document] = field(default_factory=list)
    taken: dict[ObjectId, int] = field(default_factory=dict)
    gone: list[ObjectId] = field(default_factory=list)
    orphaned: bool = False

    @property
    def mends(self) -> bool:
        """Whether anything can be repaired now."""
        return any(fault.mendable and fault.job is None for fault in self.faults)

    def update(self, relation: Relation) -> dict[str, dict[str, Any]]:
        """Return the update that repairs the relation's value; ``{}`` for no change."""
        return assign(relation.name, embedded(relation, self.copies)) if self.mends else {}


@dataclass(frozen=True)
class Judge:
    """The judge of one relation.

    Attributes:
        fields: the pure fields of its copies.
        pure: the pure fields of the embedded model, also those that copies leave out.
        sources: the documents it may embed, by ``_id``; others do not exist. Frozen copies need none.
        job_of: returns the job that will correct a copy, or None, given the relation, the document, the ``_id`` and
            version of the copy, and whether its source is gone.
        drops: whether dangling copies may be dropped.
    """

    relation: Relation
    fields: tuple[str, ...]
    pure: Collection[str]
    sources: Mapping[ObjectId, Document]
    job_of: JobOf
    drops: bool

    def verdict(self, document: Mapping[str, Any]) -> Verdict:
        """Judge the value of a relation in a document."""
        relation, verdict = self.relation, Verdict()
        value = document.get(relation.name)
        elements = value if isinstance(value, list) else [] if value is None else [value]
        usable = [one for one in elements if isinstance(one, Mapping) and isinstance(one.get("_id"), ObjectId)]
        distinct: dict[ObjectId, Document] = {}
        for copy in usable:
            distinct.setdefault(copy["_id"], dict(copy))
        form = self._form(value, len(elements) - len(usable), len(usable) - len(distinct))
        if not distinct and not relation.optional:
            verdict.faults.append(Fault(relation.name, IS_REQUIRED, mendable=False))
        elif relation.type == "single" and len(distinct) > 1:
            verdict.faults.append(Fault(relation.name, SEVERAL, mendable=False))
        elif relation.frozen and len(distinct) < len(elements):
            verdict.faults += [replace(fault, mendable=False) for fault in form]
        else:
            verdict.faults += form
            if relation.limit is not None and len(distinct) > relation.limit:
                verdict.faults.append(Fault(relation.name, OVER_LIMIT, mendable=False))
            versions = examine(document)[0].get("at", {}).get(relation.name, {})
            for id_, copy in distinct.items():
                if relation.frozen:
                    self._judge_frozen(id_, copy, verdict)
                else:
                    version = versions.get(str(id_), 0)
                    self._judge_copy(copy, version, verdict, partial(self.job_of, relation, document, id_, version))
            lost = sum(fault.reason == DANGLING and fault.job is None for fault in verdict.faults)
            verdict.orphaned = not (relation.optional or relation.frozen) and lost == len(distinct)
        return verdict

    def _form(self, value: object, strange: int, doubled: int) -> list[Fault]:
        """Judge a value's form, given how many elements are not copies or are repeated."""
        if value == []:
            return [Fault(self.relation.name, IS_EMPTY)]
        wrong = value is not None and not has_form(self.relation.type, value)
        reasons = {IS_LIST if isinstance(value, list) else IS_NO_LIST: wrong, NO_COPY: strange, DOUBLED: doubled}
        return [Fault(self.relation.name, reason) for reason, is_so in reasons.items() if is_so]

    def _judge_frozen(self, id_: ObjectId, copy: Document, verdict: Verdict) -> None:
        """Judge a copy by its names alone: what its source was is written nowhere else."""
        path = f"{self.relation.name}.{id_}"
        if any(name in self.pure and name not in self.fields for name in copy):
            verdict.faults.append(Fault(path, EXCLUDED))
        if any(name != "_id" and name not in self.pure for name in copy):
            verdict.faults.append(Fault(path, UNDECLARED, mendable=False))
        verdict.copies.append({name: copy[name] for name in copy if name in self.fields or name not in self.pure})

    def _judge_copy(self, copy: Document, version: int, verdict: Verdict, job_of: Callable[[bool], Job | None]) -> None:
        id_ = copy["_id"]
        path, source = f"{self.relation.name}.{id_}", self.sources.get(id_)
        if source is None:
            job = job_of(True)
            verdict.faults.append(Fault(path, DANGLING, self.drops, job))
            if self.drops and job is None:
                verdict.gone.append(id_)
            else:
                verdict.copies.append(copy)
            return
        right = copy_of(source, self.fields)
        ahead = version != 0 and version > version_of(source)  # most copies have no version
        is_right = same(copy, right)
        if ahead or not is_right:
            newest = version_of(source)
            # A job does not renew a copy that claims to be as new as the source.
            job = job_of(False) if version < newest else None
            verdict.faults.append(Fault(path, AHEAD if is_right else DIFFERS, job=job))
            if job is None:
                verdict.taken[id_] = newest
                copy = right
        verdict.copies.append(copy)


def same_copies(found: object, expected: Sequence[Document]) -> bool:
    """Tell whether a stored window is the expected one; an empty one may be absent."""
    return isinstance(found, list) and len(found) == len(expected) and all(map(same, found, expected))


def same(found: object, expected: Document) -> bool:
    """Tell whether a stored copy is the expected one, in any order of fields."""
    # Compare the stored forms: in Python 1, 1.0 and True are equal, and not-a-number differs from itself.
    if not isinstance(found, Mapping) or found.keys() != expected.keys():
        return False
    return encode({name: found[name] for name in expected}) == encode(expected)
