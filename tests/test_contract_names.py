"""Every name of the contract exists and does what the contract says, called as the contract calls it.

Where the contract calls with one object, keywords work too.
"""

from __future__ import annotations

import asyncio

import mongomock
import pytest
from bson import ObjectId

from gatewayfw import gateway
from gatewayfw.acts import Acts, ContextFns
from gatewayfw.errors import UsageError
from gatewayfw.odm import Cursor, Model, Odm
from gatewayfw.schemas import Schemas

#: The contract's names, by the object they belong to; every test below takes its names from here.
NAMES = {
    "gateway": ["schemas", "acts", "odm", "runServer", "contextFns", "generateSchemTypes"],
    "acts": [
        "setAct",
        "getServiceKeys",
        "getActs",
        "getActsKeys",
        "getActKeys",
        "getAct",
        "getAtcsWithServices",
        "getMainActs",
        "getMainAct",
        "setService",
        "getService",
    ],
    "odm": ["setDb", "newModel"],
    "model": [
        "insertOne",
        "insertMany",
        "find",
        "findOne",
        "findOneAndUpdate",
        "deleteOne",
        "updateMany",
        "deleteMany",
    ],
    "cursor": ["toArray"],
    "contextFns": [
        "getContextModel",
        "setContext",
        "addContexts",
        "addContext",
        "addReqToContext",
        "addHeaderToContext",
        "addBodyToContext",
    ],
    "schemas": [
        "string",
        "number",
        "boolean",
        "object",
        "array",
        "optional",
        "defaulted",
        "objectIdValidation",
        "enums",
        "selectStruct",
    ],
}
CLASSES = {
    "acts": Acts,
    "odm": Odm,
    "model": Model,
    "cursor": Cursor,
    "contextFns": ContextFns,
    "schemas": Schemas,
}


@pytest.fixture
def gw(database):
    """A gateway on an empty database."""
    gw = gateway()
    gw.odm.setDb(database)
    return gw


@pytest.fixture
def country(gw):
    return gw.odm.newModel("country", {"name": gw.schemas.string()}, {})


def called(method, config, form):
    """Call a method with one object, or with the same keys as keywords."""
    return method(config) if form == "object" else method(**config)


both_forms = pytest.mark.parametrize("form", ["object", "keywords"])


def test_every_name_is_there():
    found = gateway()
    assert [name for name in NAMES["gateway"] if not hasattr(found, name)] == []
    missing = [(owner, name) for owner, cls in CLASSES.items() for name in NAMES[owner] if not hasattr(cls, name)]
    assert missing == []


@both_forms
def test_model_operations(country, form):
    id_ = ObjectId()
    one = called(
        country.insertOne, {"doc": {"_id": id_, "name": "a"}, "relations": {}, "projection": {"name": 1}}, form
    )
    many = called(country.insertMany, {"docs": [{"name": "b"}], "projection": {"name": 1, "_id": 0}}, form)
    found = called(country.find, {"filters": {}, "projection": {"name": 1, "_id": 0}}, "keywords").sort("name")
    first = called(country.findOne, {"filters": {"_id": id_}, "projection": {"name": 1}}, form)
    change = {"filter": {"_id": id_}, "update": {"$set": {"name": "c"}}, "projection": {"name": 1}}
    updated = called(country.findOneAndUpdate, change, form)
    deleted = called(country.deleteOne, {"filter": {"_id": id_}, "hardCascade": True}, form)
    assert one == {"_id": id_, "name": "a"}
    assert many == [{"name": "b"}]
    assert first == {"_id": id_, "name": "a"}
    assert (updated, deleted) == ({"_id": id_, "name": "c"}, {"deletedCount": 1, "cascaded": {}})
    assert found.toArray() == [{"name": "b"}]


@both_forms
def test_operations_on_many_documents(country, form):
    country.insertMany({"docs": [{"name": name} for name in "abc"]})
    change = {"filter": {"name": {"$ne": "b"}}, "update": {"$set": {"name": "d"}}}
    assert called(country.updateMany, change, form) == {"matched": 2, "modified": 2}
    deletion = {"filter": {"name": "d"}, "hardCascade": True}
    assert called(country.deleteMany, deletion, form) == {"deletedCount": 2, "cascaded": {}}
    assert country.countDocument() == 1


