"""Deep `get`: what lies beyond the embedded copies."""

from __future__ import annotations

import uuid
from contextlib import contextmanager

import mongomock
import pytest
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st
from pymongo import MongoClient

from gatewayfw.errors import ReplyTooLarge, Timeout
from gatewayfw.odm import Odm
from gatewayfw.odm.reading.deep import weigh
from gatewayfw.schemas import Relation, Schemas, optional, string
from gatewayfw.settings import Settings
from tests.examples import examples
from tests.odm.deep_reference import reference, strangers
from tests.odm.test_commands import Commands
from tests.odm.world import World, define_world, populate_once

LAND, ISLE, TOWN, PORT, CAPE, ANN, BEN, CAL, CLUB = (ObjectId(f"{number:024x}") for number in range(1, 10))


def populate(world):
    """Two countries, three cities, three people who know and lead each other, a club."""
    world.add_country("land", _id=LAND, population=10, secret="hidden")
    world.add_country("isle", _id=ISLE, population=2)
    for id_, name, country in ((TOWN, "town", LAND), (PORT, "port", LAND), (CAPE, "cape", ISLE)):
        world.add_city(name, country, flags=("cities", "biggest", "capital"), _id=id_, population=len(name))
    reverses = {"natives": True}
    ann = {"born": {"_ids": LAND, "relatedRelations": reverses}, "home": {"_ids": TOWN}}
    world.add_person("ann", ann, _id=ANN, age=30, password="hidden")
    chosen = {"_ids": [LAND, ISLE], "relatedRelations": {"visitors": True}}
    leads = {"_ids": ANN, "relatedRelations": {"reports": True, "assistant": True}}
    ben = {"visited": chosen, "boss": leads, "home": {"_ids": CAPE}, "born": {"_ids": ISLE, "relatedRelations": {}}}
    world.add_person("ben", ben, _id=BEN, age=20, password="hidden")
    knows = {"_ids": [BEN, ANN], "relatedRelations": {"friendOf": True}}
    boss = {"_ids": BEN, "relatedRelations": {"reports": True}}
    world.add_person("cal", {"friends": knows, "boss": boss}, _id=CAL, age=40)
    places = {"_ids": [CAPE, TOWN], "relatedRelations": {"clubs": True}}
    world.club.insert_one(doc={"_id": CLUB, "name": "club"}, relations={"places": places})
    member = {"clubs": {"_ids": [CLUB], "relatedRelations": {"members": True, "president": True}}}
    world.person.add_relation(filters={"_id": ANN}, relations=member)


@pytest.fixture
def town(world, populations):
    """A populated world."""
    populate_once(world, populate, populations)
    return world


@contextmanager
def replying(world, most):
    """Work for a reply of so many bytes; gives the scope."""
    with world.storage.deadline(30) as scope:
        scope.reply_bytes = most
        yield scope


def shown(model, id_, get):
    return model.find_one(filters={"_id": id_}, projection={"_id": 0, **get})


def test_each_level_shows_the_relations_of_the_one_above(town):
    get = {"name": 1, "cities": {"name": 1, "country": {"name": 1, "natives": {"name": 1}}}}
    country = {"name": "land", "natives": [{"name": "ann"}]}
    cities = [{"name": "port", "country": country}, {"name": "town", "country": country}]
    assert shown(town.country, LAND, get) == {"name": "land", "cities": cities}


@pytest.mark.parametrize(
    ("get", "expected"),
    [
        ({"country": {"cities": 1}}, {"_id", "name", "population"}),
        ({"country": {"cities": {}}}, {"_id"}),
        ({"country": {"cities": {"_id": 1, "name": 0}}}, {"_id"}),
        ({"country": {"cities": {"_id": 0, "name": 1}}}, {"name"}),
        ({"country": {"cities": {"_id": 0}}}, set()),
    ],
)
def test_a_deep_copy_is_selected_from_as_a_near_one(town, get, expected):
    result = shown(town.city, TOWN, get)
    assert set(result) == {"country"}
    assert [set(copy) for copy in result["country"]["cities"]] == [expected] * 2


