"""``doctor``: what it calls a problem, a warning and a hint."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import mongomock
import pytest
from pymongo.database import Database

from gatewayfw.core import gateway
from gatewayfw.errors import DefinitionError
from gatewayfw.odm.notes import TRY_AGAIN
from gatewayfw.schemas import array, binary, integer, number, string
from gatewayfw.storage import Index
from tests.cli.shop import make_app, runner, shop, stock
from tests.commands_page import has_page

BUILT = "which the first use of the models or `flask gateway indexes --create` builds"


def test_doctor_finds_nothing(run):
    assert run("doctor") == (0, "no problems found\n")
    status, output = run("doctor", "--json")
    assert (status, json.loads(output)) == (0, {"problems": [], "warnings": [], "hints": []})


def test_doctor_names_definition_problems():
    gw = gateway()
    gw.odm.new_model("item", {"name": string()}, {"shop": {"schemaName": "none", "type": "single"}})
    gw.acts.act("auther", "get", get=1)(lambda body: None)
    problems = [
        "model 'item', relation 'shop': schemaName names 'none', which is not a model",
        "no database for the models item: call odm.set_db(...) first",
        "auther.get: get: select struct of 'auther': there is no such model",
    ]
    status, output = runner(make_app(shop=gw, check=False))("doctor")
    assert (status, output.splitlines()[:3]) == (1, [f"problem: {text}" for text in problems])


def test_a_gateway_without_models_needs_no_database():
    assert runner(make_app(shop=gateway()))("doctor") == (0, "no problems found\n")


def test_wrong_acts_do_not_hide_the_database():
    gw = shop("mongodb://127.0.0.1:9/none", server_selection_timeout=0.1)
    gw.acts.act("auther", "get", get=1)(lambda body: None)
    status, found = report(gw, check=False)
    gw.odm.storage.close()
    assert (status, [text.partition(":")[0] for text in found["problems"]]) == (1, ["auther.get", "database"])


def test_doctor_names_a_unique_index_that_duplicates_prevent(database):
    gw = gateway()
    gw.odm.set_db(database)
    database.item.insert_many([{"name": "same"}, {"name": "same"}])
    gw.odm.new_model(
        "item", {"name": string()}, options={"createIndex": {"indexSpec": {"name": 1}, "options": {"unique": True}}}
    )
    status, output = runner(make_app(shop=gw))("doctor", "--json")
    report = json.loads(output)
    assert status == 1
    assert len(report["problems"]) == 1
    assert report["warnings"] == []


REFUSED = "item: index {'name': 1} cannot be built: two documents share a value"
MISSING = (
    "item: index {'name': 1} is missing; until the first use of the model or `flask gateway indexes --create` builds "
    "it, documents may share a value"
)


def with_index(database, **options):
    """A gateway of items with an index on their names."""
    gw = gateway(index_build_limit=2)
    gw.odm.set_db(database)
    gw.odm.new_model(
        "item", {"name": string()}, options={"createIndex": {"indexSpec": {"name": 1}, "options": options}}
    )
    return gw


@pytest.mark.parametrize(
    ("options", "documents", "found"),
    [
        ({"unique": True}, 0, {}),
        ({"unique": True}, 1, {"problems": [MISSING]}),
        ({}, 0, {}),
        ({}, 2, {"hints": [f"an index is missing, {BUILT}"]}),
        ({}, 3, {"problems": ["item: index {'name': 1, '_id': 1} is missing; the collection is large"]}),
    ],
    ids=["unique and empty", "unique", "empty", "small", "large"],
)
def test_a_missing_index_is_a_problem_unless_the_first_use_builds_it(database, options, documents, found):
    database.item.insert_many([{"name": str(number)} for number in range(documents)] or [{"_id": 1}])
    database.item.delete_one({"_id": 1})
    gw = with_index(database, **options)
    assert report(gw) == (1 if "problems" in found else 0, clear(**found))


def test_an_index_that_should_be_unique_is_a_problem(database):
    database.item.create_index("name")
    text = "item: index {'name': 1} exists, but is not unique"
    assert report(with_index(database, unique=True)) == (1, clear(problems=[text]))


@pytest.mark.mongo
def test_doctor_says_what_another_process_has_met(mongo_database):
    mongo_database.item.insert_many([{"_id": 1, "name": "a"}, {"_id": 2, "name": "a"}])
    assert with_index(mongo_database, unique=True).odm.ready() == [REFUSED]
    assert report(with_index(mongo_database, unique=True)) == (1, clear(problems=[f"{REFUSED}; {TRY_AGAIN}"]))


def test_doctor_warns_of_a_standalone_server(database, monkeypatch):
    gw = shop(database)
    monkeypatch.setattr(type(gw.odm.storage), "has_transactions", lambda self: False)
    status, output = runner(make_app(shop=gw))("doctor")
    assert (status, output) == (
        0,
        "warning: the database is a standalone server, without transactions: make it a one-node replica set\n",
    )


def test_doctor_refuses_idempotent_acts_on_a_standalone_server(database, monkeypatch):
    gw = shop(database)
    gw.acts.act("item", "buyOnce", public=True, idempotent="1h", idempotent_by=lambda body: "all")(lambda body: 1)
    gw.acts.act("auther", "get", get=1)(lambda body: None)
    monkeypatch.setattr(type(gw.odm.storage), "has_transactions", lambda self: False)
    status, output = runner(make_app(shop=gw, check=False))("doctor")
    needed = "idempotent acts need transactions, which a standalone MongoDB server does not have: run a replica set"
    assert (status, output.splitlines()[:2]) == (
        1,
        [
            "problem: auther.get: get: select struct of 'auther': there is no such model",
            f"problem: item.buyOnce: {needed}",
        ],
    )


def test_a_configuration_that_is_a_problem_keeps_nothing_from_being_examined(database, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_ENV", "production")
    monkeypatch.setenv("GATEWAYFW_TOKEN_KEY", "a" * 40)
    gw = shop(database, memory=True)
    database.item.insert_one({"name": "a"})
    status, output = runner(make_app(shop=gw))("doctor")
    assert (status, output.count("problem: GATEWAYFW_TOKEN_KEY has fewer than 6 different characters: ")) == (1, 1)
    assert (output.count("hint: public without a limit: item."), output.count("hint: 2 indexes are missing")) == (1, 1)


def test_a_configuration_that_is_only_a_warning_leaves_the_status(database, monkeypatch):
    monkeypatch.setenv("FLASK_DEBUG", "1")  # Flask's command line sets the app's debug mode by it.
    app = make_app(shop=shop(database))
    app.testing = False
    text = "debug mode is on: switch it off, or set GATEWAYFW_ENV=development if this is development"
    assert runner(app)("doctor") == (0, f"warning: {text}\n")


def test_definitions_that_are_wrong_do_not_hide_the_configuration():
    gw = gateway(deadline=30)
    gw.odm.new_model("item", {"name": string()}, {"shop": {"schemaName": "none", "type": "single"}})
    status, found = report(gw, check=False)
    assert status == 1
    assert len(found["problems"]) == 2
    assert len(found["warnings"]) == 1


UNREAD = "the documents were not compared with their models, or not as these are now; run flask gateway check --fit"


def report(gw, check=True, unread=False):
    """What doctor says; without a hint that `check --fit` was not run, unless ``unread``."""
    status, output = runner(make_app(shop=gw, check=check))("doctor", "--json")
    found = json.loads(output)
    found["hints"] = [text for text in found["hints"] if unread or not text.endswith(UNREAD)]
    return status, found


def clear(**given):
    return {"problems": [], "warnings": [], "hints": [], **given}


# -- definitions


def listing(database, **given):
    """A gateway of items that a shop lists, the reverse declared with what is given."""
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("shop", {"name": string(size=(None, 9))})
    relation = {"schemaName": "shop", "type": "single", "relatedRelations": {"items": {"type": "multiple", **given}}}
    gw.odm.new_model("item", {"name": string(size=(None, 9))}, {"shop": relation})
    return gw


def test_a_list_without_a_limit_is_a_warning(database):
    text = "model 'item', relation 'shop', reverse 'items': no limit is given; each shop keeps up to 1000"
    assert report(listing(database)) == (0, clear(warnings=[text]))


def test_a_list_with_a_limit_is_none_even_if_it_is_the_settings_own(database):
    assert report(listing(database, limit=1000)) == (0, clear())


def large(database, **field):
    """A gateway of a model that embeds 100 others of 200,000 bytes each, more or less."""
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("page", field)
    gw.odm.new_model("book", {}, {"pages": {"schemaName": "page", "type": "multiple", "limit": 100}})
    return gw


def test_a_document_that_may_grow_over_the_limit_is_a_warning_with_its_parts(database):
    status, found = report(large(database, text=string(size=(None, 50_000))))
    text = (
        "model 'book': with its copies a document may reach 19.1 MB, MongoDB holds 16.0 MB: "
        "pages may reach 19.1 MB (100 of 200,033 bytes), _gw may reach 0.0 MB, _id may reach 0.0 MB; "
        "a changed copy that does not fit stays as it was"
    )
    assert (status, found) == (0, clear(warnings=[text]))


def test_a_size_that_no_definition_states_is_named_with_what_bounds_it(database):
    status, found = report(
        large(database, words=array(string(), size=(None, 5)), tags=array(string(size=5)), data=binary())
    )
    (warning,) = found["warnings"]
    stated = (
        "; a changed copy that does not fit stays as it was; these state no size: page.data, page.tags, page.words[]: "
        "a text counts with 10,000 characters, binary data with as many bytes, "
        "the fields of a document with 4.0 MB at most"
    )
    assert (status, warning) == (
        0,
        "model 'book': with its copies a document may reach 400.0 MB, MongoDB holds 16.0 MB: "
        f"pages may reach 400.0 MB (100 of 4,194,321 bytes), _gw may reach 0.0 MB, _id may reach 0.0 MB{stated}",
    )


def test_lists_that_would_not_fit_are_named_with_their_share(database):
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("org", {"name": string(size=(None, 9))})
    lists = {"users": {"type": "multiple", "limit": 100}, "latest": {"type": "multiple", "limit": 2}}
    org = {"schemaName": "org", "type": "single", "relatedRelations": lists}
    gw.odm.new_model("user", {"text": string(size=(None, 50_000))}, {"org": org})
    status, found = report(gw)
    (warning,) = found["warnings"]
    assert (status, warning) == (
        0,
        "model 'org': each list is cut to 1.0 MB: users may reach 19.1 MB (100 of 200,033 bytes)",
    )


def test_lists_give_way_where_a_document_fits_without_them(database):
    gw = gateway(document_bytes=8 * 2**20, max_body_text=2_000_000)
    gw.odm.set_db(database)
    gw.odm.new_model("page", {"text": string(size=(None, 2_000_000))})
    pages = {"schemaName": "page", "type": "multiple", "limit": 2}
    gw.odm.new_model("book", {"title": string(size=(None, 9))}, {"pages": pages})
    lists = {"notes": {"type": "multiple", "limit": 100}, "latest": {"type": "single"}}
    book = {"schemaName": "book", "type": "single", "relatedRelations": lists}
    gw.odm.new_model("note", {"text": string(size=(None, 50_000))}, {"book": book})
    assert report(gw)[1]["warnings"] == [
        "model 'book': each list is cut to 2.0 MB: notes may reach 19.1 MB (100 of 200,033 bytes)",
        "model 'book': with its copies a document may reach 17.4 MB, MongoDB holds 16.0 MB: "
        "pages may reach 15.3 MB (2 of 8,000,033 bytes), latest may reach 0.2 MB, _gw may reach 0.0 MB; "
        "its lists give way",
    ]


def test_a_document_that_stays_below_the_limit_is_none(database):
    assert report(large(database, text=string(size=(None, 40_000)))) == (0, clear())


# -- the database


def test_a_sharded_collection_is_a_problem_and_nothing_is_built(database, storage, monkeypatch):
    gw = shop(database)
    monkeypatch.setattr(type(gw.odm.storage), "is_sharded", lambda self, collection: collection == "item")
    expected = clear(problems=["item: the collection is sharded, which is not supported"])
    assert (report(gw), storage.indexes("item")) == ((1, expected), [])


@pytest.fixture
def behind_mongos(monkeypatch):
    """Let collStats answer as a mongos does: it adds these keys to the figures that its shards give.

    No wheel carries a mongos; the keys are those of mongos 6.0, `src/mongo/s/commands/cluster_coll_stats_cmd.cpp`.
    """
    sharded, command = set(), Database.command

    def through_mongos(self, name, *args, **keys):
        reply = command(self, name, *args, **keys)
        if name != "collStats":
            return reply
        if args[0] in sharded:
            return {"sharded": True, **reply, "nchunks": 2, "shards": {"one": reply, "two": reply}}
        return {"sharded": False, "primary": "one", **reply, "nchunks": 1, "shards": {"one": reply}}

    monkeypatch.setattr(Database, "command", through_mongos)
    return sharded


@pytest.mark.mongo
@pytest.mark.parametrize("collection", ["item", "_gw_jobs"])
def test_a_mongos_tells_which_collections_are_sharded(mongo_database, behind_mongos, collection):
    gw = shop(mongo_database)
    assert report(gw) == (0, clear())
    behind_mongos.add(collection)
    text = f"{collection}: the collection is sharded, which is not supported"
    assert report(gw) == (1, clear(problems=[text]))


def test_an_index_that_a_large_collection_lacks_is_a_problem(database, storage):
    gw = shop(database, index_build_limit=1)
    database.item.insert_many([{"name": "one"}, {"name": "two"}])
    missing = ["{'shop._id': 1, '_id': 1}", "{'shop._id': 1, '_gw.out.shop.items': 1, '_id': -1}"]
    texts = [f"item: index {keys} is missing; the collection is large" for keys in missing]
    assert (report(gw), storage.indexes("item")) == ((1, clear(problems=texts)), [])


def test_an_index_that_was_built_without_the_id_is_a_hint(database, storage):
    gw = shop(database)
    gw.odm.new_model("log", {"at": string()}, options={"createIndex": {"indexSpec": {"at": -1}}})
    storage.ensure("log", [Index((("at", -1),))], 10)
    text = "is without _id: pages sorted by it read all that match; create {'at': -1, '_id': -1} and drop it"
    assert report(gw) == (0, clear(hints=[f"log: index {{'at': -1}} {text}"]))
    storage.ensure("log", [Index((("at", -1), ("_id", -1)))], 10)
    assert report(gw) == (0, clear())


@pytest.mark.parametrize("seconds", [None, 5, 30])
def test_a_short_or_unknown_lifetime_of_transactions_is_no_hint(database, monkeypatch, seconds):
    gw = shop(database)
    monkeypatch.setattr(type(gw.odm.storage), "transaction_lifetime", lambda self: seconds)
    assert report(gw) == (0, clear())


@pytest.mark.parametrize("seconds", [31, 60.0])
def test_a_long_lifetime_of_transactions_is_a_hint(database, monkeypatch, seconds):
    gw = shop(database)
    monkeypatch.setattr(type(gw.odm.storage), "transaction_lifetime", lambda self: seconds)
    text = (
        f"transactionLifetimeLimitSeconds is {seconds:g}: a client killed inside a transaction blocks "
        "the documents it touched for that long; 5 is recommended"
    )
    assert report(gw) == (0, clear(hints=[text]))
    assert runner(make_app(shop=gw))("doctor") == (0, f"no problems found\nhint: {text}\n")


def test_a_lifetime_of_transactions_below_the_deadline_is_a_hint(database, monkeypatch):
    gw = shop(database, deadline=8)
    monkeypatch.setattr(type(gw.odm.storage), "transaction_lifetime", lambda self: 5.0)
    text = (
        "transactionLifetimeLimitSeconds is 5, the deadline 8: "
        "the server ends the transaction of an act before its deadline does"
    )
    assert report(gw) == (0, clear(hints=[text]))


@pytest.mark.mongo
def test_the_lifetime_is_read_from_the_server(mongo_client, mongo_database):
    name = "transactionLifetimeLimitSeconds"
    told = mongo_client.admin.command({"getParameter": 1, name: 1})[name]
    assert shop(mongo_database).odm.storage.transaction_lifetime() == told


@pytest.mark.parametrize(("number", "told"), [(2, "2 jobs"), (999, "999 jobs"), (1_002, "at least 1,000 jobs")])
def test_several_old_jobs_are_one_warning_since_the_first(number, told):
    gw = shop(mongomock.MongoClient().test)
    first = datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=1)
    ages = [first + timedelta(seconds=at) for at in range(number)] + [first + timedelta(hours=1)]
    gw.odm.storage.insert("_gw_jobs", [{"_id": at, "since": since} for at, since in enumerate(ages)])
    text = f"{told} have been pending for more than 60 s, since {first:%Y-%m-%d %H:%M:%S} UTC"
    assert [one for one in report(gw)[1]["warnings"] if "pending" in one] == [text]


@pytest.fixture
def waiting(mongo_database, monkeypatch):
    """A gateway with a pending job."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 0.0)
    gw = shop(mongo_database, inline_limit=1)
    shop_id, _ = stock(gw, items=2)
    gw.odm.model("shop").find_one_and_update(filter={"_id": shop_id}, update={"$set": {"name": "new"}})
    return gw


