"""What rows and hidden fields keep back, one test a rule: from replies, copies, lists, filters and sorts."""

from __future__ import annotations

import pytest

from gatewayfw import HttpError, any_
from tests.policies.judged.shop import ANN, BOB

NUMBER = {"number": 1}
ANNS = [{"number": "r-Ann"}]


def own(context):
    """Rows: the rentals of the caller's customer."""
    return {"customer._id": context["user"]["_id"]}


def self_(context):
    """Rows: the caller's own customer."""
    return {"_id": context["user"]["_id"]}


@pytest.fixture
def rows(shop):
    """A shop whose customers see their own rentals."""
    shop.policy("rental", roles=["Customer"], rows=own)
    return shop


@pytest.fixture
def hide(shop):
    """A shop whose auditors see no price of a rental and no phone of a customer."""
    shop.policy("rental", roles=["Auditor"], hide=["price"])
    shop.policy("customer", roles=["Auditor"], hide=["phone"])
    return shop


READS = {
    "find": (lambda shop: [one["number"] for one in shop.rentals.find()], ["r-Ann"]),
    "find_one": (lambda shop: shop.rentals.find_one({"number": "r-Bob"}), None),
    "count": (lambda shop: shop.rentals.count(), 1),
    "exists": (lambda shop: shop.rentals.exists({"number": "r-Bob"}), False),
    "distinct": (lambda shop: shop.rentals.distinct("number"), ["r-Ann"]),
}


@pytest.mark.parametrize(("read", "expected"), READS.values(), ids=READS)
def test_rows_join_the_filter_of_each_read(rows, read, expected):
    assert rows.ask("Customer", lambda: read(rows)) == expected


def test_rows_join_the_filter_of_a_listing_and_of_its_total(rows):
    assert rows.page("Customer", NUMBER) == {"rows": ANNS, "next": None, "total": 1}


WRITES = {
    "update": (lambda shop, it: shop.rentals.find_one_and_update(it, {"$set": {"note": "n"}}), None),
    "update_many": (lambda shop, it: shop.rentals.update_many(it, {"$set": {"note": "n"}})["matched"], 0),
    "delete": (lambda shop, it: shop.rentals.delete_one(it)["deletedCount"], 0),
    "delete_many": (lambda shop, it: shop.rentals.delete_many(it)["deletedCount"], 0),
    "add": (lambda shop, it: shop.rentals.add_relation(it, relations={"items": {"_ids": [shop.lamp]}}), None),
    "remove": (lambda shop, it: shop.rentals.remove_relation(it, relations={"items": {"_ids": [shop.lamp]}}), None),
}


@pytest.mark.parametrize(("write", "expected"), WRITES.values(), ids=WRITES)
def test_rows_join_the_filter_of_each_write(rows, write, expected):
    before = rows.rentals.find_one({"number": "r-Bob"})
    assert rows.ask("Customer", lambda: write(rows, {"number": "r-Bob"})) == expected
    assert rows.rentals.find_one({"number": "r-Bob"}) == before


def test_an_upsert_changes_nothing_that_rows_hide(shop):
    shop.policy("item", roles=["Clerk"], rows=lambda context: {"name": "chair"})
    work = lambda: shop.items.find_one_and_update({"_id": shop.lamp}, {"$set": {"name": "chair"}}, upsert=True)  # noqa: E731
    assert (shop.ask("Clerk", work), shop.items.find_one({"_id": shop.lamp})["name"]) == (409, "lamp")


def test_rows_run_unrestricted_once_per_request_and_model(shop):
    counts = []

    def of_caller(context):
        counts.append(shop.rentals.count())
        return own(context)

    shop.policy("rental", roles=["Customer"], rows=of_caller)
    shop.ask("Customer", lambda: [shop.rentals.count(), len(shop.rentals.find().to_list()), shop.rentals.exists()])
    assert counts == [2]


def test_rows_that_are_none_show_nothing(shop):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: None)
    assert shop.ask("Clerk", shop.rentals.count) == 0


WITH_NONE = [
    {"price": None},
    {"customer._id": {"$eq": None}},
    {"price": {"$in": [1, None]}},
    {"$or": [{"number": "r-Ann"}, {"price": None}]},
]


