"""The names that the package offers: gatewayfw.catalog."""

from __future__ import annotations

from gatewayfw import catalog


def test_what_is_offered_is_there():
    assert catalog.__all__ == ["FORMAT", "build"]
    assert catalog.FORMAT == 1
    assert catalog.build.__name__ == "build"
