"""Reading: filters, projections, cursors, counts, aggregation."""

from __future__ import annotations

from datetime import datetime

import pytest
from bson import ObjectId

from gatewayfw.errors import BadRequest, UsageError
from gatewayfw.odm import Operators
from gatewayfw.odm.listings.declaration import Declaration
from gatewayfw.schemas import array, date, decimal, integer, optional, string
from gatewayfw.storage import Scope


def found(world, filters, **options):
    return [one["name"] for one in world.person.find(filters=filters, projection={"name": 1}).sort("name")]


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, "abc"),
        (None, "abc"),
        ({"name": "b"}, "b"),
        ({"age": {"$gt": 1, "$lte": 3}}, "bc"),
        ({"age": {"$in": [1, 3]}}, "ac"),
        ({"age": {"$nin": [1, 3]}}, "b"),
        ({"age": {"$ne": 1}}, "bc"),
        ({"born": {"$exists": True}}, "a"),
        ({"$or": [{"age": 1}, {"name": "c"}]}, "ac"),
        ({"$and": [{"age": {"$gte": 1}}, {"name": "c"}]}, "c"),
        ({"badge": "a" * 24}, "a"),
        ({"badge": ObjectId("A" * 24)}, "a"),
        ({"born_on": "2001-02-03T03:05:06.789Z"}, "a"),
        ({"born_on": {"$lt": "2002-01-01"}}, "a"),
        ({"address.street": "s"}, "b"),
        ({"visited.name": "land"}, "b"),
        ({"visited": {"$elemMatch": {"name": "land"}}}, "b"),
        ({"_id": None}, ""),
        ({"age": None}, ""),
        ({"born_on": None}, "bc"),
        ({"badge": {"$ne": None}}, "a"),
        ({"address": None}, "ac"),
        ({"address": {"$in": [None, {"street": "s"}]}}, "abc"),
        ({"address": {"street": "s"}}, "b"),
        ({"age": {"$in": [None, 1]}}, "a"),
        ({"age": {"$lt": 2.5}}, "ab"),
        ({"age": {"$gt": -1, "$lt": float("inf")}}, "abc"),
        ({"age": {"$gte": -(10**6)}}, "abc"),
        ({"name": {"$lt": "x" * 20_000}}, "abc"),
        ({"extra": {"a": 1}}, ""),
        ({"extra.any.thing": Operators({"$ne": 1})}, "abc"),
        ({"visited.0.name": "land"}, "b"),
        ({"visited.0": {"$exists": True}}, "b"),
        ({"$or": [{"visited": {"$exists": False}}, {"name": "x"}]}, "ac"),
        ({"$nor": [{"age": 1}, {"name": "c"}]}, "b"),
        ({"$nor": [{"$nor": [{"age": {"$gte": 2}}]}]}, "bc"),
        ({"name": {"$regex": "^[AB]", "$options": "i"}}, "ab"),
        ({"name": {"$not": {"$regex": "^a"}}}, "bc"),
        ({"name": {"$regex": "^[ab]", "$ne": "a"}}, "b"),
        ({"address.street": {"$not": {"$eq": "s"}}}, "ac"),
        ({"born_on": {"$not": {"$gt": "2000-01-01"}}}, "bc"),
        ({"badge": {"$not": {"$in": ["a" * 24]}}}, "bc"),
        ({"visited.name": {"$all": ["land"]}}, "b"),
        ({"visited": {"$size": 1}}, "b"),
        ({"visited": {"$not": {"$size": 1}}}, "ac"),
        ({"visited": {"$elemMatch": {"name": {"$regex": "and$"}}}}, "b"),
        ({"visited.0": {"$exists": False}}, "ac"),
        ({"visited": {"$type": "array"}, "visited._id": {"$type": "objectId"}}, "b"),
        ({"extra": Operators({"$not": {"$exists": True}})}, "abc"),
    ],
)
def test_filters_select(world, people, filters, names):
    assert found(world, filters) == list(names)


