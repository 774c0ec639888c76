"""Random bursts of all operations, by many threads and processes, on few documents.

Run as a program it plays bursts on a MongoDB server, or on mongomock, and tells how many broke the
promise. ``--without`` takes a guard away, and then some must break:

    python -m tests.faults.bursts mongodb://127.0.0.1:27017/?replicaSet=rs0 --bursts 40 --without touch
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from unittest import mock

import mongomock
from bson import json_util
from pymongo import MongoClient

from gatewayfw.errors import GatewayError, StorageError
from gatewayfw.odm import Odm
from gatewayfw.odm.jobs import fan_out as fanout
from gatewayfw.odm.jobs import records
from gatewayfw.odm.operations import walk
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.storage import MongoStorage
from tests.faults.clients import at_once
from tests.faults.invariants import problems
from tests.odm.frozen_copies import Acknowledged
from tests.odm.random_operations import Operations
from tests.odm.world import MODELS, World, define_world

ROOT = Path(__file__).parent.parent.parent
OPERATIONS = 50
PROCESSES = 4
THREADS = 8
#: How processes tell documents: a date without a time zone, a number as it is.
PLAIN = json_util.JSONOptions(json_mode=json_util.JSONMode.RELAXED, tz_aware=False)
#: Copies that a change writes itself in every other burst: so few that most work goes through jobs.
INLINE = 2


class Tardy(MongoStorage):
    """A storage that now and then is late with a write to many documents."""

    def update_many(self, collection, filter, update, **bound):
        if random.random() < 0.3:
            time.sleep(random.random() * 0.1)
        return super().update_many(collection, filter, update, **bound)


def hasty_leases():
    """Let leases of jobs expire at once, so that workers overtake each other all the time."""
    return mock.patch.object(records, "LEASE", 0.01)


def open_world(db, inline_limit):
    """Return the models of `define_world` on a storage or mongomock; no thread works its jobs off."""
    settings = Settings(inline_limit=inline_limit)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(db)
    return World(odm, define_world(odm))


def populate(world):
    """Empty the world and add the few documents that everything happens to."""
    for name in [*MODELS, "_gw_jobs"]:
        world.storage.delete_many(name, {})
    countries = [world.add_country(f"country {number}", population=number) for number in range(2)]
    cities = [world.add_city(f"city {number}", countries[number % 2], population=number) for number in range(3)]
    places = {"_ids": cities[:2], "relatedRelations": {"clubs": True}}
    for number in range(2):
        world.club.insert_one(doc={"name": f"club {number}"}, relations={"places": places})
    people = [world.add_person(f"person {number}", age=number) for number in range(4)]
    for number in range(2):
        guests = {"to": {"_ids": cities[number]}, "guests": {"_ids": people[number : number + 2]}}
        world.trip.insert_one(doc={"name": f"trip {number}", "age": number}, relations=guests)


def small_batches():
    """Let operations on many documents begin with batches of two, as there are few documents."""
    return mock.patch.object(walk, "FIRST", 2)


class Player(Operations):
    """Plays random operations on a world; one for each thread."""

    def __init__(self, world, seed, notes):
        self._world = world
        self._notes = notes
        self._models = [getattr(world, name) for name in MODELS]
        self._random = random.Random(seed)
        self._kinds = [self._insert] * 4 + [self._update] * 6 + [self._add] * 4 + [self._replace] * 2
        self._kinds += [self._insert_many, self._unset, self._remove, self._remove, self._delete, self._several]
        self._kinds += [self._update_many, self._update_many, self._delete_many, self._revise, self._upsert]

    def play(self):
        """Do one operation on some model; returns its name and how it ended."""
        operation, model = self._random.choice(self._kinds), self._random.choice(self._models)
        try:
            operation(model)
        except StorageError:
            raise
        except GatewayError as error:
            return operation.__name__.strip("_"), type(error).__name__
        return operation.__name__.strip("_"), "ok"

    def _note(self, model, document, relations=(), replace=False):
        if document is not None:
            self._notes.append((model.name, document))

    def _ids(self, model, most):
        ids = sorted(one["_id"] for one in self._world.storage.find(model.name, {}, ()))
        # The last person may be deleted meanwhile, and everything then refuses: that is no fault.
        return self._random.sample(ids, min(len(ids), self._random.randint(1, most)))

    def _many(self, model):
        return {"_id": {"$in": self._ids(model, 6)}}

    def _one(self, model):
        return {"_id": (self._ids(model, 1) or ["0" * 24])[0]}

    def _doc(self, model):
        doc = {"name": f"{model.name} {self._random.random()}"}
        for name in {"population", "age"} & set(model.schema.pure):
            doc[name] = self._random.randint(0, 4)
        return doc

    def _relation(self, relation):
        model = getattr(self._world, relation.schema_name)
        ids = self._ids(model, 1 if relation.type == "single" else 2) or ["0" * 24]
        flags = {name: self._random.random() < 0.7 for name in relation.related_relations}
        return {"_ids": ids[0] if relation.type == "single" else ids, "relatedRelations": flags}

    def _relations(self, model):
        chosen = model.schema.relations.values()
        return {one.name: self._relation(one) for one in chosen if not one.optional or self._random.random() < 0.5}

    def _revise(self, model):
        one = self._one(model)
        if found := model.find_one(one, projection={"_rev": 1}):
            self._note(model, model.find_one_and_update(one, {"$set": self._doc(model)}, rev=found["_rev"]))

    def _upsert(self, model):
        if all(relation.optional for relation in model.schema.relations.values()):
            one = self._one(model) if self._random.random() < 0.5 else {"_id": f"{self._random.randrange(4):024x}"}
            self._note(model, model.find_one_and_update(one, {"$set": self._doc(model)}, upsert=True))

    def _delete(self, model):
        model.delete_one(filter=self._one(model), hard_cascade=model.name in ("person", "club"))

    def _delete_many(self, model):
        model.delete_many(self._many(model), hard_cascade=model.name in ("person", "club"))

    def _some(self, model):
        return self._random.choice([*model.schema.relations.values(), None])

    def _remove(self, model):
        one = self._one(model)
        document = next(self._world.storage.find(model.name, one), {})
        present = [one for one in model.schema.relations.values() if one.name in document and one.type == "multiple"]
        if present:
            name = self._random.choice(present).name
            links = {name: {"_ids": [self._random.choice(document[name])["_id"]]}}
            model.remove_relation(filters=one, relations=links)

    def _several(self, model):
        def operations():
            self._insert(model)
            self._update(model)
            self._update_many(model)

        self._world.odm.transaction(operations)


def play(world, seed, operations, threads=THREADS):
    """Play operations of a burst by so many threads; returns how often each ended how, and what they noted."""
    numbers, barrier = itertools.count(), threading.Barrier(threads)
    notes = []

    def run(number):
        player, ended = Player(world, f"{seed} {number}", notes), Counter()
        barrier.wait(30)
        while next(numbers) < operations:
            ended[" ".join(player.play())] += 1
        return ended

    return sum(at_once(threads, run), Counter()), notes


class Team:
    """Processes that play together on one MongoDB database; used inside ``with``.

    They end when their standard input does, however this process ends.
    """

    def __init__(self, uri, without=()):
        self._argv = [sys.executable, "-m", "tests.faults.bursts", uri, "--play"]
        self._argv += [word for guard in without for word in ("--without", guard)]

    def __enter__(self):
        self._processes = [
            subprocess.Popen(self._argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(PROCESSES)
        ]
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.stdin.close()
        for process in self._processes:
            process.wait(60)
            process.stdout.close()

    def play(self, seed, inline_limit):
        """Play one burst; returns how often each operation ended how, and what was noted."""
        for number, process in enumerate(self._processes):
            share = OPERATIONS // PROCESSES + (number < OPERATIONS % PROCESSES)
            process.stdin.write(json.dumps([f"{seed} {number}", share, inline_limit]) + "\n")
            process.stdin.flush()
        played = [json_util.loads(process.stdout.readline(), json_options=PLAIN) for process in self._processes]
        return sum((Counter(ended) for ended, _ in played), Counter()), [note for _, notes in played for note in notes]


def member(uri):
    """Be a process of a `Team`: play what standard input says."""
    worlds = {}
    for line in sys.stdin:
        seed, share, inline_limit = json.loads(line)
        if inline_limit not in worlds:
            worlds[inline_limit] = open_world(Tardy(uri), inline_limit)
            worlds[inline_limit].odm.ready()
        print(json_util.dumps(play(worlds[inline_limit], seed, share), json_options=PLAIN), flush=True)
    for world in worlds.values():
        world.storage.close()


def on_mongodb(uri, bursts, without=()):
    """Play bursts by 4 processes of 8 threads; returns the broken ones and how operations ended."""
    uri = uri.replace("/?", f"/gatewayfw_bursts_{uuid.uuid4().hex}?")
    worlds = [open_world(MongoStorage(uri), limit) for limit in (Settings().inline_limit, INLINE)]
    try:
        worlds[0].odm.ready()
        with hasty_leases(), small_batches(), Team(uri, without) as team:
            return judged(bursts, lambda number: worlds[number % 2], lambda n: team.play(n, (200, INLINE)[n % 2]))
    finally:
        for world in worlds:
            world.storage.close()
        with MongoClient(uri) as client:
            client.drop_database(client.get_default_database().name)


def on_mongomock(bursts):
    """Play bursts by 8 threads; returns the broken ones and how operations ended."""
    world = open_world(mongomock.MongoClient().test, Settings().inline_limit)
    with small_batches():
        return judged(bursts, lambda number: world, lambda number: play(world, number, OPERATIONS))


def judged(bursts, world_of, play_one):
    """Play bursts and check the promise after each; returns ``{number: problems}`` and a `Counter`."""
    broken, ended = {}, Counter()
    for number in range(bursts):
        world = world_of(number)
        populate(world)
        frozen = Acknowledged(world.odm.schemas)
        for name in MODELS:
            for document in world.storage.find(name, {}):
                frozen.note(name, document)
        played, notes = play_one(number)
        ended += played
        for name, document in notes:
            frozen.note(name, document)
        if found := problems(world.odm) + frozen.problems(world.storage):
            broken[number] = found
            print(f"burst {number}: {len(found)} problems, such as {found[0]}", flush=True)
    return broken, ended


@contextlib.contextmanager
def without_touch():
    """Read instead of locking, as a design without the touch would."""

    def read(storage, collection, filter, fields, update=None, *, lock):
        if update:
            return storage.update_one(collection, filter, update, fields)
        return next(storage.find(collection, filter, fields, limit=1), None)

    def change(storage, collection, ids, changes=(), *, lock):
        for filter, update in changes:
            storage.update_many(collection, filter, update)

    with (
        mock.patch.object(MongoStorage, "touch", read),
        mock.patch.object(MongoStorage, "touch_many", change),
    ):
        yield


def without_at():
    """Let the batches of jobs overwrite copies that are newer than what they bring."""
    return mock.patch.object(fanout, "older", return_value={})


#: What can be taken away, by name.
GUARDS = {"touch": without_touch, "at": without_at}


def main():
    parser = argparse.ArgumentParser(description="Play random bursts and count those that break the promise.")
    parser.add_argument("uri", help="of a MongoDB server, or the word mongomock")
    parser.add_argument("--bursts", type=int, default=20)
    parser.add_argument("--without", action="append", choices=GUARDS, default=[])
    parser.add_argument("--play", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        stack.enter_context(hasty_leases())
        stack.enter_context(small_batches())
        for guard in given.without:
            stack.enter_context(GUARDS[guard]())
        if given.play:
            member(given.uri)
            return
        if given.uri == "mongomock":
            broken, ended = on_mongomock(given.bursts)
        else:
            broken, ended = on_mongodb(given.uri, given.bursts, given.without)
    print(f"{len(broken)} of {given.bursts} bursts broken; operations: {dict(sorted(ended.items()))}")


if __name__ == "__main__":
    main()
