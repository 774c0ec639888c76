"""Dates: the same moment in any notation, naive UTC of whole milliseconds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from gatewayfw.schemas import date
from gatewayfw.schemas.kinds import as_kind, quick_of
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

MOMENT = datetime(2026, 11, 21, 6, 30)
NOT = ["Not a valid ISO 8601 date."]


@pytest.mark.parametrize("text", ["2026-11-21T06:30:00Z", "2026-11-21T10:00:00.000+03:30", "2026-11-21T06:30"])
def test_assert_keeps_each_notation_and_create_loads_the_moment(text):
    assert [checked(date(), text, mode) for mode in ("assert", "create")] == [text, MOMENT]


def test_a_dump_names_its_zone_and_milliseconds():
    assert date().serialize("x", {"x": MOMENT + timedelta(microseconds=1_000)}) == "2026-11-21T06:30:00.001Z"
    assert date().serialize("x", {"x": None}) is None


def test_filters_compare_with_moments():
    eastern = MOMENT.replace(tzinfo=timezone(timedelta(hours=-5)))
    assert compared(date(), MOMENT, eastern, "2026-11-21T06:30Z") == [MOMENT, MOMENT + timedelta(hours=5), MOMENT]
    assert compared(date(), None, 5, "yesterday", MOMENT.date()) == [None, *[{"x": NOT}] * 3]


def test_a_date_sorts_and_has_the_size_of_a_number():
    assert answers(date()) == {
        "sorts": True,
        "abilities": ["DATE", "ORDER"],
        "sets parts": False,
        "largest": 8,
        "unstated": [],
    }


def test_good_dates_are_known_and_loaded_quickly():
    quick = quick_of(date())
    given = [
        MOMENT,
        "2026-11-21T06:30",
        "2026-02-30",
        "x",
        5,
        MOMENT.date(),
        type("Moment", (datetime,), {})(2026, 1, 1),
    ]
    assert [bool(quick.test(value)) for value in given] == [True, True, False, False, False, False, False]
    assert [quick.load(value) for value in ("2026-11-21T06:30", "x", 5)] == [MOMENT, "x", 5]
    assert quick.load(MOMENT) is MOMENT
    assert as_kind(date()).description() == {"kind": "date"}
