"""What ``assert`` refuses beside what load refuses: all that load would change."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import array, date, defaulted, integer, mapping, object_
from gatewayfw.schemas.exactness import check_keys, load_exactly
from gatewayfw.schemas.paths import Collected


def told(field, sent, *, fill=False):
    collected = Collected()
    loaded = load_exactly(field, sent, "x", collected, fill=fill)
    return loaded, dict(collected.errors)


def test_what_load_leaves_unchanged_is_exact():
    assert told(object_({"a": array(integer)}), {"a": [1, 2]}) == ({"a": [1, 2]}, {})


@pytest.mark.parametrize(
    ("field", "sent", "path"),
    [
        (integer(), 5.0, "x"),
        (array(array(integer)), [[1], [2, 3.0]], "x.1.1"),
        (object_({"a": mapping(integer)}), {"a": {"k": 1.0}}, "x.a.k"),
    ],
    ids=["value", "in lists", "in objects"],
)
def test_what_load_changes_is_told_where_it_is(field, sent, path):
    assert told(field, sent)[1] == {path: ["Not a valid integer."]}


def test_parts_after_the_errors_at_which_loading_stopped_are_not_judged():
    """Long keys are cut in paths, so that many errors may have one path."""
    sent = {"k" * 70 + str(number): 1 for number in range(150)}
    _, errors = told(mapping(object_({"a": integer()})), sent)
    assert list(errors) == ["x." + "k" * 64]
    assert set(errors["x." + "k" * 64]) == {"Not a valid mapping type."}


def test_refused_and_changed_parts_are_all_told():
    assert told(object_({"a": integer(), "b": integer(), "c": integer()}), {"a": 5.0, "b": "x", "c": 1}) == (
        None,
        {"x.a": ["Not a valid integer."], "x.b": ["Not a valid integer."]},
    )


def test_a_filled_default_is_a_change_unless_it_may_be_filled():
    field = object_({"a": defaulted(integer, 1)})
    assert told(field, {})[1] == {"x.a": ["Missing data for required field."]}
    assert told(field, {}, fill=True) == ({"a": 1}, {})


def test_a_date_in_another_notation_is_the_same():
    assert told(date(), "2024-01-01T02:00:00+02:00")[1] == {}


def test_keys_the_database_cannot_hold_are_told_with_their_places():
    collected = Collected()
    check_keys({"a": [{}, {"$b": 1}], "c.d": 2, "e": {"f": 1}}, "x", collected)
    told = ["Not a key the database can hold."]
    assert collected.errors == {"x.a.1.$b": told, "x.c.d": told}