@pytest.mark.parametrize(
    ("filters", "numbers"),
    [
        ({"n": {"$elemMatch": {"$gt": 1, "$lt": 4}}}, [1, 3]),
        ({"n": {"$gt": 1, "$lt": 4}}, [1, 2, 3]),
        ({"n": {"$elemMatch": {"$not": {"$lt": 5}}}}, [2]),
        ({"n": {"$not": {"$elemMatch": {"$gt": 1}}}}, [4]),
        ({"n": {"$all": [1, 3]}}, [3]),
        ({"n": {"$size": 0}}, [4]),
        ({"words": {"$regex": "^É", "$options": "i"}}, [1]),
        ({"words": {"$elemMatch": {"$regex": "n$", "$ne": "on"}}}, [2]),
        ({"words": {"$all": ["été", "on"]}}, [1]),
        ({"when": {"$elemMatch": {"$gte": "2026-01-01"}}}, [2]),
        ({"prices": {"$all": ["1.50", "2"]}}, [1]),
        ({"prices": {"$elemMatch": {"$gt": "1.5"}}}, [1]),
        ({"grid": {"$elemMatch": {"$elemMatch": {"$gt": 2}}}}, [2]),
        ({"grid": {"$elemMatch": {"$size": 0}}}, [1]),
        ({"prices": {"$elemMatch": {"$type": ["decimal", "double"]}}}, [1]),
    ],
    ids=str,
)
def test_filters_select_by_elements(odm, filters, numbers):
    kinds = {"n": integer(), "words": string(), "when": date(), "prices": decimal(places=2), "grid": array(integer())}
    model = odm.new_model("thing", {"no": integer(), **{name: array(kind) for name, kind in kinds.items()}})
    none = {"words": [], "when": [], "prices": [], "grid": []}
    model.insert_many(
        [
            {**none, "no": 1, "n": [0, 2], "words": ["été", "on"], "prices": ["1.5", "2.00"], "grid": [[], [1]]},
            {**none, "no": 2, "n": [0, 5], "words": ["noon", "on"], "when": ["2026-02-03"], "grid": [[1, 3]]},
            {**none, "no": 3, "n": [1, 3]},
            {**none, "no": 4, "n": []},
        ]
    )
    assert [one["no"] for one in model.find(filters).sort("no")] == numbers


@pytest.mark.parametrize("more", [{"name": "b"}, {"age": {"$gt": 1}}, {"$or": [{"name": "c"}]}])
def test_an_id_and_another_condition_must_both_hold(world, people, more):
    first = people[1]
    wanted = {"_id": first, **more}
    changed = world.person.find_one_and_update(filter=wanted, update={"$set": {"name": "other"}})
    related = world.person.add_relation(filters=wanted, relations={"visited": {"_ids": [people[0]]}})
    assert found(world, wanted) == []
    assert world.person.find_one(filters=wanted) is None
    assert world.person.count(wanted) == 0
    assert changed is None
    assert related is None
    assert world.person.delete_one(filter=wanted)["deletedCount"] == 0
    assert found(world, {}) == ["a", "b", "c"]
    assert found(world, {"_id": first, "name": "a"}) == ["a"]


def test_ids_may_be_hexadecimal_wherever_ids_are_expected(world, people):
    land, first, second, _ = people
    assert found(world, {"_id": str(first)}) == ["a"]
    assert found(world, {"_id": {"$in": [str(first), second]}}) == ["a", "b"]
    assert found(world, {"born._id": str(land)}) == ["a"]
    assert found(world, {"$or": [{"visited._id": str(land)}, {"_id": {"$eq": str(first)}}]}) == ["a", "b"]
    assert found(world, {"visited": {"$elemMatch": {"_id": str(land), "name": "land"}}}) == ["b"]
    assert world.country.count({"natives._id": str(first)}) == 1


def test_dates_and_ids_come_back_in_their_stored_form(world, people):
    _, first, _, _ = people
    shown = world.person.find_one(filters={"_id": first}, projection={"born_on": 1, "badge": 1, "active": 1})
    expected = {"born_on": datetime(2001, 2, 3, 3, 5, 6, 789000), "badge": ObjectId("a" * 24), "active": True}
    assert shown == {"_id": first, **expected}


def test_an_insert_returns_what_a_find_reads(world):
    land = world.add_country("land")
    doc = {"name": "x", "born_on": datetime(2001, 1, 1, 1, 1, 1, 999999), "badge": "a" * 24, "password": "p"}
    inserted = world.person.insert_one(doc=doc, relations={"born": {"_ids": str(land)}})
    assert inserted == world.person.find_one(filters={"_id": inserted["_id"]})
    assert "password" not in inserted


def test_find_one_reveals_what_server_code_asks_for(world, people):
    last = people[3]
    get = {"name": 1}
    shown = world.person.find_one(filters={"_id": last}, projection=get, reveal=("password",))
    assert shown == {"_id": last, "name": "c", "password": "hash"}
    assert world.person.find_one(filters={"_id": last}, projection={"password": 1}) == {"_id": last}
    assert world.person.find_one(filters={"_id": last}, reveal="password")["password"] == "hash"


