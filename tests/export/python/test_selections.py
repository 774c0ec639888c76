"""Selections as Python types: what may be asked for, and what is shown."""

from __future__ import annotations

import sys
from typing import Any, get_args, get_type_hints

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.client import InProcessClient
from gatewayfw.export.python.types import Selections, Types
from gatewayfw.schemas import enums, integer, optional, string
from tests.export.generated import hints, loaded, make, signature, source


@pytest.fixture
def gw():
    return make()


def test_a_get_that_must_name_something_cannot_be_left_out(gw):
    told, module = signature(gw, get={"city": gw.schemas.select_struct("city", 0), "size": optional(enums(0, 1))})
    assert told == ("Nothing | None", "CityActGet", "Any")
    assert hints(module, "CityActGet") == ({"city": "CityGet0", "size": "Literal[0, 1]"}, {"city"})


def test_a_selection_chosen_by_its_author(gw):
    chosen = {"name": 1, "country": {"name": 1, "cities": 1}}
    told, module = signature(gw, get=gw.schemas.select_struct("city", chosen), returns="many")
    assert told == ("Nothing | None", "CityActGet | None", "list[CityActDocument]")
    names = ("CityActGet", "CityActCountryGet", "CityActCountryDocument", "CountryCitiesGet0")
    assert [hints(module, name)[0] for name in names] == [
        {
            "_id": "Flag",
            "name": "Flag",
            "_rev": "Flag",
            "country": "Literal[0] | CityActCountryGet",
        },  # 1 would show what is not allowed
        {"_id": "Flag", "name": "Flag", "cities": "Flag | CountryCitiesGet0"},
        {"_id": "Id", "name": "str", "cities": "list[CountryCities0]"},
        {"_id": "Flag", "name": "Flag"},
    ]


def test_a_part_of_get_names_the_classes_of_a_selection_that_its_author_chose(gw):
    get = {"the-city": optional(gw.schemas.select_struct("city", {"name": 1}))}
    told, module = signature(gw, get=get, returns={"the-city": "optional"})
    assert told == ("Nothing | None", "CityActGet | None", "CityActResult")
    names = ("CityActGet", "CityActTheCityGet", "CityActResult", "CityActTheCityDocument")
    assert [hints(module, name)[0] for name in names] == [
        {"the-city": "CityActTheCityGet"},
        {"_id": "Flag", "name": "Flag", "_rev": "Flag"},
        {"the-city": "CityActTheCityDocument | None"},
        {"_id": "Id", "name": "str", "_rev": "int"},
    ]


def test_a_model_whose_name_cannot_be_printed_is_escaped_in_docstrings():
    types = Types()
    name = "a\u202eb"
    Selections({name: {"fields": {}, "links": {}}}, types).shape({"model": name, "depth": 0}, "X")
    assert types.source().splitlines()[:2] == [
        "class ABGet0(TypedDict, total=False):",
        '    """What a `get` of \'a\\\\u202eb\' may name."""',
    ]


def inner(hint):
    """The class within an annotation; None for a plain value."""
    found = [hint, *get_args(hint), *(part for one in get_args(hint) for part in get_args(one))]
    return next((one for one in found if isinstance(one, type) and hasattr(one, "__required_keys__")), None)


def largest(get):
    """The `get` that names all that a class allows."""
    return {key: largest(below) if (below := inner(hint)) else 1 for key, hint in get_type_hints(get).items()}


def keys_of(document):
    """The keys of a class for documents, with those of the documents in it."""
    return {key: keys_of(below) if (below := inner(hint)) else None for key, hint in get_type_hints(document).items()}


def keys_in(value: Any):
    """The keys of a document in a reply; those of a list are those of its first document."""
    if isinstance(value, list):
        return keys_in(value[0])
    return {key: keys_in(one) for key, one in value.items()} if isinstance(value, dict) else None


