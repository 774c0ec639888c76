"""Strict JSON: what is refused, with which words, and what gets through unchanged."""

import contextlib
import json
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.errors import BadRequest
from gatewayfw.settings import Settings
from gatewayfw.web.strict_json import parse
from tests.web.refusals import refused

SETTINGS = Settings()

MALFORMED = {
    "empty": (b"", "the request body is empty"),
    "bom": (b"\xef\xbb\xbf{}", "malformed JSON at line 1 column 1"),
    "utf-16": ("{}".encode("utf-16"), "the request body is not UTF-8"),
    "utf-32": ("{}".encode("utf-32"), "the request body is not UTF-8"),
    "utf-32 without a mark": ("{}".encode("utf-32-be"), "malformed JSON at line 1 column 1"),
    "utf-16 without a mark": ('{"a":1}'.encode("utf-16-le"), "malformed JSON at line 1 column 2"),
    "latin-1": ('"é"'.encode("latin-1"), "the request body is not UTF-8"),
    "surrogate in utf-8": (b'"\xed\xa0\x80"', "the request body is not UTF-8"),
    "surrogate by escape": (b'["\\ud800"]', "malformed JSON at line 1 column 3"),
    "surrogate in a key": (b'{"\\udfff": 1}', "malformed JSON at line 1 column 3"),
    "surrogate in one key of many": (b'[{"a": 1}, {"b": {"\\ud800c": 1}}]', "malformed JSON at line 1 column 20"),
    "halves of a pair in two keys": (b'{"\\ud83d": 1, "\\ude00": 1}', "malformed JSON at line 1 column 3"),
    "nul in a key": (b'[{"a\\u0000b": 1}]', "a key of the request body holds NUL"),
    "raw control character": (b'"\x00"', "malformed JSON at line 1 column 2"),
    "cut off": (b'{"a":\n  [1,', "malformed JSON at line 2 column 6"),
    "trailing text": (b"{} {}", "malformed JSON at line 1 column 4"),
    "comment": (b"/**/{}", "malformed JSON at line 1 column 1"),
    "NaN": (b'{"a": NaN}', "malformed JSON at line 1 column 7"),
    "-Infinity": (b"[-Infinity]", "malformed JSON at line 1 column 3"),
    "1e400": (b"[1e400]", "malformed JSON at line 1 column 2"),
    "2**63": (b"[9223372036854775808]", "the request body holds an integer that does not fit 64 bits"),
    "-2**63-1": (b"[-9223372036854775809]", "the request body holds an integer that does not fit 64 bits"),
    "300 digits": (b"1" * 300, "the request body holds an integer that does not fit 64 bits"),
    "5000 digits": (b"1" * 5000, "malformed JSON at line 1 column 1"),
    "33 levels": (b"[" * 33 + b"]" * 33, "the request body is nested deeper than 32 levels"),
    "33 levels of objects": (b'{"a":' * 33 + b"1" + b"}" * 33, "the request body is nested deeper than 32 levels"),
    "5000 closed levels": (b"[" * 5_000 + b"]" * 5_000, "the request body is nested deeper than 32 levels"),
    "20k open": (b'{"a":' * 20_000, "the request body is nested deeper than 32 levels"),
    "33 open and no more": (b"[" * 33, "the request body is nested deeper than 32 levels"),
    "33 levels of what is no JSON": (b"[" * 33 + b"x" + b"]" * 33, "the request body is nested deeper than 32 levels"),
    "100k open": (b'{"a":' * 100_000, "the request body holds more than 20000 values"),
    "100k brackets": (b"[" * 100_000, "the request body holds more than 20000 values"),
    "more closed than open": (b"[]]" * 33 + b"[" * 33, "malformed JSON at line 1 column 3"),
    "20001 values": (b"[" + b"1," * 19_999 + b"1]", "the request body holds more than 20000 values"),
    "20001 lists": (b"[" + b"[]," * 19_999 + b"[]]", "the request body holds more than 20000 values"),
    "a million commas": (b"[" + b"," * 1_000_000, "the request body holds more than 20000 values"),
    "values in objects": (b"[" + b'{"a":1},' * 10_000 + b"1]", "the request body holds more than 20000 values"),
}


