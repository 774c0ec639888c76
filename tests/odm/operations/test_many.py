"""Operations on many documents: what they change, what they refuse, and what they leave."""

from __future__ import annotations

from collections import Counter

import pytest
from bson import ObjectId

from gatewayfw.errors import (
    BadRequest,
    Conflict,
    DuplicateKey,
    GatewayError,
    NotFound,
    StillReferenced,
    TooLarge,
    UsageError,
    ValidationError,
)
from gatewayfw.odm import Odm
from gatewayfw.odm.database import Done
from gatewayfw.odm.operations.many import Deletion, is_deleted
from gatewayfw.odm.operations.walk import Pace
from gatewayfw.schemas import Schemas, date, integer, nullable, optional, string
from gatewayfw.settings import Settings
from tests.odm.refusing import REQUIRED, invalid


def refused(**counts):
    return StillReferenced("city", counts)


def test_a_deletion_adds_up_what_was_deleted():
    deletion = Deletion("city", counts=True)
    deletion.add([1, 2, 3], Done([{"person": 1}, None, {}]))
    deletion.add([4], Done([{"person": 2, "club": 1}], deleted=Counter(person=5)))
    assert deletion.end_round(3) is None
    assert deletion.told() == {"deletedCount": 3, "cascaded": {"club": 1, "person": 8}}


def test_pending_jobs_are_told():
    deletion = Deletion("city", counts=True)
    deletion.add([1], Done([{}], frozenset({"job"})))
    deletion.add([2], Done([{}]))
    assert deletion.told() == {"deletedCount": 2, "cascaded": {}, "pending": True}


def test_nothing_matched():
    deletion = Deletion("city", counts=True)
    assert deletion.end_round(0) is None
    assert deletion.told() == {"deletedCount": 0, "cascaded": {}}
    assert not bool(deletion.told())


def test_what_was_refused_is_tried_again_the_other_way_round():
    deletion = Deletion("city", counts=True)
    deletion.add([1, 2], Done([refused(club=1), {}]))
    deletion.add([3, 4], Done([refused(club=1), refused(club=1)]))
    assert [list(page) for page in deletion.end_round(1)] == [[4, 3, 1]]
    deletion.add([4, 3, 1], Done([{}, {}, None]))
    assert (deletion.end_round(3), deletion.told()["deletedCount"]) == (None, 3)


def test_a_round_that_deletes_nothing_is_the_last():
    deletion = Deletion("city", counts=True)
    deletion.add([1, 2, 3], Done([refused(person=7), {}, refused(person=1)]))
    assert list(deletion.end_round(1)) == [[3, 1]]
    deletion.add([3, 1], Done([refused(person=1), refused(person=1, club=2)]))
    with pytest.raises(StillReferenced) as caught:
        deletion.end_round(1)
    assert (caught.value.counts, caught.value.done) == ({"club": 2, "person": 2}, 1)
    assert caught.value.message == "city is still referenced (club: 2, person: 2)"


@pytest.mark.parametrize(("one", "expected"), [({}, True), ({"a": 1}, True), (None, False), (refused(a=1), False)])
def test_which_documents_count_as_deleted(one, expected):
    assert is_deleted(one) is expected


ALL = {"_id": {"$exists": True}}


def test_update_many_reads_ids_and_what_it_changes(odm, asked):
    model = odm.new_model("thing", {"n": integer(), "s": optional(string()), "t": optional(string())})
    made = [one["_id"] for one in model.insert_many([{"n": n} for n in range(3)])]
    calls = asked("find")
    assert model.update_many({"n": {"$gt": 0}}, {"$set": {"t": "x", "s": "y"}}) == {"matched": 2, "modified": 2}
    assert calls == [
        ("find", ("thing", {"n": {"$gt": 0}}, []), {"sort": [("_id", 1)], "limit": 1_000}),
        ("find", ("thing", {"n": {"$gt": 0}, "_id": {"$in": made[1:]}}, ["s", "t"]), {}),
    ]


