"""Files in the gateway's own database, in the format of GridFS.

Written through the storage, so that it works on every adapter and within its deadlines. Unlike the driver it writes
the entry of a file before its chunks: what an interrupted write left can be found then.
Source: https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md.
"""

import io
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, cast, final

from bson import Binary, ObjectId

from gatewayfw.errors import DefinitionError
from gatewayfw.files.stores import FileStore
from gatewayfw.schemas.relations import check_name
from gatewayfw.storage import Storage
from gatewayfw.storage.terms import Index

#: Bytes of one chunk, as GridFS has them.
CHUNK = 255 * 1024
_UNIQUE = Index((("files_id", 1), ("n", 1)), {"unique": True})
#: After the last digit of a key.
_END = "g"


@final
class GridFsFiles(FileStore):
    """Files in the collections ``<bucket>.files`` and ``<bucket>.chunks``.

    They suit small deployments, which then have only the database to back up. Each read and write passes through the
    database; `DirectoryFiles` on a volume costs less.
    """

    def __init__(self, bucket: str = "fs") -> None:
        check_name(bucket, "GridFsFiles")
        self._files, self._chunks = f"{bucket}.files", f"{bucket}.chunks"
        self._get: Callable[[], Storage] | None = None
        self._prepared: Storage | None = None

    def bind(self, storage: Callable[[], Storage]) -> None:
        """Take the gateway's storage."""
        self._get = storage

    @property
    def _storage(self) -> Storage:
        if self._get is None:
            raise DefinitionError("GridFsFiles: call gw.files.use(...) with it first")
        return self._get()

    def put(self, key: str, content: BinaryIO, size: int) -> None:
        """Insert the entry, then chunk by chunk."""
        self._storage.aside(lambda: self._write(key, content, size))

    def _write(self, key: str, content: BinaryIO, size: int) -> None:
        storage = self._storage
        if self._prepared is not storage:
            storage.ensure(self._chunks, [_UNIQUE], 0)
            self._prepared = storage
        now = datetime.now(UTC).replace(tzinfo=None)
        entry = {"_id": key, "filename": key, "length": size, "chunkSize": CHUNK, "uploadDate": now}
        storage.insert(self._files, [entry])
        for number, data in enumerate(iter(lambda: content.read(CHUNK), b"")):
            chunk = {"_id": ObjectId(), "files_id": key, "n": number, "data": Binary(data)}
            storage.insert(self._chunks, [chunk])

    def open(self, key: str, size: int) -> BinaryIO | None:
        """Return a reader that asks for one chunk after the other."""
        storage = self._storage
        if not storage.count(self._files, {"_id": key, "length": size}, 1):
            return None
        return cast(BinaryIO, io.BufferedReader(_Reader(storage, self._chunks, key, size), CHUNK))

    def delete(self, key: str) -> None:
        """Delete the chunks, then the entry."""
        storage = self._storage
        storage.delete_many(self._chunks, {"files_id": key})
        storage.delete_many(self._files, {"_id": key})

    def old(self, origin: str, age: float) -> Iterator[str]:
        until = datetime.now(UTC).replace(tzinfo=None) - timedelta(seconds=age)
        wanted = {"_id": {"$gte": origin, "$lt": origin + _END}, "uploadDate": {"$lt": until}}
        return (entry["_id"] for entry in self._storage.find(self._files, wanted, ["_id"]))


class _Reader(io.RawIOBase):
    def __init__(self, storage: Storage, chunks: str, key: str, size: int) -> None:
        self._storage, self._chunks = storage, chunks
        self._key, self._size = key, size
        self._at = 0
        self._known: tuple[int, bytes] = (-1, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._at >= self._size:
            return 0
        number, start = divmod(self._at, CHUNK)
        part = self._load(number)[start : start + len(buffer)]
        if not part:
            raise OSError("a chunk of the file is missing")
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)

    def _load(self, number: int) -> bytes:
        if self._known[0] != number:
            wanted = {"files_id": self._key, "n": number}
            found = next(self._storage.find(self._chunks, wanted, ["data"], limit=1), None)
            self._known = (number, b"" if found is None else bytes(found["data"]))
        return self._known[1]
