"""What a plan depends on besides its input, and what it leaves behind."""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar, final

from gatewayfw.errors import GatewayError, ReplyTooLarge, TooLarge
from gatewayfw.odm.copies.rules import CUT, LOCK
from gatewayfw.odm.hidden import counter_in, mend_met
from gatewayfw.odm.reading.projection import copied_fields
from gatewayfw.odm.sizes.budgets import Budget, SizeChecks, holder_budget, window_budget
from gatewayfw.odm.sizes.own_fields import FieldsTooLarge
from gatewayfw.schemas import RelatedRelation, Relation, Schemas
from gatewayfw.schemas.models import Link
from gatewayfw.storage import Document, Lock, Storage
from gatewayfw.storage.terms import Marked

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
#: How documents are locked where no window is measured: a cut window must be.
_UNCUT = replace(LOCK, unmarked=CUT)


class Abilities(NamedTuple):
    """What a storage can do; the attributes are those methods of `Storage`."""

    has_transactions: bool
    counts_locks: bool
    most_bytes: int


def abilities_of(storage: Storage) -> Abilities:
    """Return what a storage can do."""
    return Abilities(storage.has_transactions(), storage.counts_locks(), storage.most_bytes)


@final
class CopyCounts:
    """Upper bounds on copies, so that frequent changes need not count them.

    Every operation that copies a document locks it first, and where the storage `counts_locks` the
    lock adds the number of copies to a counter in the document. So there are at most as many copies
    as the last change met, plus what the counter has grown by since. Only committed changes are
    noted: a failed transaction may have met fewer copies than exist after it is undone.

    Each bound is used once, because the change itself notes the next one. So a wrong bound, caused by
    a tool that added holders without a lock, is forgotten after the first change that fails over it.
    """

    def __init__(self, most: int = 10_000) -> None:
        """Remember bounds for so many documents and relations."""
        self._most = most
        self._met: dict[tuple[str, str, object], tuple[int, int]] = {}

    def note(self, relation: Relation, source: Document, met: int) -> None:
        """Remember how many copies in a relation a committed change of the source met."""
        if len(self._met) >= self._most:
            self._met.clear()
        self._met[_count_key(relation, source)] = (met, counter_in(source, "rev"))

    def take(self, relation: Relation, source: Document) -> int | None:
        """Return a bound on the copies of a locked source, if one is known."""
        known = self._met.pop(_count_key(relation, source), None)
        if known is None:
            return None
        met, locks = known
        grown = counter_in(source, "rev") - locks
        return met + grown if grown >= 0 else None


def _count_key(relation: Relation, source: Document) -> tuple[str, str, object]:
    return relation.model, relation.name, source["_id"]


@dataclass(eq=False)
class Attempt:
    """One attempt of an operation: a conflict, or too large a document, may end it.

    Attributes:
        schemas: the definitions of the models.
        can: what the storage can do.
        limit: most copies that it may still write itself; infinity where everything is written at once.
        size_checks: what is measured, so that no document becomes too large.
        counts: the numbers of copies that are known without counting them.
        jobs: the keys of the jobs that it left; jobs of a failed attempt do not exist.
        renewed: how many copies in a relation a change of a source renewed; valid once it is committed.
        freed: the keys of bytes kept elsewhere, whose documents it deleted.
    """

    schemas: Schemas
    can: Abilities
    limit: float = math.inf
    size_checks: SizeChecks = SizeChecks.NONE
    counts: CopyCounts = field(default_factory=CopyCounts)
    jobs: set[str] = field(default_factory=set, init=False)
    renewed: list[tuple[Relation, Document, int]] = field(default_factory=list, init=False)
    freed: set[str] = field(default_factory=set, init=False)
    _most_spent: float = field(default=0.0, init=False)

    # -- how much it may write

    @property
    def is_bounded(self) -> bool:
        """Whether there is a limit at all."""
        return self.limit < math.inf

    @property
    def has_room(self) -> bool:
        """Whether the limit suffices for another document like the largest so far."""
        return self.limit >= self._most_spent

    def beyond(self, sizes: Mapping[K, int], already: int = 0) -> set[K]:
        """Return what to leave to jobs: the largest, until the rest is within the limit."""
        left, beyond = self.limit - already, set()
        for name in sorted(sizes, key=lambda one: sizes[one]):
            left -= sizes[name]
            if sizes[name] and left < 0:
                beyond.add(name)
        return beyond

    def spend(self, copies: int) -> None:
        """Take the copies that one document's change writes from the limit."""
        self.limit -= copies
        self._most_spent = max(self._most_spent, copies)

    # -- how it writes

    @property
    def lock(self) -> Lock:
        """How it locks documents.

        One that measures no windows must not write a target with a cut one.
        """
        return LOCK if self.size_checks or not self.can.has_transactions else _UNCUT

    @property
    def trusts_windows(self) -> bool:
        """Whether a window stays as it is when a member leaves that it does not list.

        A cut one may become longer, and only the locks of transactions refuse those.
        """
        return not self.size_checks and self.can.has_transactions

    @property
    def lets_members_in(self) -> bool:
        """Whether the lock of a target may push members into its windows."""
        return self.trusts_windows and self.can.counts_locks

    def fields_of(self, link: Link) -> tuple[str, ...]:
        """Return the pure fields of the copies that a relation or reverse relation holds."""
        return self.schemas.remembered(copied_fields, link)

    def holder_budget(self, model: str) -> Budget | None:
        """Return the budget for copies in documents; None if they always fit."""
        return self.schemas.remembered(holder_budget, model, self.can.most_bytes)

    def window_budget(self, reverse: RelatedRelation) -> Budget | None:
        """Return the budget of a window that is not measured; None if all members fit."""
        return self.schemas.remembered(window_budget, reverse)


def with_size_checks(
    storage: Storage,
    write: Callable[[SizeChecks], T],
    first: SizeChecks = SizeChecks.NONE,
    stopped: Callable[[], GatewayError | None] = lambda: None,
) -> T:
    """Run a write; if documents get too large, run it again and measure more.

    Where a damaged hidden field stops it, this is reset, and the write runs again. The write must do all or nothing.
    Without transactions it may have done a part, so it is not run again: there, plans measure where a step is refused.
    ``stopped`` gives the error that stopped an operation within the write, which may have got another name since.
    """
    checks, unmended = first, 0
    while True:
        try:
            return write(checks)
        except Exception as error:
            reason = stopped() or error
            if _is_too_large(reason) and checks is not SizeChecks.HOLDERS and storage.has_transactions():
                checks = SizeChecks(checks + 1)
                continue
            if not isinstance(reason, GatewayError) or reason.met is None:
                raise
            if not mend_met(storage, reason):
                unmended += 1  # once, another writer may have mended it meanwhile
            if unmended > 1 or not storage.has_transactions():
                raise


def _is_too_large(error: Exception) -> bool:
    """Tell whether more measuring may help."""
    return isinstance(error, (Marked, TooLarge)) and not isinstance(error, (ReplyTooLarge, FieldsTooLarge))
