"""Lists: their elements, what filters compare with, their size in the database."""

from __future__ import annotations

import pytest
from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.schemas import array, date, defaulted, integer, nullable, object_, object_id, optional, string
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.array import ArrayField
from gatewayfw.schemas.kinds.base import Maxima
from gatewayfw.schemas.kinds.sizes import ENDLESS, list_bytes
from gatewayfw.schemas.structs import check_value
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared
from tests.schemas.kinds.seen import Placed, Refusing

NOT = ["Not a valid integer."]


def test_a_list_that_is_too_long_is_refused_before_its_elements():
    assert checked(array(integer, size=(None, 2)), ["x"] * 3, "assert") == {
        "set.x": ["Longer than maximum length 2."],
    }


def test_filters_compare_with_one_element_or_a_whole_list():
    assert compared(array(integer), 1, [1, 2], [], None) == [1, [1, 2], [], None]
    assert compared(array(integer), "1", [1, "2"]) == [{"x": NOT}, {"x.1": NOT}]


def test_in_a_list_of_lists_a_list_is_an_element_where_it_is_no_whole():
    assert compared(array(array(integer)), [[1], [2]], [1, 2], 1) == [[[1], [2]], [1, 2], 1]


def test_a_list_is_as_large_as_its_elements_together():
    common = {"sorts": False, "abilities": ["LIST"], "sets parts": False}
    assert answers(array(integer, size=3)) == {**common, "largest": list_bytes(3, 8), "unstated": []}
    assert answers(array(string)) == {**common, "largest": ENDLESS, "unstated": ["x", "x[]"]}


def test_parts_are_the_elements_at_every_index():
    field = as_kind(array(integer))
    assert [path for path, _ in field.parts("x")] == ["x[]"]
    assert (field.part(0) is field.elements, field.part("name")) == (True, None)


def test_a_setting_bounds_lists_of_ids_only():
    maxima = Maxima(text=1, stated=1, ids=2)
    ids = as_kind(array(object_id)).bound(maxima)
    assert checked(ids, ["0" * 24] * 3, "assert") == {"set.x": ["Longer than maximum length 2."]}
    numbers = array(integer)
    assert as_kind(numbers).bound(maxima) is numbers


@pytest.mark.parametrize(("count", "asked"), [(99, 99), (100, 100), (101, 101), (150, 101)])
def test_elements_after_the_errors_that_are_told_are_not_judged(count, asked):
    field = Refusing()
    assert checked(array(field), [1] * count, "create") == {f"set.x.{at}": ["No."] for at in range(min(count, 100))}
    assert field.asked == asked


def test_elements_are_dumped_with_the_place_of_their_list():
    assert array(Placed()).serialize("x", {"x": [1]}) == [(1, "x", {"x": [1]})]
    assert array(date()).serialize("x", {"x": None}) is None


def test_good_lists_are_loaded_and_filled_quickly():
    quick = quick_of(array(object_({"at": optional(date), "n": defaulted(integer, 1)})))
    assert (quick.load([{}]), quick.fill([{}])) == ([{}], [{"n": 1}])
    good = [{"n": 2}]
    assert (quick.fill(good) is good, quick.fill(({},))) == (True, ({},))
    assert as_kind(array(string)).loader(fill=True) is None


class Mine(ArrayField):
    """A user's own list."""


def test_a_users_own_list_is_always_loaded():
    field = Mine(date())
    assert (field.loader(fill=True), field.load_quickly({}), quick_of(field)) == (None, missing, None)


def test_a_list_that_may_be_null_is_stored_as_null():
    assert check_value(nullable(array(mm.Date())), None, "x") is None


def test_a_list_is_described_with_its_elements_and_lengths():
    assert as_kind(array(integer, size=(1, 3))).description() == {
        "kind": "array",
        "items": {"kind": "integer", "presence": "required"},
        "minItems": 1,
        "maxItems": 3,
    }


def test_a_setting_bounds_a_list_of_ids_unless_it_gives_no_number():
    ids = as_kind(array(object_id))
    assert ids.bound(Maxima(text=1, stated=1)) is ids
    bound = ids.bound(Maxima(text=1, stated=1, ids=0))
    assert (checked(bound, [], "assert"), checked(bound, ["0" * 24], "assert")) == (
        [],
        {"set.x": ["Longer than maximum length 0."]},
    )
    assert (bound.states_maximum, ids.states_maximum) == (False, True)
