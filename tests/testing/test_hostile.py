"""What the strategies of `gatewayfw.testing.hostile` draw, and what the validators make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw import gateway
from gatewayfw.schemas import string
from gatewayfw.testing.hostile import BREAKS, good_bodies, hostile_bodies, hostile_bytes, names_of
from tests.fuzz.growth import written
from tests.fuzz.search import draws
from tests.fuzz.targets import outcome, validated
from tests.testing.drawn import ACTS, GOOD, ZOO, short

HOSTILE = {name: hostile_bodies(ZOO, act) for name, act in ACTS.items()}


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


@st.composite
def broken_by(draw: st.DrawFn, way: Any) -> bytes:
    return written(way(draw, draw(GOOD["narrow_create"]), ZOO, ACTS["narrow_create"]))


@pytest.mark.parametrize("way", BREAKS)
def test_every_way_to_break_a_body_makes_some_that_are_refused(way: Any) -> None:
    assert draws(broken_by(way), lambda data: outcome(validated, ZOO, ACTS["narrow_create"], data) != "ok")


RAW = {
    "as it is": lambda data: data == b'{"a": "\xed\xa0\x80"}',
    "in ASCII, indented": lambda data: data == b'{\n "a": "\\ud800"\n}',
    "cut": lambda data: len(data) < 12 and data.startswith(b'{"a"'),
    "with something put in": lambda data: data.startswith(b'{"a"') and len(data) > 16,
}


@pytest.mark.parametrize("wanted", RAW.values(), ids=RAW)
def test_raw_bodies_are_json_of_the_bodies_and_what_is_nearly_that(wanted: Any) -> None:
    assert draws(hostile_bytes(st.just({"a": "\ud800"})), wanted, examples=200)


@pytest.mark.parametrize("name", ["kinds_assert", "deep_create"])
def test_good_bodies_are_not_all_empty(name: str) -> None:
    assert draws(GOOD[name], lambda body: max(map(len, body["details"].values())) > 2)


@given(good_bodies(ZOO, ACTS["function_assert"], details=st.just({"set": {"stars": 5}, "get": {}})))
@short
def test_details_of_ones_own_stand_in_the_body(body: Any) -> None:
    named = {"model": "beast", "act": "function_assert", "details": {"set": {"stars": 5}, "get": {}}}
    assert {key: body[key] for key in named} == named


def test_all_names_of_documents_are_known() -> None:
    gw = gateway()
    gw.odm.new_model("user", {"email": string})
    written = {
        "schemaName": "user",
        "type": "single",
        "optional": True,
        "relatedRelations": {"books": {"type": "multiple"}},
    }
    gw.odm.new_model("book", {"title": string}, {"author": written})
    assert names_of(gw) == ["author", "books", "email", "title"]
