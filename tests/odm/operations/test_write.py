"""Writes of one or several documents: what they parse, run and show."""

from __future__ import annotations

import threading

import pytest
from bson import ObjectId
from marshmallow import fields
from pymongo.database import Database

from gatewayfw.errors import Conflict, DuplicateKey, StillReferenced, TooLarge, UsageError, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.odm.operations.write import DeleteResult
from gatewayfw.schemas import Schemas, defaulted, integer, object_, optional, string
from gatewayfw.settings import Settings
from tests.odm.refusing import REQUIRED, invalid
from tests.odm.stepping import Point, SteppingMock, SteppingMongo


def test_insert_many_names_the_document(world, refused):
    docs = [{"name": "a"}, {"name": 5}]
    refused(*invalid("docs.1.name", "Not a valid string."), lambda: world.country.insert_many(docs=docs))
    for wrong in ({"name": "a"}, "ab", b"ab", 5, None):
        refused(*invalid("docs", "Expected a list."), lambda wrong=wrong: world.country.insert_many(docs=wrong))
    message = "Expected one object, or as many as docs."
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=5))
    refused(*invalid("relations", message), lambda: world.country.insert_many(docs=docs, relations=[None]))


def test_insert_many_of_nothing_judges_its_get_all_the_same(world, refused):
    assert world.country.insert_many([]) == []
    refused(*invalid("get.nme", "Unknown field."), lambda: world.country.insert_many([], projection={"nme": 1}))


def test_insert_collects_every_refused_value(world, land, refused):
    doc = {"nme": "x", "population": "5", "tags": "t"}
    message = (
        f"validation error: doc.name: {REQUIRED}; doc.population: Not a valid number.;"
        " doc.tags: Not a valid list.; doc.nme: Unknown field."
    )
    relations = {"country": {"_ids": land}}
    refused(ValidationError, message, lambda: world.city.insert_one(doc=doc, relations=relations))


@pytest.mark.parametrize("doc", [None, [], "x", 5])
def test_insert_takes_an_object(world, refused, doc):
    refused(*invalid("doc", "Expected an object."), lambda: world.country.insert_one(doc=doc))


def test_a_duplicate_key_leaves_no_trace_in_targets(world, land, refused):
    person = world.add_person("taken")
    relations = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    refused(DuplicateKey, "Duplicate key error", lambda: world.add_person("x", relations, _id=person))
    docs = [{"name": "a"}, {"name": "b", "_id": person}]
    refused(DuplicateKey, "Duplicate key error", lambda: world.person.insert_many(docs=docs, relations=relations))


ID = ObjectId("a" * 24)
UNIQUE = {"createIndex": {"indexSpec": {"key": 1}, "options": {"unique": True}}}


def counters_of(odm):
    fields = {"key": string(), "count": integer(maximum=100), "kind": defaulted(string(), "plain")}
    return odm.new_model("counter", fields, options=UNIQUE)


@pytest.fixture
def counters(odm):
    return counters_of(odm)


def count(counters, key, update=None, **options):
    return counters.find_one_and_update({"key": key}, update or {"$inc": {"count": 1}}, upsert=True, **options)


def test_what_is_not_there_is_inserted_and_then_updated(counters):
    first = count(counters, "a", {"$inc": {"count": 2}, "$setOnInsert": {"kind": "new"}})
    again = count(
        counters, "a", {"$inc": {"count": 2}, "$setOnInsert": {"kind": "newer"}}, projection={"_rev": 1, "count": 1}
    )
    assert first == {"_id": first["_id"], "key": "a", "count": 2, "kind": "new"}
    assert again == {"_id": first["_id"], "_rev": 1, "count": 4}
    assert counters.count() == 1


def test_a_new_document_gets_defaults_and_has_no_revision_yet(counters):
    assert count(counters, "a", projection={"_id": 0, "_rev": 1, "kind": 1}) == {"_rev": 0, "kind": "plain"}


def test_a_document_is_got_or_created(counters):
    create = {"$setOnInsert": {"count": 1}}
    first = count(counters, "a", create)
    assert count(counters, "a", create) == count(counters, "a", {"$set": {}}) == first


def test_a_chosen_id_begins_at_the_clock(counters):
    made = {"$set": {"key": "k"}, "$inc": {"count": 1}}
    counters.find_one_and_update({"_id": str(ID)}, made, upsert=True)
    found = counters.find_one({"_id": ID}, projection={"_rev": 1, "count": 1})
    assert found == {"_id": ID, "_rev": found["_rev"], "count": 1}
    assert found["_rev"] > 1_000_000_000_000_000


