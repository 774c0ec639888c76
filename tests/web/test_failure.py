"""Errors as replies, and what is logged of them: gatewayfw.web.failure."""

import json
import logging

import marshmallow
import pytest
from pymongo.errors import DuplicateKeyError
from werkzeug import exceptions
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.routing import RequestRedirect
from werkzeug.wrappers import Response

from gatewayfw import errors, messages
from gatewayfw.web.failure import client_error, error_headers, failure, is_unexpected, log_error
from gatewayfw.web.reply import NotJsonError

FAILURES = {
    "bad request": (errors.BadRequest("no"), 400, "bad_request", "no", {}),
    "validation": (
        errors.ValidationError({"set.a": ["x", "y"], "get.b": ["z"]}),
        400,
        "validation_error",
        "validation error: set.a: x y; get.b: z",
        {},
    ),
    "401": (errors.Unauthenticated("who"), 401, "unauthenticated", "who", {"WWW-Authenticate": "Token"}),
    "HttpError 401": (errors.HttpError("who", 401), 401, "unauthenticated", "who", {"WWW-Authenticate": "Token"}),
    "403": (errors.Forbidden("You cant do this"), 403, "forbidden", "You cant do this", {}),
    "404": (errors.NotFound("user not found"), 404, "not_found", "user not found", {}),
    "405": (
        errors.MethodNotAllowed(),
        405,
        "method_not_allowed",
        "method not allowed: use POST",
        {"Allow": "POST, OPTIONS"},
    ),
    "409": (errors.DuplicateKey(), 409, "duplicate_key", "Duplicate key error", {}),
    "413": (errors.TooLarge("big"), 413, "too_large", "big", {}),
    "415": (errors.UnsupportedMediaType("type"), 415, "unsupported_media_type", "type", {}),
    "429": (errors.HttpError("slow", 429), 429, "too_many_requests", "slow", {}),
    "unavailable": (errors.Unavailable(), 503, "unavailable", "service unavailable, try again", {"Retry-After": "1"}),
    "timeout": (
        errors.Timeout(),
        503,
        "timeout",
        "the request timed out, try again",
        {"Retry-After": "1"},
    ),
    "partly done": (
        errors.PartlyDone(),
        503,
        "partly_done",
        "service unavailable; a part of this request was done",
        {},
    ),
    "outcome unknown": (
        errors.OutcomeUnknown(),
        503,
        "outcome_unknown",
        "service unavailable; the outcome of the write is unknown",
        {},
    ),
    "502": (errors.RemoteError("bad"), 502, "remote_error", "bad", {}),
    "504": (errors.RemoteTimeout("slow"), 504, "remote_timeout", "slow", {}),
    "HttpError": (errors.HttpError("tea", 418), 418, "bad_request", "tea", {}),
    "own code": (errors.HttpError("tea", 418, code="teapot"), 418, "teapot", "tea", {}),
    "Exception": (Exception("says its author"), 500, "error", "says its author", {}),
    "abort": (exceptions.Forbidden("not yours"), 403, "forbidden", "not yours", {}),
    "abort without a text": (exceptions.Forbidden(), 403, "forbidden", "Forbidden", {}),
    "missing key": (exceptions.BadRequestKeyError("secret"), 400, "bad_request", "Bad Request", {}),
    "abort 418": (exceptions.ImATeapot(), 418, "bad_request", "I'm a teapot", {}),
    "abort 429": (
        exceptions.TooManyRequests(retry_after=7),
        429,
        "too_many_requests",
        "Too Many Requests",
        {"Retry-After": "7"},
    ),
    "abort 405": (
        exceptions.MethodNotAllowed(["GET"]),
        405,
        "method_not_allowed",
        "Method Not Allowed",
        {"Allow": "GET"},
    ),
    "abort 401": (
        exceptions.Unauthorized(www_authenticate=WWWAuthenticate("basic", {"realm": "shop"})),
        401,
        "unauthenticated",
        "Unauthorized",
        {"WWW-Authenticate": "Basic realm=shop"},
    ),
    "abort with a status without a name": (
        exceptions.HTTPException(response=Response(status=499)),
        *(499, "bad_request", "error", {}),
    ),
    "abort with the highest status": (
        exceptions.HTTPException(response=Response(status=599)),
        *(599, "error", "error", {}),
    ),
    "abort with no status of errors": (
        exceptions.HTTPException(response=Response(status=600)),
        *(500, "internal_error", "internal error", {}),
    ),
    "abort with a status that is no number": (
        exceptions.HTTPException(response=object()),
        *(500, "internal_error", "internal error", {}),
    ),
    "marshmallow": (
        marshmallow.ValidationError({"a": {0: ["bad"]}, "b": ["worse", "worst"]}),
        400,
        "validation_error",
        "validation error: a.0: bad; b: worse worst",
        {},
    ),
    "marshmallow text": (
        marshmallow.ValidationError("bad"),
        400,
        "validation_error",
        "validation error: _schema: bad",
        {},
    ),
    "marshmallow nested": (
        marshmallow.ValidationError({"a": {"_schema": ["bad"]}}),
        400,
        "validation_error",
        "validation error: a: bad",
        {},
    ),
    "redirect": (exceptions.HTTPException(response=Response(status=302)), 500, "internal_error", "internal error", {}),
    "routing": (RequestRedirect("/x"), 500, "internal_error", "internal error", {}),
    "unknown": (KeyError("secret"), 500, "internal_error", "internal error", {}),
    "subclass of Exception": (type("Mine", (Exception,), {})("secret"), 500, "internal_error", "internal error", {}),
    "storage": (errors.StorageError("secret"), 500, "storage_error", "internal error", {}),
    "definition": (errors.DefinitionError("secret"), 500, "definition_error", "internal error", {}),
    "not json": (NotJsonError("secret"), 500, "internal_error", "internal error", {}),
}


