"""The envelope: what results and errors look like on the wire, and what the log says."""

import asyncio
import time
from collections import OrderedDict
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from uuid import UUID

import pytest
from bson import Binary, DatetimeMS, Decimal128, ObjectId
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.test import EnvironBuilder, run_wsgi_app

from gatewayfw import errors
from gatewayfw.web import reply as envelope
from gatewayfw.web.reply import Answer, NotJsonError, Success, dumps, success
from tests.examples import examples

OID = ObjectId("64b0f0a1c2d3e4f5a6b7c8d9")
TEHRAN = timezone(timedelta(hours=3, minutes=30))
NOON = datetime(2024, 5, 6, 12, 0, 0, 123456)


class Cursor:
    """Something that can only be iterated."""

    def __init__(self, *items):
        self._items = items

    def __iter__(self):
        return iter(self._items)


@dataclass
class Account:
    name: str
    password: str


class Color(Enum):
    RED = "red"


class Moment(datetime):
    """A datetime of some library's own."""


class Failing:
    def __init__(self, error):
        self._error = error

    def __iter__(self):
        yield {}
        raise self._error


RESULTS = {
    "none": (None, b"null"),
    "scalars": ([1, 1.5, True, "é", 2**63 - 1], '[1,1.5,true,"é",9223372036854775807]'.encode()),
    "id": ({"_id": OID}, b'{"_id":"64b0f0a1c2d3e4f5a6b7c8d9"}'),
    "naive": (NOON, b'"2024-05-06T12:00:00.123Z"'),
    "aware": (NOON.replace(tzinfo=TEHRAN), b'"2024-05-06T08:30:00.123Z"'),
    "no fraction": (datetime(2024, 5, 6), b'"2024-05-06T00:00:00.000Z"'),
    "the first moment": (datetime.min, b'"0001-01-01T00:00:00.000Z"'),
    "less than a millisecond": (datetime(2024, 5, 6, microsecond=999), b'"2024-05-06T00:00:00.000Z"'),
    "the last moment": (datetime.max, b'"9999-12-31T23:59:59.999Z"'),
    "a kind of datetime": (Moment(2024, 5, 6, microsecond=7000), b'"2024-05-06T00:00:00.007Z"'),
    "date": (date(2024, 5, 6), b'"2024-05-06"'),
    "mapping": (MappingProxyType({"a": OID}), b'{"a":"64b0f0a1c2d3e4f5a6b7c8d9"}'),
    "ordered": (OrderedDict(b=1, a=2), b'{"b":1,"a":2}'),
    "cursor": ({"all": Cursor({"_id": OID}, {"n": NOON})}, None),
    "generator": ((n for n in (1, 2)), b"[1,2]"),
    "beside a cursor": (
        {"_id": OID, "at": NOON, "moment": Moment(2024, 5, 6), "rows": Cursor(1)},
        b'{"_id":"64b0f0a1c2d3e4f5a6b7c8d9","at":"2024-05-06T12:00:00.123Z","moment":"2024-05-06T00:00:00.000Z",'
        b'"rows":[1]}',
    ),
    "nested cursors": (Cursor(Cursor(1), Cursor()), b"[[1],[]]"),
    "uuid": (UUID("64b0f0a1c2d3e4f5a6b7c8d9aaaaaaaa"), b'"64b0f0a1-c2d3-e4f5-a6b7-c8d9aaaaaaaa"'),
    "stored uuid": (
        Binary.from_uuid(UUID("64b0f0a1c2d3e4f5a6b7c8d9aaaaaaaa")),
        b'"64b0f0a1-c2d3-e4f5-a6b7-c8d9aaaaaaaa"',
    ),
    "bytes": ({"b": b"\xff\x00"}, b'{"b":"/wA="}'),
    "bytes of another kind": (Binary(b"\xff\x00", 5), b'"/wA="'),
    "decimal": (Decimal("12.50"), b'"12.50"'),
    "large decimals": ([Decimal("1E+3"), Decimal128("1E+3")], b'["1000","1000"]'),
    "enum": ([Color.RED], b'["red"]'),
    "unsigned": (2**64 - 1, b"18446744073709551615"),
    "nan": ([float("nan"), float("inf")], b"[null,null]"),
}


