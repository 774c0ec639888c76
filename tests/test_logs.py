"""What a log shows: text that cannot forge a line, and every exception that led to one."""

from __future__ import annotations

import pytest
from pymongo.errors import OperationFailure

from gatewayfw.errors import StorageError
from gatewayfw.logs import LONGEST, UNEXPECTED, escaped, traceback_of


def shown(error):
    """The lines of a traceback that are not places."""
    return [line for line in traceback_of(error).splitlines() if not line.startswith((" ", "Traceback"))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text, é 漢", "plain text, é 漢"),
        ("a\r\nERROR forged", "a\\r\\nERROR forged"),
        ("\x1b[2J\x00\x7f\u2028\u202e", "\\x1b[2J\\x00\\x7f\\u2028\\u202e"),
        ("\ud800", "\\ud800"),
        ("", ""),
    ],
)
def test_unprintable_characters_are_written_out(text, expected):
    assert escaped(text) == expected


def test_the_text_of_an_exception_cannot_forge_a_line():
    assert shown(ValueError("bad\r\nERROR:root:admin logged in\x1b[2J")) == [
        "ValueError: bad\\r\\nERROR:root:admin logged in\\x1b[2J"
    ]


def test_the_text_of_an_exception_is_cut():
    assert [shown(ValueError("é" * 9_999)), shown(ValueError("\n" * 9_999))] == [
        [f"ValueError: {'é' * LONGEST}"],
        [f"ValueError: {(chr(92) + 'n') * (LONGEST // 2)}"],
    ]


@pytest.mark.parametrize("package", ["pymongo", "bson", "gridfs", "mongomock", "mongomock_ng"])
def test_the_text_of_an_exception_of_the_driver_is_hidden(package):
    kind = type("Odd", (Exception,), {"__module__": f"{package}.errors"})
    mine = type("Mine", (kind,), {"__module__": "shop", "code": 7})
    assert (shown(kind("secret")), shown(mine("secret"))) == ([f"{package}.errors.Odd code=None"], ["shop.Mine code=7"])


def test_what_a_log_is_named_and_how_long_a_text_is():
    assert (UNEXPECTED, LONGEST) == ("gatewayfw.errors", 2_000)


def test_an_exception_without_a_text_is_its_name():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError

    assert (shown(KeyError()), shown(Odd())) == (["KeyError"], [f"{__name__}.{Odd.__qualname__}: <no text>"])


def test_the_members_of_a_group_are_shown_and_those_of_the_driver_without_their_text():
    group = ExceptionGroup("two", [KeyError("a"), OperationFailure("password", 11)])
    assert shown(group) == [
        "pymongo.errors.OperationFailure code=11",
        "which led to:",
        "KeyError: 'a'",
        "which led to:",
        "ExceptionGroup: two (2 sub-exceptions)",
    ]


def test_a_hidden_cause_of_the_system_is_shown_by_its_number():
    try:
        try:
            raise OSError(28, "No space left on device", "/a/place")
        except OSError as error:
            raise StorageError("the file could not be written to its directory") from error
    except StorageError as error:
        lines = traceback_of(error).split("\n")
    shown = [line for line in lines if "code=" in line]
    assert shown == ["OSError code=28", "gatewayfw.errors.StorageError code=storage_error"]
    assert not any(line.startswith("OSError: ") for line in lines)
