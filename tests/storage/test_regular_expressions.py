"""Regular expressions that mean the same on all adapters."""

from __future__ import annotations

import re

import pytest

from gatewayfw.storage.regular_expressions import check_expression, compile_expression


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "The",
        "^The.*ing$",
        "(a|b)(?:c|d)+?",
        "[a-z_][^0-9\\]]*",
        r"\d+\.\d{2}",
        r"\bJos\é\b",
        r"[\w\-][\s]\n\t",
        "a{2,}b{2,5}?c}]",
        "a{65535}b{1,65535}",
        "é\n",
        "x" * 4_000,
        "\ud7ff\ue000",
        "[\\\n]",
    ],
)
def test_expressions_that_are_shared(expression):
    assert check_expression(expression) is None


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        *[
            (f"a{one}", "has at character 2 what databases understand differently, or not at all")
            for one in [
                *["(?i)x", "(?=x)", "(?!x)", "(?<=x)y", "(?P<n>x)", "(?#x)", "(?>x)", "(*UCP)x"],
                *[r"\1", r"\A", r"\Z", r"\z", r"\B", r"\v", r"\x41", r"\u0041", r"\p{L}", r"\Qx\E", "\\"],
                *["[[:alpha:]]", r"[\D]", "[]x]", "[x", "[", "{", "{,2}", "{ 2}", "{2 }", "*+", "++", "{2}+"],
            ]
        ],
        ("(a", "is malformed"),
        ("a)", "is malformed"),
        ("*a", "is malformed"),
        ("a**", "is malformed"),
        ("[z-a]", "is malformed"),
        (r"[\w-z]", "is malformed"),
        ("a{3,2}", "is malformed"),
        ("a{65536}", "repeats too often"),
        ("a{1,65536}", "repeats too often"),
        ("[a&&b]", "has a doubled sign in a class; write it once, or behind a backslash"),
        ("[a--]", "has a doubled sign in a class; write it once, or behind a backslash"),
        ("a\0", "holds a character that MongoDB does not take"),
        ("x" * 4_001, "is longer than 4000 characters"),
    ],
)
def test_expressions_that_are_not(expression, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_expression(expression)


@pytest.mark.parametrize("letter", ["٣", "é", "ß", "\u00a0"])
def test_classes_of_characters_are_of_ascii(letter):
    for options in ("", "i"):
        assert not any(compile_expression(one, options).search(letter) for one in (r"[\d\w\s]", r"\d|\w|\s|\b"))
        assert compile_expression(r"^\W$", options).search(letter)
        assert compile_expression(r"\W", options).search(letter)


#: A letter, the signs that Python takes for letters when it ignores case, and others.
SIGNS = ["k", "K", "\u212a", "s", "\u017f", "\u0131", "7", "_", "\u00e9", "\u00c9", "^", "-", "\n", "]"]


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        (r"^[\w]+$", "kKs7_"),
        (r"^[^\w]$", "\u212a\u017f\u0131\u00e9\u00c9^-\n]"),
        (r"^[\w^]{1}$", "kKs7_^"),
        (r"^[^\w^]$", "\u212a\u017f\u0131\u00e9\u00c9-\n]"),
        ("^[\\w\u00e9-]{1}$", "kKs7_\u00e9\u00c9-"),
        (r"^[^-\w\]]$", "\u212a\u017f\u0131\u00e9\u00c9^\n"),
        (r"^[-\w-]$", "kKs7_-"),
        (r"^[\d\wx\s]$", "kKs7_\n"),
        (r"^[\\\w]$", "kKs7_"),
        (r"^\w$", "kKs7_"),
        (r"^[k]$", "kK\u212a"),
        (r"^[r-t]$", "s\u017f"),
    ],
)
def test_a_class_that_ignores_case_finds_the_same_on_both(storage, expression, found):
    storage.insert("things", [{"_id": number, "a": sign} for number, sign in enumerate(SIGNS)])
    assert check_expression(expression) is None
    filter = {"a": {"$regex": expression, "$options": "i"}}
    assert {document["a"] for document in storage.find("things", filter)} == set(found)


@pytest.mark.parametrize(
    ("expression", "letters"), [(r"[\d]", "059"), (r"[\w]", "azAZ059_"), (r"[\s]", " \t\n\r\f\v"), (r"[\\\n]", "\n")]
)
def test_classes_of_characters_have_all_of_theirs(expression, letters):
    found = [letter for letter in "azAZ059_- \t\n\r\f\v" if compile_expression(expression, "").search(letter)]
    assert found == list(letters)


@pytest.mark.parametrize("number", [0xD800, 0xDBFF, 0xDFFF])
def test_half_a_character_is_refused(number):
    with pytest.raises(ValueError, match="^holds a character that MongoDB does not take$"):
        check_expression(f"a{chr(number)}")


def test_the_case_of_letters_beyond_ascii_can_be_ignored():
    assert compile_expression(r"^\bÉ[à-ö]\w", "i").search("éÉ") is None
    assert compile_expression("^É[à-ö]", "i").search("éÉ")
    assert compile_expression("^É", "").search("é") is None
