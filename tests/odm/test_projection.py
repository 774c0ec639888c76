"""What `get` becomes; pure."""

from __future__ import annotations

import pytest
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import ValidationError
from gatewayfw.odm import Odm
from gatewayfw.odm.projection import compile_projection, copies_in, order_key, shape
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from tests.odm.world import define_world

ID = ObjectId("0" * 24)


def _schemas():
    odm = Odm(Schemas(Settings()), Settings())
    define_world(odm)
    return odm.schemas


SCHEMAS = _schemas()


def compiled(model, get, **options):
    return compile_projection(SCHEMAS, SCHEMAS.get_schema(model), get, **options)


@pytest.mark.parametrize(
    ("get", "paths"),
    [
        ({}, ("_id",)),
        ({"_id": 0}, ()),
        ({"_id": 1}, ("_id",)),
        ({"name": 0}, ("_id",)),
        ({"name": 1}, ("_id", "name")),
        ({"name": 1, "_id": 0}, ("name",)),
        ({"name": 1, "population": 0}, ("_id", "name")),
        ({"secret": 1}, ("_id",)),
        ({"cities": {"name": 1}}, ("_id", "cities._id", "cities.name")),
        ({"cities": 1}, ("_id", "cities._id", "cities.name", "cities.population", "cities.tags")),
        ({"cities": 0}, ("_id",)),
        ({"cities": {}}, ("_id", "cities._id")),
        ({"cities": {"name": 0}}, ("_id", "cities._id")),
    ],
)
def test_get_becomes_dotted_paths(get, paths):
    assert compiled("country", get).paths == paths


@pytest.mark.parametrize(
    ("get", "path", "text"),
    [
        ({"nme": 1}, "get.nme", "Unknown field."),
        ({"name": "$password"}, "get.name", "Must be 1 or 0."),
        ({"name": True}, "get.name", "Must be 1 or 0."),
        ({"name": 2}, "get.name", "Must be 1 or 0."),
        ({"name": 1.0}, "get.name", "Must be 1 or 0."),
        ({"name": None}, "get.name", "Must be 1 or 0."),
        ({"name": [1]}, "get.name", "Must be 1 or 0."),
        ({"name": {"$concat": ["$secret"]}}, "get.name", "Must be 1 or 0."),
        ({"_id": "1"}, "get._id", "Must be 1 or 0."),
        ({"$where": 1}, "get.$where", "Unknown field."),
        ({"_gw": 1}, "get._gw", "Unknown field."),
        ({"cities.name": 1}, "get.cities.name", "Unknown field."),
        ({"": 1}, "get.", "Unknown field."),
        ({"cities": "1"}, "get.cities", "Must be 1, 0 or an object."),
        ({"cities": True}, "get.cities", "Must be 1, 0 or an object."),
        ({"cities": {"nme": 1}}, "get.cities.nme", "Unknown field."),
        ({"cities": {"country": 1}}, "get.cities.country", "Unknown field."),
        ({"cities": {"name": {"x": 1}}}, "get.cities.name", "Must be 1 or 0."),
        ([], "get", "Not a valid mapping type."),
        ("name", "get", "Not a valid mapping type."),
        (
            {"cities": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}},
            "get",
            "Nested too deeply: at most 8 levels.",
        ),
        ({f"f{number}": 1 for number in range(501)}, "get", "Too many fields: at most 500."),
    ],
)
def test_get_refuses(get, path, text):
    with pytest.raises(ValidationError) as raised:
        compiled("country", get)
    assert raised.value.errors == {path: [text]}


def test_all_refused_names_are_reported_and_escaped():
    with pytest.raises(ValidationError) as raised:
        compiled("country", {"a\nb": 1, "x" * 100: 1})
    assert raised.value.errors == {"get.a\\nb": ["Unknown field."], f"get.{'x' * 64}": ["Unknown field."]}


