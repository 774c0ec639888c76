"""What MongoDB refuses of an index is refused when its model is defined."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from bson import Binary, Decimal128, ObjectId
from pymongo.errors import OperationFailure

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import IndexSpec, Schemas, string
from gatewayfw.settings import Settings
from gatewayfw.storage import Index, MongoStorage

T, U = {"t": 1}, {"t": 1, "u": 1}


def partial(filter: Any) -> tuple[Any, Any]:
    return {"t": 1}, {"unique": True, "partialFilterExpression": filter}


#: Keys, options, and what the refusal says.
REFUSED: list[tuple[Any, Any, str]] = [
    ({"t": 1}, {"sparse": True, "partialFilterExpression": T}, "sparse and partialFilterExpression"),
    ({"t": 1}, {"sparse": True, "partialFilterExpression": {}}, "sparse and partialFilterExpression"),
    *[({"t": 1}, {"name": name}, "name must be a name") for name in ("*", "_id_", "", "a\0b")],
    ({"t": 1, "u": 1}, {"expireAfterSeconds": 5}, "takes an index on one field"),
    ({"t": 1}, {"expireAfterSeconds": 2**31}, "an integer in 0..2147483647"),
    *[
        ({"_id": 1}, options, "MongoDB has the index on _id alone")
        for options in (
            {"expireAfterSeconds": 5},
            {"unique": True},
            {"sparse": False},
            {"collation": {"locale": "en"}},
            {"partialFilterExpression": T},
        )
    ],
    ({"_id": -1}, {}, "MongoDB has the index on _id alone"),
    ({f"t.f{n}": 1 for n in range(33)}, {}, "indexSpec has 33 fields, more than the 32"),
    ({"t." + "x" * 2_036: 1}, {"name": "long"}, "the names in indexSpec have more than 2048 bytes"),
    ({f"t.f{n}" + "x" * 56: 1 for n in range(32)}, {}, "the names in indexSpec have more than 2048 bytes"),
    *[
        ({"t": 1}, {"collation": collation}, "an object with locale, of what MongoDB takes")
        for collation in (
            {},
            {"strength": 2},
            *[{"locale": locale} for locale in ("", 1, "DE", "en-US", "en ", "en\0")],
            {"locale": "de", "foo": "x"},
        )
    ],
    *[
        (*partial(filter), message)
        for filter, message in (
            ({"t": {"$exists": False}}, r"t: \$exists takes true"),
            ({"t": {"$exists": 0}}, r"t: \$exists takes true"),
            *[({"t": {name: [1]}}, f"t: {re.escape(name)} is not allowed") for name in ("$nin", "$ne", "$mod")],
            ({"t": {"$not": {"$gt": 1}}}, r"t: \$not is not allowed"),
            ({"t": {"$regex": "^a"}}, r"t: \$regex is not allowed"),
            ({"t": {"$size": 1}}, r"t: \$size is not allowed"),
            ({"t": {"$elemMatch": {"$gt": 1}}}, r"t: \$elemMatch is not allowed"),
            ({"t": {"$gt": 1, "a": 1}}, "t: mixes operators and fields"),
            ({"t": {"$in": [{"$x": 1}]}}, r"t: \$in takes a list of values"),
            ({"t": {"$in": 1}}, r"t: \$in takes a list of values"),
            *[({name: [T]}, f": {re.escape(name)} is not allowed") for name in ("$nor", "$t")],
            ({".".join("a" * 190): 1}, "a path has more than 80 names"),
        )
    ],
]
#: Partial filters that the driver cannot send.
UNENCODABLE: list[Any] = [
    *[
        {"t": value}
        for value in (Decimal(1), 2**63, -(2**63) - 1, UUID(int=7), {1, 2}, frozenset(), date(2024, 1, 1), range(1))
    ],
    *[{"t": {"$gt": Decimal(1)}}, {"t": {"$in": [2**63]}}, {"t": {"a": [{"b": 2**63}]}}],
    *[{"t": "\ud800"}, {"t": {"a\0": 1}}, {"t\0": 1}, {1: 1}],
]
TAKEN: list[tuple[Any, Any]] = [
    ({"_id": 1}, {}),
    ({"_id": 1, "t": 1}, {"unique": True}),
    ({f"t.f{n}": 1 for n in range(32)}, {"unique": True}),
    ({"t": 1}, {"expireAfterSeconds": 2**31 - 1}),
    ({"t." + "x" * 2_035: 1}, {"name": "long"}),
    ({"t": 1}, {"sparse": False, "partialFilterExpression": T}),
    *[({"t": 1}, {"name": name}) for name in ("$a", "a.b", "é", " ")],
    *[
        ({"t": 1}, {"collation": {"locale": locale}})
        for locale in ("simple", "en", "de_AT", "zh_Hant", "en_US_POSIX", "sr_Latn", "de@collation=phonebook")
    ],
    (
        {"t": 1},
        {
            "collation": {
                "locale": "de",
                "strength": 1,
                "caseLevel": True,
                "caseFirst": "upper",
                "numericOrdering": True,
                "alternate": "shifted",
                "maxVariable": "punct",
                "backwards": False,
                "normalization": True,
            }
        },
    ),
    *[
        partial(filter)
        for filter in (
            {},
            {"t": {}},
            {"t": None, "u": {"$exists": True}},
            {"t": {"$eq": {"$x": 1}}},
            {"t": {"a": {"$x": 1}}},
            {"t": {"$gt": 1, "$lte": 5}},
            {"t": {"$in": [1, None, [1], {"a": {"$x": 1}}]}},
            {".".join("a" * 80): 1},
            *[
                {"t": value}
                for value in (
                    2**63 - 1,
                    1.5,
                    "a\0b",
                    b"x",
                    ObjectId("6" * 24),
                    Decimal128("1"),
                    datetime(2024, 1, 1, tzinfo=UTC),
                    (1, 2),
                )
            ],
            {"t": Binary.from_uuid(UUID(int=7))},
        )
    ],
]


def define(keys: Any, options: Any) -> Any:
    options = {"createIndex": {"indexSpec": keys, "options": options}}
    return Schemas(Settings()).add("thing", {"t": string, "u": string}, {}, options)


@pytest.mark.parametrize(("keys", "options", "message"), REFUSED, ids=str)
def test_an_index_that_mongodb_refuses_is_refused(keys: Any, options: Any, message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        define(keys, options)


@pytest.mark.parametrize("name", ["$and", "$or"])
def test_a_partial_filter_has_conditions_on_fields_only(name: str) -> None:
    with pytest.raises(DefinitionError, match=f"partialFilterExpression: {re.escape(name)} is not allowed there"):
        define(*partial({name: [T]}))


@pytest.mark.parametrize("filter", UNENCODABLE, ids=str)
def test_a_partial_filter_that_bson_cannot_hold_is_refused(filter: Any) -> None:
    with pytest.raises(DefinitionError, match="createIndex 0: partialFilterExpression: "):
        define(*partial(filter))


@pytest.mark.parametrize(("keys", "options"), TAKEN, ids=str)
def test_an_index_that_is_defined_is_one_that_both_build(storage: Any, keys: Any, options: Any) -> None:
    assert define(keys, options).options.indexes == (IndexSpec(tuple(keys.items()), options),)
    index = Index(tuple(keys.items()), options)
    assert storage.ensure("things", [index], 10) == []


@pytest.mark.mongo
@pytest.mark.parametrize(("keys", "options", "message"), REFUSED, ids=str)
def test_mongodb_refuses_what_is_refused(mongo_database: Any, keys: Any, options: Any, message: str) -> None:
    with pytest.raises(OperationFailure):
        mongo_database.things.create_index(list(keys.items()), **options)


def test_a_model_has_at_most_63_indexes_of_its_own() -> None:
    def indexes(count: int) -> Any:
        return {"createIndex": [{"indexSpec": {f"t.f{n}": 1}} for n in range(count)]}

    schemas = Schemas(Settings())
    assert len(schemas.add("full", {"t": string}, {}, indexes(63)).options.indexes) == 63
    with pytest.raises(DefinitionError, match="65 indexes, more than the 64"):
        schemas.add("over", {"t": string}, {}, indexes(64))


def test_the_number_of_a_type_in_a_partial_filter_is_for_mongodb_alone(storage: Any) -> None:
    keys, options = partial({"t": {"$type": 2}})
    define(keys, options)
    index = Index(tuple(keys.items()), options)
    if isinstance(storage, MongoStorage):
        assert storage.ensure("things", [index], 10) == []
        return
    with pytest.raises(DefinitionError, match="is not known in memory"):
        storage.ensure("things", [index], 10)
