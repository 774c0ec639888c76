"""Fixtures of the command line's tests."""

from __future__ import annotations

import pytest

from tests.cli.shop import make_app, runner, shop


@pytest.fixture
def run(database):
    """Run a command of an app with one gateway: exit status and output."""
    return runner(make_app(shop=shop(database)))
