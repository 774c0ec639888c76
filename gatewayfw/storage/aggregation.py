"""The stages of an aggregation pipeline: all but those that do more than read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.errors import UsageError
from gatewayfw.storage.filter_operators import is_list

#: Stages that write, or run for ever.
FORBIDDEN_STAGES = frozenset({"$out", "$merge", "$changeStream"})


def check_pipeline(pipeline: Sequence[Mapping[str, Any]]) -> None:
    """Check that an aggregation pipeline only reads.

    Raises:
        UsageError: a stage writes, at any depth, or the shape is not a pipeline.
    """
    if not is_list(pipeline):
        raise UsageError("pipeline: expected a list of stages")
    pending: list[Any] = list(pipeline)
    if any(not isinstance(stage, Mapping) or len(stage) != 1 for stage in pending):
        raise UsageError("pipeline: a stage is an object with one operator")
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            forbidden = FORBIDDEN_STAGES.intersection(value)
            if forbidden:
                raise UsageError(f"pipeline: {min(forbidden)} is not allowed")
            pending.extend(value.values())
        elif isinstance(value, (list, tuple)):
            pending.extend(value)
