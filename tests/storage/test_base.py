"""What the interface itself promises, and what an adapter may leave as it is."""

from __future__ import annotations

import pytest

from gatewayfw.storage.base import Storage


def test_an_adapter_must_write_all_abstract_methods():
    class Half(Storage):
        def close(self):
            pass

    with pytest.raises(TypeError, match="abstract"):
        Half()
