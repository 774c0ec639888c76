"""The driver's errors become ours."""

from __future__ import annotations

from uuid import UUID

import pytest
from bson import InvalidDocument
from pymongo import errors

from gatewayfw.errors import (
    DuplicateKey,
    StorageError,
    Timeout,
    TooLarge,
    Unavailable,
)
from gatewayfw.storage.mongo.errors import (
    AUTHENTICATION_FAILED,
    WRITE_CONFLICT,
    refused_update,
    translate_error,
    without_documents,
)


def bulk(*codes):
    return errors.BulkWriteError({"writeErrors": [{"code": code} for code in codes]})


def write_timeout():
    return errors.WTimeoutError("x", 64, {})


INSERTED = "object to insert too large. size in bytes: 16777300, max size: 16777216"
TOO_LARGE = "the document would be too large"
MANY_VALUES = "the distinct values have more than 16 MB; read them by `find`, sorted and by page"
NO_RIGHT = "the user of the database lacks a privilege that this needs; the role readWrite has them all"


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (errors.DuplicateKeyError("x", 11000), DuplicateKey, None),
        (errors.DuplicateKeyError("x", 12582), DuplicateKey, None),
        (errors.OperationFailure("x", 11000), DuplicateKey, None),
        (bulk(11000), DuplicateKey, None),
        (bulk(1, 11000), DuplicateKey, None),
        (errors.WriteError("x", 10334), TooLarge, TOO_LARGE),
        (errors.OperationFailure("x", 17280), TooLarge, TOO_LARGE),
        (errors.OperationFailure("x", 17419), TooLarge, TOO_LARGE),
        (errors.OperationFailure("x", 17420), TooLarge, TOO_LARGE),
        (bulk(10334), TooLarge, TOO_LARGE),
        (bulk(1, 17419), TooLarge, TOO_LARGE),
        (errors.BulkWriteError({"writeErrors": [{"code": 2, "errmsg": INSERTED}]}), TooLarge, TOO_LARGE),
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
        (bulk(50), Timeout, None),
        (bulk(1), StorageError, None),
        (errors.BulkWriteError({}), StorageError, None),
        (errors.WriteError("x", 2), StorageError, None),
        (errors.OperationFailure("not authorized", 13), StorageError, NO_RIGHT),
        (errors.OperationFailure("x", 13, {"errmsg": "Command find requires authentication"}), Unavailable, None),
        (errors.OperationFailure("Authentication failed.", 18), Unavailable, None),
        (errors.InvalidOperation("x"), StorageError, None),
        (errors.InvalidName("x"), StorageError, None),
        (errors.PyMongoError("x"), StorageError, None),
        (InvalidDocument("x"), StorageError, None),
        (OverflowError("x"), StorageError, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else getattr(value, "__name__", ""),
)
def test_the_drivers_errors_become_ours(error, expected, message):
    translated = translate_error(error)
    assert type(translated) is expected
    assert translated.message == (message or expected().message)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errors.WaitQueueTimeoutError("x"), "no connection of the pool was free in time"),
        (errors.OperationFailure("no space", 14031), "the disk of MongoDB is full"),
        (bulk(14031), "the disk of MongoDB is full"),
        (errors.OperationFailure("Authentication failed.", 18), ""),
        (errors.AutoReconnect("x"), ""),
    ],
    ids=["pool", "disk", "disk in bulk", "log-in", "connection"],
)
def test_the_log_is_told_what_no_outage_explains(error, reason):
    assert translate_error(error).reason == reason


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


