"""What a caller writes of models with policies, by each operation, on both adapters."""

from __future__ import annotations

from contextlib import suppress

import pytest

from gatewayfw import NotFound, UsageError, gateway, optional, string
from gatewayfw.errors import Conflict, DuplicateKey, Forbidden, Stale, StillReferenced
from tests.policies.conftest import ROLES


def stored(odm):
    """All documents of a database, without what locks count."""
    models = ("customer", "item", "rental")
    return {
        name: odm.model(name).find(projection={"_rev": 1, **dict.fromkeys(odm.model(name).schema.pure, 1)}).to_list()
        for name in models
    }


def own(context):
    return {"customer._id": context["me"]}


@pytest.fixture
def own_only(shop):
    """Customers see and write their own rentals, clerks all, and both all customers and items."""
    shop.own_rentals()
    for name in ("customer", "item"):
        shop.gw.policy(name, roles=["Customer", "Clerk"])
    return shop


@pytest.fixture
def refused(shop):
    """A function that tells whether a write of a customer is refused, and that it left no trace."""

    def run(write, error=Forbidden, role="Customer"):
        before = stored(shop.gw.odm)
        with shop.calls(role), pytest.raises(error) as raised:
            write()
        assert stored(shop.gw.odm) == before
        return str(raised.value)

    return run


def links(customer, item=None):
    return {"customer": {"_ids": customer}, **({} if item is None else {"item": {"_ids": item}})}


# -- rows


def test_every_write_finds_only_what_is_there_for_the_caller(own_only):
    shop, rentals, third = own_only, own_only.rentals, {"_id": own_only.third}
    with shop.calls("Customer"):
        assert rentals.find_one_and_update(third, {"$set": {"day": "x"}}) is None
        assert rentals.update_many({"day": {"$ne": "x"}}, {"$set": {"day": "x"}}) == {"matched": 2, "modified": 2}
        assert rentals.add_relation(third, relations=links(shop.ann), replace=True) is None
        assert rentals.remove_relation(third, relations={"item": {"_ids": shop.lamp}}) is None
        assert rentals.delete_one(third)["deletedCount"] == 0
        assert rentals.delete_many({"day": {"$ne": ""}})["deletedCount"] == 2
    assert [one["day"] for one in rentals.find()] == ["wed"]


def test_of_a_document_that_is_not_there_no_revision_is_told(own_only):
    with own_only.calls("Customer"):
        assert own_only.rentals.find_one_and_update({"_id": own_only.third}, {"$set": {"day": "x"}}, rev=9) is None
        with pytest.raises(Stale):
            own_only.rentals.find_one_and_update({"_id": own_only.first}, {"$set": {"day": "x"}}, rev=9)


# -- what a write may leave


def test_what_a_write_leaves_must_be_there_for_its_caller(own_only, refused):
    shop, first = own_only, {"_id": own_only.first}
    refused(lambda: shop.rentals.insert_one({"day": "thu"}, relations=links(shop.bob)))
    refused(lambda: shop.rentals.insert_many([{"day": "thu"}] * 2, relations=[links(shop.ann), links(shop.bob)]))
    refused(lambda: shop.rentals.add_relation(first, relations=links(shop.bob), replace=True))
    with shop.calls("Customer"):
        assert shop.rentals.insert_one({"day": "thu"}, relations=links(shop.ann))["day"] == "thu"


def test_a_check_of_its_own_says_what_a_write_may_leave(shop, refused):
    shop.gw.policy("rental", roles=["Customer"], rows=own, check=lambda context: {"day": {"$ne": "sun"}})
    first, sunday = {"_id": shop.first}, {"$set": {"day": "sun"}}
    refused(lambda: shop.rentals.find_one_and_update(first, sunday))
    refused(lambda: shop.rentals.update_many({"day": "mon"}, sunday))
    with shop.calls("Customer"):
        assert shop.rentals.find_one_and_update(first, {"$set": {"day": "sat"}})["day"] == "sat"


def test_the_reply_of_a_write_shows_what_it_has_left(shop):
    mondays, anything = (lambda context: {"day": "mon"}), (lambda context: {"day": {"$exists": True}})
    shop.gw.policy("rental", roles=["Customer"], rows=mondays, check=anything)
    with shop.calls("Customer"):
        left = shop.rentals.find_one_and_update({"_id": shop.first}, {"$set": {"day": "x"}}, projection={"day": 1})
        assert left == {"_id": shop.first, "day": "x"}
        assert shop.rentals.find_one({"_id": shop.first}) is None