def test_find_reveals_what_server_code_asks_for(world, people):
    get, last = {"password": 1, "_id": 0}, {"name": "c"}
    assert world.person.find(last, projection=get).to_list() == [{}]
    assert world.person.find(last, projection=get, reveal=["password"]).to_list() == [{"password": "hash"}]
    assert world.person.find(last, reveal="password").to_list()[0]["password"] == "hash"


@pytest.mark.parametrize("reveal", ["name", ["password", "nope"], ["_gw"], ["born"]], ids=str)
def test_reveal_names_excluded_fields_only(world, reveal):
    for operation in (world.person.find, world.person.find_one, world.person.count, world.person.delete_one):
        with pytest.raises(UsageError, match="^reveal: '.*' is not an excluded field of model person$"):
            operation({}, reveal=reveal)


def test_reveal_admits_excluded_fields_in_filters(world, people):
    _, first, _, last = people
    wanted, reveal = {"password": "hash"}, {"reveal": ["password"]}
    assert [one["_id"] for one in world.person.find(wanted, **reveal)] == [last]
    assert world.person.find_one(wanted, **reveal)["_id"] == last
    assert world.person.count({"password": None}, **reveal) == 2
    assert world.person.count(filters={"$or": [wanted, {"name": "a"}]}, reveal="password") == 2
    relation = {"relations": {"friends": {"_ids": [first]}}}
    changed = world.person.find_one_and_update(wanted, {"$set": {"age": 4}}, projection={"age": 1}, **reveal)
    related = world.person.add_relation(wanted, projection={"_id": 1}, **relation, **reveal)
    parted = world.person.remove_relation(wanted, projection={"_id": 1}, **relation, **reveal)
    assert changed == {"_id": last, "age": 4}
    assert related == {"_id": last}
    assert parted == {"_id": last}
    assert world.person.delete_one(wanted, **reveal) == {"deletedCount": 1, "cascaded": {}}


def test_what_a_write_returns_never_shows_what_is_revealed(world, people):
    changed = world.person.find_one_and_update({"password": "hash"}, {"$set": {"age": 4}}, reveal=["password"])
    assert changed["age"] == 4
    assert "password" not in changed


def test_filters_documents_and_updates_are_given_by_position_or_by_name(world):
    one, other = world.country.insert_one({"name": "a"}), world.country.insert_many([{"name": "b"}])[0]
    assert [one, other] == world.country.find().sort("name").to_list()
    for given in (([{"name": "a"}], {}), ([], {"filter": {"name": "a"}}), ([], {"filters": {"name": "a"}})):
        args, keys = given
        assert world.country.find(*args, **keys).to_list() == [world.country.find_one(*args, **keys)] == [one]
        assert world.country.count(*args, **keys) == 1
        assert world.country.find_one_and_update(*args, **keys, update={"$unset": {"population": ""}}) == one
    assert world.country.find_one_and_update({"name": "a"}, {"$set": {"population": 1}})["population"] == 1
    person = world.add_person("p")
    for args, keys in (([{"_id": person}], {}), ([], {"filter": {"_id": person}}), ([], {"filters": {"_id": person}})):
        relation = {"relations": {"visited": {"_ids": [one["_id"]]}}, "projection": {"visited": {}, "_id": 0}}
        assert world.person.add_relation(*args, **keys, **relation) == {"visited": [{"_id": one["_id"]}]}
        assert world.person.remove_relation(*args, **keys, **relation) == {"visited": []}
    assert [world.country.delete_one(**{key: {"name": "ab"[at]}}) for at, key in enumerate(("filter", "filters"))] == [
        {"deletedCount": 1, "cascaded": {}}
    ] * 2


def test_what_is_not_there_is_left_out_also_where_an_index_has_all_that_is_shown(odm):
    notes = odm.new_model("note", {"n": optional(integer)}, options={"createIndex": {"indexSpec": {"n": 1}}})
    notes.insert_many([{}, {"n": 1}])
    shown = {"_id": 0, "n": 1}
    assert notes.find({"n": {"$in": [None, 1]}}, projection=shown).to_list() == [{}, {"n": 1}]
    assert notes.find(projection=shown).sort("n").to_list() == [{}, {"n": 1}]
    assert notes.listing(sort=["n"]).page({"set": {"sort": "n"}, "get": shown})["rows"] == [{}, {"n": 1}]


