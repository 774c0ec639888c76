"""What every store does: keys, whole contents, parts of them, and what is old."""

from __future__ import annotations

import errno
import io
import logging
import os

import pytest

from gatewayfw.errors import StorageError, Unavailable
from gatewayfw.files.stores import CHUNK, GRACE, KEY, error_of, new_key, origin_of

SIZES = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK]


def test_keys_are_random_and_begin_with_their_origin():
    origin = origin_of("db", "file")
    keys = {new_key(origin) for _ in range(100)}
    assert (len(keys), origin) == (100, "83e6d42b")
    assert all(KEY.fullmatch(key) and key.startswith(origin) for key in keys)
    assert (
        len({origin_of(*names) for names in [("db", "file"), ("db", "image"), ("dbf", "ile"), ("other", "file")]}) == 4
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_content_is_read_as_it_was_stored(gw, store, size):
    data = os.urandom(size)
    key = new_key(origin_of("db", "file"))
    store.put(key, io.BytesIO(data), size)
    with store.open(key, size) as found:
        assert (found.read(), found.read()) == (data, b"")
        for start in {0, size // 2, max(0, size - 1), size}:
            found.seek(start)
            assert (found.tell(), found.read(10)) == (start, data[start : start + 10])


def test_what_is_not_there_or_of_another_size_is_none(gw, store):
    key = new_key(origin_of("db", "file"))
    assert store.open(key, 3) is None
    store.put(key, io.BytesIO(b"abc"), 3)
    assert store.open(key, 4) is None


def test_a_deleted_content_is_gone_and_deleting_it_again_does_nothing(gw, store, keys):
    one, two = (new_key(origin_of("db", "file")) for _ in range(2))
    for key in (one, two):
        store.put(key, io.BytesIO(b"abc"), 3)
    store.delete(one)
    store.delete(one)
    assert (keys(), store.open(one, 3)) == ([two], None)


def test_old_ones_are_found_by_origin_and_age(gw, store):
    mine, other = origin_of("db", "file"), origin_of("db", "image")
    key = new_key(mine)
    for one in (key, new_key(other)):
        store.put(one, io.BytesIO(b"abc"), 3)
    assert (list(store.old(mine, -60)), list(store.old(mine, 60))) == ([key], [])


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, None])
def test_only_a_full_disk_is_for_later(caplog, number):
    found = error_of(OSError(number, "secret"), "the file could not be stored")
    if number in (errno.ENOSPC, errno.EDQUOT):
        assert (type(found), found.message) == (Unavailable, "service unavailable, try again")
        logged = [("gatewayfw.files", logging.ERROR, "no space is left: the file could not be stored")]
    else:
        assert (type(found), found.message) == (StorageError, "the file could not be stored")
        logged = []
    assert caplog.record_tuples == logged


def test_bytes_without_a_document_are_kept_for_an_hour():
    assert GRACE == 3600.0


class Broken(io.BytesIO):
    """A content that ends in the middle."""

    def read(self, size=-1):
        if self.tell() > 0:
            raise OSError("gone")
        return super().read(3)


def test_what_could_not_be_stored_whole_leaves_nothing_readable(gw, store):
    key = new_key(origin_of("db", "file"))
    with pytest.raises((OSError, StorageError)):
        store.put(key, Broken(b"abcdef"), 6)
    if found := store.open(key, 6):  # its entry comes first, and nobody knows its key
        found.close()
    store.delete(key)
    assert list(store.old("", -60)) == []


def test_a_content_outlives_a_transaction_that_fails(gw, store):
    key = new_key(origin_of("db", "file"))

    def fail():
        store.put(key, io.BytesIO(b"abc"), 3)
        raise KeyError

    with pytest.raises(KeyError):
        gw.odm.transaction(fail)
    with store.open(key, 3) as found:
        assert found.read() == b"abc"