def test_a_relation_selected_alone_shows_no_id_and_zero_selects_nothing(town):
    assert shown(town.city, TOWN, {"country": {"capital": {"name": 1}}}) == {"country": {"capital": {"name": "port"}}}
    assert shown(town.city, TOWN, {"country": {"capital": 0}}) == {"country": {"_id": LAND}}
    assert shown(town.city, TOWN, {"country": {"_id": 0, "capital": 0}}) == {"country": {}}


def test_windows_keep_their_order_and_limit_and_main_lists_their_sort(town):
    """`biggest` has the two largest cities; `visited` is read by name, whatever the stored order."""
    get = {"country": {"biggest": {"name": 1}, "visitors": {"visited": {"name": 1}}}}
    for number in range(3):
        town.add_city(f"big{number}", LAND, population=100 + number)
    country = {
        "biggest": [{"name": "big2"}, {"name": "big1"}],
        "visitors": [{"visited": [{"name": "isle"}, {"name": "land"}]}],
    }
    assert shown(town.city, TOWN, get) == {"country": country}


def test_a_model_related_to_itself_can_be_followed_round(town):
    get = {"boss": {"name": 1, "boss": {"name": 1, "boss": {"name": 1}, "assistant": {"boss": {"name": 1}}}}}
    ann = {"name": "ann", "assistant": {"boss": {"name": "ann"}}}
    assert shown(town.person, CAL, get) == {"boss": {"name": "ben", "boss": ann}}


def test_what_is_absent_deep_down_reads_as_on_top(town):
    get = {"born": {"cities": {"clubs": {"president": 1}, "country": 0}, "visitors": {"_id": 1}}}
    assert shown(town.person, CAL, get) == {}
    assert shown(town.person, ANN, {"friends": get, "reports": {"clubs": {"places": 1}}}) == {
        "friends": [],
        "reports": [{"clubs": []}],
    }


def test_a_document_that_is_gone_is_shown_as_its_copy_alone(town):
    gone = list(town.storage.find("city", {"_id": PORT}))
    town.storage.delete_many("city", {"_id": PORT})
    get = {"cities": {"name": 1, "country": {"name": 1}, "clubs": {"name": 1}}}
    there = {"name": "town", "country": {"name": "land"}, "clubs": [{"name": "club"}]}
    assert shown(town.country, LAND, get) == {"cities": [{"name": "port", "clubs": []}, there]}
    town.storage.insert("city", gone)


def test_excluded_fields_are_hidden_at_every_depth(town):
    """The model's own (`secret`, `password`), and what a link on the way excludes (`age`, `population`)."""
    get = {"natives": {"name": 1, "password": 1, "age": 1, "reports": {"age": 1, "boss": {"age": 1, "name": 1}}}}
    natives = [{"name": "ann", "reports": [{"boss": {"name": "ann"}}]}]
    assert shown(town.country, LAND, get) == {"natives": natives}
    get = {"visited": {"population": 1, "secret": 1, "cities": {"country": {"population": 1, "secret": 1, "name": 1}}}}
    visited = [{"cities": [{"country": {"name": "isle"}}]}, {"cities": [{"country": {"name": "land"}}] * 2}]
    assert shown(town.person, BEN, get) == {"visited": visited}
    everything = {"boss": {"age": 1, "password": 1, "boss": {"age": 1, "password": 1}}}
    assert shown(town.person, CAL, everything) == {"boss": {"age": 20, "boss": {"age": 30}}}


def test_reveal_reaches_the_document_alone(town):
    get = {"boss": {"password": 1, "boss": {"password": 1}}}
    result = town.person.find_one(filters={"_id": BEN}, projection=get, reveal="password")
    assert result == {"_id": BEN, "password": "hidden", "boss": {}}


def test_what_is_shown_in_two_places_can_be_changed_in_one(town):
    get = {"cities": {"country": {"natives": {"_id": 1, "name": 1, "active": 1}}}}
    first, second = shown(town.country, LAND, get)["cities"]
    assert first == second
    first["country"]["natives"][0]["name"] = "changed"
    assert second == {"country": {"natives": [{"_id": ANN, "name": "ann", "active": True}]}}


