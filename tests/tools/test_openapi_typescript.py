"""The types of openapi-typescript, and calls with openapi-fetch."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS

CALLED = ["sample", "awkward"]


@pytest.fixture(scope="module")
def made(documents):
    """A folder with the types of each document, and programs that call two services by them."""
    made = documents("openapi_typescript")
    for label in DOCUMENTS:
        made.run("openapi-typescript", f"{label}.json", "-o", f"{label}.ts")
    return made


def test_what_it_makes_and_programs_that_use_it_compile(made):
    made.compiles(*(f"{label}.ts" for label in DOCUMENTS), *(f"call_{name}.ts" for name in CALLED))


@pytest.mark.parametrize("name", CALLED)
def test_calls_with_it_succeed(made, urls, name):
    made.runs(f"call_{name}", urls[name])
