"""Exceptions that an author has given a status: which entry decides, and which entries are refused."""

from __future__ import annotations

import pytest

from gatewayfw.acts.replies import find_error, parse_exceptions
from gatewayfw.errors import DefinitionError, HttpError, NotFound


class Stock(Exception):
    """A library's error."""


class SoldOut(Stock):
    """A narrower one."""


MAPPED = parse_exceptions({Stock: (503, "stock", "try later"), SoldOut: [409, "sold_out", "sold out"]})


@pytest.mark.parametrize(
    ("error", "becomes"), [(Stock("secret"), (503, "stock", "try later")), (SoldOut(), (409, "sold_out", "sold out"))]
)
def test_the_most_specific_class_decides(error, becomes):
    found = find_error(MAPPED, error)
    assert isinstance(found, HttpError)
    assert (found.status, found.code, found.message) == becomes


@pytest.mark.parametrize("error", [ValueError("x"), Exception("x"), NotFound("user not found")])
def test_others_stay_as_they_are(error):
    assert find_error(parse_exceptions({Stock: (409, "a", "b")}), error) is None


def test_our_own_errors_stay_also_where_a_base_class_of_theirs_is_named():
    class Both(NotFound, SoldOut):
        """An author's own."""

    assert find_error(MAPPED, Both("gone")) is None


@pytest.mark.parametrize("becomes", [(400, "A.z-9_", "a"), (599, "x" * 64, "b")])
def test_every_error_has_a_status_and_a_code_of_letters_digits_and_signs(becomes):
    assert parse_exceptions({Stock: becomes}) == {Stock: becomes}


def test_without_a_word_nothing_is_mapped():
    assert parse_exceptions(None) == {}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([Stock], "expected classes with (status, code, message), not list"),
        ({"Stock": (409, "a", "b")}, "str is no class of exceptions"),
        ({Stock("x"): (409, "a", "b")}, "Stock is no class of exceptions"),
        ({int: (409, "a", "b")}, "int is no class of exceptions"),
        ({KeyboardInterrupt: (409, "a", "b")}, "KeyboardInterrupt is no class of exceptions"),
        (
            {Exception: (409, "a", "b")},
            "Exception itself would hide every mistake of the program; name narrower classes",
        ),
        (
            {NotFound: (409, "a", "b")},
            "NotFound has a status of its own; to change it, raise HttpError in an on_error hook",
        ),
        ({Stock: 409}, "Stock: expected (status, code, message)"),
        ({Stock: (409, "a")}, "Stock: expected (status, code, message)"),
        ({Stock: (200, "a", "b")}, "Stock: the status must be in 400..599"),
        ({Stock: (399, "a", "b")}, "Stock: the status must be in 400..599"),
        ({Stock: (600, "a", "b")}, "Stock: the status must be in 400..599"),
        ({Stock: ("409", "a", "b")}, "Stock: the status must be in 400..599"),
        ({Stock: (409, "sold out", "b")}, "Stock: the code must be up to 64 letters, digits and any of _.-"),
        ({Stock: (409, None, "b")}, "Stock: the code must be up to 64 letters, digits and any of _.-"),
        ({Stock: (409, "a", 5)}, "Stock: the message must be text"),
        ({Stock: (409, "a", "")}, "Stock: the message must be text"),
        ({Stock: (0, "a", "b"), int: 5}, "Stock: the status must be in 400..599; int is no class of exceptions"),
    ],
)
def test_a_wrong_entry_is_refused_and_named(given, problem):
    with pytest.raises(DefinitionError) as raised:
        parse_exceptions(given)
    assert raised.value.message == f"exceptions: {problem}"
