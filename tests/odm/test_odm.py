"""The Odm: databases, definitions at first use, indexes."""

from __future__ import annotations

from logging import ERROR

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.errors import DefinitionError, DuplicateKey, NotFound, UsageError
from gatewayfw.odm import Odm
from gatewayfw.odm.upkeep.indexes import wanted_indexes
from gatewayfw.schemas import Schemas, array, date, number, optional, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage

MOCK = MockStorage(mongomock.MongoClient().test)


@pytest.fixture
def bare():
    """An Odm without database and models."""
    return Odm(Schemas(Settings()), Settings())


def test_set_db_takes_every_kind_of_database(bare):
    storage = MockStorage(mongomock.MongoClient().test)
    bare.set_db(storage)
    assert bare.storage is storage
    bare.setDb(mongomock.MongoClient().test)
    assert type(bare.storage) is MockStorage
    bare.set_db("mongodb://127.0.0.1:1/name")
    assert type(bare.storage) is MongoStorage


def test_memory_is_meant_only_where_that_was_said(bare, storage):
    assert bare.database.memory_is_meant is False
    bare.set_db(storage, memory=True)
    assert bare.database.memory_is_meant is True


def test_the_deadline_of_a_request_without_a_database_holds_inside_of_it_too(bare):
    with bare.database.request_deadline() as outer:
        outer.end()
        with bare.database.request_deadline() as inner:
            assert inner.remaining() == 0.0


def test_a_listing_is_not_declared_by_a_request_that_has_no_database_yet(bare):
    model = bare.new_model("thing", {"name": string()})
    with bare.database.request_deadline(), pytest.raises(UsageError, match="^listing: declare it with its model"):
        model.listing()
    assert model.listing().declaration.number == 0


def test_a_database_by_its_uri_has_the_settings_of_the_gateway(monkeypatch):
    given = []
    monkeypatch.setattr("gatewayfw.odm.database.MongoStorage", lambda *db, **keys: given.append((db, keys)) or MOCK)
    settings = Settings()
    Odm(Schemas(settings), settings).set_db("mongodb://127.0.0.1:1/name", memory=True)
    ((db, keys),) = given
    assert db == ("mongodb://127.0.0.1:1/name",)
    assert keys["settings"] is settings


def test_an_odm_without_a_database_has_no_transactions(bare, storage):
    assert bare.has_transactions() is False
    bare.set_db(storage)
    assert bare.has_transactions() is True


@pytest.mark.parametrize("db", [5, mongomock.MongoClient(), {}])
def test_set_db_refuses_other_things(bare, db):
    with pytest.raises(DefinitionError) as raised:
        bare.set_db(db)
    expected = "set_db takes a MongoDB URI, a PyMongo or mongomock database or a Storage"
    assert raised.value.message == f"{expected}, not {type(db).__name__}"


def test_set_db_refuses_a_uri_without_database(bare):
    with pytest.raises(DefinitionError) as raised:
        bare.set_db("mongodb://127.0.0.1:1/")
    assert raised.value.message == "the MongoDB URI must name a database: mongodb://host:27017/NAME"


def test_models_may_be_made_before_the_database_is_given(bare, storage):
    model = bare.new_model("thing", {"name": string()})
    with pytest.raises(DefinitionError, match=r"^no database: call odm.set_db\(...\) first$"):
        model.count()
    bare.set_db(storage)
    assert model.count() == 0


def test_changing_the_database_changes_where_models_live(bare):
    first, second = mongomock.MongoClient().a, mongomock.MongoClient().b
    bare.set_db(first)
    model = bare.new_model("thing", {"name": string()})
    model.insert_one(doc={"name": "x"})
    bare.set_db(second)
    assert (model.count(), first.thing.count_documents({})) == (0, 1)


def test_models_are_found_by_name(bare):
    model = bare.newModel("thing", {"name": string()})
    assert bare.model("thing") is model
    with pytest.raises(NotFound, match="^model not found: other$"):
        bare.model("other")


def test_new_model_takes_the_contracts_keys(bare):
    model = bare.newModel(name="thing", pureFields={"name": string()}, relations={}, options={})
    assert model.schema.pure.keys() == {"name"}
    with pytest.raises(TypeError, match="fields"):
        bare.newModel("other", fields={})


def test_a_missing_related_model_is_named_at_first_use(odm):
    relation = {"x": {"schemaName": "nowhere", "type": "single"}}
    model = odm.new_model("thing", {"name": string()}, relation)
    with pytest.raises(DefinitionError) as raised:
        model.count()
    assert raised.value.message == "model 'thing', relation 'x': schemaName names 'nowhere', which is not a model"
    odm.new_model("nowhere", {"name": string()})
    assert model.count() == 0


def test_a_later_model_may_add_reverse_relations_to_earlier_ones(odm):
    land = odm.new_model("land", {"name": string()})
    first = land.insert_one(doc={"name": "x"})
    reverse = {"cities": {"type": "multiple", "sort": {"field": "size", "order": "asc"}}}
    relation = {"land": {"schemaName": "land", "type": "single", "relatedRelations": reverse}}
    city = odm.new_model("city", {"size": number()}, relation)
    made = city.insert_one(
        doc={"size": 1}, relations={"land": {"_ids": first["_id"], "relatedRelations": {"cities": True}}}
    )
    assert land.find_one()["cities"] == [{"_id": made["_id"], "size": 1}]


