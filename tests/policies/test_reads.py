"""What a caller reads of models with policies, by each operation and at each depth, on both adapters."""

from __future__ import annotations

import pytest
from marshmallow import Schema, fields

from gatewayfw import UsageError, gateway, integer, string
from gatewayfw.errors import Hidden, Unavailable
from tests.policies.conftest import ROLES


def ids(found):
    return sorted(str(one["_id"]) for one in found)


def texts(*ids):
    return sorted(map(str, ids))


# -- rows


def test_every_read_finds_only_what_is_there_for_the_caller(shop):
    shop.own_rentals()
    rentals, wed = shop.rentals, {"day": "wed"}
    with shop.calls("Customer"):
        assert ids(rentals.find()) == texts(shop.first, shop.second)
        assert ids(rentals.find({"_id": {"$in": [shop.first, shop.third]}})) == texts(shop.first)
        assert (rentals.find_one({"_id": shop.third}), rentals.find_one(wed)) == (None, None)
        assert (rentals.count(), rentals.count(wed), rentals.exists(wed)) == (2, 0, False)
        assert rentals.distinct("day") == ["mon", "tue"]
        assert ids(rentals.find({"$and": [{"day": {"$ne": "mon"}}]})) == texts(shop.second)
        assert ids(rentals.find({"$or": [{"day": "wed"}, {"day": "mon"}]})) == texts(shop.first)
    with shop.calls("Clerk"):
        assert (rentals.count(), rentals.find_one(wed)["_id"]) == (3, shop.third)


def test_a_model_is_closed_to_whoever_no_policy_names(shop):
    shop.own_rentals()
    for role in ("Auditor", "", None):
        with shop.calls(role):
            found = (shop.rentals.find_one({"_id": shop.first}), shop.rentals.count(), shop.rentals.distinct("day"))
            assert (*found, shop.rentals.find().to_list(), shop.customers.count()) == (None, 0, [], [], 2)


def test_outside_of_acts_nothing_is_restricted_and_neither_is_unrestricted(shop):
    shop.own_rentals()
    assert shop.rentals.count() == 3
    with shop.calls("Auditor"):
        assert shop.rentals.unrestricted.count() == 3
        shown = shop.customers.unrestricted.find_one({"_id": shop.ann}, projection={"rentals": {"day": 1, "item": 1}})
        assert [one["item"]["name"] for one in shown["rentals"]] == ["lamp", "rope"]


def test_a_cursor_keeps_the_caller_of_its_find(shop):
    shop.own_rentals()
    with shop.calls("Customer"):
        cursor = shop.rentals.find(projection={"customer": {"rentals": {"day": 1}}})
    with shop.calls("Clerk"):
        assert ids(cursor) == texts(shop.first, shop.second)
    assert [len(one["customer"]["rentals"]) for one in cursor] == [2, 2]


def test_rows_run_once_unrestricted_and_by_what_the_context_was(shop):
    asked = []

    def rows(context):
        asked.append(shop.rentals.count())
        return {"customer._id": context["me"]}

    shop.gw.policy("rental", roles=["Customer"], rows=rows)
    with shop.calls("Customer"):
        assert (shop.rentals.count(), shop.rentals.count(), asked) == (2, 2, [3])
        shop.rentals.find_one_and_update({"_id": shop.first}, {"$set": {"day": "sun"}})
    assert asked == [3]  # what a write may leave is the same


def test_rows_of_several_policies_are_joined(shop):
    shop.own_rentals()
    shop.gw.policy("rental", roles="*", rows=lambda context: {"day": {"$ne": "mon"}})
    with shop.calls("Customer"):
        assert ids(shop.rentals.find()) == texts(shop.second)
    with shop.calls("Clerk"):
        assert ids(shop.rentals.find()) == texts(shop.second, shop.third)


# -- deeper levels and copies


def test_copies_are_shown_only_where_their_document_is_there(shop):
    shop.own_rentals()
    with shop.calls("Customer"):
        found = {
            one["name"]: one["rentals"] for one in shop.customers.find(projection={"name": 1, "rentals": {"day": 1}})
        }
        assert found == {"ann": [{"day": "mon"}, {"day": "tue"}], "bob": []}
        whole = shop.customers.find_one({"_id": shop.bob}, projection={"rentals": 1})
        assert whole == {"_id": shop.bob, "rentals": []}
        bare = shop.customers.find_one({"_id": shop.bob}, projection={"rentals": {}, "_id": 0})
        assert bare == {"rentals": []}


