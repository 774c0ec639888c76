"""Documents are walked through in order, each once, from any place; what a run makes of it is tested with the runs."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw import string
from gatewayfw.odm.upkeep.inspection import Inspector, Place, walk

IDS = [None, 1, "a", ObjectId("65a000000000000000000001"), ObjectId("65a000000000000000000002")]


@pytest.fixture
def walked(odm, storage, monkeypatch):
    """A function that walks through two models, one without documents, in batches of two."""
    monkeypatch.setattr("gatewayfw.odm.upkeep.inspection.BATCH", 2)
    for name in ("empty", "thing"):
        odm.new_model(name, {"name": string()})
    storage.insert("thing", [{"_id": id_} for id_ in reversed(IDS)])
    batches = Inspector(odm.schemas, storage).batches

    def steps(model=None, after=None, counted=True):
        found = walk(odm.schemas, storage, batches, model, after, counted=counted)
        return [(schema.name, [one["_id"] for one in batch], place) for schema, batch, place in found]

    return steps


def test_each_model_ends_with_an_empty_batch(walked):
    steps = walked()
    assert [(name, ids) for name, ids, _ in steps] == [
        ("empty", []),
        *[("thing", IDS[:2]), ("thing", IDS[2:3]), ("thing", IDS[3:]), ("thing", [])],
    ]
    assert [place and (place.model, place.done, place.total) for _, _, place in steps] == [
        None,
        *[("thing", done, 5) for done in (2, 3, 5)],
        None,
    ]


def test_a_walk_goes_on_after_a_place(walked):
    steps = walked()
    for at, (_, _, place) in enumerate(steps):
        if place is not None:
            assert walked(after=place) == steps[at + 1 :]


def test_one_model_alone_is_walked_and_nothing_counted_unless_wanted(walked):
    assert walked("empty") == [("empty", [], None)]
    assert [place.total for _, _, place in walked("thing", counted=False) if place] == [0] * 3


@pytest.mark.parametrize("last", ["", "{", '{"$oid": 5}'])
def test_a_place_is_after_an_id(last):
    with pytest.raises(ValueError, match="last is not an _id"):
        Place("thing", last, 0, 0)