@pytest.mark.parametrize(("error", "status", "code", "message", "headers"), FAILURES.values(), ids=FAILURES)
def test_error_becomes_status_headers_and_envelope(error, status, code, message, headers):
    found = failure(client_error(error, expose=False), False, "r1")
    body = json.dumps({"body": {"message": message}, "success": False}, separators=(",", ":")).encode()
    assert found == (status, {"X-Error-Code": code, **headers}, body)


def test_detail_adds_code_errors_details_and_request_id():
    refused = errors.ValidationError({"set.a": ["x", messages.TOO_LONG.format(max=3)]})
    assert json.loads(failure(refused, True, "r1")[2]) == {
        "body": {
            "message": "validation error: set.a: x Longer than maximum length 3.",
            "code": "validation_error",
            "errors": {"set.a": ["x", "Longer than maximum length 3."]},
            "details": {"set.a": [{"code": "invalid"}, {"code": "too_long", "maximum": 3}]},
            "requestId": "r1",
        },
        "success": False,
    }


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("here"), "KeyError: 'here'"),
        (errors.StorageError("here"), "StorageError: here"),
        (Exception("here"), "here"),
        (exceptions.NotFound("here"), "here"),
    ],
)
def test_exposed_errors_show_class_and_text(error, message):
    assert client_error(error, expose=True).message == message


def test_error_written_carelessly_still_gives_a_reply():
    class Careless(errors.GatewayError):
        status = 200
        code = "a\r\nb"
        headers = {"Retry-After": "1\r\nSet-Cookie: x", "X-Ok": "yes"}

        def __init__(self):
            self.path = "\ud800"

    body = b'{"body":{"message":"internal error"},"success":false}'
    assert failure(Careless(), False, "r") == (500, {"X-Ok": "yes", "X-Error-Code": "error"}, body)


class Raising(errors.GatewayError):
    def __init__(self):
        pass

    @property
    def message(self):
        raise KeyError("secret")


IMPROPER = {
    "headers": type("Improper", (errors.HttpError,), {"headers": None})("secret", 403),
    "code": type("Improper", (errors.GatewayError,), {"code": None})("secret"),
    "code of a definition error": type("Improper", (errors.DefinitionError,), {"code": None})("secret"),
    "message": Raising(),
}


@pytest.mark.parametrize("error", IMPROPER.values(), ids=IMPROPER)
def test_error_that_cannot_be_read_is_an_internal_error(error):
    body = b'{"body":{"message":"internal error"},"success":false}'
    found = failure(client_error(error, expose=False), False, "r")
    assert found == (500, {"X-Error-Code": "internal_error"}, body)


def test_error_that_cannot_be_read_is_logged_and_has_its_details(caplog):
    _, _, body = failure(IMPROPER["headers"], True, "r1")
    assert json.loads(body)["body"] == {
        "message": "internal error",
        "code": "internal_error",
        "errors": {},
        "details": {},
        "requestId": "r1",
    }
    [(name, level, text)] = caplog.record_tuples
    first, *_, last = text.splitlines()
    assert name == "gatewayfw"
    assert level == logging.ERROR
    assert first == "Improper is no proper error: r1"
    assert last.startswith("AttributeError: ")


@pytest.mark.parametrize(
    ("status", "sent"), [(399, 500), (400, 400), (599, 599), (600, 500), (True, 500), ("404", 500), (None, 500)]
)
def test_an_error_has_a_status_of_errors(status, sent):
    own = type("Own", (errors.GatewayError,), {"status": status, "code": "own"})("no")
    assert failure(own, False, "r")[:2] == (sent, {"X-Error-Code": "own"})


def test_a_header_has_a_plain_name_and_a_printable_value():
    bad = {"x y": "1", "X-\u00e9": "1", "": "1", "X-Tab": "a\tb", "X-E": "\u00e9", "X-Del": "\x7f"}
    named = {"X-Own-1": "a ~", **bad, "a": 5}
    own = type("Own", (errors.HttpError,), {"headers": named})("no", 404)
    assert failure(own, False, "r")[1] == {"X-Own-1": "a ~", "a": "5", "X-Error-Code": "not_found"}


def test_text_that_fails_or_is_no_utf8_still_gives_a_reply():
    class Mute:
        def __str__(self):
            raise RuntimeError

    shown = [client_error(Exception(value), expose=False) for value in (Mute(), "\ud800")]
    assert [json.loads(failure(error, False, "r")[2])["body"]["message"] for error in shown] == [
        "internal error",
        "\\ud800",
    ]


