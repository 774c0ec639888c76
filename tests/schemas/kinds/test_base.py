"""What all kinds share: defaults, stored forms, and whose class a kind is of."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError
from datetime import datetime

import pytest
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas import any_, date, integer, nullable, string
from gatewayfw.schemas.kinds import Doubtful, as_kind
from gatewayfw.schemas.kinds.base import Constant, Kind, quick_of
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.schemas.kinds.text import StringField

MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1_999)
CUT = MOMENT.replace(microsecond=1_000)


def test_a_constant_gives_a_copy_each_time():
    default = Constant({"a": [1]})
    default()["a"].append(2)
    assert default() == {"a": [1]}


def test_of_a_field_of_which_nothing_is_known_nothing_is_claimed():
    kind = Kind()
    said = ("kind", "sorts", "is_text", "abilities", "sets_parts", "is_free", "is_unknown")
    assert [getattr(kind, name) for name in said] == ["", False, False, frozenset(), False, False, False]
    assert kind.states_maximum is True
    assert kind.reads_otherwise is False
    assert kind.elements is None
    assert (kind.parts("x"), kind.part("a")) == ((), None)
    assert (kind.quick_test(), kind.loader(fill=True)) == (None, None)
    assert kind.largest == ENDLESS
    assert list(kind.unstated("x")) == ["x"]
    assert kind.description() == {"kind": ""}
    assert [kind.amount(by) for by in (1, 0.5, "1")] == [kind.factor(by) for by in (1, 0.5, "1")] == [1, 0.5, None]
    assert (kind.current(MOMENT), kind.storer()(MOMENT)) == (MOMENT, MOMENT)


def test_what_a_field_of_another_refuses_is_doubtful():
    with pytest.raises(Doubtful) as caught:
        as_kind(mm.Integer()).operand("many", "x")
    assert caught.value.errors == {"x": ["Invalid value."]}


def test_a_field_of_ours_says_in_its_own_words_what_is_not_compared():
    with pytest.raises(Refused) as caught:
        as_kind(StringField(error_messages={"invalid": "No text."})).operand(5, "x")
    assert caught.value.errors == {"x": ["No text."]}


def test_what_a_field_is_made_with_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Constant(1).value = 5


def test_a_constant_is_loaded_where_its_field_does_not():
    assert (Constant("1")(), Constant("1", int)()) == ("1", 1)


def test_a_class_of_ours_is_not_for_deriving():
    with pytest.raises(TypeError, match="Loud: derive it from a field of marshmallow's, not of gatewayfw's"):
        type("Loud", (StringField,), {})
    assert quick_of(mm.String()) is None


def test_null_is_known_where_it_is_taken():
    assert [quick_of(field).test(None) for field in (integer(), nullable(integer()), any_())] == [False, True, True]


def test_a_copy_of_a_field_has_a_quick_way_of_its_own():
    field = integer()
    first = quick_of(field)
    other = copy.copy(field)
    assert quick_of(other) is not first
    assert quick_of(other).field is other


def test_a_quick_way_is_kept_and_loads_and_stores():
    field = date()
    quick = quick_of(field)
    assert quick_of(field) is quick
    assert quick.test("2024-02-29") is True
    assert quick.test("x") is False
    assert quick.load("2024-02-29") == datetime(2024, 2, 29)


@pytest.mark.parametrize(("kind", "good", "bad"), [(string, "a", 1), (integer, 1, "1")])
def test_a_quick_test_knows_good_values_only(kind, good, bad):
    quick = quick_of(kind())
    assert quick.test(good) is True
    assert quick.test(bad) is False
