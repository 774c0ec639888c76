"""The reader of requests: what is refused, with which words, and what gets through unchanged."""

import io
import json

import pytest
from flask import Flask, Request, request
from werkzeug.wsgi import get_content_length

from gatewayfw.errors import BadRequest, TooLarge, UnsupportedMediaType
from gatewayfw.settings import Settings
from gatewayfw.web.reader import check_request, find_length, read_body
from tests.web.mount import BODY
from tests.web.refusals import refused

SETTINGS = Settings()
WHOLE = {"service": "main", **BODY}
DATA = json.dumps(BODY).encode()


def read(data=DATA, content_type="application/json", settings=SETTINGS, app=None, before=None, after=None, **given):
    app = app or Flask("host")
    with app.test_request_context("/", method="POST", data=data, content_type=content_type, **given) as context:
        if before:
            before()
        found = read_body(context.request, settings)
        if after:
            after()
        return found


def read_by_host(data=DATA, app=None, **given):
    """Read a body in an app with a class of its own for requests, which may read it otherwise."""
    app = app or Flask("host")
    app.request_class = type("Own", (Request,), {})
    return read(data, app=app, **given)


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'],
)
def test_json_in_utf8_is_read(content_type):
    assert read(content_type=content_type) == WHOLE


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/plain; a=application/json",
        "application/json; charset=utf-16",
        "application/json; profile=x",
        "application/json, text/plain",
        "application/jsonp",
        "application/vnd.api+json",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
    ],
)
def test_other_media_types_are_refused(content_type):
    found = refused(read, DATA, content_type)
    assert found == (UnsupportedMediaType, "unsupported media type: send application/json in UTF-8")


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "deflate", "br", "identity, gzip", "gzip, identity", "x"])
def test_encoded_body_is_refused(encoding):
    found = refused(lambda: read(headers={"Content-Encoding": encoding}))
    assert found == (UnsupportedMediaType, "unsupported content encoding: send the body as it is")


def test_identity_encoding_is_no_encoding():
    assert read(headers={"Content-Encoding": "Identity"}) == WHOLE


def test_service_is_main_unless_given():
    assert [check_request({**BODY, **extra})["service"] for extra in ({}, {"service": None}, {"service": "x"})] == [
        "main",
        "main",
        "x",
    ]


def test_other_keys_are_ignored():
    assert check_request({**BODY, "wants": 1}) == WHOLE


def test_a_batch_is_left_as_it_came():
    """Whatever else is there: `gatewayfw.web.batch` judges it."""
    for value in ({"batch": [BODY]}, {**BODY, "batch": None}):
        assert read(json.dumps(value).encode()) == value


def without(key):
    return {name: value for name, value in BODY.items() if name != key}


WRONG = {
    "list": ([BODY], "the request body must be an object"),
    "null": (None, "the request body must be an object"),
    "text": ("x", "the request body must be an object"),
    "service number": ({**BODY, "service": 1}, "service must be a string that is not empty"),
    "service empty": ({**BODY, "service": ""}, "service must be a string that is not empty"),
    "service false": ({**BODY, "service": False}, "service must be a string that is not empty"),
    "no model": (without("model"), "model must be a string that is not empty"),
    "model empty": ({**BODY, "model": ""}, "model must be a string that is not empty"),
    "no act": (without("act"), "act must be a string that is not empty"),
    "act list": ({**BODY, "act": ["x"]}, "act must be a string that is not empty"),
    "no details": (without("details"), "details must be an object with set and get"),
    "details list": ({**BODY, "details": []}, "details must be an object with set and get"),
    "no set": ({**BODY, "details": {"get": {}}}, "details.set must be an object"),
    "set null": ({**BODY, "details": {"set": None, "get": {}}}, "details.set must be an object"),
    "no get": ({**BODY, "details": {"set": {}}}, "details.get must be an object"),
    "get number": ({**BODY, "details": {"set": {}, "get": 1}}, "details.get must be an object"),
    "more": ({**BODY, "details": {"set": {}, "get": {}, "x": 1}}, "details must hold set and get only"),
}


@pytest.mark.parametrize(("value", "message"), WRONG.values(), ids=WRONG)
def test_body_of_another_shape_is_refused(value, message):
    assert refused(check_request, value) == (BadRequest, message)


def test_body_at_the_limit_is_read_and_one_byte_more_is_not():
    exact = Settings.load({}, max_body_bytes=len(DATA))
    assert read(settings=exact) == WHOLE
    assert refused(lambda: read(DATA + b" ", settings=exact)) == (TooLarge, "the request body is too large")