def test_a_single_copy_whose_document_is_not_there_is_absent(shop):
    shop.gw.policy("customer", roles=["Customer"], rows=lambda context: {"_id": context["me"]})
    with shop.calls("Customer"):
        found = [one.get("customer") for one in shop.rentals.find(projection={"customer": {"name": 1}}).sort("day")]
        assert found == [{"name": "ann"}, {"name": "ann"}, None]
        assert "customer" not in shop.rentals.find_one({"_id": shop.third})
    with shop.calls("Auditor"):
        assert all("customer" not in one for one in shop.rentals.find())


def test_no_detour_leads_to_what_is_not_there(shop):
    shop.own_rentals()
    get = {
        "item": {"name": 1},
        "customer": {"name": 1, "rentals": {"day": 1, "item": {"name": 1}, "customer": {"rentals": 1}}},
    }
    with shop.calls("Customer", me=shop.bob):
        found = shop.rentals.find(projection=get).to_list()
        rental = {"day": "wed", "item": {"name": "lamp"}}
        inner = [{"_id": shop.third, "day": "wed", "deposit": "wed 5"}]
        assert found == [
            {
                "_id": shop.third,
                "item": {"name": "lamp"},
                "customer": {"name": "bob", "rentals": [{**rental, "customer": {"rentals": inner}}]},
            }
        ]
        ann = shop.customers.find_one({"_id": shop.ann}, projection={"rentals": {"customer": {"name": 1}}})
        assert ann == {"_id": shop.ann, "rentals": []}


def test_a_single_reverse_relation_that_somebody_unseen_has_is_absent(database, calls):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    rooms = gw.odm.new_model("room", {"number": integer()})
    listed = {"guest": {"type": "single", "default": True}}
    of_room = {"schemaName": "room", "type": "single", "relatedRelations": listed}
    guests = gw.odm.new_model("guest", {"name": string()}, {"room": of_room})
    room = rooms.insert_one({"number": 1})["_id"]
    for name in ("ann", "bob"):
        guests.insert_one({"name": name}, relations={"room": {"_ids": room}})
    gw.policy("room", roles=["Clerk"])
    gw.policy("guest", roles=["Clerk"], rows=lambda context: {"name": "ann"})
    assert rooms.find_one(projection={"guest": {"_id": 0, "name": 1}})["guest"] == {"name": "bob"}
    with calls(gw, "Clerk"):
        assert rooms.find_one(projection={"_id": 0, "guest": 1}) == {}
        assert guests.find_one(projection={"_id": 0, "room": {"number": 1, "_id": 0}}) == {"room": {"number": 1}}


@pytest.mark.parametrize("shared", [False, True])
def test_shared_copies_are_shown_alone(calls, database, shared):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    makers = gw.odm.new_model("maker", {"name": string})
    parts = {"parts": {"type": "multiple", "shared": True}}
    maker = {"schemaName": "maker", "type": "single", "shared": shared, "relatedRelations": parts}
    model = gw.odm.new_model("part", {"name": string}, {"maker": maker})
    links = {"maker": {"_ids": makers.insert_one({"name": "m"})["_id"], "relatedRelations": {"parts": True}}}
    model.insert_one({"name": "p"}, relations=links)
    gw.policy("maker", roles=["Auditor"], rows=lambda context: None)
    with calls(gw, "Auditor"):
        shown = model.find_one(projection={"_id": 0, "maker": {"name": 1, "parts": {"name": 1}}})
    assert shown == ({"maker": {"name": "m", "parts": []}} if shared else {})
    gw.policy("part", roles=["Auditor"], rows=lambda context: None)
    gw.policy("maker", roles=["Customer"])
    with calls(gw, "Customer"):
        assert makers.find_one(projection={"_id": 0, "parts": {"name": 1}}) == {"parts": []}  # closed
    gw.policy("maker", roles=["Clerk"])
    gw.policy("part", roles=["Clerk"], rows=lambda context: None)
    with calls(gw, "Clerk"):
        assert makers.find_one(projection={"_id": 0, "parts": {"name": 1}}) == {"parts": [{"name": "p"}]}


# -- hidden names


