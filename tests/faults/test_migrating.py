"""A migration is killed in the middle, again and again, while old and new processes write: nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.migrating import LEVEL, deploy, items_of, owners
from tests.waiting import wait_until

ROOT = Path(__file__).parent.parent.parent
PURE = ("number", "email", "age", "hits", "level")


class Role:
    """A process with a role; used inside ``with``, which lets it end."""

    def __init__(self, role, folder):
        self.log = folder / f"{role}.{time.monotonic_ns()}"
        with self.log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.faults.migrating", role], cwd=ROOT, stdin=subprocess.PIPE, stdout=output
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()
        assert self._process.wait(1800) == 0

    def kill(self):
        """SIGKILL it; tells whether it still ran."""
        running = self._process.poll() is None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        return running

    def told(self):
        """What it has told, line by line."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def odm(mongod_uri, mongo_database, monkeypatch):
    """The models of the new version on an empty database, which all roles use."""
    monkeypatch.setenv("MONGODB_URI", mongod_uri.replace("/?", f"/{mongo_database.name}?"))
    odm = deploy("new")
    yield odm
    odm.storage.close()


@pytest.mark.mongo
@pytest.mark.slow
def test_no_write_is_lost_when_a_migration_is_killed_again_and_again(odm, mongo_database, tmp_path, full, report):
    number, kills = (20_000, 4) if full else (60, 1)
    stored = owners(number)
    odm.ready()
    mongo_database.owner.create_index("number", unique=True)
    mongo_database.owner.insert_many(stored)
    mongo_database.item.insert_many(items_of(stored, 20))
    began, killed = time.monotonic(), 0
    with Role("new", tmp_path) as new:
        with Role("old", tmp_path) as old:
            assert wait_until(lambda: old.told() and new.told(), 60)
            for kill in range(kills):
                killed += kill_after(mongo_database, number * 2 * (kill + 1) // (kills + 1), tmp_path)
            among_writers = migrate(tmp_path)
        after_the_old = migrate(tmp_path)
        list(odm.integrity.repair())
    report(seconds=round(time.monotonic() - began), killed=killed, among_writers=among_writers, later=after_the_old)
    acknowledged = old.told() + new.told()
    report(acknowledged=len(acknowledged), listed=[one[2] for one in after_the_old])
    assert killed == kills
    assert migrate(tmp_path) == [[0, 0, []]] * 3
    assert list(odm.integrity.check()) == []
    assert list(odm.integrity.misfits()) == []
    assert list(wrong_owners(mongo_database, stored, acknowledged)) == []
    assert list(wrong_items(mongo_database, acknowledged)) == []


def kill_after(database, changed, folder):
    """Start migrating and kill it once so many documents more or less are changed in all; how often it was killed."""
    migrating = Role("migrate", folder)

    def is_there():
        return sum(one["changed"] for one in database["_gw_migrations"].find()) >= changed

    assert wait_until(is_there, 1800)
    return migrating.kill()


def migrate(folder):
    """Migrate to the end; return how many each changed and left, and what it listed."""
    with Role("migrate", folder) as migrating:
        pass
    (told,) = migrating.told()
    return told


def wrong_owners(database, stored, acknowledged):
    """Yield the owners that are not as the acknowledged writes say."""
    expected = {
        one["number"]: {"number": one["number"], "email": one["mail"], "hits": 0, "level": LEVEL}
        | ({"age": int(one["age"])} if "age" in one else {})
        for one in stored
    }
    for write in acknowledged:
        if "number" in write:
            one = expected.setdefault(write["number"], {"number": write["number"], "hits": 0, "level": LEVEL})
            one["hits"] += write.get("hit", 0)
            values = {"email" if name == "mail" else name: value for name, value in write.get("set", {}).items()}
            one |= {name: int(value) if name == "age" else value for name, value in values.items()}
    for one in database.owner.find():
        found = {name: value for name, value in one.items() if name not in ("_id", "_gw")}
        if found != (wanted := expected.pop(one["number"], None)):
            yield found, wanted
    yield from expected.values()


def wrong_items(database, acknowledged):
    """Yield the items that are lost, and the copies that do not say what their source does."""
    sources = {one["_id"]: {name: one[name] for name in ("_id", *PURE) if name in one} for one in database.owner.find()}
    sold = {write["item"] for write in acknowledged if "item" in write}
    for one in database.item.find():
        sold.discard(one["title"])
        yield from (copy for copy in one["by"] if copy != sources[copy["_id"]])
        if "mail" in one["then"] or not {"_id", *PURE}.issuperset(one["then"]):
            yield one["then"]
    yield from sold