@pytest.mark.parametrize(("transactions", "most"), [(True, 1_000), (False, 1)])
def test_without_transactions_each_document_is_a_batch(odm, asked, monkeypatch, transactions, most):
    """Nobody would count the part of a batch that is done before an error."""
    given = []
    monkeypatch.setattr("gatewayfw.odm.operations.many.Pace", lambda **keys: given.append(keys) or Pace(**keys))
    model = odm.new_model("thing", {"n": integer()})
    made = [one["_id"] for one in model.insert_many([{"n": n} for n in range(3)])]
    monkeypatch.setattr(type(odm.storage), "has_transactions", lambda self: transactions)
    calls = asked("find")
    assert model.update_many(ALL, {"$inc": {"n": 1}}) == {"matched": 3, "modified": 3}
    assert given == [{"remaining": odm.storage.scope.remaining, "most": most}]
    batches = [filter["$and"][1]["_id"]["$in"] for _, (_, filter, _), _ in calls if "$and" in filter]
    assert batches == ([made] if transactions else [[one] for one in made])


def populations(world):
    return [one.get("population") for one in world.storage.find("city", {}, ["population"], sort=[("_id", 1)])]


def test_update_many_changes_all_that_match_and_their_copies(world, land, cities):
    result = world.city.update_many({"population": {"$lt": 30}}, {"$inc": {"population": 100}})
    assert result == {"matched": 30, "modified": 30}
    assert populations(world) == [*range(100, 130), *range(30, 40)]
    assert [one["population"] for one in world.country.find_one({"_id": land})["biggest"]] == [129, 128]
    assert [one["population"] for one in world.country.find_one({"_id": land})["cities"]] == [39, 38, 37]


def test_a_document_that_still_matches_afterwards_is_changed_once(world, cities):
    world.city.update_many({"population": {"$gte": 0}}, {"$inc": {"population": 1}})
    assert populations(world) == list(range(1, 41))


@pytest.mark.slow
def test_modified_counts_the_documents_that_differ_afterwards(world, cities):
    changed = world.city.update_many(ALL, {"$max": {"population": 30}})
    assert changed == {"matched": 40, "modified": 30}
    assert world.city.update_many(ALL, {"$set": {"name": "new"}, "$max": {"population": 5}})["modified"] == 40
    assert world.city.update_many(ALL, {"$set": {"name": "new"}}) == {"matched": 40, "modified": 0}
    assert world.city.update_many(ALL, {"$unset": {"population": ""}}) == {"matched": 40, "modified": 40}
    assert world.city.update_many(ALL, {"$unset": {"population": ""}}) == {"matched": 40, "modified": 0}


@pytest.mark.parametrize(("value", "modified"), [(1, 0), (1.0, 1), (True, 1)])
def test_a_value_of_another_type_differs(odm, value, modified):
    model = odm.new_model("thing", {"x": nullable(integer()), "y": string()})
    model.insert_one({"x": 1, "y": "y"})
    odm.storage.update_many("thing", {}, {"$set": {"x": value}})
    assert model.update_many({"y": "y"}, {"$set": {"x": 1}}) == {"matched": 1, "modified": modified}


def test_update_many_of_nothing(world, cities):
    before = world.digest()
    assert world.city.update_many({"name": "none"}, {"$set": {"name": "x"}}) == {"matched": 0, "modified": 0}
    assert world.city.update_many({"population": {"$lt": 3}}, {"$set": {}}) == {"matched": 3, "modified": 0}
    assert world.digest() == before


def test_all_documents_get_the_same_date(odm):
    model = odm.new_model("thing", {"n": integer(), "at": optional(date())})
    model.insert_many([{"n": number} for number in range(25)])
    model.update_many(ALL, {"$currentDate": {"at": True}})
    assert len(model.distinct("at")) == 1


def test_each_document_that_is_changed_gets_a_revision(odm):
    model = odm.new_model("thing", {"n": integer()})
    model.insert_many([{"n": number} for number in range(12)])
    model.update_many({"n": {"$gte": 6}}, {"$inc": {"n": 1}})
    model.update_many({"n": 7}, {"$set": {"n": 7}})
    shown = model.find(projection={"_id": 0, "_rev": 1}).sort("_id")
    assert [one["_rev"] for one in shown] == [0] * 6 + [2] + [1] * 5


def test_a_filter_by_an_excluded_field_is_for_server_code(world):
    for number in range(12):
        world.add_person(f"p{number}", password="hash")
    with pytest.raises(UsageError):
        world.person.update_many({"password": "hash"}, {"$set": {"age": 1}})
    with pytest.raises(UsageError):
        world.person.delete_many({"password": "hash"})
    assert world.person.update_many({"password": "hash"}, {"$set": {"age": 1}}, reveal=["password"])["modified"] == 12
    assert world.person.delete_many(filters={"password": "hash"}, reveal=["password"])["deletedCount"] == 12


