"""Redocly's linter: of its recommended rules it misses a license, which only authors have, and no other."""

from __future__ import annotations

import json

import pytest

from tests.tools.services import DOCUMENTS

#: That a remote service's requests are none of other services is more than it sees.
ALSO = {"market": {"no-illogical-composition-keywords"}, "village": {"no-illogical-composition-keywords"}}


@pytest.mark.parametrize(("name", "virtual_paths"), DOCUMENTS)
def test_it_finds_no_error(read, name, virtual_paths):
    made = read("redocly", name, virtual_paths=virtual_paths)
    told = json.loads(made.run("redocly", "lint", "openapi.json", "--format=json", "--max-problems=10000"))
    assert told["totals"]["errors"] == 0
    assert {problem["ruleId"] for problem in told["problems"]} - ALSO.get(name, set()) == {"info-license"}
