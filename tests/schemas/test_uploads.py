"""Where an act may have files, and how they get into its details."""

from __future__ import annotations

import io

import pytest

from gatewayfw.errors import DefinitionError, ValidationError
from gatewayfw.schemas import (
    Schemas,
    array,
    compile_struct,
    defaulted,
    file,
    mapping,
    nullable,
    object_,
    optional,
    string,
)
from gatewayfw.schemas.kinds.file import Upload
from gatewayfw.schemas.structs import has_files, put_files
from gatewayfw.settings import Settings

FILE = file(most=10)
SET = {
    "name": string(),
    "avatar": FILE,
    "cover": optional(FILE),
    "more": optional(object_({"title": string()})),
}
UPLOAD = Upload("a", "application/octet-stream", 1, "0" * 64, io.BytesIO(b"a"))


def struct(set_, get=None):
    return compile_struct({"set": set_, "get": get or {}}, Schemas(Settings(max_upload_bytes=100)))


def test_files_are_known_by_their_paths():
    assert {path: field.required for path, field in struct(SET).files.items()} == {
        "set.avatar": True,
        "set.cover": False,
    }
    assert dict(struct({"name": string()}).files) == {}


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_the_json_is_validated_without_its_files(mode):
    json = struct(SET).without_files
    details = {"set": {"name": "a", "more": {"title": "b"}}, "get": {}}
    assert json.check(details, mode) == details
    assert json.files == {}
    for path in ("avatar", "cover"):
        with pytest.raises(ValidationError) as raised:
            json.check({"set": {"name": "a", path: "x"}, "get": {}}, mode)
        assert raised.value.errors == {f"set.{path}": ["Unknown field."]}


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_the_whole_struct_takes_uploads_and_no_json_for_them(mode):
    details = {"set": {"name": "a", "avatar": UPLOAD}, "get": {}}
    assert struct(SET).check(details, mode) == details
    for value, message in [
        ("x", "Not a file: send it as a part of multipart/form-data."),
        (None, "Field may not be null."),
    ]:
        with pytest.raises(ValidationError) as raised:
            struct(SET).check({"set": {"name": "a", "avatar": value}, "get": {}}, mode)
        assert raised.value.errors == {"set.avatar": [message]}


@pytest.mark.parametrize(
    ("set_", "get", "message"),
    [
        ({"a": array(FILE)}, {}, "set.a: a file must be a field of set itself"),
        ({"a": mapping(FILE)}, {}, "set.a: a file must be a field of set itself"),
        ({"a": {"b": FILE}}, {}, "set.a: a file must be a field of set itself"),
        (mapping(FILE), {}, "set.: a file must be a field of set itself"),
        ({}, {"a": FILE}, "get: a file must be a field of set itself"),
        ({"a": nullable(FILE)}, {}, "set.a: a file may be optional, but not nullable or defaulted"),
        ({"a": defaulted(FILE, lambda: None)}, {}, "set.a: a file may be optional, but not nullable or defaulted"),
        ({"a": file(most=101)}, {}, "set.a: the most of a file is above the setting 'max_upload_bytes' (100)"),
    ],
)
def test_files_elsewhere_are_refused(set_, get, message):
    with pytest.raises(DefinitionError) as raised:
        struct(set_, get)
    assert raised.value.message == message


def test_a_file_may_be_as_large_as_a_request_and_beside_any_name():
    checked = struct({"a.b": string(), "f": file(most=100), "n": optional(object_())})
    assert {path: field.most for path, field in checked.files.items()} == {"set.f": 100}


def test_files_are_found_at_any_depth():
    fields = (FILE, array(FILE), object_({"a": {"b": FILE}}), object_({}))
    assert [has_files(field) for field in fields] == [True, True, True, False]


def test_uploads_are_put_into_copies():
    details = {"set": {"name": "a"}, "get": {}}
    put = put_files(details, {"set.avatar": UPLOAD, "set.a.b": UPLOAD})
    assert put == {"set": {"name": "a", "avatar": UPLOAD, "a.b": UPLOAD}, "get": {}}
    assert details == {"set": {"name": "a"}, "get": {}}
