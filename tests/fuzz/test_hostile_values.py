"""Hostile values, keys, texts and bytes: each that there is, and what common readers make of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings

from tests.fuzz.drawn import GOOD, ZOO, short
from tests.fuzz.hostile import hostile_bytes
from tests.fuzz.hostile_values import EXPRESSIONS, KEYS, NUMBERS, ODD, ODD_IDS, OPERATORS, SPLICES, TEXTS
from tests.fuzz.targets import outcome, read


@given(hostile_bytes(GOOD["kinds_create"]) | hostile_bytes())
@settings(short, max_examples=100)
def test_hostile_bytes_end_in_no_other_error_than_the_projects_own(data: bytes) -> None:
    outcome(read, ZOO, data)


@pytest.mark.parametrize("before", [b"", b"[", b'{"a":', b"{", b'"'])
def test_no_splice_ends_in_another_error_than_the_projects_own(before: bytes) -> None:
    results = {outcome(read, ZOO, before + splice + after) for splice in SPLICES for after in (b"", b"]", b"}", b":1}")}
    assert results == {"400 bad_request"}


#: What a database computes, or takes for an operator, by the operator.
COMPUTED = {
    "$concat": ["$email", "$password"],
    "$function": {"body": "function() { while (true) {} }", "args": [], "lang": "js"},
    "$literal": 1,
    "$slice": 1,
    "$meta": "textScore",
    "$elemMatch": {"name": {"$ne": None}},
    "$range": [0, 3_000_000],
}
OPERATED = {
    **{"$ne": None, "$gt": "", "$in": ["a"], "$regex": "(a+)+$", "$where": "sleep(1000) || true"},
    **{"$set": {"isGhost": True}, "$oid": "0" * 24, "$date": 0},
}
#: Keys by what they reach.
REACHING = {
    "an operator": ("$set", "$where", "$ne", "$"),
    "another place": ("", ".", "a.b", "organizations.0.name", "0"),
    "what a driver cannot write": ("a\0b", "\0", "\ud800"),
    "what the package keeps": ("_id", "_gw", "set", "get"),
    "what a language keeps": ("__proto__", "constructor", "prototype", "__class__", "items", "toString"),
    "nothing": (" ", "k" * 300),
}
#: Texts by what somebody may take them for.
MEANT = {
    "other values": ("", "0", "1", "true", "null", "NaN", "1e999", "5 ", "9" * 5000, "\u0661\u0662"),
    "no text": ("a\0b", "\ud800", "\udfff\ud800"),
    "commands": ("\r\nSet-Cookie: a=b", "\x1b[2J", "../../etc/passwd", "<script>", "' or 1=1 --"),
    "days": ("2026-02-30", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"),
    "addresses": ("a@b\n", '"' * 500 + "@b.c", "a@" + "xn--" * 60 + ".com"),
}
NEARLY = {
    "another length": ("0" * 23, "0" * 25, "0" * 24 + "\n", " " + "0" * 24, ""),
    "other digits": ("g" * 24, "\uff10" * 24, "\0" * 24),
    "twelve bytes": ("a" * 12, [0] * 12),
    "no text": (0, ["0" * 24], {"$oid": "0" * 24}, None),
}
PLAIN = (None, True, False, [], {}, [[]], [None], [1], {"a": 1}, {"": {}})


def alike(table, *groups):
    """Whether a table has the values of the groups, in any order."""
    return sorted(map(json.dumps, table)) == sorted(json.dumps(value) for group in groups for value in group)


def test_every_hostile_value_is_there_for_a_reason():
    assert alike(EXPRESSIONS, ["$password", "$$ROOT"], ({name: value} for name, value in COMPUTED.items()))
    operated = ({name: value} for name, value in OPERATED.items())
    assert alike(OPERATORS, operated, [{"$ref": "user", "$id": "0" * 24}])
    assert [alike(KEYS, *REACHING.values()), alike(TEXTS, *MEANT.values()), alike(ODD_IDS, *NEARLY.values())] == [
        True
    ] * 3
    assert alike(ODD, PLAIN, NUMBERS, TEXTS, ODD_IDS, OPERATORS)


def test_numbers_are_those_at_the_ends_of_what_fits():
    large = "2147483648 9007199254740993 9223372036854775807 -9223372036854775808 9223372036854775808"
    huge = f"18446744073709551616 1180591620717411303424 1{'0' * 400} 1e+308 5e-324"
    assert [json.dumps(number) for number in NUMBERS] == f"0 1 -1 1.5 -0.0 {large} {huge}".split()


DEEP = (b"[" * 5000, b'{"a":' * 5000, b"[" * 5000 + b"]" * 5000, b"[" + b"[]," * 5000 + b"[]]")
#: Raw bodies that Python's own reader takes: JSON that is odd, and what is none.
TAKEN = {
    "odd": (b"null", b"1e400", b"-1e400", b"1e-400", b"-0", b"-0.0", b"9223372036854775808", b"0." + b"1" * 5000),
    "long": (b"1" + b"0" * 300 + b".5",),
    "no numbers": (b"NaN", b"[Infinity]", b"[-Infinity]"),
    "not plain UTF-8": (b"\xef\xbb\xbf{}", "{}".encode("utf-16"), "{}".encode("utf-32-le")),
    "keys": (b'{"a":1,"a":2}', b'{"__proto__":{}}', b'{"a\\u0000b":1}'),
    "surrogates": (b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"', b'"\xed\xa0\x80"'),
}
REFUSED = {
    "nothing": (b"", b" "),
    "numbers": (b"01", b"+1", b".5", b"1.", b"0x10", b"1_0", b"9" * 5000),
    "no UTF-8": (b'"\xc0\xaf"', b'"\xf4\x90\x80\x80"', b'"\xe9"', b'"\xf0\x9f\x98"', b"\x1f\x8b\x08\x00"),
    "texts": (b'"\x00"', b'"\n"', b'"\\x41"', b'"\\u12"', b'"\\', b'"', b"'a'"),
    "more than one value": (b"/* */ {}", b"{} {}", b"[1,]", b'{"a":1,}', b"{a:1}"),
}


def test_every_splice_is_read_or_refused_by_common_readers():
    taken, refused = ([data for group in table.values() for data in group] for table in (TAKEN, REFUSED))
    assert sorted(SPLICES) == sorted([*taken, *refused, *DEEP])
    assert len([json.loads(data) for data in taken]) == len(taken)
    for data in refused:
        with pytest.raises(ValueError):  # noqa: PT011  # of many kinds
            json.loads(data)