def test_without_get_everything_visible_is_shown():
    document = {"_id": ID, "name": "n", "secret": "s", "unknown": 1, "_gw": {"v": 1}, "cities": [{"_id": ID, "x": 1}]}
    shown = {"_id": ID, "name": "n", "cities": [{"_id": ID}], "biggest": [], "natives": [], "visitors": []}
    assert shape(compiled("country", None), document) == shown


def test_excluded_fields_are_shown_only_when_revealed():
    document = {"_id": ID, "name": "n", "secret": "s"}
    assert shape(compiled("country", {"secret": 1}), document) == {"_id": ID}
    assert shape(compiled("country", {"secret": 1}, reveal=("secret",)), document) == {"_id": ID, "secret": "s"}


def test_fields_excluded_from_a_copy_are_dropped_even_when_stored_there():
    document = {"_id": ID, "natives": [{"_id": ID, "name": "n", "age": 1, "password": "hash"}]}
    assert shape(compiled("country", {"natives": {"age": 1, "password": 1}}), document) == {"_id": ID, "natives": [{}]}
    assert shape(compiled("country", {"natives": 1}), document)["natives"] == [{"_id": ID, "name": "n"}]


def test_an_absent_multiple_reads_as_empty_and_an_absent_single_is_left_out():
    get = {"cities": 1, "capital": 1}
    assert shape(compiled("country", get), {"_id": ID, "cities": None, "capital": None}) == {"_id": ID, "cities": []}


def test_a_main_list_is_shown_in_its_sort_order():
    visited = [{"_id": ID, "name": name} for name in "bca"] + [{"_id": ID}]
    shown = shape(compiled("person", {"visited": {"_id": 1}}), {"_id": ID, "visited": visited})
    named = shape(compiled("person", {"visited": {"name": 1}}), {"_id": ID, "visited": visited})
    assert "visited.name" in compiled("person", {"visited": {"_id": 1}}).paths
    assert shown == {"_id": ID, "visited": [{"_id": ID}] * 4}
    assert named["visited"] == [{}, {"name": "a"}, {"name": "b"}, {"name": "c"}]


def test_the_document_is_not_changed():
    document = {"_id": ID, "visited": [{"_id": ID, "name": "b"}, {"_id": ID, "name": "a"}]}
    shape(compiled("person", {"visited": 1}), document)
    assert document == {"_id": ID, "visited": [{"_id": ID, "name": "b"}, {"_id": ID, "name": "a"}]}


def test_values_are_ordered_as_in_mongodb():
    values = [True, False, ID, "b", "a", 2.5, -1, None]
    assert sorted(values, key=order_key) == [None, -1, 2.5, "a", "b", ID, False, True]


NAMES = ["_id", "name", "population", "secret", "cities", "biggest", "capital", "natives", "visitors"]
FLAGS = st.sampled_from([0, 1])
GETS = st.dictionaries(
    st.sampled_from(NAMES), FLAGS | st.dictionaries(st.sampled_from(["_id", "name", "age", "tags"]), FLAGS)
)


@given(get=GETS, value=st.integers())
def test_a_projection_returns_no_field_that_was_not_asked_for(get, value):
    """Top-level `_id` apart; below a relation `1` asks for the whole copy, and naming nothing for its `_id`."""
    copy = {"_id": ID, "name": value, "age": value, "tags": value, "password": value, "_gw": value}
    document = {"_id": ID, "name": value, "population": value, "secret": value, "_gw": value, "other": value}
    document |= {"cities": [copy], "biggest": [copy], "natives": [copy], "visitors": [copy], "capital": copy}
    try:
        projection = compiled("country", get)
    except ValidationError:
        return
    shown = shape(projection, document)
    assert set(shown) <= {"_id"} | {name for name, wanted in get.items() if wanted != 0}
    assert not {"secret", "_gw", "other"} & set(shown)
    for name, wanted in get.items():
        for part in copies_in(shown.get(name)):
            asked = {key for key, flag in wanted.items() if flag} if isinstance(wanted, dict) else set(part)
            assert set(part) <= (asked or {"_id"}) - {"password", "_gw"}
