"""What all kinds share: defaults, stored forms, and whose class a kind is of."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from bson import ObjectId

from gatewayfw.schemas import date, integer, string
from gatewayfw.schemas.kinds.base import Constant, cut, described_default, quick_of
from gatewayfw.schemas.kinds.text import StringField

MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1_999)
CUT = MOMENT.replace(microsecond=1_000)


def test_a_constant_gives_a_copy_each_time():
    default = Constant({"a": [1]})
    default()["a"].append(2)
    assert default() == {"a": [1]}


def test_every_date_in_a_value_is_cut_and_nothing_else_changed():
    given = {"a": [MOMENT, {"b": MOMENT.replace(tzinfo=UTC)}], "c": "text"}
    assert cut(given) == {"a": [CUT, {"b": CUT}], "c": "text"}
    assert given["a"][0] == MOMENT


@pytest.mark.parametrize(
    ("default", "told"),
    [
        (ObjectId("0" * 24), {"default": "0" * 24}),
        (MOMENT, {"default": "2024-02-29T12:00:00.001Z"}),
        (MOMENT.replace(tzinfo=UTC), {"default": "2024-02-29T12:00:00.001+00:00"}),
        ([1, None], {"default": [1, None]}),
        (object(), {}),
    ],
    ids=["id", "date", "date of a zone", "JSON", "no JSON"],
)
def test_a_default_is_told_as_clients_would_send_it(default, told):
    assert described_default(default) == told


class Loud(StringField):
    """A user's subclass."""


def test_a_users_subclass_is_not_taken_for_ours():
    assert (StringField.own, Loud.own) == (True, False)
    assert quick_of(Loud()) is None


def test_a_quick_way_is_kept_and_loads_and_stores():
    field = date()
    quick = quick_of(field)
    assert quick_of(field) is quick
    assert (quick.test("2024-02-29"), quick.test("x"), quick.load("2024-02-29")) == (
        True,
        False,
        datetime(2024, 2, 29),
    )


@pytest.mark.parametrize(("kind", "good", "bad"), [(string, "a", 1), (integer, 1, "1")])
def test_a_quick_test_knows_good_values_only(kind, good, bad):
    quick = quick_of(kind())
    assert (quick.test(good), quick.test(bad)) == (True, False)
