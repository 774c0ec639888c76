"""Limited reads on MongoDB: one command, repeated where PyMongo would repeat it, in parts where that is not all."""

from uuid import UUID

import pytest
from bson.binary import UuidRepresentation
from bson.codec_options import CodecOptions, TypeDecoder, TypeRegistry
from pymongo.database import Database
from pymongo.errors import (
    AutoReconnect,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    ServerSelectionTimeoutError,
)

from gatewayfw.errors import StorageError, Timeout, Unavailable
from gatewayfw.storage import MongoStorage
from gatewayfw.storage.mongo.reads import MOST_LISTED, Query, projection_of

pytestmark = pytest.mark.mongo


@pytest.fixture
def storage(noted):
    return noted


def one(storage, filter=None, fields=None, **keys):
    return list(storage.find("things", filter or {}, fields, limit=1, **keys))


ASKED = {
    "by id": ({"_id": 1}, None, {}, [{"_id": 1, "name": "b", "more": {"x": 1}}]),
    "fields": ({"name": "c"}, ["more.x"], {}, [{"_id": 2, "more": {"x": 2}}]),
    "order": ({}, ["name"], {"sort": [("name", -1)]}, [{"_id": 2, "name": "c"}]),
    "order by two": ({}, [], {"sort": [("more.y", 1), ("_id", -1)], "skip": 1}, [{"_id": 1}]),
    "nothing": ({"_id": 7}, None, {}, []),
}


@pytest.mark.parametrize(("filter", "fields", "keys", "found"), ASKED.values(), ids=ASKED)
def test_one_document_takes_one_command(storage, commands, filter, fields, keys, found):
    assert one(storage, filter, fields, **keys) == found
    assert [(sent["find"], sent["limit"], sent["batchSize"], sent["readConcern"]) for sent in commands.sent] == [
        ("things", 1, 2, {"level": "majority"})
    ]


def numbers(storage, **keys):
    return [one["_id"] for one in storage.find("numbers", {}, [], sort=[("_id", 1)], **keys)]


@pytest.mark.parametrize(("limit", "count"), [(2, 2), (200, 200), (300, 250)])
def test_a_limited_list_takes_one_command(storage, commands, limit, count):
    storage.insert("numbers", [{"_id": number} for number in range(250)])
    commands.sent.clear()
    assert numbers(storage, limit=limit) == list(range(count))
    assert [next(iter(sent)) for sent in commands.sent] == ["find"]


def test_a_query_is_one_command_that_asks_for_all():
    assert MOST_LISTED == 10_000
    whole = Query("things", {"a": 1}, {"_id": 1, "b": 1}, [("c", -1), ("_id", 1)], 2, 3).command()
    assert whole == {
        "find": "things",
        "filter": {"a": 1},
        "limit": 3,
        "batchSize": 4,
        "projection": {"_id": 1, "b": 1},
        "sort": {"c": -1, "_id": 1},
        "skip": 2,
    }
    assert Query("others", {}, None, limit=1).command() == {"find": "others", "filter": {}, "limit": 1, "batchSize": 2}


def test_uuids_are_counted_in_a_transaction_as_the_database_has_them(mongo_database):
    options = CodecOptions(uuid_representation=UuidRepresentation.STANDARD)
    storage, id_ = MongoStorage(mongo_database.with_options(options)), UUID(int=5)
    storage.insert("uuids", [{"_id": id_}, {"_id": UUID(int=6)}])
    assert storage.transaction(lambda: storage.count("uuids", {"_id": id_})) == 1
    assert storage.transaction(lambda: one(storage, {"_id": id_})) == []


def test_counting_in_a_transaction_is_one_command(storage, commands):
    found = storage.transaction(lambda: [storage.count("things", {"_id": {"$gt": 0}}, limit) for limit in (0, 1)])
    match, group = {"$match": {"_id": {"$gt": 0}}}, {"$group": {"_id": None, "n": {"$sum": 1}}}
    pipelines = [sent["pipeline"] for sent in commands.sent if "pipeline" in sent]
    assert (found, pipelines) == ([2, 1], [[match, group], [match, {"$limit": 1}, group]])


@pytest.mark.parametrize("limit", [0, 10_001], ids=["none", "very high"])
def test_a_list_without_a_limit_that_says_much_is_read_in_parts(storage, commands, limit):
    storage.insert("numbers", [{"_id": number} for number in range(2_500)])
    commands.sent.clear()
    assert numbers(storage, limit=limit) == list(range(2_500))
    assert [next(iter(sent)) for sent in commands.sent] == ["find", "getMore", "getMore"]
    assert {sent["batchSize"] for sent in commands.sent} == {1_000}


@pytest.mark.parametrize("through", [lambda storage, fn: fn(), MongoStorage.transaction], ids=["alone", "transaction"])
def test_a_list_beyond_one_reply_is_read_in_parts(storage, commands, through):
    """Seventeen documents of 1 MB; what the first reply left is given up, not kept open."""
    for number in range(17):  # together they take a slow disk longer than a commit may
        storage.insert("large", [{"_id": number, "text": "x" * 1024 * 1024}])
    commands.sent.clear()
    found = through(storage, lambda: list(storage.find("large", {}, sort=[("_id", 1)], limit=17)))
    assert [(one["_id"], len(one["text"])) for one in found] == [(number, 1024 * 1024) for number in range(17)]
    sent = [next(iter(sent)) for sent in commands.sent]
    assert sent[:4] == ["find", "killCursors", "find", "getMore"]
    assert len({sent["lsid"]["id"] for sent in commands.sent}) == 1


