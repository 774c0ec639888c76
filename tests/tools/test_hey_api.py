"""The SDK of @hey-api/openapi-ts, generated from the document as it is."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS


def generate(made):
    made.run("openapi-ts", "-i", "openapi.json", "-o", "made", "-c", "@hey-api/client-fetch")


def test_it_calls_the_sample_service(live):
    made, url = live("hey_api", "sample", virtual_paths=True)
    generate(made)
    made.typescript("sample", url)


def test_it_calls_a_service_of_awkward_kinds(live):
    made, url = live("hey_api", "awkward", virtual_paths=True)
    generate(made)
    made.typescript("awkward", url)


@pytest.mark.parametrize(("name", "virtual_paths"), DOCUMENTS)
def test_what_it_makes_of_any_gateway_compiles(read, name, virtual_paths):
    made = read("hey_api", name, virtual_paths=virtual_paths)
    generate(made)
    made.compiles("made/index.ts")
