"""The route of stored files: who may read one, which part of it, and under which headers."""

from __future__ import annotations

import hashlib
import io
from urllib.parse import unquote

import mongomock
import pytest
from flask import Flask
from werkzeug.http import parse_options_header
from werkzeug.test import EnvironBuilder

from gatewayfw import DirectoryFiles, Forbidden, GridFsFiles, file, gateway
from gatewayfw.auth import access_rule
from gatewayfw.observe.calls import CallObservers
from gatewayfw.schemas.kinds.file import Upload
from gatewayfw.web.files import disposition
from tests.web.forms import PNG, body_part, form, headers, part

KEY = "k" * 32
DATA = PNG + bytes(range(256)) * 2000
OTHERS = {
    "html": b"<!doctype html><script>alert(1)</script>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "pdf": b"%PDF-1.7\n",
}


class Service:
    """A gateway with files, its client, and what the hooks of the route saw."""

    def __init__(self, store, read=None, **model):
        self.gw = gw = gateway(link_key=KEY)
        gw.odm.set_db(mongomock.MongoClient().test)
        gw.files.use(store)
        self.seen, self.refuse = [], None
        gw.files.model("file", read=[access_rule(self._hook)] if read is None else read, **model)
        self.client = gw.create_app().test_client()

    def _hook(self, body):
        context = self.gw.context_fns.get_context_model()
        self.seen.append((body, context["body"] == body, context["Headers"].get("token")))
        if self.refuse is not None:
            raise self.refuse

    def insert(self, data=DATA, name="me.png", type_="image/png"):
        upload = Upload(name, type_, len(data), hashlib.sha256(data).hexdigest(), io.BytesIO(data))
        return str(self.gw.files.insert(upload)["_id"])

    def get(self, id_, method="GET", **headers):
        path = id_ if id_.startswith("/") else f"/gateway/files/{id_}"
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.open(path, method=method, headers=headers)


@pytest.fixture(params=["directory", "gridfs"])
def service(request, tmp_path):
    return Service(DirectoryFiles(tmp_path) if request.param == "directory" else GridFsFiles())


def refusal(reply):
    return reply.status_code, reply.get_json()["body"]["message"]


def test_a_file_is_sent_with_all_its_headers(service):
    id_ = service.insert()
    with service.get(id_, X_Request_Id="r-1") as reply:
        assert (reply.status_code, reply.data) == (200, DATA)
        assert dict(reply.headers) == {
            "Content-Type": "image/png",
            "Content-Length": str(len(DATA)),
            "Content-Disposition": "inline; filename=\"me.png\"; filename*=UTF-8''me.png",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-cache",
            "Referrer-Policy": "no-referrer",
            "ETag": f'"{hashlib.sha256(DATA).hexdigest()}"',
            "Accept-Ranges": "bytes",
            "X-Request-Id": "r-1",
        }


def test_the_hooks_get_a_body_with_the_id(service):
    id_ = service.insert()
    service.get(id_, token="t").close()
    body = {"service": "main", "model": "file", "act": "read", "details": {"set": {"_id": id_}, "get": {}}}
    assert service.seen == [(body, True, "t")]


def test_the_hooks_find_the_id_of_the_request_in_its_headers(tmp_path):
    seen = []
    service = Service(DirectoryFiles(tmp_path), read=[lambda: seen.append(service.gw.context_fns.get_context_model())])
    reply = service.get("0" * 24)
    assert seen[0]["Headers"]["X-Request-Id"] == reply.headers["X-Request-Id"]


def test_a_hook_refuses_before_anything_is_looked_up(service):
    service.refuse = Forbidden("not yours")
    for id_ in (service.insert(), "0" * 24):
        assert refusal(service.get(id_)) == (403, "not yours")


@pytest.mark.parametrize("id_", ["0" * 24, "x", "0" * 25, "..", "%2e%2e", "0" * 23 + "%00", "[object]", "{}", "$ne"])
def test_what_is_not_there_is_404(service, id_):
    assert refusal(service.get(id_)) == (404, "file not found")


