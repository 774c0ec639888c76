"""The sums of a batch."""

from __future__ import annotations

import pytest

from gatewayfw.acts.lifecycle import BatchTotals
from gatewayfw.errors import ReplyTooLarge, ValidationError
from gatewayfw.schemas.get import Ceilings
from gatewayfw.settings import Settings

SETTINGS = Settings(max_get_leaves=4, max_get_queries=3, max_reply_bytes=100)
THREE = {"a": 1, "b": {"c": 1, "d": [1]}}


@pytest.fixture
def totals():
    return BatchTotals(SETTINGS)


def test_fields_of_all_gets_are_summed(totals):
    totals.add_get(THREE, SETTINGS)
    totals.add_get({}, SETTINGS)
    totals.add_get({"e": 1}, SETTINGS)
    with pytest.raises(ValidationError) as raised:
        totals.add_get({"f": 1}, SETTINGS)
    assert raised.value.errors == {"get": ["Too many fields: at most 4 in a batch."]}


def test_the_first_act_of_an_item_is_its_own(totals):
    found = [totals.claim()]
    totals.begin_item()
    found += [totals.claim(), totals.claim()]
    totals.begin_item()
    assert [*found, totals.claim()] == [False, True, False, True]


def test_a_get_that_was_refused_does_not_count(totals):
    totals.add_get(THREE, SETTINGS)
    with pytest.raises(ValidationError):
        totals.add_get(THREE, SETTINGS)
    totals.add_get({"e": 1}, SETTINGS)


def test_the_ceiling_of_an_act_counts_where_it_is_higher(totals):
    totals.add_get(THREE, SETTINGS)
    totals.add_get(THREE, Ceilings(2, 6))
    with pytest.raises(ValidationError):
        totals.add_get({"e": 1}, SETTINGS)


def test_the_dearest_get_of_each_item_counts(totals):
    totals.begin_item()
    for queries in (2, 1, 2):
        totals.add_queries(queries)
    totals.begin_item()
    totals.add_queries(1)
    with pytest.raises(ValidationError) as raised:
        totals.add_queries(2)
    assert raised.value.errors == {"get": ["Too many relations of related documents: at most 3 in a batch."]}


def test_items_without_queries_use_none_up(totals):
    for _ in range(3):
        totals.begin_item()
    totals.add_queries(3)


def test_bytes_are_summed_up_to_the_setting_or_the_higher_bound_of_the_act(totals):
    assert totals.bytes_left(100) == 100
    totals.add_bytes(70)
    assert [totals.bytes_left(most) for most in (100, 20, 150)] == [30, 20, 80]
    totals.add_bytes(70)
    assert [totals.bytes_left(most) for most in (100, 150)] == [0, 10]


def test_an_error_names_the_bound_that_refused(totals):
    totals.add_bytes(70)
    totals.bytes_left(100)
    assert (totals.most_bytes(30), totals.most_bytes(100)) == (100, 100)
    totals.bytes_left(20)
    assert totals.most_bytes(20) == 20


def test_the_reply_of_a_remote_service_counts_too(totals):
    totals.check_bytes(100)
    totals.add_bytes(100)
    with pytest.raises(ReplyTooLarge, match=r"more than 100 bytes; whatever this request wrote stays;"):
        totals.check_bytes(1)
