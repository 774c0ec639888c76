"""What an update makes of a document, in memory as on MongoDB."""

from __future__ import annotations

import mongomock
import pytest
from bson import Decimal128, Int64
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.errors import BadRequest, StorageError, UsageError, ValidationError
from gatewayfw.storage import MockStorage, MongoStorage
from gatewayfw.storage.subset import check_update
from gatewayfw.storage.update_operators import OPERATORS, push, update_refusal
from tests.examples import examples
from tests.storage.searches import PATHS, documents, scalars, values

_places = st.sampled_from([*PATHS, "e", "a.2", "a.01", "a.0.b.1"])
#: The ends of the types of numbers are among them.
_numbers = st.sampled_from(
    [-1, 0, 1, 2, 2.5, -0.0, 0.1, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 1e308, 5e-324]
    + [float("inf"), float("nan"), Int64(3), *map(Decimal128, ("1.5", "1.00", "-0", "NaN", "9E+6144", "1E-6176"))]
)
_orders = st.sampled_from([1, -1])
_sorts = _orders | st.builds(lambda path, order: {path: order}, st.sampled_from(["b", "c", "b.0"]), _orders)
_pushes = st.fixed_dictionaries(
    {"$each": st.lists(values, max_size=3)},
    optional={"$slice": st.integers(-2, 2), "$position": st.integers(-2, 2), "$sort": _sorts},
)
_comparisons = st.dictionaries(
    st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), values, min_size=1, max_size=2
)
_choices = st.builds(
    lambda name, some: {name: some}, st.sampled_from(["$in", "$nin"]), st.lists(values, max_size=2)
) | st.builds(lambda there: {"$exists": there}, st.booleans())
_inner = _comparisons | _choices
_conditions = _inner | st.builds(
    lambda inner: {"$elemMatch": inner}, _inner | st.builds(lambda inner: {"b": inner}, _inner)
)
_operands = {
    "$set": values,
    "$unset": st.just(""),
    "$inc": _numbers,
    "$mul": _numbers,
    "$min": values,
    "$max": values,
    "$push": values | _pushes,
    "$addToSet": values | st.builds(lambda some: {"$each": some}, st.lists(values, max_size=3)),
    "$pull": values
    | _conditions
    | st.dictionaries(st.sampled_from(["b", "c", "b.0"]), scalars | _conditions, max_size=2),
    "$pop": _orders,
}
_changes = st.sampled_from(sorted(_operands)).flatmap(lambda name: st.tuples(st.just(name), _places, _operands[name]))
_updates = st.lists(_changes, min_size=1, max_size=2)


def made_of(changes):
    """Return the update that makes some changes; None if one update may not make them together."""
    update = {}
    for name, path, operand in changes:
        update.setdefault(name, {})[path] = operand
    try:
        check_update(update)
    except (BadRequest, UsageError):
        return None
    return update


@pytest.mark.mongo
@examples(100)
@given(
    st.lists(documents | st.builds(lambda number: {"a": number}, _numbers), min_size=1, max_size=3),
    st.lists(_updates, min_size=1, max_size=6),
)
@example(
    [{"a": Decimal128("-0")}, {"a": Decimal128("1")}], [[("$mul", "a", 2.5)], [("$inc", "a", 0)], [("$mul", "a", -1)]]
)
@example(
    [{"a": 0.0}, {"a": Decimal128("0E+3")}],
    [[("$mul", "a", -1)], [("$inc", "a", 0)], [("$inc", "a", Decimal128("0"))]],
)
@example([{"a": 1}], [[("$mul", "d", 2.5)], [("$inc", "d", Decimal128("1.5"))]])
@example([{"a": [1, [2]]}], [[("$set", "a.1", 1), ("$unset", "a.01", "")], [("$set", "a.01", 1), ("$inc", "a.0", 1)]])
def test_random_updates_make_the_same_on_both_adapters(mongo_database, found, changes):
    both = MongoStorage(mongo_database), MockStorage(mongomock.MongoClient().test)
    for storage in both:
        storage.delete_many("things", {})
        storage.insert("things", [{"_id": number, **document} for number, document in enumerate(found)])

    def change(storage, update, number):
        try:
            after = storage.update_one("things", {"_id": number}, update, None)
            return repr(after)
        except (StorageError, ValidationError) as error:
            # Of several paths each adapter names those that it has looked at.
            return getattr(error, "errors", "refused") if sum(map(len, update.values())) == 1 else "refused"

    for update in filter(None, map(made_of, changes)):
        for number in range(len(found)):
            there, here = (change(storage, update, number) for storage in both)
            assert here == there, update