def at_once(storage, **keys):
    return [one["_id"] for one in storage.find("things", {}, [], sort=[("_id", 1)], at_once=True, **keys)]


def test_what_is_read_at_once_is_of_one_snapshot(storage, commands):
    assert (at_once(storage, limit=2), at_once(storage, limit=1)) == ([0, 1], [0])
    assert [(sent["find"], sent["readConcern"]) for sent in commands.sent] == [("things", {"level": "snapshot"})] * 2


def test_a_transaction_is_a_snapshot_of_its_own(storage, commands):
    assert storage.transaction(lambda: at_once(storage, limit=2)) == [0, 1]
    assert [sent["readConcern"]["level"] for sent in commands.sent if "readConcern" in sent] == ["snapshot"]
    assert storage.transaction(lambda: storage.insert("things", [{"_id": -1}]) or at_once(storage, limit=2)) == [-1, 0]


def test_a_list_without_a_limit_is_read_as_ever(storage, commands):
    assert at_once(storage) == [0, 1, 2]
    assert [sent["readConcern"] for sent in commands.sent] == [{"level": "majority"}]


def test_a_refused_snapshot_is_read_without(storage, commands, failing):
    failed = failing(OperationFailure("catalog changes", 246))
    assert at_once(storage, limit=3) == [0, 1, 2]
    assert (failed, [sent["readConcern"] for sent in commands.sent]) == (["things"], [{"level": "majority"}])


def test_a_list_at_once_beyond_one_reply_is_of_one_snapshot(storage, commands):
    for number in range(17):
        storage.insert("large", [{"_id": number, "text": "x" * 1024 * 1024}])
    commands.sent.clear()
    assert len(list(storage.find("large", {}, sort=[("_id", 1)], limit=17, at_once=True))) == 17
    levels = [(next(iter(sent)), sent.get("readConcern")) for sent in commands.sent[:3]]
    assert levels == [("find", {"level": "snapshot"}), ("killCursors", None), ("find", {"level": "snapshot"})]


def test_a_transaction_reads_what_it_wrote(storage):
    def fn():
        storage.update_one("things", {"_id": 0}, {"$set": {"name": "new"}}, [])
        return one(storage, {"_id": 0}, ["name"])

    assert storage.transaction(fn) == [{"_id": 0, "name": "new"}]


@pytest.fixture
def failing(monkeypatch):
    """A function that lets the next read by a plain command fail; it returns the list of those that failed."""

    def fail(error):
        real, failed = Database.command, []

        def command(self, command, *args, **keys):
            if isinstance(command, dict) and "find" in command and not failed:
                failed.append(command["find"])
                raise error
            return real(self, command, *args, **keys)

        monkeypatch.setattr(Database, "command", command)
        return failed

    return fail


@pytest.mark.parametrize(
    "error", [AutoReconnect("gone"), OperationFailure("not yet", 134)], ids=lambda error: type(error).__name__
)
def test_a_read_that_may_be_repeated_is_repeated(storage, failing, error):
    failed = failing(error)
    assert one(storage, {"_id": 1}, ["name"], sort=[("_id", 1)]) == [{"_id": 1, "name": "b"}]
    assert failed == ["things"]


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (ServerSelectionTimeoutError("none"), Unavailable),
        (NetworkTimeout("slow"), Timeout),
        (ExecutionTimeout("slow", 50), Timeout),
    ],
    ids=lambda value: getattr(value, "__name__", type(value).__name__),
)
def test_a_read_without_time_or_server_is_not_repeated(storage, failing, commands, error, raised):
    failing(error)
    with pytest.raises(raised):
        one(storage)
    assert commands.sent == []


def test_a_read_in_a_transaction_is_not_repeated_alone(storage, failing, commands):
    failing(AutoReconnect("gone"))
    with pytest.raises(Unavailable):
        storage.transaction(lambda: one(storage))
    assert [sent for sent in commands.sent if "find" in sent] == []


def test_a_filter_that_the_server_refuses_is_a_storage_error(storage):
    with pytest.raises(StorageError):
        one(storage, {"$where": "sleep("})


class Upper(TypeDecoder):
    """Reads every text in capitals."""

    bson_type = str

    def transform_bson(self, value):
        return value.upper()


def test_a_database_with_types_of_its_own_keeps_them(storage, mongo_database):
    options = CodecOptions(type_registry=TypeRegistry([Upper()]))
    own = MongoStorage(mongo_database.with_options(options))
    assert one(own, {"_id": 1}, ["name"]) == [{"_id": 1, "name": "B"}]


def test_fields_are_told_as_mongodb_takes_them():
    assert [projection_of(fields) for fields in (None, [], ["a.b", "_id"])] == [
        None,
        {"_id": 1},
        {"_id": 1, "a.b": 1, "in no index": 1},
    ]