@pytest.mark.mongo
def test_a_young_job_is_no_warning(waiting):
    assert (len(waiting.odm.jobs()), report(waiting)) == (1, (0, clear()))


@pytest.mark.mongo
def test_an_old_job_is_a_warning(waiting):
    since = datetime.now(UTC).replace(tzinfo=None, microsecond=0) - timedelta(seconds=61)
    waiting.odm.storage.update_many("_gw_jobs", {}, {"$set": {"since": since}})
    text = f"a job has been pending for more than 60 s, since {since:%Y-%m-%d %H:%M:%S} UTC"
    assert report(waiting) == (0, clear(warnings=[text]))


@pytest.mark.mongo
def test_a_job_that_cannot_be_read_is_a_warning(waiting):
    waiting.odm.storage.update_many("_gw_jobs", {}, {"$set": {"kind": "history"}})
    (stored,) = waiting.odm.storage.find("_gw_jobs", {})
    text = f"_gw_jobs: {stored['_id']!r} is no job that this version can read, so nobody works on it"
    assert report(waiting) == (0, clear(warnings=[text]))


def test_what_are_no_jobs_is_one_warning(storage):
    gw = shop(storage)
    gw.odm.ready()
    storage.insert("_gw_jobs", [{"_id": at} for at in range(1_234)])
    text = "_gw_jobs: 0 is no job that this version can read, nor are 1,233 others, so nobody works on it"
    assert [one for one in report(gw)[1]["warnings"] if "_gw_jobs" in one] == [text]


