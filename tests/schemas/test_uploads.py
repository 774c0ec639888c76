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
from gatewayfw.schemas.uploads import expected_files, has_files, put_files, without_files
from gatewayfw.settings import Settings

FILE = file(most=10)
SET = {
    "name": string(),
    "avatar": FILE,
    "more": optional(object_({"cover": optional(FILE), "title": string()})),
}
UPLOAD = Upload("a", "application/octet-stream", 1, "0" * 64, io.BytesIO(b"a"))


def struct(set_, get=None):
    return compile_struct({"set": set_, "get": get or {}}, Schemas(Settings(max_upload_bytes=100)))


def test_files_are_known_by_their_paths():
    assert {path: field.required for path, field in struct(SET).files.items()} == {
        "set.avatar": True,
        "set.more.cover": False,
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
        ({"a": array(FILE)}, {}, "set.a: a file must be a field of set, or of an object in it"),
        ({"a": mapping(FILE)}, {}, "set.a: a file must be a field of set, or of an object in it"),
        ({"a": {"b": array({"c": FILE})}}, {}, "set.a.b: a file must be a field of set, or of an object in it"),
        ({}, {"a": FILE}, "get: a file must be a field of set, or of an object in it"),
        ({"a": nullable(FILE)}, {}, "set.a: a file may be optional, but not nullable or defaulted"),
        ({"a": defaulted(FILE, lambda: None)}, {}, "set.a: a file may be optional, but not nullable or defaulted"),
        ({"a": file(most=101)}, {}, "set.a: the most of a file is above the setting 'max_upload_bytes' (100)"),
        ({"a.b": FILE}, {}, "set: the name of a file, or of an object with one, cannot contain a dot"),
    ],
)
def test_files_elsewhere_are_refused(set_, get, message):
    with pytest.raises(DefinitionError) as raised:
        struct(set_, get)
    assert raised.value.message == message


def test_a_file_may_be_as_large_as_a_request_and_beside_any_name():
    checked = struct({"a.b": string(), "f": file(most=100), "n": optional(object_())})
    assert {path: field.most for path, field in checked.files.items()} == {"set.f": 100}


def test_an_object_without_files_is_taken_as_it_is():
    for field in (object_(), object_({"a": string()}), string(), array(FILE), FILE):
        assert without_files(field) is field
    assert [has_files(field) for field in (FILE, array(FILE), object_({"a": {"b": FILE}}), object_({}))] == [
        *(True, True, True, False)
    ]


@pytest.mark.parametrize("details", [{}, {"set": 5}, {"set": None}, {"get": {}}], ids=repr)
def test_no_file_is_expected_where_set_is_no_object(details):
    assert expected_files(struct(SET).files, details) == {}


@pytest.mark.parametrize(
    ("set_", "paths"),
    [({}, ["set.avatar"]), ({"more": 5}, ["set.avatar"]), ({"more": {"title": "x"}}, ["set.avatar", "set.more.cover"])],
)
def test_a_file_is_expected_where_its_object_is_there(set_, paths):
    files = struct(SET).files
    expected = {path: files[path] for path in paths}
    assert expected_files(files, {"set": set_, "get": {}}) == expected


def test_uploads_are_put_into_copies():
    details = {"set": {"name": "a", "more": {"title": "x"}}, "get": {}}
    put = put_files(details, {"set.avatar": UPLOAD, "set.more.cover": UPLOAD})
    assert put == {"set": {"name": "a", "avatar": UPLOAD, "more": {"title": "x", "cover": UPLOAD}}, "get": {}}
    assert details == {"set": {"name": "a", "more": {"title": "x"}}, "get": {}}
