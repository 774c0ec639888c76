"""Documents that are too large in a storage without transactions: nobody is refused for others there either."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.errors import TooLarge
from gatewayfw.storage import MockStorage
from tests.odm.small_documents import MOST, Club


class Standalone(MockStorage):
    """A storage of which each write commits by itself."""

    most_bytes = MOST

    def has_transactions(self):
        """Return False."""
        return False

    def transaction(self, fn, proof=None, hot=()):
        """Run ``fn``; nothing is undone."""
        return fn()


@pytest.fixture
def club():
    """Users and organizations; at the end everything is right."""
    club = Club(Standalone(mongomock.MongoClient().test))
    yield club
    assert (club.odm.work(), club.problems()) == (0, [])


@pytest.fixture
def full(club):
    """An organization whose windows are cut, and its users."""
    org = club.add_org("org")
    return org, [club.add_user("x" * 1_000, [org], rank=rank) for rank in range(8)]


def test_a_full_target_stays_writable(club, full):
    org, users = full
    assert (club.ids(org), sorted(club.cut(club.org, org))) == (users[:1], ["latest", "users"])
    small = club.add_user("small", [org], rank=-1)
    assert club.change(club.org, org, name="renamed", about="y" * 900)["users"][0]["_id"] == small
    club.change(club.user, users[0], text="y" * 1_100)
    club.user.remove_relation(filters={"_id": users[1]}, relations={"orgs": {"_ids": [org]}})
    assert club.user.delete_one(filter={"_id": users[2]})
    assert club.ids(org) == [small, users[0]]


def test_a_copy_that_grows_in_a_window_makes_room_by_itself(club):
    org = club.add_org()
    users = [club.add_user("x" * 250, [org], rank=rank, flags=("users", "latest")) for rank in range(8)]
    assert club.cut(club.org, org) == {}
    club.user.find_one_and_update(filter={"_id": users[0]}, update={"$inc": {"rank": 0}, "$set": {"text": "y" * 1_200}})
    club.change(club.user, users[7], text="y" * 2_500, name="grown")
    assert sorted(club.cut(club.org, org)) == ["latest", "users"]


def test_what_an_update_does_to_its_own_document_it_does_once(club, full):
    org, _users = full
    changed = club.org.find_one_and_update(
        filter={"_id": org}, update={"$set": {"about": "y" * 3_600}, "$inc": {"number": 1}}
    )
    assert (changed["number"], club.stored(club.org, org)["_gw"]["v"]) == (1, 1)


def test_a_holder_that_would_be_too_large_keeps_its_copy(club, caplog):
    org = club.add_org("org")
    small = club.add_user("", [org], flags=())
    huge = club.add_user("x" * (MOST - 700), [org], flags=())
    assert club.change(club.org, org, about="y" * 900)["about"] == "y" * 900
    copies = {one["_id"]: len(one["orgs"][0]["about"]) for one in club.storage.find("user", {})}
    assert (copies, club.odm.jobs()) == ({small: 900, huge: 0}, [])
    assert [one.id for one in club.odm.integrity.check()] == [huge]
    club.change(club.org, org, about="short")


def test_who_writes_too_much_is_refused(club, full):
    org, _users = full
    with pytest.raises(TooLarge):
        club.change(club.org, org, about="y" * MOST)
    with pytest.raises(TooLarge):
        club.add_user("x" * MOST, [org])