@pytest.mark.parametrize(("data", "message"), MALFORMED.values(), ids=MALFORMED)
def test_bytes_that_are_no_strict_json_are_refused(data, message):
    assert refused(parse, data, SETTINGS) == (BadRequest, message)


LONG_TEXT = "a text of the request body is longer than 262144 characters"
LONG_KEY = "a key of the request body is longer than 256 characters"

TOO_LONG = {
    "text": (b'"' + b"x" * 262_145 + b'"', LONG_TEXT),
    "text inside": (b'{"a":[1,{"b":"' + b"x" * 262_145 + b'"}]}', LONG_TEXT),
    "text of escapes": (b'["' + b"\\n" * 262_145 + b'"]', LONG_TEXT),
    "key": (b'{"' + b"k" * 257 + b'":1}', LONG_KEY),
    "key inside": (b'[{"a":{"' + b"k" * 257 + b'":1}}]', LONG_KEY),
    "key of escapes": (b'{"' + b"\\u0041" * 257 + b'":1}', LONG_KEY),
    "key cut by an escaped quote": (b'{"' + b"k" * 200 + b'\\"' + b"k" * 57 + b'":1}', LONG_KEY),
    "one long key of many": (b'{"' + b"k" * 257 + b'":1,' + b'"a":1,' * 9_000 + b'"b":1}', LONG_KEY),
}


@pytest.mark.parametrize(("data", "message"), TOO_LONG.values(), ids=TOO_LONG)
def test_keys_and_texts_that_are_too_long_are_refused(data, message):
    assert refused(parse, data, SETTINGS) == (BadRequest, message)


def test_lengths_are_those_of_the_settings_and_count_characters():
    small = Settings.load({}, max_body_text=3, max_body_key=2)
    assert parse('{"éé": "ééé", "k": ["\\ud83d\\ude00ab"]}'.encode(), small) == {"éé": "ééé", "k": ["\U0001f600ab"]}
    assert refused(parse, b'["abcd"]', small)[1] == "a text of the request body is longer than 3 characters"
    assert refused(parse, b'{"abc": 1}', small)[1] == "a key of the request body is longer than 2 characters"


ACCEPTED = {
    "int64": (b"[9223372036854775807,-9223372036854775808]", [2**63 - 1, -(2**63)]),
    "floats": (b"[1.5,1e3,-0.0,1e-400]", [1.5, 1000.0, -0.0, 0.0]),
    "surrogate pair": (b'"\\ud83d\\ude00"', "\U0001f600"),
    "nul in a text": (b'["\\u0000"]', ["\0"]),
    "last of duplicates": (b'{"a":1,"a":2}', {"a": 2}),
    "32 levels": (b"[" * 32 + b"]" * 32, None),
    "brackets in texts": (b'["' + b"[{" * 500 + b'\\"[[","\\\\"]', ["[{" * 500 + '"[[', "\\"]),
    "commas in texts": (b'["' + b",[" * 20_000 + b'\\",",1]', [",[" * 20_000 + '",', 1]),
    "20000 lists": (b"[" + b"[]," * 19_998 + b"[]]", [[]] * 19_999),
    "many quotes in a text": (b'["' + b'\\"' * 50_000 + b'",' + b"[]," * 40 + b"1]", ['"' * 50_000, *[[]] * 40, 1]),
    "siblings": (b"[" + b"[]," * 99 + b"[]]", [[]] * 100),
    "20000 values": (b"[" + b"1," * 19_998 + b"1]", [1] * 19_999),
    "text at the limit": (b'["' + b"x" * 262_144 + b'"]', ["x" * 262_144]),
    "key at the limit": (b'{"' + b"k" * 256 + b'":1}', {"k" * 256: 1}),
    "long text of short parts": (b'["' + b'a","' * 9_000 + b'"]', ["a"] * 9_000 + [""]),
    "big integer as text": (b'"9223372036854775808"', "9223372036854775808"),
}


