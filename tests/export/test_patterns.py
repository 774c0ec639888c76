"""Python's patterns in ECMA's notation: the same texts match, or there is none."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gatewayfw.export.patterns import ecma

SAME = {
    "": "^$",
    "abc": "^abc$",
    "^abc$": "^abc$",
    "a|b": "^(?:a|b)$",
    "^a|b$": "^(?:^a|b)$",
    "[a-c]+x?": "^[a-c]+x?$",
    "a.c": r"^a[^\n]c$",
    "[.]": "^[.]$",
    "a{2}b{2,}c{0,3}d{1,2}": "^a{2}b{2,}c{0,3}d{1,2}$",
    "a*?b+?c??d{2}?": "^a*?b+?c??d{2}?$",
    r"\.\*\/-@ _": r"^\.\*\/-@ _$",
    r"[\]\-\[@a-]": r"^[\]\-\[@a-]$",
    "[^a]": "^[^a]$",
    r"a\$": r"^a\$$",
    r"a\$$": r"^a\$$",
    "[a^]": "^[a^]$",
    r"\n\t\x41\u00e9": r"^\n\t\x41\u00e9$",
    "(a)(?:b)(?P<name>c)": "^(a)(?:b)(?:c)$",
    "é😀": "^é😀$",
    "X": "^X$",
    "[X]": "^[X]$",
    "a\nb": "^a\nb$",
    "[\n]": "^[\n]$",
    r"\n\r\t\f\v": r"^\n\r\t\f\v$",
    r"[\x4a\xAF\u00e9\u00E9]\xAF\u00E9": r"^[\x4a\xAF\u00e9\u00E9]\xAF\u00E9$",
    r"\^\$\\\+\?\(\)\[\]\{\}\|": r"^(?:\^\$\\\+\?\(\)\[\]\{\}\|)$",
    r"[\^\]\\]": r"^[\^\]\\]$",
    "a+b*c": "^a+b*c$",
    "(?:a+)+": "^(?:a+)+$",
}
DIFFERENT = {
    "braces as text": "a{b}",
    "empty braces": "{}",
    "a count without a least": "c{,3}",
    "a bracket as text": "a]",
    "a bracket in a set": "[[]",
    "a needless backslash": r"\@",
    "a needless backslash in a set": r"[\@]",
    "a hyphen with a backslash": r"\-",
    "digits": r"\d",
    "words": r"[\w]",
    "spaces": r"\s",
    "border": r"\bx",
    "end before the end": "a$b",
    "end in a group": "(a$)",
    "end of Python": r"a\Z",
    "start of Python": r"\Aa",
    "set that starts with a bracket": "[]a]",
    "set of all but a bracket": "[^]a]",
    "look ahead": "(?=a)a",
    "look behind": "(?<=a)b",
    "flags": "(?i:a)",
    "comment": "(?#a)",
    "reference": r"(a)\1",
    "named reference": r"(?P<n>a)(?P=n)",
    "octal": r"\0",
    "bell": r"\a",
    "name of a character": r"\N{BULLET}",
    "long code": r"\U0001F600",
    "surrogate": r"\ud83d\ude00",
    "surrogate in capitals": r"\uDBFF",
    "surrogate in a set": r"[\uDFFF]",
    "a letter": r"\X",
    "a letter in a set": r"[\X]",
    "a capital control": r"\N",
    "a letter beyond ASCII": r"\é",
}


@pytest.mark.parametrize(("pattern", "written"), SAME.items())
def test_what_means_the_same_is_written_anchored(pattern, written):
    assert ecma(pattern) == written
    assert re.compile(written)


@pytest.mark.parametrize("pattern", DIFFERENT.values(), ids=DIFFERENT)
def test_what_may_mean_something_else_is_not_written(pattern):
    assert ecma(pattern) is None


@pytest.mark.parametrize("pattern", ["a++", "a*+", "a{2}+", "(?>a)"])
def test_repetitions_that_give_nothing_back_are_not_written(pattern):
    assert ecma(pattern) is None


@pytest.mark.parametrize("pattern", [pattern for pattern in SAME if pattern])
@given(st.data())
@settings(max_examples=10, derandomize=True, database=None)
def test_the_same_texts_match(pattern, data):
    text = data.draw(st.from_regex(pattern, fullmatch=True) | st.text(max_size=4))
    written = re.compile(re.sub(r"\$$", r"\\Z", ecma(pattern)))
    assert bool(re.fullmatch(pattern, text)) == bool(written.search(text))
