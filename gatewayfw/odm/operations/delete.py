"""Delete one document."""

from __future__ import annotations

from collections import Counter

from gatewayfw.errors import ValidationError
from gatewayfw.odm.operations.handle import Filter, Handle
from gatewayfw.odm.reading.cursor import DeleteResult
from gatewayfw.odm.reading.revisions import of_revision, raise_if_stale
from gatewayfw.odm.writing.apply import apply
from gatewayfw.odm.writing.plan.attempt import Attempt
from gatewayfw.odm.writing.plan.delete import delete
from gatewayfw.schemas.messages import NO_BOOLEAN


def delete_one(model: Handle, wanted: Filter, rev: int | None, cascade: bool) -> DeleteResult:
    """Delete one document, and with ``cascade`` those that require it."""
    storage = model.ready()
    check_cascade(cascade)
    exact = of_revision(wanted, rev)

    def write(attempt: Attempt) -> dict[str, int] | None:
        counts = apply(storage, delete(attempt, model.schema, exact, cascade))
        return raise_if_stale(storage, model.name, wanted, rev, counts)

    done = model.database.run(write, hot=model.named(wanted))
    if done.result is None:
        return DeleteResult(deletedCount=0, cascaded={})
    cascaded = dict(sorted((done.deleted + Counter(done.result)).items()))
    pending = {"pending": True} if done.pending else {}
    return DeleteResult(deletedCount=1, cascaded=cascaded, **pending)


def check_cascade(hard_cascade: object) -> None:
    """Raise ValidationError unless ``hard_cascade`` is true or false."""
    if not isinstance(hard_cascade, bool):
        raise ValidationError({"hardCascade": [NO_BOOLEAN]})
