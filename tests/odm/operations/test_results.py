"""What writes return."""

from __future__ import annotations

import pytest

from gatewayfw.odm.operations.results import DeleteResult


@pytest.mark.parametrize(("count", "expected"), [(0, False), (1, True), (3, True)])
def test_the_result_of_a_delete_says_whether_there_was_one(count, expected):
    assert bool(DeleteResult(deletedCount=count, cascaded={})) is expected
