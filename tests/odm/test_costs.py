"""What windows cost: documents that MongoDB examines, and windows that are read, whatever their size."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from bson import ObjectId
from pymongo import MongoClient

from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, integer, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.odm.commands import Commands
from tests.odm.oracle import check

pytestmark = pytest.mark.mongo
ORDERS = [("_id", "desc"), ("_id", "asc"), ("price", "desc"), ("price", "asc")]
TYPES = ["single", "multiple"]


class Shop:
    """A shop whose window lists its first items, by one relation and in one order."""

    def __init__(self, database, type="single", limit=3, field="_id", order="desc"):
        self.database = database
        self.odm = Odm(Schemas(Settings()), Settings(fan_out_thread=False))
        self.odm.set_db(MongoStorage(database))
        self.shop = self.odm.new_model("shop", {"name": string()})
        listed = {"type": "multiple", "limit": limit, "sort": {"field": field, "order": order}}
        relation = {"schemaName": "shop", "type": type, "optional": True, "relatedRelations": {"items": listed}}
        self.item = self.odm.new_model("item", {"price": integer()}, {"shop": relation})
        self.single = type == "single"
        self.id = self.add_shop()

    def add_shop(self):
        return self.shop.insert_one({"name": "shop"})["_id"]

    def related(self, *shops, listed=True):
        ids = (shops or (self.id,))[0] if self.single else list(shops or (self.id,))
        return {"shop": {"_ids": ids, "relatedRelations": {"items": listed}}}

    def add(self, prices, listed=True):
        """Insert items of these prices; return their ids."""
        docs = [{"price": price} for price in prices]
        found = self.item.insert_many(docs, relations=self.related(listed=listed), projection={"_id": 1})
        return [one["_id"] for one in found]

    def listed(self):
        return [one["_id"] for one in self.database.shop.find_one({"_id": self.id}).get("items", [])]

    @contextmanager
    def examined(self):
        """Give a list that has, at the end, the numbers of documents examined by command."""
        noted = []
        self.database.command("profile", 2)
        try:
            yield noted
        finally:
            self.database.command("profile", 0)
            told = self.database["system.profile"].find({"docsExamined": {"$exists": True}})
            noted += [one["docsExamined"] for one in told if not one["ns"].endswith("system.profile")]
            self.database["system.profile"].drop()


@pytest.mark.parametrize("out", [10, 200])
@pytest.mark.parametrize(("field", "order"), ORDERS)
@pytest.mark.parametrize("type", TYPES)
def test_a_window_refills_without_a_look_at_those_who_opted_out(mongo_database, type, field, order, out):
    shop = Shop(mongo_database, type, field=field, order=order)
    first, *_others = shop.add(range(100, 106))
    shop.add([n * 50 for n in range(out)], listed=False)
    if type == "multiple":
        other = shop.add_shop()
        shop.item.add_relation({"_id": first}, relations=shop.related(other, listed=False))
        shops, hidden = [{"_id": shop.id}, {"_id": other}], {"some": {"shop": {"items": True}}}
        hidden["in"] = {"shop": {"items": [other]}}  # in the window of the other shop alone
        docs = [{"price": n * 50, "shop": shops, "_gw": hidden} for n in range(out)]
        mongo_database.item.insert_many(docs)
    gone = shop.listed()[1]
    with shop.examined() as examined:
        shop.item.delete_one({"_id": gone})
    assert len(shop.listed()) == 3
    lock, shop_lock, deletion, window, update = examined
    assert (lock, shop_lock, deletion, update) == (1, 1, 1, 1)
    assert window in ((3,) if type == "single" else (3, 4))  # of two indexes, what is next in each is compared


def test_notes_of_an_earlier_version_are_right_and_quick_once_they_are_rewritten(mongo_database):
    shop = Shop(mongo_database, "multiple")
    other = shop.add_shop()
    docs = [
        {"price": n, "shop": [{"_id": shop.id}, {"_id": other}], "_gw": {"out": {"shop": {"items": [shop.id]}}}}
        for n in range(50)
    ]
    mongo_database.item.insert_many(docs)
    ids = shop.add(range(6))
    mongo_database.item.insert_many([{**one, "_id": ObjectId()} for one in docs])
    shop.item.delete_one({"_id": ids[5]})
    assert shop.listed() == ids[4:1:-1]
    rewrite_opt_outs(mongo_database.item, "shop", "items")
    with shop.examined() as examined:
        shop.item.delete_one({"_id": ids[4]})
    assert (shop.listed(), max(examined)) == (ids[3:0:-1], 3)
    shop.item.delete_one({"_id": shop.item.insert_one({"price": 1}, relations=shop.related(other))["_id"]})
    assert len(mongo_database.shop.find_one({"_id": other})["items"]) == 3


def rewrite_opt_outs(items, relation, reverse):
    """Run the update of the page about upgrading."""
    out, some, listed = (f"_gw.{part}.{relation}.{reverse}" for part in ("out", "some", "in"))
    others = {"$setDifference": [f"${relation}._id", f"${out}"]}
    items.update_many({out: {"$exists": True}}, [{"$set": {some: True, listed: others}}, {"$unset": out}])


@pytest.mark.parametrize("limit", [5, 50])
def test_who_is_in_no_window_leaves_it_at_the_same_cost(mongo_database, limit):
    shop = Shop(mongo_database, limit=limit)
    first, *_rest = shop.add(range(limit + 5))
    before = shop.listed()
    with shop.examined() as examined:
        shop.item.delete_one({"_id": first})
    assert examined == [1, 1, 1, 1]  # to lock the item, to ask the shop, to lock it, to delete the item
    assert shop.listed() == before


LEAVING = {
    "deleted": lambda shop, item: shop.item.delete_one({"_id": item}),
    "moved": lambda shop, item: shop.item.add_relation(
        {"_id": item}, relations=shop.related(shop.add_shop(), listed=False), replace=True
    ),
    "removed": lambda shop, item: shop.item.remove_relation({"_id": item}, relations=shop.related()),
    "opting out": lambda shop, item: shop.item.add_relation(
        {"_id": item}, relations=shop.related(listed=False), replace=True
    ),
}


@pytest.mark.parametrize("way", LEAVING)
@pytest.mark.parametrize("type", TYPES)
def test_however_a_member_leaves_only_a_window_that_lists_it_is_read(mongo_database, asked, type, way):
    shop = Shop(mongo_database, type)
    ids = shop.add(range(6))
    found = asked("find", of=shop.odm.storage)
    for leaving, listed, reads in ((ids[0], ids[:2:-1], 0), (ids[5], ids[4:1:-1], 1)):
        LEAVING[way](shop, leaving)
        assert shop.listed() == listed
        assert [named["limit"] for _, (model, *_), named in found if model == "item" and named.get("sort")] == [
            3
        ] * reads


def test_who_opted_out_leaves_without_a_lock(mongo_database, asked):
    shop = Shop(mongo_database)
    (item,) = shop.add([1], listed=False)
    found = asked("touch", "touch_many", of=shop.odm.storage)
    shop.item.delete_one({"_id": item})
    assert [model for _, (model, *_), _ in found] == ["item"]


MANY = {
    "deleted": lambda shop, ids: shop.item.delete_many({"_id": {"$in": ids}}),
    "moved in the window": lambda shop, ids: shop.item.update_many({"_id": {"$in": ids}}, {"$inc": {"price": 9}}),
    "deleted with the rest": lambda shop, ids: shop.item.delete_many({"_id": {"$in": ids}}, hard_cascade=True),
}


@pytest.mark.parametrize("way", MANY)
@pytest.mark.parametrize("type", TYPES)
def test_many_members_cost_one_window_and_one_lock_for_each_transaction(mongo_database, asked, type, way):
    shop = Shop(mongo_database, type, field="price")
    shop.add(range(10))
    ids = shop.add(range(10, 18))
    noted = asked("find", "touch", "touch_many", "update_each", of=shop.odm.storage)
    MANY[way](shop, ids)
    windows = [
        name
        for name, (model, *_), named in noted
        if model == "item" and named.get("sort") == (("price", -1), ("_id", 1))
    ]
    assert len(windows) == 1
    assert [name for name, (model, *_), _ in noted if model == "shop" and name.startswith("touch")] == ["touch_many"]
    assert [name for name, (model, *_), _ in noted if model == "shop" and name == "update_each"] == ["update_each"]
    stored = list(mongo_database.item.find({}, {"_id": 1}).sort([("price", -1), ("_id", 1)]).limit(3))
    assert shop.listed() == [one["_id"] for one in stored]


@pytest.fixture
def crowd(mongod_uri, mongo_database):
    """A shop whose window of 40 long items fills more than half of its share, the commands, and the ids of all 60."""
    listener = Commands()
    with MongoClient(mongod_uri, event_listeners=[listener]) as client:
        settings = Settings(windows_bytes=64 * 1024)
        odm = Odm(Schemas(settings), settings)
        odm.set_db(MongoStorage(client[mongo_database.name]))
        shop = odm.new_model("shop", {"name": string()})
        listed = {"type": "multiple", "limit": 40, "sort": {"field": "price", "order": "asc"}}
        relation = {"schemaName": "shop", "type": "single", "relatedRelations": {"items": listed}}
        odm.new_model("item", {"price": integer(), "text": string(size=(0, 2_000))}, {"shop": relation})
        id_ = shop.insert_one({"name": "shop"})["_id"]
        docs = [{"price": number, "text": "x" * 1_000} for number in range(60)]
        related = {"shop": {"_ids": id_, "relatedRelations": {"items": True}}}
        ids = [one["_id"] for one in odm.model("item").insert_many(docs, relations=related)]
        assert mongo_database.shop.find_one()["_gw"]["cut"] == {"items": None}
        yield odm, listener, ids
        assert check(odm.schemas, odm.storage) == []
        assert list(odm.integrity.check()) == []


@pytest.mark.parametrize(("member", "most"), [(0, 7), (39, 7), (40, 8), (59, 8)])
def test_a_crowded_window_is_not_read_for_a_member_that_keeps_its_place(crowd, member, most):
    odm, commands, ids = crowd
    commands.names.clear()
    commands.bytes = 0
    odm.model("item").find_one_and_update({"_id": ids[member]}, {"$set": {"text": "y" * 1_500}})
    assert len(commands.names) == most
    assert commands.bytes < 16_000  # the window has 40,000


def test_a_crowded_window_that_gets_too_large_is_cut(crowd, mongo_database):
    odm, _commands, ids = crowd
    for id_ in ids[:40]:
        odm.model("item").find_one_and_update({"_id": id_}, {"$set": {"text": "y" * 2_000}})
    stored = mongo_database.shop.find_one()
    assert (len(stored["items"]), stored["_gw"]["cut"]) == (32, {"items": 64 * 1024})
