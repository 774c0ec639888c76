"""What there is: `exists`, and the distinct values of a field."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import pytest
from bson import ObjectId

from gatewayfw.errors import UsageError
from gatewayfw.schemas import array, binary, decimal, nullable, string, uuid


def test_exists_tells_whether_a_document_matches(world, people):
    person = world.person
    assert [person.exists({"name": name}) for name in "ax"] == [True, False]
    assert [person.exists(), world.club.exists(), person.exists({"_id": str(people[1])})] == [True, False, True]
    assert person.exists({"password": "hash"}, reveal="password") is True


def test_distinct_gives_the_values_of_a_field_in_order(world, people):
    land, first, *_ = people
    person = world.person
    assert person.distinct("age") == [1, 2, 3]
    assert person.distinct("age", {"age": {"$gt": 1}}) == [2, 3]
    assert person.distinct("badge") == [ObjectId("a" * 24)]
    assert person.distinct("born_on") == [datetime(2001, 2, 3, 3, 5, 6, 789000)]
    assert person.distinct("visited._id") == [land]
    assert person.distinct("born._id", {"name": "c"}) == []
    assert person.distinct("address.street") == ["s"]
    assert world.country.distinct("natives._id") == [first]
    assert person.distinct("_id") == sorted(people[1:])
    assert person.distinct("active") == [True]
    assert person.distinct("password", reveal=["password"]) == ["hash"]


def test_distinct_gives_values_as_find_does(odm):
    kinds = {"price": decimal(places=2), "code": uuid(), "data": binary(), "words": array(string())}
    model = odm.new_model("thing", {**kinds, "note": nullable(string())})
    code = UUID("01234567-89ab-cdef-0123-456789abcdef")
    model.insert_many(
        [
            {"price": price, "code": code, "data": b"x", "words": words, "note": note}
            for price, words, note in (("2.5", ["b", "a"], None), ("1", ["a", "É"], "n"), ("2.50", [], None))
        ]
    )
    assert {name: model.distinct(name) for name in (*kinds, "note")} == {
        "price": [Decimal("1.00"), Decimal("2.50")],
        "code": [code],
        "data": [b"x"],
        "words": ["a", "b", "É"],
        "note": ["n"],
    }
    assert [type(one) for name in kinds for one in model.distinct(name)] == [
        Decimal,
        Decimal,
        UUID,
        bytes,
        str,
        str,
        str,
    ]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("nope", "model person has no field nope"),
        ("", "model person has no field "),
        ("$name", "model person has no field $name"),
        ("_gw", "model person has no field _gw"),
        ("_gw.v", "model person has no field _gw"),
        ("password", "model person excludes password; reveal=['password'] admits it"),
        ("born.secret", "the copies in born leave out secret"),
        ("home", "home is a relation; write home._id, or another field of it"),
        (5, "expected the name of a field"),
        (None, "expected the name of a field"),
    ],
)
def test_distinct_takes_names_that_the_model_shows(world, field, message):
    with pytest.raises(UsageError) as raised:
        world.person.distinct(field)
    assert raised.value.message == f"distinct: {message}"