@both_forms
def test_counting_and_pipelines(country, form):
    country.insertMany({"docs": [{"name": "a"}, {"name": "b"}, {"name": "b"}]})
    counts = [called(country.countDocument, {key: {"name": "b"}}, form) for key in ("filter", "filters")]
    stages = [{"$match": {"name": "b"}}, {"$group": {"_id": "$name", "n": {"$sum": 1}}}]
    found = called(country.aggregation, {"pipeline": stages}, form).toArray()
    assert counts == [2, 2]
    assert country.countDocument() == 3
    assert found == [{"_id": "b", "n": 2}]


@both_forms
def test_an_unknown_key_is_named(gw, country, form):
    of_models = (country.insertOne, country.findOne, country.deleteOne, country.countDocument, country.aggregation)
    for method in (*of_models, gw.acts.setAct, gw.runServer):
        with pytest.raises(TypeError, match="fooBar"):
            called(method, {"fooBar": 1}, form)


def test_reveal_is_a_keyword_and_no_key_of_an_object(gw):
    user = gw.odm.newModel("user", {"name": gw.schemas.string(), "pin": gw.schemas.string()}, {}, {"excludes": ["pin"]})
    user.insertOne({"doc": {"name": "a", "pin": "x"}})
    wanted, secret = {"filters": {"name": "a"}}, {"reveal": ["pin"]}
    of_writes = {**wanted, "relations": {}}
    for method, config in (
        (user.findOne, wanted),
        (user.countDocument, wanted),
        (user.findOneAndUpdate, {**wanted, "update": {"$set": {"name": "b"}}}),
        (user.deleteOne, wanted),
        (user.addRelation, of_writes),
        (user.removeRelation, of_writes),
    ):
        with pytest.raises(TypeError, match="^'reveal' is no key of the object: only a keyword of the call$"):
            method({**config, **secret})
    with pytest.raises(UsageError, match="^filter: model user has no field filters$"):
        user.find({**wanted, **secret})
    shown = {"projection": {"_id": 0, "name": 1}}
    assert user.findOne({**wanted, **shown}, reveal=["pin"]) == {"name": "a", "pin": "x"}
    assert user.findOne({**wanted, **shown}) == {"name": "a"}


def test_find_takes_the_contracts_object_too(country):
    country.insertOne({"doc": {"name": "a"}})
    assert country.find({"filters": {"name": "a"}, "projection": {"name": 1, "_id": 0}}).toArray() == [{"name": "a"}]
    assert country.find({"filters": {"name": "b"}}).toArray() == country.find({"filter": {"name": "b"}}).toArray() == []
    assert country.find({"projection": {"name": 1, "_id": 0}}, filters={"name": "a"}).toArray() == [{"name": "a"}]
    for keys in ({"projection": {}}, {"projection": {}, "filters": {}}):
        with pytest.raises(TypeError, match="'projection' is given twice"):
            country.find({"projection": {}}, **keys)


