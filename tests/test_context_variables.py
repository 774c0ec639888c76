"""Who calls, by the models of a gateway, and which contexts are open."""

from __future__ import annotations

import subprocess
import sys
from contextvars import copy_context
from threading import Thread

import pytest

from gatewayfw.context_variables import CALLERS, OPEN_CONTEXTS, Caller, Free, calling, for_later, open_scratch


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


def test_what_is_called_later_has_the_callers_of_before():
    ours, caller = object(), Caller("Clerk", {})
    with calling(ours, caller):
        look = for_later(CALLERS.get)
    with calling(ours, Free.HOOKS):
        assert look() == {ours: caller}
        assert CALLERS.get() == {ours: Free.HOOKS}


# -- a test has a context wherever its code is first imported

#: A context of a test that begins before the functions which work on it are imported.
SCRIPT = """
import gatewayfw, gatewayfw.context_variables, sys
assert "gatewayfw.acts" not in sys.modules
with gatewayfw.context_variables.open_scratch():
    gw = gatewayfw.gateway()
    gw.context_fns.add_context({"user": "Ana"})
    print(gw.context_fns.get_context_model().user)
"""


def test_a_context_is_there_before_the_functions_are():
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("Ana\n", "")


def test_what_was_open_returns_after_a_scratch():
    before = OPEN_CONTEXTS.get()
    with pytest.raises(ZeroDivisionError), open_scratch():
        assert (OPEN_CONTEXTS.get().opened, OPEN_CONTEXTS.get().scratch) == (before.opened, {})
        raise ZeroDivisionError
    assert OPEN_CONTEXTS.get() is before
