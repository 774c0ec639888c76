"""The select struct: what `get` may say, by levels and restrictions, within bounds."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError
from itertools import permutations
from typing import Any

import marshmallow as mm
import pytest
from hypothesis import given

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, Struct, compile_struct, get, number, string
from gatewayfw.schemas.get import Ceilings, Level, Selectable, is_flag
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.settings import Settings
from tests.schemas.calls import refusals
from tests.strategies import json_values

SORT = {"field": "_id", "order": "desc"}


@pytest.fixture
def town(shop: Schemas) -> Schemas:
    """Country, city and street, each below the other, with their reverses."""
    streets = {"streets": {"type": "multiple", "limit": 5, "sort": SORT}}
    city = {"schemaName": "city", "type": "single", "relatedRelations": streets}
    shop.add("street", {"name": string()}, {"city": city})
    return shop


def getting(schemas: Schemas, model: str, spec: Any = 1) -> Struct:
    """Return a struct whose `get` selects from a model."""
    return compile_struct({"set": {}, "get": schemas.select_struct(model, spec)}, schemas)


def refused(schemas: Schemas, model: str, spec: Any, get: Any) -> Any:
    """Return the errors of a `get`, the same in both modes."""
    struct = getting(schemas, model, spec)
    strict, loose = (refusals(struct.check, {"set": {}, "get": get}, mode) for mode in ("assert", "create"))
    assert strict == loose
    return strict


@pytest.mark.parametrize(
    "get",
    [
        {},
        {"_id": 1, "name": 1, "code": 1},
        {"_id": 0, "name": 0},
        {"country": 1},
        {"country": 0},
        {"country": {}},
        {"country": {"_id": 1, "name": 1, "population": 0}},
        {"streets": {"name": 1}},
    ],
)
def test_one_level_takes_pure_fields_and_copies(town: Schemas, get: Any) -> None:
    sent = {"set": {}, "get": get}
    assert getting(town, "city").check(sent, "assert") == sent
    assert getting(town, "city").check(sent, "create") == sent


@pytest.mark.parametrize(
    ("get", "errors"),
    [
        ({"x": 1}, {"get.x": ["Unknown field."]}),
        ({"country.name": 1}, {"get.country.name": ["Unknown field."]}),
        ({"$where": 1, "": 1, 5: 1}, {f"get.{key}": ["Unknown field."] for key in ("$where", "", "5")}),
        ({"country": {"cities": 1, "x": 1}}, {f"get.country.{key}": ["Unknown field."] for key in ("cities", "x")}),
        *[
            ({"name": value, "_id": value}, {"get.name": ["Must be 1 or 0."], "get._id": ["Must be 1 or 0."]})
            for value in (True, "1", 1.0, 2, -1, None, [1], {}, {"$slice": 1})
        ],
        *[({"country": value}, {"get.country": ["Must be 1, 0 or an object."]}) for value in (True, 2, "$name", None)],
        ({"country": {"name": 2}, "x": 1}, {"get.country.name": ["Must be 1 or 0."], "get.x": ["Unknown field."]}),
        ([], {"get": ["Not a valid mapping type."]}),
        (1, {"get": ["Not a valid mapping type."]}),
        (None, {"get": ["Field may not be null."]}),
    ],
    ids=repr,
)
def test_everything_else_is_refused_by_path(town: Schemas, get: Any, errors: Any) -> None:
    assert refused(town, "city", 1, get) == errors


@pytest.mark.parametrize("spec", [0, 1, {"name": 1}, {"country": {"name": 1}}], ids=repr)
def test_the_revision_is_asked_for_at_the_top_only(town: Schemas, spec: Any) -> None:
    assert refused(town, "city", spec, {"_rev": 1, "name": 1}) is None
    assert refused(town, "city", spec, {"_rev": 0}) is None
    assert refused(town, "city", spec, {"_rev": True}) == {"get._rev": ["Must be 1 or 0."]}
    message = "A copy has no revision: ask for it at the top."
    if spec not in (0, {"name": 1}):
        assert refused(town, "city", spec, {"country": {"_rev": 1}}) == {"get.country._rev": [message]}


def test_the_revision_counts_as_a_leaf(schemas: Schemas) -> None:
    schemas.add("country", {"name": string()})
    select = schemas.select_struct("country").within(Ceilings(1, 1))
    assert select.deserialize({"_rev": 1}) == {"_rev": 1}
    with pytest.raises(mm.ValidationError, match="Too many fields: at most 1."):
        select.deserialize({"_rev": 1, "_id": 1})


def test_zero_levels_take_pure_fields_only(town: Schemas) -> None:
    assert refused(town, "city", 0, {"name": 1, "country": 1}) == {"get.country": ["Unknown field."]}


def test_more_levels_take_the_relations_of_the_related_model(town: Schemas) -> None:
    get = {"streets": {"city": {"country": {"name": 1}}}}
    assert refused(town, "city", 3, get) is None
    assert refused(town, "city", 2, get) == {"get.streets.city.country": ["Unknown field."]}


@pytest.mark.parametrize(
    ("spec", "fits", "unfit"),
    [
        ({"country": 1}, {"name": 1, "code": 1, "country": {"name": 1}}, {"streets": 1}),
        ({"name": 1}, {"_id": 1, "name": 1}, {"code": 1, "country": 1}),
        ({"name": 0}, {"code": 1}, {"name": 1}),
        ({"_id": 1, "country": 0}, {"_id": 1, "name": 1}, {"country": 1}),
        ({}, {"name": 1}, {"country": 1}),
        ({"country": {"name": 1}}, {"country": {"name": 1}}, {"country": {"population": 1}}),
        ({"country": 2}, {"country": {"cities": {"name": 1}}}, {"country": {"cities": {"country": 1}}}),
    ],
)
def test_a_mapping_restricts(town: Schemas, spec: Any, fits: Any, unfit: Any) -> None:
    before = copy.deepcopy(spec)
    assert refused(town, "city", spec, fits) is None
    assert refused(town, "city", spec, unfit) is not None
    assert spec == before


def test_one_on_a_restricted_relation_would_select_too_much(town: Schemas) -> None:
    spec = {"country": {"name": 1}}
    message = "Not all fields may be selected: name them in an object."
    assert refused(town, "city", spec, {"country": 0}) is None
    assert refused(town, "city", spec, {"country": 1}) == {"get.country": [message]}


def test_a_restriction_changed_later_has_no_effect(town: Schemas) -> None:
    spec: dict[str, Any] = {"country": {"name": 1}}
    struct = getting(town, "city", spec)
    spec["country"]["population"] = 1
    assert refusals(struct.check, {"set": {}, "get": {"country": {"population": 1}}}, "assert") is not None


def test_models_may_be_declared_after_the_struct(schemas: Schemas) -> None:
    struct = getting(schemas, "country")
    schemas.add("country", {"name": string()})
    assert refusals(struct.check, {"set": {}, "get": {"cities": 1}}, "assert") == {"get.cities": ["Unknown field."]}
    schemas.add(
        "city",
        {"name": string()},
        {"country": {"schemaName": "country", "type": "single", "relatedRelations": {"cities": {"type": "multiple"}}}},
    )
    assert struct.check({"set": {}, "get": {"cities": 1}}, "assert") == {"set": {}, "get": {"cities": 1}}


def chain(depth: int) -> dict[str, Any]:
    """Return a `get` for a city: its streets, their city, and so on, ``depth`` objects deep."""
    get: dict[str, Any] = {"name": 1}
    for level in reversed(range(depth - 1)):
        get = {"city" if level % 2 else "streets": get}
    return get


@pytest.mark.parametrize(
    ("get", "depth", "leaves"),
    [
        ({}, 1, 0),
        ({"name": 1, "_id": 0}, 1, 2),
        ({"_rev": 1, "name": 1}, 1, 2),
        ({"country": 1, "streets": {}}, 1, 2),
        ({"country": {"name": 1}, "streets": {"name": 1, "_id": 1}}, 2, 3),
        ({"streets": {"city": {"country": {"name": 1}, "name": 1}}}, 4, 2),
    ],
)
def test_a_get_is_known_at_once_up_to_the_very_bounds(town: Schemas, get: Any, depth: int, leaves: int) -> None:
    select = town.select_struct("city", 4)
    assert select.within(Ceilings(depth, leaves)).takes(get) is True
    assert [select.within(Ceilings(*less)).takes(get) for less in ((depth - 1, leaves), (depth, leaves - 1))] == [
        *(False, False)
    ]


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was looked at, not only known."""
    seen: list[Any] = []
    monkeypatch.setattr(get, "bounds_problem", lambda value, bounds: seen.append(value))
    return seen


