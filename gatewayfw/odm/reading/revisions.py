"""Revisions: counters of the changes of a document, which `get` calls ``_rev``.

The hidden field has the counter in ``r``; absent means 0. Every change of a document's own content raises it:
updates, relations added or removed, copies lost because their source was deleted. What the framework keeps up to date
in it does not: renewed copies, windows, repairs. If its caller gave the ``_id``, it starts at the clock, so that a
deleted document's revision is never one of its successor.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from gatewayfw import messages
from gatewayfw.errors import Stale, ValidationError
from gatewayfw.odm.hidden import HIDDEN, counter_in
from gatewayfw.schemas.values import HIGHEST
from gatewayfw.storage import Storage

#: Where a document has its revision.
T = TypeVar("T")
REVISION = f"{HIDDEN}.r"
#: The update that raises it.
RAISED: Mapping[str, Mapping[str, Any]] = MappingProxyType({"$inc": MappingProxyType({REVISION: 1})})


def revision_of(document: Mapping[str, Any]) -> int:
    """Return the revision of a stored document; 0 if it has none."""
    return int(counter_in(document, "r"))  # BSON's are no plain ones


def of_revision(filter: Mapping[str, Any], rev: object) -> dict[str, Any]:
    """Return a stored filter that also asks for a revision; None asks for none.

    Raises:
        ValidationError: ``rev`` is no whole number from 0.
    """
    if rev is None:
        return dict(filter)
    if type(rev) is not int or not 0 <= rev <= HIGHEST:
        raise ValidationError({"rev": [messages.NO_REVISION]})
    return {**filter, REVISION: rev or {"$in": [0, None]}}


def raise_if_stale(storage: Storage, model: str, filter: Mapping[str, Any], rev: object, result: T | None) -> T | None:
    """Return the result of an operation that asked for a revision.

    Call it in the operation's transaction, with the filter without the revision.

    Raises:
        Stale: there is no result because the document has another revision.
    """
    if result is None and rev is not None:
        for found in storage.find(model, filter, [REVISION], limit=1):
            raise Stale(revision_of(found))
    return result
