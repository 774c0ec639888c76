"""Documents hold what Python has of each value, wherever they come from; on both adapters."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from uuid import UUID

import mongomock
import pytest
from bson import Binary, Decimal128
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions
from marshmallow import INCLUDE, Schema
from marshmallow import fields as mm

from gatewayfw.schemas import Schemas, array, binary, compile_struct, date, decimal, mapping, nullable, optional, uuid
from gatewayfw.settings import Settings
from gatewayfw.web.reply import success
from tests.conftest import DATABASES

TEXT, OTHER = "01234567-89ab-cdef-0123-456789abcdef", "ffffffff-89ab-cdef-0123-456789abcdef"


class Part(Schema):
    """A Schema with values that JSON does not have."""

    price = mm.Decimal()
    ids = mm.List(mm.UUID())


FIELDS = {
    "x": decimal(places=2),
    "id": uuid(),
    "data": binary(),
    "day": date(),
    "prices": array(decimal(places=1)),
    "by": mapping({"id": uuid(), "x": nullable(decimal(places=0))}),
    "d": mm.Decimal(),
    "u": mm.UUID(),
    "at": mm.DateTime(),
    "ds": mm.List(mm.Decimal()),
    "us": mm.Dict(values=mm.UUID()),
    "part": mm.Nested(Part),
    "parts": mm.List(mm.Nested(Part(unknown=INCLUDE))),
    "raw": optional(mm.Raw()),
}
SENT = {
    "x": "12.50",
    "id": TEXT.upper(),
    "data": "AP8=",
    "day": "2026-11-22",
    "prices": ["1.5", "2.0"],
    "by": {"a": {"id": TEXT, "x": None}, "b": {"id": OTHER, "x": "7"}},
    "d": "1.10",
    "u": TEXT,
    "at": "2026-11-22T10:00:00.005",
    "ds": ["0.1", "20"],
    "us": {"a": OTHER},
    "part": {"price": "3.30", "ids": [TEXT]},
    "parts": [{"price": "4", "ids": [], "more": ["5"]}],
    "raw": {"a": [1]},
}
LOADED = {
    "x": Decimal("12.50"),
    "id": UUID(TEXT),
    "data": b"\x00\xff",
    "day": datetime(2026, 11, 22),
    "prices": [Decimal("1.5"), Decimal("2.0")],
    "by": {"a": {"id": UUID(TEXT), "x": None}, "b": {"id": UUID(OTHER), "x": Decimal(7)}},
    "d": Decimal("1.10"),
    "u": UUID(TEXT),
    "at": datetime(2026, 11, 22, 10, 0, 0, 5000),
    "ds": [Decimal("0.1"), Decimal(20)],
    "us": {"a": UUID(OTHER)},
    "part": {"price": Decimal("3.30"), "ids": [UUID(TEXT)]},
    "parts": [{"price": Decimal(4), "ids": [], "more": ["5"]}],
    "raw": {"a": [1]},
}
#: What a client is shown of them.
SHOWN = {
    **SENT,
    "id": TEXT,
    "day": "2026-11-22T00:00:00.000Z",
    "at": "2026-11-22T10:00:00.005Z",
}


@pytest.fixture(params=[*DATABASES, pytest.param("mongo with UUIDs", marks=pytest.mark.mongo)])
def odm(request, odm_on):
    """An Odm on an empty database; on MongoDB also where the driver gives UUIDs as such."""
    if request.param == "mongomock":
        return odm_on(mongomock.MongoClient().test)
    database = request.getfixturevalue("mongo_database")
    options = CodecOptions(uuid_representation=UuidRepresentation.STANDARD)
    return odm_on(database if request.param == "mongo" else database.with_options(options))


@pytest.fixture
def models(odm):
    """Two models of all these values; each document of one embeds one of the other and is listed there."""
    window = {"type": "multiple", "limit": 2, "sort": {"field": "x", "order": "desc"}}
    last = {"type": "single"}
    reverse = {"relatedRelations": {"dearest": window, "last": last}}
    maker = odm.new_model("maker", FIELDS)
    thing = odm.new_model("thing", FIELDS, {"of": {"schemaName": "maker", "type": "single", **reverse}})
    return maker, thing


def related(id_):
    """The relation input of a thing that its maker lists."""
    return {"of": {"_ids": id_, "relatedRelations": {"dearest": True, "last": True}}}


def typed(value):
    """A value with the type of each part, so that 1 is not 1.0, and not a Binary what only equals it."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else (type(value), str(value))


def is_loaded(document, expected=LOADED):
    """Whether a document has just these values beside its `_id`."""
    own = {name: value for name, value in document.items() if name in FIELDS}
    return typed(own) == typed(expected)


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_what_an_act_gets_goes_into_a_model_and_comes_back_loaded(models, mode):
    maker, _ = models
    struct = compile_struct({"set": FIELDS, "get": {}}, Schemas(Settings()))
    got = struct.check({"set": SENT, "get": {}}, mode)["set"]
    assert typed(got) == typed({"assert": SENT, "create": LOADED}[mode])
    made = maker.insert_one(got)
    found = maker.find_one({"_id": made["_id"]})
    assert is_loaded(made)
    assert is_loaded(found)
    assert is_loaded(maker.find_one_and_update({"_id": made["_id"]}, {"$set": got}))
    assert is_loaded(maker.find_one_and_update({"_id": made["_id"]}, {"$set": {}}))
    assert [is_loaded(one) for one in maker.insert_many([got, {name: found[name] for name in FIELDS}])] == [True] * 2
    assert [is_loaded(one) for one in maker.find()] == [True] * 3
    for name in FIELDS:
        assert [maker.count({name: form[name]}) for form in (got, found)] == [3, 3], name
    assert json.loads(success(maker.find({"_id": made["_id"]}, projection={**dict.fromkeys(FIELDS, 1), "_id": 0}))) == {
        "body": [SHOWN],
        "success": True,
    }


