"""What must hold after any fault: what was acknowledged is stored whole, and every copy is right."""

from __future__ import annotations

import time

from gatewayfw.errors import GatewayError
from gatewayfw.odm.copies.rules import LOCK
from tests.odm.oracle import check


def problems(odm, seconds=60.0):
    """Every copy and window that is not right once the pending jobs are done, in words."""
    if left := unfinished(odm, seconds):
        return [f"{left} jobs are not done after {seconds} s"]
    return [str(problem) for problem in check(odm.schemas, odm.storage)]


def unfinished(odm, seconds=60.0):
    """Work on the pending jobs until there are none, or that many seconds; how many are left."""
    end = time.monotonic() + seconds
    while (left := len(odm.jobs())) and time.monotonic() < end:
        odm.work(1.0)
        time.sleep(0.02)
    return left


def audit(stage):
    """Everything in the database that differs from what the clients were told, in words."""
    found = problems(stage.service.gw.odm)
    stored = {}
    for write in stage.ledger.writes:
        if (write.model, write.key) not in stored:
            stored[write.model, write.key] = _by_key(stage.storage, write)
        documents = stored[write.model, write.key].get(write.stored[write.key], [])
        found += _differences(write, stage.ledger.replies(write), documents)
    return found


def _by_key(storage, write):
    documents = {}
    for document in storage.find(write.model, {}):
        documents.setdefault(document.get(write.key), []).append(document)
    return documents


def _differences(write, replies, documents):
    """Yield what is wrong with one write, in words."""
    name = f"{write.model} {write.stored[write.key]}"
    uncertain = any(reply.is_uncertain for reply in replies)
    acknowledged = [reply for reply in replies if reply.status == 200]
    if len(documents) > 1:
        yield f"{name} is stored {len(documents)} times"
    if acknowledged and not documents:
        yield f"{name} was acknowledged and is lost"
    if documents and not acknowledged and not uncertain:
        yield f"{name} was refused and is stored"
    if any(reply.status == 409 for reply in replies) and not uncertain:
        yield f"{name} was refused as a duplicate of nothing"
    for document in documents:
        if not _is_whole(write, document):
            yield f"{name} is not stored whole"
        if any(reply.envelope["body"] != {"_id": str(document["_id"])} for reply in acknowledged):
            yield f"{name} was acknowledged with another _id"


def _is_whole(write, document):
    hidden = {"_id", "_gw", *write.related}
    pure = {name: value for name, value in document.items() if name not in hidden}
    related = {name: [str(copy["_id"]) for copy in document.get(name, [])] for name in write.related}
    return (pure, related) == (dict(write.stored), dict(write.related))


def seconds_until_writable(storage, model, limit):
    """Lock all documents of a model at once; after how many seconds that succeeded, at most about ``limit``."""
    ids = [document["_id"] for document in storage.find(model, {}, ())]
    start = time.monotonic()
    while True:
        try:
            storage.transaction(lambda: storage.touch_many(model, ids, lock=LOCK))
        except GatewayError:
            if time.monotonic() - start > limit:
                raise
        else:
            return time.monotonic() - start


def transaction_lifetime(client):
    """Seconds after which the server ends an open transaction."""
    return client.admin.command("getParameter", 1, transactionLifetimeLimitSeconds=1)["transactionLifetimeLimitSeconds"]
