"""One plain description of a gateway, which the playground and exports read."""

from __future__ import annotations

from gatewayfw.catalog.build import FORMAT, build

__all__ = ["FORMAT", "build"]
