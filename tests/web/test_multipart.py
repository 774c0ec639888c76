"""Requests with files: what is read when, what is refused, and that nothing of it stays."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import tempfile

import mongomock
import pytest
from flask import Flask

from gatewayfw import Forbidden, Timeout, file, gateway, integer, optional, string
from gatewayfw.web.multipart import MEMORY, boundary_of, clean_name
from tests.web.forms import JSON, PNG, body_part, form, headers, part

MOST = 2 * MEMORY
AVATAR = part("set.avatar", PNG, "me.png")
SET_AVATAR = {"model": "user", "act": "setAvatar", "details": {"set": {}, "get": {}}}


def upload_of(body):
    """What an act sees of its files."""
    given = body["details"]["set"]
    found = {f"set.{name}": given.get(name) for name in ("avatar", "cover")}
    return {
        path: [one.name, one.type, one.size, one.sha256, hashlib.sha256(one.stream.read()).hexdigest()]
        for path, one in found.items()
        if one is not None
    }


class Service:
    """A gateway with acts of files, what they were given, and its app."""

    def __init__(self, **settings):
        self.gw = gw = gateway(**settings)
        gw.odm.set_db(mongomock.MongoClient().test)
        self.seen, self.refuse, self.streams = [], None, []
        set_ = {
            "avatar": file(most=MOST, types=["image/png", "image/jpeg"]),
            "name": optional(string()),
            "cover": optional(file(most=10)),
        }
        for mode in ("assert", "create"):
            name = "setAvatar" if mode == "assert" else "makeAvatar"
            gw.acts.act("user", name, set=set_, mode=mode, pre_act=[self._hook])(self._act)
        gw.acts.act("user", "plain", set={"name": optional(string())})(lambda body: body["details"]["set"])
        gw.acts.act("user", "mayHave", set={"file": optional(file(most=10))})(
            lambda body: "file" in body["details"]["set"]
        )
        gw.acts.set_service("far", "http://127.0.0.1:1")
        self.client = gw.create_app().test_client()

    def _hook(self, body):
        self.seen.append(json.dumps(body["details"]["set"]))
        if self.refuse is not None:
            raise self.refuse

    def _act(self, body):
        given = body["details"]["set"]
        self.streams += [given["avatar"].stream]
        assert self.gw.context_fns.get_context_model()["body"] == body
        return upload_of(body)

    def post(self, data, head=None, *, stream=None, **environ):
        """Post bytes, or a stream with what the environment says of it."""
        if stream is not None:  # Without data the test client writes a form of its own.
            environ |= {"wsgi.input": stream, "CONTENT_TYPE": (head or headers())["Content-Type"]}
        reply = self.client.post("/gateway", data=data, headers=head or headers(), environ_overrides=environ)
        return reply.status_code, reply.get_json()["body"]


@pytest.fixture
def service():
    return Service()


def hash_of(data):
    return hashlib.sha256(data).hexdigest()


def refused(message):
    return {"message": message}


@pytest.mark.parametrize("act", ["setAvatar", "makeAvatar"])
def test_an_act_gets_its_files(service, act):
    cover = part("set.cover", b"any bytes", "c")
    status, body = service.post(form(body_part({"name": "Ann"}, act=act), cover, AVATAR))
    assert (status, body) == (
        200,
        {
            "set.avatar": ["me.png", "image/png", len(PNG), hash_of(PNG), hash_of(PNG)],
            "set.cover": ["c", "application/octet-stream", 9, hash_of(b"any bytes"), hash_of(b"any bytes")],
        },
    )
    assert service.seen == ['{"name": "Ann"}']
    assert service.streams[0].closed


@pytest.mark.parametrize("size", [MEMORY - 1, MEMORY, MEMORY + 1, MOST])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_large_file_comes_whole(service, size, chunked):
    data = PNG + bytes(range(256)) * (size // 256 + 1)
    data = data[:size]
    sent = form(body_part(), part("set.avatar", data, "a"))
    if chunked:
        environ = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
        status, body = service.post(None, stream=io.BytesIO(sent), **environ)
    else:
        status, body = service.post(sent)
    assert (status, body["set.avatar"][2:]) == (200, [size, hash_of(data), hash_of(data)])


@pytest.mark.parametrize("method", ["write", "seek"])  # what is buffered is written when the file is read
@pytest.mark.parametrize(
    ("number", "refusal"),
    [
        (errno.ENOSPC, (503, {"message": "service unavailable, try again"})),
        (errno.EDQUOT, (503, {"message": "service unavailable, try again"})),
        (errno.EIO, (500, {"message": "internal error"})),
    ],
    ids=["disk", "quota", "broken"],
)
def test_a_full_directory_of_temporary_files_is_for_later(service, monkeypatch, number, refusal, method):
    def fail(self, *_):
        raise OSError(number, "full", "/tmp/secret")

    def close(self):
        io.BytesIO.close(self)
        fail(self)

    full = type("Full", (io.BytesIO,), {method: fail, "close": close})
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda most: {262_144: full}[most]())
    assert (service.post(form(body_part(), AVATAR)), service.streams) == (refusal, [])


def test_an_act_whose_files_are_optional_takes_both_forms(service):
    assert service.post(form(body_part(act="mayHave"))) == (200, False)
    assert service.post(form(body_part(act="mayHave"), part("set.file", b"", "empty"))) == (200, True)
    sent = json.dumps({"model": "user", "act": "mayHave", "details": {"set": {}, "get": {}}})
    assert service.post(sent, {"Content-Type": JSON}) == (200, False)


def test_json_cannot_stand_for_a_file(service):
    for set_, message in [
        ({}, "Missing data for required field."),
        ({"avatar": "x"}, "Not a file: send it as a part of multipart/form-data."),
    ]:
        sent = json.dumps({"model": "user", "act": "setAvatar", "details": {"set": set_, "get": {}}})
        assert service.post(sent, {"Content-Type": JSON}) == (400, refused(f"validation error: set.avatar: {message}"))


# -- who may send one


@pytest.mark.parametrize("value", [None, "", "0", "true", "1,1", "11"])
def test_without_the_header_nothing_is_read(service, value):
    head = headers() if value is None else headers(**{"X-Gateway": value})
    if value is None:
        del head["X-Gateway"]
    unread = io.BytesIO(form(body_part(), AVATAR))
    environ = {"CONTENT_LENGTH": str(len(unread.getvalue()))}
    found = service.post(None, head, stream=unread, **environ)
    assert found == (403, refused("requests with files need the header X-Gateway: 1"))
    assert (service.seen, unread.tell()) == ([], 0)


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        ({"act": "plain"}, 415, "this act takes no files: send application/json in UTF-8"),
        ({"act": "none"}, 404, "act not found: user.none"),
        ({"act": ""}, 400, "act must be a string that is not empty"),
    ],
)
def test_only_acts_with_files_take_them(service, given, status, message):
    assert service.post(form(body_part(**given), AVATAR)) == (status, refused(message))


def test_a_remote_service_takes_none(service):
    sent = {"service": "far", "model": "a", "act": "b", "details": {"set": {}, "get": {}}}
    found = service.post(form(part("gateway-body", json.dumps(sent).encode()), AVATAR))
    assert found == (415, refused("this act takes no files: send application/json in UTF-8"))


@pytest.mark.parametrize(
    ("set_", "refusal", "expected"),
    [
        ({"name": 5}, None, (400, "validation error: set.name: Not a valid string.")),
        ({"avatar": "x"}, None, (400, "validation error: set.avatar: Unknown field.")),
        ({}, Forbidden("no"), (403, "no")),
        ({}, Timeout("late"), (503, "late")),
    ],
)
def test_files_are_read_after_validation_and_hooks(service, set_, refusal, expected):
    """Whoever read the rest of this request would find that the client has left."""
    service.refuse = refusal
    sent = b"--xYz\r\n" + body_part(set_) + b"\r\n--xYz\r\n"
    environ = {"CONTENT_LENGTH": str(len(sent) + 10**6)}
    status, message = expected
    assert service.post(None, stream=io.BytesIO(sent), **environ) == (status, refused(message))
    assert service.streams == []


# -- too much


def test_a_body_that_is_announced_as_too_large_is_not_read(service):
    unread = io.BytesIO(form(body_part(), AVATAR))
    environ = {"CONTENT_LENGTH": str(10**9)}
    assert service.post(None, stream=unread, **environ) == (
        413,
        refused("the request body is too large"),
    )
    assert unread.tell() == 0


class Endless(io.RawIOBase):
    """A body that never ends, and how much of it was read."""

    def __init__(self, start, more=b"\0"):
        self.start, self.more, self.count = start, more, 0

    def readable(self):
        return True

    def read(self, size=-1):
        assert 0 < size <= 65_536
        data, self.start = self.start[:size], self.start[size:]
        data += self.more * ((size - len(data)) // len(self.more))
        self.count += len(data)
        return data


UNKNOWN_LENGTH = {"wsgi.input_terminated": True, "HTTP_TRANSFER_ENCODING": "chunked"}
FIRST = b"--xYz\r\n" + body_part() + b"\r\n--xYz\r\n"


@pytest.mark.parametrize(
    ("start", "more", "status", "message"),
    [
        (FIRST + part("set.avatar", PNG, "a"), b"\0", 413, f"set.avatar: the file has more than {MOST} bytes"),
        (FIRST + part("set.avatar", PNG, "a"), b"\r\n--xY", 413, f"set.avatar: the file has more than {MOST} bytes"),
        (FIRST + b"X: ", b"a", 400, "the head of a part is too long"),
        (FIRST, b"A: b\r\n", 400, "the head of a part is too long"),
        (b"", b"-", 400, "the head of a part is too long"),
        (b"--xYz\r\n" + body_part() + b" ", b" ", 413, "the part gateway-body is too large"),
        (form(body_part(), AVATAR), b"\r\n", 400, "the head of a part is too long"),
        (
            FIRST,
            b'Content-Disposition: form-data; name="a"\r\n\r\n\r\n--xYz\r\n',
            400,
            UNEXPECTED := "unexpected part: the files of this request may be set.avatar, set.cover",
        ),
    ],
)
def test_what_never_ends_is_refused_soon(start, more, status, message):
    service, sent = Service(max_body_bytes=100_000), Endless(start, more)
    assert service.post(None, stream=sent, **UNKNOWN_LENGTH) == (status, refused(message))
    assert sent.count < MOST + 200_000


def test_content_of_another_type_is_refused_before_the_rest_is_read():
    service, sent = Service(max_body_bytes=100_000), Endless(FIRST + part("set.avatar", b"GIF89a", "a"))
    found = service.post(None, stream=sent, **UNKNOWN_LENGTH)
    assert found == (415, refused("set.avatar: the content must be image/png or image/jpeg"))
    assert sent.count < MOST


def test_the_whole_request_is_bounded_without_a_length():
    service = Service(max_upload_bytes=MOST, max_body_bytes=50_000)
    padding = part("set.cover", b"", "c", *[f"X-{number}: {'a' * 900}" for number in range(70)])
    sent = form(body_part(), part("set.avatar", PNG.ljust(MOST - 40_000, b"\0"), "a"), padding)
    found = service.post(None, stream=io.BytesIO(sent), **UNKNOWN_LENGTH)
    assert found == (413, refused("the request body is too large"))


def test_a_lower_limit_of_the_host_app_wins(service):
    app = Flask("host")
    app.config["MAX_CONTENT_LENGTH"] = 100
    service.gw.init_app(app)
    reply = app.test_client().post("/gateway", data=form(body_part(), AVATAR), headers=headers())
    assert (reply.status_code, reply.get_json()["body"]) == (413, refused("the request body is too large"))


def test_a_request_without_a_body_is_refused(service):
    assert service.post(b"") == (400, refused("the request body could not be read"))


# -- parts


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([AVATAR], "the first part must be gateway-body"),
        ([AVATAR, body_part()], "the first part must be gateway-body"),
        ([body_part(), AVATAR, body_part()], UNEXPECTED),
        ([body_part(), AVATAR, AVATAR], "set.avatar: the part comes twice"),
        ([body_part(), part("set.avatar", PNG)], "set.avatar: expected a file, as it is and with a file name"),
        ([body_part(), part("avatar", PNG, "a")], UNEXPECTED),
        ([body_part(), part("set.avatar.x", PNG, "a")], UNEXPECTED),
        ([body_part(), part("set[avatar]", PNG, "a")], UNEXPECTED),
        ([body_part(), part("set.__proto__", PNG, "a")], UNEXPECTED),
        ([body_part(), part("set.name", b"Ann", "a")], UNEXPECTED),
        ([body_part(), part("set.more.cover", b"x", "a")], UNEXPECTED),
        ([body_part(), part("_charset_", b"utf-16"), AVATAR], UNEXPECTED),
        ([body_part(), *[part("", b"")] * 100], UNEXPECTED),
        ([body_part(), b"Content-Disposition: form-data\r\n\r\nx"], UNEXPECTED),
        (
            [body_part(), part("set.avatar", PNG, "a", "Content-Transfer-Encoding: base64")],
            "set.avatar: expected a file, as it is and with a file name",
        ),
        *(
            ([body_part(), part("set.avatar", PNG, "a", *heads)], "a part has the same head twice")
            for heads in [
                ["Content-Transfer-Encoding: binary", "content-transfer-encoding: base64"],
                ['Content-Disposition: form-data; name="set.cover"; filename="a"'],
                ["Content-Type: image/png", "Content-Type: text/html"],
            ]
        ),
        ([part("gateway-body", b"{}", None, "X: y", "x: y")], "a part has the same head twice"),
        ([body_part()], "validation error: set.avatar: Missing data for required field."),
        ([b"X: y\r\n\r\nx"], "the request body could not be read"),
        ([body_part(), b"X: y\r\n\r\nx"], "the request body could not be read"),
        ([body_part(), b"\xff\xfe: y\r\n\r\nx"], "the request body could not be read"),
    ],
)
def test_other_parts_are_refused(service, parts, message):
    status, body = service.post(form(*parts))
    assert (status, body) == (400, refused(message))
    assert service.streams == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"x" + form(body_part(), AVATAR), "there are bytes before the first part"),
        (b"x\r\n" + form(body_part(), AVATAR), "there are bytes before the first part"),
        (form(body_part(), AVATAR) + b"x", "there are bytes after the last part"),
        (form(body_part(), AVATAR) + form(body_part(), AVATAR), "there are bytes after the last part"),
        (form(body_part(), AVATAR)[:-6], "the request body could not be read"),
        (form(body_part(), AVATAR)[:-60], "the request body could not be read"),
        (form(), "the request body could not be read"),
        (form(body_part(), AVATAR, boundary="other"), "the request body could not be read"),
        (b"", "the request body could not be read"),
    ],
)
def test_what_is_no_whole_form_is_refused(service, data, message):
    assert service.post(data) == (400, refused(message))


def test_line_breaks_around_the_parts_are_no_bytes(service):
    assert service.post(b"\r\n" + form(body_part(), AVATAR) + b"\r\n")[0] == 200


def test_a_client_that_leaves_is_refused(service):
    sent = form(body_part(), AVATAR)
    environ = {"CONTENT_LENGTH": str(len(sent) + 1)}
    found = service.post(None, stream=io.BytesIO(sent), **environ)
    assert found == (400, refused("the request body could not be read"))


@pytest.mark.parametrize(
    "head",
    [
        "Content-Type: application/json",
        'content-type: Application/JSON; charset="utf-8"',
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: 8bit",
    ],
)
def test_the_body_may_say_that_it_is_json(service, head):
    assert service.post(form(body_part({}, head), AVATAR))[0] == 200


def test_the_body_may_be_a_blob(service):
    sent = json.dumps({"model": "user", "act": "mayHave", "details": {"set": {}, "get": {}}}).encode()
    assert service.post(form(part("gateway-body", sent, "blob", "Content-Type: application/json"))) == (200, False)


@pytest.mark.parametrize(
    "head",
    [
        "Content-Type: application/json; charset=utf-16",
        "Content-Type: text/html",
        "Content-Type: text/plain; charset=utf-7",
        "Content-Transfer-Encoding: base64",
        "Content-Transfer-Encoding: quoted-printable",
    ],
)
def test_the_body_has_no_other_encoding(service, head):
    found = service.post(form(body_part({}, head), AVATAR))
    assert found == (400, refused("the part gateway-body must be JSON in UTF-8"))


@pytest.mark.parametrize("body", [{"batch": []}, {"batch": [SET_AVATAR]}, {**SET_AVATAR, "batch": None}])
@pytest.mark.parametrize("settings", [{}, {"max_batch": 2}], ids=["off", "on"])
def test_a_batch_carries_no_files(settings, body):
    service = Service(**settings)
    found = service.post(form(part("gateway-body", json.dumps(body).encode()), AVATAR))
    assert (found, service.seen) == ((400, refused("a batch carries no files: send application/json in UTF-8")), [])


@pytest.mark.parametrize("data", [b"\xff", b"{", "{}".encode("utf-16"), b'{"batch": []}', b"[]", b""])
def test_the_body_is_as_strict_as_any(service, data):
    assert service.post(form(part("gateway-body", data), AVATAR))[0] == 400


@pytest.mark.parametrize(
    "content",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"<!doctype html><script>",
        b"PK\3\4" + PNG,
        b"GIF89a",
        b"",
        PNG[:10],
    ],
)
def test_content_of_another_type_is_refused_whatever_it_is_called(service, content):
    lying = part("set.avatar", content, "me.png", "Content-Type: image/png")
    found = service.post(form(body_part(), lying))
    assert found == (415, refused("set.avatar: the content must be image/png or image/jpeg"))


@pytest.mark.parametrize("encoding", ["binary", " BINARY", "8bit", "7bit", ""])
def test_a_file_may_say_that_it_is_as_it_is(service, encoding):
    named = part("set.avatar", PNG, "a", f"Content-Transfer-Encoding: {encoding}")
    assert service.post(form(body_part(), named))[0] == 200


def test_all_files_that_a_request_may_have_are_named(service):
    other = part("set.other", PNG, "a")
    found = service.post(form(body_part(), other))
    assert found == (400, refused(UNEXPECTED))


def test_the_bounds_of_a_request_and_its_body_are_exact():
    body = body_part({"name": "Ann"})
    sent, json_bytes = form(body, part("set.avatar", PNG.ljust(MOST, b"\0"), "a")), len(body.partition(b"\r\n\r\n")[2])
    for limits, status in (
        ({"max_body_bytes": json_bytes}, 200),
        ({"max_body_bytes": json_bytes - 1}, 413),
        ({"max_upload_bytes": len(sent), "max_body_bytes": json_bytes}, 200),
        ({"max_upload_bytes": len(sent) - 1, "max_body_bytes": json_bytes}, 413),
    ):
        service = Service(**limits)
        assert service.post(sent)[0] == status
        assert service.post(None, stream=io.BytesIO(sent), **UNKNOWN_LENGTH)[0] == status


def test_the_content_decides_the_type_not_the_client(service):
    status, body = service.post(form(body_part(), part("set.avatar", PNG, "a.html", "Content-Type: text/html")))
    assert (status, body["set.avatar"][:2]) == (200, ["a.html", "image/png"])


# -- media types and names


@pytest.mark.parametrize(
    ("media_type", "boundary"),
    [
        ("multipart/form-data; boundary=x", b"x"),
        ("Multipart/Form-Data;boundary=----WebKitFormBoundaryAbC;", b"----WebKitFormBoundaryAbC"),
        ('multipart/form-data; boundary="a b=?"', b"a b=?"),
        ("multipart/form-data; boundary=" + "x" * 72, b"x" * 72),
        (f'multipart/form-data; boundary="{"x" * 72}"', b"x" * 72),
    ],
)
def test_a_boundary_is_found(media_type, boundary):
    assert boundary_of(media_type) == boundary


@pytest.mark.parametrize(
    "media_type",
    [
        *("", JSON, "multipart/form-data", "multipart/form-data; boundary=", 'multipart/form-data; boundary=""'),
        *(
            "multipart/mixed; boundary=x",
            "multipart/form-data; boundary=x; charset=utf-16",
            "multipart/form-data; boundary=" + "x" * 73,
            f'multipart/form-data; boundary="{"x" * 73}"',
        ),
        *(
            "multipart/form-data; boundary=x; boundary=y",
            "multipart/form-data; charset=utf-8; boundary=x",
            "multipart/form-data, a/b; boundary=x",
        ),
        *(
            'multipart/form-data; boundary="x',
            'multipart/form-data; boundary="x "',
            "multipart/form-data; boundary=x\n",
            "multipart/form-data; boundary=é",
        ),
        *("multipart/form-data; boundary*=utf-8''x", "multipart/form-data; boundary*0=x"),
    ],
)
def test_other_media_types_have_none(service, media_type):
    assert boundary_of(media_type) is None
    found = service.post(form(body_part(), AVATAR), headers(**{"Content-Type": media_type.replace("\n", "")}))
    assert found[0] in (400, 415) or media_type.endswith("\n")


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_body_is_refused(service, encoding):
    found = service.post(form(body_part(), AVATAR), headers(**{"Content-Encoding": encoding}))
    assert found == (415, refused("unsupported content encoding: send the body as it is"))


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("me.png", "me.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\me.png", "me.png"),
        ("..", "file"),
        ("", "file"),
        (" . ", "file"),
        (".htaccess", "htaccess"),
        ("a\r\nSet-Cookie: x=1", "aSet-Cookie: x=1"),
        ("a\0b\x7f", "ab"),
        ("photo\u202egnp.exe", "photognp.exe"),
        ("\ud800é😀.png", "é😀.png"),
        ("x" * 255, "x" * 255),
        ("x" * 256, "x" * 255),
        ("x" * 254 + " .y", "x" * 254),
        ("XX.XX", "XX.XX"),
        *(("a" + invisible + "b", "ab") for invisible in "\x85\xad\ue000\u0378\u2028\u2029"),
    ],
)
def test_a_name_is_shown_without_folders_and_tricks(given, name):
    assert clean_name(given) == name


@pytest.mark.parametrize(
    ("sent", "name"), [("é😀.png", "é😀.png"), ("a%22b", 'a"b'), ('a\\"b', 'a"b'), ("/tmp/x", "x")]
)
def test_a_name_is_read_as_browsers_send_it(service, sent, name):
    status, body = service.post(form(body_part(), part("set.avatar", PNG, sent)))
    assert (status, body["set.avatar"][0]) == (200, name)


def test_limits_count_requests_with_files_and_definitions_are_checked():
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("user", "setAvatar", set={"avatar": file(most=99)}, limit="1/hour")(lambda body: integer().kind)
    client = gw.create_app().test_client()
    statuses = [
        client.post("/gateway", data=form(body_part(), AVATAR), headers=headers()).status_code for _ in range(2)
    ]
    assert statuses == [200, 429]