def test_a_check_may_be_about_what_other_documents_list(shop, refused):
    shop.gw.policy("customer", roles=["Clerk"], check=lambda context: {"rentals.day": "wed"})
    shop.gw.policy("rental", roles=["Clerk"])
    rename = {"$set": {"name": "x"}}
    refused(lambda: shop.customers.find_one_and_update({"_id": shop.ann}, rename), role="Clerk")
    with shop.calls("Clerk"):
        assert shop.customers.find_one_and_update({"_id": shop.bob}, rename, projection={"name": 1})["name"] == "x"


@pytest.mark.parametrize("boss", ["ann", "bob"])
def test_a_change_of_many_documents_is_judged_with_the_copies_that_it_renews(database, calls, boss):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    of_boss = {"schemaName": "person", "type": "single", "optional": True}
    people = gw.odm.new_model("person", {"name": string()}, {"boss": of_boss})
    gw.policy("person", roles=["Clerk"], check=lambda context: {"boss.name": {"$ne": "x"}})
    ids = {name: people.insert_one({"name": name})["_id"] for name in ("ann", "bob")}
    people.add_relation({"name": "ann"}, relations={"boss": {"_ids": ids[boss]}})
    before = people.find().sort("_id").to_list()
    with calls(gw, "Clerk"), pytest.raises(Forbidden):
        people.update_many({"name": {"$ne": ""}}, {"$set": {"name": "x"}})
    assert people.find().sort("_id").to_list() == before
    with calls(gw, "Clerk"):
        assert people.update_many({"name": {"$ne": ""}}, {"$set": {"name": "y"}}) == {"matched": 2, "modified": 2}


# -- what may be changed


@pytest.fixture
def early(shop):
    """Customers see their own rentals, and change those of Monday."""
    shop.gw.policy("rental", roles=["Customer"], rows=own, write=lambda context: {"day": "mon"}, check=own)
    shop.gw.policy(["customer", "item"], roles=["Customer"])
    return shop


def test_what_is_seen_and_may_not_be_changed_is_refused(early, refused):
    rentals, second = early.rentals, {"_id": early.second}
    refused(lambda: rentals.find_one_and_update(second, {"$set": {"day": "x"}}))
    refused(lambda: rentals.find_one_and_update(second, {"$set": {}}))
    refused(lambda: rentals.find_one_and_update(second, {"$set": {"day": "x"}}, rev=9))
    refused(lambda: rentals.update_many({"day": {"$ne": ""}}, {"$set": {"day": "x"}}))
    refused(lambda: rentals.add_relation(second, relations={"item": {"_ids": early.lamp}}, replace=True))
    refused(lambda: rentals.remove_relation(second, relations={"item": {"_ids": early.rope}}))
    refused(lambda: rentals.delete_one(second))
    refused(lambda: rentals.delete_many({"day": {"$ne": ""}}))


def test_what_may_be_changed_is_changed_and_what_is_not_there_is_not_found(early):
    with early.calls("Customer"):
        assert early.rentals.find_one_and_update({"_id": early.third}, {"$set": {"day": "x"}}) is None
        changed = early.rentals.find_one_and_update({"_id": early.first}, {"$set": {"day": "fri"}})
        assert changed["day"] == "fri"


def test_without_check_a_write_must_leave_what_may_be_changed(shop, refused):
    shop.gw.policy("rental", roles=["Customer"], write=lambda context: {"day": "mon"})
    refused(lambda: shop.rentals.find_one_and_update({"_id": shop.first}, {"$set": {"day": "tue"}}))
    refused(lambda: shop.rentals.insert_one({"day": "tue"}, relations=links(shop.ann)))


def test_a_policy_without_writing_refuses_every_write(shop, refused):
    asked = []
    shop.gw.policy("rental", roles=["Customer"], write=False, rows=asked.append)
    rentals, first = shop.rentals, {"_id": shop.first}
    refused(lambda: rentals.insert_one({"day": "thu"}, relations=links(shop.ann)))
    refused(lambda: rentals.insert_many([]))
    refused(lambda: rentals.find_one_and_update(first, {"$set": {}}))
    refused(lambda: rentals.find_one_and_update({"_id": shop.ann}, {"$set": {"day": "x"}}, upsert=True))
    refused(lambda: rentals.update_many(first, {"$set": {"day": "x"}}))
    refused(lambda: rentals.add_relation(first, relations=links(shop.bob)))
    refused(lambda: rentals.remove_relation(first, relations={"item": {"_ids": shop.lamp}}))
    refused(lambda: rentals.delete_one(first))
    refused(lambda: rentals.delete_many(first))
    refused(lambda: rentals.insert_one({"day": "thu"}, relations=links(shop.ann)), role="Auditor")
    assert asked == []  # a function of a policy may read


