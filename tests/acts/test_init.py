"""The names that the package offers: gatewayfw.acts."""

from __future__ import annotations

from gatewayfw import acts


def test_what_is_offered_is_there():
    offered = "Act Acts Context ContextFns Headers Lifecycle RemoteService Reply RequestBounds UnknownName"
    assert acts.__all__ == offered.split()
    assert [getattr(acts, name).__name__ for name in acts.__all__] == acts.__all__
