"""The closed list of codes: every text about a value has one, every exported list is the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any, get_args

import pytest
from marshmallow import Schema, validate
from marshmallow import fields as mm

from gatewayfw import error_codes, gateway, messages
from gatewayfw.error_codes import ErrorCode, ErrorDetail
from gatewayfw.errors import GatewayError, HttpError
from gatewayfw.messages import CODES, KNOWN, Text, detail_of
from gatewayfw.schemas.kinds.checks import CHECKS

TEXTS = {name: text for name, text in vars(messages).items() if name.isupper() and isinstance(text, str)}
#: Those of them that stand in `errors` of a reply.
OF_VALUES = [*list(TEXTS)[: list(TEXTS).index("INTERNAL")]]
#: Texts that no request can cause: they are about values that code shows.
DUMPED = {
    '"{input}" cannot be formatted as a {obj_type}.',
    '"{input}" cannot be formatted as a date.',
    "{input!r} cannot be formatted as a timedelta.",
}


def described() -> dict[str, Mapping[str, Any]]:
    """The bounds of each code as the catalog says them."""
    rows = [dict(row["fields"]) for row in gateway().catalog()["codes"]]
    return {code: row for row in rows for code in row.pop("code")["choices"]}


def classes(kind: type) -> list[type]:
    return [kind, *(found for below in kind.__subclasses__() for found in classes(below))]


def test_every_text_about_a_value_has_a_code_and_no_other_text_has():
    assert [name for name, text in TEXTS.items() if isinstance(text, Text)] == OF_VALUES
    assert {code for name in OF_VALUES for code in TEXTS[name].codes} <= set(CODES)


def test_the_codes_of_failed_calls_are_those_of_all_errors():
    own = {kind.code for kind in classes(GatewayError) if kind.__module__.startswith("gatewayfw.")}
    by_status = {HttpError("", status).code for status in range(400, 600)}
    assert list(get_args(error_codes.GatewayCode)) == sorted(own | by_status)


def test_a_text_without_a_code_cannot_be_written():
    for codes in ((), ("none_such",), ("null", "none_such")):
        with pytest.raises(ValueError, match="has a code"):
            Text("Not a thing.", *codes)


def test_equal_texts_have_equal_codes():
    assert [name for name in OF_VALUES if (KNOWN[TEXTS[name]].codes) != TEXTS[name].codes] == []


def test_every_code_is_that_of_a_text():
    assert {code for text in KNOWN.values() for code in text.codes} | {"excluded"} == set(CODES)


def test_the_types_and_the_catalog_say_the_same_list():
    kinds = get_args(ErrorDetail)
    assert {code: list(row) for code, row in described().items()} == {code: list(CODES[code]) for code in CODES}
    listed = [code for part in get_args(ErrorCode) for code in (get_args(part) or [part])]
    assert sorted(listed) == sorted(CODES)
    assert len(kinds) == len(gateway().catalog()["codes"])


def test_the_catalog_says_what_kind_each_bound_is():
    rows = described()
    needed = {"presence": "required"}
    assert rows["too_small"] == {"minimum": {"kind": "bound", **needed}}
    assert rows["wrong_length"] == {"length": {"kind": "integer", **needed}}
    assert rows["no_match"] == {"pattern": {"kind": "string", "nullable": True, **needed}}
    assert rows["not_a_choice"] == {"choices": {"kind": "array", "items": {"kind": "any"}, **needed}}
    expected = list(get_args(error_codes.ExpectedType))
    assert rows["wrong_type"] == {"expected": {"kind": "enums", "choices": expected, **needed}}


@pytest.mark.parametrize("kind", [one for one in classes(mm.Field) if one.__module__ == mm.__name__])
def test_all_texts_of_marshmallows_fields_have_codes(kind):
    texts = vars(kind).get("default_error_messages", {}).values()
    assert [text for text in texts if text not in KNOWN and text not in DUMPED] == []


def test_all_texts_of_schemas_have_codes():
    assert [text for text in Schema().error_messages.values() if text not in KNOWN] == []


def test_every_check_of_marshmallows_has_a_code_or_is_its_authors():
    found = {kind for kind in classes(validate.Validator) if kind.__module__ == validate.__name__}
    without = {kind for kind in found if not any(issubclass(kind, known) for known in CHECKS)}
    assert without == {validate.Validator, validate.Predicate}


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (messages.REQUIRED, {"code": "required"}),
        (messages.TOO_LONG.format(max=3), {"code": "too_long", "maximum": 3}),
        (messages.NO_LENGTH_BETWEEN.format(input="a", min=2, max=3), {"code": "too_short", "minimum": 2}),
        (messages.NO_LENGTH_BETWEEN.format(input="abcd", min=2, max=3), {"code": "too_long", "maximum": 3}),
        (messages.NO_NUMBER_BETWEEN.format(input=1, min=2, max=3), {"code": "too_small", "minimum": 2}),
        (messages.NO_NUMBER_BETWEEN.format(input=[9], min=2, max=3), {"code": "too_small", "minimum": 2}),
        (messages.NO_LIMIT.format(max=3), {"code": "out_of_range", "minimum": 1, "maximum": 3}),
        (messages.NO_CHOICE.format(choices=["a", 1]), {"code": "not_a_choice", "choices": ["a", 1]}),
        (messages.NO_FLAG, {"code": "not_a_choice", "choices": [1, 0]}),
        (messages.REVISION.format(revision=4), {"code": "stale", "revision": 4}),
        ("Missing data for required field.", {"code": "required"}),
        ("Not a valid integer.", {"code": "wrong_type", "expected": "integer"}),
        ("String does not match expected pattern.", {"code": "no_match", "pattern": None}),
        ("Longer than maximum length 3.", {"code": "too_long", "maximum": 3}),
        ("Length must be 3.", {"code": "wrong_length", "length": 3}),
        ("Length must be between 2 and 3.", {"code": "out_of_range", "minimum": 2, "maximum": 3}),
        ("Must be between 1 and 3.", {"code": "out_of_range", "minimum": 1, "maximum": 3}),
        ("Must be greater than -3.", {"code": "not_greater", "minimum": -3}),
        ("Must be less than 3.", {"code": "not_less", "maximum": 3}),
        ("Not a valid naive datetime.", {"code": "wrong_type", "expected": "datetime"}),
        ("Must be less than 1.50.", {"code": "invalid"}),
        (f"Must be less than {10**18}.", {"code": "invalid"}),
        ("Must be one of: 1, 2.", {"code": "invalid"}),
        ("Longer than maximum length {max}.", {"code": "invalid"}),
    ],
)
def test_a_text_tells_its_code_with_the_bounds_of_that_code(text, detail):
    assert detail_of(text) == detail


def test_a_text_that_nothing_is_missing_of_stays_as_it_is():
    assert messages.NO_EMAIL.format(input="a@b.org") is messages.NO_EMAIL


def test_lists_are_filled_in_with_commas():
    assert messages.NO_CHOICE.format(choices=["a", 1]) == "Must be one of: a, 1."


def test_what_was_sent_is_not_kept():
    told = messages.NO_LENGTH_BETWEEN.format(input="secret", min=2, max=3)
    assert (told.codes, told.bounds) == (("too_long",), {"maximum": 3})
    assert "secret" not in repr(vars(told))


def test_a_copy_of_a_text_has_its_code():
    told = messages.TOO_LONG.format(max=3)
    for again in (copy.copy(told), copy.deepcopy(told), pickle.loads(pickle.dumps(told))):  # noqa: S301
        assert (again, detail_of(again)) == (told, {"code": "too_long", "maximum": 3})
