"""A test has a context wherever its code is first imported: gatewayfw.open_contexts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gatewayfw.open_contexts import OPEN_CONTEXTS, open_scratch

#: A context of a test that begins before the functions which work on it are imported.
SCRIPT = """
import gatewayfw, gatewayfw.open_contexts, sys
assert "gatewayfw.acts" not in sys.modules
with gatewayfw.open_contexts.open_scratch():
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