@pytest.mark.parametrize("rows", WITH_NONE, ids=["alone", "eq", "in", "or"])
def test_rows_that_compare_with_none_are_a_usage_error(shop, rows):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: rows)
    assert shop.ask("Clerk", shop.rentals.count) == 500


def test_an_exception_in_own_shows_nothing_that_is_hidden(shop):
    shop.policy("customer", roles=["Clerk"], hide=["phone"], own=lambda context: context["no such key"])
    assert shop.show("Clerk", {"name": 1, "phone": 1}, model="customer") == [{"name": "Ann"}, {"name": "Bob"}]


def test_where_the_role_cannot_be_told_nothing_is_shown(open_shop):
    shop = open_shop(policy_role=lambda context: context["no such key"])
    shop.policy("rental", roles=["Clerk"])
    assert shop.ask("Clerk", shop.rentals.count) in (0, 500)


def test_an_exception_in_rows_is_logged_and_shows_nothing(shop, caplog):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: {"price": context["no such key"]})
    assert (shop.ask("Clerk", shop.rentals.count), "no such key" in caplog.text) == (0, True)


def test_rows_may_name_excluded_fields(shop):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: {"secret": "secret of Ann"})
    assert shop.show("Clerk", NUMBER) == ANNS


def test_rows_may_name_hidden_fields(shop):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: {"price": 10}, hide=["price"])
    assert shop.show("Clerk", NUMBER) == ANNS


def test_copies_in_a_list_are_shown_where_their_document_is_visible(rows):
    shown = rows.show("Customer", {"name": 1, "rentals": NUMBER}, model="customer")
    assert shown == [{"name": "Ann", "rentals": ANNS}, {"name": "Bob", "rentals": []}]


def test_copies_in_a_main_list_are_shown_where_their_document_is_visible(shop):
    shop.policy("item", roles=["Clerk"], rows=lambda context: {"price": 8})
    assert shop.show("Clerk", {"number": 1, "items": 1})[0] == {"number": "r-Ann", "items": []}


def test_a_required_relation_whose_copy_is_hidden_is_absent(shop):
    shop.policy("customer", roles=["Customer"], rows=self_)
    shown = shop.show("Customer", {"number": 1, "customer": {"name": 1}})
    assert shown == [{"number": "r-Ann", "customer": {"name": "Ann"}}, {"number": "r-Bob"}]


def test_ids_alone_are_hidden_too(shop):
    shop.policy("customer", roles=["Customer"], rows=self_)
    assert shop.show("Customer", {"customer": {}}) == [{"customer": {"_id": str(shop.of[ANN])}}, {}]


def test_copies_are_hidden_at_every_level(rows):
    get = {"rentedIn": {"customer": {"rentals": NUMBER}}}
    assert rows.show("Customer", get, model="item") == [{"rentedIn": [{"customer": {"rentals": ANNS}}]}]


def test_copies_of_a_closed_model_are_hidden(shop):
    shop.policy("customer", roles=["Customer"])
    assert shop.show("Clerk", {"number": 1, "customer": 1})[0] == {"number": "r-Ann"}


def test_what_is_invisible_does_not_count_as_bytes_of_a_reply(open_shop):
    shop = open_shop(max_reply_bytes=2_000)
    shop.rentals.find_one_and_update({"number": "r-Bob"}, {"$set": {"note": "n" * 3_000}})
    shop.policy("rental", roles=["Customer"], rows=own)
    get = {"items": {"rentedIn": {"note": 1}}}
    assert shop.show("Customer", get) == [{"items": [{"rentedIn": [{"note": "none"}]}]}]
    assert shop.show("ghost", get) == 413


def test_looking_for_what_is_visible_does_not_count_as_a_query_of_the_act(open_shop):
    shop = open_shop(max_get_queries=1)
    shop.policy("*", roles=["Customer"], rows=lambda context: {"_id": {"$exists": True}})
    assert shop.show("Customer", {"customer": {"rentals": NUMBER}})[0] == {"customer": {"rentals": ANNS}}


