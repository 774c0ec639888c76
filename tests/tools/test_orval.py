"""The functions of orval, which take the service's address from the document."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS

CALLED = ["sample", "awkward"]


@pytest.fixture(scope="module")
def made(documents, urls):
    """A folder with the functions of each document, and programs that call two services by them."""
    made = documents("orval", **urls)  # as --server writes them
    made.run("orval", DOCUMENTS=",".join(DOCUMENTS))
    return made


def test_what_it_makes_and_programs_that_use_it_compile(made):
    made.compiles(*(f"{label}.ts" for label in DOCUMENTS), *(f"call_{name}.ts" for name in CALLED))


@pytest.mark.parametrize("name", CALLED)
def test_calls_with_it_succeed(made, name):
    made.runs(f"call_{name}")