@pytest.mark.parametrize("update", [{"$set": {"kind": "x"}}, {"$inc": {"count": 101}}, {"$set": {"count": "x"}}])
def test_what_does_not_fit_the_model_is_not_inserted(counters, update):
    with pytest.raises(ValidationError) as raised:
        count(counters, "a", update)
    assert list(raised.value.errors) == ["update.count"]
    assert counters.count() == 0


class Lower(fields.String):
    """A user's field that changes what it loads."""

    def _deserialize(self, value, attr, data, **kwargs):
        return super()._deserialize(value, attr, data, **kwargs).lower()


@pytest.mark.parametrize("operator", ["$set", "$setOnInsert"])
def test_a_new_document_has_what_a_users_field_makes_of_values(odm, operator):
    kinds = {"key": Lower(), "name": Lower(), "more": optional(object_({"mark": Lower()}))}
    users = odm.new_model("user", kinds, options=UNIQUE)
    update = {operator: {"name": "N", "more.mark": "M"}}
    made = [users.find_one_and_update({"key": "A"}, update, upsert=True) for _ in range(2)]
    assert made == [{"_id": made[0]["_id"], "key": "a", "name": "n", "more": {"mark": "m"}}] * 2
    assert users.count() == 1


def test_a_model_with_a_required_relation_has_none(world):
    with pytest.raises(UsageError, match="a new city needs the relation country"):
        world.city.find_one_and_update({"_id": ID}, {"$set": {"name": "x"}}, upsert=True)


def test_a_revision_is_not_asked_of_what_may_be_new(counters):
    with pytest.raises(UsageError) as raised:
        count(counters, "a", rev=0)
    assert raised.value.message == "upsert: a document that may be new has no revision to ask for"


def test_upsert_is_a_boolean(counters):
    with pytest.raises(ValidationError) as raised:
        counters.find_one_and_update({"key": "a"}, {"$inc": {"count": 1}}, upsert=1)
    assert raised.value.errors == {"upsert": ["Not a valid boolean."]}


def test_an_id_that_jobs_still_work_on_is_refused(world, land):
    world.add_person("p", {"visited": {"_ids": [land]}})
    with world.odm.leave_to_jobs():
        world.country.delete_one({"_id": land}, hard_cascade=True)
        if world.storage.multi_process:
            with pytest.raises(Conflict, match="still being spread or removed"):
                world.country.find_one_and_update({"_id": land}, {"$set": {"name": "x"}}, upsert=True)


def test_an_upsert_inside_a_transaction_is_undone_with_it(odm, counters):
    def work():
        count(counters, "a")
        count(counters, "a")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        odm.transaction(work)
    assert counters.count() == 0


def test_an_upsert_that_another_one_overtakes_updates_what_that_inserted(odm_on, database):
    storage = (SteppingMongo if isinstance(database, Database) else SteppingMock)(database)
    mine, others = counters_of(odm_on(storage)), counters_of(odm_on(database))
    others.count()
    with storage.steps.watched(Point("insert", 1, "before"), lambda: count(others, "a")):
        assert count(mine, "a")["count"] == 2
    assert mine.count() == 1


@pytest.mark.parametrize(("taken", "attempts"), [("key", 10), ("other", 2)], ids=["its key", "another key"])
def test_an_upsert_begins_again_while_its_own_key_is_taken(odm, counters, monkeypatch, taken, attempts):
    tried = []
    odm.ready()

    def insert(*given, **keys):
        tried.append(1)
        raise DuplicateKey([taken])

    monkeypatch.setattr(odm.storage, "insert", insert)
    with pytest.raises(DuplicateKey):
        count(counters, "a")
    assert (len(tried), counters.count()) == (attempts, 0)


def test_an_upsert_inside_a_transaction_does_not_begin_again(odm, counters, monkeypatch):
    tried = []

    def insert(*given, **keys):
        tried.append(1)
        raise DuplicateKey(["key"])

    counters.count()
    monkeypatch.setattr(odm.storage, "insert", insert)
    with pytest.raises(DuplicateKey):
        odm.transaction(lambda: count(counters, "a"))
    assert len(tried) == 1


def test_an_upsert_that_updates_does_not_begin_again(odm, counters, asked):
    first, _ = (count(counters, key)["_id"] for key in "ab")
    updates = asked("update_one")
    with pytest.raises(DuplicateKey):
        counters.find_one_and_update({"_id": first}, {"$inc": {"count": 1}, "$set": {"key": "b"}}, upsert=True)
    assert len(updates) == 1


