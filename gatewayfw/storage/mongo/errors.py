"""The driver's errors in our terms; what is raised or logged holds no document."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from bson.errors import BSONError
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    DocumentTooLarge,
    DuplicateKeyError,
    ExecutionTimeout,
    NetworkTimeout,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
    WTimeoutError,
)

from gatewayfw.errors import (
    DuplicateKey,
    GatewayError,
    StorageError,
    Timeout,
    TooLarge,
    Unavailable,
    ValidationError,
    beyond_64_bits,
)

#: What PyMongo raises: its own errors, and what encoding a document can end with.
DRIVER_ERRORS = (PyMongoError, BSONError, OverflowError, UnicodeEncodeError)
#: The message of `TooLarge`, from every adapter.
TOO_LARGE = "the document would be too large"
#: Server error codes of a document over 16 MB.
_TOO_LARGE = frozenset({10334, 17280, 17419, 17420})
#: Server error codes: a wrong user name or password; a missing right, or no user at all.
AUTHENTICATION_FAILED, _UNAUTHORIZED = 18, 13
#: Server error code of many a refused update.
_BAD_VALUE = 2


def translation(error: BaseException) -> GatewayError:
    """Return our error for one of `DRIVER_ERRORS`."""
    if isinstance(error, DocumentTooLarge):
        return TooLarge(TOO_LARGE)
    return _of_the_driver(error) if isinstance(error, PyMongoError) else StorageError()


def _of_the_driver(error: PyMongoError) -> GatewayError:
    code = getattr(error, "code", None)
    problems: list[Mapping[str, Any]] = [getattr(error, "details", None) or {}]
    if isinstance(error, BulkWriteError):
        problems = error.details.get("writeErrors") or []
        codes = {problem.get("code") for problem in problems}
        # Up to 16 kB over the limit the driver leaves it to the server, which has no code of its own for it.
        codes |= {10334 for problem in problems if "to insert too large" in problem.get("errmsg", "")}
        code = 11000 if 11000 in codes else next(iter(codes & _TOO_LARGE), None)
    if isinstance(error, DuplicateKeyError) or code == 11000:
        return DuplicateKey(_taken(problems))
    if code in _TOO_LARGE:
        return TooLarge(TOO_LARGE)
    if isinstance(error, WaitQueueTimeoutError) or is_unauthenticated(error):
        return Unavailable()
    if code == _UNAUTHORIZED:
        return StorageError("the user of the database lacks a right that this needs; the role readWrite has them all")
    if error.timeout or isinstance(error, (NetworkTimeout, ExecutionTimeout, WTimeoutError)):
        # Server selection gives up after its own, shorter limit: that is no server, not no time.
        return Unavailable() if isinstance(error, ServerSelectionTimeoutError) else Timeout()
    if isinstance(error, ConnectionFailure):
        return Unavailable()
    return StorageError()


def is_unauthenticated(error: BaseException) -> bool:
    """Tell whether the server does not know who calls: wrong configuration."""
    if not isinstance(error, OperationFailure):
        return False
    # A server that demands a user refuses with the code of a missing right; its text tells the two apart.
    nobody = error.code == _UNAUTHORIZED and "requires authentication" in str((error.details or {}).get("errmsg"))
    return nobody or error.code == AUTHENTICATION_FAILED


def _taken(problems: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the fields of the unique index that refused.

    Servers before 4.4 do not name them.
    """
    return next((list(problem["keyPattern"]) for problem in problems if problem.get("keyPattern")), [])


def refused_increment(error: OperationFailure, paths: Collection[str]) -> ValidationError | None:
    """Return our error where the server refused an ``$inc`` beyond 64 bits.

    Of several ``paths`` it does not say which.

    The server has no code of its own for it, so its text is looked at (MongoDB 6 has this one).
    """
    text = str((error.details or {}).get("errmsg", ""))
    if error.code != _BAD_VALUE or "Failed to apply $inc operations to current value" not in text:
        return None
    return beyond_64_bits(paths) if paths else None


def without_documents(error: BaseException) -> BaseException:
    """Return the error as it may be logged: a bulk error's text holds whole documents."""
    if not isinstance(error, BulkWriteError):
        return error
    first = (error.details.get("writeErrors") or [{}])[0]
    return OperationFailure(str(first.get("errmsg", "bulk write failed")), first.get("code"))
