"""The models of a gateway: introspection, links between models, and what needs other models to be judged."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from bson import ObjectId

from gatewayfw.errors import NotFound
from gatewayfw.schemas import Schemas, array, fields, object_id, string
from gatewayfw.schemas.exactness import check_document
from gatewayfw.settings import Settings
from tests.schemas.calls import link, told


def test_models_are_introspected_by_name(shop: Schemas) -> None:
    city, country = shop.get_schema("city"), shop.get_schema("country")
    relation = city.relations["country"]
    assert shop.get_schemas() == {"country": country, "city": city}
    assert list(shop.get_pure("city")) == ["name", "code"]
    assert shop.get_relations("city") == {"country": relation}
    assert shop.get_relations("country") == {}
    assert shop.get_related_relations("country") == dict(relation.related_relations)
    assert shop.get_related_relations("city") == {}


def test_relations_are_found_from_either_side(shop: Schemas) -> None:
    relation = shop.get_relations("city")["country"]
    assert shop.embedders("country") == (relation,)
    assert shop.embedders("city") == ()


@pytest.mark.parametrize("name", ["get_schema", "get_pure", "get_relations", "get_related_relations", "validate"])
def test_an_unknown_model_is_not_found(shop: Schemas, name: str) -> None:
    with pytest.raises(NotFound) as caught:
        getattr(shop, name)("town\n")
    assert caught.value.message == "model not found: town\\n"


def test_what_introspection_gives_is_a_copy(shop: Schemas) -> None:
    for result in (
        shop.get_schemas(),
        shop.get_pure("city"),
        shop.get_relations("city"),
        shop.get_related_relations("country"),
    ):
        result.clear()
    assert [len(shop.get_schemas()), len(shop.get_pure("city")), len(shop.get_relations("city"))] == [2, 2, 1]
    assert len(shop.get_related_relations("country")) == 1


def test_a_relation_to_the_own_model_appears_on_both_sides(schemas: Schemas) -> None:
    schemas.add("unit", {}, {"parent": link("unit", "child")})
    assert [each.model for each in schemas.embedders("unit")] == ["unit"]
    assert list(schemas.get_related_relations("unit")) == ["child"]


def test_a_name_is_taken_once(shop: Schemas) -> None:
    shop.add("river", {})
    version = shop.version
    assert told(shop.add, "river", {}) == "model 'river' is already defined"
    assert shop.version == version


def test_the_version_grows_with_every_model(schemas: Schemas) -> None:
    versions = [schemas.version]
    for name in "abc":
        schemas.add(name, {})
        versions.append(schemas.version)
    assert versions == sorted(set(versions))


def test_each_change_leaves_a_stamp_of_its_own(schemas: Schemas) -> None:
    stamps = [Schemas(Settings()).stamp, schemas.stamp]
    for change in (lambda: schemas.add("a", {}), lambda: schemas.add_listing("a", str), schemas.note_change):
        change()
        stamps.append(schemas.stamp)
    assert len(set(map(id, stamps))) == 5


def test_listings_are_numbered_in_each_model(schemas: Schemas) -> None:
    for name in ("a", "b"):
        schemas.add(name, {})
    for model in ("a", "b", "a"):
        schemas.add_listing(model, lambda number: f"listing {number}")
    assert schemas.listings("a") == ("listing 0", "listing 1")
    assert schemas.listings("b") == ("listing 0",)
    assert schemas.listings("c") == ()
    assert schemas.version == 5


def test_problems_of_listings_are_told_once_and_last(schemas: Schemas) -> None:
    schemas.add("a", {}, {"b": link("b")})
    for problem in ("odd", "even", "odd"):
        schemas.add_listing("a", lambda number, problem=problem: SimpleNamespace(problems=lambda: iter([problem])))
    wrong = "model 'a', relation 'b': schemaName names 'b', which is not a model"
    assert schemas.problems() == [wrong, "odd", "even"]
    assert told(schemas.validate, "a") == wrong


def test_what_is_derived_from_models_is_made_once_until_one_is_added(schemas: Schemas) -> None:
    made: list[Any] = []

    def derive(*about: Any) -> Any:
        made.append(about)
        return len(made)

    for _ in range(2):
        assert [schemas.remembered(derive, "a"), schemas.remembered(derive, "b")] == [1, 2]
    schemas.add("a", {})
    assert schemas.remembered(derive, "a") == 3
    assert made == [(schemas, "a"), (schemas, "b"), (schemas, "a")]


def test_no_setting_bounds_lists_of_ids_in_models() -> None:
    model = Schemas(Settings(max_ids=1)).add("a", {"ids": array(object_id)})
    ids = ["0" * 24] * 2
    assert check_document(model.document, {"ids": ids})["ids"] == [ObjectId(one) for one in ids]


def test_a_select_struct_allows_one_level_if_nothing_is_said(shop: Schemas) -> None:
    assert (shop.select_struct("city").spec, shop.create_projection("city")) == (1, shop.create_projection("city", 1))
    problem = "select struct of 'city': expected a number of levels up to the limit, or names to these"
    assert [told(make, "city", -1) for make in (shop.select_struct, shop.create_projection)] == [problem] * 2


def test_models_added_by_many_threads_are_all_there(schemas: Schemas) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: schemas.add(f"m{n}", {}, {"hub": link("hub", f"r{n}")}), range(200)))
    schemas.add("hub", {})
    assert schemas.version == 201
    assert (len(schemas.embedders("hub")), len(schemas.get_related_relations("hub"))) == (200, 200)


def test_pure_fields_are_a_mapping_of_kinds(schemas: Schemas) -> None:
    assert told(schemas.add, "a", ["name"]) == "model 'a': pure fields must be a mapping, not list"
    assert told(schemas.add, "a", {"name": 5}) == (
        "model 'a', field 'name': expected a value kind, a marshmallow field or schema, or a mapping, not int"
    )
    assert told(schemas.add, "a", {"part": {"deep": {"name": 5}}}) == (
        "model 'a', field 'part.deep.name': expected a value kind, a marshmallow field or schema, or a mapping, not int"
    )


@pytest.mark.parametrize("name", ["$a", "a.b", "a\0"])
def test_parts_of_a_field_have_names_the_database_can_hold(schemas: Schemas, name: str) -> None:
    assert told(schemas.add, "a", {"list": fields.array({"part": {name: string}})}) == (
        f"model 'a', field 'list': the database cannot hold a field named {name!r}"
    )


def test_two_gateways_share_no_models(shop: Schemas) -> None:
    assert Schemas(Settings()).get_schemas() == {}


def test_value_kinds_are_on_the_registry_in_both_spellings(schemas: Schemas) -> None:
    assert {name: getattr(schemas, name) for name in fields.KINDS} == dict(fields.KINDS)
    assert schemas.object == fields.object_
    assert schemas.any == fields.any_
    assert schemas.objectIdValidation == fields.object_id
    assert schemas.described is fields.described


def test_the_contracts_names_are_aliases() -> None:
    aliases = {
        "getSchemas": "get_schemas",
        "getSchema": "get_schema",
        "getPure": "get_pure",
        "getRelations": "get_relations",
        "getRelatedRelations": "get_related_relations",
        "selectStruct": "select_struct",
        "createProjection": "create_projection",
    }
    assert {alias: getattr(Schemas, alias) for alias in aliases} == {
        alias: getattr(Schemas, name) for alias, name in aliases.items()
    }


def test_links_are_found_once_until_a_model_is_added(shop: Schemas) -> None:
    links = shop.links("country")
    assert dict(links) == shop.get_related_relations("country")
    assert shop.links("country") is links
    country = {"schemaName": "country", "type": "single", "relatedRelations": {"rivers": {"type": "multiple"}}}
    shop.add("river", {"name": string()}, {"country": country})
    assert list(shop.links("country")) == ["cities", "rivers"]
    assert list(shop.links("city")) == ["country"]
    with pytest.raises(NotFound):
        shop.links("nothing")


def test_what_is_handed_out_may_be_changed(shop: Schemas) -> None:
    shop.get_related_relations("country").clear()
    shop.get_relations("city").clear()
    assert (list(shop.get_related_relations("country")), list(shop.get_relations("city"))) == (["cities"], ["country"])


def test_models_that_reach_each_other_are_checked_together(schemas: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        relations = {"to": link(f"m{number - 1}")} if number else {}
        schemas.add(f"m{number}", {"name": string()}, relations)
    schemas.add("other", {"name": string()})
    checked: list[str] = []
    monkeypatch.setattr("gatewayfw.schemas.registry.problems_of", lambda state, model: checked.append(model) or ())
    for model in (*schemas.get_schemas(), "m0"):
        schemas.validate(model)
    assert checked == ["m0", "m1", "m2", "m3", "m4", "other"]
