"""A second writer at every point of a first one, where windows are cut, become so, or become whole again."""

from __future__ import annotations

import pytest

from gatewayfw.errors import GatewayError
from tests.odm.small_documents import MOST, Club, LimitedMongo
from tests.odm.stepping import Elsewhere, SteppingMongo, Stored, outcome

pytestmark = pytest.mark.mongo


class SteppingLimited(LimitedMongo, SteppingMongo):
    """A storage with points and a limit."""

    most_bytes = MOST


def member(rank, text="", flags=("users", "latest")):
    return lambda club: club.add_user(text, [club.org_id], rank=rank, flags=flags)


def change(at, **fields):
    return lambda club: club.change(club.user, club.users[at], **fields)


def rename(about):
    return lambda club: club.change(club.org, club.org_id, name="new", about=about)


def leave(at):
    return lambda club: club.user.remove_relation(
        filters={"_id": club.users[at]}, relations={"orgs": {"_ids": [club.org_id]}}
    )


def delete(at):
    return lambda club: club.user.delete_one(filter={"_id": club.users[at]})


#: Pairs of operations on an organization, and the length of the texts of its eight users.
PAIRS = {
    "push and shrink behind the end": (member(-1), change(1, text=""), 1_000),
    "push and grow inside": (member(-1), change(0, text="y" * 1_200), 1_000),
    "push and delete": (member(-1, "x" * 100), delete(0), 1_000),
    "push and rename": (member(-1, "x" * 100), rename("y" * 300), 1_000),
    "shrink and leave": (change(1, text=""), leave(0), 1_000),
    "two that shrink": (change(1, text=""), change(2, text=""), 1_000),
    "whole again and push": (change(7, text=""), member(-1), 700),
    "cut by a push and renamed": (member(-1, "x" * 800), change(1, name="new"), 250),
    "cut by two pushes": (member(-1, "x" * 800), member(-2, "x" * 800), 250),
    "cut by a change and pushed": (change(0, text="y" * 1_500), member(9, "x" * 100), 250),
    "cut by a rename and a change": (rename("y" * 3_450), change(3, text="y"), 250),
    "cut by a claim and moved": (member(9, "x" * 3_700, ("head",)), change(3, rank=-1), 250),
}


@pytest.fixture
def begin(mongo_database):
    """A function that gives two clubs on one database with an organization of eight users."""

    def make(size):
        club, other = Club(SteppingLimited(mongo_database)), Club(SteppingLimited(mongo_database))
        org = club.add_org("org")
        users = [club.add_user("x" * size, [org], rank=rank, flags=("users", "latest")) for rank in range(8)]
        for one in (club, other):
            one.org_id, one.users = org, users
        return club, other

    return make


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_at_every_point_nobody_is_refused_and_all_is_right(begin, mongo_database, pair):
    first, second, size = PAIRS[pair]
    club, other = begin(size)
    stored = Stored(mongo_database)
    for one, two in ((first, second), (second, first)):
        stored.restore()
        with club.storage.steps.watched() as points:
            one(club)
        for point in [point for point in points if point.when == "before"]:
            stored.restore()
            elsewhere = Elsewhere(other.storage, lambda two=two: two(other))
            with club.storage.steps.watched(point, elsewhere.begin):
                results = outcome(lambda one=one: one(club)), elsewhere.result()
            assert not [one for one in results if isinstance(one, type) and issubclass(one, GatewayError)], point
            assert club.odm.work() == 0, point
            assert club.problems() == [], point


def test_some_of_the_pairs_cut_windows(begin):
    cut = {}
    for size in (250, 700, 1_000):
        club, _other = begin(size)
        cut[size] = sorted(club.cut(club.org, club.org_id))
    assert cut == {250: [], 700: ["latest", "users"], 1_000: ["latest", "users"]}
