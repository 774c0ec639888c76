"""The parts of TypeScript's text: names, literals and blocks, which nobody can leave."""

from __future__ import annotations

import pytest

from gatewayfw.export.typescript.kinds import TypeMember, block, literal, union


def test_names_and_literals_are_escaped():
    assert block([TypeMember("a-b", "1"), TypeMember("$x", "2", optional=True), TypeMember("class", "3")]) == (
        '{ "a-b": 1; $x?: 2; class: 3 }'
    )
    assert literal("\u2028\ud800é") == '"\\u2028\\ud800\\u00e9"'
    assert literal("é") == '"é"'
    assert literal(float("inf")) == "number"
    assert union([1, 1.5, -2]) == "1 | 1.5 | -2"


def test_a_block_with_comments_has_a_line_for_each_member():
    members = [TypeMember("a", "1", comment="One."), TypeMember("b", "2", optional=True)]
    assert block(members) == "{\n  /** One. */\n  a: 1;\n  b?: 2;\n}"


@pytest.mark.parametrize("more", [0, 1])
def test_a_block_of_up_to_80_letters_stands_in_one_line(more):
    long = "x" * (73 + more)
    assert block([TypeMember("a", long)]) == (f"{{\n  a: {long};\n}}" if more else f"{{ a: {long} }}")


def test_a_block_with_lines_has_one_for_each_member():
    assert block([TypeMember("a", "{\n  b: 1;\n}"), TypeMember("c", "2")]) == "{\n  a: {\n    b: 1;\n  };\n  c: 2;\n}"


def test_what_there_is_none_of():
    assert block([]) == "{}"
    assert union([]) == "never"
    assert union(["a", 1, "a"]) == '"a" | 1'
