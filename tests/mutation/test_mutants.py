"""Mutants, and how they are drawn."""

from __future__ import annotations

from collections import Counter

import pytest

pytest.importorskip("mutmut")

from tests.mutation.mutants import Mutant, folder_of, mutant, pairs_of, sample, shares, sources

SOURCE = """
from functools import cache

LIMIT = 3


@cache
def below(number: int = 0) -> bool:
    '''Say whether a number is small.'''
    return number < LIMIT
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two folders: the second has three times as many lines."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"a/one.py": SOURCE, "b/two.py": SOURCE * 3, "top.py": "X = 1\n"}.items():
        file = tmp_path / "shelf" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    pairs_of.cache_clear()
    return "shelf"


def changes(path):
    """The changes of all mutants of a file, without the path."""
    return [mutant(path, number).change[1:] for number in range(len(pairs_of(path)[-1]))]


def test_constants_defaults_and_functions_with_decorators_are_changed(package):
    assert changes("shelf/a/one.py") == [
        ("- LIMIT = 3", "+ LIMIT = None"),
        ("- LIMIT = 3", "+ LIMIT = 4"),
        ("- def below(number: int = 0) -> bool:", "+ def below(number: int = 1) -> bool:"),
        ("- return number < LIMIT", "+ return number <= LIMIT"),
    ]


def test_a_mutant_differs_from_its_file_in_one_place(package):
    one = mutant("shelf/a/one.py", 3)
    assert one == Mutant("shelf/a/one.py", 3, SOURCE, SOURCE.replace("<", "<="))
    assert one.diff[1:] == ["     '''Say whether a number is small.'''", "-    return number < LIMIT"] + [
        "+    return number <= LIMIT"
    ]


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("f(\n    1,\n    2,\n)\n", "f(\n    1,\n    3,\n)\n", [1, 2, 3, 4]),
        ("if a < b:\n    f()\n", "if a <= b:\n    f()\n", [1]),
        ("if (\n    a < b\n):\n    f()\n", "if (\n    a <= b\n):\n    f()\n", [1, 2, 3]),
        ("@a(\n    1,\n)\ndef f():\n    g()\n", "@a(\n    2,\n)\ndef f():\n    g()\n", [1, 2, 3, 4]),
        ("match a:\n    case 1:\n        f()\n", "match a:\n    case 2:\n        f()\n", [2]),
        ("if a:\n    f()\nelif b:\n    g()\n", "if a:\n    f()\nelif not b:\n    g()\n", [3]),
        ("def f():\n    g()\n    return 1\n", "def f():\n    g()\n    return 2\n", [3]),
    ],
    ids=["a statement", "a head", "a head of lines", "a decorator", "a case", "an elif", "inside a function"],
)
def test_the_lines_of_a_mutant_are_those_of_its_statement(old, new, lines):
    assert list(Mutant("x.py", 0, old, new).lines) == lines


def test_a_mutant_that_does_not_compile_is_none(tmp_path):
    file = tmp_path / "x.py"
    file.write_text("for one in ():\n    break\n")
    pairs_of.cache_clear()
    assert mutant(str(file), 0) is None  # `return` outside of a function


def test_tests_that_the_package_ships_are_not_changed():
    found = sources(["gatewayfw/testing"])
    assert "gatewayfw/testing/kit.py" in found
    assert [path for path in found if "storage_suite" in path] == []


def test_each_folder_gets_its_share(package):
    drawn = sample([package], 8, seed=1)
    assert Counter(folder_of(one.path) for one in drawn) == {"shelf": 1, "shelf/a": 2, "shelf/b": 5}
    assert drawn == sample([package], 8, seed=1) != sample([package], 8, seed=2)


def test_a_sample_larger_than_all_has_all(package):
    assert len(sample([package], 1000, seed=1)) == sum(len(changes(path)) for path in sources([package]))


def test_shares_are_whole_and_add_up():
    assert shares({"a": 10, "b": 25, "c": 65}, 10) == {"a": 1, "b": 3, "c": 6}
    assert shares({"a": 2, "b": 1, "c": 97}, 10) == {"a": 0, "b": 0, "c": 10}
    assert shares({"a": 2, "b": 3}, 9) == {"a": 2, "b": 3}
    assert shares({}, 9) == {}
