"""Indexes, as adapters are told of them."""

from __future__ import annotations

import pytest

from gatewayfw.storage.terms import Index


@pytest.mark.parametrize(("options", "unique"), [({}, False), ({"unique": False}, False), ({"unique": True}, True)])
def test_an_index_knows_whether_it_is_unique(options, unique):
    assert Index((("a", 1),), options).unique is unique
