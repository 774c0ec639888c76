"""The Python clients send files: paths and open ones."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import mongomock
import pytest

from gatewayfw import file, gateway, optional, string
from gatewayfw.client import CallError, HttpClient, InProcessClient
from gatewayfw.client.clients import form_of, split_files
from tests.export.test_typescript_live import served
from tests.web.forms import PNG


def service():
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    set_ = {"name": string(), "avatar": file(most="1MB", types=["image/png"])}
    set_ |= {"cover": optional(file(most=10))}

    @gw.acts.act("user", "setAvatar", set=set_, mode="create")
    def set_avatar(body):
        given = body["details"]["set"]
        files = [given[name] for name in ("avatar", "cover") if name in given]
        return {"name": given["name"], "files": [[one.name, one.size, one.sha256] for one in files]}

    return gw


@pytest.fixture(params=["in process", "http"])
def client(request):
    if request.param == "in process":
        yield InProcessClient(service())
        return
    with served(service().create_app()) as url, HttpClient(url) as client:
        yield client


def row(name, data):
    return [name, len(data), hashlib.sha256(data).hexdigest()]


@pytest.mark.parametrize("name", ["me.png", 'é "x".png'])
def test_a_path_and_an_open_file_are_sent(client, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PNG)
    given = {"name": "Ann", "avatar": path, "cover": io.BytesIO(b"cover")}
    assert client.call("user", "setAvatar", set=given) == {
        "name": "Ann",
        "files": [row(name, PNG), row("file", b"cover")],
    }
    with path.open("rb") as opened:
        found = client.call("user", "setAvatar", set={"name": "Ann", "avatar": opened})
    assert found == {"name": "Ann", "files": [row(name, PNG)]}


def test_a_refusal_is_an_error_as_ever(client):
    with pytest.raises(CallError) as raised:
        client.call("user", "setAvatar", set={"name": "Ann", "avatar": io.BytesIO(b"<svg/>")})
    error = raised.value
    assert error.status == 415
    assert error.code == "unsupported_media_type"
    assert error.message == "set.avatar: the content must be image/png"


def test_a_missing_path_and_a_text_file_are_the_callers_mistakes(client):
    with pytest.raises(FileNotFoundError):
        client.call("user", "setAvatar", set={"name": "Ann", "avatar": Path("/nowhere/at/all")})
    with pytest.raises(TypeError):
        client.call("user", "setAvatar", set={"name": "Ann", "avatar": io.StringIO("x")})


def test_bytes_are_no_file(client):
    with pytest.raises(TypeError, match="bytes is not JSON serializable"):
        client.call("user", "setAvatar", set={"name": "Ann", "avatar": b"x"})


def test_files_are_taken_out_by_their_paths():
    one = io.BytesIO()
    given = {"a": 1, "b": one, "c": {"e": [1]}}
    assert split_files(given) == ({"a": 1, "c": {"e": [1]}}, {"set.b": one})
    assert list(given) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("given", "sent"),
    [("/a/b.png", "b.png"), ("a\ud800b", "a?b"), (5, "file"), (None, "file")],
    ids=["a path", "no text", "a number", "none"],
)
def test_an_open_file_is_sent_by_the_end_of_its_name(given, sent):
    opened = io.BytesIO(b"x")
    opened.name = given
    assert f'; filename="{sent}"\r\n'.encode() in form_of(b"{}", {"set.a": opened})[0]


def test_a_form_escapes_names():
    opened = io.BytesIO(b"x")
    opened.name = 'a"\r\nb'
    data, media_type = form_of(b"{}", {'set."x"': opened})
    boundary = media_type.partition("boundary=")[2]
    assert (
        data
        == (
            f'--{boundary}\r\nContent-Disposition: form-data; name="gateway-body"\r\n\r\n{{}}\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="set.%22x%22"; filename="a%22%0D%0Ab"\r\n\r\nx\r\n'
            f"--{boundary}--\r\n"
        ).encode()
    )
