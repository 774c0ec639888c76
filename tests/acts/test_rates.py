"""The forms of ``limit``."""

from __future__ import annotations

import pytest

from gatewayfw.acts.rates import limit_texts
from gatewayfw.errors import DefinitionError


@pytest.mark.parametrize(
    ("limit", "texts"), [(None, ()), ("1/minute", ("1/minute",)), (["1/minute", "9/day"], ("1/minute", "9/day"))]
)
def test_a_limit_is_one_text_or_several(limit, texts):
    assert limit_texts(limit) == texts


@pytest.mark.parametrize("limit", [5, [], [5], {"1/minute"}, ["1/minute", None]])
def test_anything_else_is_refused(limit):
    with pytest.raises(DefinitionError) as caught:
        limit_texts(limit)
    assert caught.value.message == "limit must be a text such as '10/minute', or a list of such"
