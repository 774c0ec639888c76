"""Files in the database: the format is that of GridFS."""

from __future__ import annotations

import io

import pytest

from gatewayfw import GridFsFiles
from gatewayfw.errors import DefinitionError
from gatewayfw.files.gridfs import CHUNK
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
    with pytest.raises(DefinitionError):
        GridFsFiles().open(KEY, 1)


@pytest.mark.parametrize("bucket", ["", "a.b", "$a", 5])
def test_a_bucket_is_a_name(bucket):
    with pytest.raises(DefinitionError):
        GridFsFiles(bucket)