@pytest.mark.parametrize(("value", "text"), RESULTS.values(), ids=RESULTS)
def test_result_becomes_json(value, text):
    whole = b'{"all":[{"_id":"64b0f0a1c2d3e4f5a6b7c8d9"},{"n":"2024-05-06T12:00:00.123Z"}]}'
    assert dumps(value) == (text or whole)


def test_times_are_in_utc_wherever_the_server_stands(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tehran")
    time.tzset()
    try:
        assert dumps([NOON.replace(tzinfo=TEHRAN), NOON]) == b'["2024-05-06T08:30:00.123Z","2024-05-06T12:00:00.123Z"]'
    finally:
        monkeypatch.undo()
        time.tzset()


NO_JSON = {
    "set": ({"a": {1}}, "the result of the act holds a value of the type set, which is not JSON"),
    "bytearray": (
        [bytearray(b"secret")],
        "the result of the act holds a value of the type bytearray, which is not JSON",
    ),
    "frozenset": ([frozenset()], "the result of the act holds a value of the type frozenset, which is not JSON"),
    "memoryview": (
        [memoryview(b"secret")],
        "the result of the act holds a value of the type memoryview, which is not JSON",
    ),
    "object": (Cursor(object()), "the result of the act holds a value of the type object, which is not JSON"),
    "big integer": (2**64, "the result of the act is not JSON: Integer exceeds 64-bit range"),
    "integer key": ({1: 2}, "the result of the act is not JSON: Dict key must be str"),
    "id key": (Cursor({OID: 2}), "the result of the act is not JSON: Dict key must be str"),
    "dataclass": (
        [Account("Ana", "secret")],
        "the result of the act holds a value of the type Account, which is not JSON",
    ),
    "surrogate": ("\ud800", "the result of the act is not JSON: str is not valid UTF-8: surrogates not allowed"),
}


@pytest.mark.parametrize(("value", "message"), NO_JSON.values(), ids=NO_JSON)
def test_result_without_json_is_refused_and_not_shown(value, message):
    with pytest.raises(NotJsonError) as caught:
        dumps(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": [1, {"b": 10**20}]}, ", at a.1.b"),
        ([{"a": OID}] * 100 + [{"a": NOON, "b": {1, 2}}], ", at 100.b"),
        ({"rows": Cursor({"a": 1}), "n": 2**64}, ", at n"),
        ({"a": {1: 2}}, ", at a"),
        (Cursor(2**64), ""),
        (2**64, ""),
    ],
    ids=["in a list", "in a long list", "beside a cursor", "a key", "in a cursor", "the result"],
)
def test_a_result_without_json_is_refused_by_its_path(value, place):
    with pytest.raises(NotJsonError) as caught:
        success(value)
    assert str(caught.value).partition(", at ")[1:] == place.partition(", at ")[1:]


@examples(100)
@given(
    st.lists(st.sampled_from(["a", "b", "é"]) | st.integers(0, 5), min_size=1, max_size=6),
    st.sampled_from([2**64, {1}]),
)
def test_what_has_no_json_is_named_by_its_path_wherever_it_is(path, value):
    for step in reversed(path):
        value = {"n": 0, step: value} if isinstance(step, str) else [{"n": 0}] * step + [value, 0]
    with pytest.raises(NotJsonError) as caught:
        success(value)
    assert str(caught.value).endswith(f", at {'.'.join(map(str, path))}")


async def later():
    raise AssertionError("never awaited")


async def rows():
    yield 1


class Awaited:
    """What can be awaited without being a coroutine."""

    def __await__(self):
        yield