#: What MongoDB 6 says of an update that does not fit, its code, the update, and the paths that are meant.
REFUSED = {
    "number": (
        14,
        "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field 'a' of non-numeric type null",
        {"$inc": {"b": 1, "o.a": 1}, "$mul": {"a.c": 1}, "$set": {"a": 1}},
        ["o.a"],
    ),
    "number of a document with a line break": (
        14,
        "Cannot apply $mul to a value of non-numeric type. {_id: \"x\ny\"} has the field 'a' of non-numeric type bool",
        {"$mul": {"a": 1}, "$inc": {"b": 1}},
        ["a"],
    ),
    "push": (
        2,
        "The field 'a' must be an array but is of type null in document {_id: 1}",
        {"$push": {"a": 1, "ab": 1}},
        ["a"],
    ),
    "addToSet": (
        2,
        "Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int",
        {"$addToSet": {"a": 1}, "$set": {"b": 1}},
        ["a"],
    ),
    "a place with a leading zero": (
        2,
        "Cannot apply $addToSet to non-array field. Field named '1' has non-array type int",
        {"$addToSet": {"a.01": 1, "a.10": 1}, "$set": {"b": 1}},
        ["a.01"],
    ),
    "a name with a leading zero": (
        14,
        "Cannot apply $inc to a value of non-numeric type. {_id: 1} has the field '01' of non-numeric type null",
        {"$inc": {"a.01": 1, "a.001x": 1}},
        ["a.01"],
    ),
    "pull": (2, "Cannot apply $pull to a non-array value", {"$pull": {"a": 1, "b": 1}, "$set": {"c": 1}}, ["a", "b"]),
    "pop": (14, "Path 'a.b' contains an element of non-array type 'int'", {"$pop": {"a.b": 1, "a.c": 1}}, ["a.b"]),
    "below": (28, "Cannot create field 'b' in element {a: null}", {"$set": {"o.a.b": 1, "b": 1}}, ["o.a.b"]),
    "through": (
        28,
        "Cannot use the part (b) of (o.a.b) to traverse the element ({a: 1})",
        {"$pop": {"o.a.b": 1, "a.b": 1}},
        ["o.a.b"],
    ),
}


def refused(code, words, update):
    said = f"Plan executor error during findAndModify :: caused by :: {words}"
    return refused_update(errors.OperationFailure(said, code, {"errmsg": said}), update)


@pytest.mark.parametrize(("code", "words", "update", "paths"), REFUSED.values(), ids=REFUSED)
def test_a_refused_update_names_the_paths_that_the_server_means(code, words, update, paths):
    expected = {f"update.{path}": ["Does not fit the value that is there."] for path in paths}
    assert refused(code, words, update).errors == expected
    assert refused(code + 100, words, update) is None


@pytest.mark.parametrize("operator", ["$inc", "$mul"])
def test_a_number_that_would_leave_64_bits_is_named(operator):
    words = f"Failed to apply {operator} operations to current value ((NumberLong)9223372036854775807) for document"
    update = {operator: {"a": 1, "b.c": 1}, "$set": {"d": 1}}
    said = ["The number would leave 64 bits."]
    assert refused(2, words, update).errors == {"update.a": said, "update.b.c": said}
    assert refused(14, words, update) is None
    assert refused(2, words, {"$set": {"a": 1}}) is None


@pytest.mark.parametrize("details", [None, {}, {"errmsg": "Cannot create field 'b' in element {a: null}"}])
def test_a_refusal_of_something_else_is_left_as_it_is(details):
    assert refused_update(errors.OperationFailure("x", 28, details), {"$set": {"c": 1}}) is None


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
    assert type(found) is errors.OperationFailure
    assert str(found) == text
    assert found.code == code
    assert found.details is None


def test_the_codes_of_the_server_are_known():
    assert (AUTHENTICATION_FAILED, WRITE_CONFLICT) == (18, 112)


def test_other_errors_are_logged_as_they_are():
    error = errors.WriteError("x", 2)
    assert without_documents(error) is error


def test_a_uuid_that_the_driver_cannot_encode_is_our_error(storage):
    one = UUID(int=7)
    for call in (
        lambda: storage.insert("things", [{"_id": 1, "a": one}]),
        lambda: storage.update_many("things", {"_id": 1}, {"$set": {"a": one}}),
        lambda: storage.transaction(lambda: storage.insert("things", [{"_id": 1, "a": one}])),
    ):
        with pytest.raises(StorageError):
            call()