def test_hidden_names_are_in_no_projection_at_any_depth(shop):
    shop.gw.policy("rental", roles=["Auditor"], hide=["deposit"])
    shop.gw.policy("item", roles=["Auditor"], hide=["price"])
    get = {"item": 1, "customer": {"rentals": {"deposit": 1, "item": {"name": 1, "price": 1}}}}
    with shop.calls("Auditor"):
        assert shop.rentals.find_one({"_id": shop.third}) == {
            "_id": shop.third,
            "day": "wed",
            "customer": {"_id": shop.bob, "name": "bob", "email": "bob@b.c"},
            "item": {"_id": shop.lamp, "name": "lamp"},
        }
        assert shop.rentals.find_one({"_id": shop.third}, projection={**get, "deposit": 1, "_id": 0}) == {
            "item": {"_id": shop.lamp, "name": "lamp"},
            "customer": {"rentals": [{"item": {"name": "lamp"}}]},
        }
    assert shop.rentals.find_one({"_id": shop.third}, projection={"deposit": 1})["deposit"] == "wed 5"


def test_hidden_relations_are_in_no_projection(shop):
    shop.gw.policy("rental", roles=["Auditor"], hide=["customer"])
    shop.gw.policy("customer", roles=["Auditor"], hide=["rentals"])
    with shop.calls("Auditor"):
        assert set(shop.rentals.find_one({"_id": shop.first})) == {"_id", "day", "deposit", "item"}
        assert set(shop.customers.find_one({"_id": shop.ann})) == {"_id", "name", "email"}
        assert shop.rentals.find_one({"_id": shop.first}, projection={"customer": {"name": 1}}) == {"_id": shop.first}


@pytest.mark.parametrize("get", [{"customer": 1}, {"customer": {"name": 1, "email": 1}}])
def test_a_hidden_name_of_copies_is_not_read(shop, monkeypatch, get):
    """Screening would leave it out as well; it does not even leave the database."""
    read, find = [], shop.gw.odm.storage.find
    monkeypatch.setattr(
        shop.gw.odm.storage, "find", lambda *given, **keys: read.extend(given[2]) or find(*given, **keys)
    )
    shop.gw.policy("customer", roles=["Auditor"], hide=["email"])
    shop.gw.policy("rental", roles=["Auditor"])
    with shop.calls("Auditor"):
        shop.rentals.find(projection=get).to_list()
        shop.customers.find().to_list()
    assert {"customer.name", "name"} < set(read)
    assert {"customer.email", "email"}.isdisjoint(read)


def test_own_documents_and_copies_show_what_is_hidden_elsewhere(shop):
    shop.gw.policy("customer", roles="*", admit=True, hide=["email"], own=lambda context: [context["me"]])
    with shop.calls("Customer"):
        assert {one["name"]: one.get("email") for one in shop.customers.find()} == {"ann": "ann@b.c", "bob": None}
        get = {"_id": 0, "customer": {"email": 1}}
        assert shop.rentals.find(projection=get).sort("day").to_list() == [
            {"customer": {"email": "ann@b.c"}},
            {"customer": {"email": "ann@b.c"}},
            {"customer": {}},
        ]
        assert shop.customers.find(projection={"_id": 0, "email": 1}).sort("name").to_list() == [
            {"email": "ann@b.c"},
            {},
        ]
        whole = [one["customer"].get("email") for one in shop.rentals.find(projection={"customer": 1}).sort("day")]
        assert whole == ["ann@b.c", "ann@b.c", None]


@pytest.mark.parametrize("name", ["customer", "rentals"])
def test_relations_that_only_own_documents_show_are_hidden_below_other_models_too(shop, name):
    model = {"customer": "rental", "rentals": "customer"}[name]
    own = {"rental": shop.first, "customer": shop.ann}[model]
    holder = {"rental": shop.customers, "customer": shop.rentals}[model]
    shop.gw.policy(model, roles="*", admit=True, hide=[name], own=lambda context: [own])
    link = {"rental": "rentals", "customer": "customer"}[model]
    with shop.calls("Customer"):
        found = holder.find(projection={link: {"_id": 1, name: {"_id": 1}}})
        copies = [copy for one in found for copy in (one[link] if link == "rentals" else [one[link]])]
    assert {copy["_id"] for copy in copies if copy.get(name)} == {own}


