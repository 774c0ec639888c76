"""What one insert may cost: related documents are read once, and copies are counted before any is made."""

from __future__ import annotations

from collections import UserDict, UserList
from dataclasses import replace

import pytest
from bson import Decimal128, ObjectId

from gatewayfw.errors import Conflict, Timeout, TooLarge, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.odm.copies.counts import CopyCounts
from gatewayfw.odm.copies.jobs import Backlog, Jobs
from gatewayfw.odm.writing.updates import stored_update
from gatewayfw.odm.writing.writes import Writes
from gatewayfw.schemas import Schemas, optional, string
from gatewayfw.schemas.fields import decimal
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.odm.noted import note_commands
from tests.odm.towns import (
    ANN,
    ANN_COPY,
    BOB,
    BONN,
    BONN_COPY,
    LAND,
    LAND_COPY,
    LOCK,
    NEW,
    NEW_COPY,
    ROME,
    ROME_COPY,
    SEA,
    SEA_COPY,
    UNCUT,
    V,
    alone,
    members,
    related,
)

TAGS = [ObjectId(f"{number:024x}") for number in range(1, 5)]
REFUSED = "post: one insert may embed 6 copies of related documents, all of its documents together"


@pytest.fixture
def blog(storage):
    """Four tags, and posts of which one insert may embed 6 copies of tags and authors."""
    settings = Settings(insert_copies=6)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(storage)
    tag = odm.new_model("tag", {"name": string})
    relations = {
        "tags": {"schemaName": "tag", "type": "multiple", "optional": True},
        "main": {"schemaName": "tag", "type": "single", "optional": True},
    }
    odm.new_model("post", {"title": string}, relations)
    tag.insert_many([{"_id": id_, "name": str(number)} for number, id_ in enumerate(TAGS)])
    return odm


def posts(count):
    return [{"title": str(number)} for number in range(count)]


def shown(blog):
    """Return the ids of the tags of each post."""
    found = blog.model("post").find(projection={"tags": {"_id": 1}}).sort("_id")
    return [[tag["_id"] for tag in post.get("tags", [])] for post in found]


def test_as_many_copies_as_the_setting_says_are_embedded(blog):
    blog.model("post").insert_many(posts(3), relations={"tags": {"_ids": TAGS[:2]}})
    blog.model("post").insert_many(posts(2), relations=[{"tags": {"_ids": TAGS}}, {"tags": {"_ids": TAGS[:2]}}])
    assert shown(blog) == [TAGS[:2]] * 3 + [TAGS, TAGS[:2]]


@pytest.mark.parametrize(
    ("count", "relations"),
    [
        (4, {"tags": {"_ids": TAGS[:2]}}),
        (3, {"tags": {"_ids": TAGS[:2]}, "main": {"_ids": TAGS[0]}}),
        (2, [{"tags": {"_ids": TAGS}}, {"tags": {"_ids": TAGS[:3]}}]),
    ],
    ids=["one object", "two relations", "one for each"],
)
def test_more_copies_are_refused_before_any_document_is_judged(blog, count, relations):
    with pytest.raises(TooLarge) as refused:
        blog.model("post").insert_many([{"unknown": 1}] * count, relations=relations)
    assert (refused.value.message, shown(blog)) == (REFUSED, [])


def test_one_document_has_the_same_bound(storage):
    settings = Settings(insert_copies=3)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(storage)
    odm.new_model("tag", {})
    post = odm.new_model("post", {}, {"tags": {"schemaName": "tag", "type": "multiple", "optional": True}})
    with pytest.raises(TooLarge):
        post.insert_one({}, relations={"tags": {"_ids": TAGS}})