@pytest.mark.parametrize("name", ["$set", "$inc", "$min", "$push"])
def test_a_long_number_is_any_other(storage, name):
    storage.insert("things", [{"_id": 1}])
    after = storage.update_one("things", {"_id": 1}, {name: {"a": Int64(2**40)}}, None)
    assert after == {"_id": 1, "a": [2**40] if name == "$push" else 2**40}


@pytest.mark.parametrize(
    ("update", "after"),
    [
        ({"$set": {"a.01": 9}}, [1, 9]),
        ({"$unset": {"a.01": ""}}, [1, None]),
        ({"$unset": {"a.²": ""}}, [1, [2]]),
        ({"$push": {"a.001": 9}}, [1, [2, 9]]),
    ],
)
def test_a_leading_zero_is_of_a_place_to_updates(storage, update, after):
    storage.insert("things", [{"_id": 1, "a": [1, [2]]}])
    assert storage.update_one("things", {"_id": 1}, update, None) == {"_id": 1, "a": after}


@pytest.mark.parametrize(
    ("operator", "path"), [("$set", "a.²"), ("$set", "a.١"), ("$inc", "a.01"), ("$addToSet", "a.00")]
)
def test_an_update_that_fits_no_place_names_the_path(storage, operator, path):
    storage.insert("things", [{"_id": 1, "a": [1, [2]]}])
    with pytest.raises(ValidationError) as refused:
        storage.update_one("things", {"_id": 1}, {operator: {path: 9}}, None)
    assert refused.value.errors == {f"update.{path}": ["Does not fit the value that is there."]}


def test_new_keys_are_added_by_length_if_they_begin_with_a_digit(storage):
    names = [" 1", "!", "-1", "0", "00", "001", "01", "010", "1", "9", "10", "1x", "20", "100", "1²", "a", "²"]
    storage.insert("things", [{"_id": 1}])
    after = storage.update_one("things", {"_id": 1}, {"$set": {f"m.{name}": 1 for name in reversed(names)}}, None)
    assert list(after["m"]) == names


# -- the modifiers of `$push`

SORT = "$sort takes 1 or -1, alone or for one field of the elements"


@pytest.mark.parametrize(
    "modifiers",
    [{}, {"$position": -(2**63), "$slice": 2**63 - 1}, {"$sort": 1}, {"$sort": {"a.b": -1}}],
    ids=str,
)
def test_modifiers_without_a_fault(modifiers):
    assert OPERATORS["$push"].find_fault({"$each": [], **modifiers}) is None


@pytest.mark.parametrize(
    ("modifiers", "fault"),
    [
        *(
            ({name: value}, f"{name} takes a whole number")
            for name in ("$position", "$slice")
            for value in (True, 1.0, "1", None, 2**63, -(2**63) - 1)
        ),
        *(({"$sort": order}, SORT) for order in (0, 2, True, 1.0, "asc", None, [1], {}, {"a": 1, "b": 1})),
        *(({"$sort": {"a": order}}, SORT) for order in (0, True, 1.0, "asc", {"b": 1})),
        *(({"$sort": {path: 1}}, SORT) for path in ("", "a.", ".a", "a..b", "$a", "a.$", "a\0", 1)),
    ],
    ids=str,
)
def test_modifiers_with_a_fault(modifiers, fault):
    assert OPERATORS["$push"].find_fault({"$each": [], **modifiers}) == fault


def test_a_push_changes_no_list_that_was_given():
    present, each = [3, 1], [2]
    assert push(present, {"$each": each, "$position": 0, "$sort": 1, "$slice": 2}) == [1, 2]
    assert (present, each) == ([3, 1], [2])


def test_equal_elements_keep_their_order_both_ways():
    elements = [{"n": n, "at": at} for at, n in enumerate([1, 0, 1, 0, 1])]
    up, down = (push(elements, {"$each": [], "$sort": {"n": order}}) for order in (1, -1))
    assert [one["at"] for one in up] == [1, 3, 0, 2, 4]
    assert [one["at"] for one in down] == [0, 2, 4, 1, 3]


def test_what_a_database_refuses_is_said_of_each_path():
    assert update_refusal(["a.b", "c"], "No.").errors == {"update.a.b": ["No."], "update.c": ["No."]}
