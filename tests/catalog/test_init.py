"""The names that the package offers: gatewayfw.catalog."""

from __future__ import annotations

from gatewayfw import catalog


def test_what_is_offered_is_there():
    assert (catalog.__all__, catalog.FORMAT, catalog.build.__name__) == (["FORMAT", "build"], 1, "build")
