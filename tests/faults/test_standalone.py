"""On a standalone server writers die and overlap before every write: `check` finds what is stale, `repair` mends it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import count, takewhile

import pytest
from pymongo import MongoClient
from pymongo.monitoring import CommandListener

from gatewayfw import gateway, integer
from gatewayfw.errors import Conflict, NotFound, StillReferenced
from gatewayfw.odm import Odm, database
from gatewayfw.odm.copies.rules import ids_in
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from tests.cli.shop import make_app, runner, shop
from tests.faults.clients import at_once
from tests.faults.replica import standalone
from tests.odm.damage import DANGLING, furnish
from tests.odm.stepping import Stored
from tests.odm.world import World, define_world

pytestmark = pytest.mark.mongo

#: Children are forked from a process that has imported all but runs no thread: safe, and quick.
CHILDREN = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload([__name__])
#: Seconds a child may take for what takes a tenth of one.
PATIENCE = 30
#: What an operation may say of a document that another one has deleted or related meanwhile.
EXPECTED = (Conflict, NotFound, StillReferenced)
WRITE_COMMANDS = ("insert", "update", "delete", "findAndModify")


class BeforeWrite(CommandListener):
    """Calls a function before the n-th write after `arm` is sent; `done` tells whether it came to that."""

    def __init__(self):
        self.done, self._left, self._fn = False, 0, None

    def arm(self, number, fn):
        self.done, self._left, self._fn = False, number, fn

    def started(self, event):
        if event.command_name in WRITE_COMMANDS:
            self._left -= 1
            if self._left == 0:
                self.done = True
                self._fn()

    def succeeded(self, event):
        pass

    failed = succeeded


@contextmanager
def world_on(uri, name, limit=200, listener=None):
    """The models of `define_world` in a database, with a client of their own.

    ``limit`` is how many copies an operation writes itself.
    """
    with MongoClient(uri, event_listeners=[listener] if listener else []) as client:
        settings = Settings(inline_limit=limit)
        odm = Odm(Schemas(settings), settings)
        odm.set_db(client[name])
        models = define_world(odm)
        odm.ready()
        yield World(odm, models)


# -- what is written


def insert(world, here):
    """Add a person that is in every kind of reverse relation."""
    world.add_person(
        "new",
        {
            "home": {"_ids": here.city},
            "born": {"_ids": here.land, "relatedRelations": {"natives": True}},
            "visited": {"_ids": [here.land, here.other], "relatedRelations": {"visitors": True}},
            "friends": {"_ids": [here.bob], "relatedRelations": {"friendOf": True}},
            "boss": {"_ids": here.ann, "relatedRelations": {"reports": True, "assistant": True}},
            "clubs": {"_ids": [here.club], "relatedRelations": {"members": True, "president": True}},
        },
        age=7,
    )


def rename(world, here, name="renamed"):
    """Rename what cities and persons embed."""
    world.country.find_one_and_update(filter={"_id": here.land}, update={"$set": {"name": name}})


def rename_again(world, here):
    rename(world, here, "renamed again")


def rename_member(world, here):
    """Rename what others embed and list, and change what one list is sorted by."""
    world.person.find_one_and_update(filter={"_id": here.ann}, update={"$set": {"name": "renamed", "age": 1}})


def relate(world, here):
    """Replace a list, each part of which lists the person in turn."""
    visited = {"_ids": here.others[1:3], "relatedRelations": {"visitors": True}}
    world.person.add_relation(filters={"_id": here.ann}, relations={"visited": visited}, replace=True)


def unrelate(world, here):
    """End two relations."""
    relations = {"boss": {"_ids": here.ann}, "friends": {"_ids": [here.ann]}}
    world.person.remove_relation(filters={"_id": here.bob}, relations=relations)


def cascade(world, here):
    """Delete a country: its cities and their club go too, persons stay."""
    world.country.delete_one(filter={"_id": here.land}, hard_cascade=True)


def acknowledged(world, here):
    """Writes that are done before the one that is interrupted."""
    world.add_city("kept", here.land, flags=("cities", "biggest", "capital"), population=9)
    world.city.find_one_and_update(filter={"_id": here.hidden}, update={"$set": {"population": 3}})
    for city in here.cities[1:]:
        world.city.delete_one(filter={"_id": city})


def truth(world, here):
    """What copies and lists follow from: each pure field and the ids each relation holds, by document."""
    found = {}
    for model in (world.country, world.city, world.person, world.club):
        for document in world.storage.find(model.name, {}):
            # What the writers add has another id each time.
            label = document["name"] if document["name"] in ("new", "kept") else document["_id"]
            found[label, "exists"] = True
            for field in model.schema.pure:
                found[label, field] = document.get(field)
            for field in model.schema.relations:
                found[label, field] = ids_in(document.get(field))
    return found


# -- how it is looked at


@pytest.fixture(scope="module")
def uri(mongod, tmp_path_factory):
    """A mongod without a replica set; nothing else uses it."""
    with standalone(tmp_path_factory.mktemp("standalone")) as uri:
        yield uri


@pytest.fixture(scope="module")
def furnished(uri):
    """A furnished world, the ids in it, and all that is stored."""
    with world_on(uri, "world") as world, MongoClient(uri) as client:
        yield world, furnish(world), Stored(client.world)


@pytest.fixture
def start(furnished):
    """Give the world as it was furnished."""
    world, here, stored = furnished
    stored.restore()
    return world, here, stored


def places(problems):
    return sorted((one.model, str(one.id), one.path, one.reason) for one in problems)


def wrongs(world):
    """Check and repair once nobody writes, as the manual says; give how many places were stale, and what went wrong."""
    integrity = world.odm.integrity
    stale = world.problems()
    checked = list(integrity.check())
    judged, found = {*places(stale)}, {*places(one for one in checked if not one.pending)}
    unlike = found - judged if any(one.pending for one in checked) else found ^ judged  # a job stands for many places
    wrong = [f"judge and check differ: {one}" for one in unlike]
    if world.odm.jobs():
        world.storage.update_many("_gw_jobs", {}, {"$set": {"lease": None}})  # the dead have no lease after 10 s
        world.odm.work()
    states = {(one.model, one.id, one.path): one.state for one in integrity.repair()}
    wrong += [f"not mended: {one}" for one in world.problems() if not undecided(world, one, states)]
    if "needs a decision" in states.values():
        list(integrity.repair(delete_orphans=True))
    wrong += [f"still found: {one}" for one in [*world.problems(), *world.odm.jobs()]]
    return len(stale), wrong


def undecided(world, problem, states):
    """Whether `repair` left a problem on purpose: a required relation has lost its source."""
    relation = getattr(world, problem.model).schema.relations.get(problem.path.partition(".")[0])
    told = states.get((problem.model, problem.id, problem.path)) == "needs a decision"
    return told and problem.reason == DANGLING and not relation.optional


def torn(found, before, after):
    """What is neither as it was before an operation nor as it is after it."""
    keys = {**before, **found, **after}
    return [f"{key} is lost" for key in keys if found.get(key) not in (before.get(key), after.get(key))]


# -- writers that die


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def write(uri, limit, here, act, number):
    """Write in a child; die before the n-th write of the last operation."""
    database.DRAIN = PATIENCE  # else a slow machine leaves jobs sooner
    listener = BeforeWrite()
    with world_on(uri, "world", limit, listener) as world:
        acknowledged(world, here)
        listener.arm(number, die)
        act(world, here)


def dies(*args):
    """Whether a child that runs `write` is killed by itself; it must end well if not."""
    child = CHILDREN.Process(target=write, args=args)
    child.start()
    child.join(PATIENCE)
    if child.is_alive():
        child.kill()
        child.join()
        raise AssertionError(f"the child does not end in {PATIENCE} s")
    assert child.exitcode in (0, -signal.SIGKILL)
    return child.exitcode != 0


def before_and_after(world, here, act):
    """What is true before and after an operation that nothing interrupts."""
    acknowledged(world, here)
    before = truth(world, here)
    act(world, here)
    return before, truth(world, here)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "limit"),
    [
        *((act, 200) for act in (insert, rename, rename_member, relate, unrelate, cascade)),
        *((act, 3) for act in (rename_member, cascade)),  # most is left to jobs
    ],
    ids=lambda value: value if isinstance(value, int) else value.__name__,
)
def test_what_a_death_leaves_stale_is_found_and_mended_and_nothing_acknowledged_is_lost(
    uri, start, act, limit, full, report
):
    world, here, stored = start
    step = 1 if full or limit > 3 else 4  # through jobs an operation has many more commands
    before, after = before_and_after(world, here, act)
    stale, wrong, killed = [], [], True
    while killed:
        stored.restore()
        killed = dies(uri, limit, here, act, step * len(stale) + 1)
        lost = torn(truth(world, here), before if killed else after, after)
        places, found = wrongs(world)
        lost += torn(truth(world, here), before if killed else after, after)
        stale.append(places)
        wrong += [f"before write {step * (len(stale) - 1) + 1}: {text}" for text in lost + found]
    report(stale=stale)
    assert wrong == []
    assert max(stale) > 0
    assert stale[-1] == 0


# -- writers that overlap


def attempt(act, world, here):
    with suppress(*EXPECTED):
        act(world, here)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "other"),
    [(insert, rename), (insert, cascade), (rename, rename_again), (cascade, insert)],
    ids=lambda act: act.__name__,
)
def test_what_an_operation_inside_another_leaves_stale_is_found_and_mended(uri, start, act, other, report):
    world, here, stored = start
    listener, stale, wrong = BeforeWrite(), [], []
    with world_on(uri, "world", listener=listener) as slow, ThreadPoolExecutor(1) as elsewhere:
        for number in takewhile(lambda number: number == 1 or listener.done, count(1)):
            stored.restore()
            listener.arm(number, lambda: elsewhere.submit(attempt, other, world, here).result(PATIENCE))
            attempt(act, slow, here)
            places, found = wrongs(world)
            stale.append(places)
            wrong += [f"before write {number}: {text}" for text in found]
    report(stale=stale)
    assert wrong == []
    assert max(stale) > 0


def test_after_writers_at_once_repair_leaves_nothing(start, report):
    world, here, _ = start
    countries = [here.land, *here.others[:3]]
    visited = {"_ids": countries, "relatedRelations": {"visitors": True}}

    def work(client):
        for number in range(8):
            if client:
                world.add_person("new", {"visited": visited}, age=number)
            elif number % 2:  # not more often: the next change of a country mends what this one missed
                renamed = {"$set": {"name": f"renamed {number}"}}
                world.country.find_one_and_update(filter={"_id": countries[number // 2]}, update=renamed)

    at_once(6, work)
    stale, wrong = wrongs(world)
    report(stale=stale)
    assert wrong == []


# -- what is said


def test_doctor_warns_of_a_real_standalone_server(uri):
    gw = shop(f"{uri}doctor")
    expected = "warning: the database is a standalone server, without transactions: make it a one-node replica set\n"
    assert runner(make_app(shop=gw))("doctor") == (0, expected)
    gw.odm.storage.close()


def test_idempotent_acts_are_refused_and_after_commit_waits_for_the_end(uri):
    gw = gateway(expose_errors=True)
    gw.odm.set_db(f"{uri}idempotent")
    things, called = gw.odm.new_model("thing", {"n": integer()}), []

    @gw.acts.act("thing", "add", idempotent="1h", idempotent_by=lambda body: "all")
    def add(body):
        things.insert_one(doc={"n": 1})

    body = {"model": "thing", "act": "add", "details": {"set": {}, "get": {}}}
    reply = gw.create_app().test_client().post("/gateway", json=body, headers={"Idempotency-Key": "k"})
    assert reply.status_code == 500
    assert reply.headers["X-Error-Code"] == "definition_error"
    assert things.count() == 0
    assert "a standalone MongoDB server does not have" in reply.get_json()["body"]["message"]

    def work(fails):
        gw.odm.after_commit(lambda: called.append(things.count()))
        things.insert_one(doc={"n": 1})
        if fails:
            raise RuntimeError
        return list(called)

    assert (gw.odm.transaction(lambda: work(False)), called) == ([], [1])
    with pytest.raises(RuntimeError):
        gw.odm.transaction(lambda: work(True))
    assert called == [1]
    gw.odm.storage.close()
