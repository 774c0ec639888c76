"""The kind of files."""

from __future__ import annotations

import copy
import io

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, file, optional
from gatewayfw.schemas.kinds.file import Upload, parse_size, type_of
from gatewayfw.settings import Settings
from tests.schemas.kinds.answers import answers, compared


def upload(type_="image/png", size=3):
    return Upload("a.png", type_, size, "0" * 64, io.BytesIO(b"abc"))


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (7, 7),
        (1, 1),
        ("1B", 1),
        ("7B", 7),
        ("7 B", 7),
        ("500kB", 500_000),
        ("10MB", 10_000_000),
        ("1GB", 1_000_000_000),
    ],
)
def test_a_size_is_a_number_or_text(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", [0, -1, 1.5, True, None, "", "0MB", "10", "10mb", "10KB", "1.5MB", "10MiB", "٣MB", "1MB\n"]
)
def test_other_sizes_are_refused(text):
    assert parse_size(text) is None
    with pytest.raises(DefinitionError) as raised:
        file(most=text)
    assert raised.value.message == "file: most must be a number of bytes above 0, or text such as '10MB'"


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("image/png", "file: types must be a list of media types"),
        (5, "file: types must be a list of media types"),
        (["image/svg+xml"], "file: cannot tell 'image/svg+xml' by its first bytes; known are image/png"),
        (["text/html"], "file: cannot tell 'text/html' by its first bytes"),
        (["image/*"], "file: cannot tell 'image/*' by its first bytes"),
        ([5], "file: cannot tell 5 by its first bytes"),
    ],
)
def test_types_that_cannot_be_told_are_refused(types, message):
    with pytest.raises(DefinitionError) as raised:
        file(most=1, types=types)
    assert raised.value.message.startswith(message)


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (upload(), True),
        (upload(size=10), True),
        (upload("image/gif"), False),
        (upload(size=11), False),
        (b"abc", False),
        ("x", False),
    ],
)
def test_only_uploads_within_its_bounds_are_taken(given, taken):
    field = file(most=10, types=["image/png", "image/jpeg"])
    assert bool(field.quick_test()(given)) is taken


def test_any_type_is_taken_without_types():
    assert file(most=10).quick_test()(upload("application/octet-stream"))


def test_its_description_has_size_and_types():
    kind = optional(file(most="1kB", types=["image/png"]))
    assert kind.description() == {"kind": "file", "maxBytes": 1000, "types": ["image/png"]}


def test_no_model_holds_one():
    with pytest.raises(DefinitionError) as raised:
        Schemas(Settings()).add("note", {"pictures": {"one": file(most=1)}})
    expected = "model 'note', field 'pictures': a file comes with a request; documents refer to those of gw.files.model"
    assert raised.value.message == expected


def test_copies_of_a_body_share_an_upload():
    one = upload()
    assert copy.deepcopy({"a": [one]})["a"][0] is one


def test_its_text_shows_neither_name_nor_content():
    assert repr(upload()) == "Upload(3 bytes, 'image/png')"


def test_an_upload_has_what_the_act_is_told():
    stream = io.BytesIO(b"abc")
    one = Upload("a.png", "image/png", 3, "0" * 64, stream)
    assert vars(one) == {
        "name": "a.png",
        "type": "image/png",
        "size": 3,
        "sha256": "0" * 64,
        "stream": stream,
        "key": "",
    }


def test_a_file_is_not_stored_and_needs_no_maximum():
    kind = file(most=5)
    assert answers(kind) == {
        "sorts": False,
        "abilities": [],
        "sets parts": False,
        "largest": 0,
        "unstated": [],
    }
    assert compared(kind, upload(), None) == [{"x": ["Not a file: send it as a part of multipart/form-data."]}, None]
    assert kind.most == 5
    assert kind.types == ()
    assert kind.description() == {"kind": "file", "maxBytes": 5, "types": []}


def test_a_file_is_judged_by_its_first_bytes():
    types = ("image/gif", "application/pdf")
    assert [type_of(head, types) for head in (b"GIF89a", b"%PDF-1.", b"PK")] == ["image/gif", "application/pdf", None]
    assert type_of(b"GIF89a") == "image/gif"
