"""What policies let a caller change, one test a rule, the refusal beside the success."""

from __future__ import annotations

import pytest

from tests.policies.judged.shop import ANN, BOB, Shop

IT = {"number": "r-Ann"}


@pytest.fixture
def fixed(shop):
    """A shop whose clerks may not change the price of a rental."""
    shop.policy("rental", roles=["Clerk"], fixed=["price", "note"])
    return shop


def update(shop, change, **more):
    """Change Ann's rental as a clerk; return "done" or the status of the refusal."""
    return shop.ask("Clerk", lambda: shop.rentals.find_one_and_update(IT, change, **more) and "done")


def insert(shop, **fields):
    """Insert a rental of Ann's as a clerk."""
    links = {"customer": {"_ids": shop.of[ANN]}}
    return shop.ask("Clerk", lambda: shop.rentals.insert_one({"number": "new", **fields}, relations=links) and "done")


CHANGES = [
    {"$set": {"price": 10}},
    {"$unset": {"price": ""}},
    {"$inc": {"price": 0}},
    {"$min": {"price": 99}},
    {"$mul": {("price",): 1}},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_write_that_names_a_fixed_field_is_forbidden_whatever_the_value(fixed, change):
    assert update(fixed, change) == 403


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_bulk_write_that_names_a_fixed_field_is_forbidden(fixed, change):
    assert fixed.ask("Clerk", lambda: fixed.rentals.update_many(IT, change)) == 403


def test_a_fixed_field_is_shown_and_others_may_be_changed(fixed):
    assert update(fixed, {"$set": {"number": "r-Ann-2"}}) == "done"
    assert fixed.show("Clerk", {"price": 1})[0] == {"price": 10}


def test_an_insert_may_not_name_a_fixed_field_but_has_its_default(fixed):
    assert [insert(fixed, price=1), insert(fixed, note="x"), insert(fixed)] == [403, 403, "done"]
    assert fixed.rentals.find_one({"number": "new"})["note"] == "none"


def test_a_fixed_reverse_relation_does_not_stop_who_joins_it_by_its_own(shop):
    """The list is not named by the write; the relation of its members is what to fix."""
    shop.policy("customer", roles=["Clerk"], fixed=["rentals"])
    shop.policy("rental", roles=["Clerk"])
    ann, bob = ({"customer": {"_ids": shop.of[name]}} for name in (ANN, BOB))
    shop.ask("Clerk", lambda: shop.rentals.insert_one({"number": "new"}, relations=ann))
    listed = shop.customers.find_one({"_id": shop.of[ANN]})["rentals"]
    assert [one["number"] for one in listed] == ["new", "r-Ann"]
    shop.policy("rental", roles=["Clerk"], fixed=["customer"])
    moved = [
        shop.ask("Clerk", lambda: shop.rentals.insert_one({"number": "other"}, relations=ann)),
        shop.ask("Clerk", lambda: shop.rentals.add_relation({"number": "r-Ann"}, relations=bob, replace=True)),
    ]
    assert moved == [403, 403]


def test_an_upsert_may_not_name_a_fixed_field(shop):
    shop.policy("item", roles=["Clerk"], fixed=["price"])

    def upsert(**change):
        fields = {"$set": {"name": "lamp"}, **change}
        return shop.ask("Clerk", lambda: shop.items.find_one_and_update({"_id": shop.lamp}, fields, upsert=True))

    answers = [upsert(**{"$setOnInsert": {"price": 1}}), upsert(**{"$inc": {"price": 1}}), upsert() != 403]
    assert answers == [403, 403, True]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_a_write_that_names_a_hidden_field_is_forbidden(shop, change):
    shop.policy("rental", roles=["Clerk"], hide=["price"])
    assert (update(shop, change), insert(shop, price=3), insert(shop)) == (403, 403, "done")


def test_own_documents_do_not_admit_changes_of_hidden_fields(shop):
    shop.policy("rental", roles=["Clerk"], hide=["price"], own=lambda context: [shop.rented[ANN]])
    assert update(shop, {"$set": {"price": 3}}) == 403


def test_allow_admits_hidden_and_fixed_names(shop):
    shop.policy("rental", roles=["Clerk"], hide=["price"], fixed=["note"])
    links = {"customer": {"_ids": shop.of[ANN]}}

    def work():
        shop.rentals.find_one_and_update(IT, {"$set": {"price": 3, "note": "n"}}, allow=["price", "note"])
        shop.rentals.insert_one({"number": "new", "price": 4}, relations=links, allow=["price"])
        return "done"

    assert shop.ask("Clerk", work) == "done"
    assert [one["price"] for one in shop.rentals.find({"number": {"$ne": "r-Bob"}}).sort("_id")] == [3, 4]


@pytest.fixture
def cheap(shop):
    """A shop whose customers see their own rentals, and clerks change rentals that cost at most 10."""
    shop.policy("rental", roles=["Clerk"], write=lambda context: {"price": {"$lte": 10}})
    return shop


WRITES = {
    "update": lambda shop, it: shop.rentals.find_one_and_update(it, {"$set": {"note": "n"}}),
    "update_many": lambda shop, it: shop.rentals.update_many(it, {"$set": {"note": "n"}}),
    "add": lambda shop, it: shop.rentals.add_relation(it, relations={"items": {"_ids": [shop.lamp]}}),
    "remove": lambda shop, it: shop.rentals.remove_relation(it, relations={"items": {"_ids": [shop.lamp]}}),
    "delete": lambda shop, it: shop.rentals.delete_one(it),
    "delete_many": lambda shop, it: shop.rentals.delete_many(it),
}


NEW = {
    "insert": lambda shop, it: shop.rentals.insert_one({"number": "n"}, relations={"customer": {"_ids": shop.of[ANN]}}),
    "upsert": lambda shop, it: shop.items.find_one_and_update({"_id": shop.lamp}, {"$set": {"name": "n"}}, upsert=True),
}


@pytest.mark.parametrize("write", [*WRITES.values(), *NEW.values()], ids=[*WRITES, *NEW])
def test_write_false_is_refused_before_anything_is_read(shop, monkeypatch, write):
    shop.policy(["rental", "item"], roles=["Clerk"], write=False)
    storage, asked = shop.gw.odm.storage, []
    for name in ("find", "count", "transaction"):
        method = getattr(storage, name)
        monkeypatch.setattr(
            storage, name, lambda *given, method=method, **keys: asked.append(given) or method(*given, **keys)
        )
    shop.ask("ghost", shop.rentals.count)
    assert asked
    asked.clear()
    assert (shop.ask("Clerk", lambda: write(shop, IT)), asked) == (403, [])


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_visible_and_may_not_be_changed_is_forbidden(cheap, write):
    before = cheap.rentals.find_one({"number": "r-Bob"})
    answers = [cheap.ask("Clerk", lambda it=it: write(cheap, it) and "done") for it in ({"number": "r-Bob"}, IT)]
    assert (answers, cheap.rentals.find_one({"number": "r-Bob"})) == ([403, "done"], before)


def test_the_id_of_a_shared_copy_may_be_named_of_what_may_not_be_changed(open_shop):
    shop = open_shop(shared=["items"])
    shop.policy("rental", roles=["Clerk"], write=lambda context: {"price": 11})
    shop.policy("item", roles=["Clerk"], rows=lambda context: None)
    links = {"items": {"_ids": [shop.lamp]}}
    answers = [
        shop.ask("Clerk", lambda n=n: shop.rentals.add_relation({"number": n}, relations=links) and "done")
        for n in ("r-Ann", "r-Bob")
    ]
    assert answers == [403, "done"]


def test_what_may_not_be_changed_is_forbidden_before_its_new_ids_are_missing(cheap):
    cheap.policy("item", roles=["Clerk"], rows=lambda context: None)
    links = {"items": {"_ids": [cheap.lamp]}}
    answers = [
        cheap.ask("Clerk", lambda n=n: cheap.rentals.add_relation({"number": n}, relations=links))
        for n in ("r-Bob", "r-Ann", "none")
    ]
    assert answers == [403, 404, 404]


def test_what_is_invisible_is_no_match_even_if_it_may_not_be_changed(shop):
    shop.policy(
        "rental", roles=["Clerk"], rows=lambda context: {"number": "r-Ann"}, write=lambda context: {"price": 10}
    )
    work = lambda: shop.rentals.find_one_and_update({"number": "r-Bob"}, {"$set": {"note": "n"}})  # noqa: E731
    assert shop.ask("Clerk", work) is None


def test_what_a_write_leaves_must_pass_the_check(shop):
    shop.policy("rental", roles=["Clerk"], check=lambda context: {"price": {"$lt": 20}})
    answers = [update(shop, {"$set": {"price": price}}) for price in (20, 19)]
    assert (answers, insert(shop, price=30), shop.rentals.find_one(IT)["price"]) == ([403, "done"], 403, 19)


def test_an_upsert_that_changes_nothing_leaves_nothing_to_check(shop):
    shop.policy("item", roles=["Clerk"], check=lambda context: {"name": "chair"})

    def upsert(change):
        wanted = {"_id": shop.lamp}
        return shop.ask("Clerk", lambda: shop.items.find_one_and_update(wanted, change, upsert=True)["name"])

    assert [upsert({"$setOnInsert": {"name": "chair"}}), upsert({"$set": {"price": 1}})] == ["lamp", 403]


def test_the_check_is_that_of_write_where_none_is_given(cheap):
    assert [update(cheap, {"$set": {"price": 11}}), update(cheap, {"$set": {"price": 9}})] == [403, "done"]


def test_the_check_is_that_of_rows_where_neither_is_given(shop):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: {"price": {"$lte": 10}})
    assert [update(shop, {"$set": {"price": 11}}), update(shop, {"$set": {"price": 9}})] == [403, "done"]
    assert [insert(shop, price=11), insert(shop, price=9)] == [403, "done"]