@pytest.mark.parametrize("atomic", [False, True])
def test_it_does_not_count_as_a_query_of_a_batch_either(open_shop, atomic):
    shop = open_shop(max_get_queries=1)
    shop.policy("*", roles=["Customer"], rows=lambda context: {"_id": {"$exists": True}})
    shop.work = lambda body: shop.rentals.find_one({"number": "r-Ann"}, projection=body["details"]["get"])
    items = [shop.body("Customer", {"_id": 0, "customer": {"name": 1}})] * 3
    sent = shop.send({"batch": items, "atomic": atomic}).json["body"]
    assert [one["body"] for one in sent] == [{"customer": {"name": "Ann"}}] * 3


def test_a_shared_copy_is_shown_alone(open_shop):
    shop = open_shop(shared=["customer"])
    shop.policy("customer", roles=["Customer"], rows=self_)
    shown = shop.show("Customer", {"customer": {"name": 1, "rentals": NUMBER}})
    assert shown == [{"customer": {"name": "Ann", "rentals": ANNS}}, {"customer": {"name": "Bob", "rentals": []}}]


def test_a_shared_list_shows_its_copies(open_shop):
    shop = open_shop(shared=["rentedIn"])
    shop.policy("rental", roles=["Customer"], rows=own)
    shown = shop.show("Customer", {"rentedIn": {"number": 1, "customer": {"name": 1}}}, model="item")[0]["rentedIn"]
    assert sorted(shown, key=str) == [{"number": "r-Ann", "customer": {"name": "Ann"}}, {"number": "r-Bob"}]


def test_a_closed_model_shows_no_shared_copies_either(open_shop):
    shop = open_shop(shared=["customer"])
    shop.policy("customer", roles=["Customer"], hide=["phone"])
    assert shop.show("Clerk", {"number": 1, "customer": 1})[0] == {"number": "r-Ann"}
    assert shop.page("Clerk", filter={"customer.name": "Ann"}) == 403


THROUGH = [{"filter": {"customer.name": "Ann"}}, {"sort": "customer.name"}]


def test_a_client_may_not_ask_for_a_relation_to_a_model_with_rows(shop):
    shop.policy("customer", roles=["Customer"], rows=self_)
    asked = {"filter": {"customer": str(shop.of[BOB])}}
    assert (shop.page("Customer", **asked), shop.page("ghost", **asked)["total"]) == (403, 1)


@pytest.mark.parametrize("asked", THROUGH, ids=["filter", "sort"])
def test_a_client_asks_nothing_through_copies_of_a_model_with_rows(shop, asked):
    shop.policy("customer", roles=["Customer"], rows=self_)
    assert (shop.page("Customer", **asked), shop.page("Customer")["total"]) == (403, 2)


@pytest.mark.parametrize("asked", THROUGH, ids=["filter", "sort"])
def test_a_client_may_ask_through_shared_copies(open_shop, asked):
    shop = open_shop(shared=["customer"])
    shop.policy("customer", roles=["Customer"], rows=self_)
    assert shop.page("Customer", **asked)["total"] == (1 if "filter" in asked else 2)


def test_each_newly_named_id_must_be_visible(shop):
    shop.policy("customer", roles=["Customer"], rows=self_)

    def add(name):
        return shop.rentals.insert_one({"number": f"of {name}"}, relations={"customer": {"_ids": shop.of[name]}})

    answers = [shop.ask("Customer", lambda name=name: add(name) and "done") for name in (BOB, ANN)]
    assert (answers, shop.rentals.count()) == ([404, "done"], 3)


@pytest.fixture
def one_chair(shop):
    """A shop whose clerks see its chair and Ann, but not the lamp and Bob."""
    shop.chair = shop.items.insert_one({"name": "chair"})["_id"]
    shop.policy("item", roles=["Clerk"], rows=lambda context: {"name": "chair"})
    shop.policy("customer", roles=["Clerk"], rows=lambda context: {"name": "Ann"})
    return shop


NAMED = {
    "first of two": lambda shop: {"items": {"_ids": [shop.lamp, shop.chair]}},
    "last of two": lambda shop: {"items": {"_ids": [shop.chair, shop.lamp]}},
    "first relation": lambda shop: {"customer": {"_ids": shop.of[BOB]}, "items": {"_ids": [shop.chair]}},
    "last relation": lambda shop: {"customer": {"_ids": shop.of[ANN]}, "items": {"_ids": [shop.lamp]}},
}