@pytest.mark.parametrize(
    "path", ["/gateway/files/", "/gateway/files", "/gateway/files/a/b", "/gateway/files/../gateway"]
)
def test_other_paths_are_not_the_routes(service, path):
    assert service.get(path).status_code in (404, 405)


def test_missing_bytes_are_404(service):
    id_ = service.insert()
    service.gw.odm.storage.update_many("file", {}, {"$set": {"size": 5}})
    assert refusal(service.get(id_)) == (404, "file not found")


# -- parts and conditions


@pytest.mark.parametrize(
    ("given", "start", "end"),
    [
        ("bytes=0-9", 0, 10),
        ("bytes=100000-", 100_000, None),
        ("bytes=-5", -5, None),
        ("bytes=261119-261122", 261_119, 261_123),
    ],
)
def test_a_range_is_a_part(service, given, start, end):
    with service.get(service.insert(), Range=given) as reply:
        part = DATA[start:end]
        first = start % len(DATA)
        assert (reply.status_code, reply.data) == (206, part)
        assert reply.headers["Content-Range"] == f"bytes {first}-{first + len(part) - 1}/{len(DATA)}"
        assert reply.headers["Content-Length"] == str(len(part))
        assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("given", ["bytes=9999999-", "bytes=512036-", "bytes=512036-512040"])
def test_a_range_behind_the_end_is_416(service, given):
    with service.get(service.insert(), Range=given) as reply:
        assert (reply.status_code, reply.data) == (416, b"")
        assert reply.headers["Content-Range"] == f"bytes */{len(DATA)}"
        assert "Content-Type" not in reply.headers


@pytest.mark.parametrize(
    "given",
    ["items=0-1", "nonsense", "bytes=", "bytes=a-b", "bytes=5-2", "bytes=-0", "bytes=0-1,5-6", "bytes=-9999999"],
)
def test_what_is_not_one_range_of_bytes_is_ignored(service, given):
    with service.get(service.insert(), Range=given) as reply:
        assert reply.status_code == 200
        assert reply.data == DATA
        assert "Content-Range" not in reply.headers


@pytest.mark.parametrize("given", ["bytes=0-", "bytes=-5", "bytes=3-4"])
def test_an_empty_file_is_sent_whole(service, given):
    id_ = service.insert(b"", "empty", "application/octet-stream")
    with service.get(id_, Range=given) as reply:
        assert reply.status_code == 200
        assert reply.data == b""
        assert reply.headers["Content-Length"] == "0"