@pytest.mark.parametrize("give", [later, rows, Awaited, Future], ids=lambda give: give.__name__)
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: {"a": [value]}], ids=["whole", "inside"])
def test_a_result_that_nobody_awaits_is_named(give, wrap):
    value = give()
    with pytest.raises(errors.DefinitionError) as caught:
        dumps(wrap(value))
    kind = type(value).__name__
    assert caught.value.message == (
        f"the result of the act holds a {kind}, which nobody awaits: acts are plain functions"
    )


def test_a_future_of_asyncio_is_not_iterated():
    loop = asyncio.new_event_loop()
    with pytest.raises(errors.DefinitionError, match="holds a Future, which nobody awaits"):
        dumps(loop.create_future())
    loop.close()


def test_endless_nesting_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(NotJsonError, match="Recursion limit reached"):
        dumps(loop)


@pytest.mark.parametrize("error", [errors.Timeout(), KeyError("x"), SystemExit(1), GeneratorExit()])
def test_error_while_a_cursor_is_drained_comes_through(error):
    with pytest.raises(type(error)) as caught:
        success({"deep": Cursor(Failing(error))})
    assert caught.value is error


def test_success_is_the_envelope_of_the_contract():
    assert success({"_id": OID}) == b'{"body":{"_id":"64b0f0a1c2d3e4f5a6b7c8d9"},"success":true}'


def test_values_that_only_other_tools_store_are_readable():
    far = 2**53
    assert dumps({"price": Decimal128("1.10"), "at": DatetimeMS(far)}) == b'{"price":"1.10","at":%d}' % far


def test_an_id_is_the_same_text_however_bson_keeps_its_bytes(monkeypatch):
    found = []
    for has_bytes in (True, False):
        monkeypatch.setattr("gatewayfw.web.reply.HAS_BYTES", has_bytes)
        found.append(dumps([OID]))
    assert found == [b'["64b0f0a1c2d3e4f5a6b7c8d9"]'] * 2


def test_the_bytes_of_an_id_stand_where_they_are_looked_for_first():
    assert envelope.HAS_BYTES is True


HEADERS = [
    ("Content-Type", "application/json"),
    ("Content-Length", "2"),
    ("Cache-Control", "no-store"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Request-Id", "r1"),
]


def send(answer, method="POST"):
    body, status, headers = run_wsgi_app(answer, EnvironBuilder(method=method).get_environ(), buffered=True)
    return b"".join(body), status, list(headers)


@pytest.fixture
def answer():
    return Answer(Success(b"{}", "r1"))


def test_it_is_sent_as_it_was_made(answer):
    assert send(answer) == (b"{}", "200 OK", HEADERS)


@pytest.mark.parametrize(
    ("method", "change", "is_plain"),
    [
        ("POST", lambda answer: None, True),
        ("GET", lambda answer: None, False),
        ("POST", lambda answer: answer.call_on_close(list), False),
        ("POST", lambda answer: setattr(answer, "own", 1), False),
        ("POST", lambda answer: setattr(answer, "status_code", 201), False),
        ("POST", lambda answer: answer.headers.add("X-More", "1"), False),
        ("POST", lambda answer: setattr(answer, "response", [b"{}"]), False),
    ],
)
def test_nothing_is_wrapped_around_an_unchanged_body(answer, method, change, is_plain):
    """A server sends a list of one piece at once, with nothing to call at its end."""
    change(answer)
    body, _, _ = answer.get_wsgi_response({"REQUEST_METHOD": method})
    assert (type(body) is list) is is_plain


def test_a_head_request_gets_no_body(answer):
    assert send(answer, "HEAD")[0] == b""


def test_what_a_hook_changes_is_sent(answer):
    answer.set_data(b"[1]")
    answer.status_code = 202
    answer.headers["X-More"] = "1"
    body, status, headers = send(answer)
    assert body == b"[1]"
    assert status == "202 ACCEPTED"
    assert ("X-More", "1") in headers


def test_a_callback_of_a_hook_is_called(answer):
    called = []
    answer.call_on_close(lambda: called.append(True))
    send(answer)
    assert called == [True]