def test_a_page_knows_whose_rows_it_shows_without_their_ids(shop):
    shop.gw.policy("customer", roles="*", admit=True, hide=["email"], own=lambda context: [context["me"]])
    listing = shop.customers.listing()
    with shop.calls("Customer"):
        page = listing.page({"set": {}, "get": {"_id": 0, "email": 1}})
    assert page == {"rows": [{}, {"email": "ann@b.c"}], "next": None}


@pytest.mark.parametrize(
    ("given", "shown"),
    [(lambda shop: None, []), (lambda shop: [str(shop.bob)], ["bob@b.c"]), (lambda shop: {}["x"], [])],
    ids=["none", "text", "error"],
)
def test_own_gives_ids_and_what_fails_shows_nothing(shop, given, shown):
    shop.gw.policy("customer", roles=["Customer"], hide=["email"], own=lambda context: given(shop))
    with shop.calls("Customer"):
        assert [one["email"] for one in shop.customers.find() if "email" in one] == shown


def test_the_code_of_a_generator_that_gives_own_ids_is_unrestricted(shop):
    def own(context):
        for found in shop.customers.find({"email": "bob@b.c"}):
            yield found["_id"]

    shop.gw.policy("customer", roles=["Customer"], hide=["email"], own=own)
    with shop.calls("Customer"):
        assert [one["email"] for one in shop.customers.find() if "email" in one] == ["bob@b.c"]


@pytest.mark.parametrize("given", ["bob", {}, 3, [None], ["x"]])
def test_own_that_gives_no_ids_is_an_error(shop, given):
    shop.gw.policy("customer", roles=["Customer"], hide=["email"], own=lambda context: given)
    with shop.calls("Customer"), pytest.raises(UsageError, match="own: expected a list of ids"):
        shop.customers.find_one()


def test_the_order_of_copies_does_not_tell_a_hidden_name(database, calls):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    shelves = gw.odm.new_model("shelf", {})
    by_price = {"sort": {"field": "price", "order": "asc"}}
    shelf = {"schemaName": "shelf", "type": "single", "relatedRelations": {"items": {"type": "multiple", **by_price}}}
    items = gw.odm.new_model("item", {"price": integer()}, {"shelf": shelf})
    gw.odm.new_model("box", {}, {"items": {"schemaName": "item", "type": "multiple", **by_price}})
    place = {"shelf": {"_ids": shelves.insert_one({})["_id"], "relatedRelations": {"items": True}}}
    ids = [items.insert_one({"price": price}, relations=place)["_id"] for price in (3, 1, 2)]
    gw.odm.model("box").insert_one({}, relations={"items": {"_ids": [ids[2], ids[0], ids[1]]}})
    gw.policy("item", roles=["Clerk"], hide=["price"])

    def shown(model):
        return [one["_id"] for one in gw.odm.model(model).find_one(projection={"items": {"_id": 1}})["items"]]

    assert shown("shelf") == shown("box") == [ids[1], ids[2], ids[0]]
    with calls(gw, "Clerk"):
        assert shown("shelf") == shown("box") == ids