@pytest.mark.parametrize("nothing", [{}, {"$and": [{}]}, {"$nor": [{}]}], ids=str)
def test_a_filter_that_names_nothing_is_refused(world, land, refused, nothing):
    message = "filter: say which document to change or delete; an empty filter matches any of them"
    refused(UsageError, message, lambda: world.country.update_many(nothing, {"$set": {"name": "x"}}))
    refused(UsageError, message, lambda: world.country.delete_many(nothing))
    refused(UsageError, "filter: expected an object", lambda: world.country.delete_many())
    refused(UsageError, "filter: expected an object", lambda: world.country.update_many(update={"$set": {"name": "x"}}))


@pytest.mark.parametrize(
    ("update", "error", "message"),
    [
        ({}, UsageError, "update: expected an object of operators such as $set"),
        (None, UsageError, "update: expected an object of operators such as $set"),
        ({"name": "x"}, UsageError, "update: unknown operator name; to set a field, write {'$set': {...}}"),
        ({"$set": "x"}, BadRequest, "update: $set takes an object"),
        ({"$set": {"nme": "x"}}, *invalid("update.nme", "Not a pure field of the model.")),
        ({"$set": {"country": {}}}, *invalid("update.country", "Not a pure field of the model.")),
        ({"$set": {"name": 5}}, *invalid("update.name", "Not a valid string.")),
        ({"$unset": {"name": ""}}, *invalid("update.name", REQUIRED)),
        ({"$inc": {"name": 1}}, UsageError, "update: $inc name: not a number"),
    ],
)
def test_an_update_is_checked_before_anything_is_changed(world, cities, refused, update, error, message):
    refused(error, message, lambda: world.city.update_many(ALL, update))


@pytest.fixture
def numbers(odm):
    """A model of forty documents, numbered in the order of `_id`, none of which may have a number below 0 or twice."""
    options = {"createIndex": {"indexSpec": {"n": 1}, "options": {"unique": True}}}
    model = odm.new_model("number", {"n": integer(minimum=0), "s": optional(string())}, options=options)
    model.insert_many([{"n": 1_000 * number} for number in range(1, 41)])
    return model


def stored_numbers(model):
    return [one["n"] for one in model.find().sort("_id")]


def test_an_error_leaves_the_batches_before_it_and_says_how_many(numbers):
    """The batches end after 10, 25 and 40 documents or, if they were not quick, earlier."""
    numbers.find_one_and_update({"n": 30_000}, {"$set": {"n": 5}})
    with pytest.raises(ValidationError) as caught:
        numbers.update_many(ALL, {"$inc": {"n": -10}})
    done = caught.value.done
    assert done in (10, 20, 25)
    assert caught.value.errors["update.n"] == ["Must be greater than or equal to 0."]
    before = [1_000 * number for number in range(1, 41)]
    assert stored_numbers(numbers) == [*(n - 10 for n in before[:done]), *before[done:29], 5, *before[30:]]


def test_a_duplicate_is_an_error_of_its_document(numbers):
    with pytest.raises(DuplicateKey) as caught:
        numbers.update_many(ALL, {"$set": {"n": 1_000}})
    assert caught.value.done == 0
    assert caught.value.fields == ("n",)
    assert stored_numbers(numbers)[:2] == [1_000, 2_000]


def test_what_is_left_after_an_error_can_be_done_later(numbers):
    numbers.find_one_and_update({"n": 30_000}, {"$set": {"n": 5}})
    update = {"$set": {"s": "done"}, "$inc": {"n": -10}}
    with pytest.raises(ValidationError) as caught:
        numbers.update_many({"s": {"$ne": "done"}}, update)
    numbers.find_one_and_update({"n": 5}, {"$set": {"n": 30_000}})
    assert numbers.update_many({"s": {"$ne": "done"}}, update)["matched"] == 40 - caught.value.done
    assert stored_numbers(numbers) == [1_000 * number - 10 for number in range(1, 41)]


def test_documents_are_not_made_larger_than_allowed(database):
    settings = Settings(document_bytes=5_000)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(database)
    note = odm.new_model("note", {"n": integer(), "text": string(size=(0, 100_000))})
    note.insert_many([{"n": number, "text": ""} for number in range(3)])
    with pytest.raises(TooLarge):
        note.update_many(ALL, {"$set": {"text": "x" * 5_000}})
    assert note.distinct("text") == [""]
    assert note.update_many(ALL, {"$set": {"text": "x" * 4_000}}) == {"matched": 3, "modified": 3}