# -- names


@pytest.fixture
def priced(shop):
    """Customers do not see deposits, and do not set the item of a rental or the price of an item."""
    shop.gw.policy("rental", roles=["Customer"], hide=["deposit"], fixed=["item"])
    shop.gw.policy("item", roles=["Customer"], fixed=["price"])
    shop.gw.policy("customer", roles=["Customer"])
    return shop


def test_a_write_that_names_what_is_hidden_or_fixed_is_refused_whatever_the_value(priced, refused):
    rentals, items, first = priced.rentals, priced.items, {"_id": priced.first}
    refused(lambda: rentals.insert_one({"day": "thu", "deposit": 5}, relations=links(priced.ann)))
    refused(lambda: rentals.insert_one({"day": "thu"}, relations=links(priced.ann, priced.lamp)))
    refused(lambda: rentals.find_one_and_update(first, {"$set": {"day": "x", "deposit": "mon 5"}}))
    refused(lambda: rentals.find_one_and_update(first, {"$unset": {"deposit": 1}}))
    refused(lambda: rentals.update_many(first, {"$set": {"deposit": {"a": 1}}}))
    refused(lambda: rentals.add_relation(first, relations={"item": {"_ids": priced.rope}}, replace=True))
    refused(lambda: rentals.remove_relation(first, relations={"item": {"_ids": priced.lamp}}))
    message = refused(lambda: items.find_one_and_update({"name": "lamp"}, {"$set": {("price",): "1"}}))
    assert message == "You may not set price of a item"


def test_server_code_may_allow_a_name(priced):
    day = {"day": "thu", "deposit": "6"}
    with priced.calls("Customer"):
        made = priced.rentals.insert_one(day, relations=links(priced.ann, priced.lamp), allow=["deposit", "item"])
        assert "deposit" not in made
        update = {"$set": {"deposit": "7"}}
        priced.rentals.find_one_and_update({"_id": made["_id"]}, update, allow=["deposit"])
        priced.rentals.update_many({"_id": made["_id"]}, {"$set": {"day": "fri", "deposit": "8"}}, allow=["deposit"])
        one = {"item": {"_ids": priced.lamp}}
        priced.rentals.remove_relation({"_id": made["_id"]}, relations=one, allow=["item"])
        priced.rentals.add_relation({"_id": made["_id"]}, relations=one, allow=["item"])
    stored = priced.rentals.find_one({"_id": made["_id"]})
    assert (stored["day"], stored["deposit"]) == ("fri", "8")


def test_only_names_of_the_model_can_be_allowed(priced, refused):
    def insert():
        priced.rentals.insert_one({"day": "thu"}, relations=links(priced.ann), allow=["daay"])

    assert refused(insert, UsageError) == "allow: model rental has no 'daay'"
    with pytest.raises(UsageError):
        insert()


def test_the_unrestricted_model_writes_everything(priced):
    with priced.calls("Auditor"):
        free = priced.rentals.unrestricted
        free.find_one_and_update({"_id": priced.third}, {"$set": {"deposit": "9"}})
        assert free.delete_one({"_id": priced.first})["deletedCount"] == 1
    assert priced.rentals.find_one({"_id": priced.third})["deposit"] == "9"


# -- upserts


@pytest.fixture
def days(shop):
    """Days of customers, of which each sees its own, and writes those without a note."""
    unique = {"indexSpec": {"name": 1}, "options": {"unique": True}}
    shop.days = shop.gw.odm.new_model(
        "date", {"name": string, "of": string, "note": optional(string)}, options={"createIndex": unique}
    )

    def rows(context):
        return {"of": context["who"]}

    shop.gw.policy(
        "date", roles=["Customer"], rows=rows, write=lambda context: {"note": {"$exists": False}}, check=rows
    )
    shop.days.insert_one({"name": "mine", "of": "ann"})
    shop.days.insert_one({"name": "done", "of": "ann", "note": "x"})
    shop.days.insert_one({"name": "other", "of": "bob"})
    return shop


