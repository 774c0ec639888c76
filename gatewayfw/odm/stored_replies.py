"""The records of idempotent acts, written in the transactions of the acts.

`gatewayfw.acts.idempotent` decides what they mean.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, final

from gatewayfw.errors import DefinitionError, DuplicateKey, Unavailable, UsageError
from gatewayfw.odm.database import Database
from gatewayfw.storage import Document, Index, Storage
from gatewayfw.storage.terms import WriteConflict

COLLECTION = "_gw_replies"
#: The database deletes records after the time that they state.
INDEXES = (Index((("expires", 1),), {"expireAfterSeconds": 0}),)
NO_TRANSACTIONS = (
    "idempotent acts need transactions, which a standalone MongoDB server does not have: run a replica set"
)


class _Lost(Exception):
    """Another request wrote first; it has the outcome."""


@final
class Replies:
    """The records in the database of one gateway."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, id_: str) -> Document | None:
        """Return a record by its id, or None; expired ones may be there.

        Raises:
            DefinitionError: no database is set, or it has no transactions.
            UsageError: a transaction is under way.
        """
        storage = self._ready()
        return next(storage.find(COLLECTION, {"_id": id_}, limit=1), None)

    def attempt(
        self, record: Mapping[str, Any], answer: Callable[[], Mapping[str, Any]], *, replace: str | None
    ) -> Literal["DONE", "CONFLICT", "DUPLICATE"]:
        """Insert a record, run ``answer`` and set what it returns, in one transaction.

        ``replace`` is the token of an expired record of this id, which is deleted first. Returns
        ``DONE``; or ``CONFLICT`` or ``DUPLICATE`` where the insert met another one, and nothing else was done.

        Raises:
            Exception: that of ``answer`` or the database; nothing is written, or the outcome is unknown.
        """
        storage = self._ready()
        same = {"_id": record["_id"]}
        has_conflict = False  # whether the first write has met another request

        def work() -> None:
            nonlocal has_conflict
            if has_conflict:
                raise _Lost
            try:
                if replace:
                    storage.delete_many(COLLECTION, {**same, "token": replace})
                storage.insert(COLLECTION, [dict(record)])
            except WriteConflict:
                has_conflict = True
                raise
            except DuplicateKey as error:
                raise _Lost from error
            storage.update_one(COLLECTION, same, {"$set": dict(answer())}, ())

        try:
            self._database.transact(work, (COLLECTION, {**same, "token": record["token"]}))
        except _Lost:
            return "CONFLICT" if has_conflict else "DUPLICATE"
        except Unavailable:
            if has_conflict:
                return "CONFLICT"
            raise
        return "DONE"

    def _ready(self) -> Storage:
        """Return the storage, prepared; nothing here may be done inside a transaction."""
        storage = self._database.storage
        if self._database.is_nested:
            raise UsageError("an idempotent act cannot be called with a key inside a transaction")
        if not storage.has_transactions():
            raise DefinitionError(NO_TRANSACTIONS)
        self._database.preparation.prepare_collection(COLLECTION, INDEXES)
        return storage
