"""The functions of orval, which take the service's address from the document."""

from __future__ import annotations

import json

import pytest

from tests.tools.services import DOCUMENTS


def test_calls_with_them_succeed(live):
    made, url = live("orval", "sample", virtual_paths=True)
    document = json.loads((made.folder / "openapi.json").read_text())
    made.write("openapi.json", {**document, "servers": [{"url": url}]})  # what --server writes
    made.run("orval")
    made.typescript("sample")


@pytest.mark.parametrize(("name", "virtual_paths"), DOCUMENTS)
def test_those_of_any_gateway_compile(read, name, virtual_paths):
    made = read("orval", name, virtual_paths=virtual_paths)
    made.run("orval")
    made.compiles("made.ts")