def put(days, name, of="ann"):
    days.find_one_and_update({"name": name}, {"$set": {"of": of}}, upsert=True)


def test_an_upsert_changes_inserts_or_is_refused_by_the_same_policies(days):
    with days.calls("Customer", who="ann"):
        put(days.days, "new")
        put(days.days, "mine")
        for name, of, error in [
            ("done", "ann", Forbidden),
            ("mine", "bob", Forbidden),
            ("newer", "bob", Forbidden),
            ("other", "ann", DuplicateKey),
        ]:
            with pytest.raises(error):
                put(days.days, name, of)
    assert days.days.find(projection={"_id": 0, "name": 1, "of": 1}).to_list() == [
        {"name": "mine", "of": "ann"},
        {"name": "done", "of": "ann"},
        {"name": "other", "of": "bob"},
        {"name": "new", "of": "ann"},
    ]


def test_the_filter_of_an_upsert_names_fields_too(days):
    days.gw.policy("date", roles=["Customer"], fixed=["name"])
    with days.calls("Customer", who="ann"):
        for name in ("new", "mine"):
            with pytest.raises(Forbidden):
                put(days.days, name)
        days.days.find_one_and_update({"name": "new"}, {"$set": {"of": "ann"}}, upsert=True, allow=["name"])
    assert days.days.distinct("name") == ["done", "mine", "new", "other"]


# -- relations


@pytest.fixture
def two_items(shop):
    """Customers see the lamp alone."""
    shop.gw.policy("item", roles=["Customer"], rows=lambda context: {"name": "lamp"})
    return shop


def test_ids_in_relations_must_be_there_for_the_caller(two_items, refused):
    shop, rope = two_items, {"item": {"_ids": two_items.rope}}
    insert = shop.rentals.insert_one
    unknown = refused(lambda: insert({"day": "thu"}, relations=links(shop.ann, shop.ann)), NotFound)
    assert unknown.replace(str(shop.ann), str(shop.rope)) == refused(
        lambda: insert({"day": "thu"}, relations=links(shop.ann, shop.rope)), NotFound
    )
    refused(lambda: shop.rentals.add_relation({"day": "wed"}, relations=rope, replace=True), NotFound)
    refused(lambda: shop.rentals.add_relation({"day": "wed"}, relations=rope), NotFound)
    with shop.calls("Customer"):
        assert insert({"day": "thu"}, relations=links(shop.ann, shop.lamp))["day"] == "thu"


def test_a_relation_that_is_not_shown_is_none_to_remove(two_items, refused):
    shop = two_items

    def remove(id_):
        return shop.rentals.remove_relation({"_id": shop.second}, relations={"item": {"_ids": id_}})

    missing = refused(lambda: remove(shop.ann), NotFound)
    hidden = refused(lambda: remove(shop.rope), NotFound)
    assert hidden == missing.replace(str(shop.ann), str(shop.rope))


@pytest.fixture
def lists(shop):
    """Customers see a list with a frozen, shared copy of the lamp, but not the lamp, which has another name now."""
    items = {"schemaName": "item", "type": "multiple", "optional": True, "frozen": True, "shared": True}
    lists = shop.gw.odm.new_model("list", {"name": string()}, {"items": items})
    lists.insert_one({"name": "open"}, relations={"items": {"_ids": [shop.lamp]}})
    shop.items.find_one_and_update({"_id": shop.lamp}, {"$set": {"name": "secret"}})
    shop.gw.policy("list", roles=["Customer"])
    shop.gw.policy("item", roles=["Customer"], rows=lambda context: None)
    return lists


def test_a_frozen_copy_is_not_taken_anew_of_what_is_not_there(shop, lists):
    lamp = {"items": {"_ids": [shop.lamp]}}
    with shop.calls("Customer"):
        with pytest.raises(NotFound):
            lists.add_relation({"name": "open"}, relations=lamp)
        kept = lists.add_relation({"name": "open"}, relations=lamp, replace=True, projection={"items": {"name": 1}})
    assert [one["name"] for one in kept["items"]] == ["lamp"]


def test_a_shared_copy_may_be_removed_by_who_sees_it(shop, lists):
    with shop.calls("Customer"):
        left = lists.remove_relation(
            {"name": "open"}, relations={"items": {"_ids": [shop.lamp]}}, projection={"items": {"name": 1}}
        )
    assert left["items"] == []


