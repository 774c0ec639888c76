"""Strategies for the values of fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date as day
from datetime import datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import fields as mm
from marshmallow import validate

from gatewayfw import schemas as gws
from gatewayfw.core import gateway
from gatewayfw.schemas import Mode
from tests.fuzz import field_values
from tests.fuzz.field_values import FLOATS, Maker, Values
from tests.fuzz.search import drawn
from tests.fuzz.zoo import Colour, Stay


@given(FLOATS)
def test_numbers_are_those_that_json_has(number: float) -> None:
    assert json.loads(json.dumps(number, allow_nan=False)) == number


LETTERS, KEYS = st.characters(codec="utf-8"), st.characters(codec="utf-8", exclude_characters="\0.$")
INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.text("0123456789abcdefABCDEF", min_size=24, max_size=24)


@pytest.mark.parametrize(
    ("strategy", "same"),
    [
        (field_values.INT64, INT64),
        (FLOATS, st.floats(allow_nan=False, allow_infinity=False)),
        (field_values.IDS, IDS),
        (field_values.TEXTS, st.text(LETTERS, max_size=8)),
        (
            field_values.SCALARS,
            st.none() | st.booleans() | INT64 | FLOATS | st.text(LETTERS, max_size=8) | IDS,
        ),
        (field_values.OBJECTS, st.dictionaries(st.text(KEYS, max_size=4), field_values.JSON, max_size=3)),
    ],
    ids=["INT64", "FLOATS", "IDS", "TEXTS", "SCALARS", "OBJECTS"],
)
def test_plain_values_have_these_bounds(strategy: Values, same: Values) -> None:
    assert repr(strategy) == repr(same)


def inside(value: Any) -> Iterator[Any]:
    """The lists and objects of JSON, the outermost first."""
    if isinstance(value, list | dict):
        yield value
        for inner in value.values() if isinstance(value, dict) else value:
            yield from inside(inner)


def test_json_is_drawn_small_and_with_keys_that_a_database_takes() -> None:
    found = drawn(field_values.JSON, 120)
    for kind in (list, dict):
        assert {len(one) for value in found for one in inside(value) if type(one) is kind} == {0, 1, 2, 3}
    keys = {key for value in found for one in inside(value) if isinstance(one, dict) for key in one}
    assert ({len(key) for key in keys}, set("".join(keys)) & set("\0.$")) == ({0, 1, 2, 3, 4}, set())


def test_words_in_addresses_are_short() -> None:
    hosts = [re.fullmatch(r"https://([a-z0-9]{1,8})\.example\.org/", text) for text in drawn(field_values.URLS)]
    mails = [re.fullmatch(r"[a-z0-9]{1,8}@([a-z0-9]{1,8})\.[a-z]+", text) for text in drawn(field_values.EMAILS)]
    for found in (hosts, mails):
        assert {1, 8} <= {len(one[1]) for one in found if one}
        assert None not in found


def test_only_fields_of_ones_own_are_tried_before_they_are_drawn() -> None:
    maker = Maker(gateway().schemas, "assert")
    for field, is_tried in (
        *((gws.string(size=(1, 5)), False), (gws.integer(minimum=1), False), (gws.email(), False), (gws.url(), False)),
        *((gws.string(pattern="[a-c]+x?"), False), (mm.Integer(), True), (mm.Integer(validate=bool), True)),
    ):
        assert ("taken" in repr(maker.values(field))) is is_tried


def values(field: Any, mode: Mode = "assert") -> list[Any]:
    return drawn(Maker(gateway().schemas, mode).values(field))


def kinds_of(found: list[Any]) -> set[str]:
    return {type(value).__name__ for value in found}


@pytest.mark.parametrize(
    ("field", "exact", "coerced"),
    [
        (gws.integer(), {"int"}, {"int", "float", "str"}),
        (gws.number(), {"int", "float"}, {"int", "float", "str"}),
        (gws.number(minimum=0.2, maximum=0.8), {"float"}, {"float", "str"}),
        (gws.boolean(), {"bool"}, {"bool", "str", "int"}),
        (gws.nullable(gws.integer()), {"NoneType", "int"}, {"NoneType", "int", "float", "str"}),
        (gws.enums("a", 1, 2.5, True), {"str", "int", "float", "bool"}, {"str", "int", "float", "bool"}),
    ],
    ids=["integer", "number", "fraction", "boolean", "nullable", "enums"],
)
def test_a_value_has_other_forms_only_where_it_is_converted(field: Any, exact: set[str], coerced: set[str]) -> None:
    assert (kinds_of(values(field)), kinds_of(values(field, "create"))) == (exact, coerced)


def test_numbers_reach_both_of_their_ends() -> None:
    assert set(values(gws.integer(minimum=-2, maximum=2))) == {-2, -1, 0, 1, 2}
    cents = values(gws.decimal(places=2, minimum=0, maximum="0.03"))
    assert set(cents) == {"0.00", "0.01", "0.02", "0.03"}
    large = [value for value in values(gws.integer(), "create") if abs(int(value)) > 2**53]
    assert len(large) > 0
    assert "float" not in kinds_of(large)


def test_texts_and_lists_have_the_sizes_that_are_allowed() -> None:
    sizes = {
        name: {len(value) for value in values(field)}
        for name, field in {
            "text": gws.string(size=(2, None)),
            "short": gws.string(size=(None, 1)),
            "long": gws.string(size=(1200, 1300)),
            "list": gws.array(gws.integer(), size=(1, 2)),
            "long list": gws.array(gws.boolean(), size=(40, 41)),
        }.items()
    }
    assert min(sizes["text"]) == 2
    assert max(sizes["text"]) <= 10
    assert sizes["short"] == {0, 1}
    assert sizes["long"] == {1200}
    assert sizes["list"] == {1, 2}
    assert sizes["long list"] == {40}


DATES = [r"\d{4}-\d\d-\d\d", r"\d{4}-\d\d-\d\dT[0-9:.]{8,15}", r"\d{4}-\d\d-\d\dT[0-9:.]{8,15}Z"]


def test_texts_of_a_kind_have_all_its_forms() -> None:
    dates = values(gws.date())
    assert [any(re.fullmatch(form, text) for text in dates) for form in DATES] == [True] * 3
    assert all(re.fullmatch("|".join(DATES), text) for text in dates)
    assert {urlsplit(text).scheme for text in values(gws.url())} == {"https"}
    assert {text.rpartition(".")[2] for text in values(gws.email())} == {"org", "com", "example"}
    assert {len(UUID(text).hex) for text in values(gws.uuid())} == {32}
    assert all(re.fullmatch("[0-9a-fA-F]{24}", text) for text in values(gws.object_id()))


@pytest.mark.parametrize(
    ("mode", "keys"),
    [("assert", {"list need", "list may need"}), ("create", {"need", "may need", "list need", "list may need"})],
)
def test_what_may_be_left_out_is_left_out_at_times(mode: Mode, keys: set[str]) -> None:
    fields = {"need": gws.integer(), "may": gws.optional(gws.integer()), "list": gws.defaulted(gws.integer(), 5)}
    assert {" ".join(sorted(value)) for value in values(gws.object_(fields), mode)} == keys


OWN = {
    "choice": (mm.String(validate=validate.OneOf(["a", "b"])), lambda value: value in ("a", "b")),
    "pattern": (mm.String(validate=validate.Regexp("^[a-c]{2}$")), lambda value: re.fullmatch("[a-c]{2}\n?", value)),
    "uuid": (mm.UUID(), UUID),
    "url": (mm.Url(), lambda value: value.startswith("https://")),
    "date": (mm.Date(), day.fromisoformat),
    "datetime": (mm.DateTime(), datetime.fromisoformat),
    "time": (mm.Time(), lambda value: re.fullmatch("[0-9:.]{8,15}", value)),
    "IPv4": (mm.IPv4(), lambda value: ip_address(value).version == 4),
    "IPv6": (mm.IPv6(), lambda value: ip_address(value).version == 6),
    "float": (mm.Float(validate=validate.Range(0.5, 0.75)), lambda value: 0.5 <= value <= 0.75),
    "tuple": (mm.Tuple((mm.String(), mm.Integer())), lambda value: isinstance(value, list) and len(value) == 2),
    "dict": (mm.Dict(), lambda value: isinstance(value, dict)),
    "enum": (mm.Enum(Colour), lambda value: value in ("RED", "BLUE")),
    "enum by value": (mm.Enum(Colour, by_value=True), lambda value: value in (1, 2)),
    "constant": (mm.Constant("x"), lambda value: value == "x"),
    "nested": (mm.Nested(Stay), lambda value: {"name"} <= value.keys() <= {"name", "number-of-nights", "tags"}),
    "many": (mm.Nested(Stay, many=True), lambda value: isinstance(value, list) and len(value) <= 3),
    "many of a schema": (mm.Nested(Stay(many=True)), lambda value: isinstance(value, list)),
}


@pytest.mark.parametrize(("field", "fits"), OWN.values(), ids=OWN)
def test_likely_values_of_a_field_of_marshmallow_are_of_its_form(field: Any, fits: Any) -> None:
    found = drawn(Maker(gateway().schemas, "create").likely(field), 20)
    assert [value for value in found if not fits(value)] == []
    assert len({json.dumps(value) for value in found}) > (0 if isinstance(field, mm.Constant) else 1)
