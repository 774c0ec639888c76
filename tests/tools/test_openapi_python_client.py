"""openapi-python-client: every operation and model of the document, and calls with them."""

from __future__ import annotations

import pytest

from tests.tools.services import GATEWAYS


@pytest.fixture(scope="module")
def made(documents):
    """A folder with the package of each gateway, and programs that call two of them."""
    made = documents("openapi_python_client")
    for name in GATEWAYS:
        words = ["--path", f"{name}.json", "--output-path", name, "--meta", "none", "--fail-on-warning"]
        made.run("openapi-python-client", "generate", *words)  # it warns of what it leaves out
    return made


@pytest.mark.parametrize("name", ["sample", "awkward"])
def test_calls_with_it_succeed(made, urls, name):
    made.run("python", f"call_{name}.py", urls[name])
