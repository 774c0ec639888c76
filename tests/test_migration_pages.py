"""The table of copies in docs/migration: what becomes of them in MongoEngine, and in gatewayfw."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gatewayfw import StillReferenced, gateway, string

PAGE = (Path(__file__).parent.parent / "docs" / "migration" / "index.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
WANTED = {"save": "2", "update": "3", "delete": "none"}
STEPS = list(WANTED)


def told(value, step):
    """What the page says of a copy after a step."""
    return value if value == WANTED[step] else f"{value}, stale"


@pytest.mark.mongo
def test_copies_of_mongoengine_are_as_the_page_says(mongod_uri, mongo_database):
    mongoengine = pytest.importorskip("mongoengine")
    name = mongo_database.name
    mongoengine.connect(name, host=mongod_uri, alias=name, uuidRepresentation="standard")
    try:

        class A(mongoengine.Document):
            tag = mongoengine.StringField()
            meta = {"db_alias": name}

        class B(mongoengine.Document):
            one = mongoengine.CachedReferenceField(A, fields=["tag"])
            many = mongoengine.ListField(mongoengine.CachedReferenceField(A, fields=["tag"]))
            meta = {"db_alias": name}

        def copies(step):
            stored = mongo_database.b.find_one()
            return told(stored["one"]["tag"], step), told(stored["many"][0]["tag"], step)

        a = A(tag="1").save()
        B(one=a, many=[a]).save()
        a.tag = "2"
        a.save()
        seen = [copies("save")]
        A.objects(id=a.id).update(set__tag="3")
        seen.append(copies("update"))
        a.delete()
        seen.append(copies("delete"))
    finally:
        mongoengine.disconnect(name)
    assert [(one, many) for _, one, many, _ in ROWS] == seen


def test_our_copies_are_as_the_page_says(database):
    odm = gateway().odm
    odm.set_db(database)
    a = odm.new_model("a", {"tag": string()})
    top = {"type": "multiple", "limit": 2, "sort": {"field": "tag", "order": "desc"}, "default": True}
    both = {
        "one": {"schemaName": "a", "type": "single", "relatedRelations": {"top": top}},
        "many": {"schemaName": "a", "type": "multiple"},
    }
    b = odm.new_model("b", {"tag": string()}, both)
    id_ = a.insert_one({"tag": "1"})["_id"]
    related = {"one": {"_ids": id_}, "many": {"_ids": [id_]}}
    holders = [b.insert_one({"tag": tag}, relations=related)["_id"] for tag in ("1", "2", "3")]

    def tags():
        stored = b.find_one({"_id": holders[0]})
        return {stored["one"]["tag"], stored["many"][0]["tag"]}

    def listed():
        return [copy["tag"] for copy in a.find_one({"_id": id_})["top"]]

    a.find_one_and_update({"_id": id_}, {"$set": {"tag": "2"}})
    assert (tags(), listed()) == ({"2"}, ["3", "2"])
    a.update_many({"_id": id_}, {"$set": {"tag": "3"}})
    b.find_one_and_update({"_id": holders[0]}, {"$set": {"tag": "4"}})
    assert (tags(), listed()) == ({"3"}, ["4", "3"])
    with pytest.raises(StillReferenced):
        a.delete_one({"_id": id_})
    assert [ours for *_, ours in ROWS] == ["2", "3", "refused"]
    assert a.delete_one({"_id": id_}, hard_cascade=True)["cascaded"] == {"b": 3}