@pytest.mark.parametrize("links", NAMED.values(), ids=NAMED)
def test_each_of_several_newly_named_ids_must_be_visible(one_chair, links):
    shop, given = one_chair, links(one_chair)
    whole = {"customer": {"_ids": shop.of[ANN]}}
    before = shop.rentals.find(projection={"_rev": 1, "number": 1, "customer": 1, "items": 1}).to_list()
    writes = [
        lambda: shop.rentals.insert_one({"number": "n"}, relations={**whole, **given}),
        lambda: shop.rentals.insert_many([{"number": n} for n in "abc"], relations=[whole, {**whole, **given}, whole]),
        lambda: shop.rentals.add_relation({"number": "r-Ann"}, relations=given, replace=True),
    ]
    assert [shop.ask("Clerk", write) for write in writes] == [404, 404, 404]
    assert shop.rentals.find(projection={"_rev": 1, "number": 1, "customer": 1, "items": 1}).to_list() == before


def test_an_invisible_id_is_refused_before_anything_is_touched(one_chair):
    """Else the refusal would be that of a number that is taken, and of a relation that holds one already."""
    shop, bob = one_chair, {"customer": {"_ids": one_chair.of[BOB]}}
    writes = [
        lambda: shop.rentals.insert_one({"number": "r-Ann"}, relations=bob),
        lambda: shop.rentals.add_relation({"number": "r-Ann"}, relations=bob),
        lambda: shop.rentals.remove_relation({"number": "r-Ann"}, relations=bob),
    ]
    assert [shop.ask("Clerk", write) for write in writes] == [404, 404, 404]


def test_an_invisible_id_gets_the_error_of_a_missing_document(shop):
    shop.policy("item", roles=["Clerk"], rows=lambda context: None)

    def message(id_):
        links = {"items": {"_ids": [id_]}}
        shop.work = lambda body: shop.rentals.add_relation({"number": "r-Ann"}, relations=links, replace=True)
        return shop.send(shop.body("Clerk")).json["body"]["message"].replace(str(id_), "ID")

    chair = shop.items.insert_one({"name": "chair"})["_id"]
    assert message(chair) == message("0" * 24)


def test_an_id_of_a_closed_model_is_that_of_a_missing_document(shop):
    shop.policy("customer", roles=["Customer"])
    links = {"customer": {"_ids": shop.of[ANN]}}
    assert shop.ask("Clerk", lambda: shop.rentals.insert_one({"number": "n"}, relations=links)) == 404
    assert shop.rentals.count() == 2


def test_the_error_names_the_invisible_ids_alone(one_chair):
    shop = one_chair

    def message(role, id_):
        links = {"items": {"_ids": [shop.chair, id_]}}
        shop.work = lambda body: shop.rentals.add_relation({"number": "r-Ann"}, relations=links, replace=True)
        return shop.send(shop.body(role)).json["body"]["message"].replace(str(id_), "ID")

    assert message("Clerk", shop.lamp) == message("ghost", "0" * 24)


def test_removing_an_invisible_copy_gets_the_error_of_one_that_is_not_related(one_chair):
    shop = one_chair

    def message(role, id_):
        links = {"items": {"_ids": [id_]}}
        shop.work = lambda body: shop.rentals.remove_relation({"number": "r-Ann"}, relations=links)
        return shop.send(shop.body(role)).json["body"]["message"].replace(str(id_), "ID")

    assert message("Clerk", shop.lamp) == message("Clerk", shop.chair) == message("ghost", shop.chair)


def test_a_related_id_that_is_invisible_gets_the_same_error(shop):
    shop.policy("item", roles=["Clerk"], rows=lambda context: None)
    links = {"items": {"_ids": [shop.lamp]}}
    changes = [shop.rentals.add_relation, shop.rentals.remove_relation]
    assert [shop.ask("Clerk", lambda change=one: change({"number": "r-Ann"}, relations=links)) for one in changes] == [
        404,
        404,
    ]


def test_the_id_of_a_shared_copy_may_be_named_where_it_is_related(open_shop):
    shop = open_shop(shared=["items"])
    chair = shop.items.insert_one({"name": "chair"})["_id"]
    shop.policy("item", roles=["Clerk"], rows=lambda context: {"name": "chair"})

    def name(*ids):
        it, links = {"number": "r-Ann"}, {"items": {"_ids": ids}}
        return shop.ask("Clerk", lambda: shop.rentals.add_relation(it, relations=links, replace=True) and "done")

    assert [name(shop.lamp, chair), name(chair), name(shop.lamp, chair)] == ["done", "done", 404]


