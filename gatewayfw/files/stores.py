"""The stores of files: bytes by random keys, in a directory or in the database.

A key begins with what `origin_of` gives for a database and a model, so that gateways which share a store sweep
nothing of each other. It is never made from anything that a client sends.
"""

import contextlib
import errno
import hashlib
import io
import logging
import os
import re
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, cast, final

from bson import Binary, ObjectId

from gatewayfw.errors import DefinitionError, GatewayError, StorageError, Unavailable
from gatewayfw.schemas.relations import check_name
from gatewayfw.storage import Storage
from gatewayfw.storage.terms import Index

_LOG = logging.getLogger("gatewayfw.files")

#: Every key.
KEY = re.compile(r"[0-9a-f]{40}")
#: Seconds after which bytes without a document are swept.
GRACE = 3600.0
_ORIGIN = 8
#: What the system says where no space is left: on the disk, or of somebody's share.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def origin_of(database: str, model: str) -> str:
    """Return what the keys of a model's files begin with."""
    return hashlib.sha256(f"{database}\0{model}".encode()).hexdigest()[:_ORIGIN]


def new_key(origin: str) -> str:
    """Return a key that nobody can guess."""
    return origin + secrets.token_hex(16)


def error_of(error: OSError, words: str) -> GatewayError:
    """Return the error of a store for one of the system."""
    if error.errno in _FULL:  # The same request may succeed later.
        _LOG.error("no space is left: %s", words)
        return Unavailable()
    return StorageError(words)


class FileStore(ABC):
    """A store of bytes. Instances are safe to share between threads.

    What fails raises StorageError, Unavailable or Timeout.
    """

    def bind(self, storage: Callable[[], Storage]) -> None:  # noqa: B027  (most stores need no database)
        """Take what gives the gateway's storage; `Files.use` calls it once."""

    @abstractmethod
    def put(self, key: str, content: BinaryIO, size: int) -> None:
        """Store a content of ``size`` bytes, all or nothing, durably, in no transaction."""

    @abstractmethod
    def open(self, key: str, size: int) -> BinaryIO | None:
        """Return a seekable content of ``size`` bytes; None if it is not there."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Delete a content, if it is there."""

    @abstractmethod
    def old(self, origin: str, age: float) -> Iterator[str]:
        """Yield the keys of an origin that were stored more than ``age`` seconds ago.

        It also deletes what an interrupted `put` has left.
        """


# -- a directory of the host, or of a volume that all hosts share

#: Bytes that are written at once.
_BLOCK = 256 * 1024
_NEW = ".new"
_UNFINISHED = re.compile(rf"{KEY.pattern}\.[0-9a-f]{{8}}\{_NEW}")


@final
class DirectoryFiles(FileStore):
    """Files below a directory, as ``ab/cd/<key>``, readable by the owner only.

    The directory must exist. Each file is written under another name, flushed to the disk and then renamed, so it is
    there as a whole or not at all. All processes that serve the gateway need the same directory; no web server may
    serve it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike) or not os.path.isdir(path):
            raise DefinitionError(f"DirectoryFiles: {str(path)!r} is not a directory")
        self._root = os.path.realpath(path)

    def put(self, key: str, content: BinaryIO, size: int) -> None:
        """Write, flush and rename."""
        place = self._place(key)
        folder = os.path.dirname(place)
        new = f"{place}.{secrets.token_hex(4)}{_NEW}"
        try:
            self._make(folder)
            try:
                with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                    while data := content.read(_BLOCK):
                        out.write(data)
                    out.flush()
                    os.fsync(out.fileno())
                os.rename(new, place)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(new)
                raise
            _flush(folder)
        except OSError as error:
            raise error_of(error, "the file could not be written to its directory") from error

    def open(self, key: str, size: int) -> BinaryIO | None:
        try:
            found = open(self._place(key), "rb")  # noqa: SIM115  (the caller closes it)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise error_of(error, "the file could not be read from its directory") from error
        if os.fstat(found.fileno()).st_size == size:
            return found
        found.close()
        return None

    def delete(self, key: str) -> None:
        """Remove the file; its folder stays."""
        try:
            os.unlink(self._place(key))
        except FileNotFoundError:
            return
        except OSError as error:
            raise error_of(error, "the file could not be deleted from its directory") from error

    def old(self, origin: str, age: float) -> Iterator[str]:
        until = time.time() - age
        try:
            for entry in _walk(self._root):
                if not entry.name.startswith(origin) or not _is_older(entry, until):
                    continue
                if KEY.fullmatch(entry.name):
                    yield entry.name
                elif _UNFINISHED.fullmatch(entry.name):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(entry.path)
        except OSError as error:
            raise error_of(error, "the directory of the files could not be swept") from error

    def _place(self, key: str) -> str:
        if not KEY.fullmatch(key):
            raise StorageError("that is no key of a file")
        return os.path.join(self._root, key[-4:-2], key[-2:], key)

    def _make(self, folder: str) -> None:
        if not os.path.isdir(folder):
            above = os.path.dirname(folder)
            for one in (above, folder):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(one, 0o700)
            _flush(above)
            _flush(self._root)


def _flush(folder: str) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _walk(root: str) -> Iterator[os.DirEntry[str]]:
    for folder in _folders(root):
        for middle in _folders(folder):
            yield from _entries(middle)


def _folders(folder: str) -> Iterator[str]:
    return (entry.path for entry in _entries(folder) if len(entry.name) == 2 and entry.is_dir(follow_symlinks=False))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return list(found)


def _is_older(entry: os.DirEntry[str], until: float) -> bool:
    try:
        return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_mtime < until
    except FileNotFoundError:  # deleted meanwhile
        return False


# -- the gateway's own database, in the format of GridFS
#
# Written through the storage, so that it works on every adapter and within its deadlines. Unlike the driver it writes
# the entry of a file before its chunks: what an interrupted write left can be found then.
# Source: https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md.

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