def test_a_cursor_shows_deep_levels_of_all_its_documents(town, monkeypatch):
    get = {"_id": 0, "name": 1, "country": {"cities": {"name": 1}}}
    land, isle = {"cities": [{"name": "port"}, {"name": "town"}]}, {"cities": [{"name": "cape"}]}
    expected = [
        {"name": "cape", "country": isle},
        {"name": "port", "country": land},
        {"name": "town", "country": land},
    ]
    cursor = town.city.find(projection=get).sort("name")
    assert cursor.to_list() == expected
    assert [len(batch) for batch in cursor.batches()] == [3]
    monkeypatch.setattr("gatewayfw.odm.reading.deep.BATCH", 2)
    assert [len(batch) for batch in cursor.batches()] == [2, 1]
    monkeypatch.setattr("gatewayfw.odm.reading.deep.MOST_IDS", 1)
    assert cursor.to_list() == expected
    assert town.city.find(filters={"name": "none"}, projection=get).to_list() == []


@pytest.mark.parametrize(("most", "ids"), [(2, [[ISLE, LAND]]), (1, [[ISLE], [LAND]])])
def test_a_level_is_read_by_its_ids_with_no_more_than_it_shows(town, asked, monkeypatch, most, ids):
    monkeypatch.setattr("gatewayfw.odm.reading.deep.MOST_IDS", most)
    calls = asked("find", of=town.storage)
    town.city.find(projection={"name": 1, "country": {"natives": {"name": 1}}}).sort("name").to_list()
    assert calls == [
        ("find", ("city", {}, ("_id", "name", "country._id")), {"sort": [("name", 1)], "skip": 0, "limit": 0}),
        *(("find", ("country", {"_id": {"$in": some}}, ("natives.name",)), {"limit": len(some)}) for some in ids),
    ]


# -- writes


def test_writes_show_deep_levels_with_what_they_wrote(town):
    get = {"_id": 0, "country": {"cities": {"name": 1}}}
    relation = {"country": {"_ids": LAND, "relatedRelations": {"cities": True}}}
    added = town.city.insert_one(doc={"name": "new"}, relations=relation, projection=get)
    names = [{"name": name} for name in ("new", "port", "town")]
    assert added == {"country": {"cities": names}}
    update = {"$set": {"name": "newer"}}
    changed = town.city.find_one_and_update(filter={"name": "new"}, update=update, projection=get)
    assert changed == {"country": {"cities": [{"name": "newer"}, *names[1:]]}}
    options = {"filters": {"name": "newer"}, "projection": {"_id": 0, "cities": {"country": {"name": 1}}}}
    moved = town.city.add_relation(
        filters={"name": "newer"},
        relations={"country": {"_ids": ISLE, "relatedRelations": {"cities": True}}},
        projection=get,
        replace=True,
    )
    assert moved == {"country": {"cities": [names[0] | {"name": "newer"}, {"name": "cape"}]}}
    assert town.city.find_one(**options | {"projection": get}) == moved


def test_insert_many_and_remove_relation_show_deep_levels(town):
    get = {"_id": 0, "boss": {"reports": {"name": 1}}, "friends": {"friendOf": {"name": 1}}}
    leads = {"boss": {"_ids": CAL, "relatedRelations": {"reports": True}}}
    added = town.person.insert_many(docs=[{"name": "x"}, {"name": "y"}], relations=leads, projection=get)
    reports = {"boss": {"reports": [{"name": "y"}, {"name": "x"}]}, "friends": []}
    assert added == [reports, reports]
    left = town.person.remove_relation(filters={"_id": CAL}, relations={"friends": {"_ids": [BEN]}}, projection=get)
    expected = {"boss": {"reports": [{"name": "cal"}]}, "friends": [{"friendOf": [{"name": "cal"}]}]}
    assert left == expected


LATE = {"country": {"cities": {"name": 1}}, "friends": {"friendOf": {"name": 1}}}


