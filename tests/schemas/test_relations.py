"""Relations and options as declared: parsed forms, defaults, and every error told at definition."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, replace
from typing import Any

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import IndexSpec, Options, RelatedRelation, Relation, Schemas, Sort, integer, object_, string
from gatewayfw.schemas.relations import Window
from gatewayfw.settings import Settings

PURE = {"name": string, "rank": integer, "tags": object_}
DESC = Sort("_id", "desc")


def city(schemas: Schemas, relations: Any = None, options: Any = None) -> Any:
    """Declare the model city."""
    return schemas.add("city", PURE, relations, options)


def told(call: Any, *arguments: Any) -> str:
    """Return the message of the definition error that a call raises."""
    with pytest.raises(DefinitionError) as caught:
        call(*arguments)
    return caught.value.message


WRITTEN = {
    "schemaName": "country",
    "type": "multiple",
    "optional": True,
    "limit": 3,
    "sort": {"field": "name", "order": "asc"},
    "excludes": ["anthem"],
    "frozen": True,
    "relatedRelations": {
        "cities": {"type": "multiple", "limit": 50, "sort": {"field": "rank", "order": "desc"}, "excludes": ["tags"]},
        "capital": {"type": "single", "default": True},
    },
}
TYPED = Relation(
    "country",
    "multiple",
    optional=True,
    limit=3,
    sort=Sort("name", "asc"),
    excludes=frozenset({"anthem"}),
    frozen=True,
    related_relations={
        "cities": RelatedRelation(type="multiple", limit=50, sort=Sort("rank", "desc"), excludes=frozenset({"tags"})),
        "capital": RelatedRelation(type="single", default=True),
    },
)


@pytest.mark.parametrize("given", [WRITTEN, TYPED], ids=["contract", "typed"])
def test_both_forms_of_a_relation_give_the_same(schemas: Schemas, given: Any) -> None:
    place = {"relation": "countries", "member": "city", "target": "country"}
    assert city(schemas, {"countries": given}).relations["countries"] == Relation(
        schema_name="country",
        type="multiple",
        optional=True,
        limit=3,
        sort=Sort("name", "asc"),
        excludes=frozenset({"anthem"}),
        frozen=True,
        name="countries",
        model="city",
        related_relations={
            "cities": RelatedRelation(
                name="cities",
                type="multiple",
                limit=50,
                sort=Sort("rank", "desc"),
                excludes=frozenset({"tags"}),
                **place,
            ),
            "capital": RelatedRelation(name="capital", type="single", default=True, **place),
        },
    )


BARE_LINK = {"limit": None, "sort": None, "excludes": frozenset(), "name": ""}
REVERSE = RelatedRelation(type="single")


def test_a_typed_definition_says_nothing_that_it_was_not_told() -> None:
    assert asdict(Relation("country", "single")) == BARE_LINK | {
        "schema_name": "country",
        "type": "single",
        "optional": False,
        "related_relations": {},
        "model": "",
        "frozen": False,
        "shared": False,
    }
    assert asdict(REVERSE) == BARE_LINK | {
        "type": "single",
        "relation": "",
        "member": "",
        "target": "",
        "of_single": False,
        "default": False,
        "limited": False,
        "shared": False,
    }
    assert asdict(IndexSpec(())) == {"keys": (), "options": {}}
    assert asdict(Options()) == {"indexes": (), "excludes": frozenset()}


@pytest.mark.parametrize(
    "parsed",
    [DESC, Window(1, DESC), REVERSE, Relation("country", "single"), IndexSpec(()), Options()],
    ids=lambda parsed: type(parsed).__name__,
)
def test_a_definition_cannot_be_changed(parsed: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        parsed.limit = 5


def test_what_a_reverse_is_called_is_said_with_its_key_only() -> None:
    with pytest.raises(TypeError):
        RelatedRelation("single")  # type: ignore[misc]  # that is the point


def test_definitions_of_other_names_have_other_hashes() -> None:
    named = [
        *(replace(REVERSE, **{key: "x"}) for key in ("name", "relation", "member")),
        *(replace(Relation("country", "single"), **{key: "x"}) for key in ("name", "model")),
    ]
    assert len({*map(hash, [REVERSE, Relation("country", "single"), *named])}) == 7
    assert hash(replace(REVERSE, limit=5, target="x")) == hash(REVERSE)


def test_a_reverse_knows_whether_its_members_have_one_target(schemas: Schemas) -> None:
    reverses = {"cities": {"type": "multiple"}}
    given = {name: {"schemaName": name, "type": name, "relatedRelations": reverses} for name in ("single", "multiple")}
    relations = city(schemas, given).relations
    assert [relations[name].related_relations["cities"].of_single for name in given] == [True, False]


def test_ids_break_the_ties_of_a_window_unless_it_is_sorted_by_id() -> None:
    assert [Window(3, Sort(field, order)).order for field, order in [("name", "asc"), ("_id", "desc")]] == [
        (("name", 1), ("_id", 1)),
        (("_id", -1),),
    ]
    kept = [replace(REVERSE, limit=limit, sort=sort).window for limit in (None, 3) for sort in (None, DESC)]
    assert kept == [None, None, None, Window(3, DESC)]


def test_limits_and_sorts_left_out_are_resolved() -> None:
    schemas = Schemas(Settings(relation_limit=7, reverse_limit=8))
    reverses = {"cities": {"type": "multiple"}, "capital": {"type": "single"}}
    many = {"schemaName": "country", "type": "multiple", "relatedRelations": reverses}
    relations = city(schemas, {"many": many, "one": {"schemaName": "country", "type": "single"}}).relations
    assert [(each.limit, each.sort, each.optional) for each in relations.values()] == [
        (7, None, False),
        (None, None, False),
    ]
    assert [(each.limit, each.sort) for each in relations["many"].related_relations.values()] == [
        (8, DESC),
        (None, None),
    ]


LIST = {"limit": 1, "sort": {"field": "_id", "order": "asc"}}


def test_limit_and_sort_of_a_single_reverse_have_no_effect(schemas: Schemas) -> None:
    reverse = {"back": {"type": "single", **LIST}}
    relation = city(schemas, {"one": {"schemaName": "city", "type": "single", "relatedRelations": reverse}}).relations[
        "one"
    ]
    assert (relation.limit, relation.sort) == (None, None)
    assert (relation.related_relations["back"].limit, relation.related_relations["back"].sort) == (None, None)


@pytest.mark.parametrize(("keys", "named"), [(["limit"], "limit"), (["sort"], "sort"), (LIST, "limit and sort")])
def test_limit_and_sort_of_a_single_relation_are_refused(schemas: Schemas, keys: Any, named: str) -> None:
    given = {key: LIST[key] for key in keys}
    message = f"model 'city', relation 'one': {named}: a single relation holds one document, not a list"
    typed = Relation("city", "single", limit=given.get("limit"), sort=Sort("_id", "asc") if "sort" in given else None)
    for relation in ({"schemaName": "city", "type": "single", **given}, typed):
        with pytest.raises(DefinitionError) as raised:
            city(schemas, {"one": relation})
        assert raised.value.message == message
    assert schemas.get_schemas() == {}


def test_sorts_tell_their_direction() -> None:
    assert (Sort("a", "asc").direction, Sort("a", "desc").direction) == (1, -1)


def test_parsed_relations_are_hashable(schemas: Schemas) -> None:
    model = city(schemas, {"countries": WRITTEN}, {"createIndex": {"indexSpec": {"name": 1}}})
    assert len({model, model.relations["countries"], model.options}) == 3


AT = "model 'city', relation 'country'"
NAME_RULE = "is not a usable name (letters, digits and _, not starting with a digit or _gw, not _id or _rev)"
KNOWN = "(known: schemaName, type, optional, relatedRelations, limit, sort, excludes, frozen, shared)"
ONE = {"schemaName": "country", "type": "single"}
MANY = {"schemaName": "country", "type": "multiple"}


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (None, f"{AT}: expected an object, not NoneType"),
        ("country", f"{AT}: expected an object, not str"),
        ({"type": "single"}, f"{AT}: schemaName is missing"),
        ({**ONE, "schemaName": 5}, f"{AT}, schemaName: 5 {NAME_RULE}"),
        ({"schemaName": "country"}, f"{AT}: type must be 'single' or 'multiple'"),
        ({**ONE, "type": "many"}, f"{AT}: type must be 'single' or 'multiple'"),
        ({**ONE, "type": ["single"]}, f"{AT}: type must be 'single' or 'multiple'"),
        ({**ONE, "optional": 1}, f"{AT}: optional must be true or false"),
        ({**ONE, "frozen": "yes"}, f"{AT}: frozen must be true or false"),
        ({**ONE, "schema_name": "x", 5: 1}, f"{AT}: unknown 'schema_name', 5 {KNOWN}"),
        *[
            ({**MANY, "limit": limit}, f"{AT}: limit must be an integer in 1..1000")
            for limit in (0, 1001, True, "5", None)
        ],
        ({**MANY, "limit": 2.0}, f"{AT}: limit must be an integer in 1..1000"),
        ({**MANY, "sort": "name"}, f"{AT}, sort: expected an object, not str"),
        ({**MANY, "sort": None}, f"{AT}, sort: expected an object, not NoneType"),
        ({**MANY, "sort": {"order": "asc"}}, f"{AT}, sort: field must be the name of a field"),
        ({**MANY, "sort": {"field": "name"}}, f"{AT}, sort: order must be 'asc' or 'desc'"),
        ({**MANY, "sort": {"field": "name", "order": "up"}}, f"{AT}, sort: order must be 'asc' or 'desc'"),
        (
            {**MANY, "sort": {"field": "name", "order": "asc", "by": 1}},
            f"{AT}, sort: unknown 'by' (known: field, order)",
        ),
        ({**ONE, "excludes": "name"}, f"{AT}: excludes must be a list of names"),
        ({**ONE, "excludes": [5]}, f"{AT}: excludes must be a list of names"),
        ({**ONE, "relatedRelations": ["cities"]}, f"{AT}: relatedRelations must be a mapping, not list"),
    ],
)
def test_a_wrong_relation_is_named(schemas: Schemas, relation: Any, message: str) -> None:
    assert told(city, schemas, {"country": relation}) == message
    assert schemas.get_schemas() == {}


BACK = f"{AT}, reverse 'cities'"
REVERSE_KEYS = "(known: type, limit, sort, excludes, default, shared)"


@pytest.mark.parametrize(
    ("reverse", "message"),
    [
        (True, f"{BACK}: expected an object, not bool"),
        ({}, f"{BACK}: type must be 'single' or 'multiple'"),
        ({"type": "multiple", "optional": True}, f"{BACK}: unknown 'optional' {REVERSE_KEYS}"),
        ({"type": "single", "default": 1}, f"{BACK}: default must be true or false"),
        ({"type": "multiple", "limit": 0}, f"{BACK}: limit must be an integer in 1..10000"),
        ({"type": "multiple", "limit": 10_001}, f"{BACK}: limit must be an integer in 1..10000"),
        ({"type": "single", "limit": "1"}, f"{BACK}: limit must be an integer in 1..10000"),
        ({"type": "multiple", "excludes": ["x", "a"]}, f"{BACK}: excludes names 'a', 'x', not a pure field of 'city'"),
        *[
            (
                {"type": "multiple", "sort": {"field": field, "order": "asc"}, "excludes": ["rank"]},
                f"{BACK}, sort: {field!r} is neither _id nor a scalar pure field of 'city' that is not excluded",
            )
            for field in ("x", "tags", "country", "rank", "hidden", "name.x")
        ],
    ],
)
def test_a_wrong_reverse_is_named(schemas: Schemas, reverse: Any, message: str) -> None:
    relations = {"country": {**ONE, "relatedRelations": {"cities": reverse}}}
    pure = {**PURE, "hidden": string}
    assert told(schemas.add, "city", pure, relations, {"excludes": ["hidden"]}) == message


@pytest.mark.parametrize("limit", [1, 10_000])
def test_a_reverse_limit_may_reach_its_bounds(schemas: Schemas, limit: int) -> None:
    reverse = {"type": "multiple", "limit": limit}
    model = city(schemas, {"country": {**ONE, "relatedRelations": {"cities": reverse}}})
    assert model.relations["country"].related_relations["cities"].limit == limit


def test_names_have_letters_of_either_case_digits_and_underscores(schemas: Schemas) -> None:
    names = ["A", "Zz9", "_", "a_B", "gw", "_rev2"]
    assert list(schemas.add("City", dict.fromkeys(names, string)).pure) == names


@pytest.mark.parametrize(
    "name", ["_id", "_rev", "_gw", "_gwx", "1a", "a-b", "a.b", "$a", "", "é", "aé", "a\n", 5, None]
)
def test_names_that_storage_or_clients_cannot_use_are_refused(schemas: Schemas, name: Any) -> None:
    reverse = {"country": {**ONE, "relatedRelations": {name: {"type": "single"}}}}
    assert [
        told(schemas.add, name, {}),
        told(schemas.add, "city", {name: string}),
        told(city, schemas, {name: ONE}),
        told(city, schemas, reverse),
    ] == [
        f"{where}: {name!r} {NAME_RULE}"
        for where in (
            f"model {name!r}",
            f"model 'city', field {name!r}",
            f"model 'city', relation {name!r}",
            f"{AT}, reverse {name!r}",
        )
    ]


def test_relations_are_a_mapping_and_none_has_the_name_of_a_field(schemas: Schemas) -> None:
    assert told(city, schemas, ["country"]) == "model 'city': relations must be a mapping, not list"
    assert told(city, schemas, {"name": ONE}) == "model 'city', relation 'name': a pure field has this name"


@pytest.mark.parametrize(
    "given",
    [
        {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}, "excludes": ["rank"]},
        {"createIndex": [{"indexSpec": {"name": 1}, "options": {"unique": True}}], "excludes": {"rank"}},
        {"createIndex": IndexSpec((("name", 1),), {"unique": True}), "excludes": ("rank",)},
        Options((IndexSpec((("name", 1),), {"unique": True}),), frozenset({"rank"})),
    ],
)
def test_every_form_of_options_gives_the_same(schemas: Schemas, given: Any) -> None:
    model = city(schemas, {}, given)
    assert model.options == Options((IndexSpec((("name", 1),), {"unique": True}),), frozenset({"rank"}))
    assert (model.copy_fields(frozenset()), model.copy_fields(frozenset({"tags"}))) == (("name", "tags"), ("name",))


def test_an_index_may_name_fields_ids_and_parts(schemas: Schemas) -> None:
    keys = {"_id": 1, "name": -1, "tags.a": 1, "country._id": 1}
    model = city(schemas, {"country": ONE}, {"createIndex": {"indexSpec": keys}})
    assert model.options.indexes == (IndexSpec(tuple(keys.items()), {}),)


INDEX_OPTIONS_GIVEN = [
    {"name": "by_name"},
    {"unique": False},
    {"sparse": True},
    {"expireAfterSeconds": 0},
    {"partialFilterExpression": {"rank": 1}},
    {"collation": {"locale": "en", "strength": 2}},
]


@pytest.mark.parametrize("given", INDEX_OPTIONS_GIVEN, ids=lambda given: next(iter(given)))
def test_an_index_keeps_its_options(schemas: Schemas, given: Any) -> None:
    model = city(schemas, {}, {"createIndex": {"indexSpec": {"name": 1}, "options": given}})
    assert model.options.indexes == (IndexSpec((("name", 1),), given),)


IN = "model 'city', options"
INDEX = f"{IN}, createIndex 0"
INDEX_OPTIONS = "(known: name, unique, sparse, expireAfterSeconds, partialFilterExpression, collation)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], f"{IN}: expected an object, not list"),
        ({"indexes": []}, f"{IN}: unknown 'indexes' (known: createIndex, excludes)"),
        ({"excludes": ["x"]}, f"{IN}: excludes names 'x', not a pure field of 'city'"),
        ({"excludes": ["_id"]}, f"{IN}: excludes names '_id', not a pure field of 'city'"),
        ({"excludes": "name"}, f"{IN}: excludes must be a list of names"),
        ({"createIndex": "name"}, f"{IN}, createIndex: expected an object or a list, not str"),
        ({"createIndex": ["name"]}, f"{INDEX}: expected an object, not str"),
        ({"createIndex": {}}, f"{INDEX}: indexSpec must be an object of field to direction"),
        ({"createIndex": 5}, f"{IN}, createIndex: expected an object or a list, not int"),
        ({"createIndex": [{"indexSpec": {"name": 1}}] * 2}, f"{IN}, createIndex: two indexes have the same keys"),
        (
            {"createIndex": [{"indexSpec": {name: 1}, "options": {"name": "one"}} for name in ("name", "rank")]},
            f"{IN}, createIndex: two indexes have the same name",
        ),
        (
            {"createIndex": [{"indexSpec": {"name": 1}}, {"indexSpec": {}}]},
            f"{IN}, createIndex 1: indexSpec must be an object of field to direction",
        ),
        ({"excludes": 5}, f"{IN}: excludes must be a list of names"),
        ({"createIndex": {"indexSpec": {}}}, f"{INDEX}: indexSpec must be an object of field to direction"),
        (
            {"createIndex": {"indexSpec": {"name": 1}, "unique": True}},
            f"{INDEX}: unknown 'unique' (known: indexSpec, options)",
        ),
        *[
            ({"createIndex": {"indexSpec": {"name": value}}}, f"{INDEX}: the direction of 'name' must be 1 or -1")
            for value in (0, 2, True, "text", 1.0)
        ],
        *[
            (
                {"createIndex": {"indexSpec": {name: 1}}},
                f"{INDEX}: {name!r} is not a pure field, not _id and not below a field or relation",
            )
            for name in ("x", "country", "x.y", "name.", "name.$x", "name.\0", "name.\ud800", "_id.x", 5)
        ],
        (
            {"createIndex": {"indexSpec": {"name": 1}, "options": {"uniqe": True}}},
            f"{INDEX}, options: unknown 'uniqe' {INDEX_OPTIONS}",
        ),
        *[
            (
                {"createIndex": {"indexSpec": {"name": 1}, "options": {name: value}}},
                f"{INDEX}, options: {name} must be {expected}",
            )
            for name, value, expected in [
                ("name", "", "a name"),
                ("name", 1, "a name"),
                ("unique", 1, "true or false"),
                ("sparse", 0, "true or false"),
                ("expireAfterSeconds", -1, f"an integer in 0..{2**31 - 1}"),
                ("expireAfterSeconds", 1.0, f"an integer in 0..{2**31 - 1}"),
                ("expireAfterSeconds", True, f"an integer in 0..{2**31 - 1}"),
                ("partialFilterExpression", [], "an object"),
                ("collation", "en", "an object with locale, of what MongoDB takes"),
                ("collation", {"strength": 2}, "an object with locale, of what MongoDB takes"),
            ]
        ],
    ],
)
def test_wrong_options_are_named(schemas: Schemas, options: Any, message: str) -> None:
    assert told(city, schemas, {"country": ONE}, options) == message


def test_relations_and_reverse_relations_may_be_shared(schemas: Schemas) -> None:
    reverse = {"cities": {"type": "multiple", "shared": True}}
    relation = city(schemas, {"country": {**ONE, "shared": True, "relatedRelations": reverse}}).relations["country"]
    assert (relation.shared, relation.related_relations["cities"].shared) == (True, True)


@pytest.mark.parametrize("given", [None, 1, "yes"])
def test_shared_is_true_or_false(schemas: Schemas, given: Any) -> None:
    assert told(city, schemas, {"country": {**ONE, "shared": given}}) == f"{AT}: shared must be true or false"