def test_an_upsert_that_changes_nothing_reads_what_it_shows(counters, asked):
    count(counters, "a")
    calls = asked("find")
    count(counters, "a", {"$setOnInsert": {"count": 1}}, projection={"count": 1})
    assert calls == [("find", ("counter", {"key": "a"}, ("_id", "count")), {"limit": 1})]


@pytest.fixture
def bounded(database):
    """Notes that may be too large, and a small one."""
    settings = Settings(document_bytes=5_000)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(database)
    odm.notes = odm.new_model("note", {"n": integer(), "text": string(size=(0, 100_000))})
    odm.notes.insert_one({"n": 1, "text": "x"})
    return odm


def test_an_update_looks_at_the_document_first_where_it_cannot_try(bounded, asked, monkeypatch):
    def update():
        bounded.notes.find_one_and_update({"n": 1}, {"$set": {"text": "y"}})

    calls, look = (
        asked("find", of=bounded.storage),
        ("find", ("note", {"n": 1}, ("n", "text")), {"limit": 1}),
    )
    update()
    assert calls == []
    bounded.transaction(update)
    assert calls == [look]
    monkeypatch.setattr(type(bounded.storage), "has_transactions", lambda self: False)
    update()
    assert calls == [look, look]


def test_a_new_document_is_not_larger_than_allowed(bounded):
    with pytest.raises(TooLarge):
        bounded.notes.find_one_and_update({"_id": ID}, {"$set": {"n": 2, "text": "x" * 5_000}}, upsert=True)
    assert bounded.notes.count() == 1


def test_an_update_of_many_looks_at_each_document_first(bounded, asked):
    (there,) = bounded.notes.find()
    calls, wanted = asked("find", of=bounded.storage), {"n": 1, "_id": there["_id"]}
    assert bounded.notes.update_many({"n": 1}, {"$set": {"text": "y"}}) == {"matched": 1, "modified": 1}
    assert calls[2:] == [("find", ("note", wanted, ("n", "text")), {"limit": 1})]


@pytest.mark.parametrize("wanted", [{"key": "a"}, {"_id": ID}], ids=["unique", "id"])
def test_of_upserts_at_once_one_inserts_and_the_others_update(counters, wanted):
    update = {"$inc": {"count": 1}, **({} if "key" in wanted else {"$set": {"key": "a"}})}
    counters.count()
    start, failed = threading.Barrier(6), []

    def upsert():
        start.wait()
        try:
            for _ in range(3):
                counters.find_one_and_update(wanted, update, upsert=True)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=upsert) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [(one["key"], one["count"]) for one in counters.find()] == [("a", 18)]


def test_a_relation_is_never_filled_over_its_limit(world, refused):
    lands = [world.add_country(f"land {number}") for number in range(5)]
    person = world.add_person("p", {"visited": {"_ids": lands[:3]}})
    more = {"visited": {"_ids": lands[3:]}}
    text = invalid("relations.visited._ids", "More than 4 ids.")
    refused(*text, lambda: world.person.add_relation(filters={"_id": person}, relations=more))


def test_a_required_relation_is_never_emptied(world, land, refused):
    place = world.add_city("place", land)
    club = world.club.insert_one(doc={"name": "x"}, relations={"places": {"_ids": [place]}})["_id"]
    emptied = {"filters": {"_id": club}, "relations": {"places": {"_ids": []}}}
    refused(Conflict, "places is required", lambda: world.club.add_relation(**emptied, replace=True))


def test_relating_to_nothing_is_refused(world, refused):
    person = world.add_person("p")
    error = invalid("relations", "Name at least one relation.")
    refused(*error, lambda: world.person.add_relation(filters={"_id": person}, relations={}))
    refused(*error, lambda: world.person.remove_relation(filters={"_id": person}, relations={}))


def test_a_holder_is_counted_once_however_it_holds(world, land, refused):
    world.add_person("p", {"born": {"_ids": land}, "visited": {"_ids": [land]}})
    message = "country is still referenced (person: 1)"
    refused(StillReferenced, message, lambda: world.country.delete_one(filter={"_id": land}))


@pytest.mark.parametrize(("count", "expected"), [(0, False), (1, True), (3, True)])
def test_the_result_of_a_delete_says_whether_there_was_one(count, expected):
    assert bool(DeleteResult(deletedCount=count, cascaded={})) is expected
