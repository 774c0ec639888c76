"""The names that the package offers: gatewayfw.client."""

from __future__ import annotations

from gatewayfw import client


def test_what_is_offered_is_there():
    offered = "BadReply CallError CallReply HttpClient InProcessClient NoReply"
    assert client.__all__ == ["MAX_BYTES", *offered.split()]
    assert [getattr(client, name).__name__ for name in offered.split()] == offered.split()
    assert client.MAX_BYTES == 16_777_240
