"""What `get` becomes; pure."""

from __future__ import annotations

from decimal import Decimal

import pytest
from bson import Decimal128, ObjectId
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import ValidationError
from gatewayfw.odm import Odm
from gatewayfw.odm.reading.projection import Projections, compile_projection
from gatewayfw.odm.reading.shapes import copies_in, in_order, shape, shapes
from gatewayfw.schemas import Schemas, Sort, decimal, string
from gatewayfw.settings import Settings
from tests.odm.world import define_world

ID = ObjectId("0" * 24)


def _schemas():
    odm = Odm(Schemas(Settings()), Settings())
    define_world(odm)
    return odm.schemas


SCHEMAS = _schemas()
NO_REVISION = "A copy has no revision: ask for it at the top."
#: What a copy of a person at ``natives.boss`` holds; ``natives`` excludes the age.
BOSS = ("_id", "name", "active", "born_on", "badge", "address", "extra")


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
        ({"cities": {"name": 1}}, ("_id", "cities.name")),
        ({"cities": {"_id": 1, "name": 1}}, ("_id", "cities._id", "cities.name")),
        ({"natives": {"age": 1}}, ("_id", "natives._id")),
        ({"cities": {"name": 1, "country": 1}}, ("_id", "cities._id", "cities.name")),
        ({"cities": 1}, ("_id", "cities._id", "cities.name", "cities.population", "cities.tags")),
        ({"cities": 0}, ("_id",)),
        ({"cities": {}}, ("_id", "cities._id")),
        ({"cities": {"name": 0}}, ("_id", "cities._id")),
        ({"cities": {"country": 0}}, ("_id", "cities._id")),
        ({"cities": {"_id": 0, "country": {"name": 1}}}, ("_id", "cities._id")),
    ],
)
def test_get_becomes_dotted_paths(get, paths):
    assert compiled("country", get).paths == paths


def plan(projection):
    """The paths of all levels, by the names of the links that lead to them."""
    return {
        (): projection.paths,
        **{(name, *way): paths for name, _, inner in projection.deeper for way, paths in plan(inner).items()},
    }


def test_what_no_copy_holds_is_planned_by_relation_path():
    get = {"cities": {"name": 1, "country": {"natives": {"boss": 1}}, "clubs": {"_id": 1, "name": 1}}, "capital": 1}
    assert plan(compiled("country", get)) == {
        (): ("_id", "cities._id", "cities.name", "capital._id", "capital.name", "capital.population", "capital.tags"),
        ("cities",): ("country._id", "clubs._id", "clubs.name"),
        ("cities", "country"): ("natives._id",),
        ("cities", "country", "natives"): tuple(f"boss.{name}" for name in BOSS),
    }


def test_what_a_link_excludes_is_in_no_plan_below_it():
    """`natives` excludes the age of people, `visited` the population of countries; other ways show both."""
    below_natives = compiled("country", {"natives": {"boss": {"age": 1, "friends": {"age": 1, "name": 1}}}})
    below_visited = compiled("person", {"visited": {"cities": {"country": {"population": 1}, "population": 1}}})
    beside = compiled("person", {"boss": {"boss": {"age": 1}}, "home": {"country": {"population": 1}}})
    assert plan(below_natives)["natives", "boss"] == ("friends.name",)
    assert plan(below_natives)[("natives",)] == ("boss._id",)
    assert plan(below_visited)[("visited",)] == ("cities._id", "cities.population")
    assert plan(below_visited)["visited", "cities"] == ("country._id",)
    assert plan(beside) == {
        (): ("_id", "boss._id", "home._id"),
        ("boss",): ("boss.age",),
        ("home",): ("country.population",),
    }


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
        ({"cities": {"country": {"nme": 1}}}, "get.cities.country.nme", "Unknown field."),
        ({"cities": {"country": {"cities": True}}}, "get.cities.country.cities", "Must be 1, 0 or an object."),
        ({"cities": {"country": {"cities": {"_id": 2}}}}, "get.cities.country.cities._id", "Must be 1 or 0."),
        ({"cities": {"name": {"x": 1}}}, "get.cities.name", "Must be 1 or 0."),
        ({"cities": {"_rev": 1}}, "get.cities._rev", NO_REVISION),
        (
            {"cities": {"country": {"_rev": 0}}},
            "get.cities.country._rev",
            "A copy has no revision: ask for it at the top.",
        ),
        ({"_rev": True}, "get._rev", "Must be 1 or 0."),
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


