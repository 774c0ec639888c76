"""A storage that refuses and records what is outside the named subset."""

from __future__ import annotations

from gatewayfw.errors import BadRequest, UsageError
from gatewayfw.storage import Storage
from gatewayfw.storage.subset import Rules, check_update
from gatewayfw.storage.terms import NOTHING


class OutsideSubset(AssertionError):
    """Something was emitted that adapters need not understand."""


class RecordingStorage(Storage):
    """Passes everything on to another storage and checks it on the way.

    Attributes:
        emitted: the names of the methods that were called, and all operators in what they were given.
    """

    def __init__(self, inner):
        super().__init__()
        self._inner = inner
        self.emitted = set()

    def _filter(self, method, filter):
        self._checked(Rules().check_filter, filter)
        self._note(method, filter)

    def _update(self, method, update, positional=False):
        self._checked(check_update, update)
        for operator, changes in update.items():
            for path in changes:
                places = [part for part in path.split(".") if part.startswith("$")]
                if places and not (positional and operator == "$set" and places == ["$"]):
                    raise OutsideSubset(f"{method}: {operator} {path}")
        if sum(path.count(".$") for path in update.get("$set", {})) > 1:
            raise OutsideSubset(f"{method}: two positional paths")
        self._note(method, update)

    def _fields(self, method, fields):
        self._note(method, None)
        for field in fields or ():
            if any(other != field and field.startswith(other + ".") for other in fields) or "$" in field:
                raise OutsideSubset(f"{method}: field {field}")

    @staticmethod
    def _checked(check, value):
        try:
            check(value)
        except (BadRequest, UsageError) as error:
            raise OutsideSubset(error.message) from error

    def _note(self, method, value):
        self.emitted.add(method)
        pending = [value]
        while pending:
            one = pending.pop()
            if isinstance(one, dict):
                self.emitted.update(key for key in one if key.startswith("$"))
                self.emitted.update("$" for key in one if key.endswith(".$"))
                pending.extend(one.values())
            elif isinstance(one, (list, tuple)):
                pending.extend(one)

    def deadline(self, seconds):
        return self._inner.deadline(seconds)

    def has_transactions(self):
        return self._inner.has_transactions()

    def ensure(self, collection, indexes, build_limit):
        return self._inner.ensure(collection, indexes, build_limit)

    @property
    def scope(self):
        return self._inner.scope

    def indexes(self, collection):
        return self._inner.indexes(collection)

    def transaction_lifetime(self):
        return self._inner.transaction_lifetime()

    def is_sharded(self, collection):
        return self._inner.is_sharded(collection)

    def transaction(self, fn, proof=None, hot=()):
        return self._inner.transaction(fn, proof, hot)

    def touch(self, collection, filter, fields, update=NOTHING, *, lock):
        self._filter("touch", filter)
        self._fields("touch", fields)
        if update:
            self._update("touch", update)
        return self._inner.touch(collection, filter, fields, update, lock=lock)

    def touch_many(self, collection, ids, changes=(), *, lock):
        self._filter("touch_many", {"_id": {"$in": ids}})
        for filter, update in changes:
            self._filter("touch_many", filter)
            self._update("touch_many", update, positional=True)
        return self._inner.touch_many(collection, ids, changes, lock=lock)

    def insert(self, collection, documents):
        self._note("insert", None)
        return self._inner.insert(collection, documents)

    def find(self, collection, filter, fields=None, **keys):
        self._filter("find", filter)
        self._fields("find", fields)
        return self._inner.find(collection, filter, fields, **keys)

    def update_one(self, collection, filter, update, fields):
        self._filter("update_one", filter)
        self._update("update_one", update)
        self._fields("update_one", fields)
        return self._inner.update_one(collection, filter, update, fields)

    def update_many(self, collection, filter, update, **bound):
        self._filter("update_many", filter)
        self._update("update_many", update, positional=True)
        return self._inner.update_many(collection, filter, update, **bound)

    def update_each(self, collection, changes):
        listed = list(changes)
        for id_, update in listed:
            self._filter("update_each", {"_id": id_})
            self._update("update_each", update)
        return self._inner.update_each(collection, listed)

    def delete_many(self, collection, filter):
        self._filter("delete_many", filter)
        return self._inner.delete_many(collection, filter)

    def count(self, collection, filter, limit=0):
        self._filter("count", filter)
        return self._inner.count(collection, filter, limit)

    def aggregate(self, collection, pipeline):
        return self._inner.aggregate(collection, pipeline)

    def close(self):
        self._inner.close()