def chunked(data, **given):
    """Read a body without a length, as servers give a chunked one."""
    stream = io.BytesIO(data) if isinstance(data, bytes) else data
    environ = {"wsgi.input_terminated": True, "CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    return read(None, input_stream=stream, environ_overrides=environ, **given)


def test_chunked_body_at_the_limit_is_read():
    assert chunked(DATA, settings=Settings.load({}, max_body_bytes=len(DATA))) == WHOLE


@pytest.mark.parametrize("limit", [1, 100, 100_000])
def test_chunked_body_is_read_to_one_byte_after_the_limit(limit):
    small, endless, sizes = Settings.load({}, max_body_bytes=limit), io.BytesIO(b" " * 1_000_000), []

    class Watched(io.BytesIO):
        def read(self, size):
            sizes.append(size)
            return endless.read(size)

    assert refused(lambda: chunked(Watched(), settings=small)) == (TooLarge, "the request body is too large")
    assert (endless.tell(), sizes) == (limit + 1, [65_536, limit + 1 - 65_536] if limit > 65_536 else [limit + 1])


@pytest.mark.parametrize("reader", [read, read_by_host, chunked])
def test_a_lower_limit_of_the_host_wins_and_stays(reader):
    app = Flask("host")
    app.config["MAX_CONTENT_LENGTH"] = 20
    assert refused(lambda: reader(DATA, app=app)) == (TooLarge, "the request body is too large")
    assert app.config["MAX_CONTENT_LENGTH"] == 20


@pytest.mark.parametrize("reader", [read, read_by_host])
def test_body_at_the_limit_of_the_host_is_read(reader):
    app = Flask("host")
    app.config["MAX_CONTENT_LENGTH"] = len(DATA)
    assert reader(DATA, app=app) == WHOLE


@pytest.mark.parametrize("reader", [read, read_by_host, chunked])
def test_a_higher_limit_of_the_host_does_not_raise_ours(reader):
    app = Flask("host")
    app.config["MAX_CONTENT_LENGTH"] = 10**9
    small = Settings.load({}, max_body_bytes=20)
    assert refused(lambda: reader(DATA, app=app, settings=small)) == (TooLarge, "the request body is too large")


@pytest.mark.parametrize("before", [lambda: request.get_data(), lambda: request.get_json(), lambda: request.form])
@pytest.mark.parametrize("reader", [read, read_by_host, chunked])
def test_body_the_host_read_before_is_read_again(reader, before):
    assert reader(DATA, before=before) == WHOLE


@pytest.mark.parametrize("reader", [read, read_by_host])
def test_body_can_be_read_again_later(reader):
    later = []
    reader(after=lambda: later.append(request.get_data()))
    assert later == [DATA]


@pytest.mark.parametrize("reader", [read, read_by_host])
def test_body_that_comes_in_pieces_is_read_whole(reader):
    class Pieces(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, len(DATA) - 1))

        def readinto(self, buffer):
            return super().readinto(memoryview(buffer)[: len(DATA) - 1])

    pieces, length = Pieces(DATA + b"the next request"), {"CONTENT_LENGTH": str(len(DATA))}
    assert (reader(None, input_stream=pieces, environ_overrides=length), pieces.tell()) == (WHOLE, len(DATA))


def test_body_is_read_as_the_host_reads_it():
    app = Flask("host")
    app.request_class = type("Own", (Request,), {"get_data": lambda self: DATA})
    assert read(b"x" * len(DATA), app=app) == WHOLE


@pytest.mark.parametrize("reader", [read, read_by_host])
def test_body_the_host_began_to_read_is_a_bad_request(reader):
    found = refused(lambda: reader(before=lambda: request.stream.read(len(DATA) - 1)))
    assert found == (BadRequest, "the request body could not be read")


def test_body_the_host_consumed_is_empty():
    found = refused(lambda: read(before=lambda: request.stream.read()))
    assert found == (BadRequest, "the request body is empty")


@pytest.mark.parametrize(
    "error", [OSError("Invalid chunk header"), ConnectionResetError(), type("Own", (Exception,), {})()]
)
def test_stream_that_breaks_is_a_bad_request(error):
    class Broken(io.BytesIO):
        def read(self, *args):
            raise error

        readinto = readline = readall = read

    found = refused(lambda: chunked(Broken()))
    assert found == (BadRequest, "the request body could not be read")


@pytest.mark.parametrize("reader", [read, read_by_host])
def test_client_that_leaves_is_a_bad_request(reader):
    length = {"CONTENT_LENGTH": str(len(DATA))}
    found = refused(lambda: reader(None, input_stream=io.BytesIO(DATA[:5]), environ_overrides=length))
    assert found == (BadRequest, "the request body could not be read")


def test_body_shorter_than_its_length_is_a_bad_request():
    environ = {"CONTENT_LENGTH": str(len(DATA) + 1), "wsgi.input_terminated": True}
    found = refused(lambda: read(None, input_stream=io.BytesIO(DATA), environ_overrides=environ))
    assert found == (BadRequest, "the request body could not be read")


@pytest.mark.parametrize("given", ["0", "5", " 7 ", "-3", "+3", "1_0", "x", "", "9" * 20, "9" * 5000, None])
@pytest.mark.parametrize("coding", ["chunked", "Chunked", "gzip, chunked", "identity", None])
def test_the_length_of_a_body_is_found_as_by_werkzeug(given, coding):
    headers = {"CONTENT_LENGTH": given, "HTTP_TRANSFER_ENCODING": coding}
    environ = {name: value for name, value in headers.items() if value is not None}
    assert find_length(environ) == get_content_length(environ)
