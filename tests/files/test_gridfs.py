"""Files in the database: the format is that of GridFS."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest

from gatewayfw import GridFsFiles
from gatewayfw.errors import DefinitionError
from gatewayfw.files.stores import CHUNK
from gatewayfw.storage.terms import Index

KEY = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def store(storage):
    store = GridFsFiles("files")
    store.bind(lambda: storage)
    return store


def test_an_entry_and_chunks_as_gridfs_has_them(store, storage):
    data = bytes(range(256)) * (CHUNK // 256) + b"rest"
    store.put(KEY, io.BytesIO(data), len(data))
    (entry,) = storage.find("files.files", {})
    assert entry.pop("uploadDate") is not None
    assert entry == {"_id": KEY, "filename": KEY, "length": len(data), "chunkSize": CHUNK}
    chunks = list(storage.find("files.chunks", {}, ["files_id", "n", "data"], sort=[("n", 1)]))
    assert [(one["files_id"], one["n"], bytes(one["data"])) for one in chunks] == [
        (KEY, 0, data[:CHUNK]),
        (KEY, 1, b"rest"),
    ]
    keys = [index.keys for index in storage.indexes("files.chunks") if index.unique]
    assert keys == [Index((("files_id", 1), ("n", 1))).keys]


@pytest.mark.mongo
def test_the_driver_reads_what_was_stored(mongo_database):
    gridfs = pytest.importorskip("gridfs")
    from gatewayfw.storage import MongoStorage

    store, data = GridFsFiles(), b"x" * (CHUNK + 5)
    store.bind(lambda: MongoStorage(mongo_database))
    store.put(KEY, io.BytesIO(data), len(data))
    assert gridfs.GridFS(mongo_database).get(KEY).read() == data


@pytest.mark.parametrize("more", [1, CHUNK])
def test_a_missing_chunk_is_an_error_not_an_end(store, storage, more):
    data = b"x" * (CHUNK + more)
    store.put(KEY, io.BytesIO(data), len(data))
    storage.delete_many("files.chunks", {"n": 1})
    with store.open(KEY, len(data)) as found, pytest.raises(OSError, match="a chunk of the file is missing"):
        found.read()


def test_a_store_that_nobody_uses_knows_no_database():
    with pytest.raises(DefinitionError) as raised:
        GridFsFiles().open(KEY, 1)
    assert raised.value.message == "GridFsFiles: call gw.files.use(...) with it first"


@pytest.mark.parametrize("bucket", ["", "a.b", "$a", 5])
def test_a_bucket_is_a_name(bucket):
    with pytest.raises(DefinitionError) as raised:
        GridFsFiles(bucket)
    assert raised.value.message.startswith("GridFsFiles: ")


def test_the_collections_are_those_of_gridfs_unless_named_otherwise(storage):
    store = GridFsFiles()
    store.bind(lambda: storage)
    store.put(KEY, io.BytesIO(b"abc"), 3)
    counts = [storage.count(name, {}, 9) for name in ("fs.files", "fs.chunks")]
    store.delete(KEY)
    assert (counts, [storage.count(name, {}, 9) for name in ("fs.files", "fs.chunks")]) == ([1, 1], [0, 0])


def test_a_content_can_be_sought_in_all_ways(store):
    data = bytes(range(256)) * (CHUNK // 256) + b"the rest"
    store.put(KEY, io.BytesIO(data), len(data))
    with store.open(KEY, len(data)) as found:
        raw = found.raw
        assert found.readable() is True
        assert found.seekable() is True
        assert found.tell() == 0
        assert raw.tell() == 0
        places = [raw.seek(5), raw.seek(3, io.SEEK_CUR), raw.seek(-4, io.SEEK_END), raw.seek(-9), raw.seek(9**9)]
        assert places == [5, 8, len(data) - 4, 0, 9**9]
        read = [raw.read(10), raw.seek(CHUNK - 2), raw.read(10), raw.read(10)]
        assert read == [b"", CHUNK - 2, b"\xfe\xff", b"the rest"]


def test_a_chunk_is_as_large_as_gridfs_has_it_and_read_at_once(store):
    data = bytes(CHUNK + 9)
    store.put(KEY, io.BytesIO(data), len(data))
    with store.open(KEY, len(data)) as found:
        assert found.read(10) == bytes(10)
        assert found.raw.tell() == CHUNK
        assert CHUNK == 261_120


def test_a_chunk_is_asked_for_once_and_alone(store, storage, monkeypatch):
    data = b"x" * (CHUNK + 5)
    store.put(KEY, io.BytesIO(data), len(data))
    asked, find = [], type(storage).find

    def finding(self, *words, **names):
        asked.append((words, names))
        return find(self, *words, **names)

    monkeypatch.setattr(type(storage), "find", finding)
    with store.open(KEY, len(data)) as found:
        raw = found.raw
        while raw.read(CHUNK // 2):
            pass
    chunks = [{"files_id": KEY, "n": number} for number in (0, 1)]
    assert asked == [(("files.chunks", one, ["data"]), {"limit": 1}) for one in chunks]


def test_the_index_is_made_once_for_a_database(store, storage, monkeypatch):
    made, ensure = [], type(storage).ensure
    monkeypatch.setattr(type(storage), "ensure", lambda self, *words: (made.append(words), ensure(self, *words)))
    for key in (KEY, KEY[::-1]):
        store.put(key, io.BytesIO(b"abc"), 3)
    assert made == [("files.chunks", [Index((("files_id", 1), ("n", 1)), {"unique": True})], 0)]


def test_old_entries_are_found_by_origin_and_time(store, storage):
    keys = [letter * 40 for letter in "0f"] + ["f" * 8 + "0" * 32]
    for key in keys:
        store.put(key, io.BytesIO(b"abc"), 3)
    assert sorted(store.old("f" * 8, -60)) == [keys[2], keys[1]]
    hour = datetime.now(UTC).replace(tzinfo=None) - timedelta(hours=1)
    storage.update_many("files.files", {"_id": keys[1]}, {"$set": {"uploadDate": hour}})
    assert (list(store.old("f" * 8, 3500)), list(store.old("f" * 8, 3700))) == ([keys[1]], [])
