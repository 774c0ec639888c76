"""All models of a gateway, and what follows from them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields

import pytest

from gatewayfw.schemas import array, integer, string, uuid
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


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (ModelSchema("a", {}, {}), ["name", "pure", "relations", "options"]),
        (State(), ["version", "models", "embedders", "appearing", "listings", "migrations", "policies"]),
    ],
    ids=["model", "state"],
)
def test_what_is_remembered_is_neither_given_nor_shown_nor_compared(made, said):
    for is_part in (lambda one: one.init, lambda one: one.repr, lambda one: one.compare):
        assert [one.name for one in fields(made) if is_part(one)] == said
    with pytest.raises(FrozenInstanceError):
        made.name = "b"


def test_a_state_begins_without_models():
    assert State() == State(0, {}, {}, {}, {})
    assert (State().remembered, State().reverses("a")) == ({}, {})


def test_a_model_knows_which_values_python_sees_otherwise():
    model = ModelSchema("user", {"name": string(), "id": uuid(), "ids": array(uuid()), "age": integer()}, {})
    assert model.read_otherwise == {"id", "ids"}


def test_what_is_asked_again_is_not_found_again(state):
    model = state.models["city"]
    asked = [lambda: model.copy_fields(), lambda: state.links("country")]
    assert [ask() is ask() for ask in asked] == [True] * 2


def test_a_state_with_another_model_keeps_the_rest():
    one = State().plus(ModelSchema("a", PURE, {})).changed(listings={"a": ("first",)}, policies=("p",))
    two = one.plus(ModelSchema("b", PURE, {}))
    assert (list(one.models), one.version) == (["a"], 2)
    assert (list(two.models), two.version) == (["a", "b"], 3)
    assert (two.listings, two.policies) == ({"a": ("first",)}, ("p",))


def test_a_copy_has_all_pure_fields_but_those_left_out():
    model = ModelSchema("user", PURE, {}, Options(excludes=frozenset({"secret"})))
    assert model.copy_fields() == ("name", "age")
    assert model.copy_fields(frozenset({"age"})) == ("name",)


def test_a_state_with_another_model_leaves_the_first_as_it_was():
    empty = State()
    one = empty.plus(ModelSchema("a", PURE, {}))
    assert dict(empty.models) == {}
    assert list(one.models) == ["a"]
    assert one.version == 1


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
