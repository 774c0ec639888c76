"""Hypothesis strategies of valid documents, made from what a model declares.

Needs hypothesis, which gatewayfw itself does not::

    @given(documents(gw, "book"))
    def test_every_book_can_be_listed(book): ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis.strategies import SearchStrategy

from gatewayfw.core import Gateway
from gatewayfw.testing.field_values import Maker


def documents(gw: Gateway, model: str) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy of what `Model.insert_one` takes as ``doc``.

    A unique index may still refuse such a document, and the test must give the required relations.

    Raises:
        NotFound: there is no such model.
    """
    # A model fills defaults in, but converts nothing.
    exact = Maker(gw.schemas, "assert")
    return replace(exact, mode="create").fields(gw.schemas.get_schema(model).pure, exact.values)