ETAG = f'"{hashlib.sha256(DATA).hexdigest()}"'
LATE = "Thu, 01 Jan 99999999999 00:00:00 GMT"
PART = {"Range": "bytes=0-1"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If_None_Match": ETAG}, 304),
        ({"If_None_Match": f"W/{ETAG}"}, 304),
        ({"If_None_Match": "*"}, 304),
        ({"If_None_Match": ETAG, **PART}, 304),
        ({"If_None_Match": '"x"'}, 200),
        ({"If_None_Match": '"x"', **PART}, 206),
        ({"If_Match": ETAG}, 200),
        ({"If_Match": "*"}, 200),
        ({"If_Match": '"x"'}, 412),
        ({"If_Match": f"W/{ETAG}"}, 412),
        ({"If_Match": '"x"', "If_None_Match": ETAG}, 412),
        ({"If_Match": '"x"', **PART}, 412),
        ({"If_Range": ETAG, **PART}, 206),
        ({"If_Range": ETAG, "If_Modified_Since": LATE, **PART}, 206),
        ({"If_Range": '"x"', **PART}, 200),
        ({"If_Range": f"W/{ETAG}", **PART}, 200),
        ({"If_Range": LATE, **PART}, 200),
        ({"If_Modified_Since": LATE}, 200),
        ({"If_Unmodified_Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 200),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_conditions_come_before_ranges(service, headers, status, method):
    """Only `GET` has ranges; a file has no date, so conditions on one are ignored."""
    status = 200 if (method, status) == ("HEAD", 206) else status
    with service.get(service.insert(), method, **headers) as reply:
        content = {200: DATA, 206: DATA[:2]}.get(status, b"")
        assert (reply.status_code, reply.data) == (status, b"" if method == "HEAD" else content)
        assert reply.headers["Cache-Control"] == "private, no-cache"
        assert reply.headers.get("ETag") == (None if status == 412 else ETAG)
        length = reply.headers.get("Content-Length", "0")
        assert length == str(len(content))


SAFE = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Request-Id": "r-1",
}
LENGTH = str(len(DATA))


@pytest.mark.parametrize(
    ("given", "status", "own"),
    [
        ({"If_None_Match": ETAG}, 304, {"ETag": ETAG}),
        ({"If_Match": '"x"'}, 412, {"Content-Length": "0"}),
        ({"Range": f"bytes={LENGTH}-"}, 416, {"Content-Range": f"bytes */{LENGTH}", "Content-Length": "0"}),
    ],
)
def test_a_reply_without_content_has_these_headers(service, given, status, own):
    with service.get(service.insert(), X_Request_Id="r-1", **given) as reply:
        assert reply.status_code == status
        assert reply.data == b""
        assert dict(reply.headers) == {**SAFE, **own}


def test_a_part_has_the_headers_of_the_whole(service):
    with service.get(service.insert(), X_Request_Id="r-1", Range="bytes=-1") as reply:
        assert (reply.status_code, {name: value for name, value in reply.headers if name != "Date"}) == (
            206,
            {
                **SAFE,
                "Content-Type": "image/png",
                "Content-Disposition": "inline; filename=\"me.png\"; filename*=UTF-8''me.png",
                "ETag": ETAG,
                "Accept-Ranges": "bytes",
                "Content-Length": "1",
                "Content-Range": f"bytes {len(DATA) - 1}-{len(DATA) - 1}/{LENGTH}",
            },
        )


TO_OPTIONS = {
    **{"Allow": "GET, HEAD, OPTIONS", "X-Request-Id": "r-1"},
    **{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
}


@pytest.mark.parametrize("cors", [None, ["https://shop.example"]], ids=["without", "with"])
@pytest.mark.parametrize("asked", [{}, {"Origin": "https://shop.example"}, {"Access-Control-Request-Method": "GET"}])
def test_options_names_the_methods_and_no_more_unless_a_page_asks(service, cors, asked):
    client = service.gw.create_app(cors=cors).test_client()
    reply = client.options("/gateway/files/x", headers={**asked, "X-Request-Id": "r-1"})
    assert (reply.status_code, reply.data) == (204, b"")
    own = {name: value for name, value in reply.headers if name != "Vary" and not name.startswith("Access-Control-")}
    assert own == TO_OPTIONS
    assert "Access-Control-Allow-Methods" not in reply.headers


def test_a_preflight_is_not_answered_to_pages_of_nobody(service):
    asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "GET", "X-Request-Id": "r-1"}
    reply = service.client.options("/gateway/files/x", headers=asked)
    assert dict(reply.headers) == TO_OPTIONS


def test_a_server_may_send_the_file_by_itself(service):
    class Wrapper:
        def __init__(self, content, size):
            self.content, self.size, self.close = content, size, content.close

    environ = EnvironBuilder(f"/gateway/files/{service.insert()}").get_environ()
    sent = service.client.application({**environ, "wsgi.file_wrapper": Wrapper}, lambda *reply: None)
    with sent.content as content:
        assert type(sent) is Wrapper
        assert sent.size == 65_536
        assert content.read() == DATA


@pytest.mark.parametrize("given", [{}, {"If_None_Match": "*"}, {"If_Match": '"x"'}, {"Range": "bytes=9999999-"}])
def test_the_content_is_closed_whether_it_is_sent_or_not(tmp_path, monkeypatch, given):
    store, opened = DirectoryFiles(tmp_path), []
    open_ = store.open
    monkeypatch.setattr(store, "open", lambda *words: opened.append(open_(*words)) or opened[0])
    service = Service(store)
    service.get(service.insert(), **given).close()
    assert [content.closed for content in opened] == [True]


def test_head_has_the_headers_only(service):
    with service.get(service.insert(), "HEAD") as reply:
        assert reply.status_code == 200
        assert reply.data == b""
        assert reply.headers["Content-Length"] == str(len(DATA))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "BREW"])
