"""How many examples a test of random values tries."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

#: ``GATEWAYFW_TEST_EXAMPLES=1000 pytest ...`` tries a thousand times as many.
TIMES = int(os.environ.get("GATEWAYFW_TEST_EXAMPLES", "1"))


def examples(number: int) -> settings:
    """Return the settings of a test that tries so many examples, on one database for all of them."""
    slow = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
    return settings(max_examples=number * TIMES, deadline=None, suppress_health_check=slow)