def test_delete_many_deletes_all_that_match_and_windows_fill_up(world, land, cities):
    assert world.city.delete_many({"population": {"$gte": 20}}) == {"deletedCount": 20, "cascaded": {}}
    assert populations(world) == list(range(20))
    assert [one["population"] for one in world.country.find_one({"_id": land})["biggest"]] == [19, 18]


def test_delete_many_of_nothing(world, cities):
    before = world.digest()
    result = world.city.delete_many({"name": "none"})
    assert result == {"deletedCount": 0, "cascaded": {}}
    assert not bool(result)
    assert world.digest() == before


def test_delete_many_cascades(world, land, cities):
    for home in (cities[0], cities[25], None):
        world.add_person("p", {"home": {"_ids": home}} if home else None)
    world.club.insert_one({"name": "kept"}, relations={"places": {"_ids": [cities[0], cities[25]]}})
    world.club.insert_one({"name": "lost"}, relations={"places": {"_ids": [cities[0], cities[5]]}})
    result = world.city.delete_many({"population": {"$lt": 20}}, hard_cascade=True)
    assert result == {"deletedCount": 20, "cascaded": {"club": 1}}
    assert [one["name"] for one in world.club.find()] == ["kept"]
    assert world.person.count({"home._id": {"$exists": True}}) == 1


def test_a_document_deleted_in_the_cascade_of_another_is_no_match_anymore(world):
    boss = world.add_person("boss")
    land = world.add_country("land")
    cities = [world.add_city("c", land), world.add_city("d", land)]
    assert world.country.delete_many(ALL, hard_cascade=True) == {"deletedCount": 1, "cascaded": {"city": 2}}
    assert (world.city.count({"_id": {"$in": cities}}), world.person.count({"_id": boss})) == (0, 1)


@pytest.mark.parametrize("order", [range(40), range(39, -1, -1)], ids=["up", "down"])
def test_documents_that_only_embed_each_other_are_deleted(world, order):
    """Each embeds the one before; whichever way the walk goes, some are refused at first."""
    ids = [ObjectId(f"{number + 1:024x}") for number in order]
    for before, id_ in zip([None, *ids], ids, strict=False):
        world.add_person("p", {"boss": {"_ids": before}} if before else None, _id=id_)
    assert world.person.delete_many({"name": "p"}) == {"deletedCount": 40, "cascaded": {}}
    assert world.person.count() == 0


def test_what_others_embed_stays_and_the_rest_is_deleted(world, land, cities):
    for home in (cities[3], cities[3], cities[30]):
        world.add_person("p", {"home": {"_ids": home}})
    world.club.insert_one({"name": "c"}, relations={"places": {"_ids": [cities[30]]}})
    with pytest.raises(StillReferenced) as caught:
        world.city.delete_many(ALL)
    assert (caught.value.done, caught.value.counts) == (38, {"club": 1, "person": 3})
    assert caught.value.message == "city is still referenced (club: 1, person: 3)"
    assert populations(world) == [3, 30]
    assert [one["population"] for one in world.country.find_one({"_id": land})["biggest"]] == [30, 3]


def test_a_ring_is_not_deleted(world):
    ids = [world.add_person(name) for name in "ab"]
    for one, other in (ids, ids[::-1]):
        world.person.add_relation({"_id": one}, relations={"friends": {"_ids": [other]}})
    with pytest.raises(StillReferenced) as caught:
        world.person.delete_many(ALL)
    assert caught.value.done == 0
    assert caught.value.counts == {"person": 2}
    assert world.person.count() == 2


@pytest.mark.parametrize("wrong", [None, 1, "true"])
def test_a_cascade_is_true_or_false(world, cities, refused, wrong):
    error = invalid("hardCascade", "Not a valid boolean.")
    refused(*error, lambda: world.city.delete_many(ALL, hard_cascade=wrong))


def test_in_a_transaction_all_is_done(world, cities):
    def work():
        changed = world.city.update_many({"population": {"$lt": 30}}, {"$inc": {"population": 100}})
        return changed, world.city.delete_many({"population": {"$gte": 100}})

    changed, deleted = world.odm.transaction(work)
    assert (changed, deleted) == ({"matched": 30, "modified": 30}, {"deletedCount": 30, "cascaded": {}})
    assert populations(world) == list(range(30, 40))