def test_a_field_named_like_a_key_of_the_contract_is_a_field(odm):
    model = odm.new_model("search", {"filters": string(), "projection": optional(string())})
    model.insert_many([{"filters": "a"}, {"filters": "b", "projection": "c"}])
    assert [one["filters"] for one in model.find({"filters": "a"})] == ["a"]
    assert [one["filters"] for one in model.find({"projection": "c"})] == ["b"]
    assert [one["filters"] for one in model.find({"filter": {"filters": "b"}})] == ["b"]
    with pytest.raises(UsageError, match="^filter: model search has no field filter$"):
        model.find({"filter": {}, "filters": "a"})


@pytest.mark.parametrize(
    "sort",
    [
        (5,),
        ([5],),
        (["ab"],),
        ([{"a": 1, "b": 1}],),
        ({("name", 1)},),
        ([("name", 1, 1)],),
        ([("name",)],),
        ([(1, 1)],),
        ("",),
        ("$name",),
        ("a\0",),
        (None,),
    ],
    ids=str,
)
def test_cursor_refuses_what_is_no_name(world, sort):
    for cursor in (world.person.find(), world.person.aggregate([])):
        with pytest.raises(UsageError, match="^sort: expected field names with 1, -1, 'asc' or 'desc'$"):
            cursor.sort(*sort)


@pytest.mark.parametrize("sort", [("name", 2), ("name", True), ([("name", [])],), ({"name": "up"},)], ids=str)
def test_cursor_refuses_odd_orders(world, sort):
    with pytest.raises(BadRequest, match="^sort: expected 1, -1, 'asc' or 'desc'$"):
        world.person.find().sort(*sort)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nope", "model person has no field nope"),
        ("password", "model person excludes password; reveal=['password'] admits it"),
        ("_gw", "model person has no field _gw"),
        ("_gw.v", "model person has no field _gw"),
        ("name.x", "model person has no field name.x"),
        ("address.nope", "model person has no field address.nope"),
        ("home", "home is a relation; write home._id, or another field of it"),
        ("home.nope", "model city has no field nope"),
        ("born.secret", "the copies in born leave out secret"),
        ("visited.population", "the copies in visited leave out population"),
        ("friendOf.password", "the copies in friendOf leave out password"),
    ],
)
def test_cursor_sorts_by_names_that_the_model_shows(world, name, message):
    for sort in ((name,), ({"age": 1, name: -1},), ([(name, "asc")],)):
        with pytest.raises(UsageError) as raised:
            world.person.find().sort(*sort)
        assert raised.value.message == f"sort: {message}"


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        (("home.name", -1), "ba"),
        (("home._id", 1), "ab"),
        (("address.street", "desc"), "ab"),
        (("extra.rank", 1), "ba"),
        (({"extra": 1},), "ba"),
        (([("born_on", -1), ("name", -1)],), "ba"),
    ],
    ids=str,
)
def test_cursor_sorts_by_fields_of_copies_and_objects(world, sort, names):
    land = world.add_country("land")
    for at, (name, street) in enumerate(["at", "bs"]):
        home = world.add_city(f"city {name}", land)
        doc = {"address": {"street": street}, "extra": {"rank": 9 - at}, "born_on": "2000-01-01"}
        world.add_person(name, {"home": {"_ids": home}}, **doc)
    assert [one["name"] for one in world.person.find().sort(*sort)] == list(names)


@pytest.mark.parametrize(
    ("sort", "message"),
    [
        ([("name", 1)] * 32, "at most 31 fields"),
        ({"visited.name": 1, "friends.name": 1}, "visited and friends are lists; sort by at most one list"),
    ],
    ids=["keys", "relations"],
)
def test_cursor_refuses_sorts_that_mongodb_cannot_do(world, sort, message):
    with pytest.raises(UsageError) as raised:
        world.person.find().sort(sort)
    assert raised.value.message == f"sort: {message}"


def test_reveal_admits_excluded_fields_in_sorts(world, people):
    cursor = world.person.find(projection={"name": 1}, reveal=["password"]).sort("password", -1)
    assert [one["name"] for one in cursor][0] == "c"


def test_results_of_a_pipeline_are_sorted_by_any_name_but_the_hidden_one(world, people):
    cursor = world.person.aggregate([{"$group": {"_id": "$active", "oldest": {"$max": "$age"}}}])
    assert cursor.sort("oldest").to_list() == [{"_id": True, "oldest": 3}]
    for name in ("_gw", "_gw.v", "_gw.at.x"):
        with pytest.raises(UsageError, match=f"^sort: there is no field {name}$"):
            cursor.sort(name)


