"""Rules of writing on a server without transactions, while nobody else writes or one other does."""

from __future__ import annotations

import pytest
from bson import Decimal128
from pymongo import MongoClient

from gatewayfw.errors import Conflict, DuplicateKey, NotFound, Stale, TooLarge, Unavailable, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, any_, integer, optional, string
from gatewayfw.schemas.fields import decimal
from gatewayfw.settings import Settings
from tests.faults.replica import standalone
from tests.odm.shop import Shop, define_shop


@pytest.fixture(scope="module")
def uri(mongod, tmp_path_factory):
    """A mongod without a replica set."""
    with standalone(tmp_path_factory.mktemp("standalone")) as uri:
        yield uri


@pytest.fixture
def client(uri):
    """A client whose database ``rules`` is empty."""
    with MongoClient(uri) as client:
        client.drop_database("rules")
        yield client


@pytest.fixture
def open_odm(client):
    """A function that gives an Odm without models on that database."""

    def make(**settings):
        settings = Settings(**settings)
        odm = Odm(Schemas(settings), settings)
        odm.set_db(client.rules)
        return odm

    return make


@pytest.fixture
def shop(open_odm):
    """A shop; afterwards all copies and windows are right."""
    shop = Shop(define_shop(open_odm()))
    yield shop
    assert shop.problems() == ([], [])


@pytest.fixture
def tea(shop):
    return shop.add("tea", 3)


# -- frozen copies


def told(id_, price):
    return {"_id": id_, "name": "tea", "price": price}


def test_a_frozen_copy_stays_when_its_source_changes_and_goes(shop, tea):
    order = shop.sell(1, tea, tea)
    shop.change(tea, price=4)
    assert shop.listed(tea) == ([1], 1)
    assert shop.products.delete_one({"_id": tea}, hard_cascade=True) == {"deletedCount": 1, "cascaded": {}}
    assert (shop.stored("product", tea), shop.sold(order)) == (None, [told(tea, 3)] * 2)
    shop.orders.find_one_and_update({"_id": order}, {"$set": {"number": 9}})
    assert shop.orders.delete_one({"_id": order}) == {"deletedCount": 1, "cascaded": {}}


def test_a_frozen_copy_is_fresh_when_its_source_is_named_again(shop, tea):
    order = shop.sell(1, tea, tea)
    shop.change(tea, price=4)
    shop.relate(order, "gifts", [tea], replace=True)
    assert shop.sold(order) == [told(tea, 3)] * 2
    shop.relate(order, "gifts", [tea])
    assert shop.sold(order) == [told(tea, 3), told(tea, 4)]


def test_a_frozen_relation_keeps_and_loses_copies_of_what_is_gone(shop, tea):
    order, milk = shop.sell(1, tea, tea), shop.add("milk", 1)
    shop.products.delete_one({"_id": tea})
    shop.relate(order, "gifts", [tea, milk], replace=True)
    assert shop.sold(order)[1:] == [told(tea, 3), {"_id": milk, "name": "milk", "price": 1}]
    with pytest.raises(NotFound):
        shop.relate(order, "gifts", [tea])
    shop.relate(order, "gifts", [milk], replace=True)
    assert shop.sold(order)[1:] == [{"_id": milk, "name": "milk", "price": 1}]
    with pytest.raises(Conflict):
        shop.products.insert_one({"_id": tea, "name": "new"})
    assert shop.stored("product", tea) is None


def test_repair_and_check_leave_frozen_copies_alone(shop, tea):
    order = shop.sell(1, tea, tea)
    shop.change(tea, price=4)
    shop.products.delete_one({"_id": tea})
    assert list(shop.odm.integrity.repair(delete_orphans=True)) == []
    assert shop.sold(order) == [told(tea, 3)] * 2


# -- upserts, revisions, sizes


def unique(*names):
    return {"createIndex": [{"indexSpec": {name: 1}, "options": {"unique": True}} for name in names]}


def open_users(odm):
    fields = {"name": string(), "email": string(), "visits": optional(integer())}
    users = odm.new_model("user", fields, options=unique("email", "name"))
    users.count()
    return users


def visit(users, name, email):
    update = {"$set": {"email": email}, "$inc": {"visits": 1}}
    return users.find_one_and_update({"name": name}, update, upsert=True, projection={"_id": 0, "visits": 1})


def before_first_insert(odm, monkeypatch, fn):
    """Call a function before the first insert; return a list with one entry for each."""
    insert, calls = odm.storage.insert, []

    def late(*given):
        calls.append(given)
        if len(calls) == 1:
            fn()
        insert(*given)

    monkeypatch.setattr(odm.storage, "insert", late)
    return calls


def test_an_upsert_that_meets_itself_on_another_index_updates(open_odm, monkeypatch):
    odm = open_odm()
    users, others = open_users(odm), open_users(open_odm())
    before_first_insert(odm, monkeypatch, lambda: visit(others, "ann", "a@x"))
    assert visit(users, "ann", "a@x") == {"visits": 2}
    assert users.count() == 1


def test_an_upsert_whose_value_another_document_has_is_refused(open_odm, monkeypatch):
    odm = open_odm()
    users, others = open_users(odm), open_users(open_odm())
    calls = before_first_insert(odm, monkeypatch, lambda: visit(others, "bob", "a@x"))
    with pytest.raises(DuplicateKey) as raised:
        visit(users, "ann", "a@x")
    assert (raised.value.fields, len(calls)) == (("email",), 2)
    assert [one["name"] for one in users.find()] == ["bob"]


