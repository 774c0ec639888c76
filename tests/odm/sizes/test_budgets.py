"""How much of a document the copies in it may fill: in holders, and in windows."""

from __future__ import annotations

import pytest
from bson import encode
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import TooLarge
from gatewayfw.odm.sizes.budgets import (
    Budget,
    SizeChecks,
    bytes_of_member,
    copies_bytes,
    fills,
    fitted,
    fitting,
    holder_budget,
    holder_fits,
    is_small,
    most_bytes_before,
    room_in,
    share_of,
    share_within,
    window_budget,
)
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from tests.odm.small_documents import MOST, Club, limited

COPIES = st.lists(st.integers(0, 300), max_size=14).map(
    lambda sizes: [{"_id": i, "t": "x" * n} for i, n in enumerate(sizes)]
)


def stored(windows):
    """The bytes that windows take in a document; an empty one is absent."""
    return len(encode({name: copies for name, copies in windows.items() if copies})) - 5


def listed(copies):
    """The bytes of a list."""
    return len(encode({"": copies})) - 7


def fit(windows, room, share):
    return fitted(windows, share_within(room, len(windows), share))


@given(first=COPIES, second=COPIES, room=st.integers(-50, 3000), share=st.integers(0, 1500))
def test_windows_are_the_longest_beginnings_that_their_share_holds(first, second, room, share):
    windows = {"first": first, "a_second_window": second}
    lists, cut = fit(windows, room, share)
    share = max(0, min(share, room // 2))
    for name, copies in windows.items():
        kept = lists[name]
        assert kept == copies[: len(kept)]
        assert not kept or listed(kept) <= share
        if len(kept) < len(copies):
            assert cut[name] == share
            assert fills(kept, copies[len(kept)], share) is True
        elif copies and listed(copies) > share // 2:
            assert cut[name] is None
        else:
            assert name not in cut


def test_a_target_without_windows_has_nothing_to_cut():
    assert fit({}, -5, 100) == ({}, {})


@given(sizes=st.lists(st.integers(0, 300), max_size=6), room=st.integers(-50, 1000))
def test_of_single_copies_the_smallest_stay(sizes, room):
    copies = {f"n{number}": {"_id": number, "t": "x" * size} for number, size in enumerate(sizes)}
    kept = fitting(copies, room)
    assert stored({name: copies[name] for name in kept}) <= max(room, 0)
    for lost in copies.keys() - kept:
        assert all(sizes[int(name[1:])] <= sizes[int(lost[1:])] for name in kept)
        assert stored({name: copies[name] for name in {*kept, lost}}) > room


def test_a_member_larger_than_the_share_leaves_an_empty_window():
    assert fit({"users": [{"_id": 1, "t": "x" * 100}]}, 100, 50) == ({"users": []}, {"users": 50})


@pytest.mark.parametrize(("windows", "share"), [(0, 2000), (1, 2000), (2, 1000), (3, 666)])
def test_windows_share_evenly(windows, share):
    assert share_of(2000, windows) == share


@given(rest=st.dictionaries(st.sampled_from("abc"), st.text(max_size=50)), most=st.integers(0, 2000))
def test_the_room_leaves_enough_for_the_notes_and_the_counters(rest, most):
    room = room_in(rest, ["users", "latest"], most)
    noted = {**rest, "_gw": {"rev": 2**40, "cut": {"users": 2**20, "latest": 2**40}}}
    assert len(encode(noted)) <= most - room or room < 0


def test_the_room_is_what_the_rest_the_notes_and_the_counters_leave():
    rest = {"_id": 1, "name": "x"}
    cut = {"cut": {"users": 1.5, "\u00e9": 1.5}}
    assert room_in(rest, ["users", "\u00e9"], 1_000) == 1_000 - len(encode(rest)) - (len(encode(cut)) - 5) - 64


def test_a_window_is_noted_when_it_fills_more_than_half_of_its_share():
    copies = [{"_id": 1, "t": "x" * 20}]
    half = listed(copies)
    assert [fit({"users": copies}, 1_000, share)[1] for share in (2 * half, 2 * half - 1)] == [{}, {"users": None}]
    assert fit({"users": []}, 1_000, 0) == ({"users": []}, {})


@pytest.mark.parametrize("room", [-2, -1, 0])
def test_without_any_room_the_share_is_nothing(room):
    assert fit({"users": [{"_id": 1}], "none": []}, room, 100) == ({"users": [], "none": []}, {"users": 0})


def test_of_single_copies_of_one_size_the_first_by_name_stays():
    copies = {name: {"_id": 1} for name in "bac"}
    size = stored({"a": copies["a"]})
    assert [sorted(fitting(copies, room)) for room in (size - 1, size, 2 * size, 3 * size)] == [
        [],
        ["a"],
        ["a", "b"],
        ["a", "b", "c"],
    ]


def test_a_window_is_full_when_the_next_member_takes_it_beyond_its_share():
    copies = [{"_id": number, "t": "x" * number} for number in range(11)]
    size = listed(copies)
    assert [fills(copies[:-1], copies[-1], share) for share in (size - 1, size)] == [True, False]


def test_care_has_three_levels_of_which_the_first_is_none():
    assert [bool(checks) for checks in SizeChecks] == [False, True, True]
    assert [SizeChecks(checks + 1) for checks in (SizeChecks.NONE, SizeChecks.WINDOWS)] == [
        SizeChecks.WINDOWS,
        SizeChecks.HOLDERS,
    ]


MEGABYTE = 2**20


@pytest.fixture
def club(database):
    """Users and organizations on a storage of small documents."""
    return Club(limited(database))


def shop(size=None, limit=50, **settings):
    """Schemas of books with many pages; the pages of a text of some size."""
    schemas = Schemas(Settings(**settings))
    schemas.add("page", {"text": string(size=(None, size)) if size else string()})
    listed = {"books": {"type": "multiple", "limit": limit}}
    pages = {"schemaName": "page", "type": "multiple", "limit": limit, "relatedRelations": listed}
    schemas.add("book", {"title": string()}, {"pages": pages})
    return schemas


def test_copies_that_always_fit_are_not_measured():
    assert holder_budget(shop(size=10_000), "book", 16 * MEGABYTE) is None
    assert holder_budget(shop(), "page", 16 * MEGABYTE) is None


def test_copies_have_what_the_own_fields_and_the_small_ones_leave():
    assert holder_budget(shop(size=100_000), "book", 16 * MEGABYTE) == Budget(2 * MEGABYTE // 50, 10 * MEGABYTE)


def test_own_fields_have_what_the_setting_says_and_a_quarter_at_most():
    def room(document_bytes):
        return holder_budget(shop(size=100_000, document_bytes=document_bytes), "book", 16 * MEGABYTE)

    assert [room(one * MEGABYTE).all for one in (1, 4, 5)] == [13 * MEGABYTE, 10 * MEGABYTE, 10 * MEGABYTE]


def test_copies_are_measured_where_they_may_have_one_byte_too_many():
    schemas = shop(size=100, document_bytes=1_000)
    schemas.add("note", {}, {"page": {"schemaName": "page", "type": "single"}})
    most = 1_000 + copies_bytes(schemas, schemas.get_relations("book").values())
    assert holder_budget(schemas, "book", most) is None
    assert holder_budget(schemas, "book", most - 1) == Budget((most - 1) // 8 // 50, most - 1001 - (most - 1) // 8)
    one = copies_bytes(schemas, schemas.get_relations("note").values())
    assert holder_budget(schemas, "note", one) == Budget(one // 8, one - one // 4 - one // 8)


def test_a_window_is_measured_where_it_may_have_one_byte_too_many():
    def room(windows_bytes):
        schemas = shop(size=100, windows_bytes=windows_bytes)
        return window_budget(schemas, schemas.get_related_relations("page")["books"])

    schemas = shop(size=100)
    share = copies_bytes(schemas, schemas.get_related_relations("page").values())
    assert (room(share), room(share - 1)) == (None, Budget((share - 1) // 2 // 50, (share - 1) // 2))


COPY = {"_id": 1, "t": "x" * 10}
SIZE = len(encode(COPY))


def test_a_member_has_a_number_of_at_most_four_digits():
    assert bytes_of_member(COPY) == SIZE + 6 == len(encode({"9999": COPY})) - 5


def test_a_copy_is_small_up_to_the_bytes_of_a_small_one():
    assert [is_small(room, COPY) for room in (None, Budget(SIZE + 6, 0), Budget(SIZE + 5, 0))] == [True, True, False]


def test_only_a_large_copy_needs_a_holder_with_room():
    rooms = (None, Budget(SIZE, 500), Budget(SIZE - 1, 500))
    assert [most_bytes_before(room, COPY) for room in rooms] == [None, None, 500 - SIZE]


def test_copies_may_change_up_to_all_the_room_or_what_they_had():
    book = shop().get_schema("book")
    small, large = ({"_id": 1, "title": "x" * 99, "pages": [COPY] * count} for count in (1, 2))
    size = len(encode({"pages": large["pages"]}))
    rooms = (None, Budget(0, size), Budget(0, size - 1))
    assert [holder_fits(room, book, small, large) for room in rooms] == [True, True, False]
    changes = ((large, large), (large, small), ({}, small))
    assert [holder_fits(Budget(0, 10), book, before, after) for before, after in changes] == [True, True, False]


def test_a_window_has_its_share_where_its_definition_lets_it_exceed_that():
    schemas = shop(limit=100)
    reverse = schemas.get_related_relations("page")["books"]
    assert window_budget(schemas, reverse) == Budget(MEGABYTE // 100, MEGABYTE)
    schemas = shop()
    assert window_budget(schemas, schemas.get_related_relations("page")["books"]) is None


def test_a_room_is_that_of_the_models_there_are():
    schemas = shop(size=10_000)
    assert holder_budget(schemas, "book", 16 * MEGABYTE) is None
    schemas.add("shelf", {}, {"books": {"schemaName": "book", "type": "multiple"}})
    assert holder_budget(schemas, "book", 16 * MEGABYTE) is None


def test_owners_of_sources_do_not_lock_the_owner_of_a_holder_out(club, caplog):
    orgs = [club.add_org(name) for name in ("a", "b", "c")]
    user = club.add_user("short", orgs, flags=())
    for org in orgs:
        assert club.change(club.org, org, about="y" * 2_000)["about"] == "y" * 2_000
        club.odm.work()
    copies = [len(one["about"]) for one in club.stored(club.user, user)["orgs"]]
    assert (copies, club.odm.jobs()) == ([2_000, 0, 0], [])
    assert [record.getMessage() for record in caplog.records] == [
        f"user {user} could not be updated and is stale: its copies have no room for more"
    ] * 2
    assert [one.path for one in club.odm.integrity.check()] == [f"orgs.{orgs[1]}", f"orgs.{orgs[2]}"]
    assert len(club.change(club.user, user, text="x" * 1_400)["text"]) == 1_400
    club.user.remove_relation(filters={"_id": user}, relations={"orgs": {"_ids": [orgs[0]]}})
    club.change(club.org, orgs[1], name="again")
    club.odm.work()
    assert [one["about"] == "y" * 2_000 for one in club.stored(club.user, user)["orgs"]] == [True, False]
    assert club.user.delete_one(filter={"_id": user})


def test_a_small_copy_and_one_that_shrinks_always_go_in(club):
    orgs = [club.add_org("a", "y" * 3_000), club.add_org("b", "y" * 700)]
    user = club.add_user("", orgs, flags=())
    third = club.add_org("c")
    club.user.add_relation(filters={"_id": user}, relations={"orgs": {"_ids": [third]}})
    club.change(club.org, third, about="y" * 80)
    club.change(club.org, orgs[0], about="y" * 2_990)
    club.odm.work()
    assert [len(one["about"]) for one in club.stored(club.user, user)["orgs"]] == [2_990, 700, 80]


def test_a_holder_that_fills_itself_takes_no_room_from_others(club):
    """The full one makes the change begin again, with care for it alone."""
    org = club.add_org("org")
    others = [club.add_org(name, "y" * 1_500) for name in "ab"]
    owner = club.add_user("", [org, *others], flags=())
    filled(club, org)
    club.change(club.org, org, about="y" * 1_400)
    club.odm.work()
    assert [len(one["about"]) for one in club.stored(club.user, owner)["orgs"]] == [0, 1_500, 1_500]


def test_small_members_do_not_make_a_window_exceed_its_share(club):
    org = club.add_org("org")
    for rank, size in enumerate([1_200, 150, 150, 150]):
        club.add_user("x" * size, [org], rank=rank, flags=("users",))
        assert len(encode(club.stored(club.org, org)["users"][0])) > 1_200
        assert sum(len(encode(one)) for one in club.stored(club.org, org)["users"]) <= MOST // 4
    assert len(club.ids(org)) == 2


def test_one_holder_without_room_leaves_only_itself_to_the_job(club):
    org = club.add_org("org")
    others = [club.add_org(name, "y" * 1_500) for name in "ab"]
    free = [club.add_user("", [org], flags=()) for _ in range(5)]
    full = club.add_user("", [org, *others], flags=())
    for size in (1_000, 1_100):
        club.change(club.org, org, about="y" * size)
        club.odm.work()
        seen = {one["_id"]: len(one["orgs"][0]["about"]) for one in club.storage.find("user", {})}
        assert (seen, club.odm.jobs()) == ({**dict.fromkeys(free, size), full: 0}, [])


def test_a_cascade_reads_ids_and_no_copies(club):
    """Copies may have megabytes, and up to 201 holders are read before it is known whether they are too many."""
    orgs = [club.add_org(name, "y" * 500) for name in "ab"]
    user = club.add_user("x" * 500, orgs)
    mate = club.add_user()
    club.user.add_relation(filters={"_id": mate}, relations={"mates": {"_ids": [user]}})
    read, find = [], club.storage.find

    def noting(collection, filter, fields=None, **options):
        for document in find(collection, filter, fields, **options):
            read.append(len(encode(document)))
            yield document

    club.storage.find = noting
    assert club.org.delete_one(filter={"_id": orgs[0]}, hard_cascade=True)
    assert max(read) < 300
    assert [one["_id"] for one in club.stored(club.user, user)["orgs"]] == orgs[1:]
    assert club.user.delete_one(filter={"_id": user}, hard_cascade=True)
    assert "mates" not in club.stored(club.user, mate)
    assert club.problems() == []


def filled(club, org):
    """A user whose document has exactly the most bytes."""
    probe = club.add_user("", [org], flags=())
    free = MOST - len(encode(club.stored(club.user, probe)))
    assert club.user.delete_one(filter={"_id": probe})
    user = club.add_user("x" * free, [org], flags=())
    assert len(encode(club.stored(club.user, user))) == MOST
    return user


def test_a_document_that_is_full_to_the_last_byte_is_deleted(club):
    user = filled(club, club.add_org("org"))
    assert club.user.delete_one(filter={"_id": user})


def test_a_document_that_is_full_to_the_last_byte_shrinks_and_stops_no_other(club):
    org = club.add_org("org")
    user = filled(club, org)
    assert club.change(club.org, org, about="y" * 20)["about"] == "y" * 20
    with pytest.raises(TooLarge):
        club.change(club.user, user, name="longer")
    assert club.change(club.user, user, text="")["text"] == ""
    assert club.org.delete_one(filter={"_id": org}, hard_cascade=True)
    assert "orgs" not in club.stored(club.user, user)
