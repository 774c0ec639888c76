"""What the exports say of files, and what the generated TypeScript does with them."""

from __future__ import annotations

import jsonschema
import pytest

from gatewayfw.export.jsonschema.document import ActEntry, json_schema
from gatewayfw.export.openapi import files_of, form_of, needs_file, openapi
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from tests.export.checking import assert_told
from tests.export.compiling import COMPILERS
from tests.export.test_typescript_live import run
from tests.export.uploading import uploading

RIGHT = """\
import io
from pathlib import Path
from gateway_types import AnyClient, File, UserSetAvatarSet
from gatewayfw.client import HttpClient

client: AnyClient = HttpClient("https://example.com")
given: UserSetAvatarSet = {"name": "Ann", "avatar": Path("me.png"), "cover": io.BytesIO(b"x"), "more": {"tags": []}}
with open("me.png", "rb") as opened:
    file: File = opened
    client.call("user", "setAvatar", set={"name": "Ann", "avatar": file})
client.call("user", "setAvatar", set=given)
"""

WRONG = """\
import io
from gateway_types import AnyClient

def run(client: AnyClient) -> None:
    client.call("user", "setAvatar", set={"name": "Ann"})  #! typeddict-item
    client.call("user", "setAvatar", set={"name": "Ann", "avatar": "me.png"})  #! typeddict-item
    client.call("user", "setAvatar", set={"name": "Ann", "avatar": io.StringIO()})  #! typeddict-item
    client.call("user", "setAvatar", set={"name": "Ann", "avatar": None})  #! typeddict-item
"""


@pytest.fixture(scope="module")
def catalog():
    return uploading().catalog()


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_files_compile_where_they_are_declared_and_nothing_else_for_them(compiler, project, catalog):
    project("uploading_ok", "uploading_wrong", gateway=typescript(catalog)).compiles(compiler, "--noEmit")


def test_a_program_sends_files(project):
    assert run(project, uploading(), "uploading_live") == "sent\n"


@pytest.mark.slow
def test_type_checkers_accept_files_where_they_are_declared_and_nothing_else_for_them(tmp_path, catalog):
    assert_told(tmp_path, python(catalog), RIGHT, WRONG)


def test_the_typescript_says_what_a_file_may_be(catalog):
    assert "/** Image/png or image/jpeg, bytes at most 1000000. */" not in typescript(catalog)
    assert "/** image/png or image/jpeg, bytes at most 1000000. */\n" in typescript(catalog)


def test_the_json_of_a_request_has_no_files(catalog):
    schema = jsonschema.Draft202012Validator(json_schema(catalog))

    def takes(set_):
        return schema.is_valid({"model": "user", "act": "setAvatar", "details": {"set": set_, "get": {}}})

    assert takes({"name": "Ann"}) is True
    assert takes({"name": "Ann", "more": {"tags": []}}) is True
    assert takes({"name": "Ann", "avatar": "x"}) is False
    assert takes({"name": "Ann", "more": {"tags": []}, "cover": ""}) is False


@pytest.mark.parametrize("virtual_paths", [False, True])
def test_openapi_has_the_form(catalog, virtual_paths):
    document = openapi(catalog, virtual_paths=virtual_paths)
    (path,) = document["paths"].values()
    content = path["post"]["requestBody"]["content"]
    assert list(content) == ["multipart/form-data"]  # its one act has a file in each request
    form = content["multipart/form-data"]
    binary = {"type": "string", "format": "binary"}
    assert form == {
        "schema": {
            "type": "object",
            "properties": {
                "gateway-body": {"$ref": "#/components/schemas/main-user-setAvatar-request"},
                "set.avatar": binary,
                "set.cover": binary,
            },
            "required": ["gateway-body", "set.avatar"],
            "additionalProperties": False,
        },
        "encoding": {
            "gateway-body": {"contentType": "application/json"},
            "set.avatar": {"contentType": "image/png, image/jpeg"},
            "set.cover": {"contentType": "*/*"},
        },
    }
    assert {"$ref": "#/components/parameters/X-Gateway"} in path["post"]["parameters"]


def test_files_are_found_by_their_paths(catalog):
    found = files_of(catalog["services"]["main"]["acts"]["user"]["setAvatar"]["set"])
    assert {path: kind["maxBytes"] for path, kind in found.items()} == {"set.avatar": 1_000_000, "set.cover": 10}


NEEDED = {"presence": "required"}
FILE = {"kind": "file", "types": [], **NEEDED}
GIVEN = {
    "one": ({"a": FILE}, True),
    "one that may be left out": ({"a": {**FILE, "presence": "optional"}}, False),
    "one in an object": ({"a": {"kind": "object", "fields": {"b": FILE}, **NEEDED}}, False),
    "any object": ({"a": {"kind": "object", "fields": None, **NEEDED}}, False),
    "none": ({"a": {"kind": "string", **NEEDED}}, False),
}


@pytest.mark.parametrize(("fields", "needs"), GIVEN.values(), ids=GIVEN)
def test_an_act_is_called_by_a_form_only_where_a_file_is_always_there(fields, needs):
    assert needs_file({"set": {"kind": "object", "fields": fields}}) is needs


def entry(name, **fields):
    return ActEntry("main", "user", name, {"set": {"kind": "object", "fields": fields}})


def test_the_form_of_several_acts_is_any_of_theirs():
    form = form_of([entry("one", a=FILE), entry("none"), entry("two", b={**FILE, "types": ["a/b", "c/d"]})])
    binary = {"type": "string", "format": "binary"}
    assert form == {
        "multipart/form-data": {
            "schema": {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {
                            "gateway-body": {"$ref": f"#/components/schemas/main.user.{name}.request"},
                            f"set.{field}": binary,
                        },
                        "required": ["gateway-body", f"set.{field}"],
                        "additionalProperties": False,
                    }
                    for name, field in (("one", "a"), ("two", "b"))
                ]
            },
            "encoding": {
                "gateway-body": {"contentType": "application/json"},
                "set.a": {"contentType": "*/*"},
                "set.b": {"contentType": "a/b, c/d"},
            },
        }
    }
    assert form_of([entry("none")]) == {}
