"""The errors."""

from __future__ import annotations

import inspect

import pytest

from gatewayfw import errors
from gatewayfw.errors import (
    DefinitionError,
    DuplicateKey,
    GatewayError,
    HttpError,
    StillReferenced,
    ValidationError,
    missing_extra,
    missing_related,
)


def test_http_error_carries_message_status_and_code():
    error = HttpError("gone fishing", 418)
    assert error.message == "gone fishing"
    assert error.status == 418
    assert error.code == "bad_request"
    assert str(error) == "gone fishing"
    assert HttpError("x").status == 500
    assert HttpError("x", 404).code == "not_found"
    assert HttpError("x", 409, code="taken").code == "taken"


@pytest.mark.parametrize("status", [200, 399, 600, "404", True, None, 404.0])
def test_http_error_takes_error_statuses_only(status):
    with pytest.raises(ValueError, match=r"^status must be an integer in 400\.\.599, not "):
        HttpError("x", status)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((400, "bad_request"), (401, "unauthenticated"), (403, "forbidden"), (404, "not_found")),
        *((405, "method_not_allowed"), (409, "conflict"), (412, "precondition_failed"), (413, "too_large")),
        *((415, "unsupported_media_type"), (429, "too_many_requests"), (502, "bad_gateway"), (503, "unavailable")),
        *((504, "gateway_timeout"), (499, "bad_request"), (500, "error"), (599, "error")),
    ],
)
def test_the_code_of_an_http_error_goes_by_its_status(status, code):
    assert (HttpError("x", status).code, HttpError("x", status, code="own").code) == (code, "own")


BUSY = "service unavailable"


@pytest.mark.parametrize(
    ("error", "message", "headers"),
    [
        (errors.GatewayError(), "internal error", {}),
        (errors.MethodNotAllowed(), "method not allowed: use POST", {"Allow": "POST, OPTIONS"}),
        (errors.InProgress(), "a request with this Idempotency-Key is under way, try again", {"Retry-After": "1"}),
        (errors.NotDone(), "not done", {}),
        (errors.KeyReused(), "this Idempotency-Key was sent with another body", {}),
        (errors.RateLimited(0), "too many requests, try again later", {"Retry-After": "1"}),
        (errors.RateLimited(6.1), "too many requests, try again later", {"Retry-After": "7"}),
        (errors.Unavailable(), f"{BUSY}, try again", {"Retry-After": "1"}),
        (errors.Timeout(), "the request timed out, try again", {"Retry-After": "1"}),
        (errors.PartlyDone(), f"{BUSY}; a part of this request was done", {}),
        (errors.OutcomeUnknown(), f"{BUSY}; the outcome of the write is unknown", {}),
        (errors.ReplyTooLarge(9), "the reply would have more than 9 bytes; ask for fewer fields or documents", {}),
        (
            errors.ReplyTooLarge(9, written=True),
            "the reply would have more than 9 bytes; whatever this request wrote stays; "
            "ask for fewer fields or documents",
            {},
        ),
        (ValidationError({}), "validation error", {}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, GatewayError) else "",
)
def test_an_error_has_a_text_of_its_own_and_headers(error, message, headers):
    found = (str(error), error.message, error.headers, error.errors, error.done)
    assert found == (message, message, headers, {}, 0)


def test_an_error_says_what_a_program_needs_to_go_on():
    stale = errors.Stale(3)
    assert stale.message == "the document has changed: its revision is 3"
    assert stale.revision == 3
    assert stale.errors == {"_rev": ["is 3"]}
    limited = errors.RateLimited(1)
    assert errors.ReplyTooLarge(9).most == 9
    assert limited.status == 429
    assert limited.code == "rate_limited"


def test_validation_errors_are_listed_by_path():
    error = ValidationError({"set.email": ["Missing data for required field."], "set.age": ["One.", "Two."]})
    expected = "validation error: set.email: Missing data for required field.; set.age: One. Two."
    assert error.message == expected
    assert error.status == 400
    assert error.code == "validation_error"


@pytest.mark.parametrize(("count", "end"), [(100, ": No."), (101, ": No.; and more"), (9000, ": No.; and more")])
def test_validation_errors_are_told_up_to_a_hundred(count, end):
    error = ValidationError({f"set.{number}": ["No."] for number in range(count)})
    listed = "; ".join(f"set.{number}: No." for number in range(100))
    assert (error.message, list(error.errors)) == (
        f"validation error: {listed}{end.removeprefix(': No.')}",
        [f"set.{number}" for number in range(100)],
    )


def test_still_referenced_counts_by_model():
    error = StillReferenced("city", {"user": 2, "club": 1})
    assert (error.message, error.status) == ("city is still referenced (user: 2, club: 1)", 409)
    assert error.counts == {"user": 2, "club": 1}


def test_every_error_has_a_status_and_a_code_of_its_own():
    classes = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, GatewayError)]
    codes = [one.code for one in classes if one not in (GatewayError, HttpError)]
    assert all(400 <= one.status <= 599 for one in classes)
    assert len(set(codes)) == len(codes)


def test_a_missing_library_is_named_with_its_extra():
    error = missing_extra("a rate limit", "limits", "limits")
    text = "a rate limit needs the library limits: pip install limits, or the extra gatewayfw[limits]"
    assert (type(error), error.message) == (DefinitionError, text)


def test_missing_related_ids_are_named_up_to_ten():
    assert [missing_related("city", range(count)).message for count in (1, 10, 12)] == [
        "city not found: 0",
        "city not found: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9",
        "city not found: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more",
    ]


@pytest.mark.parametrize("path", ["email", "address.email"])
@pytest.mark.parametrize("more", [(), ("_gw.v", "_gw.at.shop")])
def test_a_duplicate_key_names_its_fields(path, more):
    error = DuplicateKey(iter([path, *more]))
    assert (error.fields, error.errors) == ((path,), {path: ["is taken"]})


@pytest.mark.parametrize("fields", ["email", ["email"], ("email", "_gw.v")])
def test_a_duplicate_key_has_the_message_of_the_contract(fields):
    error = DuplicateKey(fields)
    assert error.message == "Duplicate key error"
    assert error.fields == ("email",)
    assert error.errors == {"email": ["is taken"]}
