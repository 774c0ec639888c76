"""What is wrong with models: alone, and seen with all others."""

from __future__ import annotations

from typing import Any

import pytest

from gatewayfw.schemas import Schemas, date, object_, string
from tests.schemas.calls import link, told

COUNTRY = "model 'city', relation 'country'"
NOT_SORTABLE = "is neither _id nor a scalar pure field of 'country' that is not excluded"


@pytest.mark.parametrize(
    ("relation", "country", "problem"),
    [
        (link("town"), ({},), f"{COUNTRY}: schemaName names 'town', which is not a model"),
        (
            link("country", excludes=["x"]),
            ({"name": string},),
            f"{COUNTRY}: excludes names 'x', not a pure field of 'country'",
        ),
        *[
            (
                {
                    "schemaName": "country",
                    "type": "multiple",
                    "sort": {"field": field, "order": "asc"},
                    "excludes": ["name"],
                },
                ({"name": string, "flag": object_, "secret": string}, {}, {"excludes": ["secret"]}),
                f"{COUNTRY}, sort: {field!r} {NOT_SORTABLE}",
            )
            for field in ("x", "flag", "name", "secret")
        ],
        (
            link("country", "name"),
            ({"name": string},),
            f"{COUNTRY}, reverse 'name': model 'country' has a pure field of this name",
        ),
        (
            link("country", "union"),
            ({}, {"union": link("country")}),
            f"{COUNTRY}, reverse 'union': model 'country' has a relation of this name",
        ),
    ],
)
@pytest.mark.parametrize("city_first", [True, False])
def test_problems_between_models_are_told_at_first_use(
    schemas: Schemas, relation: Any, country: Any, problem: str, city_first: bool
) -> None:
    definitions = [("city", {}, {"country": relation}), ("country", *country)]
    for definition in definitions if city_first else reversed(definitions):
        schemas.add(*definition)
    assert schemas.problems() == [problem]
    assert told(schemas.validate, "city") == problem


def test_every_relation_is_checked_also_beside_one_to_no_model(schemas: Schemas) -> None:
    schemas.add("country", {"name": string})
    schemas.add("city", {}, {"town": link("town"), "country": link("country", excludes=["x"])})
    assert schemas.problems() == [
        "model 'city', relation 'town': schemaName names 'town', which is not a model",
        f"{COUNTRY}: excludes names 'x', not a pure field of 'country'",
    ]


TTL = {"createIndex": [{"indexSpec": {"name": 1}}, {"indexSpec": {"at": 1}, "options": {"expireAfterSeconds": 5}}]}


@pytest.mark.parametrize(
    ("options", "relations", "holders", "wrong"),
    [
        (TTL, {}, {}, False),
        (TTL, {"other": link("other")}, {}, False),
        (TTL, {"other": link("other"), "more": link("other", "logs")}, {}, True),
        (TTL, {}, {"log": link("log")}, True),
        (TTL, {}, {"log": link("log", frozen=True)}, False),
        (TTL, {}, {"log": link("log", frozen=True), "last": link("log")}, True),
        ({}, {"other": link("other", "logs")}, {"log": link("log")}, False),
    ],
    ids=["alone", "holds copies", "is listed", "is embedded", "frozen copies", "both", "no expiry"],
)
def test_documents_expire_only_where_no_other_embeds_or_lists_them(
    schemas: Schemas, options: Any, relations: Any, holders: Any, wrong: bool
) -> None:
    schemas.add("other", {}, holders)
    schemas.add("log", {"name": string, "at": date}, relations, options)
    message = "model 'log', createIndex: expireAfterSeconds would delete documents that others embed or list"
    assert schemas.problems() == [message] * wrong


def test_a_sort_by_a_visible_scalar_or_id_is_no_problem(schemas: Schemas) -> None:
    schemas.add("country", {"name": string})
    for field in ("_id", "name"):
        relation = {"schemaName": "country", "type": "multiple", "sort": {"field": field, "order": "asc"}}
        schemas.add(f"by{field}", {}, {"countries": relation})
    assert schemas.problems() == []
    schemas.validate("country")


def test_two_models_may_not_make_reverses_of_one_name(schemas: Schemas) -> None:
    schemas.add("country", {})
    schemas.add("city", {}, {"country": link("country", "parts")})
    schemas.add("river", {}, {"land": link("country", "parts")})
    problem = (
        "model 'river', relation 'land', reverse 'parts': relation 'country' of model 'city'"
        " already makes a reverse of this name on 'country'"
    )
    assert schemas.problems() == [problem]
    assert [told(schemas.validate, name) for name in ("country", "city", "river")] == [problem] * 3