def test_a_lost_server_is_a_problem():
    gw = shop("mongodb://127.0.0.1:9/none", server_selection_timeout=0.1)
    found = report(gw)
    gw.odm.storage.close()
    assert found == (1, clear(problems=["database: no answer (127.0.0.1:9: connection refused)"]))


@pytest.mark.mongo
@pytest.mark.parametrize(
    ("user", "options", "text"),
    [
        ("shop:wrong@", "replicaSet=rs0", "database: {host} refuses the user name or the password"),
        ("", "replicaSet=other", "database: {host}: no server there belongs to a replica set named 'other'"),
        ("", "tls=true", "database: no answer ({host}: the TLS handshake failed; does it use TLS?)"),
    ],
    ids=["password", "set", "tls"],
)
def test_why_the_server_is_out_of_reach_is_a_problem_in_words(mongod_uri, user, options, text):
    host = mongod_uri.split("/")[2]
    gw = shop(f"mongodb://{user}{host}/none?{options}", server_selection_timeout=1)
    found = report(gw)
    gw.odm.storage.close()
    assert found == (1, clear(problems=[text.format(host=host)]))


def test_a_uri_without_a_database_is_named():
    with pytest.raises(DefinitionError, match="must name a database"):
        shop("mongodb://127.0.0.1:9/")


