"""The types of openapi-typescript, and calls with openapi-fetch."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS


def generate(made):
    made.run("openapi-typescript", "openapi.json", "-o", "made.ts")


@pytest.mark.parametrize("name", ["sample", "awkward"])
def test_calls_with_them_succeed(live, name):
    made, url = live("openapi_typescript", name, virtual_paths=True)
    generate(made)
    made.typescript(name, url)


@pytest.mark.parametrize(("name", "virtual_paths"), DOCUMENTS)
def test_those_of_any_gateway_compile(read, name, virtual_paths):
    made = read("openapi_typescript", name, virtual_paths=virtual_paths)
    generate(made)
    made.compiles("made.ts")
