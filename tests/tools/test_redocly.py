"""Redocly's linter: of its recommended rules it misses a license, which only authors have, and no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.tools.services import DOCUMENTS

#: That a remote service's requests are none of other services is more than it sees.
REMOTE = "no-illogical-composition-keywords"
OF_REMOTE = {"market", "market_in_one"}


def test_it_finds_no_error(documents):
    files = [f"{label}.json" for label in DOCUMENTS]
    printed = documents("redocly").run("redocly", "lint", *files, "--format=json", "--max-problems=100000")
    told = json.loads("[" + re.sub(r"\}\s*\{\n", "},{", printed) + "]")  # one object for each file
    assert [each["totals"]["errors"] for each in told] == [0] * len(DOCUMENTS)
    problems = [problem for each in told for problem in each["problems"]]
    found = {(Path(one["location"][0]["source"]["ref"]).stem, one["ruleId"]) for one in problems}
    expected = {(label, "info-license") for label in DOCUMENTS} | {(label, REMOTE) for label in OF_REMOTE}
    assert found == expected
