"""The names that the package offers: gatewayfw.odm."""

from __future__ import annotations

from gatewayfw import odm


def test_what_is_offered_is_there():
    offered = "Cursor DeleteResult Integrity Misfits Model Odm Operators Place Problem UpdateResult"
    assert odm.__all__ == offered.split()
    assert [getattr(odm, name).__name__ for name in odm.__all__] == odm.__all__
