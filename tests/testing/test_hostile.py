"""What the strategies of `gatewayfw.testing.hostile` draw, and what the validators make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw.schemas.fields import KINDS
from gatewayfw.testing.field_values import MAKERS
from gatewayfw.testing.hostile import BREAKS, good_bodies, hostile_bodies, hostile_bytes
from gatewayfw.testing.hostile_values import SPLICES
from tests.fuzz.growth import written
from tests.fuzz.search import draws
from tests.fuzz.targets import outcome, read, validated
from tests.fuzz.zoo import KIND_FIELDS, make_zoo

ZOO = make_zoo()
ACTS = ZOO.acts.get_acts("beast")
GOOD = {name: good_bodies(ZOO, act) for name, act in ACTS.items()}
HOSTILE = {name: hostile_bodies(ZOO, act) for name, act in ACTS.items()}
short = settings(max_examples=8, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


def test_every_kind_has_fields_to_draw_for() -> None:
    assert sorted(KIND_FIELDS) == sorted(KINDS)


@pytest.mark.parametrize("name", KIND_FIELDS)
def test_a_kind_is_drawn_by_a_strategy_of_its_own(name: str) -> None:
    assert {field.kind for field in KIND_FIELDS[name]} <= set(MAKERS)


@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_the_validator_takes_every_good_body(name: str, data: st.DataObject) -> None:
    body = data.draw(GOOD[name])
    assert outcome(validated, ZOO, ACTS[name], json.dumps(body).encode()) == "ok"


@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_a_hostile_body_ends_in_no_other_error_than_the_projects_own(name: str, data: st.DataObject) -> None:
    body = data.draw(HOSTILE[name])
    outcome(validated, ZOO, ACTS[name], json.dumps(body).encode())


@given(hostile_bytes(GOOD["kinds_create"]) | hostile_bytes())
@settings(short, max_examples=100)
def test_hostile_bytes_end_in_no_other_error_than_the_projects_own(data: bytes) -> None:
    outcome(read, ZOO, data)


@pytest.mark.parametrize("before", [b"", b"[", b'{"a":', b"{", b'"'])
def test_no_splice_ends_in_another_error_than_the_projects_own(before: bytes) -> None:
    results = {outcome(read, ZOO, before + splice + after) for splice in SPLICES for after in (b"", b"]", b"}", b":1}")}
    assert results == {"400 bad_request"}


@st.composite
def broken_by(draw: st.DrawFn, way: str) -> bytes:
    return written(BREAKS[way](draw, draw(GOOD["narrow_create"]), ZOO, ACTS["narrow_create"]))


@pytest.mark.parametrize("way", BREAKS)
def test_every_way_to_break_a_body_makes_some_that_are_refused(way: str) -> None:
    assert draws(broken_by(way), lambda data: outcome(validated, ZOO, ACTS["narrow_create"], data) != "ok")


@pytest.mark.parametrize("name", ["kinds_assert", "deep_create"])
def test_good_bodies_are_not_all_empty(name: str) -> None:
    assert draws(GOOD[name], lambda body: max(map(len, body["details"].values())) > 2)


@given(good_bodies(ZOO, ACTS["function_assert"], details=st.just({"set": {"stars": 5}, "get": {}})))
@short
def test_details_of_ones_own_stand_in_the_body(body: Any) -> None:
    named = {"model": "beast", "act": "function_assert", "details": {"set": {"stars": 5}, "get": {}}}
    assert {key: body[key] for key in named} == named
