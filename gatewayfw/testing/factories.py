"""Hypothesis strategies of valid documents, made from what a model declares.

Needs hypothesis, which gatewayfw itself does not::

    @given(documents(gw, "book"))
    def test_every_book_can_be_listed(book): ...
"""

from __future__ import annotations

from typing import Any

from hypothesis.strategies import SearchStrategy

from gatewayfw.core import Gateway
from gatewayfw.testing.field_values import Maker


def documents(gw: Gateway, model: str) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy of what `Model.insert_one` takes as ``doc``.

    A unique index may still refuse one; required relations are for the test to give.

    Raises:
        NotFound: there is no such model.
    """
    maker = Maker(gw.schemas, "create")
    return maker.fields(gw.schemas.get_schema(model).pure, maker.values)
