"""Lists: their elements, what filters compare with, their size in the database."""

from __future__ import annotations

from gatewayfw.schemas import array, integer, object_id, string
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.base import Maxima
from gatewayfw.schemas.kinds.sizes import ENDLESS, list_bytes
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

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
    common = {"sorts": False, "operators": ["$addToSet", "$pop", "$pull", "$push"], "sets parts": False}
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
