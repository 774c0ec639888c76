"""Good and hostile bodies through the whole of the sample service: what a client sees, and what is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.sample import Sample, hidden_in, within
from tests.fuzz.search import draws
from tests.fuzz.targets import outcome, validated

short = settings(max_examples=8, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
SAMPLE = Sample()
ACTS = list(SAMPLE.acts)
GOOD = {name: SAMPLE.good(name) for name in ACTS}
HOSTILE = {name: SAMPLE.hostile(name) for name in ACTS}


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left():
    yield
    assert SAMPLE.data() == SAMPLE.start


def sent(body: Any) -> tuple[int, Any]:
    """Send a body; whatever is not answered 200 must not have written, and what is written is undone."""
    status, envelope = SAMPLE.post(body)
    changed = SAMPLE.data() != SAMPLE.start
    if changed:
        SAMPLE.restore()
    assert not (changed and status != 200)
    return status, envelope


def check_reply(body: Any, status: int, envelope: Any) -> None:
    assert envelope.keys() == {"body", "success"}
    assert hidden_in(envelope) == set()
    if status == 200:
        shown = envelope["body"]
        result = SAMPLE.acts[f"{body['model']}.{body['act']}"].result
        if isinstance(result, dict) and "rows" in result:  # a page of a listing
            assert {"rows", "next"} <= shown.keys() <= {"rows", "next", "total"}
            shown = shown["rows"]
        assert envelope["success"] is True
        assert within(body["details"]["get"], shown)
    else:
        assert 400 <= status < 500
        assert envelope["success"] is False
        assert envelope["body"].keys() == {"message"}


@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_a_good_body_passes_the_validator_and_shows_what_it_asked_for(name: str, data: st.DataObject) -> None:
    body = data.draw(GOOD[name])
    assert outcome(validated, SAMPLE.gw, SAMPLE.acts[name], json.dumps(body).encode()) == "ok"
    check_reply(body, *sent(body))


@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_a_hostile_body_writes_nothing_and_shows_nothing(name: str, data: st.DataObject) -> None:
    body = data.draw(HOSTILE[name])
    check_reply(body, *sent(body))


#: Acts that write, with the model whose ids they want; None for several.
WRITING = {"user.addUser": None, "user.updateUser": "user", "user.removeUser": "user", "city.addCity": "country"}


@pytest.mark.parametrize(("name", "model"), WRITING.items())
def test_good_bodies_do_reach_the_database(name: str, model: str | None) -> None:
    assert draws(SAMPLE.good(name, model), lambda body: sent(body)[0] == 200)
