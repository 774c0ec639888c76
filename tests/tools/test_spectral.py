"""Spectral's rules for OpenAPI: it misses a contact, which only authors have, and nothing else."""

from __future__ import annotations

import json

import pytest

from tests.tools.services import DOCUMENTS


@pytest.mark.parametrize(("name", "virtual_paths"), DOCUMENTS)
def test_it_finds_no_error(read, name, virtual_paths):
    made = read("spectral", name, virtual_paths=virtual_paths)
    words = ["-r", "ruleset.yaml", "-f", "json", "-o", "found.json", "--quiet"]
    made.run("spectral", "lint", "openapi.json", *words)
    assert {problem["code"] for problem in json.loads((made.folder / "found.json").read_text())} == {"info-contact"}