# Hidden fields.


def test_a_get_that_names_a_hidden_field_is_forbidden(hide):
    hide.work = lambda body: None
    reply = hide.send(hide.body("Auditor", {"price": 1}))
    assert (reply.status_code, reply.headers["X-Error-Code"]) == (403, "hidden")


def test_a_get_is_judged_after_the_hooks(hide):
    def refuse(body):
        raise HttpError("not today", 409)

    hide.hooks.append(refuse)
    assert hide.show("Auditor", {"price": 1}) == 409


def test_a_get_is_judged_before_the_act(hide):
    done = []
    answer = hide.ask("Auditor", lambda: done.append(1), {"price": 1})
    assert (answer, done) == (403, [])


@pytest.mark.parametrize(
    "get", [{"customer": {"phone": 1}}, {"items": {"rentedIn": {"price": 1}}}, {"customer": {"rentals": {"price": 1}}}]
)
def test_a_hidden_field_is_hidden_in_each_copy_at_any_depth(hide, get):
    assert (hide.show("Auditor", get), hide.show("ghost", get) != 403) == (403, True)


def test_a_one_leaves_hidden_fields_out(hide):
    customer = {"_id": str(hide.of[ANN]), "name": "Ann"}
    assert hide.show("Auditor", {"customer": 1})[0] == {"customer": customer}


def test_what_the_server_reads_without_a_projection_lacks_hidden_fields(hide):
    shown = hide.ask("Auditor", lambda: hide.rentals.find_one({"number": "r-Ann"}))
    assert ("price" in shown, "phone" in shown["customer"], shown["customer"]["name"]) == (False, False, "Ann")


def test_what_a_write_returns_lacks_hidden_fields(hide):
    change = {"$set": {"note": "n"}}
    shown = hide.ask("Auditor", lambda: hide.rentals.find_one_and_update({"number": "r-Ann"}, change))
    assert ("price" in shown, "phone" in shown["customer"], shown["note"]) == (False, False, "n")


def test_others_see_what_is_hidden_from_one_role(hide):
    hide.policy("rental", roles=["Clerk"])
    assert hide.show("Clerk", {"price": 1}) == [{"price": 10}, {"price": 11}]


@pytest.mark.parametrize("asked", [{"filter": {"price": {"gte": 11}}}, {"sort": "price"}, {"sort": "-price"}])
def test_a_page_by_a_hidden_field_is_forbidden(hide, asked):
    assert hide.page("Auditor", **asked) == 403


def test_a_page_by_a_hidden_field_of_a_copy_is_forbidden(shop):
    shop.policy("customer", roles=["Auditor"], hide=["name"])
    assert [shop.page("Auditor", **asked) for asked in THROUGH] == [403, 403]


def test_a_page_whose_default_sort_is_a_hidden_field_is_forbidden(hide):
    listing = hide.rentals.listing(sort=["price"], default_sort="price", count=True)
    ask = lambda **asked: hide.ask("Auditor", lambda: listing.page({"set": asked, "get": {}})["total"])  # noqa: E731
    assert ask() == 403


def test_distinct_values_of_a_hidden_field_are_refused(hide):
    paths = ["price", "customer.phone", "number"]
    answers = [hide.ask("Auditor", lambda path=path: len(hide.rentals.distinct(path))) for path in paths]
    assert answers == [403, 403, 2]


def test_own_documents_show_what_others_hide(shop):
    shop.policy("customer", roles="*", admit=True, hide=["phone"], own=lambda context: [context["user"]["_id"]])
    shown = shop.show("Customer", {"name": 1, "phone": 1}, model="customer")
    assert shown == [{"name": "Ann", "phone": "phone of Ann"}, {"name": "Bob"}]


def test_copies_of_own_documents_show_what_others_hide(shop):
    shop.policy("customer", roles="*", admit=True, hide=["phone"], own=lambda context: [context["user"]["_id"]])
    assert shop.show("Customer", {"customer": {"phone": 1}}) == [
        {"customer": {"phone": "phone of Ann"}},
        {"customer": {}},
    ]


