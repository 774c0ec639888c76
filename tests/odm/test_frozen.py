"""Frozen copies: what a source was when it was related, whatever becomes of it."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.errors import Conflict, NotFound, StillReferenced
from tests.odm.shop import Shop, define_shop


@pytest.fixture
def shop(odm):
    """A shop; afterwards all copies and windows are right."""
    shop = Shop(define_shop(odm))
    yield shop
    assert shop.problems() == ([], [])


@pytest.fixture
def tea(shop):
    return shop.add("tea", 3)


def told(id_, name, price, **fields):
    return {"_id": id_, "name": name, "price": price, **fields}


def refused(shop, error, message, operation):
    """Run an operation that fails with exactly this error, and changes nothing."""
    before = [list(shop.odm.storage.find(name, {})) for name in ("product", "order")]
    with pytest.raises(error) as raised:
        operation()
    after = [list(shop.odm.storage.find(name, {})) for name in ("product", "order")]
    assert (raised.value.message, after) == (message, before)


# -- changes and deletes of the source


def test_a_change_does_not_reach_the_copies(shop, tea):
    order = shop.sell(1, tea, tea)
    shop.change(tea, price=4)
    assert shop.sold(order) == [told(tea, "tea", 3)] * 2
    assert shop.sold(shop.sell(2, tea)) == [told(tea, "tea", 4)]


def test_a_source_is_deleted_and_its_copies_stay(shop, tea):
    order = shop.sell(1, tea, tea)
    assert shop.products.delete_one(filter={"_id": tea}) == {"deletedCount": 1, "cascaded": {}}
    assert shop.stored("product", tea) is None
    assert shop.sold(order) == [told(tea, "tea", 3)] * 2


def test_a_cascade_leaves_holders_that_require_the_source(shop, tea):
    order = shop.sell(1, tea, tea)
    result = shop.products.delete_one(filter={"_id": tea}, hard_cascade=True)
    assert result == {"deletedCount": 1, "cascaded": {}}
    assert shop.sold(order) == [told(tea, "tea", 3)] * 2


def test_a_delete_is_still_refused_for_copies_that_follow(shop, tea):
    maker = shop.odm.model("maker").insert_one(doc={"name": "m"})["_id"]
    shop.products.add_relation(filters={"_id": tea}, relations={"maker": {"_ids": maker}})
    message = "maker is still referenced (product: 1)"
    refused(shop, StillReferenced, message, lambda: shop.odm.model("maker").delete_one(filter={"_id": maker}))


def test_a_holder_may_be_copied_and_deleted_itself(shop, tea):
    order = shop.sell(1, tea)
    receipts = shop.odm.model("receipt")
    receipt = receipts.insert_one(doc={"text": "t"}, relations={"order": {"_ids": order}})
    shop.change(tea, price=4)
    assert receipt["order"] == {"_id": order, "number": 1}
    shop.products.delete_one(filter={"_id": tea})
    assert shop.orders.delete_one(filter={"_id": order}, hard_cascade=True)["cascaded"] == {"receipt": 1}


# -- reverse relations


def test_a_source_lists_its_newest_holders(shop, tea):
    for number in (1, 2, 3):
        order = shop.sell(number, tea)
    assert shop.listed(tea) == ([3, 2], 3)
    shop.change(tea, price=4)
    shop.orders.find_one_and_update(filter={"_id": order}, update={"$set": {"number": 0}})
    assert shop.listed(tea) == ([2, 1], 0)
    shop.orders.delete_one(filter={"_id": order})
    assert shop.listed(tea) == ([2, 1], None)


def test_a_holder_whose_source_is_gone_changes_and_goes(shop, tea):
    order = shop.sell(1, tea, tea)
    shop.products.delete_one(filter={"_id": tea})
    assert shop.orders.find_one_and_update(filter={"_id": order}, update={"$set": {"number": 5}})["number"] == 5
    removed = shop.orders.remove_relation(filters={"_id": order}, relations={"gifts": {"_ids": [tea]}})
    assert removed.get("gifts", []) == []
    assert shop.sold(order) == [told(tea, "tea", 3)]
    assert shop.orders.delete_one(filter={"_id": order}) == {"deletedCount": 1, "cascaded": {}}


# -- relating again


def test_adding_an_id_again_takes_a_fresh_copy(shop, tea):
    mug = shop.add("mug", 7)
    order = shop.sell(1, tea, tea, mug)
    shop.change(tea, price=4)
    shop.change(mug, price=8)
    shop.relate(order, "gifts", [tea])
    assert shop.sold(order) == [told(tea, "tea", 3), told(tea, "tea", 4), told(mug, "mug", 7)]


def test_adding_an_id_whose_source_is_gone_is_refused(shop, tea):
    order = shop.sell(1, tea, tea)
    shop.products.delete_one(filter={"_id": tea})
    refused(shop, NotFound, f"product not found: {tea}", lambda: shop.relate(order, "gifts", [tea]))


def test_replacing_keeps_the_copies_that_stay(shop, tea):
    mug, pot = shop.add("mug", 7), shop.add("pot", 9)
    order = shop.sell(1, tea, tea, mug)
    for product in (tea, mug, pot):
        shop.change(product, price=1)
    shop.relate(order, "gifts", [pot, tea], replace=True)
    assert shop.sold(order) == [told(tea, "tea", 3), told(pot, "pot", 1), told(tea, "tea", 3)]
    shop.relate(order, "product", tea, replace=True)
    assert shop.sold(order)[0] == told(tea, "tea", 3)


def test_replacing_needs_no_source_of_what_stays(shop, tea):
    mug = shop.add("mug", 7)
    order = shop.sell(1, tea, tea)
    shop.products.delete_one(filter={"_id": tea})
    shop.relate(order, "gifts", [mug, tea], replace=True, given=True)
    shop.relate(order, "product", tea, replace=True, orders=False, last=True)
    assert shop.sold(order) == [told(tea, "tea", 3), told(mug, "mug", 7), told(tea, "tea", 3)]


@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_on_what_stays_begins_or_ends_its_membership(shop, tea, flag):
    order = shop.sell(1, tea, orders=not flag, last=not flag)
    shop.change(tea, price=4)
    shop.relate(order, "product", tea, replace=True, orders=flag, last=flag)
    assert shop.sold(order) == [told(tea, "tea", 3)]
    assert shop.listed(tea) == (([1], 1) if flag else ([], None))


@pytest.mark.mongo
@pytest.mark.parametrize(("flags", "locks"), [({}, 0), ({"orders": True}, 1)], ids=["no flag", "a flag"])
def test_the_source_of_what_stays_is_locked_only_for_its_windows(odm_on, mongo_database, flags, locks):
    shop = Shop(define_shop(odm_on(mongo_database)))
    tea = shop.add("tea", 3)
    order = shop.sell(1, tea)
    before = shop.stored("product", tea)["_gw"]["rev"]
    shop.relate(order, "product", tea, replace=True, **flags)
    assert shop.stored("product", tea)["_gw"]["rev"] == before + locks


def test_replacing_by_another_takes_its_copy(shop, tea):
    mug = shop.add("mug", 7)
    order = shop.sell(1, tea)
    shop.relate(order, "product", mug, replace=True)
    assert shop.sold(order) == [told(mug, "mug", 7)]
    assert shop.listed(tea) == ([], None)
    assert shop.listed(mug) == ([1], 1)
    message = "order already has product"
    refused(shop, Conflict, message, lambda: shop.relate(order, "product", mug))


# -- an `_id` that is chosen


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_no_new_document_takes_the_id_of_a_frozen_copy(shop, tea, many):
    order = shop.sell(1, tea, tea)
    shop.products.delete_one(filter={"_id": tea})
    docs = [{"_id": id_, "name": "new"} for id_ in (ObjectId(), tea)]

    def insert():
        return shop.products.insert_many(docs) if many else shop.products.insert_one(docs[1])

    message = f"order still has frozen copies of a deleted product: {tea}"
    refused(shop, Conflict, message, insert)
    shop.orders.remove_relation(filters={"_id": order}, relations={"gifts": {"_ids": [tea]}})
    refused(shop, Conflict, message, insert)
    shop.orders.delete_one(filter={"_id": order})
    insert()
    assert shop.stored("product", tea)["name"] == "new"


def test_a_refusal_names_all_ids_of_which_one_document_has_frozen_copies(shop, tea):
    gifts = [shop.add("mug", 7), shop.add("cup", 5)]
    shop.sell(1, tea, *gifts)
    for id_ in gifts:
        shop.products.delete_one(filter={"_id": id_})
    message = f"order still has frozen copies of a deleted product: {gifts[0]}, {gifts[1]}"
    refused(shop, Conflict, message, lambda: shop.products.insert_many([{"_id": id_, "name": "new"} for id_ in gifts]))


# -- reading


def test_below_a_frozen_copy_a_get_reads_the_source_as_it_is_now(shop, tea):
    makers = shop.odm.model("maker")
    maker = makers.insert_one(doc={"name": "old"})["_id"]
    shop.products.add_relation(filters={"_id": tea}, relations={"maker": {"_ids": maker}})
    order = shop.sell(1, tea)
    shop.change(tea, price=4)
    makers.find_one_and_update(filter={"_id": maker}, update={"$set": {"name": "new"}})
    wanted = {"product": {"price": 1, "maker": {"name": 1}, "orders": {"number": 1}}}
    found = shop.orders.find_one({"_id": order}, projection=wanted)["product"]
    assert found == {"price": 3, "maker": {"name": "new"}, "orders": [{"number": 1}]}
    shop.products.delete_one(filter={"_id": tea})
    assert shop.orders.find_one({"_id": order}, projection=wanted)["product"] == {"price": 3, "orders": []}


@pytest.mark.parametrize("excluded", [{"hidden": ["cost"]}, {"left_out": ["cost"]}], ids=["by model", "by relation"])
def test_a_field_excluded_later_is_shown_by_no_get(odm_on, storage, excluded):
    before = Shop(define_shop(odm_on(storage)))
    tea = before.add("tea", 3, cost=2)
    order = before.sell(1, tea, tea)
    before.products.delete_one(filter={"_id": tea})
    after = Shop(define_shop(odm_on(storage), **excluded))
    assert [copy["cost"] for copy in after.sold(order)] == [2, 2]
    shown = {"product": told(tea, "tea", 3), "gifts": [told(tea, "tea", 3)]}
    for wanted in (None, {"product": 1, "gifts": 1}, after.odm.schemas.create_projection("order", 1)):
        found = after.orders.find_one({"_id": order}, projection=wanted)
        assert {name: found[name] for name in shown} == shown
    kept = after.relate(order, "product", tea, replace=True)
    assert (kept["product"], kept["gifts"]) == (shown["product"], shown["gifts"])


# -- upkeep


def test_a_changed_and_a_deleted_source_are_no_problem(shop, tea):
    mug = shop.add("mug", 7)
    order = shop.sell(1, tea, mug, tea)
    shop.change(mug, price=8)
    shop.products.delete_one(filter={"_id": tea})
    assert list(shop.odm.integrity.repair(delete_orphans=True)) == []
    assert shop.sold(order) == [told(tea, "tea", 3), told(mug, "mug", 7), told(tea, "tea", 3)]


def test_repair_takes_out_what_was_excluded_later_and_nothing_else(odm_on, storage):
    before = Shop(define_shop(odm_on(storage)))
    tea = before.add("tea", 3, cost=2)
    order = before.sell(1, tea, tea)
    before.products.delete_one(filter={"_id": tea})
    after = Shop(define_shop(odm_on(storage), hidden=["cost"]))
    found = [(problem.path, problem.reason) for problem in after.odm.integrity.check()]
    assert found == [(f"{name}.{tea}", "has an excluded field") for name in ("product", "gifts")]
    assert {problem.state for problem in after.odm.integrity.repair()} == {"mended"}
    assert after.sold(order) == [told(tea, "tea", 3)] * 2
    assert after.problems() == ([], [])


def test_a_field_that_is_no_longer_declared_needs_a_decision(shop, tea):
    order = shop.sell(1, tea)
    shop.odm.storage.update_one("order", {"_id": order}, {"$set": {"product.weight": 5}}, ())
    (problem,) = shop.odm.integrity.repair()
    told_ = (problem.path, problem.reason, problem.state)
    assert told_ == (f"product.{tea}", "has a field that is not declared", "needs a decision")
    assert shop.sold(order) == [told(tea, "tea", 3, weight=5)]
    shop.odm.storage.update_one("order", {"_id": order}, {"$unset": {"product.weight": ""}}, ())


def test_a_relation_that_is_frozen_later_keeps_its_copies(odm_on, storage):
    before = Shop(define_shop(odm_on(storage), frozen=False))
    tea = before.add("tea", 3)
    order = before.sell(1, tea)
    after = Shop(define_shop(odm_on(storage)))
    after.change(tea, price=4)
    after.products.delete_one(filter={"_id": tea})
    assert after.sold(order) == [told(tea, "tea", 3)]
    assert after.problems() == ([], [])


def test_a_job_passes_over_a_relation_that_became_frozen(odm_on, storage):
    before, after = Shop(define_shop(odm_on(storage), frozen=False)), Shop(define_shop(odm_on(storage)))
    tea = before.add("tea", 3)
    order = before.sell(1, tea)
    with before.odm.leave_to_jobs():
        before.change(tea, price=4)
        assert [job.kind for job in after.odm.jobs()] == ["copies"]
        assert after.odm.work() == 0
        assert after.odm.jobs() == []
        assert after.sold(order) == [told(tea, "tea", 3)]
        before.products.delete_one(filter={"_id": tea}, hard_cascade=True)
        assert [job.kind for job in after.odm.jobs()] == ["removal"]
        assert after.odm.work() == 0
        assert after.odm.jobs() == []
        assert after.sold(order) == [told(tea, "tea", 3)]
    assert after.sold(order) == [told(tea, "tea", 3)]
    assert after.problems() == ([], [])


def test_jobs_bring_a_changed_holder_to_its_sources(shop, tea):
    order = shop.sell(1, tea)
    with shop.odm.leave_to_jobs():
        shop.change(tea, price=4)
        assert shop.odm.jobs() == []  # no copy follows
        shop.orders.find_one_and_update(filter={"_id": order}, update={"$set": {"number": 2}})
        assert [job.kind for job in shop.odm.jobs()] == ["windows"]
        assert shop.listed(tea) == ([1], 1)
    assert shop.listed(tea) == ([2], 2)


def test_copies_follow_again_where_a_relation_is_thawed(odm_on, storage):
    before = Shop(define_shop(odm_on(storage)))
    tea = before.add("tea", 3)
    order = before.sell(1, tea)
    before.change(tea, price=4)
    after = Shop(define_shop(odm_on(storage), frozen=False))
    assert [problem.path for problem in after.odm.integrity.check()] == [f"product.{tea}"]
    after.change(tea, name="green tea")
    assert after.sold(order) == [told(tea, "green tea", 4)]
    assert after.problems() == ([], [])
