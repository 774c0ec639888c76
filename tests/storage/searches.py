"""Random documents, and filters of the whole subset that fit them, for `test_filters`."""

from __future__ import annotations

from datetime import datetime

from bson import Binary, Code, DatetimeMS, Decimal128, MaxKey, MinKey, ObjectId, Timestamp
from hypothesis import strategies as st

from gatewayfw.storage.order import TYPE_NAMES

_IDS = [ObjectId("65a000000000000000000001"), ObjectId("65a000000000000000000002")]
_DATES = [datetime(2024, 2, 29), datetime(2024, 2, 29, 0, 0, 0, 1000)]
_NUMBERS = [1, 1.0, True, -1, 0, False, 2, 2.5, 2**62, 2**62 + 1, float("nan"), float("inf")]
_DECIMALS = [Decimal128(text) for text in ("2.50", "1", "-0", "NaN", "Infinity")]
_TEXTS = ["", "a", "A", "ab", "b a", "É", "éa", "a\n", "a1", "_"]
_BINARIES = [b"", b"a", Binary(b"a", 5)]
#: What only other tools store, and what two types or two notations hold as well.
_RARE = [MinKey(), MaxKey(), Code("a"), Code("a", {}), Code("a", {"a": 1}), Timestamp(1, 2)]
_RARE += [DatetimeMS(2**60), Binary(b"x" * 16, 3), "a\0b", Decimal128("0.1"), 0.1, -0.0, 2**53 + 1, 2.0**53]
#: One strategy, so that others are drawn as often.
scalars = st.sampled_from([1, None, "a", *_NUMBERS, None, *_TEXTS, *_IDS, *_DATES, *_DECIMALS, *_BINARIES, *_RARE])
_objects = st.dictionaries(st.sampled_from("bc"), scalars | st.lists(scalars, max_size=3), max_size=2)
_lists = st.lists(scalars | _objects | st.lists(scalars | st.lists(scalars, max_size=1), max_size=2), max_size=3)
values = scalars | _objects | _lists
documents = st.dictionaries(st.sampled_from("aad"), values, min_size=1)

PATHS = ("a", "d", "a.b", "d.c", "a.0", "a.0.b", "a.1")
_paths = st.sampled_from(("a", "a", *PATHS))
_expressions = st.sampled_from(
    ["", "a", "^a", "a$", "é", r"\w", r"\W", r"[\d_]", "^.$", "(?:b|É)", r"\ba\b", "^[^a]+$"]
)
_types = st.sampled_from(sorted(TYPE_NAMES))


def _conditions(values, depth):
    """Conditions with operators on one field, and with others in them to a depth."""
    some = st.lists(values, max_size=3)
    operators = [
        st.tuples(st.sampled_from(["$eq", "$ne"]), values),
        st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), values),
        *(st.tuples(st.just(name), some) for name in ("$in", "$nin", "$all")),
        st.tuples(st.just("$exists"), st.booleans()),
        st.tuples(st.just("$size"), st.integers(0, 3)),
        st.tuples(st.just("$type"), _types | st.lists(_types, min_size=1, max_size=3)),
        st.tuples(st.just("$regex"), _expressions),
    ]
    if depth:
        inner = _conditions(values, depth - 1)
        operators += [st.tuples(st.just(name), inner) for name in ("$not", "$elemMatch")]
        operators.append(st.tuples(st.just("$elemMatch"), _filters(values, depth - 1)))
    made = st.lists(st.one_of(operators), min_size=1, max_size=2).map(dict)
    return made | st.builds(lambda text: {"$regex": text, "$options": "i"}, _expressions)


def _filters(values, depth):
    """Filters, with others in them to a depth."""
    field = _conditions(values, depth)
    fields = st.dictionaries(_paths, st.one_of(field, field, field, values), min_size=1, max_size=2)
    if not depth:
        return fields
    parts = st.lists(_filters(values, depth - 1), min_size=1, max_size=2)
    joined = st.tuples(st.sampled_from(["$and", "$or", "$nor"]), parts).map(lambda pair: dict([pair]))
    return st.one_of(fields, fields, joined)


def _parts_of(value):
    """Yield what is in a value at any depth."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield inner
        yield from _parts_of(inner)


@st.composite
def searches(draw):
    """Documents, and filters that ask for what is in them or for something else."""
    found = draw(st.lists(documents, min_size=4, max_size=6))
    stored = st.sampled_from([*_parts_of(found)])
    asked = st.integers(0, 3).flatmap(lambda other: stored if other else values)
    return found, draw(st.lists(_filters(asked, 2), min_size=6, max_size=8))
