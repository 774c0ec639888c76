"""Pages by skip and limit: every document exactly once, whatever it is sorted by."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.errors import BadRequest, UsageError, ValidationError
from gatewayfw.odm.reading.cursor import Cursor, fixed_order
from gatewayfw.schemas import any_, integer, optional, string
from tests.examples import examples

SIZE = 500


@pytest.fixture
def rows(odm):
    """500 documents with few values in each field, of which some are missing or null, in no order."""
    fields = {"n": integer(), "name": optional(string()), "free": any_(), "at": any_()}
    model = odm.new_model("row", fields, options={"createIndex": {"indexSpec": {"n": 1}}})
    source = random.Random(1)
    docs = [{"n": number % 7, "free": source.choice([None, 1, "x"]), "at": number} for number in range(SIZE)]
    for doc in docs:
        if doc["at"] % 3:
            doc["name"] = "ab"[doc["at"] % 2]
    source.shuffle(docs)
    model.insert_many(docs)
    return model


sorts = st.dictionaries(st.sampled_from(["n", "name", "free"]), st.sampled_from([1, -1]), max_size=3)


@examples(6)
@given(sort=sorts, size=st.integers(40, SIZE))
@example(sort={"n": 1}, size=7)
@example(sort={"name": -1, "free": 1}, size=23)
@example(sort={}, size=50)
def test_every_document_is_on_exactly_one_page(rows, sort, size):
    found = []
    for skip in range(0, SIZE, size):
        cursor = rows.find(projection={"at": 1, "_id": 0})
        cursor = cursor.sort(sort) if sort else cursor
        found += [one["at"] for one in cursor.skip(skip).limit(size)]
    assert sorted(found) == list(range(SIZE))


@pytest.mark.parametrize(
    ("sort", "skip", "limit", "expected"),
    [
        ([("n", 1)], 0, 0, [("n", 1)]),
        ([], 0, 0, []),
        ([("n", 1)], 0, 5, [("n", 1), ("_id", 1)]),
        ([("n", -1)], 5, 0, [("n", -1), ("_id", -1)]),
        ([("n", 1), ("m", -1)], 5, 5, [("n", 1), ("m", -1), ("_id", -1)]),
        ([("n", 1), ("_id", -1)], 5, 5, [("n", 1), ("_id", -1)]),
        ([("_id", -1), ("n", 1)], 5, 5, [("_id", -1), ("n", 1)]),
        ([("born._id", -1)], 0, 1, [("born._id", -1), ("_id", -1)]),
        ([], 5, 0, [("_id", 1)]),
        ([], 0, 5, [("_id", 1)]),
    ],
)
def test_the_id_is_the_last_key_where_documents_are_skipped_or_limited(sort, skip, limit, expected):
    assert fixed_order(sort, skip, limit) == expected


class Query:
    """A cursor over two batches, the names that were checked, and how it was read."""

    def __init__(self):
        self.checked, self.read = [], []
        self.cursor = Cursor(self.batches, self.checked.append)

    def batches(self, *how):
        self.read.append(how)
        return iter([[{"n": 1}, {"n": 2}], [{"n": 3}]])


@pytest.fixture
def query():
    return Query()


def test_a_cursor_reads_anew_each_time_as_it_was_told_last(query):
    cursor = query.cursor
    assert list(cursor) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [len(batch) for batch in cursor.batches()] == [2, 1]
    assert cursor.sort("a").skip(1).limit(2) is cursor
    assert cursor.to_list() == cursor.toArray() == [{"n": 1}, {"n": 2}, {"n": 3}]
    cursor.sort({"b": -1}).skip(0).limit(0).to_list()
    assert query.read == [([], 0, 0)] * 2 + [([("a", 1)], 1, 2)] * 2 + [([("b", -1)], 0, 0)]


@pytest.mark.parametrize(
    ("given", "order"),
    [
        (("a",), [("a", 1)]),
        (("a.b.c", -1), [("a.b.c", -1)]),
        (("a", "desc"), [("a", -1)]),
        (({"a": "asc", "b": "desc"},), [("a", 1), ("b", -1)]),
        (([("a", -1), ["b", 1]],), [("a", -1), ("b", 1)]),
        (((("a", 1), ("b c", 1)),), [("a", 1), ("b c", 1)]),
        (([(("a", "b c"), -1)],), [("a.b c", -1)]),
        (({},), []),
        (({f"f{number}": 1 for number in range(31)},), [(f"f{number}", 1) for number in range(31)]),
    ],
    ids=str,
)
def test_a_sort_is_given_in_several_forms(query, given, order):
    query.cursor.sort(*given).to_list()
    assert (query.read, query.checked) == ([(order, 0, 0)], [[name for name, _ in order]])


NO_NAMES = "sort: expected field names with 1, -1, 'asc' or 'desc'"
NO_ORDER = "sort: expected 1, -1, 'asc' or 'desc'"
WRONG_SORTS = [
    *((UsageError, NO_NAMES, given) for given in (5, None, [5], ["ab"], [{"a": 1, "b": 1}], {("a", 1)}, [("a",)])),
    *((UsageError, NO_NAMES, given) for given in ([("a", 1, 1)], [(1, 1)], "", "$a")),
    *((BadRequest, NO_ORDER, {"a": order}) for order in (0, 2, True, 1.0, "up", None, [], "1")),
    (UsageError, "sort: at most 31 fields", [("a", 1)] * 32),
]


@pytest.mark.parametrize(("error", "message", "given"), WRONG_SORTS, ids=str)
def test_other_sorts_are_refused(query, error, message, given):
    with pytest.raises(error) as refused:
        query.cursor.sort(given)
    assert (refused.value.message, query.checked) == (message, [])


@pytest.mark.parametrize("name", ["a..b", "a.", "a.$b", "a.\0b", ("a", "b.c")], ids=repr)
def test_a_sort_by_what_no_key_can_be_is_the_clients_mistake(query, name):
    with pytest.raises(ValidationError) as refused:
        query.cursor.sort([(name, 1)])
    assert list(refused.value.errors.values()) == [["Not a key the database can hold."]]


@pytest.mark.parametrize("name", ["skip", "limit"])
def test_counts_are_whole_numbers_that_a_command_can_hold(query, name):
    for count in (0, 1, 2**31 - 1):
        assert getattr(query.cursor, name)(count) is query.cursor
    for count in (-1, 2**31, 1.0, "1", True, None):
        with pytest.raises(BadRequest) as refused:
            getattr(query.cursor, name)(count)
        assert refused.value.message == f"{name}: expected an integer from 0"


def test_pages_are_read_from_the_index(mongo_database, odm_on):
    model = odm_on(mongo_database).new_model("row", {"n": integer()}, options={"createIndex": {"indexSpec": {"n": -1}}})
    model.insert_many([{"n": number % 3} for number in range(50)])
    mongo_database.command("profile", 2)
    try:
        assert len(model.find().sort("n").skip(10).limit(5).to_list()) == 5
    finally:
        mongo_database.command("profile", 0)
    (seen,) = mongo_database["system.profile"].find({"op": "query", "ns": f"{mongo_database.name}.row"})
    assert seen["keysExamined"] == 15
    assert seen.get("hasSortStage", False) is False