@pytest.mark.parametrize(("data", "value"), ACCEPTED.values(), ids=ACCEPTED)
def test_strict_json_is_accepted(data, value):
    assert repr(parse(data, SETTINGS)) == repr(json.loads(data) if value is None else value)


def test_recursion_of_the_parser_is_a_refusal():
    deep = Settings.load({}, max_body_depth=10**6, max_body_nodes=10**6)
    assert refused(parse, b"[" * 500_000, deep) == (BadRequest, "malformed JSON at line 1 column 1026")


@pytest.mark.parametrize("data", [b'"' + b'\\"' * 500_000, b'[[[["' * 20_000, b'{"' + b"\\" * 1_000_001])
def test_search_in_unfinished_texts_is_linear(data):
    assert refused(parse, b"[" + b"[]," * 33 + data, SETTINGS)[0] is BadRequest


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Texts that hypothesis makes hold no surrogates.
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text().filter(lambda k: "\0" not in k), inner),
    max_leaves=20,
)


@given(json_values, st.booleans())
def test_what_json_writes_is_read_back(value, ascii_only):
    assert parse(json.dumps(value, ensure_ascii=ascii_only).encode(), SETTINGS) == value


#: What JSON is made of, and what only looks like it.
SCRAPS = st.sampled_from(
    [
        *(
            '{"a":',
            '{"b":',
            ',"a":',
            "}",
            "[",
            "]",
            ",",
            ":",
            '"',
            '\\"',
            "\\\\",
            "\\n",
            "\\u0041",
            "\\ud800",
            "é",
            "\ufeff",
        ),
        *(
            "-",
            "+",
            ".",
            "e",
            "E5",
            "0",
            "-0",
            "00",
            "1",
            "9" * 18,
            "9" * 19,
            str(2**63),
            str(2**64),
            "1e400",
            "1e-400",
        ),
        *(
            "0.1",
            "0." + "1" * 30,
            "NaN",
            "Infinity",
            "null",
            "true",
            "false",
            "nul",
            " ",
            "\t",
            "\n",
            "\x0c",
            "\0",
            "\x7f",
        ),
    ]
)
NUMBERS = st.from_regex(r"-?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


def outcome(read, text):
    """What a reader gives; None for a refusal."""
    try:
        return repr(read(text))
    except (BadRequest, ValueError):
        return None


def reference(text):
    """What the standard library reads, without what no document can hold."""
    value = json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_refuse)
    if "\0" in "".join(_keys(value)):
        raise ValueError
    json.dumps(value, ensure_ascii=False).encode()  # UnicodeEncodeError, a ValueError, for a lone surrogate
    return value


def _integer(text):
    return value if -(2**63) <= (value := int(text)) < 2**63 else _refuse(text)


def _float(text):
    return value if math.isfinite(value := float(text)) else _refuse(text)


def _refuse(text):
    raise ValueError


def _keys(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [*(value if isinstance(value, dict) else ()), *(key for one in inner for key in _keys(one))]


@given(
    st.lists(SCRAPS, max_size=12).map("".join)
    | st.lists(NUMBERS, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
    | json_values.map(json.dumps)
    | json_values.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1))
)
@example('{"a":1,"b":2,"a":3}')
@example("[-0]")
@example(f"[{2**63}]")
@example("[" * 30 + "]" * 30)
def test_what_the_standard_library_reads_strictly_is_read_and_nothing_else(text):
    assert outcome(lambda each: parse(each.encode(), SETTINGS), text) == outcome(reference, text)


@given(st.binary())
def test_any_bytes_give_a_value_or_a_refusal(data):
    with contextlib.suppress(BadRequest):
        json.dumps(parse(data, SETTINGS))
