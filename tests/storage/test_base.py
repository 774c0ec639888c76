"""What the interface itself promises: indexes, and what an adapter may leave as it is."""

from __future__ import annotations

import pytest

from gatewayfw.storage.base import Index, Storage


@pytest.mark.parametrize(("options", "unique"), [({}, False), ({"unique": False}, False), ({"unique": True}, True)])
def test_an_index_knows_whether_it_is_unique(options, unique):
    assert Index((("a", 1),), options).unique is unique


def test_an_adapter_must_write_all_abstract_methods():
    class Half(Storage):
        def close(self):
            pass

    with pytest.raises(TypeError, match="abstract"):
        Half()