class Counted(UserDict):
    """An object that counts how often it is read."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()


def test_one_object_for_all_documents_is_read_once(blog):
    relations = Counted({"main": {"_ids": TAGS[0]}})
    blog.model("post").insert_many(posts(6), relations=relations)
    assert relations.reads == 1
    found = blog.model("post").find(projection={"_id": 0, "title": 1, "main": {"name": 1}})
    assert found.sort("title").to_list() == [{"title": str(n), "main": {"name": "0"}} for n in range(6)]


def test_reading_of_a_list_of_objects_ends_where_they_are_too_many(blog):
    relations = Counted({"tags": {"_ids": TAGS}})
    with pytest.raises(TooLarge):
        blog.model("post").insert_many(posts(100), relations=[relations] * 100)
    assert relations.reads == 2


def test_relations_of_no_documents_are_not_read(blog):
    assert blog.model("post").insert_many([], relations={"unknown": 1}) == []


class Late(UserList):
    """Documents of which the third is read after the deadline."""

    reads = 0

    def __iter__(self):
        for document in self.data:
            self.reads += 1
            if self.reads == 3:
                self.scope.end()
            yield document


def test_the_deadline_is_looked_at_between_two_documents(blog):
    docs = Late(posts(50))
    with blog.deadline(30) as docs.scope, pytest.raises(Timeout):
        blog.model("post").insert_many(docs)
    assert (docs.reads, shown(blog)) == (3, [])


def test_what_is_wrong_with_the_relations_is_told_once(blog):
    with pytest.raises(ValidationError) as refused:
        blog.model("post").insert_many(posts(3), relations={"tags": {"_ids": ["x"]}, "more": {}})
    assert refused.value.errors == {
        "relations.tags._ids": ["Not a valid id."],
        "relations.more": ["Unknown field."],
    }


def test_nothing_more_may_come_to_a_required_relation(blog):
    required = {"tags": {"schemaName": "tag", "type": "multiple", "optional": False}}
    note = blog.new_model("note", {}, required)
    made = note.insert_one({}, relations={"tags": {"_ids": TAGS[:1]}})
    assert note.add_relation({"_id": made["_id"]}, relations={"tags": {"_ids": []}}) == made
    with pytest.raises(Conflict, match="tags is required"):
        note.add_relation({"_id": made["_id"]}, relations={"tags": {"_ids": []}}, replace=True)
    assert note.find_one({}) == made


def test_only_what_may_have_been_there_before_begins_with_a_version(blog, storage):
    note = blog.new_model("note", {"text": string()})
    made = note.insert_one({"text": "new"})["_id"]
    note.insert_one({"_id": TAGS[0], "text": "chosen"})
    chosen, new = storage.find("note", {}, sort=[("_id", 1)])
    version = note.find_one({"_id": TAGS[0]}, projection={"_rev": 1})["_rev"]
    counted = {"rev": version} if storage.counts_locks() else {}
    assert new == {"_id": made, "text": "new"}
    assert chosen == {"_id": TAGS[0], "text": "chosen", "_gw": {"v": version, "r": version, **counted}}


@pytest.mark.parametrize(
    ("limit", "model", "id_", "left", "jobs"),
    [
        (3, "land", LAND, 0, 0),
        (2, "land", LAND, 1, 1),
        (0, "land", LAND, 0, 2),
        (9, "town", ROME, 7, 0),
        (1, "town", ROME, 0, 1),
        (9, "guest", BOB, 9, 0),
    ],
)
@pytest.mark.mongo
def test_an_update_spends_the_copies_and_windows_that_it_writes(towns, limit, model, id_, left, jobs):
    towns = towns()
    schema, known = towns.odm.schemas.get_schema(model), CopyCounts()
    change = stored_update(schema, {"$set": {"name": "new"}})

    def spend():
        backlog = Backlog(Jobs(towns.storage), limit)
        writes = Writes(towns.odm.schemas, towns.storage, backlog, known)
        towns.storage.transaction(lambda: writes.update(schema, {"_id": id_}, change, ["name"]))
        for relation, source, met in backlog.met:
            known.note(relation, source, met)
        return backlog.limit, len(backlog.keys)

    assert (spend(), spend()) == ((left, jobs), (left, jobs))


def test_all_ids_that_are_still_being_removed_are_named(storage):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage)
    tag = odm.new_model("tag", {"name": string})
    post = odm.new_model("post", {}, {"tags": {"schemaName": "tag", "type": "multiple", "optional": True}})
    tag.insert_many([{"_id": id_, "name": "old"} for id_ in TAGS])
    post.insert_one({}, relations={"tags": {"_ids": TAGS}})
    with odm.leave_to_jobs():
        for id_ in TAGS[:2]:
            tag.delete_one({"_id": id_}, hard_cascade=True)
        with pytest.raises(Conflict) as refused:
            tag.insert_many([{"_id": id_, "name": "new"} for id_ in (ObjectId(), TAGS[1], TAGS[0])])
    assert refused.value.message == f"tag is still being spread or removed: {TAGS[0]}, {TAGS[1]}"


@pytest.mark.mongo
def test_a_correction_reads_no_more_than_its_update(odm_on, mongo_database):
    odm = odm_on(mongo_database)
    shop = odm.new_model("shop", {"x": optional(decimal(places=2))})
    back = {"schemaName": "shop", "type": "single", "relatedRelations": {"offers": {"type": "multiple"}}}
    odm.new_model("offer", {}, {"shop": back})
    id_ = shop.insert_one({})["_id"]
    commands = note_commands(odm.storage)
    shop.find_one_and_update({"_id": id_}, {"$mul": {"x": 2}}, projection={"x": 1})
    updates = [command for command in commands if command[0] == "update_one"]
    assert updates == [
        ("update_one", "shop", {"_id": id_}, {"$mul": {"x": 2}, "$inc": {"_gw.v": 1, "_gw.r": 1}}, ["x", "_gw"]),
        ("update_one", "shop", {"_id": id_}, {"$set": {"x": Decimal128("0.00")}}, ["x", "_gw"]),
    ]


@pytest.mark.mongo
def test_without_transactions_copies_that_are_too_large_are_left_to_a_job(towns, monkeypatch):
    monkeypatch.setattr(MongoStorage, "has_transactions", lambda self: False)
    towns = towns()
    update_many = towns.storage.update_many

    def refuse(collection, *given, **keys):
        if collection == "town":
            raise TooLarge("x")
        return update_many(collection, *given, **keys)

    monkeypatch.setattr(towns.storage, "update_many", refuse)
    rename(towns.land, LAND, {"name": 1})
    assert ("update_one", "land", {"_id": LAND}, {"$set": {"_gw.v": V}}, ["_gw"]) in towns.commands
    assert towns.jobs() == [("copies", LAND, "town.land", V, ())]


@pytest.mark.mongo
def test_one_write_empties_one_relation_and_fills_another(towns):
    """Only windows of the first model are locked, and the second is read."""
    towns = towns()
    relations = {**related("visited", []), **related("home", BONN)}
    shown = towns.guest.add_relation({"_id": ANN}, relations=relations, replace=True)
    assert shown == {**ANN_COPY, "visited": [], "home": BONN_COPY}


# -- commands: no write reads or locks more than it needs

ALL = {"towns": True, "largest": True, "capital": True}
#: The update of a new name.
RENAMED = {"$set": {"name": "new"}, "$inc": {"_gw.v": 1, "_gw.r": 1}}


def rename(model, id_, projection=None):
    model.find_one_and_update({"_id": id_}, {"$set": {"name": "new"}}, projection=projection)


#: Writes, and the commands of each.
ROWS = {
    "insert into windows": (
        lambda towns: towns.town.insert_one({"name": "new"}, relations=related("land", LAND, **ALL)),
        [
            (
                "touch",
                "land",
                {
                    "_id": LAND,
                    "towns": {"$elemMatch": {"_id": {"$exists": True}}},
                    "towns._id": {"$nin": [NEW]},
                    "largest": {"$elemMatch": {"_id": {"$exists": True}}},
                    "largest._id": {"$nin": [NEW]},
                },
                ["_gw.v", "name"],
                {
                    "$push": {
                        "towns": {"$each": [NEW_COPY], "$sort": {"_id": -1}, "$slice": 3},
                        "largest": {"$each": [NEW_COPY], "$sort": {"size": -1, "_id": 1}, "$slice": 2},
                    },
                    "$set": {"capital": NEW_COPY},
                },
                {"lock": UNCUT},
            ),
            ("insert", "town", [{"_id": NEW, "name": "new", "land": LAND_COPY}]),
        ],
    ),
    "insert into empty windows": (
        lambda towns: towns.town.insert_one({"name": "new"}, relations=related("land", SEA, **ALL)),
        [
            (
                "touch",
                "land",
                {
                    "_id": SEA,
                    "towns": {"$elemMatch": {"_id": {"$exists": True}}},
                    "towns._id": {"$nin": [NEW]},
                    "largest": {"$elemMatch": {"_id": {"$exists": True}}},
                    "largest._id": {"$nin": [NEW]},
                },
                ["_gw.v", "name"],
                {
                    "$push": {
                        "towns": {"$each": [NEW_COPY], "$sort": {"_id": -1}, "$slice": 3},
                        "largest": {"$each": [NEW_COPY], "$sort": {"size": -1, "_id": 1}, "$slice": 2},
                    },
                    "$set": {"capital": NEW_COPY},
                },
                {"lock": UNCUT},
            ),
            (
                "touch",
                "land",
                {"_id": SEA},
                ["_gw.v", "name"],
                {"$set": {"towns": [NEW_COPY], "largest": [NEW_COPY]}},
                {"lock": UNCUT},
            ),
            ("insert", "town", [{"_id": NEW, "name": "new", "land": SEA_COPY}]),
            members("towns", SEA),
            members("largest", SEA),
            ("update_each", "land", [(SEA, {"$set": {"capital": NEW_COPY}})]),
        ],
    ),
    "insert of a chosen id": (
        lambda towns: towns.land.insert_one({"_id": NEW, "name": "new"}),
        [
            ("find", "deed", {"of._id": {"$in": [NEW]}}, ["of._id"], {"limit": 1}),
            ("insert", "land", [{"_id": NEW, "name": "new", "_gw": {"v": V, "rev": V, "r": V}}]),
        ],
    ),
    "insert of a chosen id into a window": (
        lambda towns: towns.town.insert_one({"_id": NEW, "name": "new"}, relations=related("land", LAND, towns=True)),
        [
            ("touch", "land", {"_id": LAND}, ["_gw.v", "name"], {"lock": UNCUT}),
            (
                "insert",
                "town",
                [
                    {
                        "_id": NEW,
                        "name": "new",
                        "land": LAND_COPY,
                        "_gw": {"v": V, "out": {"land": {"largest": [LAND]}}, "rev": V, "r": V},
                    }
                ],
            ),
            members("towns", LAND),
            ("update_each", "land", [(LAND, {"$set": {"towns": [NEW_COPY, BONN_COPY, ROME_COPY]}})]),
        ],
    ),
    "insert with sources in two models": (
        lambda towns: towns.guest.insert_one(
            {"name": "new"}, relations={**related("visited", [LAND, SEA], guests=True), **related("home", ROME)}
        ),
        [
            ("touch_many", "land", [LAND, SEA], {"lock": UNCUT}),
            ("find", "land", {"_id": {"$in": [LAND, SEA]}}, ["_gw.v", "name"]),
            ("touch", "town", {"_id": ROME}, ["_gw.v", "name", "size"], {"lock": UNCUT}),
            (
                "insert",
                "guest",
                [{"_id": NEW, "name": "new", "visited": [LAND_COPY, SEA_COPY], "home": ROME_COPY, "_gw": {"rev": 0}}],
            ),
            members("guests", LAND),
            members("guests", SEA),
            (
                "update_each",
                "land",
                [(LAND, {"$set": {"guests": [NEW_COPY]}}), (SEA, {"$set": {"guests": [NEW_COPY]}})],
            ),
        ],
    ),
    "insert of two with one source": (
        lambda towns: towns.deed.insert_many([{}, {"_id": BOB}], relations=related("of", LAND)),
        [
            ("touch", "land", {"_id": LAND}, ["_gw.v", "name"], {"lock": replace(UNCUT, step=2)}),
            (
                "insert",
                "deed",
                [{"_id": NEW, "of": LAND_COPY}, {"_id": BOB, "of": LAND_COPY, "_gw": {"v": V, "rev": V, "r": V}}],
            ),
        ],
    ),
    "update that shows a field": (
        lambda towns: rename(towns.land, LAND, {"name": 1}),
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            ("count", "town", {"land._id": LAND}, 4),
            ("count", "guest", {"visited._id": LAND}, 4),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 1, "land.name": "new"}, "$unset": {"land.code": ""}},
                {"most_bytes": None},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 1, "visited.$": {"_id": LAND, "name": "new"}}},
                {"most_bytes": None},
            ),
        ],
    ),
    "update that shows a window": (
        lambda towns: rename(towns.land, LAND, {"towns": {"name": 1}}),
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw", "towns"]),
            ("count", "town", {"land._id": LAND}, 4),
            ("count", "guest", {"visited._id": LAND}, 4),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 1, "land.name": "new"}, "$unset": {"land.code": ""}},
                {"most_bytes": None},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 1, "visited.$": {"_id": LAND, "name": "new"}}},
                {"most_bytes": None},
            ),
        ],
    ),
    "the same update again": (
        lambda towns: [rename(towns.land, LAND, {"name": 1}) for _ in range(2)],
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            ("count", "town", {"land._id": LAND}, 4),
            ("count", "guest", {"visited._id": LAND}, 4),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 1, "land.name": "new"}, "$unset": {"land.code": ""}},
                {"most_bytes": None},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 1, "visited.$": {"_id": LAND, "name": "new"}}},
                {"most_bytes": None},
            ),
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            (
                "update_many",
                "town",
                alone("land", LAND),
                {"$set": {f"_gw.at.land.{LAND}": 2, "land.name": "new"}, "$unset": {"land.code": ""}},
                {"most_bytes": None},
            ),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": 2, "visited.$": {"_id": LAND, "name": "new"}}},
                {"most_bytes": None},
            ),
        ],
    ),
    "update of a member": (
        lambda towns: rename(towns.town, ROME),
        [
            ("update_one", "town", {"_id": ROME}, RENAMED, None),
            ("count", "guest", {"home._id": ROME}, 4),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    (
                        {"_id": {"$in": [LAND]}, "towns": {"$elemMatch": {"_id": ROME}}},
                        {"$set": {"towns.$": {"_id": ROME, "name": "new", "size": 5}}},
                    ),
                    (
                        {"_id": {"$in": [LAND]}, "largest": {"$elemMatch": {"_id": ROME}}},
                        {"$set": {"largest.$": {"_id": ROME, "name": "new", "size": 5}}},
                    ),
                    (
                        {"_id": {"$in": [LAND]}, **alone("capital", ROME)},
                        {"$set": {"capital": {"_id": ROME, "name": "new", "size": 5}}},
                    ),
                ],
                {"lock": UNCUT},
            ),
            (
                "update_many",
                "guest",
                alone("home", ROME),
                {"$set": {f"_gw.at.home.{ROME}": 1, "home.name": "new", "home.size": 5}},
                {"most_bytes": None},
            ),
        ],
    ),
    "update of what sorts a window": (
        lambda towns: towns.town.find_one_and_update({"_id": ROME}, {"$inc": {"size": 2}}),
        [
            ("update_one", "town", {"_id": ROME}, {"$inc": {"size": 2, "_gw.v": 1, "_gw.r": 1}}, None),
            ("count", "guest", {"home._id": ROME}, 4),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    (
                        {"_id": {"$in": [LAND]}, "towns": {"$elemMatch": {"_id": ROME}}},
                        {"$set": {"towns.$": {"_id": ROME, "name": "rome", "size": 7}}},
                    ),
                    (
                        {"_id": {"$in": [LAND]}, **alone("capital", ROME)},
                        {"$set": {"capital": {"_id": ROME, "name": "rome", "size": 7}}},
                    ),
                ],
                {"lock": UNCUT},
            ),
            (
                "update_many",
                "guest",
                alone("home", ROME),
                {"$set": {f"_gw.at.home.{ROME}": 1, "home.name": "rome", "home.size": 7}},
                {"most_bytes": None},
            ),
            members("largest", LAND),
            (
                "update_each",
                "land",
                [(LAND, {"$set": {"largest": [{"_id": ROME, "name": "rome", "size": 7}, BONN_COPY]}})],
            ),
        ],
    ),
    "update of what no copy has": (
        lambda towns: towns.land.find_one_and_update({"_id": LAND}, {"$set": {"code": "x"}}, projection={"_id": 1}),
        [
            (
                "update_one",
                "land",
                {"_id": LAND},
                {"$set": {"code": "x"}, "$inc": {"_gw.v": 1, "_gw.r": 1}},
                ["name", "code", "_gw"],
            )
        ],
    ),
    "adding one": (
        lambda towns: towns.guest.add_relation({"_id": ANN}, relations=related("visited", [SEA], guests=True)),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            (
                "touch",
                "land",
                {"_id": SEA, "guests": {"$elemMatch": {"_id": {"$exists": True}}}, "guests._id": {"$nin": [ANN]}},
                ["_gw.v", "name"],
                {"$push": {"guests": {"$each": [ANN_COPY], "$sort": {"_id": -1}, "$slice": 2}}},
                {"lock": UNCUT},
            ),
            ("touch", "land", {"_id": SEA}, ["_gw.v", "name"], {"$set": {"guests": [ANN_COPY]}}, {"lock": UNCUT}),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$set": {"visited": [LAND_COPY, SEA_COPY]}, "$inc": {"_gw.r": 1}},
                None,
            ),
            members("guests", SEA),
        ],
    ),
    "adding two, of which one is there": (
        lambda towns: towns.guest.add_relation({"_id": ANN}, relations=related("visited", [LAND, SEA], guests=True)),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            ("touch_many", "land", [LAND, SEA], {"lock": UNCUT}),
            ("find", "land", {"_id": {"$in": [LAND, SEA]}}, ["_gw.v", "name"]),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$set": {"visited": [LAND_COPY, SEA_COPY]}, "$unset": {"_gw.out": ""}, "$inc": {"_gw.r": 1}},
                None,
            ),
            members("guests", LAND),
            members("guests", SEA),
            (
                "update_each",
                "land",
                [(LAND, {"$set": {"guests": [ANN_COPY]}}), (SEA, {"$set": {"guests": [ANN_COPY]}})],
            ),
        ],
    ),
    "replacing": (
        lambda towns: towns.guest.add_relation({"_id": ANN}, relations=related("visited", [SEA]), replace=True),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            ("touch_many", "land", [LAND, SEA], {"lock": UNCUT}),
            ("find", "land", {"_id": {"$in": [SEA]}}, ["_gw.v", "name"]),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$set": {"visited": [SEA_COPY], "_gw.out": {"visited": {"guests": [SEA]}}}, "$inc": {"_gw.r": 1}},
                None,
            ),
            members("guests", LAND),
            ("update_each", "land", [(LAND, {"$unset": {"guests": ""}})]),
        ],
    ),
    "replacing what has single reverses": (
        lambda towns: towns.town.add_relation(
            {"_id": ROME}, relations=related("land", SEA, capital=True), replace=True
        ),
        [
            ("touch", "town", {"_id": ROME}, ["name", "size", "land", "_gw"], {"lock": LOCK}),
            ("touch_many", "land", [LAND, SEA], {"lock": UNCUT}),
            ("find", "land", {"_id": {"$in": [SEA]}}, ["_gw.v", "name"]),
            (
                "update_one",
                "town",
                {"_id": ROME},
                {
                    "$set": {"land": SEA_COPY, "_gw.out": {"land": {"towns": [SEA], "largest": [SEA]}}},
                    "$inc": {"_gw.r": 1},
                },
                None,
            ),
            ("update_many", "land", {"_id": {"$in": [LAND]}, **alone("capital", ROME)}, {"$unset": {"capital": ""}}),
            members("towns", LAND),
            members("largest", LAND),
            (
                "update_each",
                "land",
                [
                    (LAND, {"$set": {"towns": [BONN_COPY], "largest": [BONN_COPY]}}),
                    (SEA, {"$set": {"capital": ROME_COPY}}),
                ],
            ),
        ],
    ),
    "removing": (
        lambda towns: towns.guest.remove_relation({"_id": ANN}, relations=related("visited", [LAND])),
        [
            ("touch", "guest", {"_id": ANN}, ["name", "visited", "_gw"], {"lock": LOCK}),
            ("touch_many", "land", [LAND], (), {"lock": UNCUT}),
            (
                "update_one",
                "guest",
                {"_id": ANN},
                {"$unset": {"visited": "", "_gw.out": ""}, "$inc": {"_gw.r": 1}},
                None,
            ),
            members("guests", LAND),
            ("update_each", "land", [(LAND, {"$unset": {"guests": ""}})]),
        ],
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", ROWS)
def test_a_write_asks_for_no_more_than_it_needs(towns, row):
    write, commands = ROWS[row]
    towns = towns()
    write(towns)
    assert (towns.commands, towns.jobs()) == (commands, [])


#: What is left where a transaction may write so many copies: the update, the commands, and the jobs.
LEFT = {
    "copies of the larger relation": (
        1,
        lambda towns: rename(towns.land, LAND, {"name": 1}),
        [
            ("update_one", "land", {"_id": LAND}, RENAMED, ["name", "code", "_gw"]),
            ("count", "town", {"land._id": LAND}, 2),
            ("count", "guest", {"visited._id": LAND}, 2),
            ("update_one", "land", {"_id": LAND}, {"$set": {"_gw.v": V}}, ["name", "code", "_gw"]),
            (
                "update_many",
                "guest",
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"$set": {f"_gw.at.visited.{LAND}": V, "visited.$": {"_id": LAND, "name": "new"}}},
                {"most_bytes": None},
            ),
        ],
        [("copies", LAND, "town.land", V, ())],
    ),
    "windows within the limit": (
        1,
        lambda towns: rename(towns.guest, ANN),
        [
            ("update_one", "guest", {"_id": ANN}, RENAMED, None),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    (
                        {"_id": {"$in": [LAND]}, "guests": {"$elemMatch": {"_id": ANN}}},
                        {"$set": {"guests.$": {"_id": ANN, "name": "new"}}},
                    )
                ],
                {"lock": UNCUT},
            ),
        ],
        [],
    ),
    "all": (
        0,
        lambda towns: rename(towns.town, ROME),
        [
            ("update_one", "town", {"_id": ROME}, RENAMED, None),
            ("count", "guest", {"home._id": ROME}, 1),
            ("update_one", "town", {"_id": ROME}, {"$set": {"_gw.v": V}}, None),
        ],
        [("copies", ROME, "guest.home", V, ()), ("windows", ROME, "town.land", V, (LAND,))],
    ),
}


@pytest.mark.mongo
@pytest.mark.parametrize("row", LEFT)
def test_a_write_leaves_to_jobs_what_is_beyond_the_limit(towns, row):
    limit, write, commands, jobs = LEFT[row]
    towns = towns(limit)
    write(towns)
    assert (towns.commands, towns.jobs()) == (commands, jobs)
