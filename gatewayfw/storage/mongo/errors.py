"""Translate the driver's errors into ours, so that none of them shows a document."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bson.errors import BSONError
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    DocumentTooLarge,
    DuplicateKeyError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
)

from gatewayfw import messages
from gatewayfw.errors import DuplicateKey, GatewayError, StorageError, Timeout, TooLarge, Unavailable, ValidationError
from gatewayfw.storage.terms import MANY_VALUES, Filter, Update
from gatewayfw.storage.update_operators import update_refusal

#: What PyMongo raises: its own errors, and those of encoding a document, such as one with a `uuid.UUID`.
DRIVER_ERRORS = (PyMongoError, BSONError, OverflowError, ValueError)
#: Server error codes of a document over 16 MB.
_TOO_LARGE = frozenset({10334, 17280, 17419, 17420})
#: Server error code of a command ``distinct`` whose result would pass 16 MB.
_MANY_VALUES = 17217
#: Server error codes: a wrong user name or password; a missing privilege, or no user at all.
AUTHENTICATION_FAILED, _UNAUTHORIZED = 18, 13
#: Server error code of a full disk.
_NO_SPACE = 14031
#: Server error code of a write that met another transaction.
WRITE_CONFLICT = 112
#: Server error code of many refused updates.
_BAD_VALUE = 2
#: Server error codes of an operator that does not fit the value it meets.
_MISFIT = frozenset({_BAD_VALUE, 14, 28})
_BEYOND = re.compile(r"Failed to apply (?P<operator>\$inc|\$mul) operations to current value")
#: What the server says about operators that do not fit.
_MISFITS = [
    re.compile(words, re.DOTALL)
    for words in (
        r"Cannot apply (?P<operator>\$inc|\$mul) to a value of .* has the field '(?P<part>.*)' of non-numeric type",
        r"(?:The field|Field named|Path) '(?P<part>.*)' (?:must be an array but|has|contains an element of) ",
        r"Cannot apply (?P<operator>\$pull) to a non-array value",
        r"Cannot create field '.*' in element \{(?P<part>.*?): ",
        r"Cannot use the part \(.*\) of \((?P<part>.*)\) to traverse",
    )
]


def translate_error(error: BaseException) -> GatewayError:
    """Return our error for one of `DRIVER_ERRORS`."""
    if isinstance(error, DocumentTooLarge):
        return TooLarge(messages.DOCUMENT_TOO_LARGE)
    return _translate_driver(error) if isinstance(error, PyMongoError) else StorageError()


def _translate_driver(error: PyMongoError) -> GatewayError:
    code = getattr(error, "code", None)
    problems: list[Mapping[str, Any]] = [getattr(error, "details", None) or {}]
    if isinstance(error, BulkWriteError):
        problems = error.details.get("writeErrors") or []
        codes = {problem.get("code") for problem in problems}
        # Up to 16 kB over the limit the driver lets the server refuse, which has no code of its own for this.
        codes |= {10334 for problem in problems if "to insert too large" in problem.get("errmsg", "")}
        code = 11000 if 11000 in codes else next(iter(codes & {*_TOO_LARGE, _NO_SPACE}), None)
    if isinstance(error, DuplicateKeyError) or code == 11000:
        return DuplicateKey(_taken_fields(problems))
    if code in _TOO_LARGE:
        return TooLarge(messages.DOCUMENT_TOO_LARGE)
    if code == _MANY_VALUES:
        return StorageError(MANY_VALUES)
    if isinstance(error, WaitQueueTimeoutError):
        return Unavailable(reason="no connection of the pool was free in time")
    if code == _NO_SPACE:
        return Unavailable(reason="the disk of MongoDB is full")
    if is_unauthenticated(error):
        return Unavailable()
    if code == _UNAUTHORIZED:
        return StorageError(
            "the user of the database lacks a privilege that this needs; the role readWrite has them all"
        )
    if error.timeout:
        # Server selection gives up after its own, shorter limit: no server was found, but time was left.
        return Unavailable() if isinstance(error, ServerSelectionTimeoutError) else Timeout()
    if isinstance(error, ConnectionFailure):
        return Unavailable()
    return StorageError()


def is_unauthenticated(error: BaseException) -> bool:
    """Tell whether the server does not know the user, a wrong configuration."""
    if not isinstance(error, OperationFailure):
        return False
    # A server that demands a user refuses with the code of a missing privilege; only its text differs.
    nobody = error.code == _UNAUTHORIZED and "requires authentication" in str((error.details or {}).get("errmsg"))
    return nobody or error.code == AUTHENTICATION_FAILED


def _taken_fields(problems: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the fields of the unique index that refused; none before MongoDB 4.4."""
    return next((list(problem["keyPattern"]) for problem in problems if problem.get("keyPattern")), [])


def refused_update(error: OperationFailure, update: Update) -> ValidationError | None:
    """Return our error if the server refused the result of an update, else None.

    The server says so only in words (those of MongoDB 6), which may fit several paths: then our error names
    all of them.
    """
    text = str((error.details or {}).get("errmsg", ""))
    if error.code == _BAD_VALUE and (beyond := _BEYOND.search(text)):
        paths = _meant_paths(update, beyond)
        return update_refusal(paths, messages.BEYOND_64_BITS) if paths else None
    found = next(filter(None, (words.search(text) for words in _MISFITS)), None)
    paths = [] if found is None or error.code not in _MISFIT else _meant_paths(update, found)
    return update_refusal(paths, messages.MISFIT) if paths else None


def note_met(error: GatewayError, collection: str, filters: Sequence[Filter]) -> None:
    """Note in an error which documents an update met, if it did not fit one of them."""
    if isinstance(error, ValidationError) or getattr(error.__cause__, "code", None) in _MISFIT:
        error.met = collection, filters


def _meant_paths(update: Update, found: re.Match[str]) -> list[str]:
    """Return the paths that the server may mean by an operator and a part of a path."""
    said = found.groupdict()
    operator, part = said.get("operator"), said.get("part")
    paths = [path for name, changes in update.items() if operator in (None, name) for path in changes]
    return [path for path in paths if part is None or f".{_plain(part)}." in f".{_plain(path)}."]


def _plain(path: str) -> str:
    """Return a path without leading zeros of numbers, which the server leaves out."""
    return re.sub(r"(?<![^.])0+(?=[0-9]+(?:\.|$))", "", path)


def without_documents(error: BaseException) -> BaseException:
    """Return an error fit for logs: a bulk error's text contains whole documents."""
    if not isinstance(error, BulkWriteError):
        return error
    first = (error.details.get("writeErrors") or [{}])[0]
    return OperationFailure(str(first.get("errmsg", "bulk write failed")), first.get("code"))
