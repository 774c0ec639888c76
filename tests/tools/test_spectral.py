"""Spectral's rules for OpenAPI: it misses a contact, which only authors have, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tools.services import DOCUMENTS


def test_it_finds_no_error(documents):
    made, files = documents("spectral"), [f"{label}.json" for label in DOCUMENTS]
    made.run("spectral", "lint", *files, "-r", "ruleset.yaml", "-f", "json", "-o", "found.json", "--quiet")
    told = json.loads((made.folder / "found.json").read_text())
    found = {(Path(problem["source"]).stem, problem["code"]) for problem in told}
    assert found == {(label, "info-contact") for label in DOCUMENTS}