def test_a_get_that_came_before_is_not_looked_at_again(town: Schemas, looked_at: list[Any]) -> None:
    select = town.select_struct("city")
    assert [select.takes({"name": value}) for value in (1, 1, True, 0, 1, 1.0)] == [
        *(True, True, False, True, True, False)
    ]
    assert looked_at == [{"name": value} for value in (1, True, 0, 1.0)]
    assert select.within(Ceilings(1, 0)).takes({"name": 1}) is True  # with other bounds it is
    assert len(looked_at) == 5


def test_only_so_many_short_ones_are_remembered(town: Schemas, looked_at: list[Any]) -> None:
    select = town.select_struct("city", 1)
    many = [dict.fromkeys(names, 1) for names in permutations(["_id", "name", "code", "country", "streets"])][:65]
    assert all(map(select.takes, [*many, many[0], many[64]]))
    assert looked_at == [*many, many[0]]


def test_a_long_one_is_looked_at_each_time(town: Schemas, looked_at: list[Any]) -> None:
    wide = dict.fromkeys([f"{'x' * 40}{number}" for number in range(30)], 1)
    town.add("wide", dict.fromkeys(wide, string))
    select = town.select_struct("wide", 0)
    assert [select.takes(wide) for _ in range(2)] == [True, True]
    assert looked_at == [wide, wide]


