"""All models of a gateway, and what follows from them."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import integer, string
from gatewayfw.schemas.models import ModelSchema, State, closure
from gatewayfw.schemas.relations import Options, parse_relations
from gatewayfw.settings import Settings
from tests.schemas.calls import link

PURE = {"name": string(), "secret": string(), "age": integer()}


def model(name, relations=()):
    settings = Settings()
    return ModelSchema(name, PURE, parse_relations(dict(relations), model=name, pure=PURE, settings=settings))


@pytest.fixture
def state():
    """Countries, cities and flags of a country, and lakes that are related to nothing."""
    return (
        State()
        .plus(model("country"))
        .plus(model("city", {"country": link("country", "cities")}))
        .plus(model("lake"))
        .plus(model("flag", {"nation": link("country", "cities", "flags")}))
    )


def test_a_copy_has_all_pure_fields_but_those_left_out():
    model = ModelSchema("user", PURE, {}, Options(excludes=frozenset({"secret"})))
    assert model.copy_fields() == ("name", "age")
    assert model.copy_fields(frozenset({"age"})) == ("name",)


def test_a_state_with_another_model_leaves_the_first_as_it_was():
    empty = State()
    one = empty.plus(ModelSchema("a", PURE, {}))
    assert (dict(empty.models), list(one.models), one.version) == ({}, ["a"], 1)


def test_of_two_reverse_relations_of_one_name_the_first_counts(state):
    assert {name: reverse.member for name, reverse in state.reverses("country").items()} == {
        "cities": "city",
        "flags": "flag",
    }


def test_links_are_relations_and_then_reverse_relations(state):
    assert (list(state.links("city")), list(state.links("country"))) == (["country"], ["cities", "flags"])


def test_models_are_linked_in_either_direction(state):
    assert closure(state, "city") == closure(state, "country") == {"city", "country", "flag"}
    assert closure(state, "lake") == {"lake"}
    assert closure(state, "sea") == set()
