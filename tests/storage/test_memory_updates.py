"""What an update makes of a document, in memory as on MongoDB."""

from __future__ import annotations

import mongomock
import pytest
from bson import Decimal128
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw.errors import StorageError, ValidationError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.subset import check_update
from tests.storage.filters import PATHS, documents, scalars, values

_places = st.sampled_from(PATHS)
_numbers = st.sampled_from([-1, 0, 2, 2.5, Decimal128("1.5")])
_orders = st.sampled_from([1, -1])
_pushes = st.fixed_dictionaries(
    {"$each": st.lists(values, max_size=3)}, optional={"$slice": st.integers(-2, 2), "$position": st.integers(-2, 2)}
)
_conditions = st.dictionaries(st.sampled_from(["$eq", "$ne", "$gt", "$lte"]), values, min_size=1, max_size=2)
_operands = {
    "$set": values,
    "$unset": st.just(""),
    "$inc": _numbers,
    "$mul": _numbers,
    "$min": values,
    "$max": values,
    "$push": values | _pushes,
    "$addToSet": values | st.builds(lambda some: {"$each": some}, st.lists(values, max_size=3)),
    "$pull": values | _conditions | st.dictionaries(st.sampled_from("bc"), scalars | _conditions, max_size=1),
    "$pop": _orders,
}
_changes = st.sampled_from(sorted(_operands)).flatmap(lambda name: st.tuples(st.just(name), _places, _operands[name]))


@pytest.mark.mongo
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(documents, min_size=1, max_size=3), st.lists(_changes, min_size=1, max_size=6))
def test_random_updates_make_the_same_on_both_adapters(mongo_database, found, changes):
    both = MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)
    for storage in both:
        storage.delete_many("things", {})
        storage.insert("things", [{"_id": number, **document} for number, document in enumerate(found)])

    def change(storage, update, number):
        try:
            after = storage.update_one("things", {"_id": number}, update, None)
            return repr(after).replace("-0.0", "0.0")  # of a zero nothing shows its sign
        except (StorageError, ValidationError) as error:
            return getattr(error, "errors", "refused")

    for name, path, operand in changes:
        update = {name: {path: operand}}
        check_update(update)
        for number in range(len(found)):
            there, here = (change(storage, update, number) for storage in both)
            assert here == there, update