def test_new_model_with_relations_and_index(gw, country):
    relations = {
        "country": {
            "optional": False,
            "schemaName": "country",
            "type": "single",
            "relatedRelations": {
                "cities": {"type": "multiple", "limit": 50, "sort": {"field": "_id", "order": "desc"}}
            },
        }
    }
    index = {"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}
    city = gw.odm.newModel("city", {"name": gw.schemas.string()}, relations, index)
    land = country.insertOne({"doc": {"name": "a"}})["_id"]
    relation = {"country": {"_ids": land, "relatedRelations": {"cities": True}}}
    made = city.insertOne({"doc": {"name": "x"}, "relations": relation, "projection": {"country": {"name": 1}}})
    assert made == {"_id": made["_id"], "country": {"name": "a"}}
    assert country.findOne({"projection": {"cities": 1, "_id": 0}}) == {"cities": [{"_id": made["_id"], "name": "x"}]}


@both_forms
def test_acts_registered_and_discovered(gw, country, form):
    kinds = gw.schemas
    validator = kinds.object(
        {
            "set": kinds.object({"countryId": kinds.objectIdValidation}),
            "get": kinds.selectStruct("country", 1),
        }
    )
    act = {
        "schema": "country",
        "actName": "getCountry",
        "validator": validator,
        "fn": len,
        "preAct": [],
        "preValidation": [],
        "validationRunType": "create",
        "public": True,
        "limit": "10/minute",
        "maxGetDepth": 2,
        "maxGetLeaves": 10,
        "maxReplyBytes": 1000,
        "returns": None,
        "mcp": True,
    }
    called(gw.acts.setAct, act, form)
    gw.acts.setService("other", "http://127.0.0.1:1/")
    gw.acts.setService("local", {"thing": {"doIt": {"validator": validator, "fn": len}}})
    found = gw.acts.getAct("main", "country", "getCountry")
    assert (found["fn"], found["validationRunType"]) == (len, "create")
    bounds = [found[name] for name in ("public", "limit", "maxGetDepth", "maxGetLeaves", "maxReplyBytes")]
    assert bounds == [True, ("10/minute",), 2, 10, 1000]
    assert gw.acts.getServiceKeys() == ["main", "other", "local"]
    assert gw.acts.getActsKeys("main", "country") == gw.acts.getActKeys("country") == ["getCountry"]
    assert gw.acts.getActs("country") == {"getCountry": found}
    assert gw.acts.getMainActs() == {"country": {"getCountry": found}}
    assert gw.acts.getMainAct("country", "getCountry") is found
    assert gw.acts.getService("other") == "http://127.0.0.1:1/"
    assert list(gw.acts.getAtcsWithServices()) == ["main", "other", "local"]
    assert gw.acts.getService("local")["thing"]["doIt"]["fn"] is len


def test_context_functions(gw):
    fns = gw.contextFns
    with fns.open():
        fns.addHeaderToContext({"Token": "t"})
        fns.addBodyToContext({"model": "x"})
        fns.addReqToContext("request")
        fns.addContext({"user": 1})
        context = fns.getContextModel()
        assert context.Headers["token"] == "t"
        assert context.body == {"model": "x"}
        assert context.user == 1
        fns.setContext({"only": 1})
        assert dict(fns.getContextModel()) == {"only": 1}
        fns.addContexts({"other": 2})
        assert dict(fns.getContextModel()) == {"other": 2}


def test_value_kinds_by_the_contracts_names(gw):
    kinds = gw.schemas
    shape = {
        "a": kinds.string(),
        "b": kinds.optional(kinds.number()),
        "c": kinds.defaulted(kinds.boolean(), True),
        "d": kinds.array(kinds.object({"feature": kinds.enums("x", "y")})),
        "e": kinds.objectIdValidation,
    }
    field = kinds.object(shape)
    value = {"a": "s", "d": [{"feature": "x"}], "e": "0" * 24}
    assert field.deserialize(value) == {**value, "c": True, "e": ObjectId("0" * 24)}


@both_forms
def test_run_server(monkeypatch, form):
    served = {}
    monkeypatch.setattr("gatewayfw.core.serve", lambda app, **options: served.update(options))
    gw = gateway()
    gw.odm.setDb(mongomock.MongoClient().test)
    options = {"port": 8001, "playground": False, "typeGeneration": False, "staticPath": [], "cors": "*"}
    called(gw.runServer, options, form)
    server_options = {"host": "127.0.0.1", "port": 8001, "workers": 2, "threads": 8, "server": "gunicorn"}
    assert served == {**server_options, "multi_process": False, "settings": gw.settings, "most_bytes": 1_048_576}


def test_generate_schem_types(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gw = gateway()
    written = [asyncio.run(gw.generateSchemTypes(*path)) for path in ([], ["types"], ["types"])]
    assert [list(map(str, paths)) for paths in written] == [["declarations/gateway.ts"], ["types/gateway.ts"], []]