def test_the_largest_get_brings_exactly_the_keys_of_the_document(gw, monkeypatch):
    countries, cities = gw.odm.model("country"), gw.odm.model("city")
    country = countries.insert_one(doc={"name": "Iran", "since": "2020-01-01"})
    relations = {"country": {"_ids": country["_id"], "relatedRelations": {"cities": True}}}
    cities.insert_one(doc={"name": "Bam", "size": 3}, relations=relations)

    @gw.acts.act("country", "getCountry", get=3)
    def get_country(body):
        return countries.find_one(filters={}, projection=body["details"]["get"])

    module = loaded(source(gw))
    monkeypatch.setitem(sys.modules, "generated", module)
    shown = InProcessClient(gw).call("country", "getCountry", get=largest(module.CountryGet3))
    city = {"_id": None, "name": None}
    below = {"_id": None, "name": None, "since": None, "cities": city}
    assert keys_in(shown) == {**below, "_rev": None, "cities": {**city, "country": below}}
    assert keys_in(shown) == keys_of(module.Country3)


def test_what_a_link_hides_stays_hidden_below_it():
    """A country's cities hide their size; so do, beside their founding, the capitals of these cities' countries."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    capital = {"schemaName": "city", "type": "single", "optional": True, "excludes": ["since"]}
    gw.odm.new_model("country", {"name": string()}, {"capital": capital})
    cities = {"type": "multiple", "excludes": ["size"]}
    country = {"schemaName": "country", "type": "single", "relatedRelations": {"cities": cities}}
    gw.odm.new_model("city", {"size": integer(), "since": integer()}, {"country": country})
    for depth in (2, 3):
        get = gw.schemas.select_struct("country", depth)
        gw.acts.set_act(schema="country", act_name=f"a{depth}", validator={"set": {}, "get": get}, fn=lambda body: None)
    module = loaded(source(gw))
    top = {"_id": "Id", "name": "str", "_rev": "int"}
    names = [name for name in vars(module) if name.startswith(("Country", "City")) and "Get" not in name]
    assert {name: hints(module, name)[0] for name in names} == {
        "Country3": {**top, "capital": "CountryCapital2", "cities": "list[CountryCities2]"},
        "CountryCities2": {"_id": "Id", "since": "int", "country": "CityCountry1_2"},
        "CityCountry1_2": {
            "_id": "Id",
            "name": "str",
            "capital": "CountryCapital0_2",
            "cities": "list[CountryCities0_2]",
        },
        "CountryCapital0_2": {"_id": "Id"},
        "CountryCities0_2": {"_id": "Id", "since": "int"},
        "CountryCapital2": {"_id": "Id", "size": "int", "country": "CityCountry1"},
        "CityCountry1": {"_id": "Id", "name": "str", "capital": "CountryCapital0", "cities": "list[CountryCities0]"},
        "CountryCapital0": {"_id": "Id", "size": "int"},
        "CountryCities0": {"_id": "Id"},
        "Country2": {**top, "capital": "CountryCapital1", "cities": "list[CountryCities1]"},
        # What is hidden is out of reach below these.
        "CountryCities1": {"_id": "Id", "since": "int", "country": "CountryCopy0"},
        "CountryCapital1": {"_id": "Id", "size": "int", "country": "CountryCopy0"},
        "CountryCopy0": {"_id": "Id", "name": "str"},
    }


def test_only_the_top_has_a_revision_whatever_comes_first(gw):
    for model, depth in (("country", 1), ("country", 0), ("city", 1)):
        get = gw.schemas.select_struct(model, depth)
        gw.acts.set_act(schema=model, act_name=f"a{depth}", validator={"set": {}, "get": get}, fn=lambda body: None)
    module = loaded(source(gw))
    assert {name: "_rev" in hints(module, name)[0] for name in vars(module) if "Get" in name} == {
        "CountryGet1": True,
        "CountryCitiesGet0": False,
        "CountryGet0": True,
        "CityGet1": True,
        "CountryCopyGet0": False,
    }