def test_other_methods_are_refused(service, method):
    reply = service.get(service.insert(), method)
    assert (*refusal(reply), reply.headers["Allow"]) == (405, "method not allowed: use GET", "GET, HEAD, OPTIONS")


# -- never a page


@pytest.mark.parametrize(
    ("data", "type_", "shown"),
    [
        (OTHERS["html"], "application/octet-stream", "application/octet-stream"),
        (OTHERS["svg"], "application/octet-stream", "application/octet-stream"),
        (OTHERS["html"], "text/plain", "text/plain"),
        (OTHERS["pdf"], "application/pdf", "application/pdf"),
        (OTHERS["html"], "text/html", "application/octet-stream"),
        (OTHERS["svg"], "image/svg+xml", "application/octet-stream"),
        (OTHERS["html"], "text/html\r\nX: y", "application/octet-stream"),
    ],
)
def test_what_may_hold_a_script_is_downloaded(service, data, type_, shown):
    """Also where a document says so that something else wrote."""
    with service.get(service.insert(data, "a.html", type_)) as reply:
        assert reply.data == data
        assert reply.headers["Content-Type"] == shown
        assert reply.headers["Content-Disposition"].startswith("attachment; ")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    "name",
    [
        "me.png",
        'a"b',
        "a\\b",
        "a\r\nSet-Cookie: x=1",
        "é😀.png",
        "a;b=c",
        "a%22b",
        "a\0b",
        "\u202egnp.exe",
        "a\ud800",
        "x" * 255,
    ],
)
def test_a_name_cannot_leave_its_place_in_the_header(name):
    header = disposition(name, inline=False)
    assert header.isascii()
    assert header.isprintable()
    word, found = parse_options_header(header)
    assert (word, found) == ("attachment", {"filename": name.encode("utf-8", "replace").decode()})
    plain = header.split('"')[1]
    assert not set(plain) & set('"\\%')
    assert unquote(header.rpartition("''")[2]) == name.encode("utf-8", "replace").decode()


@pytest.mark.parametrize(
    ("name", "inline", "header"),
    [
        ("a b~.png", True, "inline; filename=\"a b~.png\"; filename*=UTF-8''a%20b~.png"),
        ('"\\%/', False, "attachment; filename=\"___/\"; filename*=UTF-8''%22%5C%25%2F"),
        ("\x1f\x7f\u00e9\ud800", False, "attachment; filename=\"____\"; filename*=UTF-8''%1F%7F%C3%A9%3F"),
    ],
)
def test_a_name_is_in_the_header_twice(name, inline, header):
    assert disposition(name, inline=inline) == header


# -- links


def test_a_link_opens_its_file_without_the_hooks(service):
    id_, other = service.insert(), service.insert(PNG)
    link = service.gw.files.link(id_)
    with service.get(link) as reply:
        assert reply.status_code == 200
        assert reply.data == DATA
        assert service.seen == []
    moved = link.replace(id_, other)
    longer = link.replace("until=", "until=9")
    for wrong in (moved, longer, link[:-1], link + "A", link.replace("signature=", "signature=A")):
        assert refusal(service.get(wrong)) == (403, "the link is not valid, or not any more")
    assert service.seen == []


def test_a_link_to_nothing_is_404(service):
    assert refusal(service.get(service.gw.files.link("0" * 24))) == (404, "file not found")


def test_without_hooks_only_links_open_a_file(tmp_path):
    service = Service(DirectoryFiles(tmp_path), read=[])
    id_ = service.insert()
    assert refusal(service.get(id_)) == (404, "file not found")
    with service.get(service.gw.files.link(id_)) as reply:
        assert reply.data == DATA


def test_public_files_are_everybodys(tmp_path):
    service = Service(DirectoryFiles(tmp_path), read=[], public=True)
    with service.get(service.insert()) as reply:
        assert reply.status_code == 200


