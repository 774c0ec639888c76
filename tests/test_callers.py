"""Who calls, by the models of a gateway: gatewayfw.callers."""

from __future__ import annotations

from contextvars import copy_context
from threading import Thread

import pytest

from gatewayfw.callers import CALLERS, Caller, Free, calling


def test_a_block_has_a_caller_for_each_gateway_and_ends_with_those_before():
    ours, theirs, caller = object(), object(), Caller("Clerk", {})
    with calling(ours, Free.HOOKS), pytest.raises(ZeroDivisionError), calling(theirs, caller):
        assert CALLERS.get() == {ours: Free.HOOKS, theirs: caller}
        raise ZeroDivisionError
    assert CALLERS.get() == {}


@pytest.mark.parametrize("handed_on", [False, True])
def test_a_thread_has_the_caller_only_if_it_was_handed_on(handed_on):
    ours, caller, found = object(), Caller("Clerk", {}), []

    def look():
        found.append(CALLERS.get().get(ours))

    with calling(ours, caller):
        thread = Thread(target=copy_context().run if handed_on else look, args=(look,) if handed_on else ())
        thread.start()
        thread.join()
    assert found == [caller if handed_on else None]