def test_count_counts(world, people):
    assert world.person.count() == 3
    assert world.person.count({"age": {"$gt": 1}}) == 2
    assert world.city.countDocument() == 0


@pytest.fixture
def notes(odm):
    """A model with an excluded field, and two documents."""
    fields = {"n": integer(), "text": string(), "pin": optional(string())}
    model = odm.new_model("note", fields, options={"excludes": ["pin"]})
    model.insert_many([{"n": 1, "text": "a", "pin": "x"}, {"n": 2, "text": "b"}])
    return model


READS = {
    "all": (
        lambda model: model.find({"n": 1}, projection={"text": 1}).to_list(),
        ("find", ("note", {"n": 1}, ("_id", "text")), {"sort": [], "skip": 0, "limit": 0}),
    ),
    "a page": (
        lambda model: model.find({"n": 1}, projection={"text": 1}).sort("text").skip(1).limit(2).to_list(),
        ("find", ("note", {"n": 1}, ("_id", "text")), {"sort": [("text", 1), ("_id", 1)], "skip": 1, "limit": 2}),
    ),
    "the first": (
        lambda model: model.find_one({"n": 1}, projection={"text": 1}),
        ("find", ("note", {"n": 1}, ("_id", "text")), {"limit": 1}),
    ),
    "whether there is one": (
        lambda model: model.exists({"n": 1}),
        ("find", ("note", {"n": 1}, []), {"limit": 1}),
    ),
    "how many": (lambda model: model.count({"n": 1}), ("count", ("note", {"n": 1}), {})),
    "an update of nothing": (
        lambda model: model.find_one_and_update({"n": 1}, {"$set": {}}, projection={"text": 1}),
        ("find", ("note", {"n": 1}, ("_id", "text")), {"limit": 1}),
    ),
}


@pytest.mark.parametrize(("read", "call"), READS.values(), ids=READS)
def test_no_more_is_read_than_what_is_shown(notes, asked, read, call):
    calls = asked("find", "count")
    read(notes)
    assert calls == [call]


def test_the_contracts_object_and_keywords_may_be_given_together(notes):
    (first,) = notes.find({"filters": {"pin": "x"}}, reveal=["pin"])
    assert first == {"_id": first["_id"], "n": 1, "text": "a", "pin": "x"}
    assert notes.find({"filter": {"n": 1}}, projection={"_id": 0, "n": 1}).to_list() == [{"n": 1}]
    for word in ("filter", "filters"):
        found = notes.find({"projection": {"_id": 0, "text": 1}}, **{word: {"n": 2}})
        assert found.to_list() == [{"text": "b"}]
    with pytest.raises(TypeError, match="^'filter' is given twice$"):
        notes.find({"filter": {}}, filter={"n": 1})


def test_filters_and_reveal_select_what_is_counted_and_told_apart(notes):
    assert notes.distinct("n", filters={"text": "b"}) == [2]
    assert notes.distinct("n", {"pin": "x"}, reveal=["pin"]) == [1]
    assert not notes.exists(filters={"n": 3})
    assert notes.exists(filters={"n": 1})


def test_results_of_a_pipeline_are_paged(notes):
    notes.insert_many([{"n": number, "text": "c"} for number in (3, 4)])
    cursor = notes.aggregate([{"$match": {"n": {"$gt": 1}}}]).sort("n", -1)
    assert [[one["n"] for one in cursor.skip(skip).limit(limit)] for skip, limit in ((0, 0), (1, 0), (1, 1))] == [
        [4, 3, 2],
        [3, 2],
        [3],
    ]


def test_a_get_counts_its_queries_where_several_share_a_bound(world, monkeypatch):
    counted = []
    monkeypatch.setattr(Scope, "add_queries", lambda self, queries: counted.append(queries))
    world.city.find_one(projection={"country": {"cities": {"country": {"name": 1}}}})
    world.city.find_one(projection={"country": {"name": 1}})
    assert counted == [2]


def test_a_listing_has_these_defaults_and_a_number_in_its_model(notes):
    plain = {"filters": (), "sorts": (), "default_sort": "-_id", "count": False}
    found = [listing.declaration for listing in (notes.listing(), notes.listing(most=5), notes.listing(default=7))]
    assert found == [
        Declaration("note", 0, most=100, default=20, **plain),
        Declaration("note", 1, most=5, default=5, **plain),
        Declaration("note", 2, most=100, default=7, **plain),
    ]
