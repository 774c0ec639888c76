"""Reset hidden fields that other tools have damaged, where they stop a write."""

import logging
from typing import Any

from gatewayfw.errors import GatewayError
from gatewayfw.odm.copies.rules import clock
from gatewayfw.odm.hidden import HIDDEN, examine, reset
from gatewayfw.storage import Storage

_LOG = logging.getLogger("gatewayfw.odm")


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
