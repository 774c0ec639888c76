"""Members of reverse relations: gatewayfw.odm.copies.rules."""

from __future__ import annotations

from bson import ObjectId

from gatewayfw.odm.copies.opt_outs import members
from gatewayfw.odm.copies.rules import entry, single_reverse, window_query
from gatewayfw.schemas import RelatedRelation, Sort

A, B = ObjectId("a" * 24), ObjectId("b" * 24)
NEWEST = RelatedRelation(
    type="multiple", limit=3, sort=Sort("_id", "desc"), name="users", relation="orgs", member="user", target="org"
)
BIGGEST = RelatedRelation(
    type="multiple", limit=2, sort=Sort("age", "asc"), name="oldest", relation="orgs", member="user", target="org"
)

CAPITAL = RelatedRelation(type="single", name="capital", relation="land", member="city", target="land", of_single=True)


def test_a_window_is_one_query_with_the_id_as_the_last_word():
    newest, biggest = (window_query(one, ("name",), A) for one in (NEWEST, BIGGEST))
    assert newest.collection == "user"
    assert newest.fields == ("name",)
    assert newest.limit == 3
    embeds = {"orgs._id": A}
    whole = {**embeds, "_gw.some.orgs.users": {"$exists": False}, "_gw.out.orgs.users": {"$ne": A}}
    assert newest.filter == {"$or": [whole, {"_gw.in.orgs.users": A, **embeds}]}
    assert (newest.sort, biggest.sort) == ((("_id", -1),), (("age", 1), ("_id", 1)))


def test_an_entry_needs_room_for_all_and_has_the_id_as_the_last_word():
    copies = [{"_id": A, "name": "x"}, {"_id": B, "name": "y"}]
    small = RelatedRelation(type="multiple", limit=1, sort=Sort("key", "desc"), name="users")
    large = RelatedRelation(type="multiple", limit=2, sort=Sort("key", "desc"), name="users")
    assert entry(small, small.window, copies) is None
    filter, push = entry(large, large.window, copies)
    assert push == {"$each": copies, "$sort": {"key": -1, "_id": 1}, "$slice": 2}
    assert list(push["$sort"]) == ["key", "_id"]
    assert filter == {"users": {"$elemMatch": {"_id": {"$exists": True}}}, "users._id": {"$nin": [A, B]}}


def test_a_single_one_has_no_window():
    assert CAPITAL.window is None


def test_members_of_a_single_relation_opt_out_by_their_only_target():
    listed = {"$or": [{"_gw.some.land.capital": {"$exists": False}}, {"_gw.in.land.capital": A}]}
    assert members(CAPITAL, A) == {"land._id": A, "_gw.out.land.capital": {"$exists": False}, **listed}


def test_a_single_reverse_is_the_copy_of_a_member_that_still_embeds_the_target():
    member = {"_id": B, "name": "x", "age": 5, "land": {"_id": A}}
    assert single_reverse(CAPITAL, ("name",), A, member) == {"_id": B, "name": "x"}
    assert single_reverse(CAPITAL, ("name",), B, member) is None
    assert single_reverse(CAPITAL, ("name",), A, None) is None