def test_copies_windows_and_what_lies_below_are_loaded(models, odm):
    maker, thing = models
    of = maker.insert_one(SENT, projection={"_id": 1})["_id"]
    made = thing.insert_one(LOADED, relations=related(of))
    assert is_loaded(made)
    assert is_loaded(made["of"])
    link = {**dict.fromkeys(FIELDS, 1), "of": {**dict.fromkeys(FIELDS, 1), "last": dict.fromkeys(FIELDS, 1)}}
    found = maker.find_one({"_id": of}, projection={"dearest": link, "last": 1, "x": 1})
    assert typed(found["x"]) == (Decimal, "12.50")
    (listed,) = found["dearest"]
    for document in (found["last"], listed, listed["of"], listed["of"]["last"]):
        assert is_loaded(document)
    changed = {**LOADED, "x": Decimal("13.00"), "u": UUID(OTHER)}
    update = {"$set": {"u": UUID(OTHER)}, "$inc": {"x": "0.50"}}
    assert is_loaded(maker.find_one_and_update({"_id": of}, update), changed)
    assert is_loaded(thing.find_one({"x": LOADED["x"]})["of"], changed)
    assert is_loaded(thing.add_relation({"_id": made["_id"]}, relations=related(of), replace=True)["of"], changed)
    assert is_loaded(next(iter(maker.find())), changed)
    assert list(odm.integrity.check()) == []


def test_copies_are_compared_as_they_are_stored(models, odm):
    maker, thing = models
    of = maker.insert_one(SENT, projection={"_id": 1})["_id"]
    made = [thing.insert_one({**LOADED, "x": x}, relations=related(of))["_id"] for x in ("1.00", "3.00", "2.00")]
    with odm.leave_to_jobs():
        maker.find_one_and_update({"_id": of}, {"$set": {"d": "1.1", "us": {"b": TEXT}}})
        assert thing.find_one({"_id": made[0]})["of"]["us"] == LOADED["us"]
    changed = {**LOADED, "d": Decimal("1.1"), "us": {"b": UUID(TEXT)}}
    assert [is_loaded(one["of"], changed) for one in thing.find()] == [True] * 3
    assert [one["x"] for one in maker.find_one({"_id": of})["dearest"]] == [Decimal("3.00"), Decimal("2.00")]
    assert list(odm.integrity.check()) == []
    storage = odm.storage
    storage.update_many("thing", {"_id": made[0]}, {"$set": {"of.d": Decimal128("1.2")}})
    assert [(one.model, one.path) for one in odm.integrity.check()] == [("thing", f"of.{of}")]
    assert [one.state for one in odm.integrity.repair()] == ["mended"]
    assert list(odm.integrity.check()) == []
    assert is_loaded(thing.find_one({"_id": made[0]})["of"], changed)


def test_an_aggregate_is_raw(models):
    maker, _ = models
    maker.insert_one(SENT)
    (found,) = maker.aggregate([{"$match": {}}])
    assert (found["x"], found["prices"]) == (Decimal128("12.50"), [Decimal128("1.5"), Decimal128("2.0")])


def test_what_other_tools_stored_is_loaded_too(odm):
    thing = odm.new_model("thing", {"x": decimal(places=2), "id": uuid(), "data": binary(), "raw": mm.Raw()})
    storage = odm.storage
    odd = {"x": Decimal128("1E+3"), "id": Binary(b"x" * 16, 4), "data": Binary(b"x"), "raw": [Decimal128("NaN")]}
    storage.insert("thing", [{"_id": 1, **odd}, {"_id": 2, "x": 1.5, "id": "x", "data": Binary(b"x", 5), "raw": None}])
    first, second = thing.find(projection={**dict.fromkeys(odd, 1), "_id": 0}).sort("_id")
    assert typed(first) == typed(
        {"x": Decimal("1E+3"), "id": UUID(bytes=b"x" * 16), "data": b"x", "raw": [Decimal("NaN")]}
    )
    assert second == {"x": 1.5, "id": "x", "data": Binary(b"x", 5), "raw": None}
    body = b'{"x":"1000","id":"78787878-7878-7878-7878-787878787878","data":"eA==","raw":["NaN"]}'
    assert success(first) == success(odd) == b'{"body":' + body + b',"success":true}'


def test_lists_are_ordered_by_decimals_and_uuids(odm):
    window = {"type": "multiple", "limit": 2, "sort": {"field": "u", "order": "desc"}}
    thing = odm.new_model("thing", {"x": mm.Decimal()})
    things = {"schemaName": "thing", "type": "multiple", "sort": {"field": "x", "order": "asc"}}
    box = odm.new_model("box", {"u": mm.UUID()}, {"things": {**things, "relatedRelations": {"boxes": window}}})
    ids = [thing.insert_one({"x": x})["_id"] for x in ("9.5", "10", "-1")]
    for number in (1, 300, 2):
        box.insert_one(
            {"u": UUID(int=number)}, relations={"things": {"_ids": ids, "relatedRelations": {"boxes": True}}}
        )
    assert [one["x"] for one in box.find_one()["things"]] == [Decimal("-1"), Decimal("9.5"), Decimal(10)]
    assert [one["u"] for one in thing.find_one()["boxes"]] == [UUID(int=300), UUID(int=2)]
    assert list(odm.integrity.check()) == []
