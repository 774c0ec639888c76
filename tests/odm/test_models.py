"""Every operation of a model, given bad input: a clear error, and the database as it was."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.errors import (
    BadRequest,
    DuplicateKey,
    Stale,
    UsageError,
    ValidationError,
)
from gatewayfw.schemas import optional, string
from tests.odm.refusing import REQUIRED, invalid


def test_a_duplicate_key_on_update_changes_nothing(world, land, refused):
    other = world.add_country("other")
    world.add_city("city", other)
    refused(
        DuplicateKey,
        "Duplicate key error",
        lambda: world.country.find_one_and_update(filter={"_id": other}, update={"$set": {"name": "land"}}),
    )


@pytest.mark.parametrize(
    ("update", "error", "message"),
    [
        ({}, UsageError, "update: expected an object of operators such as $set"),
        ({"name": "x"}, UsageError, "update: unknown operator name; to set a field, write {'$set': {...}}"),
        ({"$rename": {"name": "x"}}, UsageError, "update: unknown operator $rename"),
        ({"$set": "x"}, BadRequest, "update: $set takes an object"),
        ({"$set": {"name": "x"}, "$unset": {"name": ""}}, UsageError, "update: name is changed twice"),
        (
            {"$set": {"address": {"street": "a"}, "address.zip": "b"}},
            BadRequest,
            "update: address.zip is changed twice",
        ),
        ({"$set": {"_id": "0" * 24}}, *invalid("update._id", "Not a pure field of the model.")),
        ({"$set": {"_gw.v": 1}}, *invalid("update._gw.v", "Not a pure field of the model.")),
        ({"$set": {"born": {}}}, *invalid("update.born", "Not a pure field of the model.")),
        ({"$set": {"born.name": "x"}}, *invalid("update.born.name", "Not a pure field of the model.")),
        ({"$set": {"friendOf": []}}, *invalid("update.friendOf", "Not a pure field of the model.")),
        ({"$set": {"nme": "x"}}, *invalid("update.nme", "Not a pure field of the model.")),
        ({"$set": {"name": 5}}, *invalid("update.name", "Not a valid string.")),
        ({"$set": {"name": None}}, *invalid("update.name", "Field may not be null.")),
        ({"$set": {"age": -1}}, *invalid("update.age", "Must be greater than or equal to 0.")),
        ({"$set": {"address.city": "x"}}, *invalid("update.address.city", "Not a field of this object.")),
        ({"$set": {"address.street": 5}}, *invalid("update.address.street", "Not a valid string.")),
        ({"$set": {"extra.$where": 5}}, *invalid("update.extra.$where", "Not a key the database can hold.")),
        ({"$unset": {"name": ""}}, *invalid("update.name", REQUIRED)),
        ({"$unset": {"address.street": ""}}, *invalid("update.address.street", REQUIRED)),
        ({"$inc": {"age": "1"}}, *invalid("update.age", "Not a valid integer.")),
        ({"$inc": {"age": 2**70}}, *invalid("update.age", "Not a valid integer.")),
        ({"$inc": {"name": 1}}, UsageError, "update: $inc name: not a number"),
        ({"$inc": {"nme": 1}}, UsageError, "update: $inc nme: Not a pure field of the model."),
        ({"$inc": {"_gw.v": 1}}, UsageError, "update: $inc _gw.v: Not a pure field of the model."),
        ({"$unset": {"address.city": ""}}, UsageError, "update: $unset address.city: Not a field of this object."),
        ({"$addToSet": {"born": 1}}, UsageError, "update: $addToSet born: Not a pure field of the model."),
        ({"$set": {"extra.x": 2**70}}, *invalid("update.extra.x", "Not a valid value.")),
        ({"$set": {"extra.x": "\ud800"}}, *invalid("update.extra.x", "Not a valid value.")),
        ({"$set": {"extra.x": {"$where": 1}}}, *invalid("update.extra.x.$where", "Not a key the database can hold.")),
        ({"$inc": {"age": -100}}, *invalid("update.age", "Must be greater than or equal to 0.")),
        ({"$push": {"name": "x"}}, UsageError, "update: $push name: not a list"),
    ],
)
def test_updates_are_checked(world, land, refused, update, error, message):
    relations = {"born": {"_ids": land, "relatedRelations": {"natives": True}}}
    person = world.add_person("p", relations, age=5, address={"street": "s"}, extra={})
    operation = {"filter": {"_id": person}, "update": update}
    refused(error, message, lambda: world.person.find_one_and_update(**operation))


EACH = "takes a value, or a list in $each"


@pytest.mark.parametrize(
    ("update", "error", "message"),
    [
        ({"$push": {"tags": 5}}, *invalid("update.tags", "Not a valid string.")),
        ({"$push": {"tags": {"$each": ["a", 5]}}}, *invalid("update.tags.1", "Not a valid string.")),
        ({"$addToSet": {"tags": {"$each": "a"}}}, UsageError, f"update: $addToSet {EACH}"),
        ({"$push": {"tags": {"$slice": 1}}}, UsageError, f"update: $push {EACH}"),
        ({"$push": {"tags": {"$each": [5], "$slice": 1}}}, *invalid("update.tags.0", "Not a valid string.")),
        ({"$push": {"tags": {"$each": ["a"], "$end": 1}}}, UsageError, "update: $push knows no $end beside $each"),
        ({"$pull": {"tags": 5}}, *invalid("update.tags", "Not a valid string.")),
        ({"$pull": {"tags": {"$in": ["a", 5]}}}, *invalid("update.tags.1", "Not a valid string.")),
        ({"$pull": {"tags": {"$regex": "a"}}}, UsageError, "update: unknown operator $regex"),
    ],
)
def test_elements_are_checked(world, land, refused, update, error, message):
    city = world.add_city("c", land, tags=["t"])
    operation = {"filter": {"_id": city}, "update": update}
    refused(error, message, lambda: world.city.find_one_and_update(**operation))


def test_a_bad_projection_is_found_before_anything_is_written(world, land, refused):
    get = {"nme": 1}
    error = invalid("get.nme", "Unknown field.")
    relations = {"born": {"_ids": land}}
    refused(*error, lambda: world.country.insert_one(doc={"name": "x"}, projection=get))
    refused(*error, lambda: world.country.insert_many(docs=[{"name": "x"}], projection=get))
    change = {"filter": {"_id": land}, "update": {"$set": {"name": "x"}}}
    refused(*error, lambda: world.country.find_one_and_update(**change, projection=get))
    person = world.add_person("p")
    refused(*error, lambda: world.person.add_relation(filters={"_id": person}, relations=relations, projection=get))


def test_nothing_matched_is_no_error(world, land):
    nobody = {"_id": ObjectId()}
    relations = {"born": {"_ids": land}}
    before = world.digest()
    assert world.person.find_one(filters=nobody) is None
    assert world.person.find_one_and_update(filter=nobody, update={"$set": {"name": "x"}}) is None
    assert world.person.add_relation(filters=nobody, relations=relations) is None
    assert world.person.remove_relation(filters=nobody, relations=relations) is None
    result = world.person.delete_one(filter=nobody)
    assert result == {"deletedCount": 0, "cascaded": {}}
    assert not bool(result)
    assert world.digest() == before


ID, NEW = ObjectId("a" * 24), ObjectId("b" * 24)


@pytest.fixture
def clubs(odm, asked):
    """Clubs with members, one of each; and the calls of transactions of the storage from now on."""
    member = odm.new_model("member", {"name": string(), "about": optional(string())})
    club = odm.new_model("club", {"name": string()}, {"members": {"schemaName": "member", "type": "multiple"}})
    member.insert_one({"_id": ID, "name": "a"})
    club.insert_one({"_id": ID, "name": "c"}, relations={"members": {"_ids": [ID]}})
    return member, club, asked("transaction")


NAMED, RELATED = {"_id": ID}, {"members": {"_ids": [ID]}}


BOTH = [("club", ID), ("member", ID)]


HOT = {
    "insert": (lambda member, club: club.insert_one({"name": "d"}, relations=RELATED), [("member", ID)]),
    "insert of many": (
        lambda member, club: club.insert_many([{"name": "d"}, {"name": "e"}], relations=RELATED),
        [("member", ID), ("member", ID)],
    ),
    "update": (lambda member, club: member.find_one_and_update(NAMED, {"$set": {"name": "b"}}), [("member", ID)]),
    "update of any": (lambda member, club: member.find_one_and_update({"name": "a"}, {"$set": {"name": "b"}}), []),
    "upsert": (
        lambda member, club: member.find_one_and_update(NAMED, {"$set": {"name": "b"}}, upsert=True),
        [("member", ID)],
    ),
    "delete": (lambda member, club: club.delete_one(NAMED), [("club", ID)]),
    "add": (lambda member, club: club.add_relation(NAMED, relations=RELATED), BOTH),
    "remove": (lambda member, club: club.remove_relation({"name": "c"}, relations={"members": {"_ids": []}}), []),
}


@pytest.mark.parametrize(("operation", "hot"), HOT.values(), ids=HOT)
def test_operations_say_which_documents_others_queue_for(clubs, operation, hot):
    member, club, transactions = clubs
    operation(member, club)
    _, (_, _, named), _ = transactions[0]
    assert list(named) == hot


def test_an_insert_says_how_it_is_told_that_it_was_done(clubs):
    member, _, transactions = clubs
    made = member.insert_many([{"name": "x"}, {"name": "y"}])
    _, (_, proof, _), _ = transactions[0]
    assert proof == ("member", {"_id": made[0]["_id"]})


STALE = {
    "update": lambda club, rev: club.find_one_and_update(NAMED, {"$set": {"name": "x"}}, rev=rev),
    "nothing": lambda club, rev: club.find_one_and_update(NAMED, {"$set": {}}, rev=rev),
    "delete": lambda club, rev: club.delete_one(NAMED, rev=rev),
    "add": lambda club, rev: club.add_relation(NAMED, relations=RELATED, rev=rev),
    "remove": lambda club, rev: club.remove_relation(NAMED, relations={"members": {"_ids": []}}, rev=rev),
}


@pytest.mark.parametrize("operation", STALE.values(), ids=STALE)
def test_each_operation_asks_for_the_revision_that_it_is_given(clubs, operation):
    club = clubs[1]
    there = club.find_one(projection={"_rev": 1})["_rev"]
    with pytest.raises(Stale) as refused:
        operation(club, there - 1)
    assert refused.value.revision == there
    assert operation(club, there)


def test_an_upsert_takes_either_name_of_its_filter(clubs):
    member = clubs[0]
    made = [
        member.find_one_and_update(**{word: {"_id": NEW}}, update={"$set": {"name": "n"}}, upsert=True)
        for word in ("filters", "filter")
    ]
    assert made == [{"_id": NEW, "name": "n"}] * 2


@pytest.mark.parametrize("given", [1, None, "yes"])
def test_whether_to_replace_is_true_or_false(clubs, given):
    with pytest.raises(ValidationError) as refused:
        clubs[1].add_relation(NAMED, relations=RELATED, replace=given)
    assert refused.value.errors == {"replace": ["Not a valid boolean."]}


ALL = {"_id": {"$exists": True}}


def test_the_contracts_spellings_take_one_object_or_keywords(world, cities):
    update = {"$inc": {"population": 100}}
    one = world.city.updateMany({"filter": {"population": {"$lt": 5}}, "update": update})
    two = world.city.updateMany(filters={"population": {"$gte": 100}}, update=update)
    assert (one, two) == ({"matched": 5, "modified": 5}, {"matched": 5, "modified": 5})
    world.add_person("p", {"home": {"_ids": cities[0]}})
    gone = world.city.deleteMany({"filter": {"population": {"$gte": 200}}, "hardCascade": True})
    assert gone == {"deletedCount": 5, "cascaded": {}}
    assert world.city.deleteMany(filter=ALL)["deletedCount"] == 35
    with pytest.raises(TypeError):
        world.city.deleteMany({"filter": ALL, "reveal": ["password"]})