def test_a_revision_of_an_earlier_life_is_stale(open_odm):
    users = open_users(open_odm())
    first = users.insert_one({"name": "ann", "email": "a"}, projection={"_rev": 1})
    users.delete_one({"_id": first["_id"]})
    made = {"$set": {"name": "ann", "email": "a"}}
    second = users.find_one_and_update({"_id": first["_id"]}, made, upsert=True, projection={"_rev": 1})
    for rev in (first["_rev"], second["_rev"] - 1):
        with pytest.raises(Stale) as raised:
            users.find_one_and_update({"_id": first["_id"]}, {"$set": {"email": "b"}}, rev=rev)
        assert raised.value.revision == second["_rev"]


def test_decimals_are_multiplied_where_sizes_are_foreseen(open_odm):
    fields = {"text": string(), "cost": optional(decimal(places=2)), "more": optional(any_())}
    notes = open_odm(document_bytes=1000).new_model("note", fields)
    id_ = notes.insert_one({"text": "a"})["_id"]
    many = {"$mul": {"cost": 3}, "$set": {"more": "b"}}
    assert str(notes.find_one_and_update({"_id": id_}, many)["cost"]) == str(Decimal128("0.00"))
    assert str(notes.find_one_and_update({"_id": id_}, {"$inc": {"cost": "1.50"}})["cost"]) == "1.50"
    with pytest.raises(TooLarge):
        notes.find_one_and_update({"_id": id_}, {"$mul": {"cost": 3}, "$set": {"text": "a" * 2000}})
    assert str(notes.find_one({"_id": id_})["cost"]) == "1.50"


# -- many documents


def test_an_error_says_how_many_documents_are_changed(open_odm):
    numbers = open_odm().new_model("number", {"n": integer()})
    numbers.insert_many([{"n": 1 if number < 14 else 2**62} for number in range(20)])
    with pytest.raises(ValidationError) as raised:
        numbers.update_many({"n": {"$gte": 0}}, {"$mul": {"n": 4}})
    assert (raised.value.done, numbers.count({"n": 4})) == (14, 14)


def test_an_error_says_how_many_documents_are_deleted(shop, tea, monkeypatch):
    orders = [shop.sell(number, tea) for number in range(14)]
    delete, calls = shop.odm.storage.delete_many, []

    def fail(*given, **more):
        calls.append(given)
        if len(calls) == 13:
            raise Unavailable
        return delete(*given, **more)

    with monkeypatch.context() as patched, pytest.raises(Unavailable) as raised:
        patched.setattr(shop.odm.storage, "delete_many", fail)
        shop.orders.delete_many({"number": {"$gte": 0}})
    assert (raised.value.done, shop.orders.count()) == (12, 2)
    assert [one["_id"] for one in shop.orders.find().sort("_id")] == orders[12:]


# -- migrations


@pytest.fixture
def deploy(open_odm):
    """A function that gives lands and towns, which embed their land and are listed in it by a field."""

    def define(land, town):
        odm = open_odm(fan_out_thread=False)
        odm.new_model("land", land)
        towns = {"type": "multiple", "sort": {"field": next(iter(town)), "order": "asc"}, "default": True}
        relation = {"schemaName": "land", "type": "single", "relatedRelations": {"towns": towns}}
        frozen = {"schemaName": "land", "type": "single", "optional": True, "frozen": True}
        odm.new_model("town", town, {"in": relation, "then": frozen})
        return odm

    return define


@pytest.fixture
def migrating(deploy, client):
    """A gateway that declares a migration of each simple kind, over two lands of five towns each."""
    old = deploy({"name": string()}, {"rank": integer(), "size": optional(any_())})
    for name in ("a", "b"):
        land = old.model("land").insert_one({"name": name})["_id"]
        for rank in range(5):
            relations = {"in": {"_ids": land}, "then": {"_ids": land}}
            old.model("town").insert_one({"rank": rank, "size": str(rank)}, relations=relations)
    new = deploy({"title": string()}, {"place": integer(), "size": optional(integer()), "level": optional(integer())})
    new.migration("title", "land", rename={"name": "title"})
    new.migration("place", "town", rename={"rank": "place"})
    new.migration("size", "town", convert=["size"])
    new.migration("level", "town", default={"level": 7})
    return new


def test_migrations_change_documents_copies_and_lists(migrating, client):
    (planned, *_) = [migrating.migrations.plan(one) for one in migrating.migrations.chosen()]
    assert (planned.outcome.left, planned.seconds) == (12, None)  # there is nothing to undo a trial
    assert [(one["changed"], one["left"]) for one in migrating.migrate()] == [(12, 0), (10, 0), (10, 0), (10, 0)]
    migrating.work()
    assert list(migrating.integrity.check()) == list(migrating.integrity.misfits()) == []
    land = client.rules.land.find_one({"title": "b"})
    assert [(one["place"], one["size"], one["level"]) for one in land["towns"]] == [(n, n, 7) for n in range(5)]
    assert client.rules.town.count_documents({"then.title": "a"}) == 5


def test_a_run_killed_between_a_document_and_its_copies_needs_a_repair(migrating, client, monkeypatch):
    with monkeypatch.context() as patched:

        def die(*_given, **_more):
            raise KeyboardInterrupt

        patched.setattr(type(migrating.storage), "update_many", die)
        with pytest.raises(KeyboardInterrupt):
            migrating.migrate("title")
    assert client.rules.land.count_documents({"title": {"$exists": True}}) == 1
    migrating.migrate()
    assert list(migrating.integrity.check()) != []
    list(migrating.integrity.repair())
    assert list(migrating.integrity.check()) == []
    assert client.rules.town.count_documents({"in.title": {"$exists": True}}) == 10