def test_wanted_indexes_serve_copies_windows_and_the_models_own(bare):
    bare.new_model("land", {"name": string()})
    reverses = {
        "newest": {"type": "multiple"},
        "biggest": {"type": "multiple", "sort": {"field": "size", "order": "desc"}},
        "capital": {"type": "single"},
    }
    relation = {"land": {"schemaName": "land", "type": "single", "relatedRelations": reverses}}
    index = {"indexSpec": {"size": 1}, "options": {"unique": True}}
    model = bare.new_model("city", {"size": number()}, relation, {"createIndex": index})
    assert [(one.keys, one.unique) for one in wanted_indexes(bare.schemas, model.schema)] == [
        ((("size", 1),), True),
        ((("land._id", 1), ("_id", 1)), False),
        ((("land._id", 1), ("_gw.out.land.newest", 1), ("_id", -1)), False),
        ((("land._id", 1), ("_gw.out.land.biggest", 1), ("size", -1), ("_id", 1)), False),
    ]


def test_a_unique_index_that_cannot_be_built_stops_nothing_and_is_told(odm, storage, caplog):
    storage.insert("thing", [{"_id": 1, "name": "x"}, {"_id": 2, "name": "x"}])
    index = {"indexSpec": {"name": 1}, "options": {"unique": True}}
    model = odm.new_model("thing", {"name": string()}, options={"createIndex": index})
    assert model.count() == 2
    problems = odm.ready()
    assert problems == ["thing: index {'name': 1} cannot be built: two documents share a value"]
    assert caplog.record_tuples == [("gatewayfw.odm", ERROR, problems[0])]
    model.insert_one(doc={"name": "x"})
    assert (model.count(), len(caplog.records)) == (3, 1)


@pytest.mark.mongo
def test_indexes_are_built_at_first_use(mongo_database, bare):
    bare.set_db(mongo_database)
    bare.new_model("land", {"name": string()}, options={"createIndex": [{"indexSpec": {"name": -1}}]})
    relation = {"land": {"schemaName": "land", "type": "single"}}
    city = bare.new_model("city", {"size": number()}, relation)
    assert (bare.model("land").count(), city.count()) == (0, 0)
    found = {
        name: [list(index["key"].items()) for index in mongo_database[name].list_indexes()] for name in ("land", "city")
    }
    assert found == {
        "land": [[("_id", 1)], [("name", -1), ("_id", -1)]],
        "city": [[("_id", 1)], [("land._id", 1), ("_id", 1)]],
    }


@pytest.mark.mongo
@pytest.mark.parametrize("preference", ["secondaryPreferred", "nearest"])
def test_a_read_preference_does_not_reach_transactions(mongod_uri, mongo_database, bare, preference):
    uri = mongod_uri.replace("/?", f"/{mongo_database.name}?")
    bare.set_db(f"{uri}&readPreference={preference}")
    land = bare.new_model("land", {"name": string()})
    relation = {"land": {"schemaName": "land", "type": "single", "relatedRelations": {"cities": {"type": "multiple"}}}}
    city = bare.new_model("city", {"name": string()}, relation)
    id_ = land.insert_one(doc={"name": "x"})["_id"]
    city.insert_one(doc={"name": "y"}, relations={"land": {"_ids": id_, "relatedRelations": {"cities": True}}})
    assert [one["name"] for one in land.find_one()["cities"]] == ["y"]
    bare.storage.close()


def test_documents_of_which_others_keep_frozen_copies_may_expire(odm):
    index = {"indexSpec": {"at": 1}, "options": {"expireAfterSeconds": 60}}
    model = odm.new_model("log", {"at": date()}, options={"createIndex": index})
    odm.new_model("page", {"name": string()}, {"log": {"schemaName": "log", "type": "single", "frozen": True}})
    assert model.count() == 0


def test_documents_that_others_copy_may_not_expire(odm):
    index = {"indexSpec": {"at": 1}, "options": {"expireAfterSeconds": 60}}
    model = odm.new_model("log", {"at": date()}, options={"createIndex": index})
    assert model.count() == 0
    odm.new_model("page", {"name": string()}, {"log": {"schemaName": "log", "type": "single"}})
    with pytest.raises(DefinitionError) as raised:
        model.count()
    message = "model 'log', createIndex: expireAfterSeconds would delete documents that others embed or list"
    assert raised.value.message == message


def test_a_database_of_mongomock_ng_keeps_copies_and_names_what_is_taken():
    gw = gateway()
    gw.odm.set_db(pytest.importorskip("mongomock_ng").MongoClient().shop)
    unique = {"createIndex": {"indexSpec": {"codes": 1}, "options": {"unique": True}}}
    lands = gw.odm.new_model("land", {"name": string(), "codes": optional(array(string()))}, options=unique)
    back = {"cities": {"type": "multiple", "limit": 5, "sort": {"field": "_id", "order": "asc"}}}
    land = {"schemaName": "land", "type": "single", "optional": False, "relatedRelations": back}
    cities = gw.odm.new_model("city", {"name": string()}, {"land": land})
    id_ = lands.insert_one(doc={"name": "Old", "codes": ["a", "b"]})["_id"]
    related = {"land": {"_ids": id_, "relatedRelations": {"cities": True}}}
    cities.insert_one(doc={"name": "Town"}, relations=related)
    lands.find_one_and_update({"_id": id_}, {"$set": {"name": "New"}})
    assert cities.find_one({}, projection={"_id": 0, "land": {"name": 1}}) == {"land": {"name": "New"}}
    with pytest.raises(DuplicateKey) as caught:
        lands.insert_one(doc={"name": "Other", "codes": ["b"]})
    assert caught.value.fields == ("codes",)
    assert (list(gw.odm.integrity.check()), lands.count()) == ([], 1)
