"""Which tests are run on a mutant, and in which order."""

from __future__ import annotations

import json

import pytest

from tests.mutation.selection import Recorded, mirror, names_in, rounds

FILES = {
    "tests/odm/test_ids.py": "def test_own(): ...\n",
    "tests/odm/test_other.py": "class TestNear(Suite): ...\n",
    "tests/web/test_far.py": "def test_far(): ...\ndef test_long(): ...\ndef test_whole(): ...\ndef test_away(): ...\n",
}
SLOWLY = {"tests": [["tests/web/test_far.py::test_whole", 9]], "failed": [], "lines": {"shelf/odm/ids.py": {"2": [0]}}}
RECORDED = {
    "tests": [
        ["tests/web/test_far.py::test_long", 50],
        ["tests/web/test_far.py::test_far", 1],
        ["tests/web/test_far.py::test_gone", 1],
        ["tests/web/test_far.py::test_away", 1],
        ["tests/odm/test_other.py::TestNear::test_near", 2],
        ["tests/odm/test_ids.py::test_own", 3],
    ],
    "failed": [],
    "lines": {"shelf/odm/ids.py": {"1": [], "2": [0, 1, 2, 4, 5], "3": [3]}},
}
OWN, NEAR = "tests/odm/test_ids.py", "tests/odm/test_other.py::TestNear::test_near"
FAR, LONG, AWAY, WHOLE = (f"tests/web/test_far.py::test_{name}" for name in ("far", "long", "away", "whole"))


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """What some tests ran, one of which is gone."""
    monkeypatch.chdir(tmp_path)
    names_in.cache_clear()
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded/tests.json").write_text(json.dumps(RECORDED))
    (tmp_path / "recorded/slow-tests.json").write_text(json.dumps(SLOWLY))
    yield Recorded(tmp_path / "recorded")
    names_in.cache_clear()


@pytest.mark.parametrize(
    ("lines", "budget", "expected"),
    [
        ([2], 60, [([NEAR, FAR, LONG], 53), ([WHOLE], 9)]),
        ([2], 10, [([NEAR, FAR], 3), ([WHOLE], 9)]),
        ([2], 3, [([NEAR, FAR], 3), ([], 0)]),
        ([3], 60, [([AWAY], 1), ([], 0)]),
        ([1], 10, [([NEAR, AWAY, FAR], 4), ([WHOLE], 9)]),
    ],
    ids=[
        "near and quick ones first",
        "as many as the budget has room for",
        "no slow ones without room",
        "what ran the line",
        "a line of imports",
    ],
)
def test_the_mirror_comes_first_then_what_ran_the_line(recorded, lines, budget, expected):
    assert rounds(recorded, "shelf/odm/ids.py", lines, budget) == [(["-m", "not slow", OWN], 3), *expected]


def test_a_file_that_no_test_ran_has_its_mirror(recorded):
    assert rounds(recorded, "shelf/odm/new.py", [1], 60) == [(["-m", "not slow", "tests/odm"], 5), ([], 0), ([], 0)]


def test_the_mirror_is_the_file_or_the_nearest_folder(recorded):
    assert mirror("shelf/odm/ids.py") == OWN
    assert mirror("shelf/odm/deep/deeper/one.py") == "tests/odm"
    assert mirror("shelf/new/one.py") == "tests"
