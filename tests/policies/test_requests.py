"""What a request shows of models with policies: pages, batches, retries, files, errors; on both adapters."""

from __future__ import annotations

import pytest

from gatewayfw import gateway, object_id, string
from gatewayfw.errors import StillReferenced, UsageError
from gatewayfw.files import GridFsFiles
from tests.files.conftest import upload
from tests.policies.conftest import ROLES, Shop, define

DENIED = "hidden"


@pytest.fixture
def gw(database):
    """A gateway with the models of a shop."""
    gw = define(gateway(roles=ROLES, max_batch=9, link_key="k" * 32))
    gw.odm.set_db(database)
    return gw


@pytest.fixture
def shop(gw):
    """Its documents."""
    return Shop(gw)


def mine(shop):
    """Let customers see the rentals of Ann."""
    shop.gw.policy("rental", roles=["Customer"], rows=lambda context: {"customer._id": shop.ann})
    shop.gw.policy("rental", roles=["Clerk"])


# -- pages


@pytest.fixture
def page(shop, serve):
    """A function that asks for a page of rentals, two rows long."""
    listing = shop.rentals.listing(
        filter={"day": ["eq"], "deposit": ["eq"], "item.price": ["eq"], "customer": ["eq"]},
        sort=["day", "deposit", "item.price", "customer.name"],
        default_sort="day",
        most=2,
        count=True,
    )

    @shop.gw.acts.act("rental", "list", set=listing.set, get=1, returns=listing.returns)
    def list_rentals(body):
        return listing.page(body["details"])

    call = serve()
    return lambda role, get=None, **given: call(role, "rental", "list", set=given, get=get or {"day": 1, "_id": 0})


def days(answer):
    return [row["day"] for row in answer[1]["rows"]]


def test_a_page_has_the_rows_and_the_total_that_are_there(shop, page):
    mine(shop)
    shop.rent("thu", shop.bob, shop.lamp)
    shop.rent("sun", shop.ann, shop.rope)
    first = page("Customer")
    assert (days(first), first[1]["total"]) == (["mon", "sun"], 3)
    second = page("Customer", after=first[1]["next"])
    assert (days(second), second[1]["next"]) == (["tue"], None)
    clerks = page("Clerk")
    assert (days(clerks), clerks[1]["total"]) == (["mon", "sun"], 5)
    assert days(page("Customer", after=clerks[1]["next"])) == ["tue"]
    nobody = page("Auditor")
    assert nobody[1] == {"rows": [], "next": None, "total": 0}


def test_a_page_does_not_reach_hidden_names(shop, page):
    shop.gw.policy("rental", roles=["Auditor"], hide=["deposit"])
    shop.gw.policy("item", roles=["Auditor"], hide=["price"])
    for given, path in [
        ({"filter": {"deposit": "mon 5"}}, "set.filter.deposit"),
        ({"filter": {"item.price": "lamp 9"}}, "set.filter.item.price"),
        ({"sort": "-deposit"}, "set.sort.deposit"),
        ({"sort": "item.price"}, "set.sort.item.price"),
    ]:
        assert page("Auditor", **given) == (403, {"message": f"{path} is hidden from you"}, DENIED)
    shown = page("Auditor", filter={"day": "wed"}, get={"item": 1, "_id": 0})
    assert shown[1]["rows"] == [{"item": {"_id": str(shop.lamp), "name": "lamp"}}]
    assert shop.gw.odm.model("rental").count() == 3


def test_a_page_does_not_reach_copies_that_are_not_all_shown(shop, page):
    shop.gw.policy("customer", roles=["Customer"], rows=lambda context: {"name": "ann"})
    for given, path in [
        ({"filter": {"customer": str(shop.bob)}}, "set.filter.customer._id"),
        ({"sort": "customer.name"}, "set.sort.customer.name"),
    ]:
        assert page("Customer", **given) == (403, {"message": f"{path} is hidden from you"}, DENIED)
    rows = page("Customer", get={"_id": 0, "customer": {"name": 1}})[1]["rows"]
    assert rows == [{"customer": {"name": "ann"}}] * 2


def test_a_page_whose_default_order_is_hidden_is_refused_unless_it_is_revealed(shop, serve):
    hidden = shop.rentals.listing(default_sort="deposit")
    for name, reveal in [("refused", []), ("revealed", ["deposit"])]:

        @shop.gw.acts.act("rental", name, set=hidden.set, get=1, returns=hidden.returns)
        def list_rentals(body, reveal=reveal):
            return hidden.page(body["details"], reveal=reveal)

    shop.gw.policy("rental", roles=["Auditor"], hide=["deposit"])
    call = serve()
    assert call("Auditor", "rental", "refused")[::2] == (403, DENIED)
    assert len(call("Auditor", "rental", "revealed")[1]["rows"]) == 3


# -- batches


@pytest.mark.parametrize("atomic", [False, True])
def test_the_rows_of_an_item_are_those_of_when_it_was_prepared(shop, serve, atomic):
    gw, names = shop.gw, ["tue"]
    gw.policy("rental", roles=["Customer"], rows=lambda context: {"day": {"$in": list(names)}})

    @gw.acts.act("rental", "look", set={"also": string})
    def look(body):
        seen = sorted(one["day"] for one in shop.rentals.find(projection={"day": 1}))
        names.append(body["details"]["set"]["also"])
        return seen

    item = {"model": "rental", "act": "look", "details": {"set": {"also": "wed"}, "get": {}}}
    body = {"batch": [item, item], "atomic": True} if atomic else {"batch": [item, item]}
    client, sent = serve().client, {"x-user": "ann", "x-role": "Customer"}
    answers = [one["body"] for one in client.post("/gateway", json=body, headers=sent).json["body"]]
    assert answers == [["tue"], ["tue"] if atomic else ["tue", "wed"]]


