"""The pages on performance: their marks, their commands, and how tables get into them."""

from __future__ import annotations

import re

import pytest

from benchmarks import page
from benchmarks.__main__ import _parser
from benchmarks.contenders import ALL
from benchmarks.modes import MODES
from benchmarks.works import WORKS

TEXT = page.DETAILS.read_text("utf-8")


def test_the_page_has_a_place_for_each_run():
    parts = ["http-32", "http-1", "inprocess", "instructions", "growth", "listing", "memory", "scaling", "start"]
    assert page.parts(page.DETAILS) == parts


def test_the_front_page_has_four_tables_of_the_runs():
    assert page.parts(page.FRONT) == ["http-32", "growth", "start", "http-32"]
    assert page.FRONT.read_text("utf-8").count("| --- |") == 4


def test_the_front_page_shows_the_tables_of_the_details(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_bytes(page.FRONT.read_bytes())
    for name in page.parts(page.FRONT):
        page.put_excerpts(copy, name, TEXT.partition(f"<!-- begin {name} -->")[2].partition("<!-- end")[0])
    assert copy.read_bytes() == page.FRONT.read_bytes()


def test_every_command_of_the_page_is_understood():
    (block,) = re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    commands = [line.partition("#")[0].split() for line in block.splitlines()]
    assert [command[:2] for command in commands] == [["./dev", "bench"]] * len(commands)
    words = [[word for word in command[2:] if word != "--others"] for command in commands]  # this one is for ./dev
    assert list(dict.fromkeys(_parser().parse_args(one).what for one in words)) == list(MODES)


def test_the_charts_are_small_and_none_is_left_over():
    charts = sorted(page.DETAILS.parent.glob("performance-*.svg"))
    assert [chart.name for chart in charts] == sorted(re.findall(r"\((performance-\S+\.svg)\)", TEXT))
    assert [chart.name for chart in charts if chart.stat().st_size > 30_000] == []


def test_the_page_names_every_option_work_and_contender():
    options = [option for action in _parser()._actions for option in action.option_strings if option.startswith("--")]
    named = [*WORKS, *(one.name for one in ALL), *(option for option in options if option != "--help")]
    assert [name for name in named if f"`{name}" not in TEXT and f" {name} " not in TEXT] == []


def test_tables_replace_those_between_their_marks(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("a\n<!-- begin x -->\nold\n<!-- end x -->\nb\n")
    page.put(path, "x", "new\n", "")
    assert path.read_text() == "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb\n"
    page.put(path, "x", "newer\n", "<svg/>")
    chart = "![Chart of x, with the figures of the tables above](page-x.svg)"
    assert path.read_text() == f"a\n<!-- begin x -->\nnewer\n\n{chart}\n<!-- end x -->\nb\n"
    assert (tmp_path / "page-x.svg").read_text() == "<svg/>"


def test_a_page_without_the_marks_is_refused(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("a\n<!-- begin x -->\n")
    with pytest.raises(ValueError, match=r"page\.md has no marks for x"):
        page.put(path, "x", "new\n", "<svg/>")
    assert [path.read_text(), *tmp_path.iterdir()] == ["a\n<!-- begin x -->\n", path]


def test_an_excerpt_is_the_table_below_a_line(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("<!-- begin x: Two -->\n<!-- end x -->\n")
    page.put_excerpts(path, "x", "One:\n\n| 1 |\n\nTwo, of all:\n\n| 2 |\n| 3 |\n\nrest\n")
    assert path.read_text() == "<!-- begin x: Two -->\n| 2 |\n| 3 |\n<!-- end x -->\n"


def test_an_excerpt_that_the_run_does_not_have_is_refused(tmp_path):
    path = tmp_path / "page.md"
    path.write_text("<!-- begin x: Two -->\n<!-- end x -->\n")
    with pytest.raises(ValueError, match="x has no table below 'Two'"):
        page.put_excerpts(path, "x", "One:\n\n| 1 |\n")