def test_a_relation_may_not_lead_out_of_the_check(shop):
    shop.policy("rental", roles=["Customer"], rows=lambda context: {"customer._id": context["user"]["_id"]})

    def give(name):
        links = {"customer": {"_ids": shop.of[name]}}
        return shop.ask("Customer", lambda: shop.rentals.add_relation(IT, relations=links, replace=True) and "done")

    assert (give(BOB), shop.rentals.find_one(IT)["customer"]["name"], give(ANN)) == (403, "Ann", "done")


def test_a_bulk_change_that_fails_the_check_writes_nothing_of_its_transaction(shop):
    shop.policy("rental", roles=["Clerk"], check=lambda context: {"price": {"$lt": 12}})
    every = {"_id": {"$exists": True}}
    assert shop.ask("Clerk", lambda: shop.rentals.update_many(every, {"$inc": {"price": 1}})) == 403
    assert [one["price"] for one in shop.rentals.find().sort("_id")] == [10, 11]


def test_inserts_that_fail_the_check_write_nothing(shop):
    shop.policy("rental", roles=["Clerk"], check=lambda context: {"price": {"$lt": 12}})
    links = {"customer": {"_ids": shop.of[ANN]}}
    docs = [{"number": "1", "price": 1}, {"number": "2", "price": 12}]
    assert shop.ask("Clerk", lambda: shop.rentals.insert_many(docs, relations=links)) == 403
    assert shop.rentals.count() == 2