# -- retries


def test_a_replay_belongs_to_a_role_and_a_user(shop, serve):
    mine(shop)
    shop.gw.policy("rental", roles=["Auditor"], hide=["deposit"])

    @shop.gw.acts.act("rental", "first", get=1, idempotent="1h", idempotent_by=lambda body: "shared")
    def first(body):
        return shop.rentals.find_one({"_id": shop.first}, projection=body["details"]["get"]) or {}

    call = serve()

    def ask(role, user="ann"):
        return call(role, "rental", "first", get={"day": 1, "_id": 0}, user=user, headers={"Idempotency-Key": "k"})

    assert ask("Clerk") == ask("Clerk") == (200, {"day": "mon"}, None)
    for role, user in [("Customer", "ann"), ("Clerk", "bob"), (None, ""), ("Clerk", "ghost")]:
        assert ask(role, user)[::2] == (422, "key_reused")


# -- errors


def test_counts_of_holders_are_left_out_for_restricted_callers(shop):
    mine(shop)
    for operation in (shop.items.delete_one, shop.items.delete_many):
        with shop.calls("Customer"), pytest.raises(StillReferenced) as raised:
            operation({"_id": shop.lamp})
        assert (raised.value.message, raised.value.counts) == ("item is still referenced", {})
        with pytest.raises(StillReferenced) as raised:
            operation({"_id": shop.lamp})
        assert (raised.value.message, raised.value.counts) == ("item is still referenced (rental: 2)", {"rental": 2})


# -- files


@pytest.fixture
def open_file(gw, serve, sign_in):
    """A file of Ann's; returns its id, and a function that gives the reply of its route to a role and a user."""
    gw.files.use(GridFsFiles())
    gw.files.model("file", {"owner": string}, read=[sign_in])
    gw.acts.act("file", "link", set={"_id": object_id})(lambda body: gw.files.link(body["details"]["set"]["_id"]))
    stored = gw.files.insert(upload(b"abc", "secret.txt"), doc={"owner": "ann"})["_id"]
    gw.policy("file", roles=["Customer"], rows=lambda context: {"owner": context["user"]["_id"]}, hide=["name"])
    gw.policy("file", roles=["Clerk"])
    call = serve()

    def get(role, user="ann"):
        sent = {"x-role": role, "x-user": user} if role else {}
        reply = call.client.get(f"/gateway/files/{stored}", headers=sent)
        return reply.status_code, reply.headers.get("Content-Disposition", "").split("; ")[1:2]

    return stored, get, call


def test_files_are_read_where_their_documents_are_there_and_without_hidden_names(open_file):
    _, get, _ = open_file
    assert get("Customer") == (200, ['filename="file"'])
    assert get("Clerk") == (200, ['filename="secret.txt"'])
    assert [get(*caller)[0] for caller in [("Customer", "bob"), ("Auditor", "ann"), (None,)]] == [404] * 3


def test_links_are_made_where_documents_are_there_and_then_read_by_all(open_file):
    stored, _, call = open_file

    def link(role, user="ann"):
        return call(role, "file", "link", set={"_id": str(stored)}, user=user)

    status, path, _ = link("Customer")
    assert (status, call.client.get(path).data) == (200, b"abc")
    for role, user in [("Customer", "bob"), ("Auditor", "ann"), (None, "")]:
        assert link(role, user)[::2] == (404, "not_found")


# -- models outside of acts


@pytest.mark.parametrize("required", [False, True])
def test_with_require_policy_a_request_uses_models_in_acts_and_hooks_only(database, required):
    gw = define(gateway(roles=ROLES, require_policy=required))
    gw.odm.set_db(database)
    items = gw.odm.model("item")
    items.insert_one({"name": "lamp"})
    gw.policy("item", roles=[None])

    @gw.acts.act("item", "count", pre_act=[lambda: gw.context_fns.add_context({"before": items.count()})])
    def count(body):
        return [gw.context_fns.get_context_model().before, items.count(), gw.odm.model("tenant").count()]

    app = gw.create_app()
    client = app.test_client()
    body = {"model": "item", "act": "count", "details": {"set": {}, "get": {}}}
    assert client.post("/gateway", json=body).json["body"] == [1, 1, 0]
    assert items.count() == 1
    with app.test_request_context():
        if required:
            with pytest.raises(UsageError, match=r"model item: this is no act"):
                items.count()
        assert items.unrestricted.count() == 1


def test_nothing_restricts_a_migration_that_an_act_runs(shop, serve):
    mine(shop)

    @shop.gw.odm.migration("days", "item", where={"price": {"$exists": True}})
    def note_rentals(item):
        return {"$unset": {"price": ""}, "$set": {"name": f"{item['name']} {shop.rentals.count({})}"}}

    @shop.gw.acts.act("item", "migrate", public=True)
    def migrate(body):
        shop.gw.odm.migrate()
        return [shop.rentals.count({}), *shop.items.distinct("name")]

    assert serve()("Customer", "item", "migrate")[1] == [2, "lamp 3", "rope 3"]
