"""A test has a context wherever its code is first imported: gatewayfw.opened."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gatewayfw.opened import OPEN, open_scratch

#: A context of a test that begins before the functions which work on it are imported.
SCRIPT = """
import gatewayfw, gatewayfw.opened, sys
assert "gatewayfw.acts" not in sys.modules
with gatewayfw.opened.open_scratch():
    gw = gatewayfw.gateway()
    gw.context_fns.add_context({"user": "Ana"})
    print(gw.context_fns.get_context_model().user)
"""


def test_a_context_is_there_before_the_functions_are():
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("Ana\n", "")


def test_what_was_open_returns_after_a_scratch():
    before = OPEN.get()
    with pytest.raises(ZeroDivisionError), open_scratch():
        assert (OPEN.get().opened, OPEN.get().scratch) == (before.opened, {})
        raise ZeroDivisionError
    assert OPEN.get() is before
