"""openapi-python-client: every operation and model of the document, and calls with them."""

from __future__ import annotations

import pytest

from tests.tools.services import GATEWAYS


def generate(made):
    words = ["--path", "openapi.json", "--output-path", "made", "--meta", "none", "--fail-on-warning"]
    made.run("openapi-python-client", "generate", *words)


def test_calls_with_it_succeed(live):
    made, url = live("openapi_python_client", "sample", virtual_paths=True)
    generate(made)
    made.run("python", "sample.py", url)


@pytest.mark.parametrize("name", GATEWAYS)
def test_nothing_is_missing_in_that_of_a_gateway(read, name):
    generate(read("openapi_python_client", name, virtual_paths=True))