def insert(world):
    relation = {"country": {"_ids": LAND}}
    world.city.insert_one(doc={"name": "new"}, relations=relation, projection={"country": LATE["country"]})


def update(world):
    change = {"$set": {"name": "new"}}
    world.city.find_one_and_update(filter={"_id": TOWN}, update=change, projection={"country": LATE["country"]})


def add(world):
    relation = {"friends": {"_ids": [CAL]}}
    world.person.add_relation(filters={"_id": CAL}, relations=relation, projection={"friends": LATE["friends"]})


def remove(world):
    relation = {"friends": {"_ids": [BEN]}}
    world.person.remove_relation(filters={"_id": CAL}, relations=relation, projection={"friends": LATE["friends"]})


@pytest.mark.parametrize("write", [insert, update, add, remove])
def test_a_write_whose_deep_levels_cannot_be_read_changes_nothing(town, monkeypatch, write):
    before, find = town.digest(), town.storage.find

    def late(collection, filter, fields=None, **options):
        if {"cities.name", "friendOf.name"} & set(fields or ()):
            raise Timeout()
        return find(collection, filter, fields, **options)

    monkeypatch.setattr(town.storage, "find", late)
    with pytest.raises(Timeout):
        write(town)
    monkeypatch.undo()
    assert town.digest() == before


def test_a_get_that_would_show_too_much_is_refused(town):
    get = {"country": {"cities": {"country": {"cities": {"name": 1}}}}}
    with replying(town, 392):
        assert shown(town.city, TOWN, get)["country"]["cities"][1]["country"]["cities"] == [
            {"name": "port"},
            {"name": "town"},
        ]
    before = town.digest()
    with replying(town, 391) as scope:
        with pytest.raises(ReplyTooLarge) as raised:
            shown(town.city, TOWN, get)
        with pytest.raises(ReplyTooLarge):
            town.city.find_one_and_update(filter={"_id": TOWN}, update={"$set": {"name": "toun"}}, projection=get)
        assert not scope.committed
    assert raised.value.message == "the reply would have more than 391 bytes; ask for fewer fields or documents"
    assert town.digest() == before


def test_outside_of_a_request_nothing_is_too_much(town):
    get = {"country": {"cities": {"country": {"cities": {"name": 1}}}}}
    with town.storage.deadline(30):
        assert shown(town.city, TOWN, get)["country"]["cities"][1]["country"]["cities"][0] == {"name": "port"}


def test_a_bound_holds_inside_of_a_nearer_deadline(town):
    get = {"country": {"cities": {"country": {"cities": {"name": 1}}}}}
    with replying(town, 100), town.storage.deadline(30), pytest.raises(ReplyTooLarge):
        shown(town.city, TOWN, get)


@pytest.mark.parametrize(("most", "pieces"), [(206, [2, 1]), (2_000, [3])])
def test_documents_that_alone_fill_a_reply_end_a_batch(town, most, pieces):
    cursor = town.city.find(projection={"name": 1, "country": {"cities": {"name": 1}}}).sort("name")
    with replying(town, most):
        assert [len(piece) for piece in cursor.batches()] == pieces


WEIGHTS = {
    "number": (5, 16),
    "id": (LAND, 16),
    "text": ("abc", 21),
    "half a letter": ("\ud800", 21),
    "wide text": ("é中", 23),
    "quotes and controls": ('"\\\x00\n', 30),
    "bytes": (b"abc", 19),
    "list": ([1, "a"], 16 + 16 + 19),
    "document": ({"name": "a", "n": 1}, 16 + 4 + 19 + 1 + 16),
}


@pytest.mark.parametrize(("value", "weight"), WEIGHTS.values(), ids=WEIGHTS)
def test_a_value_weighs_its_names_and_texts_as_json(value, weight):
    assert weigh(value) == weight


# -- how many queries