def test_error_headers_follow_the_status():
    assert [error_headers(status) for status in (200, 401, 502)] == [
        {},
        {"X-Error-Code": "unauthenticated", "WWW-Authenticate": "Token"},
        {"X-Error-Code": "bad_gateway"},
    ]


def test_keys_of_an_acts_own_validation_are_escaped_and_cut():
    refused = client_error(marshmallow.ValidationError({"a\x7f" * 99: ["bad"], 5: "worse"}), expose=False)
    assert refused.errors == {(r"a\x7f" * 99)[:64]: ["bad"], "5": ["worse"]}


def logged(caplog, error, status=500, **asked):
    with caplog.at_level(logging.DEBUG, "gatewayfw"):
        log_error(error, status, "r1", asked)
    expected = "gatewayfw.errors" if is_unexpected(error) else "gatewayfw"
    assert all(record.name == expected for record in caplog.records)
    return [(record.levelname, record.getMessage(), record.exc_info is not None) for record in caplog.records]


def test_unexpected_error_is_logged_with_its_traceback(caplog):
    assert logged(caplog, KeyError("x"), service="main", model="user", act="a") == [
        (
            "ERROR",
            "unexpected error: request_id=r1 service=main model=user act=a\n"
            "Traceback (most recent call last):\nKeyError: 'x'",
            False,
        )
    ]


def test_expected_error_of_the_server_is_one_warning_without_its_message(caplog):
    assert logged(caplog, errors.HttpError("token abc", 503), 503, act="a") == [
        ("WARNING", "HttpError: status=503 request_id=r1 act=a", False)
    ]


def test_refusals_are_not_logged(caplog):
    assert logged(caplog, errors.NotFound("x"), 404) == []


def test_storage_error_is_logged_without_the_text_of_the_driver(caplog):
    class DriverError(Exception):
        code = 121

    error = errors.StorageError("password")
    error.__cause__ = DriverError("password")
    [(_, text, _)] = logged(caplog, error)
    assert [line for line in text.splitlines() if " code=" in line] == [
        f"{__name__}.{DriverError.__qualname__} code=121",
        "gatewayfw.errors.StorageError code=storage_error",
    ]
    assert "password" not in caplog.text


def test_drivers_text_is_not_logged_wherever_it_is_in_the_chain(caplog):
    refused = DuplicateKeyError('E11000 dup key: { name: "secret" }', 11000, {"keyValue": {"name": "secret"}})

    def insert():
        try:
            raise refused
        except DuplicateKeyError as error:
            raise errors.DuplicateKey from error

    def act():
        try:
            insert()
        except errors.GatewayError:
            raise KeyError("shown")  # noqa: B904  (what careless acts do)

    with pytest.raises(KeyError) as caught:
        act()
    [(_, text, _)] = logged(caplog, caught.value)
    last = [line for line in text.splitlines() if not line.startswith((" ", "Traceback", "unexpected"))]
    assert last == [
        "pymongo.errors.DuplicateKeyError code=11000",
        "which led to:",
        "gatewayfw.errors.DuplicateKey: Duplicate key error",
        "which led to:",
        "KeyError: 'shown'",
    ]
    assert "secret" not in caplog.text


def test_a_chain_that_is_a_circle_is_logged_once(caplog):
    one, two = KeyError(1), KeyError(2)
    one.__context__, two.__context__ = two, one
    [(_, text, _)] = logged(caplog, one)
    assert [line for line in text.splitlines() if line.startswith("KeyError")] == ["KeyError: 2", "KeyError: 1"]


def test_names_in_the_log_are_escaped_and_cut(caplog):
    found = logged(caplog, errors.Unavailable(), 503, model="a\r\n\x1b[2J\u2028b", act="x" * 999)
    assert found == [
        ("WARNING", "Unavailable: status=503 request_id=r1 model=a\\r\\n\\x1b[2J\\u2028b act=" + "x" * 64, False)
    ]


def test_the_reason_is_for_the_log_alone(caplog):
    error = errors.Unavailable(reason="12 conflicts with other writers")
    told = "Unavailable: status=503 request_id=r1 act=addBook (12 conflicts with other writers)"
    assert logged(caplog, error, 503, act="addBook") == [("WARNING", told, False)]
    assert b"writers" not in failure(error, True, "r1")[2]
    of_an_author = errors.Unavailable(reason="no stock of\r\n" + "x" * 99)
    text = logged(caplog, of_an_author, 503)[-1][1]
    assert text.endswith(" (no stock of\\r\\n" + "x" * 49 + ")")


def test_only_faults_of_the_program_are_unexpected():
    expected = [errors.Unavailable(), Exception("x"), exceptions.Forbidden(), marshmallow.ValidationError("x")]
    faults = [KeyError(), errors.StorageError(), errors.DefinitionError(), exceptions.HTTPException()]
    assert [is_unexpected(error) for error in expected + faults] == [False] * 4 + [True] * 4