@pytest.mark.parametrize(
    "get",
    [
        *([], None, {"name": True}, {"name": 2}, {"x": 1}, {"country": True}, {"country": {"x": 1}}, {"_rev": 2}),
        *({"name": {}}, {"country": {"_rev": 1}}, {"country": [1]}, {"country": {"cities": 1}}),
    ],
    ids=repr,
)
def test_what_is_wrong_is_not_known(town: Schemas, get: Any) -> None:
    assert town.select_struct("city").takes(get) is False


def test_what_a_model_allows_is_found_once_until_a_model_is_added(town: Schemas) -> None:
    first = town.level("city", 2)
    assert town.level("city", 2) is first
    town.add("other", {})
    assert town.level("city", 2) is not first


def test_limits_are_on_a_copy(town: Schemas) -> None:
    select, bounds = town.select_struct("city", {"name": 1}), Ceilings(3, 4)
    other = select.within(bounds)
    assert (select.bounds, other.bounds) == (town.settings, bounds)
    assert other.model == "city"
    assert other.spec == (("name", 1),)
    assert other.metadata == {"model": "city", "spec": other.spec}
    assert select.required is True
    assert select.allow_none is False


NAMES = frozenset({"name", "code"})


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        (0, Level(NAMES, True, {})),
        (
            1,
            Level(
                NAMES,
                True,
                {"country": Selectable("country", frozenset(), 0), "streets": Selectable("street", frozenset(), 0)},
            ),
        ),
        ({"name": 1}, Level(frozenset({"name"}), True, {})),
        ({"code": 1}, Level(frozenset({"code"}), False, {})),
        ({"code": 0, "_id": 1}, Level(frozenset({"name"}), True, {})),
        ({"name": 0}, Level(frozenset({"code"}), False, {})),
        (
            {"country": {"name": 1}, "streets": 2},
            Level(
                NAMES,
                True,
                {
                    "country": Selectable("country", frozenset(), (("name", 1),)),
                    "streets": Selectable("street", frozenset(), 1),
                },
            ),
        ),
        (
            {"country": {"name": 1, "population": 1}, "streets": 0},
            Level(
                NAMES,
                True,
                {"country": Selectable("country", frozenset(), (("name", 1), ("population", 1)))},
            ),
        ),
    ],
)
def test_a_level_holds_what_may_be_named(town: Schemas, spec: Any, allowed: Level) -> None:
    assert town.level("city", town.select_struct("city", spec).spec) == allowed