READS = {
    "find": lambda model, get: model.find(projection=get).to_list(),
    "find_one": lambda model, get: model.find_one(projection=get),
    "update": lambda model, get: model.find_one_and_update({"day": "mon"}, {"$set": {"day": "mon"}}, projection=get),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(
    ("get", "more"),
    [
        ({"day": 1, "item": 1}, 0),
        ({"customer": {"name": 1}}, 1),
        ({"customer": {"name": 1, "rentals": {"day": 1, "item": {"name": 1}}}}, 1),
        ({"customer": {"rentals": {"customer": {"name": 1}}}}, 2),
    ],
    ids=["none", "one", "deeper", "twice"],
)
def test_a_path_to_copies_of_a_model_with_rows_takes_one_query_more(shop, monkeypatch, read, get, more):
    asked, find = [], shop.gw.odm.storage.find

    def noting(*given, **keys):
        asked.append(given)
        return find(*given, **keys)

    def queries():
        asked.clear()
        READS[read](shop.rentals, get)
        return len(asked)

    monkeypatch.setattr(shop.gw.odm.storage, "find", noting)
    before = queries()
    shop.gw.policy("customer", roles=["Customer"], rows=lambda context: {"_id": context["me"]})
    with shop.calls("Customer"):
        shop.rentals.count()
        assert queries() - before == more


# -- filters, sorts, and what server code reveals


def hiding(shop):
    """Hide two names from auditors: of rentals, and of the items in them."""
    shop.gw.policy("rental", roles=["Auditor"], hide=["deposit"])
    shop.gw.policy("item", roles=["Auditor"], hide=["price"])


@pytest.mark.parametrize(
    "wanted",
    [
        {"deposit": "wed 5"},
        {"$or": [{"day": "x"}, {"$nor": [{"deposit": None}]}]},
        {"item.price": "lamp 9"},
        {"$and": [{"item.price": {"$gt": ""}}]},
    ],
)
def test_a_filter_that_names_a_hidden_field_is_refused(shop, wanted):
    hiding(shop)
    with shop.calls("Auditor"):
        for operation in (shop.rentals.find, shop.rentals.find_one, shop.rentals.count, shop.rentals.exists):
            with pytest.raises(Hidden):
                operation(filters=wanted)
        with pytest.raises(Hidden):
            shop.rentals.distinct("day", wanted)
    assert shop.rentals.count(wanted) >= 1


def test_an_element_of_copies_is_not_asked_for_a_hidden_name(shop):
    hiding(shop)
    wanted = {"rentals": {"$elemMatch": {"deposit": "wed 5"}}}
    with shop.calls("Auditor"), pytest.raises(Hidden):
        shop.customers.count(wanted)
    assert shop.customers.count(wanted) == 1


@pytest.mark.parametrize("path", ["deposit", "item.price"])
def test_sorts_and_distinct_do_not_reach_hidden_names(shop, path):
    hiding(shop)
    with shop.calls("Auditor"):
        with pytest.raises(Hidden) as raised:
            shop.rentals.find().sort(path)
        assert (raised.value.status, raised.value.code) == (403, "hidden")
        assert raised.value.message == f"sort.{path} is hidden from you"
        with pytest.raises(Hidden):
            shop.rentals.distinct(path)


def test_distinct_does_not_read_copies_that_are_not_all_shown(shop):
    shop.gw.policy("customer", roles=["Customer"], rows=lambda context: {"_id": context["me"]})
    with shop.calls("Customer"):
        with pytest.raises(Hidden):
            shop.rentals.distinct("customer.name")
        assert shop.rentals.distinct("customer.name", reveal=["customer"]) == ["ann", "bob"]


def test_reveal_admits_hidden_names(shop):
    hiding(shop)
    names = ["deposit", "item.price"]
    with shop.calls("Auditor"):
        wanted = {"deposit": "wed 5", "item.price": "lamp 9"}
        found = shop.rentals.find_one(wanted, projection={"item": {"price": 1}}, reveal=names)
        assert found == {"_id": shop.third, "deposit": "wed 5", "item": {"price": "lamp 9"}}
        ordered = shop.rentals.find(projection={"_id": 0, "day": 1}, reveal=names).sort("item.price", -1).to_list()
        assert ordered[0] == {"day": "tue", "deposit": "tue 5"}
        assert shop.rentals.distinct("deposit", reveal=names) == ["mon 5", "tue 5", "wed 5"]
    assert shop.rentals.count({"deposit": "wed 5"}, reveal=names) == 1
    with pytest.raises(UsageError, match="'day' is not an excluded field"):
        shop.rentals.count(reveal=["day"])


def test_a_name_to_reveal_admits_no_part_of_it(database, calls):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    cards = gw.odm.new_model("card", {"pin": string(), "pin_hint": string()})
    cards.insert_one({"pin": "1", "pin_hint": "one"})
    gw.policy("card", roles=["Clerk"], hide=["pin", "pin_hint"])
    with calls(gw, "Clerk"):
        assert cards.find(projection={"_id": 0}, reveal="pin_hint").sort("pin_hint").to_list() == [{"pin_hint": "one"}]
        with pytest.raises(Hidden):
            cards.find(reveal="pin_hint").sort("pin")


def test_reveal_shows_no_document_that_is_not_there(shop):
    shop.gw.policy("rental", roles=["Customer"], rows=lambda context: {"customer._id": context["me"]}, hide=["deposit"])
    with shop.calls("Customer"):
        assert shop.rentals.find_one({"deposit": "wed 5"}, reveal=["deposit"]) is None


# -- what rows may give


@pytest.mark.parametrize(
    ("given", "count"),
    [(None, 0), ({}, 3), ({"day": {"$in": []}}, 0), ({"day": {"$exists": True}}, 3), ({"day": {"$ne": None}}, 3)],
)
def test_rows_give_a_filter_or_none_for_nothing(shop, given, count):
    shop.gw.policy("rental", roles=["Customer"], rows=lambda context: given)
    with shop.calls("Customer"):
        assert shop.rentals.count() == count


@pytest.mark.parametrize(
    "given",
    [
        True,
        [],
        {"day": None},
        {"customer._id": {"$eq": None}},
        {"$or": [{"day": "mon"}, {"day": {"$in": ["tue", None]}}]},
        {"$nor": [{"day": None}]},
        {"nmae": "x"},
        {"customer._id": "ann"},
        {"day": 5},
    ],
)
def test_rows_that_give_no_filter_or_compare_with_none_are_an_error(shop, given):
    shop.gw.policy("rental", roles=["Customer"], rows=lambda context: given)
    with shop.calls("Customer"), pytest.raises(UsageError):
        shop.rentals.count()


class BlankAsNone(fields.String):
    def _deserialize(self, value, attr, data, **kwargs):
        return super()._deserialize(value, attr, data, **kwargs) or None


def test_rows_that_compare_with_what_is_stored_as_none_are_an_error(database, calls):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    beds = gw.odm.new_model("bed", {"ward": BlankAsNone(allow_none=True)})
    beds.insert_one({})
    gw.policy("bed", roles=["Clerk"], rows=lambda context: {"ward": context["ward"]})
    with calls(gw, "Clerk", ward=""), pytest.raises(UsageError, match="expected a filter without None"):
        beds.count()
    with calls(gw, "Clerk", ward="a"):
        assert beds.count() == 0


def test_rows_that_fail_show_nothing_and_are_logged(shop, caplog):
    shop.gw.policy("rental", roles=["Customer"], rows=lambda context: {"customer._id": context["typo"]})
    with shop.calls("Customer"):
        assert shop.rentals.count() == 0
    assert "a function of a policy of rental failed" in caplog.text
    assert "KeyError" in caplog.text


def test_rows_may_compare_a_whole_object_that_holds_none(database, calls):
    gw = gateway(roles=ROLES)
    gw.odm.set_db(database)
    address = Schema.from_dict({"street": fields.String(), "zip": fields.String(load_default=None, allow_none=True)})
    homes = gw.odm.new_model("home", {"at": fields.Nested(address)})
    homes.insert_many([{"at": {"street": "elm"}}, {"at": {"street": "elm", "zip": "1"}}, {"at": {"street": "oak"}}])
    gw.policy("home", roles=["Clerk"], rows=lambda context: context["rows"])
    for rows in ({"at": {"street": "elm"}}, {"at": {"$in": [{"street": "elm", "zip": None}]}}):
        with calls(gw, "Clerk", rows=rows):
            assert homes.find(projection={"_id": 0, "at": 1}).to_list() == [{"at": {"street": "elm", "zip": None}}]
    for rows in ({"at": {"$in": [None]}}, {"$or": [{"at.zip": None}]}, {"at": {"$not": {"$ne": None}}}):
        with calls(gw, "Clerk", rows=rows), pytest.raises(UsageError):
            homes.count()


@pytest.mark.parametrize("function", ["rows", "own"])
def test_an_outage_in_a_function_of_a_policy_is_one_of_the_act(shop, function):
    outages = [Unavailable()]

    def ask(context):
        if outages:
            raise outages.pop()
        return {"day": "mon"} if function == "rows" else [shop.first]

    shop.gw.policy("rental", roles=["Customer"], hide=["deposit"], **{function: ask})
    with shop.calls("Customer"):
        with pytest.raises(Unavailable):
            shop.rentals.find_one({"day": "mon"}, projection={"day": 1, "deposit": 1})
        found = shop.rentals.find_one({"day": "mon"}, projection={"day": 1, "deposit": 1, "_id": 0})
    assert found == {"day": "mon", **({"deposit": "mon 5"} if function == "own" else {})}


def test_a_pipeline_needs_the_model_without_policies(shop):
    shop.gw.policy("item", roles=["Clerk"])
    for role in ("Clerk", "Auditor"):
        with shop.calls(role):
            with pytest.raises(UsageError, match=r"call \.unrestricted\.aggregate of rental"):
                shop.rentals.aggregate([{"$match": {}}])
            assert len(shop.rentals.unrestricted.aggregate([{"$match": {}}]).to_list()) == 3
