"""Who writes too much is refused, never who comes next: windows and holders of limited documents.

The limit is 6,000 bytes here, so a window of an organization, one of its two, has a share of 1,500.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace

import pytest
from bson import ObjectId, encode
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw.errors import Conflict, NotFound, ReplyTooLarge, TooLarge, ValidationError
from gatewayfw.odm.copies.rules import LOCK
from gatewayfw.odm.sizes.budgets import SizeChecks, bytes_of_member, window_budget
from gatewayfw.odm.sizes.own_fields import FieldsTooLarge
from gatewayfw.odm.writing.plan.attempt import Attempt, abilities_of, with_size_checks
from gatewayfw.odm.writing.plan.locks import Crowded
from gatewayfw.odm.writing.plan.steps import apply
from gatewayfw.odm.writing.plan.update import update
from gatewayfw.odm.writing.plan.windows import refresh, window
from gatewayfw.odm.writing.updates import stored_update
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from gatewayfw.storage.terms import Marked
from tests.odm.random_operations import Operations
from tests.odm.small_documents import MODELS, MOST, MOST_ABOUT, MOST_TEXT, Club, limited
from tests.odm.towns import (
    BONN,
    BONN_COPY,
    LAND,
    LAND_COPY,
    NEW_COPY,
    ROME,
    ROME_COPY,
    SEA,
    SEA_COPY,
    alone,
    members,
    related,
)

SHARE = MOST // 4
TARGET = ObjectId("a" * 24)


@pytest.fixture
def club(database, monkeypatch):
    """Users and organizations; each operation works its jobs off. At the end everything is right."""
    monkeypatch.setattr("gatewayfw.odm.database.DRAIN", 30)  # however slow the machine is
    club = Club(limited(database))
    yield club
    assert (club.odm.work(), club.problems()) == (0, [])


@pytest.fixture
def full(club):
    """An organization whose windows are cut, and its users, the highest ranks last."""
    org = club.add_org("org")
    users = [club.add_user("x" * 1_000, [org], rank=rank) for rank in range(8)]
    assert club.cut(club.org, org) == {"users": SHARE, "latest": SHARE}
    return org, users


def test_a_window_that_does_not_fit_is_cut_to_the_prefix_that_fills_its_share(club, full):
    org, users = full
    assert (club.ids(org), club.ids(org, "latest")) == (users[:1], users[:-2:-1])


def test_others_still_write_to_a_target_that_is_full(club, full):
    org, users = full
    small = club.add_user("small", [org], rank=-1, flags=("users",))
    assert club.change(club.org, org, name="renamed", about="y" * 900)["name"] == "renamed"
    club.change(club.user, users[3], name="member", text="z" * 750)
    club.user.remove_relation(filters={"_id": users[1]}, relations={"orgs": {"_ids": [org]}})
    club.user.add_relation(
        filters={"_id": users[1]}, relations={"orgs": {"_ids": [org], "relatedRelations": {"users": True}}}
    )
    assert club.user.delete_one(filter={"_id": users[0]})
    assert (club.ids(org), club.stored(club.user, users[5])["orgs"][0]["name"]) == ([small, users[1]], "renamed")


def test_a_window_is_whole_again_when_its_members_have_shrunk(club, full):
    org, users = full
    for user in users[1:]:
        club.change(club.user, user, text="")
    assert (club.ids(org), club.cut(club.org, org)) == (users[:4], {})
    hidden = club.stored(club.org, org).get("_gw")
    assert hidden != {}
    assert ("rev" in (hidden or {})) == club.storage.counts_locks()
    club.add_user("", [org], rank=-1)  # enters as into any other window
    assert len(club.ids(org)) == 4


def test_a_member_beyond_the_end_of_a_cut_window_that_shrinks_may_enter_it(club, full):
    org, users = full
    club.change(club.user, users[1], text="")
    assert club.ids(org) == users[:2]


def test_a_member_behind_the_end_of_a_cut_window_is_not_listed(club, full):
    org, users = full
    club.add_user("", [org], rank=9, flags=("users",))
    assert club.ids(org) == users[:1]


def test_without_the_mark_a_cut_window_stays_shorter_than_it_may_be(club, full, monkeypatch):
    _org, users = full
    touch_many = club.storage.touch_many
    with monkeypatch.context() as patched:
        patched.setattr(club.storage, "touch_many", lambda *given, lock: touch_many(*given, lock=LOCK))
        club.change(club.user, users[1], text="")
    assert club.problems() != []
    assert {problem.state for problem in club.odm.integrity.repair()} == {"mended"}


def test_a_member_larger_than_the_share_leaves_an_empty_window(club, full):
    org, users = full
    giant = club.add_user("x" * 2000, [org], rank=-1, flags=("users",))
    assert club.ids(org) == []
    assert "users" not in club.stored(club.org, org)
    assert club.user.delete_one(filter={"_id": giant})
    assert club.ids(org) == users[:1]


def test_the_document_of_the_target_takes_room_from_its_windows(club, full):
    org, users = full
    club.change(club.org, org, about="y" * 4_000)
    assert club.cut(club.org, org)["users"] < SHARE
    assert club.ids(org) == []
    club.change(club.org, org, about="")
    club.change(club.user, users[5], text="")
    assert club.cut(club.org, org)["users"] == SHARE


def test_who_writes_too_much_is_refused_and_nothing_is_written(club, full):
    org, _users = full
    before = club.stored(club.org, org)
    with pytest.raises(TooLarge):
        club.change(club.org, org, about="y" * MOST)
    with pytest.raises(TooLarge):
        club.add_user("x" * MOST, [org])
    hidden = {key: value for key, value in before["_gw"].items() if key != "rev"}
    after = club.stored(club.org, org)
    assert {**after, "_gw": {key: value for key, value in after["_gw"].items() if key != "rev"}} == {
        **before,
        "_gw": hidden,
    }


def test_a_cascade_and_a_refused_delete_of_a_full_target(club, full):
    org, users = full
    with pytest.raises(Conflict):
        club.org.delete_one(filter={"_id": org})
    assert club.org.delete_one(filter={"_id": org}, hard_cascade=True)
    assert club.stored(club.user, users[0]).get("orgs") is None


def test_a_whole_transaction_begins_again_with_size_checks(club, full):
    org, users = full

    def several():
        club.change(club.user, users[0], text="y" * 790)
        first = club.add_user("x" * 100, [org], rank=-2, flags=("users",))
        second = club.add_user("x" * 100, [org], rank=-1, flags=("users",))
        return first, second

    assert club.ids(org) == users[:1]
    assert [*club.odm.transaction(several), users[0]] == club.ids(org)


def test_a_second_gateway_inside_a_transaction_writes_to_a_full_target(club, full):
    org, _users = full
    other = Club(club.storage)
    club.odm.transaction(lambda: other.add_user("x" * 100, [org], rank=-1, flags=("users",)))
    assert len(club.ids(org)) == 2


def test_one_full_target_among_several_stops_no_insert(club, full):
    org, _users = full
    others = [club.add_org(), club.add_org()]
    user = club.add_user("x" * 300, [org, *others], rank=-1)
    assert [club.ids(one)[0] for one in (org, *others)] == [user] * 3


def test_repair_makes_a_cut_window_of_one_that_is_too_long_or_not_marked(club, full):
    org, users = full
    for damage in ({"$unset": {"_gw.cut": ""}}, {"$set": {"users": []}}, {"$set": {"_gw.cut": {"users": 10_000}}}):
        club.storage.update_many("org", {}, damage)
        assert {problem.path for problem in club.odm.integrity.check()} >= {"users"}
        assert {problem.state for problem in club.odm.integrity.repair()} == {"mended"}
        assert (club.ids(org), club.problems()) == (users[:1], [])


def test_repair_gives_back_a_window_that_fits_again(club, full):
    org, users = full
    club.storage.update_many("user", {"_id": {"$in": users}}, {"$set": {"text": ""}})  # another tool
    assert {problem.path for problem in club.odm.integrity.check()} == {"users", "latest", "head"}
    assert {problem.state for problem in club.odm.integrity.repair()} == {"mended"}
    assert (club.ids(org), club.cut(club.org, org)) == (users[:4], {})


def test_repair_says_of_a_window_that_not_even_its_note_fits(club, full):
    org, _users = full
    kept = {key: value for key, value in club.stored(club.org, org).items() if key in ("_id", "name", "about")}
    room = MOST - len(encode({**kept, "anthem": ""})) - 60
    unset = dict.fromkeys(("users", "latest", "head"), "")
    club.storage.update_many("org", {}, {"$set": {"anthem": "y" * room}, "$unset": unset})  # by another tool
    club.storage.update_many("org", {}, {"$unset": {"_gw": ""}})
    for _ in range(2):
        assert {one.state for one in club.odm.integrity.repair()} == {"needs a decision"}
    club.storage.update_many("org", {}, {"$unset": {"anthem": ""}})
    assert {one.state for one in club.odm.integrity.repair()} == {"mended"}


def test_repair_of_a_relation_makes_room_in_the_windows(club, full):
    org, users = full
    owner = club.add_user("x" * 3_000)
    club.org.add_relation(filters={"_id": org}, relations={"owner": {"_ids": owner}})
    club.storage.update_many("org", {}, {"$set": {"owner": {"_id": owner}}})
    club.storage.update_many("org", {}, {"$set": {"users": [{"_id": users[0], "text": "x" * 4_000}]}})
    assert {problem.state for problem in club.odm.integrity.repair()} == {"mended"}


def test_a_holder_that_would_be_too_large_keeps_its_copy_and_stops_nobody(club, caplog):
    org = club.add_org("org")
    small = club.add_user("", [org], flags=())
    huge = club.add_user("x" * (MOST - 600), [org], flags=())
    assert club.change(club.org, org, about="y" * 900)["about"] == "y" * 900
    copies = {one["_id"]: len(one["orgs"][0]["about"]) for one in club.storage.find("user", {})}
    assert (copies, club.odm.jobs()) == ({small: 900, huge: 0}, [])
    assert [record.getMessage() for record in caplog.records] == [
        f"user {huge} could not be updated and is stale: the document would be too large"
    ]
    assert [(one.id, one.path, one.pending) for one in club.odm.integrity.check()] == [(huge, f"orgs.{org}", False)]
    assert [one.state for one in club.odm.integrity.repair()] == ["needs a decision"]
    club.change(club.org, org, about="short")
    assert club.stored(club.user, huge)["orgs"][0]["about"] == "short"


def test_a_holder_gives_the_room_of_its_windows_to_a_copy(club):
    owner = club.add_user("x" * 100)
    org = club.add_org()
    club.org.add_relation(filters={"_id": org}, relations={"owner": {"_ids": owner}})
    for rank in range(4):
        club.add_user("x" * 300, [org], rank=rank, flags=("users", "latest"))
    assert club.cut(club.org, org) == {}
    club.change(club.user, owner, text="y" * 3_600)
    stored = club.stored(club.org, org)
    assert (len(stored["owner"]["text"]), sorted(stored["_gw"]["cut"])) == (3_600, ["latest", "users"])


@pytest.mark.parametrize("id_", [{"x": 1}, "text"], ids=repr)
def test_a_holder_of_another_tool_that_is_too_large_ends_no_job(club, id_):
    org = club.add_org("org")
    copy = {"_id": org, "name": "org", "about": ""}
    huge = {"name": "huge", "text": "x" * (MOST - 800), "rank": 0, "orgs": [copy], "mateOf": [{"_id": 1}]}
    club.storage.insert("user", [{"_id": id_, **huge}])
    club.change(club.org, org, about="y" * 900)
    assert (club.odm.jobs(), club.stored(club.user, id_)["orgs"]) == ([], [copy])
    club.storage.delete_many("user", {"_id": id_})


def test_a_copy_in_a_single_reverse_that_differs_by_its_type_alone_is_written(club, full):
    org, users = full
    head = club.stored(club.org, org)["head"]["_id"]
    club.storage.update_many("user", {"_id": head}, {"$set": {"rank": 7.0}})  # another tool
    club.change(club.user, head, name="new")
    assert (head, type(club.stored(club.org, org)["head"]["rank"])) == (users[-1], float)
    club.change(club.user, head, rank=7)  # so that it fits again


def test_a_single_reverse_that_does_not_fit_is_lost_and_logged(club, caplog):
    org = club.add_org("org")
    club.storage.update_many("org", {}, {"$set": {"anthem": "y" * (MOST - 500)}})  # by another tool
    head = club.add_user("x" * 1_000, [org], flags=("head",))
    assert "head" not in club.stored(club.org, org)
    assert [(record.name, record.getMessage()) for record in caplog.records] == [
        ("gatewayfw.odm", f"org {org} is too large and loses head")
    ]
    club.add_user("x", [org], name="next", flags=("head",))
    assert (club.stored(club.org, org)["head"]["name"], club.stored(club.user, head)["name"]) == ("next", "u")


def test_a_single_reverse_that_grows_too_large_stops_no_update_of_its_member(club):
    org = club.add_org("org")
    head = club.add_user("x", [org], flags=("head",))
    club.storage.update_many("org", {}, {"$set": {"anthem": "y" * (MOST - 600)}})  # by another tool
    club.change(club.user, head, text="x" * 800)
    assert "head" not in club.stored(club.org, org)


def test_the_document_loses_its_windows_before_its_single_reverse(club):
    org = club.add_org()
    head = club.add_user("x" * 1_500, [org], flags=("head",))
    for _ in range(4):
        club.add_user("x" * 600, [org], flags=("users", "latest"))
    club.change(club.org, org, about="y" * 3_500)
    stored = club.stored(club.org, org)
    assert (stored["head"]["_id"], stored.get("users", [])) == (head, [])


KINDS = ["insert", "insert", "insert", "insert_many", "update", "update", "grow", "shrink", "delete", "cascade"]
KINDS += ["add", "add", "replace", "remove", "transaction"]
STEPS = st.tuples(st.sampled_from(KINDS), st.sampled_from(MODELS), st.lists(st.integers(0, 11), min_size=8, max_size=8))


class Player(Operations):
    """Plays steps; what a writer writes always fits, so that nobody may be refused for a size."""

    def __init__(self, club):
        self.club = club

    def play(self, step):
        kind, name, numbers = step
        self._numbers = iter(numbers * 20)
        getattr(self, f"_{kind}")(getattr(self.club, name))

    def _next(self):
        return next(self._numbers)

    def _ids(self, name, most=1):
        ids = sorted(one["_id"] for one in self.club.storage.find(name, {}, ()))
        start = self._next()
        return list(dict.fromkeys(ids[(start + step) % len(ids)] for step in range(most))) if ids else []

    def _doc(self, model, least=0):
        size = max(self._next(), least)
        if model.name == "org":
            return {"name": f"{self._next()}", "about": "y" * (MOST_ABOUT * size // 11)}
        return {"name": f"{self._next()}", "text": "x" * (MOST_TEXT * size // 11), "rank": self._next() % 3}

    def _relation(self, relation):
        multiple = relation.type == "multiple"
        ids = self._ids(relation.schema_name, most=1 + self._next() % 3 if multiple else 1)[: relation.limit or 1]
        flags = {name: self._next() < 10 for name in relation.related_relations if self._next() < 11}
        return {"_ids": ids if multiple else (ids or ["0" * 24])[0], "relatedRelations": flags}

    def _relations(self, model):
        return {name: self._relation(one) for name, one in model.schema.relations.items() if self._next() < 8}

    def _one(self, model):
        return {"_id": (self._ids(model.name) or ["0" * 24])[0]}

    def _some(self, model):
        relations = list(model.schema.relations.values())
        return relations[self._next() % len(relations)]

    def _grow(self, model):
        model.find_one_and_update(filter=self._one(model), update={"$set": self._doc(model, least=9)})

    def _shrink(self, model):
        text = "about" if model.name == "org" else "text"
        model.find_one_and_update(filter=self._one(model), update={"$set": {text: ""}})

    def _delete(self, model):
        model.delete_one(filter=self._one(model))

    def _cascade(self, model):
        model.delete_one(filter=self._one(model), hard_cascade=True)

    def _remove(self, model):
        relation = self._some(model)
        model.remove_relation(filters=self._one(model), relations={relation.name: self._relation(relation)})

    def _transaction(self, model):
        self.club.odm.transaction(lambda: (self._insert(model), self._grow(model), self._add(model)))


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(STEPS, min_size=5, max_size=25), jobs=st.booleans())
def test_no_size_refuses_another_writer_and_every_window_is_a_prefix_that_fills_its_share(club, steps, jobs):
    for name in (*MODELS, "_gw_jobs"):
        club.storage.delete_many(name, {})
    player = Player(club)
    for number in range(3):
        club.add_org(f"org {number}", "y" * (number * 100))
    orgs = [one["_id"] for one in club.storage.find("org", {}, ())]
    for rank in range(5):
        club.add_user("x" * 700, orgs[: 1 + rank % 3], rank=rank)
    for step in steps:
        with (
            contextlib.suppress(Conflict, NotFound, ValidationError),
            club.odm.leave_to_jobs() if jobs else contextlib.nullcontext(),
        ):
            player.play(step)
        club.odm.work()
        assert club.problems() == []


# -- how much care is taken


@pytest.mark.parametrize(
    ("error", "has_transactions", "first", "tried"),
    [
        (TooLarge("x"), True, SizeChecks.NONE, [SizeChecks.NONE, SizeChecks.WINDOWS, SizeChecks.HOLDERS]),
        (Crowded(), True, SizeChecks.WINDOWS, [SizeChecks.WINDOWS, SizeChecks.HOLDERS]),
        (Marked(), True, SizeChecks.HOLDERS, [SizeChecks.HOLDERS]),
        (TooLarge("x"), False, SizeChecks.NONE, [SizeChecks.NONE]),
        (FieldsTooLarge("x"), True, SizeChecks.NONE, [SizeChecks.NONE]),
        (ReplyTooLarge("x"), True, SizeChecks.NONE, [SizeChecks.NONE]),
        (Conflict("x"), True, SizeChecks.NONE, [SizeChecks.NONE]),
    ],
    ids=repr,
)
def test_a_write_is_repeated_with_more_care_while_that_may_help(error, has_transactions, first, tried):
    storage, cares = SimpleNamespace(has_transactions=lambda: has_transactions), []

    def write(care):
        cares.append(care)
        raise error

    with pytest.raises(type(error)) as raised:
        with_size_checks(storage, write, first)
    assert (raised.value, cares) == (error, tried)


def test_a_write_begins_without_care_and_ends_with_its_first_success():
    def write(care):
        if care is not SizeChecks.WINDOWS:
            raise Marked
        return care

    assert with_size_checks(SimpleNamespace(has_transactions=lambda: True), write) is SizeChecks.WINDOWS


# -- commands: a careful write reads each target once, and writes all of it at once


def stored(*commands):
    """Return the commands that read windows, but ones that read them to store them."""
    return [(*given, {**keys, "stored": True}) for *given, keys in commands]


def filled(land, update):
    """Return the commands that read a land with its lists, and write it."""
    lists = stored(*(members(window, land) for window in ("towns", "largest", "guests")))
    return [
        ("find", "land", {"_id": land}, {"limit": 1, "stored": True}),
        *lists,
        ("update_each", "land", [(land, update)]),
    ]


def rename(model, id_):
    model.find_one_and_update({"_id": id_}, {"$set": {"name": "new"}})


def insert_town(towns):
    flags = {"towns": True, "largest": True, "capital": True}
    towns.town.insert_one({"name": "new"}, relations=related("land", LAND, **flags))


def renewed(model, path, id_, filter, values):
    """Return the command that renews a copy in its holders."""
    return ("update_many", model, filter, {"$set": {f"_gw.at.{path}.{id_}": 1, **values}})


RENAMED = {"$set": {"name": "new"}, "$inc": {"_gw.v": 1, "_gw.r": 1}}
ROMAN = {**ROME_COPY, "name": "new"}
LISTS = {"towns": [BONN_COPY, ROMAN], "largest": [ROMAN, BONN_COPY]}
GUEST = renewed("guest", "home", ROME, alone("home", ROME), {"home.name": "new", "home.size": 5})
IN_TOWN, TOWN_UPDATE = alone("land", LAND), {"land.name": "new"}
INSERTED = [
    ("touch", "land", {"_id": LAND}, ["_gw.v", "name"], {"lock": LOCK}),
    ("insert", "town", [{**NEW_COPY, "land": LAND_COPY}]),
]
PUT = {"towns": [NEW_COPY, BONN_COPY, ROME_COPY], "largest": [ROME_COPY, BONN_COPY], "capital": NEW_COPY}
#: Writes while Rome is a capital, and their commands with care.
CAREFUL = {
    "insert": (insert_town, [*INSERTED, *filled(LAND, {"$set": PUT, "$unset": {"guests": ""}})]),
    "update of a target": (
        lambda towns: rename(towns.land, LAND),
        [
            ("touch", "land", {"_id": LAND}, ["towns._id", "largest._id", "capital", "guests._id"], {"lock": LOCK}),
            (
                "update_one",
                "land",
                {"_id": LAND},
                {**RENAMED, "$unset": {"towns": "", "largest": "", "capital": ""}},
                None,
            ),
            ("count", "town", {"land._id": LAND}, 10),
            ("count", "guest", {"visited._id": LAND}, 10),
            ("touch_many", "land", [LAND], {"lock": LOCK}),
            (
                "update_many",
                "town",
                IN_TOWN,
                {"$set": {f"_gw.at.land.{LAND}": 1, **TOWN_UPDATE}, "$unset": {"land.code": ""}},
            ),
            renewed(
                "guest",
                "visited",
                LAND,
                {"visited": {"$elemMatch": {"_id": LAND}}},
                {"visited.$": {"_id": LAND, "name": "new"}},
            ),
            *filled(
                LAND,
                {
                    "$set": {"towns": [BONN_COPY, ROME_COPY], "largest": [ROME_COPY, BONN_COPY], "capital": ROME_COPY},
                    "$unset": {"guests": ""},
                },
            ),
            ("find", "land", {"_id": LAND}, {"limit": 1}),
        ],
    ),
    "update of a member": (
        lambda towns: rename(towns.town, ROME),
        [
            ("touch", "town", {"_id": ROME}, [], {"lock": LOCK}),
            ("update_one", "town", {"_id": ROME}, RENAMED, None),
            ("count", "guest", {"home._id": ROME}, 10),
            ("touch_many", "land", [LAND], {"lock": LOCK}),
            GUEST,
            ("touch_many", "land", [LAND], {"lock": LOCK}),
            *filled(LAND, {"$set": {"capital": ROMAN, **LISTS}, "$unset": {"guests": ""}}),
        ],
    ),
    "replacing": (
        lambda towns: towns.town.add_relation(
            {"_id": ROME}, relations=related("land", SEA, capital=True), replace=True
        ),
        [
            ("touch", "town", {"_id": ROME}, ["name", "size", "land", "_gw"], {"lock": LOCK}),
            ("touch_many", "land", [LAND, SEA], {"lock": LOCK}),
            ("find", "land", {"_id": {"$in": [SEA]}}, ["_gw.v", "name"]),
            ("touch", "town", {"_id": ROME}, [], {"lock": LOCK}),
            (
                "update_one",
                "town",
                {"_id": ROME},
                {
                    "$set": {"land": SEA_COPY, "_gw.out": {"land": {"towns": [SEA], "largest": [SEA]}}},
                    "$inc": {"_gw.r": 1},
                },
                None,
            ),
            *filled(
                LAND,
                {"$set": {"towns": [BONN_COPY], "largest": [BONN_COPY]}, "$unset": {"capital": "", "guests": ""}},
            ),
            *filled(SEA, {"$set": {"capital": ROME_COPY}, "$unset": {"towns": "", "largest": "", "guests": ""}}),
        ],
    ),
}
#: The same without transactions, where nothing is measured at first.
STANDALONE = {
    "insert": (
        insert_town,
        [*INSERTED, members("towns", LAND), members("largest", LAND), ("update_each", "land", [(LAND, {"$set": PUT})])],
    ),
    "update of a member": (
        lambda towns: rename(towns.town, ROME),
        [
            ("update_one", "town", {"_id": ROME}, RENAMED, None),
            ("count", "guest", {"home._id": ROME}, 10),
            (
                "touch_many",
                "land",
                [LAND],
                [
                    *(
                        ({"_id": {"$in": [LAND]}, name: {"$elemMatch": {"_id": ROME}}}, {"$set": {f"{name}.$": ROMAN}})
                        for name in ("towns", "largest")
                    ),
                    ({"_id": {"$in": [LAND]}, **alone("capital", ROME)}, {"$set": {"capital": ROMAN}}),
                ],
                {"lock": LOCK},
            ),
            GUEST,
        ],
    ),
}


def commands_of(towns, write):
    """Make Rome the capital, and return the commands of a write."""
    towns.storage.update_many("land", {"_id": LAND}, {"$set": {"capital": ROME_COPY}})
    before = len(towns.commands)
    write(towns)
    return towns.commands[before:]


@pytest.mark.mongo
@pytest.mark.parametrize("row", CAREFUL)
def test_a_careful_write_reads_and_writes_each_target_once(towns, row):
    write, commands = CAREFUL[row]
    towns = towns(9)
    assert commands_of(towns, lambda towns: towns.storage.transaction(lambda: write(towns))) == commands


@pytest.mark.mongo
@pytest.mark.parametrize("row", STANDALONE)
def test_without_transactions_a_write_takes_care_only_where_it_is_refused(towns, monkeypatch, row):
    write, commands = STANDALONE[row]
    monkeypatch.setattr(MongoStorage, "has_transactions", lambda self: False)
    assert commands_of(towns(9), write) == commands


@pytest.mark.mongo
def test_a_careful_update_of_a_member_leaves_a_single_reverse_to_another(towns):
    towns = towns(9)
    towns.storage.update_many("land", {"_id": LAND}, {"$set": {"capital": BONN_COPY}})
    towns.storage.transaction(lambda: rename(towns.town, ROME))
    [land] = towns.storage.find("land", {"_id": LAND})
    assert {name: land[name] for name in ("towns", "largest", "capital")} == {**LISTS, "capital": BONN_COPY}


@pytest.mark.mongo
def test_with_care_for_holders_the_room_for_copies_still_counts(towns):
    towns, name = towns(), "n" * 560
    towns.storage.most_bytes = 4_000
    schema = towns.odm.schemas.get_schema("land")
    attempt = Attempt(towns.odm.schemas, abilities_of(towns.storage), 9, SizeChecks.HOLDERS)
    change = stored_update(schema, {"$set": {"name": name}})
    plan = update(attempt, schema, {"_id": LAND}, change, ["name"])
    towns.storage.transaction(lambda: apply(towns.storage, plan))
    room = 4_000 - 4_000 // 4 - 4_000 // 8
    fits = {"most_bytes": room - len(encode({"_id": LAND, "name": name}))}
    assert [command[-1] for command in towns.commands if command[0] == "update_many"] == [fits, fits]


@pytest.mark.mongo
def test_with_care_for_holders_a_copy_goes_only_where_it_fits(towns):
    towns = towns()
    schema = towns.odm.schemas.get_schema("land")
    attempt = Attempt(towns.odm.schemas, abilities_of(towns.storage), 9, SizeChecks.HOLDERS)
    change = stored_update(schema, {"$set": {"name": "new"}})
    plan = update(attempt, schema, {"_id": LAND}, change, ["name"])
    towns.storage.transaction(lambda: apply(towns.storage, plan))
    fits = {"most_bytes": towns.storage.most_bytes - len(encode({"_id": LAND, "name": "new"})) - 256}
    at = f"_gw.at.land.{LAND}"
    stale = {at: {"$not": {"$gte": 1, "$lte": 2**62}}}
    asked = [command for command in towns.commands if command[:2] in [("update_many", "town"), ("count", "town")]]
    assert [command[-1] for command in towns.commands if command[0] == "update_many"] == [fits, fits]
    assert asked[-1] == ("count", "town", {**IN_TOWN, **stale}, 1)
    assert towns.jobs() == []


# -- single reverses, windows of one's own, and their shares


@pytest.mark.mongo
def test_a_refresh_corrects_all_reverses_of_some_targets(towns):
    """Rome still is in the first land; Bonn, the capital of the second, is not."""
    towns = towns()
    for land, capital in ((LAND, {**ROME_COPY, "name": "old"}), (SEA, BONN_COPY)):
        towns.storage.update_many("land", {"_id": land}, {"$set": {"capital": capital, "towns": []}})
    before, relation = len(towns.commands), towns.town.schema.relations["land"]
    plan = refresh(Attempt(towns.odm.schemas, abilities_of(towns.storage)), relation, [SEA, LAND])
    towns.storage.transaction(lambda: apply(towns.storage, plan))
    named = {"_id": {"$in": [ROME, BONN]}, "land._id": {"$in": [LAND, SEA]}}
    lists = {"towns": [BONN_COPY, ROME_COPY], "largest": [ROME_COPY, BONN_COPY]}
    assert towns.commands[before:] == [
        ("touch_many", "land", [LAND, SEA], {"lock": LOCK}),
        ("find", "land", {"_id": {"$in": [LAND, SEA]}, "capital": {"$exists": True}}, ["capital._id"]),
        ("find", "town", named, ["name", "size", "land._id"]),
        *(members(window, land) for window in ("towns", "largest") for land in (LAND, SEA)),
        (
            "update_each",
            "land",
            [
                (LAND, {"$set": {**lists, "capital": ROME_COPY}}),
                (SEA, {"$unset": {"towns": "", "largest": "", "capital": ""}}),
            ],
        ),
    ]


@pytest.mark.parametrize(("spare", "fits"), [(0, True), (-1, False)])
def test_a_window_that_fills_more_than_half_of_its_share_is_crowded(storage, spare, fits):
    storage.insert("page", [{"_id": TARGET}])
    books = [{"_id": ObjectId(f"{number:024x}"), "title": "x" * 50 * number} for number in (2, 1)]
    storage.insert("book", [{**book, "page": {"_id": TARGET}} for book in books])
    half = sum(bytes_of_member(book) for book in books) + spare
    schemas = Schemas(Settings(windows_bytes=2 * half))
    schemas.add("page", {})
    listed = {"books": {"type": "multiple", "limit": 50}}
    schemas.add(
        "book", {"title": string()}, {"page": {"schemaName": "page", "type": "single", "relatedRelations": listed}}
    )
    reverse = schemas.get_related_relations("page")["books"]
    assert window_budget(schemas, reverse).all == half
    try:
        found = apply(storage, window(Attempt(schemas, abilities_of(storage)), reverse, TARGET))
    except Crowded:
        found = None
    assert found == (books if fits else None)


def test_a_refresh_takes_away_a_single_reverse_that_copies_nothing(world):
    land = world.add_country("land")
    world.storage.update_many("country", {"_id": land}, {"$set": {"capital": {"name": "no id"}}})
    attempt = Attempt(world.odm.schemas, abilities_of(world.storage))
    plan = refresh(attempt, world.city.schema.relations["country"], [land])
    world.storage.transaction(lambda: apply(world.storage, plan))
    assert world.raw(world.country, land) == {"_id": land, "name": "land"}


def test_a_member_may_become_two_single_reverses_at_once(odm):
    land = odm.new_model("land", {})
    singles = {"capital": {"type": "single"}, "port": {"type": "single"}}
    town = odm.new_model("town", {}, {"land": {"schemaName": "land", "type": "single", "relatedRelations": singles}})
    id_ = land.insert_one({})["_id"]
    made = town.insert_one({}, relations={"land": {"_ids": id_, "relatedRelations": dict.fromkeys(singles, True)}})[
        "_id"
    ]
    assert land.find_one() == {"_id": id_, "capital": {"_id": made}, "port": {"_id": made}}