def test_a_page_by_an_own_field_is_forbidden_all_the_same(shop):
    shop.policy("customer", roles="*", admit=True, hide=["name"], own=lambda context: [context["user"]["_id"]])
    assert [shop.page("Customer", **asked) for asked in THROUGH] == [403, 403]


# Server code.


def test_a_filter_of_the_server_that_names_a_hidden_field_is_forbidden(hide):
    wanted = [{"price": 10}, {"customer.phone": "phone of Ann"}, {"number": "r-Ann"}]
    assert [hide.ask("Auditor", lambda it=it: hide.rentals.count(it)) for it in wanted] == [403, 403, 1]


NAMING = {
    "and": {"$and": [{"number": "r-Ann"}, {"price": 10}]},
    "or in nor": {"$nor": [{"$or": [{"price": 10}]}]},
    "not": {"price": {"$not": {"$gt": 10}}},
    "exists": {"price": {"$exists": True}},
    "parts": {("price",): 10},
    "copy in or": {"$or": [{"customer.phone": {"$regex": "Ann"}}]},
    "element": {"items": {"$elemMatch": {"price": 7}}},
    "parts of a copy": {("customer", "phone"): "phone of Ann"},
}


@pytest.mark.parametrize("wanted", NAMING.values(), ids=NAMING)
@pytest.mark.parametrize("operation", ["find_one", "count", "exists", "delete_many"])
def test_a_filter_may_not_name_a_hidden_field_at_any_place(hide, wanted, operation):
    hide.policy("item", roles=["Auditor"], hide=["price"])
    assert hide.ask("Auditor", lambda: getattr(hide.rentals, operation)(wanted)) == 403
    assert hide.rentals.count() == 2


def test_a_sort_of_the_server_that_names_a_hidden_field_is_forbidden(hide):
    assert hide.ask("Auditor", lambda: hide.rentals.find(projection=NUMBER).sort("price")) == 403


def test_reveal_admits_hidden_names_in_reads(hide):
    def work():
        found = hide.rentals.find({"price": {"$gte": 10}}, projection={"_id": 0}, reveal=["price"]).sort("price")
        return [found.to_list(), hide.rentals.distinct("price", reveal=["price"])]

    assert hide.ask("Auditor", work) == [[{"price": 10}, {"price": 11}], [10, 11]]


def test_the_unrestricted_model_has_no_policies(shop):
    shop.policy("rental", roles=["Auditor"], hide=["price"], rows=lambda context: None, write=False)
    work = lambda: [one["price"] for one in shop.rentals.unrestricted.find().sort("_id")]  # noqa: E731
    assert shop.ask("Auditor", work) == [10, 11]


def test_an_aggregate_needs_the_unrestricted_model_where_any_policy_applies(shop):
    shop.policy("customer", roles=["Auditor"], hide=["phone"])
    count = [{"$group": {"_id": None, "n": {"$sum": 1}}}]
    answers = [shop.ask(role, lambda: shop.items.aggregate(count).to_list()[0]["n"]) for role in ("Auditor", "ghost")]
    assert answers[0] in (403, 500)
    assert (answers[1], shop.ask("Auditor", lambda: shop.items.unrestricted.aggregate(count).to_list()[0]["n"])) == (
        1,
        1,
    )


def test_what_is_not_shown_does_not_weigh_in_a_listing(open_shop):
    """Rows come in several pieces in memory, and what each piece weighs was told by a 413."""
    shop = open_shop(max_reply_bytes=20_000)
    shop.rentals.insert_many(
        [{"number": f"n{number}", "note": "x" * 1_000} for number in range(150)],
        relations={"customer": {"_ids": shop.of[ANN]}},
    )
    shop.policy("rental", roles=["Customer"], hide=["note"], own=lambda context: [shop.rented[ANN]])
    wide = shop.rentals.listing(filter={"number": ["eq"]}, most=200, default=200)
    shop.gw.acts.act(
        "rental", "wide", set={**wide.set, "role": any_, "user": any_}, get=1, mode="create", pre_act=[shop.sign_in]
    )(lambda body: wide.page(body["details"]))
    body = shop.body("Customer", {"_id": 0, "note": 1}, act="wide")
    reply = shop.send(body)
    assert (reply.status_code, sorted(map(str, reply.json["body"]["rows"]))[1:]) == (200, ["{}"] * 151)
