"""Which stages a pipeline may have."""

from __future__ import annotations

import pytest

from gatewayfw.errors import UsageError
from gatewayfw.storage.subset import check_pipeline


@pytest.mark.parametrize(
    "pipeline",
    [
        [],
        ({"$match": {"a": "$out"}}, {"$group": {"_id": "$a", "n": {"$sum": 1}}}),
        [{"$lookup": {"from": "x", "pipeline": [{"$match": {}}], "as": "y"}}],
        [{"$facet": {"a": [{"$limit": 1}]}}],
    ],
    ids=str,
)
def test_pipelines_that_only_read(pipeline):
    assert check_pipeline(pipeline) is None


NO_STAGE = "pipeline: a stage is an object with one operator"


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (None, "pipeline: expected a list of stages"),
        ({"$match": {}}, "pipeline: expected a list of stages"),
        ("$match", "pipeline: expected a list of stages"),
        (b"$match", "pipeline: expected a list of stages"),
        ([1], NO_STAGE),
        ([{}], NO_STAGE),
        ([{"$match": {}, "$limit": 1}], NO_STAGE),
        ([{"$match": {}}, {"$out": "x"}], "pipeline: $out is not allowed"),
        ([{"$merge": {"into": "x"}}], "pipeline: $merge is not allowed"),
        ([{"$changeStream": {}}], "pipeline: $changeStream is not allowed"),
        ([{"$lookup": {"pipeline": [{"$merge": "x"}]}}], "pipeline: $merge is not allowed"),
        ([{"$facet": {"a": [{"$unionWith": {"pipeline": ({"$out": "x"},)}}]}}], "pipeline: $out is not allowed"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_pipelines_that_do_more(pipeline, message):
    with pytest.raises(UsageError) as caught:
        check_pipeline(pipeline)
    assert caught.value.message == message
