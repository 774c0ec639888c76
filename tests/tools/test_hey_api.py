"""The SDK of @hey-api/openapi-ts, generated from the document as it is."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS

CALLED = ["sample", "awkward"]


@pytest.fixture(scope="module")
def made(documents):
    """A folder with the SDK of each document, and programs that call two of them."""
    made = documents("hey_api")
    for label in DOCUMENTS:
        made.run("openapi-ts", "-i", f"{label}.json", "-o", label, "-c", "@hey-api/client-fetch")
    return made


def test_what_it_makes_and_programs_that_use_it_compile(made):
    made.compiles(*(f"{label}/index.ts" for label in DOCUMENTS), *(f"call_{name}.ts" for name in CALLED))


@pytest.mark.parametrize("name", CALLED)
def test_calls_with_it_succeed(made, urls, name):
    made.runs(f"call_{name}", urls[name])
