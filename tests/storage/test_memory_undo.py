"""What a thread remembers of its transaction in memory, and puts aside."""

from __future__ import annotations

import pytest

from gatewayfw.storage.memory_undo import Undo


def test_nothing_is_open_aside_and_everything_is_as_before_afterwards():
    undo, images, failed = Undo(), [("things", 1, None)], KeyError()
    undo.images, undo.failed = images, failed
    assert undo.aside(lambda: (undo.images, undo.failed)) == (None, None)
    with pytest.raises(ZeroDivisionError):
        undo.aside(lambda: 1 / 0)
    assert (undo.images is images, undo.failed is failed) == (True, True)
