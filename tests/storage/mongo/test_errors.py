"""The driver's errors become ours."""

from __future__ import annotations

import pytest
from pymongo import errors

from gatewayfw.errors import (
    DuplicateKey,
    StorageError,
    Timeout,
    TooLarge,
    Unavailable,
)
from gatewayfw.storage.mongo.errors import translate_error, without_documents


def bulk(*codes):
    return errors.BulkWriteError({"writeErrors": [{"code": code} for code in codes]})


def write_timeout():
    return errors.WTimeoutError("x", 64, {})


TOO_LARGE = "the document would be too large"
MANY_VALUES = "the distinct values have more than 16 MB; read them by `find`, sorted and by page"
NO_RIGHT = "the user of the database lacks a privilege that this needs; the role readWrite has them all"


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (errors.DuplicateKeyError("x", 11000), DuplicateKey, None),
        (errors.OperationFailure("x", 11000), DuplicateKey, None),
        (bulk(11000), DuplicateKey, None),
        (bulk(1, 11000), DuplicateKey, None),
        (errors.WriteError("x", 10334), TooLarge, TOO_LARGE),
        (errors.OperationFailure("x", 17419), TooLarge, TOO_LARGE),
        (bulk(10334), TooLarge, TOO_LARGE),
        (errors.DocumentTooLarge("x"), TooLarge, TOO_LARGE),
        (errors.OperationFailure("x", 17217), StorageError, MANY_VALUES),
        (errors.ServerSelectionTimeoutError("x"), Unavailable, None),
        (errors.WaitQueueTimeoutError("x"), Unavailable, None),
        (errors.NotPrimaryError("x"), Unavailable, None),
        (errors.OperationFailure("no space", 14031), Unavailable, None),
        (bulk(14031), Unavailable, None),
        (errors.AutoReconnect("x"), Unavailable, None),
        (errors.ConnectionFailure("x"), Unavailable, None),
        (errors.NetworkTimeout("x"), Timeout, None),
        (errors.ExecutionTimeout("x", 50), Timeout, None),
        (write_timeout(), Timeout, None),
        (bulk(1), StorageError, None),
        (errors.BulkWriteError({}), StorageError, None),
        (errors.WriteError("x", 2), StorageError, None),
        (errors.OperationFailure("not authorized", 13), StorageError, NO_RIGHT),
        (errors.OperationFailure("x", 13, {"errmsg": "Command find requires authentication"}), Unavailable, None),
        (errors.OperationFailure("Authentication failed.", 18), Unavailable, None),
        (errors.InvalidOperation("x"), StorageError, None),
        (errors.InvalidName("x"), StorageError, None),
        (errors.PyMongoError("x"), StorageError, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else getattr(value, "__name__", ""),
)
def test_the_drivers_errors_become_ours(error, expected, message):
    translated = translate_error(error)
    assert type(translated) is expected
    assert translated.message == (message or expected().message)


@pytest.mark.parametrize(
    ("error", "fields"),
    [
        (errors.DuplicateKeyError("x", 11000, {"keyPattern": {"b": 1, "a": -1}}), ("b", "a")),
        (errors.DuplicateKeyError("x", 11000, {}), ()),
        (errors.DuplicateKeyError("x", 11000), ()),
        (errors.BulkWriteError({"writeErrors": [{"code": 1}, {"code": 11000, "keyPattern": {"a": 1}}]}), ("a",)),
        (bulk(11000), ()),
    ],
    ids=["command", "before 4.4", "no details", "bulk", "bulk before 4.4"],
)
def test_a_duplicate_has_the_fields_that_the_server_names(error, fields):
    assert translate_error(error).fields == fields


@pytest.mark.parametrize(
    ("details", "text", "code"),
    [
        ({"writeErrors": [{"code": 2, "errmsg": "refused", "op": {"secret": 1}}, {"code": 3}]}, "refused", 2),
        ({"writeErrors": [{"code": 2, "op": {"secret": 1}}]}, "bulk write failed", 2),
        ({"writeConcernErrors": [{"errmsg": "slow"}], "writeErrors": []}, "bulk write failed", None),
        ({}, "bulk write failed", None),
    ],
    ids=["first of two", "no words", "no write", "nothing"],
)
def test_a_bulk_error_is_logged_without_its_documents(details, text, code):
    found = without_documents(errors.BulkWriteError(details))
    assert (type(found), str(found), found.code, found.details) == (errors.OperationFailure, text, code, None)


def test_other_errors_are_logged_as_they_are():
    error = errors.WriteError("x", 2)
    assert without_documents(error) is error