def test_collisions_within_one_model_are_told_at_definition(schemas: Schemas) -> None:
    at = "model 'unit', relation 'b', reverse 'units'"
    twice = {"a": link("other", "units"), "b": link("other", "units")}
    assert told(schemas.add, "unit", {}, twice) == (
        f"{at}: relation 'a' of model 'unit' already makes a reverse of this name on 'other'"
    )
    assert told(schemas.add, "unit", {"units": string}, {"b": link("unit", "units")}) == (
        f"{at}: model 'unit' has a pure field of this name"
    )
    assert told(schemas.add, "unit", {}, {"units": link("x"), "b": link("unit", "units")}) == (
        f"{at}: model 'unit' has a relation of this name"
    )
    assert told(schemas.add, "unit", {"a": string, "b": string}, {"x": link("unit", "a", "b")}) == "; ".join(
        f"model 'unit', relation 'x', reverse {name!r}: model 'unit' has a pure field of this name" for name in "ab"
    )
    assert schemas.get_schemas() == {}


def test_validate_tells_every_problem_of_the_models_in_reach_and_no_other(schemas: Schemas) -> None:
    schemas.add("a", {}, {"b": link("b"), "x": link("x")})
    schemas.add("b", {}, {"y": link("y")})
    schemas.add("apart", {}, {"z": link("z")})
    one, two, three = (
        f"model {model!r}, relation {name!r}: schemaName names {name!r}, which is not a model"
        for model, name in ("ax", "by", ("apart", "z"))
    )
    assert told(schemas.validate, "b") == f"{one}; {two}"
    assert schemas.problems() == [one, two, three]
    for name in "xyz":
        schemas.add(name, {})
    schemas.validate("b")
    assert schemas.problems() == []


def test_a_model_that_becomes_wrong_is_told_again(shop: Schemas) -> None:
    shop.validate("country")
    shop.add("river", {}, {"land": link("country", "cities")})
    assert told(shop.validate, "country") == (
        "model 'river', relation 'land', reverse 'cities': relation 'country' of model 'city'"
        " already makes a reverse of this name on 'country'"
    )


def test_a_collection_has_at_most_64_indexes(schemas: Schemas) -> None:
    relations = {f"r{n}": link("hub") for n in range(61)}
    sorted_reverse = {"type": "multiple", "sort": {"field": "name", "order": "asc"}}
    relations["last"] = {"schemaName": "hub", "type": "single", "relatedRelations": {"many": sorted_reverse}}
    assert len(schemas.add("full", {"name": string}, relations).relations) == 62
    assert told(schemas.add, "over", {"name": string}, relations, {"createIndex": {"indexSpec": {"name": 1}}}) == (
        "model 'over': 65 indexes, more than the 64 a collection may have"
    )


@pytest.mark.parametrize("name", ["hub._id_1__id_1", "rank_-1"])
def test_no_index_has_a_name_that_mongodb_gives_to_one_on_other_keys(schemas: Schemas, name: str) -> None:
    index = {"indexSpec": {"name": 1}, "options": {"name": name}}
    assert told(schemas.add, "some", {"name": string}, {}, {"createIndex": index}) == (
        f"model 'some', options, createIndex 0: the name {name!r} is one that MongoDB gives to an index on other keys"
    )


def test_an_index_that_is_made_anyway_may_have_any_name(schemas: Schemas) -> None:
    index = {"indexSpec": {"hub._id": 1, "_id": 1}, "options": {"name": "hub._id_1__id_1"}}
    schemas.add("some", {}, {"hub": link("hub")}, {"createIndex": index})
    index["options"] = {"name": "mine"}
    schemas.add("other", {}, {"hub": link("hub")}, {"createIndex": index})


def test_an_index_that_is_made_anyway_counts_once(schemas: Schemas) -> None:
    sorted_reverse = {"type": "multiple", "sort": {"field": "name", "order": "desc"}}
    relations = {f"r{n}": link("hub") for n in range(62)}
    relations["r61"] = {"schemaName": "hub", "type": "single", "relatedRelations": {"many": sorted_reverse}}
    made = [{"_id": 1}, {"r0._id": 1, "_id": 1}]
    options = {"createIndex": [{"indexSpec": keys} for keys in made]}
    assert len(schemas.add("full", {"name": string}, relations, options).options.indexes) == 2


def test_a_window_of_a_multiple_relation_has_two_indexes(schemas: Schemas) -> None:
    relations: dict[str, Any] = {f"r{n}": link("hub") for n in range(60)}
    window = {"schemaName": "hub", "relatedRelations": {"many": {"type": "multiple"}}}
    relations["last"] = {**window, "type": "single"}
    schemas.add("full", {}, relations)
    relations["last"] = {**window, "type": "multiple"}
    schemas.add("fuller", {}, relations)
    relations["one"] = link("hub")
    assert told(schemas.add, "over", {}, relations) == (
        "model 'over': 65 indexes, more than the 64 a collection may have"
    )