def test_doctor_names_what_listings_read_without_an_index(database):
    gw = gateway()
    gw.odm.set_db(database)
    names = [f"n{number}" for number in range(4)]
    item = gw.odm.new_model("item", {"name": string(size=(1, 9)), **dict.fromkeys(names, integer())})
    item.listing(filter={"name": ["contains"], **dict.fromkeys(names, ["eq"])}, sort=names)
    place = "listing 1 of model 'item'"
    too_many = "a listing has at most 12: declare fewer filters with eq, or fewer sorts"
    left_out = ["n3, n2", "n0, n3", "n1, n3", "n2, n3"]
    assert report(gw)[1]["hints"] == [
        f"{place}: 'contains' on name reads every value of it",
        *(f"{place}: no index on {names}, _id; {too_many}" for names in left_out),
    ]


def test_the_help_is_on_the_page():
    assert has_page("doctor")


def test_doctor_says_what_the_last_check_of_the_forms_has_found(database):
    gw = shop(database)
    assert report(gw, unread=True) == (0, clear())
    stock(gw, items=2)
    assert report(gw, unread=True) == (0, clear(hints=[f"shop, item: {UNREAD}"]))
    database.item.update_one({"name": "1"}, {"$set": {"price": "5", "name": 5}})
    found = runner(make_app(shop=gw))("check", "--fit")
    assert found[0] == 1
    told = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?", "DATE", json.dumps(report(gw, unread=True)[1]))
    assert json.loads(told) == clear(
        warnings=["item: check --fit found 2 misfits on DATE UTC"],
        hints=["shop: check --fit found no misfits, on DATE UTC or later"],
    )


def test_doctor_asks_for_another_check_of_the_forms_after_a_model_has_changed(database):
    list(shop(database).odm.integrity.misfits())
    gw = gateway()
    gw.odm.set_db(database)
    gw.odm.new_model("shop", {"name": number()})
    database.shop.insert_one({"name": "text"})
    assert report(gw, unread=True) == (0, clear(hints=[f"shop: {UNREAD}"]))
