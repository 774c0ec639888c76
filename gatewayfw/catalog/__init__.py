"""One plain description of a gateway: what the playground and every export read, and nothing else."""

from __future__ import annotations

from gatewayfw.catalog.build import FORMAT, build

__all__ = ["FORMAT", "build"]
