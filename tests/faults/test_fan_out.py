"""A document with very many holders is renamed while clients write to them and workers are killed."""

from __future__ import annotations

import itertools
import random
import statistics
import threading
import time

import pytest
from bson import ObjectId

from tests.faults.clients import Background, new_user
from tests.faults.invariants import audit

#: Seconds between two looks at what is pending, and the longest wait for it.
LOOK, PATIENCE = 0.05, 180
#: Every so many-th member stays; the others may leave meanwhile.
LEAVING = 7


@pytest.fixture
def crowd(full, on_stage, mongod_uri):
    """A stage with one organization and very many users of it, and another organization without."""
    with on_stage(mongod_uri, "--preload", "-c", "sample_service/gunicorn.conf.py") as stage:
        stage.crowded, stage.quiet = stage.add_organizations(2)
        stage.members = add_members(stage, 100_000 if full else 2_000)
        yield stage


def add_members(stage, count):
    """Store users behind the server's back, with right copies; gives their ids, oldest first."""
    (home,) = stage.storage.find("organization", {"_id": ObjectId(stage.crowded)}, ["name"])
    users = [member(number, home) for number in range(count)]
    for start in range(0, count, 10_000):
        stage.storage.insert("user", users[start : start + 10_000])
    hidden = ("password", "organizations")
    newest = [{name: value for name, value in user.items() if name not in hidden} for user in users[:-101:-1]]
    stage.storage.update_one("organization", {"_id": home["_id"]}, {"$set": {"users": newest}}, ())
    return [user["_id"] for user in users]


def member(number, home):
    names = {"first_name": f"User {number}", "last_name": "Example", "email": f"member{number}@example.com"}
    return {"_id": ObjectId(), **names, "password": "x", "isActive": True, "organizations": [home]}


class Writer:
    """Changes a field of holders, most often of one; ``took`` has the seconds of each change."""

    def __init__(self, stage, field):
        self._users = stage.service.users
        self._numbers = itertools.count()
        self._members = stage.members[::LEAVING]
        self._field = field
        self.took = []

    def write(self, _):
        number = next(self._numbers)
        id_ = self._members[0] if number % 4 else random.choice(self._members)
        start = time.monotonic()
        changed = self._users.find_one_and_update(filter={"_id": id_}, update={"$set": {self._field: str(number)}})
        self.took.append(time.monotonic() - start)
        assert changed is not None

    def figures(self):
        """How many changes, and the seconds that the middle and the longest one took."""
        return len(self.took), round(statistics.median(self.took), 4), round(max(self.took), 3)


def rename(stage, id_, name):
    """Send a rename until it succeeds; gives the seconds of the try that did."""
    while True:
        reply = stage.sender.send("organization", "updateOrganization", {"_id": id_, "name": name})
        if reply.status == 200:
            return reply.took
        assert reply.status in (None, 503), reply


def ordinary_update(stage):
    """The seconds that the update of a document takes that nobody embeds."""
    return statistics.median(rename(stage, stage.quiet, f"quiet {number}") for number in range(9))


def kill_until_done(stage, peaks, times):
    """Kill all workers so many times while jobs are pending; gives the kills and the seconds to the end."""
    start, kills = time.monotonic(), 0
    while stage.service.gw.odm.jobs():
        assert time.monotonic() - start < PATIENCE
        peaks.append(stage.server.peak_memory())
        if kills < times and stage.server.kill_workers():
            kills += 1
        time.sleep(LOOK)
    peaks.append(stage.server.peak_memory())
    return kills, time.monotonic() - start


@pytest.mark.mongo
@pytest.mark.slow
def test_rename_reaches_all_holders_while_they_change(full, crowd, report):
    usual, writer, peaks = ordinary_update(crowd), Writer(crowd, "position"), []
    with Background(1, writer.write, pause=0.005):
        time.sleep(0.2)
        took = rename(crowd, crowd.crowded, "renamed")
        kills, spread = kill_until_done(crowd, peaks, 3 if full else 1)
    report(ordinary=round(usual, 3), rename=round(took, 3), seconds_to_the_last_copy=round(spread, 1), kills=kills)
    report(writes_middle_longest=writer.figures(), peak_mb=round(max(peaks)))
    assert audit(crowd) == []
    assert names_in(crowd) == {"renamed"}
    if full:
        assert kills == 3
        assert took < usual + 0.5
        assert max(writer.took) < 0.2
        assert max(peaks) < 200


@pytest.mark.mongo
@pytest.mark.slow
def test_renames_in_a_row_reach_holders_that_come_and_go(full, crowd, report):
    usual, peaks, changes = ordinary_update(crowd), [], Changes(crowd)
    # The organization lists the position but not the password, so only the first has to wait
    # for the others who change that list.
    listed, alone = Writer(crowd, "position"), Writer(crowd, "password")
    with (
        Background(1, listed.write, pause=0.005),
        Background(1, alone.write, pause=0.005),
        Background(2, changes.change, pause=0.01),
    ):
        took = [rename(crowd, crowd.crowded, f"name {number}") for number in range(20)]
        kills, spread = kill_until_done(crowd, peaks, 3 if full else 0)
    report(ordinary=round(usual, 3), longest_rename=round(max(took), 3), seconds_to_the_last_copy=round(spread, 1))
    report(kills=kills, writes_middle_longest=alone.figures(), listed=listed.figures(), peak_mb=round(max(peaks)))
    report(added_and_removed=changes.count, told=dict(crowd.ledger.told()))
    assert audit(crowd) == []
    assert names_in(crowd) == {"name 19"}
    if full:
        assert kills == 3
        assert max(took) < usual + 0.5
        assert max(alone.took) < 0.2
        assert max(peaks) < 200


class Changes:
    """Holders that are added, leave, come back and are removed, one after another."""

    def __init__(self, stage):
        self._stage = stage
        self._numbers = itertools.count()
        self._leaving = iter(stage.members[1::LEAVING])
        self._lock = threading.Lock()
        self.count = 0

    def change(self, _):
        stage = self._stage
        with self._lock:
            number, leaving = next(self._numbers), str(next(self._leaving))
            self.count += 1
        stage.ledger.send(stage.sender, new_user(f"user{number}@example.com", [stage.crowded]), attempts=5)
        if number % 2:
            stage.sender.send("user", "removeUser", {"_id": leaving})
        else:
            for organizations in ([], [stage.crowded]):
                given = {"_id": leaving, "organizations": organizations, "replace": True}
                stage.sender.send("user", "updateUserRelations", given)


def names_in(stage):
    """The names under which users embed the crowded organization."""
    found = stage.storage.find("user", {"organizations._id": ObjectId(stage.crowded)}, ["organizations.name"])
    return {one["name"] for user in found for one in user["organizations"]}