def test_copies_windows_and_cascades_are_the_systems(shop):
    shop.policy("customer", roles=["Clerk"])
    shop.policy("rental", roles=["Clerk"], write=False)
    rename = lambda: shop.customers.find_one_and_update({"name": "Ann"}, {"$set": {"name": "Anna"}}) and "done"  # noqa: E731
    assert (shop.ask("Clerk", rename), shop.rentals.find_one(IT)["customer"]["name"]) == ("done", "Anna")


def test_a_hard_cascade_deletes_what_the_caller_could_not(shop):
    shop.policy("customer", roles=["Clerk"])
    shop.policy("rental", roles=["Clerk"], rows=lambda context: None, write=False)
    shop.ask("Clerk", lambda: shop.customers.delete_one({"name": "Ann"}, hard_cascade=True) and "done")
    assert [one["number"] for one in shop.rentals.find()] == ["r-Bob"]


def test_counts_in_errors_are_left_out_for_restricted_callers(shop):
    shop.policy("customer", roles=["Clerk"])
    shop.policy("rental", roles=["Clerk"], rows=lambda context: None)
    shop.work = lambda body: shop.customers.delete_one({"name": "Ann"})
    messages = [shop.send(shop.body(role)).json["body"]["message"] for role in ("Clerk", "ghost")]
    assert ["rental" in message for message in messages] == [False, True]


@pytest.mark.parametrize("name", ["delete_one", "delete_many"])
@pytest.mark.parametrize(("role", "more"), [("Clerk", {}), ("ghost", {"pending": True})])
def test_a_delete_does_not_tell_restricted_callers_of_its_job(policies_database, monkeypatch, name, role, more):
    """No operation works on its own jobs here; in memory there are none."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    shop = Shop(policies_database, inline_limit=1)
    shop.policy("item", roles=["Clerk"])
    shop.policy("rental", roles=["Clerk"], rows=lambda context: None)
    result = shop.ask(role, lambda: getattr(shop.items, name)({"_id": shop.lamp}, hard_cascade=True))
    shop.gw.odm.work()
    assert result == {"deletedCount": 1, "cascaded": {}, **more}


@pytest.mark.parametrize("name", ["delete_one", "delete_many"])
@pytest.mark.parametrize(("role", "cascaded"), [("Clerk", {}), ("ghost", {"rental": 1})])
def test_a_delete_does_not_tell_restricted_callers_what_it_deletes_along(shop, name, role, cascaded):
    shop.policy("customer", roles=["Clerk"])
    shop.policy("rental", roles=["Clerk"], rows=lambda context: None)
    result = shop.ask(role, lambda: getattr(shop.customers, name)({"name": "Ann"}, hard_cascade=True))
    assert result == {"deletedCount": 1, "cascaded": cascaded}


def test_the_revision_of_what_is_invisible_is_no_match(shop):
    shop.policy("rental", roles=["Clerk"], rows=lambda context: {"number": "r-Ann"})

    def change(number, rev):
        update = {"$set": {"note": "n"}}
        return shop.ask("Clerk", lambda: shop.rentals.find_one_and_update({"number": number}, update, rev=rev))

    assert [change("r-Bob", 99), change("r-Bob", 0), change("r-Ann", 99)] == [None, None, 412]


@pytest.mark.parametrize("key", ["write", "check"])
def test_an_exception_in_a_filter_of_writes_lets_nothing_be_written(shop, key):
    shop.policy("rental", roles=["Clerk"], **{key: lambda context: {"price": context["no such key"]}})
    assert (update(shop, {"$set": {"price": 3}}) in (403, 500), shop.rentals.find_one(IT)["price"]) == (True, 10)


def test_the_unrestricted_model_takes_every_change(shop):
    shop.policy("rental", roles=["Clerk"], write=False, fixed=["price"])
    work = lambda: shop.rentals.unrestricted.find_one_and_update(IT, {"$set": {"price": 3}})["price"]  # noqa: E731
    assert shop.ask("Clerk", work) == 3
