"""Files in a directory of the host, or of a volume that all hosts share."""

import contextlib
import os
import re
import secrets
import time
from collections.abc import Iterator
from typing import BinaryIO, final

from gatewayfw.errors import DefinitionError, StorageError
from gatewayfw.files.stores import KEY, FileStore, error_of

_CHUNK = 256 * 1024
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
                    while data := content.read(_CHUNK):
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