@pytest.mark.parametrize("made", [Level(NAMES, True, {}), Selectable("a", NAMES, 1)], ids=["level", "link"])
def test_a_level_cannot_be_changed(made: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        made.spec = 5


def test_links_keep_what_they_leave_out(schemas: Schemas) -> None:
    schemas.add("land", {"name": string(), "area": number()})
    reverse = {"towns": {"type": "multiple", "excludes": ["code"]}}
    relation = {"schemaName": "land", "type": "single", "excludes": ["area"], "relatedRelations": reverse}
    schemas.add("town", {"name": string(), "code": string()}, {"land": relation})
    for spec in (1, {"land": 1}):
        frozen = schemas.select_struct("town", spec).spec
        assert schemas.level("town", frozen).links == {"land": Selectable("land", frozenset({"area"}), 0)}
    for spec in (1, {"towns": 1}):
        frozen = schemas.select_struct("land", spec).spec
        assert schemas.level("land", frozen).links == {"towns": Selectable("town", frozenset({"code"}), 0)}


@pytest.mark.parametrize(
    ("value", "flag"), [(1, True), (0, True), (2, False), (True, False), (1.0, False), ("1", False), (None, False)]
)
def test_only_the_numbers_one_and_zero_are_flags(value: Any, flag: bool) -> None:
    assert is_flag(value) is flag


def test_a_restriction_is_no_deeper_than_a_get_may_be() -> None:
    schemas = Schemas(Settings(max_get_depth=1))
    for spec in (0, 1, {"b": 0}, {}):
        assert schemas.select_struct("a", spec).model == "a"
    for spec in (2, {"b": 1}, {"b": {}}):
        with pytest.raises(DefinitionError) as caught:
            schemas.select_struct("a", spec)
        assert caught.value.message == (
            "select struct of 'a': expected a number of levels up to the limit, or names to these"
        )


@pytest.mark.parametrize(
    ("spec", "described"),
    [
        (2, {"model": "city", "depth": 2}),
        (
            {"code": 1, "name": 1, "country": {"name": 1}, "streets": 1},
            {
                "model": "city",
                "fields": ["_id", "name"],
                "whole": True,
                "links": {
                    "country": {"model": "country", "fields": ["_id", "name"], "whole": False, "links": {}},
                    "streets": {"model": "street", "depth": 0},
                },
            },
        ),
    ],
)
def test_a_select_struct_is_described_by_what_it_allows(town: Schemas, spec: Any, described: Any) -> None:
    kind = as_kind(town.select_struct("city", spec))
    assert kind.description() == {"kind": "selection", **described}
    assert kind.operand({"name": 1}, "x") == kind.storer()({"name": 1}) == {"name": 1}


def test_depth_is_bounded(town: Schemas) -> None:
    endless: dict[str, Any] = {}
    endless["streets"] = endless
    assert refused(town, "city", 8, chain(8)) is None
    assert refused(town, "city", 8, chain(9)) == {"get": ["Nested too deeply: at most 8 levels."]}
    assert refused(town, "city", 8, endless) == {"get": ["Nested too deeply: at most 8 levels."]}


def test_the_number_of_fields_is_bounded(town: Schemas) -> None:
    wide = {f"f{n}": n for n in range(501)}
    assert refused(town, "city", 1, {"country": wide}) == {"get": ["Too many fields: at most 500."]}
    wide.pop("f0")
    errors = refused(town, "city", 1, {"country": wide})
    assert errors == {f"get.country.f{n}": ["Unknown field."] for n in range(1, 101)}  # All that are told.


def test_the_bounds_are_settings() -> None:
    schemas = Schemas(Settings(max_get_depth=1, max_get_leaves=2))
    schemas.add("a", {"x": string(), "y": string(), "z": string()}, {"b": {"schemaName": "a", "type": "single"}})
    assert refused(schemas, "a", 1, {"x": 1, "y": 1}) is None
    assert refused(schemas, "a", 1, {"x": 1, "y": 1, "z": 1}) == {"get": ["Too many fields: at most 2."]}
    assert refused(schemas, "a", 1, {"b": {"x": 1}}) == {"get": ["Nested too deeply: at most 1 levels."]}


BAD_FORM = "select struct of 'city': expected a number of levels up to the limit, or names to these"


@pytest.mark.parametrize(
    "spec", [-1, 9, True, 1.0, "1", None, ["name"], {1: 1}, {"name": "1"}, {"country": {"name": None}}]
)
def test_a_restriction_of_another_form_is_refused_at_once(town: Schemas, spec: Any) -> None:
    with pytest.raises(DefinitionError) as caught:
        town.select_struct("city", spec)
    assert caught.value.message == BAD_FORM


@pytest.mark.parametrize(
    ("model", "spec", "message"),
    [
        ("town", 1, "select struct of 'town': there is no such model"),
        ("city", {"x": 1}, "select struct of 'city': 'x' is not a field or relation of it"),
        ("city", {"name": 2}, "select struct of 'city': the field 'name' takes 1 or 0"),
        ("city", {"name": {"a": 1}}, "select struct of 'city': the field 'name' takes 1 or 0"),
        ("city", {"country": {"x": 1}}, "select struct of 'country': 'x' is not a field or relation of it"),
        ("town", {"a": {"b": 1}}, "select struct of 'town': there is no such model"),
        (
            "city",
            {"streets": {"city": {"country": {"name": 1, "y": {"z": 1}}, "name": 1}}},
            "select struct of 'country': 'y' is not a field or relation of it",
        ),
        ("street", {"city": 0, "name": 3, "_id": 1}, "select struct of 'street': the field 'name' takes 1 or 0"),
    ],
)
def test_wrong_names_are_told_at_first_use_and_by_problems(town: Schemas, model: str, spec: Any, message: str) -> None:
    struct = getting(town, model, spec)
    assert list(struct.fields["get"].problems()) == [message]
    assert [list(select.problems()) for select in town.select_structs()] == [[message]]
    with pytest.raises(DefinitionError) as caught:
        struct.check({"set": {}, "get": {}}, "assert")
    assert caught.value.message == message


def test_create_projection_names_all_but_excluded_fields(town: Schemas) -> None:
    country = {"_id": 1, "name": 1, "population": 1}
    assert town.create_projection("city", 0) == {"_id": 1, "name": 1}
    assert town.create_projection("city") == {
        "_id": 1,
        "name": 1,
        "country": country,
        "streets": {"_id": 1, "name": 1},
    }
    assert town.create_projection("country", {"name": 1, "cities": 2}) == {
        "_id": 1,
        "name": 1,
        "cities": {"_id": 1, "name": 1, "country": country, "streets": {"_id": 1, "name": 1}},
    }


def test_create_projection_leaves_out_what_a_relation_excludes(schemas: Schemas) -> None:
    schemas.add(
        "note",
        {"text": string(), "secret": string()},
        {
            "parent": {
                "schemaName": "note",
                "type": "single",
                "excludes": ["secret"],
                "relatedRelations": {"children": {"type": "multiple", "excludes": ["text"]}},
            }
        },
    )
    assert schemas.create_projection("note") == {
        "_id": 1,
        "text": 1,
        "secret": 1,
        "parent": {"_id": 1, "text": 1},
        "children": {"_id": 1, "secret": 1},
    }


def test_what_a_link_leaves_out_is_left_out_everywhere_below_it(schemas: Schemas) -> None:
    back = {"children": {"type": "multiple", "excludes": ["text"]}}
    parent = {"schemaName": "note", "type": "single", "excludes": ["secret"], "relatedRelations": back}
    schemas.add("note", {"text": string(), "secret": string()}, {"parent": parent})
    assert schemas.create_projection("note", 2) == {
        "_id": 1,
        "text": 1,
        "secret": 1,
        "parent": {"_id": 1, "text": 1, "parent": {"_id": 1, "text": 1}, "children": {"_id": 1}},
        "children": {"_id": 1, "secret": 1, "parent": {"_id": 1}, "children": {"_id": 1, "secret": 1}},
    }


def test_a_projection_may_be_as_wide_as_a_get() -> None:
    schemas = Schemas(Settings(max_get_leaves=5))
    schemas.add("a", {"x": string()}, {"b": {"schemaName": "c", "type": "single"}})
    schemas.add("c", {"x": string(), "y": string()})
    assert schemas.create_projection("a") == {"_id": 1, "x": 1, "b": {"_id": 1, "x": 1, "y": 1}}
    schemas.add("d", {"x": string(), "y": string()}, {"b": {"schemaName": "c", "type": "single"}})
    with pytest.raises(DefinitionError) as caught:
        schemas.create_projection("d")
    assert caught.value.message == "projection of 'c': more than 5 fields (setting max_get_leaves)"


@pytest.mark.parametrize("spec", [0, 1, 2, 3, {"country": 1}, {"name": 1, "streets": {"city": 1}}])
def test_the_select_struct_accepts_its_whole_projection(town: Schemas, spec: Any) -> None:
    assert refused(town, "city", spec, town.create_projection("city", spec)) is None


def test_a_projection_too_wide_to_be_asked_for_is_refused(schemas: Schemas) -> None:
    relations = {f"r{n}": {"schemaName": "a", "type": "single"} for n in range(20)}
    schemas.add("a", {"x": number()}, relations)
    assert len(schemas.create_projection("a", 1)) == 22
    with pytest.raises(DefinitionError) as caught:
        schemas.create_projection("a", 8)
    assert caught.value.message == "projection of 'a': more than 500 fields (setting max_get_leaves)"


@given(get=json_values)
def test_no_json_breaks_the_select_struct(get: Any) -> None:
    schemas = Schemas(Settings())
    schemas.add("a", {"x": string()}, {"b": {"schemaName": "a", "type": "single"}})
    errors = refused(schemas, "a", 1, get) or {}
    assert all(path.startswith("get") for path in errors)