def test_values_that_python_has_otherwise_are_loaded_beside_copies_and_in_them():
    odm = Odm(Schemas(Settings()), Settings())
    priced = {"name": string(), "price": decimal(places=2)}
    odm.new_model("shop", priced)
    odm.new_model("thing", priced, {"shops": {"schemaName": "shop", "type": "multiple", "optional": True}})
    stored, loaded = Decimal128("1.50"), Decimal("1.50")
    document = {"_id": ID, "name": "a", "price": stored, "shops": [{"_id": ID, "price": stored}]}
    thing = odm.schemas.get_schema("thing")
    for get, shown in (
        ({"price": 1}, {"price": loaded}),
        ({"price": 1, "shops": 1}, {"price": loaded, "shops": [{"_id": ID, "price": loaded}]}),
        ({"name": 1, "shops": {"price": 1}}, {"name": "a", "shops": [{"price": loaded}]}),
        ({"name": 1, "shops": {"name": 1}}, {"name": "a", "shops": [{}]}),
    ):
        projection = compile_projection(odm.schemas, thing, get)
        assert shape(projection, document) == {"_id": ID, **shown}
        assert projection.loaded == ({"price"} if "price" in get else set())
        assert {name: projection.links[name].loaded for name in projection.links} == (
            {"shops": {"price"} if shown["shops"][0] else set()} if "shops" in shown else {}
        )
    projection = compile_projection(odm.schemas, thing, {"_id": 0, "price": 1, "shops": {"price": 1}})
    found = [{"_id": ID, "price": stored, "shops": [{"price": stored}]}, {"_id": ID}]
    assert shapes(projection, found) is found
    assert found == [{"price": loaded, "shops": [{"price": loaded}]}, {"shops": []}]


@pytest.mark.parametrize(("order", "names"), [("asc", "abc"), ("desc", "cba")])
def test_copies_are_ordered_in_both_directions(order, names):
    copies = [{"name": name} for name in "bca"]
    assert [copy["name"] for copy in in_order(Sort("name", order), copies)] == list(names)
    assert in_order(None, copies) is copies


def test_what_is_shown_shares_no_copies_with_the_document():
    """What a deep level shows may be shown in several places."""
    top = compiled("country", {"cities": {"_id": 1, "name": 1, "country": {"name": 1, "capital": 1}}})
    ((_, _, below),) = top.deeper
    assert [(one.exact, one.amended, one.revision) for one in (top, below)] == [(False, False, False)] * 2
    for projection, document in ((top, {"cities": [{"_id": ID, "name": "n"}]}), (below, {"country": {"name": "n"}})):
        shown = shape(projection, document)
        assert shown == document
        assert all(shown[name] is not document[name] for name in document)


def test_the_document_is_not_changed():
    document = {"_id": ID, "visited": [{"_id": ID, "name": "b"}, {"_id": ID, "name": "a"}]}
    shape(compiled("person", {"visited": 1}), document)
    assert document == {"_id": ID, "visited": [{"_id": ID, "name": "b"}, {"_id": ID, "name": "a"}]}


@pytest.fixture
def projections():
    """An empty store of compiled projections."""
    return Projections(SCHEMAS)


def test_equal_gets_share_one_projection(projections):
    country = SCHEMAS.get_schema("country")
    for get in ({"name": 1, "cities": {"country": {"name": 1}}}, {}, None):
        kept = projections.compiled(country, get)
        assert projections.compiled(country, get) is kept
        assert kept == compiled("country", get)


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ({"name": 1}, {"name": 0}, {}),
        ({"name": 1, "population": 1}, {"population": 1, "name": 1}, {}),
        ({"cities": {"name": 1}}, {"cities": {"_id": 1}}, {}),
        ({"cities": {}}, {"cities": 1}, {}),
        ({}, None, {}),
        ({"secret": 1}, {"secret": 1}, {"reveal": ("secret",)}),
    ],
)
def test_different_gets_share_none(projections, first, second, options):
    country = SCHEMAS.get_schema("country")
    assert projections.compiled(country, first) == compiled("country", first)
    assert projections.compiled(country, second, **options) == compiled("country", second, **options)


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [1]])
def test_what_equals_a_known_get_is_refused_all_the_same(projections, value):
    country = SCHEMAS.get_schema("country")
    projections.compiled(country, {"name": 1, "cities": {"name": 1}})
    for get in ({"name": value, "cities": {"name": 1}}, {"name": 1, "cities": {"name": value}}):
        with pytest.raises(ValidationError):
            projections.compiled(country, get)


def test_the_same_get_of_another_model_is_another_projection(projections):
    for model in ("country", "city", "person", "club"):
        assert projections.compiled(SCHEMAS.get_schema(model), None) == compiled(model, None)


