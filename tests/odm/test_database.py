"""Several operations as one."""

from __future__ import annotations

import math
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import mongomock
import pytest

from gatewayfw.errors import DefinitionError, DuplicateKey, GatewayError, HttpError, Timeout, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.odm.database import Database
from gatewayfw.odm.jobs.background import PAUSE, JobWorker
from gatewayfw.odm.jobs.fan_out import Drained
from gatewayfw.schemas import Schemas, integer, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, Scope
from gatewayfw.storage.mongo.transactions import _WriteConflict
from tests.odm.world import World, define_world


def test_all_happen_and_the_result_is_returned(world):
    def both():
        land = world.add_country("land")
        return world.add_city("city", land), world.country.find_one(filters={"_id": land})["cities"]

    city, cities = world.odm.transaction(both)
    assert cities == [{"_id": city, "name": "city"}]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_none_happens_when_the_function_fails(world, error):
    land = world.add_country("land")
    before = world.digest()

    def fails():
        world.add_city("city", land)
        world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
        raise error("stop")

    with pytest.raises(error, match="^stop$"):
        world.odm.transaction(fails)
    assert world.digest() == before


def test_a_failed_operation_fails_the_whole_even_when_caught(world):
    world.add_country("land")
    before = world.digest()

    def careless():
        world.add_country("other")
        with pytest.raises(DuplicateKey):
            world.add_country("land")
        return "done"

    with pytest.raises(DuplicateKey):
        world.odm.transaction(careless)
    assert world.digest() == before


def test_nested_transactions_join(world):
    before = world.digest()

    def outer():
        world.odm.transaction(lambda: world.add_country("inner"))
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="^stop$"):
        world.odm.transaction(outer)
    assert world.digest() == before


def test_reads_inside_see_own_writes(world):
    counted = world.odm.transaction(lambda: (world.add_country("land"), world.country.count())[1])
    assert counted == 1


def test_nothing_is_written_after_the_deadline(world):
    world.odm.ready()
    before = world.digest()
    with pytest.raises(Timeout), world.odm.storage.deadline(1e-9):
        world.add_country("land")
    assert world.digest() == before


def test_an_operation_refused_by_validation_fails_nothing_else(world):
    def careful():
        world.add_country("land")
        with pytest.raises(ValidationError):
            world.country.insert_one(doc={})

    world.odm.transaction(careful)
    assert world.country.count() == 1


@pytest.mark.mongo
def test_a_conflict_is_tried_again_even_when_it_got_another_name(mongo_database, odm_on):
    odm = odm_on(mongo_database)
    counter = odm.new_model("counter", {"n": integer()})
    id_ = counter.insert_one(doc={"n": 0})["_id"]

    def increment():
        try:
            counter.find_one_and_update(filter={"_id": id_}, update={"$inc": {"n": 1}})
        except Exception as error:
            raise HttpError("could not count", 409) from error

    def work():
        for _ in range(10):
            odm.storage.transaction(increment)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work) for _ in range(4)]:
            done.result()
    assert counter.find_one()["n"] == 40


def renaming(operation, *arguments, **keys):
    """A function that calls an operation, and gives its error another name."""

    def call():
        try:
            return operation(*arguments, **keys)
        except GatewayError as error:
            raise HttpError("not now", 409) from error

    return call


@pytest.mark.parametrize("hidden", [{"cut": {"cities": 10}}, {"v": "text", "r": "text"}], ids=["cut", "damaged"])
def test_what_may_be_begun_again_is_even_when_it_got_another_name(world, hidden):
    land = world.add_country("land")
    world.storage.update_one("country", {"_id": land}, {"$set": {"_gw": hidden}}, ())
    world.odm.transaction(renaming(world.add_city, "city", land))
    world.odm.transaction(renaming(world.country.find_one_and_update, {"_id": land}, {"$set": {"name": "new"}}))
    (copy,) = [city["country"] for city in world.storage.find("city", {})]
    assert copy == {"_id": land, "name": "new"}


@pytest.mark.mongo
def test_a_conflict_does_not_hide_what_stops_the_next_attempt(mongo_database, odm_on, monkeypatch):
    odm = odm_on(mongo_database)
    world = World(odm, define_world(odm))
    land, conflicts = world.add_country("land"), [_WriteConflict()]
    world.storage.update_one("country", {"_id": land}, {"$set": {"_gw": {"cut": {"cities": 10}}}}, ())
    touch = world.storage.touch

    def meet(*args, **keys):
        if conflicts:
            raise conflicts.pop()
        return touch(*args, **keys)

    monkeypatch.setattr(world.storage, "touch", meet)
    world.odm.transaction(lambda: world.add_city("city", land))
    assert world.storage.count("city", {}) == 1


