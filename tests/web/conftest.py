"""Runs the tests of the HTTP side through both entries: Flask's dispatch and the lane."""

from __future__ import annotations

import pytest

from gatewayfw.web.app import make_app
from tests.web.mount import BOTH, ENTRIES, Entry, endpoint


def pytest_generate_tests(metafunc):
    """Give each test of the modules of `BOTH` the fixture `entry`, with both entries."""
    if metafunc.module.__name__.rpartition(".")[2] in BOTH:
        metafunc.fixturenames.insert(0, "entry")
        metafunc.parametrize("entry", ENTRIES, indirect=True)


@pytest.fixture
def entry(request, monkeypatch):
    """The entry of the test: ``flask`` or ``lane``."""
    monkeypatch.setattr(Entry, "is_lane", request.param == "lane")
    return request.param


@pytest.fixture(params=[True, False], ids=["lane", "flask"])
def app(request):
    return make_app(endpoint(), url_prefix="/api", fast_lane=request.param)