@pytest.mark.parametrize("caught", [False, True])
def test_in_a_transaction_an_error_undoes_all(world, cities, refused, caught):
    world.add_person("p", {"home": {"_ids": cities[30]}})
    errors = []

    def work():
        world.city.update_many(ALL, {"$inc": {"population": 100}})
        try:
            world.city.delete_many(ALL)
        except StillReferenced as error:
            errors.append(error)
            if not caught:
                raise

    refused(StillReferenced, "city is still referenced (person: 1)", lambda: world.odm.transaction(work))
    assert [error.done for error in errors] == [0]


def test_in_a_transaction_a_value_that_is_refused_undoes_all(numbers, odm):
    numbers.find_one_and_update({"n": 30_000}, {"$set": {"n": 5}})
    before = stored_numbers(numbers)
    with pytest.raises(ValidationError) as caught:
        odm.transaction(lambda: numbers.update_many(ALL, {"$inc": {"n": -10}}))
    assert (caught.value.done, stored_numbers(numbers)) == (0, before)


def test_a_transaction_takes_so_many_documents_and_no_more(odm, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.operations.walk.MOST", 20)
    model = odm.new_model("thing", {"n": integer()})
    model.insert_many([{"n": number} for number in range(21)])
    for work in (lambda: model.update_many(ALL, {"$inc": {"n": 1}}), lambda: model.delete_many(ALL)):
        with pytest.raises(TooLarge) as caught:
            odm.transaction(work)
        assert caught.value.message == "more than 20 documents of thing match, too many for one transaction"
    assert model.distinct("n") == list(range(21))
    model.delete_one({"n": 20})
    assert odm.transaction(lambda: model.delete_many(ALL))["deletedCount"] == 20


@pytest.fixture
def crowded(database):
    """Models where a transaction writes 10 copies: 12 teams with 4 players each; another team with 30."""
    settings = Settings(inline_limit=10)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(database)
    team = odm.new_model("team", {"name": string()})
    player = odm.new_model("player", {"n": integer()}, {"team": {"schemaName": "team", "type": "single"}})
    for number in range(13):
        id_ = team.insert_one({"name": f"team {number}"})["_id"]
        docs = [{"n": n} for n in range(30 if number == 7 else 4)]
        player.insert_many(docs, relations={"team": {"_ids": id_}})
    return odm


@pytest.mark.mongo
def test_few_copies_in_each_need_no_jobs(crowded, mongo_database, monkeypatch):
    put = []
    monkeypatch.setattr("gatewayfw.odm.jobs.records.Jobs.put", lambda jobs, *job: put.append(job) or "key")
    changed = crowded.model("team").update_many({"name": {"$ne": "team 7"}}, {"$set": {"name": "new"}})
    assert (changed, put) == ({"matched": 12, "modified": 12}, [])
    assert crowded.model("player").count({"team.name": "new"}) == 48


def test_a_document_with_many_copies_leaves_a_job(crowded):
    with crowded.leave_to_jobs(10):
        assert crowded.model("team").update_many(ALL, {"$set": {"name": "new"}})["modified"] == 13
        assert (crowded.model("player").count({"team.name": "new"}), len(crowded.jobs())) == (48, 1)
    assert (crowded.model("player").count({"team.name": "new"}), crowded.jobs()) == (78, [])


def test_a_cascade_of_many_leaves_a_job_and_says_so(crowded):
    with crowded.leave_to_jobs(10):
        result = crowded.model("team").delete_many(ALL, hard_cascade=True)
        assert result == {"deletedCount": 13, "cascaded": {"player": 48}, "pending": True}
    assert (crowded.model("player").count(), crowded.jobs()) == (0, [])


def test_in_a_transaction_all_share_one_limit(crowded):
    with crowded.leave_to_jobs(10):
        crowded.transaction(lambda: crowded.model("team").update_many(ALL, {"$set": {"name": "new"}}))
        assert (crowded.model("player").count({"team.name": "new"}), len(crowded.jobs())) == (8, 11)
    assert crowded.model("player").count({"team.name": "new"}) == 78


def test_errors_of_other_operations_say_that_nothing_is_done(world):
    for error, operation in (
        (NotFound, lambda: world.add_city("c", ObjectId())),
        (Conflict, lambda: [world.add_country("x"), world.add_country("x")]),
    ):
        with pytest.raises(error) as caught:
            operation()
        assert caught.value.done == GatewayError.done == 0
