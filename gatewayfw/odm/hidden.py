"""Read the hidden field, count revisions in it, reset what tools have damaged.

`gatewayfw.odm.copies.rules` says what its parts mean. A part that has not the form given here says nothing: readers
take it for absent, and `examine` names it.
"""

import logging
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeGuard, TypeVar

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.errors import GatewayError, Stale, ValidationError
from gatewayfw.schemas.values import HIGHEST
from gatewayfw.storage import Storage

T = TypeVar("T")
_LOG = logging.getLogger("gatewayfw.odm")
HIDDEN = "_gw"
#: Counters of a damaged field go on from the clock, above all that they have counted.
_COUNTERS = ("rev", "v", "r")
#: A counter above this, which no clock reaches, could soon not be raised any more.
MOST = 2**62
_GONE: Any = object()
#: Where a document has its revision.
REVISION = f"{HIDDEN}.r"
#: The update that raises it.
RAISED: Mapping[str, Mapping[str, Any]] = MappingProxyType({"$inc": MappingProxyType({REVISION: 1})})


def counter_in(document: Mapping[str, Any], name: str) -> int:
    """Return a counter of a document's hidden field; 0 if there is none."""
    stored = document.get(HIDDEN)
    if type(stored) is not dict and not isinstance(stored, Mapping):  # the second question takes much longer
        return 0
    value = stored.get(name, 0)
    return value if _is_counter(value) else 0


def cuts_of(document: Mapping[str, Any]) -> dict[str, int]:
    """Return the share of each cut window of a document."""
    stored = document.get(HIDDEN)
    cut = stored.get("cut") if isinstance(stored, Mapping) else None
    shares = cut.items() if isinstance(cut, Mapping) else ()
    return {name: share for name, share in shares if _is_counter(share)}


def examine(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a document's hidden field without its damaged parts, and their paths."""
    if HIDDEN not in document:
        return {}, []
    stored = document[HIDDEN]
    if not isinstance(stored, Mapping):
        return {}, [HIDDEN]
    damaged: list[str] = []
    right = _parts(stored, lambda name, part: _right(part, *_FORMS.get(name, _ANY), f"{HIDDEN}.{name}", damaged))
    return right, damaged


def reset(document: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Return the hidden field without its damaged parts.

    Damaged counters go on from ``version``. Opt-outs that cannot be read are lost, a copy without a version is renewed
    by the next job, and a window without a share is recomputed.
    """
    right, damaged = examine(document)
    counters = _COUNTERS if damaged == [HIDDEN] else [name for name in _COUNTERS if f"{HIDDEN}.{name}" in damaged]
    return {**right, **dict.fromkeys(counters, version)}


def _right(value: Any, depth: int, read: Callable[[Any], Any], path: str, damaged: list[str]) -> Any:
    """Return the valid parts, ``depth`` objects below; note the paths of others."""
    if depth and isinstance(value, Mapping):
        return _parts(value, lambda name, part: _right(part, depth - 1, read, f"{path}.{name}", damaged))
    right = _GONE if depth else read(value)
    if right is _GONE or (right is not value and right != value):  # NaN differs from itself
        damaged.append(path)
    return right


def _parts(value: Mapping[str, Any], right_of: Callable[[str, Any], Any]) -> dict[str, Any]:
    found = ((name, right_of(name, part)) for name, part in value.items())
    return {name: right for name, right in found if right is not _GONE}


def _is_counter(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def _read_counter(value: Any) -> Any:
    return value if _is_counter(value) else _GONE


def _read_ids(value: Any) -> Any:
    ids = [one for one in value if isinstance(one, ObjectId)] if isinstance(value, list) else _GONE
    return ids or (_GONE if value else [])  # even an empty list opts out where a relation is `single`


#: How deep the values of each part are, and what reads one of them.
_FORMS: Mapping[str, tuple[int, Callable[[Any], Any]]] = {
    **dict.fromkeys(_COUNTERS, (0, _read_counter)),
    "out": (2, _read_ids),
    "some": (2, lambda value: value is True or _GONE),
    "in": (2, _read_ids),
    "at": (2, _read_counter),
    "cut": (1, lambda value: value if value is None else _read_counter(value)),
}
_ANY: tuple[int, Callable[[Any], Any]] = (0, lambda value: value)  # of another version


# -- damage that stops a write is reset


def clock() -> int:
    """Return a version above all that were counted: microseconds since 1970.

    Use it for a document whose versions cannot continue: one that has the ``_id`` of a deleted
    document, or that another tool put in the place of a newer one.
    """
    return int(time.time() * 1_000_000)


def mend_met(storage: Storage, error: GatewayError) -> bool:
    """Reset the damaged hidden fields among the documents that a failed write met.

    Returns whether there were any; then the write may be tried again. Each is reset by itself, and logged. Within a
    transaction, which the refusal has failed, it raises what failed it.
    """
    if error.met is None:
        return False
    collection, filters = error.met
    met = [one for filter in filters for one in storage.find(collection, filter, [HIDDEN]) if examine(one)[1]]
    return sum(bool(mend_hidden(storage, collection, one["_id"])) for one in met) > 0


def mend_hidden(storage: Storage, collection: str, id_: Any) -> list[str]:
    """Reset the damaged parts of one document's hidden field, and return their paths.

    Opt-outs may be lost and windows cut differently, so the copies around it may be wrong until a repair.
    """

    def write() -> list[str]:
        for document in storage.find(collection, {"_id": id_}, [HIDDEN], limit=1):
            if damaged := examine(document)[1]:
                storage.update_one(collection, {"_id": id_}, {"$set": {HIDDEN: reset(document, clock())}}, ())
                return damaged
        return []

    try:
        damaged = storage.transaction(write)
    except GatewayError as error:
        _LOG.error("%s %s: another tool damaged %s, and it cannot be reset: %s", collection, id_, HIDDEN, error.message)
        return []
    if damaged:
        told = "%s %s: another tool damaged %s, which is reset: flask gateway repair mends what follows"
        _LOG.warning(told, collection, id_, ", ".join(damaged))
    return damaged


# -- revisions: counters of the changes of a document, which `get` calls ``_rev``

# Every change of a document's own content raises it: updates, relations added or removed, copies lost because their
# source was deleted. What the framework keeps up to date in it does not: renewed copies, windows, repairs. If its
# caller gave the ``_id``, it starts at the clock, so that a deleted document's revision is never one of its successor.


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