def test_a_new_model_is_seen_at_once(projections):
    schemas = _schemas()
    projections, country = Projections(schemas), schemas.get_schema("country")
    before = projections.compiled(country, None).names
    reverse = {"relatedRelations": {"rivers": {"type": "multiple"}}}
    schemas.add("river", {}, {"mouth": {"schemaName": "country", "type": "single", **reverse}})
    assert projections.compiled(country, None).names == (*before, "rivers")


def test_only_so_many_and_only_small_projections_are_kept(projections, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.reading.projection.KEPT", 2)
    monkeypatch.setattr("gatewayfw.odm.reading.projection.KEPT_PATHS", 2)
    country = SCHEMAS.get_schema("country")
    first, second, third, large = {"name": 1}, {}, {"population": 1}, {"cities": {"country": {"name": 1}}}
    kept = [projections.compiled(country, get) for get in (first, second)]
    projections.compiled(country, large)
    assert all(projections.compiled(country, get) is one for get, one in zip((first, second), kept, strict=True))
    assert projections.compiled(country, large) is not projections.compiled(country, large)
    latest = projections.compiled(country, third)
    assert projections.compiled(country, third) is latest
    assert projections.compiled(country, first) is not kept[0]


CITY = {"_id": ID, "name": "c"}
CITIES = {"_id": 1, "name": 1, "cities": {"_id": 1, "name": 1}}


AS_READ = {
    "all there": (CITIES, {"_id": ID, "name": "a", "cities": [CITY]}),
    "an empty list": (CITIES, {"_id": ID, "name": "b", "cities": []}),
    "a name is missing": (CITIES, {"_id": ID, "cities": [CITY]}),
    "a copy lacks a name": (CITIES, {"_id": ID, "name": "a", "cities": [CITY, {"_id": ID}, {}]}),
    "no id of a copy was asked for": ({"capital": {"name": 1}}, {"_id": ID, "capital": {"name": "c"}}),
    "a single link is missing": ({"name": 1, "capital": {"name": 1}}, {"_id": ID, "name": "a"}),
}


@pytest.mark.parametrize(("get", "document"), AS_READ.values(), ids=AS_READ)
def test_documents_that_hold_nothing_else_are_given_as_they_are(get, document):
    projection, found = compiled("country", get), [dict(document), dict(document)]
    assert shapes(projection, found) is found
    assert found == [document, document] == [shape(projection, document)] * 2


def test_an_absent_list_and_an_id_are_amended_in_what_was_read():
    found = [{"_id": ID, "name": "a"}, {"_id": ID, "cities": None}, {"_id": ID, "cities": [CITY]}]
    shown = [{"name": "a", "cities": []}, {"cities": []}, {"cities": [CITY]}]
    assert shapes(compiled("country", {"_id": 0, "name": 1, "cities": 1}), found) is found
    assert found == shown


ODD = {
    "no list": (CITIES, {"_id": ID, "name": "a", "cities": CITY}),
    "no copy": (CITIES, {"_id": ID, "name": "a", "cities": [["_id", "name"], "no", None, CITY]}),
    "a list instead of one": ({"_id": 1, "capital": 1}, {"_id": ID, "capital": [CITY]}),
    "a number instead of one": ({"_id": 1, "capital": 1}, {"_id": ID, "capital": 1}),
    "ids only of what hides the rest": ({"natives": {"age": 1}}, {"_id": ID, "natives": [{"_id": ID}]}),
}


@pytest.mark.parametrize(("get", "document"), ODD.values(), ids=ODD)
def test_other_documents_are_shaped(get, document):
    projection, whole = compiled("country", get), {"_id": ID}
    wanted = [shape(projection, whole), shape(projection, document)]
    assert document != wanted[1]
    assert shapes(projection, [dict(whole), document]) == wanted


def test_a_main_list_is_sorted_all_the_same():
    """`visited` is read by name."""
    visited = [{"_id": ID, "name": "b"}, {"_id": ID, "name": "a"}]
    found = shapes(compiled("person", {"_id": 1, "visited": {"_id": 1, "name": 1}}), [{"_id": ID, "visited": visited}])
    assert found == [{"_id": ID, "visited": visited[::-1]}]


@pytest.mark.parametrize(("most", "refused"), [(3, False), (2, True)])
def test_so_many_relations_of_related_documents_may_be_named(most, refused):
    odm = Odm(Schemas(Settings(max_get_queries=most)), Settings())
    define_world(odm)
    get = {"cities": {"country": {"natives": 1}}, "capital": {"clubs": 1}}
    country = odm.schemas.get_schema("country")
    if not refused:
        assert compile_projection(odm.schemas, country, get).queries == 3
        return
    with pytest.raises(ValidationError) as caught:
        compile_projection(odm.schemas, country, get)
    assert caught.value.errors == {"get": ["Too many relations of related documents: at most 2."]}


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