def test_only_a_holder_that_may_be_changed_admits_its_shared_ids(shop, lists):
    """Of two that match, the one with the shared copy may not be changed."""
    shop.gw.policy("list", roles=["Customer"], write=lambda context: {"name": "other"})
    lists.insert_one({"name": "other"})
    with shop.calls("Customer"), pytest.raises(NotFound):
        lists.add_relation({"name": {"$ne": ""}}, relations={"items": {"_ids": [shop.lamp]}}, replace=True)


@pytest.mark.parametrize(("rev", "error"), [(0, NotFound), (7, Stale)])
def test_only_the_holder_of_the_revision_admits_its_shared_ids(shop, lists, rev, error):
    """Two match; the one with the shared copy has another revision."""
    lists.insert_one({"name": "open"})
    lists.find_one_and_update({"items._id": shop.lamp}, {"$set": {"name": "open"}})
    with shop.calls("Customer"), pytest.raises(error):
        lists.add_relation({"name": "open"}, relations={"items": {"_ids": [shop.lamp]}}, replace=True, rev=rev)


# -- what is in the way


@pytest.mark.parametrize("name", ["delete_one", "delete_many"])
def test_how_many_documents_are_in_the_way_is_not_told(own_only, refused, name):
    def delete():
        getattr(own_only.items, name)({"_id": own_only.lamp})

    assert refused(delete, StillReferenced, role="Clerk") == "item is still referenced (rental: 2)"
    assert refused(delete, StillReferenced) == "item is still referenced"


@pytest.mark.parametrize("name", ["delete_one", "delete_many"])
def test_a_transaction_whose_code_catches_the_refusal_does_not_tell_it_either(own_only, refused, name):
    def delete():
        with suppress(StillReferenced):
            getattr(own_only.items, name)({"_id": own_only.lamp})

    def transact():
        own_only.gw.odm.transaction(delete)

    assert refused(transact, StillReferenced, role="Clerk") == "item is still referenced (rental: 2)"
    assert refused(transact, StillReferenced) == "item is still referenced"


@pytest.mark.parametrize(("is_gone", "upsert"), [(False, False), (True, False), (True, True)])
def test_a_chosen_id_does_not_tell_of_frozen_copies_elsewhere(own_only, refused, is_gone, upsert):
    """A document that is there for the caller, or was, is in a list that is not."""
    items = {"schemaName": "item", "type": "multiple", "optional": True, "frozen": True}
    id_ = own_only.items.insert_one({"name": "saw"})["_id"]
    lists = own_only.gw.odm.new_model("list", {"name": string()}, {"items": items})
    lists.insert_one({"name": "closed"}, relations={"items": {"_ids": [id_]}})
    own_only.gw.policy("list", roles=["Clerk"])
    if is_gone:
        own_only.items.delete_one({"_id": id_})

    def write():
        if upsert:
            own_only.items.find_one_and_update({"_id": id_}, {"$set": {"name": "new"}}, upsert=True)
        else:
            own_only.items.insert_one({"_id": id_, "name": "new"})

    assert refused(write, Conflict, role="Clerk").startswith("list still has frozen copies of a deleted item")
    assert refused(write, DuplicateKey) == "Duplicate key error"


def test_a_cascade_reaches_what_the_caller_does_not_see_and_does_not_count_it(own_only):
    with own_only.calls("Customer"):
        gone = own_only.customers.delete_one({"_id": own_only.bob}, hard_cascade=True)
    assert (gone, own_only.rentals.count()) == ({"deletedCount": 1, "cascaded": {}}, 2)


def test_a_write_does_not_see_itself_when_its_policy_asks(shop):
    """Ann may rent what she has rented before."""

    def rows(context):
        own = shop.rentals.find({"customer._id": shop.ann}, projection={"item": {"_id": 1}})
        return {"item._id": {"$in": [one["item"]["_id"] for one in own]}}

    saw = shop.items.insert_one({"name": "saw"})["_id"]
    shop.gw.policy("rental", roles=["Customer"], rows=rows)
    for write in (
        lambda: shop.rent("fri", shop.ann, saw),
        lambda: shop.rentals.add_relation({"_id": shop.first}, relations={"item": {"_ids": saw}}, replace=True),
    ):
        with shop.calls("Customer"), pytest.raises(Forbidden):
            write()
    assert shop.rentals.count({"item._id": saw}) == 0
