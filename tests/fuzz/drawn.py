"""What the strategies draw for the acts of the zoo."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, Phase, given, settings

from gatewayfw.testing.field_values import Values
from tests.fuzz.hostile import good_bodies
from tests.fuzz.zoo import make_zoo

ZOO = make_zoo()
ACTS = ZOO.acts.get_acts("beast")
GOOD = {name: good_bodies(ZOO, act) for name, act in ACTS.items()}
short = settings(max_examples=8, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


def drawn(strategy: Values, examples: int = 60) -> list[Any]:
    """So many values of a strategy, the same ones in every run."""
    found: list[Any] = []

    @given(strategy)
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def look(value: Any) -> None:
        found.append(value)

    look()
    return found
