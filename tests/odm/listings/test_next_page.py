"""Orders, what comes after a row, and tokens: gatewayfw.odm.listings.next_page."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from datetime import datetime

import bson
import pytest
from bson import Decimal128, Int64, ObjectId, Regex
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.odm.listings.declaration import declare
from gatewayfw.odm.listings.next_page import Order, digest, read_token, write_token

ID = ObjectId()
UP, DOWN = {"_id": {"$gt": ID}}, {"_id": {"$lt": ID}}

SAME_UP, SAME_DOWN = {"n": {"$eq": 5}, **UP}, {"n": {"$eq": 5}, **DOWN}
MORE, LESS, NULL = {"n": {"$gt": 5}}, {"n": {"$lt": 5}}, {"n": {"$eq": None}}

AFTER = {
    "ids up": ("_id", None, UP),
    "ids down": ("-_id", None, DOWN),
    "up": ("n", 5, {"$or": [SAME_UP, MORE]}),
    "down": ("-n", 5, {"$or": [SAME_DOWN, LESS, NULL]}),
    "from null up": ("n", None, {"$or": [{**NULL, **UP}, {"n": {"$ne": None}}]}),
    "from null down": ("-n", None, {**NULL, **DOWN}),
}


@pytest.mark.parametrize(("text", "value", "condition"), AFTER.values(), ids=AFTER)
def test_what_comes_after_a_row(text, value, condition):
    assert Order.of(text).after(value, ID, []) == condition


def test_each_alternative_meets_all_conditions():
    wide, narrow = {"open": {"$eq": True}}, {"shelf": {"$in": [1, 2]}}
    first, second = {"shelf": {"$eq": 1}}, {"shelf": {"$eq": 2}}
    assert Order.of("n").after(5, ID, [wide, narrow]) == {
        "$or": [
            {"$and": [wide, first, SAME_UP]},
            {"$and": [wide, first, MORE]},
            {"$and": [wide, second, SAME_UP]},
            {"$and": [wide, second, MORE]},
        ]
    }


@pytest.mark.parametrize(
    "among", [{"shelf": {"$in": []}}, {"shelf": {"$in": [1], "$gt": 0}}, {"a": 1, "b": {"$in": [1]}}]
)
def test_other_conditions_stay_whole(among):
    assert Order.of("n").after(5, ID, [among]) == {"$or": [{"$and": [among, SAME_UP]}, {"$and": [among, MORE]}]}


@pytest.mark.parametrize(
    ("text", "value", "condition"),
    [
        ("n", 5, {"n": {"$gte": 5}, "$or": [SAME_UP, MORE]}),
        ("-n", 5, {"n": {"$not": {"$gt": 5}}, "$or": [SAME_DOWN, LESS, NULL]}),
        ("n", None, {"$or": [{**NULL, **UP}, {"n": {"$ne": None}}]}),
    ],
)
def test_too_many_alternatives_are_one_stretch_that_passes_over_the_rows_before(text, value, condition):
    among = {"shelf": {"$in": list(range(31))}}
    assert Order.of(text).after(value, ID, [among]) == {"$and": [among, condition]}


@pytest.mark.parametrize(("values", "alternatives"), [(20, 40), (21, None)])
def test_up_to_forty_alternatives_are_written_out(values, alternatives):
    found = Order.of("n").after(5, ID, [{"shelf": {"$in": list(range(values))}}])
    assert len(found.get("$or", [])) == (alternatives or 0)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("_id", [("_id", 1)]),
        ("-_id", [("_id", -1)]),
        ("a.b", [("a.b", 1), ("_id", 1)]),
        ("-n", [("n", -1), ("_id", -1)]),
    ],
)
def test_ids_have_the_direction_of_the_field(text, keys):
    assert Order.of(text).keys == keys


# -- tokens

ABOUT = b"01234567"
VALUES = ["x" * 256, "", 5, Int64(5), 1.5, True, None, datetime(2020, 1, 2, 3, 4, 5, 6000), Decimal128("1.50"), ID]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_token_keeps_value_and_type(value):
    read = read_token(write_token(ABOUT, value, ID), ABOUT)
    assert (read, type(read[0])) == ((value, ID), type(value))


def test_a_token_has_at_most_2048_characters():
    fits = "x" * (1_536 - len(bson.encode({"d": ABOUT, "v": "", "i": ID})))
    token = write_token(ABOUT, fits, ID)
    assert (len(token), read_token(token, ABOUT)) == (2_048, (fits, ID))
    with pytest.raises(ValueError, match="^no token of this list$"):
        write_token(ABOUT, fits + "x", ID)


def encoded(document):
    return urlsafe_b64encode(bson.encode(document)).decode().rstrip("=")


GOOD = write_token(ABOUT, 5, ID)
WRONG = {
    "empty": "",
    "cut": GOOD[:-1],
    "longer": GOOD + "AAAA",
    "padded": GOOD + "=",
    "another alphabet": "é" * 20,
    "spaces": f" {GOOD}",
    "too long": "A" * 2_049,
    "of another list": write_token(b"76543210", 5, ID),
    "another key": encoded({"d": ABOUT, "v": 5, "x": ID}),
    "one key more": encoded({"d": ABOUT, "v": 5, "i": ID, "x": 1}),
    "no id": encoded({"d": ABOUT, "v": 5, "i": "x"}),
    "an object": encoded({"d": ABOUT, "v": {"$gt": 1}, "i": ID}),
    "a list": encoded({"d": ABOUT, "v": [1], "i": ID}),
    "an expression": encoded({"d": ABOUT, "v": Regex("x"), "i": ID}),
    "code": encoded({"d": ABOUT, "v": bson.Code("x"), "i": ID}),
}


@pytest.mark.parametrize("token", WRONG.values(), ids=WRONG)
def test_what_is_no_token_of_the_list_is_refused(token):
    with pytest.raises(ValueError, match="^no token of this list$"):
        read_token(token, ABOUT)


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda data: urlsafe_b64encode(data).decode()))
def test_any_other_text_is_refused(text):
    with pytest.raises(ValueError, match="no token of this list"):
        read_token(text, ABOUT)


def declared(**changed):
    plain = {"filter": {}, "sort": ["a"], "default_sort": "a", "most": 100, "default": 20, "count": False}
    return declare("book", changed.pop("number", 0), **{**plain, **changed})


@pytest.mark.parametrize(("value", "id_"), [(float("nan"), ID), (Regex("x"), ID), ([1], ID), (5, "x"), (5, None)])
def test_a_row_that_no_page_can_begin_after_has_no_token(value, id_):
    with pytest.raises(ValueError, match="^no token of this list$"):
        write_token(ABOUT, value, id_)


def test_tokens_outlive_a_new_version_of_the_package():
    """Clients keep them over a deployment."""
    about = digest(declared(), [{"a": {"$eq": 1}}], "-a")
    token = write_token(about, "x", ObjectId("a" * 24))
    assert about.hex() == "562aebee4efca054"
    assert token == "LQAAAAVkAAgAAAAAVirr7k78oFQCdgACAAAAeAAHaQCqqqqqqqqqqqqqqqoA"


def test_a_digest_tells_listings_filters_and_sorts_apart():
    condition = {"a": {"$eq": 1}}
    digests = {
        digest(declared(), [], "a"),
        digest(declared(), [], "-a"),
        digest(declared(), [condition], "a"),
        digest(declared(), [{"a": {"$eq": True}}], "a"),
        digest(declared(number=1), [], "a"),
        digest(declared(sort=["a", "b"]), [], "a"),
    }
    assert len(digests) == 6
    assert digest(declared(), [condition], "a") == digest(declared(), [dict(condition)], "a")
