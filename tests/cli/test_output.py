"""What commands print: nothing of a document reaches the terminal as a command to it."""

from __future__ import annotations

import json

import pytest

from gatewayfw.cli.output import Failed, format_json, status_line, table

#: Characters that a terminal takes for commands, or that turn the direction of writing.
EVIL = "a\x9b31mb\u202ec\u2066d\x1b[2Je\x7ff\u200bg\ud800h\U000e0001"


def printable(text):
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("indent", [2, None])
def test_json_means_the_same_and_can_be_printed(indent):
    value = {EVIL: [EVIL, "é 漢 😀", 'line\nend\t"quoted" \\'], "n": 1.5}
    text = format_json(value, indent)
    assert (json.loads(text), printable(text), "é 漢 😀" in text) == (value, True, True)


def test_json_that_can_be_printed_stays_as_it_is():
    assert format_json({"a": ["é"]}) == '{\n  "a": [\n    "é"\n  ]\n}'


def test_each_line_of_an_error_is_written_out():
    assert Failed("a\x1b[2J\nb").message == "a\\x1b[2J\nb"


def test_cells_of_a_table_are_written_out_and_aligned():
    assert table(("a", "b"), [("\x1b[2J", "é"), ("x\ny", "z")]) == "a        b\n\\x1b[2J  é\nx\\ny     z"


def test_the_line_of_progress_is_written_out(capsys):
    status_line("\x9b31m\u202e")
    assert capsys.readouterr().err == "\r\\x9b31m\\u202e"  # click takes its own escape away where no terminal is


def test_the_line_of_progress_is_replaced_cut_and_taken_away(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "10")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    for text in ("twelve signs", ""):
        status_line(text)
    assert capsys.readouterr().err == "\r\x1b[Ktwelve si\r\x1b[K\x1b[?25h"
