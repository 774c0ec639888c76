"""Files in a directory: where, with which rights, and never anywhere else."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import re
import shutil
import stat

import pytest

from gatewayfw.errors import DefinitionError, StorageError, Unavailable
from gatewayfw.files import DirectoryFiles

KEY = "0123456789abcdef0123456789abcdef01234567"


def files_in(path):
    return sorted(str(one.relative_to(path)) for one in path.rglob("*") if one.is_file())


def test_two_folders_and_a_key_lead_to_a_file(tmp_path):
    store = DirectoryFiles(tmp_path)
    store.put(KEY, io.BytesIO(b"abc"), 3)
    assert files_in(tmp_path) == [f"45/67/{KEY}"]
    place = tmp_path / "45" / "67" / KEY
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (place, place.parent, place.parent.parent)]
    assert (place.read_bytes(), modes) == (b"abc", [0o600, 0o700, 0o700])


@pytest.mark.parametrize(
    "key",
    [
        "",
        "../" + KEY[3:],
        "../../etc/passwd",
        f"/{KEY[1:]}",
        KEY.upper(),
        f"{KEY}0",
        f"{KEY}\n",
        KEY[:-1] + "/",
        KEY[:-1] + "\0",
    ],
)
def test_nothing_but_a_key_is_a_place(tmp_path, key):
    store = DirectoryFiles(tmp_path)
    for call in (lambda: store.put(key, io.BytesIO(), 0), lambda: store.open(key, 0), lambda: store.delete(key)):
        with pytest.raises(StorageError) as raised:
            call()
        assert raised.value.message == "that is no key of a file"
    assert files_in(tmp_path) == []


def test_a_file_that_is_being_written_has_another_name_and_is_removed_when_that_fails(tmp_path):
    store, seen = DirectoryFiles(tmp_path), []

    class Watched(io.BytesIO):
        def read(self, size=-1):
            assert size == 262_144
            seen.append(files_in(tmp_path))
            if len(seen) == 2:
                raise OSError
            return b"abc"

    with pytest.raises(StorageError) as raised:
        store.put(KEY, Watched(), 6)
    assert raised.value.message == "the file could not be written to its directory"
    assert all(re.fullmatch(rf"45/67/{KEY}\.[0-9a-f]{{8}}\.new", name) for names in seen for name in names)
    assert (len(seen), files_in(tmp_path)) == (2, [])


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    done, opened = [], {}
    open_, fsync, rename = os.open, os.fsync, os.rename

    def opening(path, *options):
        opened[number := open_(path, *options)] = os.path.relpath(path, tmp_path)
        return number

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "fsync", lambda number: (done.append(opened[number]), fsync(number)))
    monkeypatch.setattr(os, "rename", lambda old, new: (done.append("rename"), rename(old, new)))
    DirectoryFiles(tmp_path).put(KEY, io.BytesIO(b"abc"), 3)
    new = done.pop(2)
    assert new.startswith(f"45/67/{KEY}.")
    assert done == ["45", ".", "rename", "45/67"]
    done.clear()
    DirectoryFiles(tmp_path).put(KEY.replace("0", "1"), io.BytesIO(b"abc"), 3)
    assert done[1:] == ["rename", "45/67"]


class Full(io.BytesIO):
    """A content that meets a full disk."""

    def read(self, size=-1):
        raise OSError(errno.ENOSPC, "No space left on device", "/srv/files/secret")


def test_a_full_disk_is_for_later_and_the_log_says_why(tmp_path, caplog):
    with pytest.raises(Unavailable) as raised:
        DirectoryFiles(tmp_path).put(KEY, Full(), 3)
    assert (raised.value.message, files_in(tmp_path)) == ("service unavailable, try again", [])
    assert caplog.messages == ["no space is left: the file could not be written to its directory"]


def test_what_an_interrupted_write_left_is_swept(tmp_path):
    store = DirectoryFiles(tmp_path)
    store.put(KEY, io.BytesIO(b"abc"), 3)
    left = tmp_path / "45" / "67" / f"{KEY}.00000000.new"
    foreign = [tmp_path / "45" / "67" / name for name in (f"{KEY[:8]}-not-ours", f"{KEY[:8]}.new", f"{KEY}.new")]
    for path in (left, *foreign):
        path.write_bytes(b"ab")
        os.utime(path)
    assert list(store.old(KEY[:8], 60)) == []
    assert left.exists()
    os.utime(left, (0, 0))
    assert list(store.old(KEY[:8], 60)) == []
    assert not left.exists()
    for path in foreign:
        os.utime(path, (0, 0))
    assert list(store.old(KEY[:8], 60)) == []
    assert all(path.exists() for path in foreign)


@pytest.mark.parametrize("path", ["/nowhere/at/all", "", None, 5, __file__])
def test_the_directory_must_be_there(path):
    with pytest.raises(DefinitionError) as raised:
        DirectoryFiles(path)
    assert raised.value.message == f"DirectoryFiles: {str(path)!r} is not a directory"


def test_a_file_that_cannot_be_read_is_an_error_not_a_missing_one(tmp_path):
    store = DirectoryFiles(tmp_path)
    (tmp_path / "45" / "67" / KEY).mkdir(parents=True)
    with pytest.raises(StorageError) as raised:
        store.open(KEY, 0)
    assert raised.value.message == "the file could not be read from its directory"


def test_what_cannot_be_deleted_or_listed_is_an_error_of_the_store(tmp_path):
    store = DirectoryFiles(tmp_path)
    (tmp_path / "45" / "67" / KEY).mkdir(parents=True)
    with pytest.raises(StorageError) as raised:
        store.delete(KEY)
    assert raised.value.message == "the file could not be deleted from its directory"
    shutil.rmtree(tmp_path)
    store.delete(KEY)
    with pytest.raises(StorageError) as raised:
        list(store.old("", 0))
    assert raised.value.message == "the directory of the files could not be swept"


def test_a_file_that_is_deleted_meanwhile_is_not_old(tmp_path, monkeypatch):
    store, scan = DirectoryFiles(tmp_path), os.scandir
    store.put(KEY, io.BytesIO(b"abc"), 3)

    class Listed:
        """A folder whose entries are deleted after they were listed."""

        def __init__(self, path):
            self.path, self.name, self._entry = path.path, path.name, path

        def is_dir(self, follow_symlinks):
            return self._entry.is_dir(follow_symlinks=follow_symlinks)

        def is_file(self, follow_symlinks):
            raise FileNotFoundError

    @contextlib.contextmanager
    def listing(path):
        with scan(path) as found:
            yield map(Listed, found)

    monkeypatch.setattr(os, "scandir", listing)
    assert list(store.old("", -60)) == []


def test_only_folders_of_two_characters_are_swept(tmp_path):
    for folder in ("45/67", "456/67", "45/678", "4/67"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / KEY).write_bytes(b"ab")
    assert list(DirectoryFiles(tmp_path).old("", -60)) == [KEY]


def test_a_link_to_a_folder_or_file_is_not_followed(tmp_path):
    (tmp_path / "store").mkdir()
    (tmp_path / "other" / "67").mkdir(parents=True)
    (tmp_path / "other" / "67" / KEY).write_bytes(b"ab")
    (tmp_path / "store" / "45").symlink_to(tmp_path / "other")
    (tmp_path / "store" / "46" / "67").mkdir(parents=True)
    (tmp_path / "store" / "46" / "67" / KEY).symlink_to(tmp_path / "other" / "67" / KEY)
    assert list(DirectoryFiles(tmp_path / "store").old("", -60)) == []
