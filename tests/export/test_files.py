"""Generated files: whole or not at all, untouched when they are right."""

from __future__ import annotations

import os
import re

import pytest

from gatewayfw.export.files import difference, replace_file, write

OLD = 1_000_000_000


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "made" / "types"


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_file_is_written_into_a_new_folder(folder):
    assert write(folder / "a.ts", "é\r\n") is True
    assert (folder / "a.ts").read_bytes() == "é\r\n".encode()
    assert os.listdir(folder) == ["a.ts"]
    assert (folder / "a.ts").stat().st_mode & 0o777 == 0o666 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_file_that_is_right_is_not_touched(folder):
    write(folder / "a.ts", "a")
    os.utime(folder / "a.ts", (OLD, OLD))
    assert write(folder / "a.ts", "a") is False
    assert (folder / "a.ts").stat().st_mtime == OLD
    assert write(folder / "a.ts", "c") is True
    assert (folder / "a.ts").stat().st_mtime > OLD


def test_a_link_stays_one(folder):
    write(folder / "real.ts", "old")
    (folder / "a.ts").symlink_to("real.ts")
    assert write(folder / "a.ts", "new") is True
    assert (folder / "a.ts").is_symlink() is True
    assert files_in(folder) == {"real.ts": "new", "a.ts": "new"}


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(folder, monkeypatch):
    write(folder / "a.ts", "old")

    beside = []

    def fails(descriptor):
        beside.extend(path.name for path in folder.iterdir() if path.name != "a.ts")
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="disk full"):
        write(folder / "a.ts", "new")
    assert files_in(folder) == {"a.ts": "old"}
    assert re.fullmatch(r"\.a\.ts\.[0-9a-f]{16}", *beside)


def test_a_file_that_cannot_be_made_is_told_as_such(folder):
    with pytest.raises(FileNotFoundError):
        replace_file(folder / "a.ts", b"new")


def test_a_difference_is_a_diff(folder):
    write(folder / "a.ts", "one\ntwo\n")
    assert difference(folder / "a.ts", "one\ntwo\n") == []
    assert difference(folder / "b.ts", "x") == [f"{folder / 'b.ts'} is missing"]
    assert difference(folder / "a.ts", "one\n2\n") == [
        f"--- {folder / 'a.ts'}",
        "+++ generated",
        "@@ -1,2 +1,2 @@",
        " one",
        "-two",
        "+2",
    ]


def test_a_difference_has_one_line_around_each_change_and_reads_any_bytes(folder):
    write(folder / "a.ts", "1\n2\n3\n4\n5\n6\n")
    assert difference(folder / "a.ts", "1\n2\n3\nX\n5\n6\n")[2:] == ["@@ -3,3 +3,3 @@", " 3", "-4", "+X", " 5"]
    (folder / "a.ts").write_bytes(b"\xff\n")
    assert difference(folder / "a.ts", "x\n")[2:] == ["@@ -1 +1 @@", "-\ufffd", "+x"]