@pytest.fixture(scope="module")
def counted(mongod_uri):
    """A populated world on a client whose commands are counted, read only."""
    commands, name = Commands(), f"gatewayfw_{uuid.uuid4().hex}"
    with MongoClient(mongod_uri, event_listeners=[commands]) as client:
        odm = Odm(Schemas(Settings()), Settings())
        odm.set_db(client[name])
        world = World(odm, define_world(odm))
        populate(world)
        world.commands = commands.names
        yield world
        client.drop_database(name)


COUNTRY = {
    "pure fields": ({"name": 1}, 1),
    "copies": ({"cities": 1, "natives": {"name": 1}}, 1),
    "zero below a copy": ({"cities": {"name": 1, "country": 0}}, 1),
    "one path": ({"cities": {"country": 1}}, 2),
    "two relations at one path": ({"cities": {"country": 1, "clubs": {"name": 1}}}, 2),
    "two levels": ({"cities": {"country": {"natives": {"name": 1}}}}, 3),
    "two paths of one model": ({"cities": {"country": 1}, "biggest": {"country": 1}}, 3),
    "three paths": ({"cities": {"country": {"natives": 1}, "clubs": {"places": 1}}}, 4),
    "five levels": ({"cities": {"country": {"cities": {"country": {"cities": {"country": 1}}}}}}, 6),
    "nobody there": ({"visitors": {"boss": {"boss": {"boss": {"boss": 1}}}}}, 3),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", COUNTRY)
def test_queries_of_a_find_one(counted, row):
    get, expected = COUNTRY[row]
    counted.commands.clear()
    counted.country.find_one(filters={"_id": LAND}, projection=get)
    assert counted.commands == ["find"] * expected


@pytest.mark.mongo
@pytest.mark.parametrize(("batch", "expected"), [(None, 3), (2, 5), (1, 7)])
def test_queries_of_a_cursor_grow_by_batches_only(counted, monkeypatch, batch, expected):
    if batch:
        monkeypatch.setattr("gatewayfw.odm.reading.deep.BATCH", batch)
    counted.commands.clear()
    assert len(counted.city.find(projection={"country": {"cities": {"country": 1}}}).to_list()) == 3
    assert counted.commands == ["find"] * expected


@pytest.mark.mongo
@pytest.mark.parametrize(("get", "more"), [({"country": 1}, 0), ({"country": {"cities": {"country": 1}}}, 2)])
def test_a_write_takes_one_query_more_for_each_path(counted, get, more):
    counted.commands.clear()
    counted.city.find_one_and_update(filter={"_id": TOWN}, update={"$set": {"tags": ["t"]}}, projection=get)
    found = counted.commands.count("find")
    counted.commands.clear()
    counted.city.find_one_and_update(filter={"_id": TOWN}, update={"$set": {"tags": ["t"]}}, projection={})
    assert found - counted.commands.count("find") == more


# -- any get, any models

FLAGS = st.sampled_from([0, 1])
#: At the top only.
REVISION = st.fixed_dictionaries({}, optional={"_rev": FLAGS})


def source(link):
    """The model that a link copies."""
    return link.schema_name if isinstance(link, Relation) else link.member


@st.composite
def gets(draw, schemas, model, depth):
    """A get of a model, some relations deep."""
    schema = schemas.get_schema(model)
    links = schemas.links(schema.name)
    get = draw(st.dictionaries(st.sampled_from(["_id", *schema.pure]), FLAGS, max_size=4))
    for name in draw(st.lists(st.sampled_from(sorted(links)), max_size=2, unique=True)) if links else []:
        deeper = depth and draw(st.booleans())
        get[name] = draw(gets(schemas, source(links[name]), depth - 1) if deeper else FLAGS)
    return get


def judge(odm, model, get):
    """A deep get equals the naive reader's result, names nothing unasked and shows nothing hidden."""
    whole = list(odm.storage.find(model, {}, sort=[("_id", 1)]))
    expected = [reference(odm.schemas, odm.storage, model, one, get) for one in whole]
    result = odm.model(model).find(projection=get).sort("_id").to_list()
    assert result == expected
    assert [path for one in result for path in strangers(odm.schemas, model, get, one)] == []
    assert "hidden" not in repr(result)


@given(data=st.data())
@examples(60)
def test_any_get_of_the_world_shows_what_a_naive_reader_shows(town, data):
    model = data.draw(st.sampled_from(["country", "city", "person", "club"]))
    judge(town.odm, model, data.draw(gets(town.odm.schemas, model, 4)) | data.draw(REVISION))


@pytest.mark.parametrize("model", ["country", "city", "club"])
@pytest.mark.parametrize("levels", [0, 1, 2])
def test_a_projection_of_the_schemas_is_shown_whole(town, model, levels):
    judge(town.odm, model, town.odm.schemas.create_projection(model, levels))


def test_a_projection_of_the_schemas_names_nothing_that_a_link_on_the_way_excludes(town):
    country = {"_id": 1, "name": 1}
    spec = {"name": 1, "visited": {"name": 1, "cities": {"name": 1, "country": 0}, "natives": {"name": 1, "born": 1}}}
    natives = {"_id": 1, "name": 1, "born": country}
    visited = country | {"cities": country, "natives": natives}
    assert town.odm.schemas.create_projection("person", spec) == country | {"visited": visited}


@st.composite
def models(draw):
    """Declarations of three models, each with three fields and up to two relations to any of them."""
    names = ("a", "b", "c")
    kind, sort = st.sampled_from(["single", "multiple"]), st.sampled_from(["_id", "x"])
    order, some = st.sampled_from(["asc", "desc"]), st.lists(st.sampled_from("yz"), unique=True)

    def reverse():
        found = {"type": draw(kind), "limit": draw(st.integers(1, 3)), "excludes": draw(some)}
        return found | {"sort": {"field": draw(sort), "order": draw(order)}}

    declared = {}
    for name in names:
        relations = {}
        for number in range(draw(st.integers(0, 2))):
            relation = {"schemaName": draw(st.sampled_from(names)), "type": draw(kind), "optional": True}
            relation |= {"excludes": draw(some), "relatedRelations": {}}
            if relation["type"] == "multiple" and draw(st.booleans()):
                relation["sort"] = {"field": "x", "order": draw(order)}
            for other in range(draw(st.integers(0, 2))):
                relation["relatedRelations"][f"of_{name}{number}{other}"] = reverse()
            relations[f"r{number}"] = relation
        declared[name] = (relations, {"excludes": draw(st.sampled_from([[], ["h"]]))})
    return declared


@given(data=st.data(), declared=models())
@examples(40)
def test_any_get_of_any_models_shows_what_a_naive_reader_shows(data, declared):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(mongomock.MongoClient().test)
    for name, (relations, options) in declared.items():
        fields = {field: optional(string()) for field in "xyz"} | {"h": optional(string())}
        odm.new_model(name, fields, relations, options)
    ids = {name: [ObjectId(f"{number:024x}") for number in range(3)] for name in declared}
    for name, (_, options) in declared.items():
        hidden = {"h": "hidden"} if options["excludes"] else {}
        docs = [{"_id": id_, **data.draw(st.fixed_dictionaries({}, optional=VALUES)), **hidden} for id_ in ids[name]]
        odm.model(name).insert_many(docs=docs)
    for name, (relations, _) in declared.items():
        for id_ in ids[name]:
            for relation, parts in relations.items():
                relate(odm.model(name), id_, relation, parts, ids[parts["schemaName"]], data.draw)
    model = data.draw(st.sampled_from("abc"))
    judge(odm, model, data.draw(gets(odm.schemas, model, 4)))


VALUES = {field: st.sampled_from("pqr") for field in "xyz"}


def relate(model, id_, relation, parts, ids, draw):
    """Relate a document to some of the given ones, with some flags."""
    most = 1 if parts["type"] == "single" else 3
    chosen = draw(st.lists(st.sampled_from(ids), unique=True, max_size=most))
    if chosen:
        flags = {reverse: draw(st.booleans()) for reverse in parts["relatedRelations"]}
        given_ids = chosen if parts["type"] == "multiple" else chosen[0]
        link = {relation: {"_ids": given_ids, "relatedRelations": flags}}
        model.add_relation(filters={"_id": id_}, relations=link)
