"""Apply plans: the only place that sends what an operation writes."""

from __future__ import annotations

from typing import TypeVar

from gatewayfw.errors import GatewayError
from gatewayfw.odm.writing.plan.steps import Plan
from gatewayfw.storage import Storage

T = TypeVar("T")


def apply(storage: Storage, plan: Plan[T]) -> T:
    """Send the steps of a plan, in order, and return its result.

    An error of a step is raised inside the plan, which may go on in another way. Call it inside
    ``storage.transaction``: then all of its writes happen, or none.
    """
    try:
        step = next(plan)
        while True:
            try:
                found = step.send(storage)
            except GatewayError as error:
                step = plan.throw(error)
            else:
                step = plan.send(found)
    except StopIteration as end:
        result: T = end.value
        return result
