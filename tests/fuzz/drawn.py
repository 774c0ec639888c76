"""What the strategies draw for the acts of the zoo."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

from tests.fuzz.hostile import good_bodies
from tests.fuzz.zoo import make_zoo

ZOO = make_zoo()
ACTS = ZOO.acts.get_acts("beast")
GOOD = {name: good_bodies(ZOO, act) for name, act in ACTS.items()}
short = settings(max_examples=8, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
