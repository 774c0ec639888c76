"""What a first use looks at and builds, and what other processes and other times leave to it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from math import inf

import mongomock
import pytest
from pymongo import MongoClient

from gatewayfw.errors import DefinitionError, DuplicateKey, StorageError
from gatewayfw.odm import Odm
from gatewayfw.odm.jobs.background import PAUSE, SHORT_PAUSE
from gatewayfw.odm.jobs.records import INDEXES
from gatewayfw.odm.notes import STATE, TRY_AGAIN
from gatewayfw.odm.preparation import neighbours
from gatewayfw.odm.upkeep.indexes import create_missing
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage
from tests.odm.commands import Commands

UNIQUE = {"createIndex": {"indexSpec": {"title": 1}, "options": {"unique": True}}}


class Shared(MockStorage):
    """Data in memory as a database that others use."""

    multi_process = True


@pytest.fixture(params=["memory", pytest.param("mongo", marks=pytest.mark.mongo)])
def place(request):
    """An empty database that several processes use."""
    if request.param == "mongo":
        return request.getfixturevalue("mongo_database")
    return mongomock.MongoClient().test


@pytest.fixture
def process(place):
    """A function that gives what another process has: an Odm on `place`, as `start` gives it."""
    return lambda *given: start(place, *given)


@pytest.fixture
def mongo_process(mongo_database):
    """The same on MongoDB alone."""
    return lambda *given: start(mongo_database, *given)


def start(database, define):
    """Return an Odm whose models a function defines, with the calls of `ensure` in ``ensured``."""
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(Shared(database) if is_mock(database) else MongoStorage(database))
    define(odm)
    odm.ensured, ensure = [], odm.storage.ensure
    odm.storage.ensure = lambda name, *given: odm.ensured.append(name) or ensure(name, *given)
    return odm


def is_mock(database):
    return type(database).__module__.startswith("mongomock")


def link(odm, name, *models, options=None):
    """Define a model that embeds others."""
    relations = {other: {"schemaName": other, "type": "single", "optional": True} for other in models}
    return odm.new_model(name, {"title": string()}, relations, options or {})


def chain(number):
    """Return a function that defines models of which each embeds the one before."""
    return lambda odm: [link(odm, f"m{n}", *([f"m{n - 1}"] if n else [])) for n in range(number)]


def hub(number):
    """Return a function that defines models that all embed the first."""
    return lambda odm: [link(odm, f"m{n}", *(["m0"] if n else [])) for n in range(number)]


def books(odm):
    """Define books, each with a title of its own."""
    odm.book = link(odm, "book", options=UNIQUE)


# -- the first use


def test_collections_are_prepared_once(storage):
    settings = Settings(index_build_limit=5)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(storage)
    land = odm.new_model("land", {"name": string()})
    made, ensure = [], storage.ensure
    storage.ensure = lambda *given: made.append(given) or ensure(*given)
    jobs = [("_gw_jobs", list(INDEXES), 5)] if storage.multi_process else []
    assert land.count() == 0
    assert land.count() == 0
    assert made == [("land", [], 5), *jobs]
    city = odm.new_model("city", {"name": string()}, {"land": {"schemaName": "land", "type": "single"}})
    made.clear()
    assert (city.count(), land.count()) == (0, 0)
    assert [(name, [index.keys for index in indexes], most) for name, indexes, most in made] == [
        ("city", [(("land._id", 1), ("_id", 1))], 5)
    ]


def test_what_its_writes_reach_is_prepared_too_if_it_has_documents(process, place):
    odm = process(chain(4))
    place.m1.insert_one({"title": "a"})
    place.m3.insert_one({"title": "a"})
    odm.model("m2").insert_one({"title": "b"})
    assert odm.ensured == ["m2", "m1", "m3", "_gw_jobs"]
    assert "m0" not in place.list_collection_names()


def test_the_neighbours_of_a_model_are_those_that_share_a_relation_with_it(odm):
    chain(5)(odm)
    link(odm, "self", "self", "m2", "none")
    found = [neighbours(odm.schemas, name) for name in ("m0", "m2", "self")]
    assert found == [["m1"], ["m1", "m3", "self"], ["m2", "none"]]


# -- other processes


@pytest.fixture
def commands(mongod_uri, mongo_database):
    """The names of the commands on a second client, and its database."""
    listener = Commands()
    with MongoClient(mongod_uri, event_listeners=[listener]) as client:
        client.admin.command("ping")  # now it knows its server
        yield listener.names, client[mongo_database.name]


@pytest.mark.mongo
@pytest.mark.parametrize("define", [chain, hub])
@pytest.mark.parametrize("number", [12, pytest.param(500, marks=pytest.mark.slow)])
def test_a_new_process_on_a_prepared_database_soon_answers_its_first_write(odm_on, commands, define, number):
    names, database = commands
    before = odm_on(database)
    define(number)(before)
    before.ready()
    odm = odm_on(database)
    define(number)(odm)
    names.clear()
    odm.model("m1").insert_one({"title": "a"}, relations={})
    assert names == ["hello", "listCollections", "find", "listIndexes", "insert", "commitTransaction"]


@pytest.mark.mongo
@pytest.mark.parametrize("define", [chain, hub])
def test_on_an_empty_database_a_first_write_costs_the_same_however_many_models_there_are(odm_on, commands, define):
    names, database = commands
    counted = []
    for number in (2, 30):
        odm = odm_on(database)
        define(number)(odm)
        names.clear()
        odm.model("m1").insert_one({"title": "a"})
        counted.append(list(names))
        database.client.drop_database(database.name)
    assert counted[0] == counted[1]


def test_what_another_process_has_noted_is_not_looked_at_again(process, place):
    place.m0.insert_one({"title": "a"})
    process(chain(3)).model("m1").count()
    odm = process(chain(3))
    looked, indexes = [], odm.storage.indexes
    odm.storage.indexes = lambda name: looked.append(name) or indexes(name)
    odm.model("m1").count()
    assert (looked, odm.ensured) == (["m1"], [])


def test_an_index_that_somebody_drops_by_hand_is_built_at_the_first_use_by_the_next_process(process, place):
    process(books).book.insert_one({"title": "a"})
    place.book.drop_index("title_1")
    odm = process(books)
    with pytest.raises(DuplicateKey):
        odm.book.insert_one({"title": "a"})
    assert odm.ensured == ["book"]


def shelves(odm):
    """Define books, and shelves that embed one."""
    books(odm)
    link(odm, "shelf", "book")


@pytest.mark.parametrize("drop", ["collection", "database"])
def test_a_collection_that_was_made_again_between_two_processes_is_looked_at(process, place, drop):
    process(shelves).ready()
    place.drop_collection("book") if drop == "collection" else place.client.drop_database(place.name)
    place.book.insert_one({"title": "a"})
    odm = process(shelves)
    odm.model("shelf").count()
    assert odm.ensured == (["book"] if drop == "collection" else ["shelf", "book", "_gw_jobs"])


def test_notes_that_were_restored_with_other_collections_count_for_nothing(process, place):
    before = process(shelves)
    before.ready()
    kept = list(place[STATE].find({}))
    place.client.drop_database(place.name)
    place[STATE].insert_many(kept)
    place.book.insert_one({"title": "a"})
    odm = process(shelves)
    odm.model("shelf").count()
    assert odm.ensured == ["shelf", "book", "_gw_jobs"]
    again = process(shelves)
    again.model("shelf").count()
    assert again.ensured == []


@pytest.mark.parametrize(
    "notes",
    [None, 5, {"book": 5}, {"book": {}}, {"book": {"refused": 1}}],
    ids=str,
)
def test_notes_of_another_form_count_for_nothing(process, place, notes):
    place.book.insert_one({"title": "a"})
    place[STATE].insert_one({"_id": "collections", "notes": notes})
    odm = process(shelves)
    odm.model("shelf").count()
    assert odm.ensured == ["shelf", "book", "_gw_jobs"]


def test_two_versions_with_other_indexes_have_theirs_whoever_starts(process, place):
    def newer(odm):
        odm.book = link(odm, "book", options={"createIndex": [UNIQUE["createIndex"], {"indexSpec": {"title": -1}}]})

    ensured = []
    for define in (books, newer, books, newer):
        odm = process(define)
        odm.book.count()
        ensured.append(odm.ensured)
    assert ensured == [["book", "_gw_jobs"], ["book"], [], []]
    assert sorted(place.book.index_information()) == ["_id_", "title_-1__id_-1", "title_1"]


def test_two_processes_may_prepare_at_once(process, place):
    barrier, odms = threading.Barrier(4), [process(shelves) for _ in range(4)]

    def use(odm):
        barrier.wait()
        return odm.ready()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, odms)) == [[]] * 4
    odm = process(shelves)
    odm.model("shelf").count()
    assert (odm.ensured, sorted(place.book.index_information())) == ([], ["_id_", "title_1"])


def test_a_note_that_cannot_be_written_stops_nothing(process):
    odm, again = process(shelves), process(shelves)
    update = odm.storage.update_one

    def refuse(name, *given):
        if name == STATE:
            raise StorageError("no")
        return update(name, *given)

    odm.storage.update_one = refuse
    assert odm.ready() == []
    again.book.count()
    assert again.ensured == []


# -- what is dropped under a gateway


def book_of(odm):
    """Define books, and store one."""
    books(odm)
    odm.book.insert_one({"title": "a"})
    return odm.book


@pytest.fixture(params=["database", "collection"])
def drop(request, database):
    """A function that drops the books, alone or with all else."""
    if request.param == "database":
        return lambda: database.client.drop_database(database.name)
    return lambda: database.drop_collection("book")


@pytest.mark.parametrize("first", ["read", "write"])
def test_what_is_dropped_under_a_gateway_is_prepared_again(odm, drop, monkeypatch, first):
    monkeypatch.setattr("gatewayfw.odm.preparation.LOOK", 0)
    book = book_of(odm)
    drop()
    if first == "write":
        book.insert_one({"title": "b"})
    odm.readiness.state()
    book.insert_one({"title": "a"})
    with pytest.raises(DuplicateKey):
        book.insert_one({"title": "a"})


def test_in_memory_a_drop_is_noticed_by_the_next_use(odm_on, caplog):
    database = mongomock.MongoClient().test
    odm = odm_on(database)
    book = book_of(odm)
    for drop in (lambda: database.client.drop_database("test"), lambda: database.drop_collection("book")):
        drop()
        book.insert_one({"title": "a"})
        with pytest.raises(DuplicateKey):
            odm.transaction(lambda: book.insert_one({"title": "a"}))
    database.drop_collection("book")
    database.book.insert_many([{"title": "a"}, {"title": "a"}])
    assert (book.count(), book.count()) == (2, 2)
    assert caplog.messages == ["book: index {'title': 1} cannot be built: two documents share a value"]


@pytest.mark.mongo
def test_the_thread_of_the_jobs_notices_a_drop(odm_on, mongo_database, monkeypatch, caplog):
    monkeypatch.setattr("gatewayfw.odm.preparation.LOOK", 0)
    odm = odm_on(mongo_database)
    book_of(odm)
    mongo_database.client.drop_database(mongo_database.name)
    assert odm.database.attend() == PAUSE
    assert sorted(mongo_database.book.index_information()) == ["_id_", "title_1"]
    assert caplog.messages == ["dropped, and prepared again at the next use: _gw_jobs, book"]


@pytest.mark.mongo
def test_a_look_for_drops_is_one_command_now_and_then(odm_on, commands, monkeypatch):
    names, database = commands
    odm = odm_on(database)
    book_of(odm)
    names.clear()
    odm.database.preparation.notice_drops()
    monkeypatch.setattr("gatewayfw.odm.preparation.monotonic", lambda: inf)
    for _ in range(3):
        odm.database.preparation.notice_drops()
    assert names == ["listCollections"]


# -- unique indexes that cannot be built


REFUSED = "book: index {'title': 1} cannot be built: two documents share a value"
AGAIN = f"{REFUSED}; {TRY_AGAIN}"


@pytest.mark.mongo
def test_it_is_not_tried_again_until_somebody_builds_it(mongo_database, odm_on, commands):
    names, database = commands
    mongo_database.book.insert_many([{"_id": number, "title": title} for number, title in enumerate("abcc")])

    def tried():
        odm = odm_on(database)
        books(odm)
        names.clear()
        odm.book.count()
        return odm.ready(), names.count("createIndexes"), odm

    assert [tried()[:2] for _ in range(3)] == [([REFUSED], 2), ([AGAIN], 0), ([AGAIN], 0)]
    mongo_database.book.delete_one({"_id": 3})
    *told, odm = tried()
    assert told == [[AGAIN], 0]
    create_missing(odm.schemas, odm.storage)
    assert [tried()[:2] for _ in range(2)] == [([], 0)] * 2
    assert sorted(mongo_database.book.index_information()) == ["_id_", "title_1"]


@pytest.mark.mongo
def test_it_is_tried_again_by_an_operator_and_for_another_definition(mongo_database, mongo_process, caplog):
    mongo_database.book.insert_many([{"title": "a"}, {"title": "a"}])
    tried = []
    sparse = {"createIndex": {**UNIQUE["createIndex"], "options": {"unique": True, "sparse": True}}}
    for options in (UNIQUE, UNIQUE, sparse):
        odm = mongo_process(lambda odm, options=options: setattr(odm, "book", link(odm, "book", options=options)))
        odm.book.count()
        caplog.clear()
        (row, *_) = create_missing(odm.schemas, odm.storage)
        tried.append((odm.ensured, row.reason, caplog.messages))
    assert tried == [
        (["book", "_gw_jobs", "book"], REFUSED, []),
        (["book"], REFUSED, []),
        (["book", "book"], REFUSED, []),
    ]


@pytest.mark.mongo
def test_others_that_it_does_not_concern_are_built_beside_it(mongo_database, mongo_process):
    mongo_database.book.insert_many([{"title": "a"}, {"title": "a"}])
    mongo_process(books).book.count()
    odm = mongo_process(
        lambda odm: link(odm, "book", options={"createIndex": [UNIQUE["createIndex"], {"indexSpec": {"title": -1}}]})
    )
    assert odm.ready() == [REFUSED]
    assert sorted(mongo_database.book.index_information()) == ["_id_", "title_-1__id_-1"]


@pytest.mark.mongo
def test_probes_say_that_it_cannot_be_built_and_do_not_try_again(mongo_database, mongo_process, caplog):
    mongo_database.book.insert_many([{"title": "a"}, {"title": "a"}])
    mongo_process(books).book.count()
    odm = mongo_process(books)
    assert odm.readiness.state().word == "index_missing"
    odm.ready()
    caplog.clear()
    again = mongo_process(books)
    again.ready()
    assert again.readiness.state().word == "index_missing"
    assert caplog.messages == [AGAIN, f"not ready: {AGAIN}"]
    assert odm.ensured == again.ensured == []


# -- in the background


@pytest.mark.parametrize("define", [chain, hub])
def test_the_thread_of_the_jobs_prepares_what_has_no_documents(process, place, define):
    place.m1.insert_one({"title": "a"})
    odm = process(define(4))
    assert odm.database.attend() == PAUSE
    assert sorted(odm.ensured) == ["m0", "m2", "m3"]
    assert odm.database.attend() == PAUSE
    again = process(define(4))
    assert again.database.attend() == PAUSE
    assert (again.ensured, len(odm.ensured)) == ([], 3)


def test_it_prepares_for_a_while_and_then_looks_at_jobs(process, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.database.SLICE", 0)
    odm = process(chain(4))
    assert [odm.database.attend(), odm.ensured] == [SHORT_PAUSE, []]
    monkeypatch.setattr("gatewayfw.odm.preparation.monotonic", count().__next__)
    assert [odm.database.preparation.attend(seconds) for seconds in (3, 3, 100)] == [3, 2, 0]
    assert sorted(odm.ensured) == ["m0", "m1", "m2", "m3"]


def test_it_begins_again_when_a_model_is_added(process):
    odm = process(chain(2))
    odm.database.attend()
    link(odm, "later")
    odm.database.attend()
    assert sorted(odm.ensured) == ["later", "m0", "m1"]


def test_a_wrong_definition_is_left_to_whoever_uses_it(process):
    odm = process(lambda odm: [link(odm, "good"), link(odm, "wrong", "none")])
    assert odm.database.attend() == PAUSE
    assert odm.ensured == ["good"]
    with pytest.raises(DefinitionError, match="none"):
        odm.model("wrong").count()


@pytest.mark.mongo
def test_a_closed_storage_stays_closed(mongod_uri, mongo_database):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(mongod_uri.replace("/?", f"/{mongo_database.name}?"))
    books(odm)
    odm.book.count()
    odm.storage.close()
    assert (odm.database.attend(), odm.storage.is_closed()) == (PAUSE, True)


# -- in a transaction


def insert_twice(odm):
    """Insert a document into each model, and count the documents before."""
    return [(odm.model(name).count(), odm.model(name).insert_one({"title": "a"})) for name in odm.schemas.get_schemas()]


def test_all_models_are_prepared_before_a_transaction(process):
    odm, runs = process(chain(5)), []
    odm.transaction(lambda: (runs.append(1), insert_twice(odm)))
    assert (len(runs), sorted(odm.ensured)) == (1, ["_gw_jobs", "m0", "m1", "m2", "m3", "m4"])


def test_only_the_first_transaction_of_a_process_waits_for_that(process):
    odm, asked = process(chain(5)), []
    for _ in range(2):
        odm.database.preparation.prepare_soon(lambda: asked.append(1) or 0.0)
    link(odm, "later")
    odm.database.preparation.prepare_soon(lambda: asked.append(1) or 60.0)
    assert (len(asked), len(odm.ensured)) == (2, 7)


@pytest.mark.parametrize("define", [chain, hub])
def test_a_transaction_begins_again_for_a_model_that_it_uses_first(process, place, monkeypatch, define):
    monkeypatch.setattr("gatewayfw.odm.database.PREPARING", 0)
    odm, runs = process(define(4)), []
    odm.transaction(lambda: (runs.append(1), insert_twice(odm)))
    assert [place[f"m{number}"].count_documents({}) for number in range(4)] == [1] * 4
    assert len(runs) == (1 if is_mock(place) else 5)
    again = process(define(4))
    again.transaction(lambda: (runs.append(1), insert_twice(again)))
    assert (len(runs), again.ensured) == (2 if is_mock(place) else 6, [])


def test_also_if_the_error_got_another_name_or_the_transaction_is_of_the_storage(process, place, monkeypatch):
    monkeypatch.setattr("gatewayfw.odm.database.PREPARING", 0)
    odm = process(chain(3))

    def careless():
        try:
            odm.model("m0").insert_one({"title": "a"})
        except Exception as error:
            raise RuntimeError from error

    odm.transaction(careless)
    odm.storage.transaction(lambda: odm.model("m2").insert_one({"title": "a"}))
    assert [place[f"m{number}"].count_documents({}) for number in range(3)] == [1, 0, 1]


def test_a_unique_index_that_was_dropped_is_built_before_a_transaction_goes_on(process, place):
    process(books).book.insert_one({"title": "a"})
    place.book.drop_index("title_1")
    odm = process(books)
    with pytest.raises(DuplicateKey):
        odm.transaction(lambda: odm.book.insert_one({"title": "a"}))
    assert odm.ensured == ["book"]