def test_the_limit_counts_links_too(tmp_path):
    service = Service(DirectoryFiles(tmp_path), read=[], public=True, limit="2/hour")
    id_ = service.insert(PNG)
    statuses = []
    for path in (id_, service.gw.files.link(id_), id_):
        with service.get(path) as reply:
            statuses.append(reply.status_code)
    assert statuses == [200, 200, 429]


# -- once for a key


def test_observers_are_told_which_act_gave_a_file(service):
    id_, calls = service.insert(), []
    service.gw.on_call(calls.append)
    for one in (id_, "0" * 24):
        service.get(one, X_Request_Id="r-1").close()
    assert [(str(call.names), call.code, call.status, call.request_id) for call in calls] == [
        ("main.file.read", "ok", 200, "r-1"),
        ("main.file.read", "not_found", 404, "r-1"),
    ]


def test_an_id_that_is_made_up_is_the_same_everywhere(service):
    found = []
    service.gw.on_call(lambda call: found.append(call.request_id))
    ids = []
    for one in (service.insert(), "0" * 24):
        with service.get(one, X_Gateway_Detail="1") as reply:
            ids.append(reply.headers["X-Request-Id"])
    assert (found, reply.get_json()["body"]["requestId"]) == (ids, ids[1])


def test_without_observers_no_call_is_opened(service, monkeypatch):
    monkeypatch.setattr(CallObservers, "open", lambda *words: pytest.fail("opened"))
    service.gw.acts.act("file", "any")(lambda body: 1)
    with service.get(service.insert()) as reply:
        assert reply.status_code == 200
    sent = {"model": "file", "act": "any", "details": {"set": {}, "get": {}}}
    assert service.client.post("/gateway", json=sent).get_json()["body"] == 1


def test_the_log_of_an_unexpected_error_names_the_act(service, caplog):
    service.refuse = KeyError("secret")
    assert refusal(service.get(service.insert(), X_Request_Id="r-1")) == (500, "internal error")
    assert caplog.messages[0].startswith("unexpected error: request_id=r-1 service=main model=file act=read\n")


def test_a_file_is_stored_once_for_a_key(service):
    gw = service.gw

    @gw.acts.act("file", "add", set={"file": file(most=99)}, get=1, idempotent="1h", idempotent_by=lambda body: "me")
    def add(body):
        return gw.files.insert(body["details"]["set"]["file"], projection=body["details"]["get"])

    client = gw.create_app().test_client()

    def send(content):
        sent = form(body_part(model="file", act="add", get={"sha256": 1}), part("set.file", content, "a"))
        return client.post("/gateway", data=sent, headers=headers(**{"Idempotency-Key": "k1"}))

    first, again, other = send(b"one"), send(b"one"), send(b"two")
    assert first.status_code == 200
    assert again.status_code == 200
    assert again.data == first.data
    assert again.headers["Idempotent-Replay"] == "1"
    assert (other.status_code, other.headers["X-Error-Code"]) == (422, "key_reused")
    assert gw.odm.model("file").count() == 1


# -- mounts


def test_a_gateway_without_files_has_none():
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    assert refusal(gw.create_app().test_client().get(f"/gateway/files/{'0' * 24}")) == (404, "file not found")


def test_a_host_app_serves_files_below_its_prefix(service):
    app = Flask("host")
    service.gw.init_app(app, "/shop/<tenant>")
    id_ = service.insert(PNG)
    with app.test_client().get(f"/shop/x/gateway/files/{id_}") as reply:
        assert reply.data == PNG


def test_pages_of_allowed_origins_may_read_files(tmp_path):
    service = Service(DirectoryFiles(tmp_path), read=[], public=True)
    id_, origin = service.insert(PNG), "https://shop.example"
    client = service.gw.create_app(cors=[origin]).test_client()
    with client.get(f"/gateway/files/{id_}", headers={"Origin": origin}) as reply:
        assert reply.headers["Access-Control-Allow-Origin"] == origin
    asked = {"Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "token"}
    preflight = client.options(f"/gateway/files/{id_}", headers=asked)
    assert (preflight.status_code, preflight.headers["Access-Control-Allow-Methods"]) == (204, "GET")
    assert "token" in preflight.headers["Access-Control-Allow-Headers"]