def test_what_cannot_succeed_keeps_the_name_it_got(world):
    land = world.add_country("land", population=1)
    world.storage.update_one("country", {"_id": land}, {"$set": {"_gw": None, "population": "text"}}, ())
    with pytest.raises(HttpError, match="^not now$"):
        world.odm.transaction(renaming(world.country.find_one_and_update, {"_id": land}, {"$inc": {"population": 1}}))
    world.storage.update_one("country", {"_id": land}, {"$set": {"population": 1}}, ())


def test_functions_that_would_not_run_are_refused(world):
    def generator():
        yield

    async def later():
        pass

    for fn in (generator, later):
        with pytest.raises(DefinitionError) as refused:
            world.odm.transaction(fn)
        assert refused.value.message == "transaction: expected a plain function, not a generator or async one"


# -- conflicts, jobs and who works on them


@pytest.mark.parametrize("nested", [False, True])
def test_after_three_conflicts_all_fan_out_is_left_to_jobs(storage, monkeypatch, nested):
    """Unless it is part of a larger transaction, or one process has all data."""
    settings = Settings(inline_limit=7)
    database = Database(Schemas(settings), settings)
    database.use(storage, memory=True)
    monkeypatch.setattr(storage, "transaction", lambda fn, proof=None, hot=(): [fn() for _ in range(5)])

    def limits():
        return database.run(lambda backlog: backlog.limit).result

    found = database.run(lambda _: limits()).result[0] if nested else limits()
    most = 7 if storage.multi_process else math.inf
    assert found == [most, most, most, *([most] * 2 if nested or most == math.inf else [0, 0])]


def test_in_the_transaction_of_another_gateway_windows_are_measured_at_once(odm, storage, asked):
    model = odm.new_model("thing", {"n": integer()})
    made = model.insert_one({"n": 1})["_id"]
    transactions = asked("transaction")
    odm.storage.transaction(lambda: model.find_one_and_update({"_id": made}, {"$set": {"n": 2}}))
    assert list(transactions[1][1][2]) == [("thing", made), ("", "sizes")]


class Shared(MockStorage):
    """Data in memory as a database that others use."""

    multi_process = True


class Helping:
    """Stands for the thread of the jobs, and notes what it is told."""

    def __init__(self, work):
        self.work = work
        self.told = []

    def start(self):
        self.told.append("start")

    def wake(self):
        self.told.append("wake")


@pytest.fixture
def job_threads(monkeypatch):
    """The thread of each database that is set."""
    made = []
    monkeypatch.setattr("gatewayfw.odm.database.JobThread", lambda work: made.append(Helping(work)) or made[-1])
    return made


def copied(storage, **settings):
    """Countries with a city, of which each change leaves a job."""
    chosen = Settings(inline_limit=0, **settings)
    odm = Odm(Schemas(chosen), chosen)
    odm.set_db(storage, memory=True)
    odm.country = odm.new_model("country", {"name": string()})
    odm.city = odm.new_model("city", {"name": string()}, {"country": {"schemaName": "country", "type": "single"}})
    land = odm.country.insert_one({"name": "a"})["_id"]
    odm.city.insert_one({"name": "c"}, relations={"country": {"_ids": land}})
    return odm


@pytest.fixture
def drained(monkeypatch):
    """The jobs and seconds of each call that works on jobs; as many jobs are left as ``left`` says."""

    class Calls(list):
        left = 0

        def drain(self, keys, seconds):
            self.append((len(keys), seconds))
            return Drained(left=set(keys[: self.left]))

    calls = Calls()
    monkeypatch.setattr(JobWorker, "drain", lambda self, keys, seconds: calls.drain(keys, seconds))
    return calls


def change(odm):
    odm.country.find_one_and_update({"name": {"$exists": True}}, {"$set": {"name": "b"}})


def test_an_operation_works_on_its_jobs_for_a_moment(job_threads, drained, monkeypatch):
    odm = copied(Shared(mongomock.MongoClient().test))
    change(odm)
    monkeypatch.setattr(Scope, "remaining", lambda self: 0.4)
    change(odm)
    assert drained == [(1, 0.2), (1, 0.1)]


