"""Random documents, and filters of the whole subset that fit them, for `test_matching`."""

from __future__ import annotations

from datetime import datetime

from bson import Binary, Decimal128, ObjectId
from hypothesis import strategies as st

_texts = st.sampled_from(["", "a", "A", "ab", "b a", "É", "éa", "a\n", "a1", "_"])
_ids = st.sampled_from([ObjectId("65a000000000000000000001"), ObjectId("65a000000000000000000002")])
_dates = st.sampled_from([datetime(2024, 2, 29), datetime(2024, 2, 29, 0, 0, 0, 1000)])
_decimals = st.sampled_from(["2.50", "1", "-0", "NaN", "Infinity"]).map(Decimal128)
_numbers = st.sampled_from([-1, 0, 1, 2, 2.5, 2**62, 2**62 + 1, float("nan"), float("inf")]) | _decimals
_binaries = st.sampled_from([b"", b"a", Binary(b"a", 5)])
scalars = st.one_of(_numbers, _texts, st.booleans(), st.none(), _ids, _dates, _binaries)
_objects = st.dictionaries(st.sampled_from("bc"), scalars | st.lists(scalars, max_size=3), max_size=2)
_lists = st.lists(scalars | _objects | st.lists(scalars | st.lists(scalars, max_size=1), max_size=2), max_size=3)
values = scalars | _objects | _lists
documents = st.dictionaries(st.sampled_from("ade"), values, max_size=3)

PATHS = ("a", "d", "e", "a.b", "d.c", "a.0", "a.0.b", "a.1")
_paths = st.sampled_from(PATHS)
_expressions = st.sampled_from(
    ["", "a", "^a", "a$", "é", r"\w", r"\W", r"[\d_]", "^.$", "(?:b|É)", r"\ba\b", "^[^a]+$"]
)


def _conditions(inner):
    """Conditions on one name, ``inner`` those of ``$not`` and ``$elemMatch``."""
    some = st.lists(values, max_size=3)
    operators = st.one_of(
        st.tuples(st.sampled_from(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"]), values),
        st.tuples(st.sampled_from(["$in", "$nin", "$all"]), some),
        st.tuples(st.just("$exists"), st.booleans()),
        st.tuples(st.just("$size"), st.integers(0, 3)),
        st.tuples(st.just("$not"), inner),
        st.tuples(st.just("$elemMatch"), inner),
        st.tuples(st.just("$regex"), _expressions),
    )
    made = st.lists(operators, min_size=1, max_size=2).map(dict)
    return made | st.builds(lambda text: {"$regex": text, "$options": "i"}, _expressions)


_operators = st.recursive(_conditions(st.just({"$gt": 0})), _conditions, max_leaves=4)


def _parts(filters):
    fields = st.dictionaries(_paths, values | _operators | filters.map(lambda one: {"$elemMatch": one}), max_size=2)
    joined = st.tuples(st.sampled_from(["$and", "$or", "$nor"]), st.lists(filters, min_size=1, max_size=2))
    return fields | joined.map(lambda pair: dict([pair]))


filters = st.recursive(st.dictionaries(_paths, values | _operators, max_size=2), _parts, max_leaves=4)