@pytest.mark.parametrize(("left", "told"), [(0, []), (1, ["wake"])])
def test_the_thread_is_woken_for_what_is_left_and_never_started(job_threads, drained, left, told):
    odm = copied(Shared(mongomock.MongoClient().test))
    drained.left = left
    change(odm)
    assert job_threads[0].told == told


@pytest.fixture
def in_service(monkeypatch):
    """Let this process look like one that runs no tests."""
    monkeypatch.setattr("gatewayfw.odm.database.runs_tests", lambda *_: False)


def served(database, **settings):
    """Return an Odm whose process has answered two requests."""
    odm = Odm(Schemas(Settings()), Settings(**settings))
    odm.set_db(database)
    odm.database.serve()
    odm.database.serve()
    return odm


@pytest.mark.usefixtures("in_service")
def test_the_first_request_of_a_process_starts_the_thread(job_threads, monkeypatch):
    odm = served(Shared(mongomock.MongoClient().test))
    monkeypatch.setattr("gatewayfw.odm.database.os", SimpleNamespace(getpid=lambda: -1, environ={}))
    odm.database.serve()
    assert job_threads[0].told == ["start", "start"]


@pytest.mark.usefixtures("in_service")
def test_another_database_gets_a_thread_of_its_own(job_threads):
    odm = served(Shared(mongomock.MongoClient().test))
    odm.set_db(Shared(mongomock.MongoClient().test))
    odm.database.serve()
    assert [thread.told for thread in job_threads] == [["start"], ["start"]]


@pytest.mark.usefixtures("in_service")
def test_no_request_starts_a_thread_that_the_setting_forbids(job_threads):
    odm = served(Shared(mongomock.MongoClient().test), fan_out_thread=False)
    odm.database.init_worker()
    assert job_threads[0].told == []


@pytest.mark.usefixtures("in_service")
def test_data_of_one_process_has_no_thread(job_threads):
    served(mongomock.MongoClient().test).database.init_worker()
    assert job_threads == []


def test_in_tests_the_thread_starts_only_if_asked_for(job_threads):
    odm = served(Shared(mongomock.MongoClient().test))
    assert job_threads[0].told == []
    odm.database.init_worker()
    assert job_threads[0].told == ["start"]


def test_a_process_of_greenlets_neither_serves_nor_uses_models(job_threads, monkeypatch):
    odm = copied(Shared(mongomock.MongoClient().test))
    monkeypatch.setitem(sys.modules, "gevent.monkey", SimpleNamespace(is_module_patched=lambda part: True))
    monkeypatch.setattr("gatewayfw.odm.database.os", SimpleNamespace(getpid=lambda: -1, environ={}))
    serve, init_worker = odm.database.serve, odm.database.init_worker
    for step in (serve, serve, init_worker, lambda: odm.country.find_one({}), odm.ready):
        with pytest.raises(DefinitionError, match="gevent has replaced the threads"):
            step()
    assert job_threads[0].told == []


def test_the_thread_works_on_jobs_and_attends_to_bytes(job_threads):
    odm = copied(Shared(mongomock.MongoClient().test))
    attended = []
    odm.database.keep_bytes("country", "name", len, lambda: attended.append(len(odm.jobs())))
    with odm.leave_to_jobs():
        change(odm)
        assert len(odm.jobs()) == 1
    assert (job_threads[0].work(), attended) == (PAUSE, [0])


def test_in_memory_of_one_process_there_is_no_thread(job_threads):
    copied(MockStorage(mongomock.MongoClient().test))
    assert job_threads == []


# -- bytes kept elsewhere


def test_keys_of_deleted_bytes_are_given_after_the_commit(odm):
    freed = []
    file = odm.new_model("file", {"key": string()})
    odm.database.keep_bytes("file", "key", lambda keys: freed.append(sorted(keys)), lambda: None)
    made = file.insert_many([{"key": key} for key in "abcdef"])
    wanted = iter([{"_id": one["_id"]} for one in made])
    file.delete_one(next(wanted))
    odm.transaction(lambda: [file.delete_one(next(wanted)), file.delete_one(next(wanted))])
    assert freed == [["a"], ["b", "c"]]

    def fails():
        file.delete_one(next(wanted))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        odm.transaction(fails)
    odm.storage.transaction(lambda: file.delete_one(next(wanted)))  # another gateway's, which may still fail
    assert freed == [["a"], ["b", "c"]]
    file.delete_one(next(wanted))
    assert freed[2:] == [["f"]]
