"""Runs the tests of the HTTP side through both entries: Flask's dispatch and the lane."""

from __future__ import annotations

import pytest

from gatewayfw.web.mount import make_app
from tests.web.mount import Entry, endpoint


@pytest.fixture(params=["flask", "lane"])
def entry(request, monkeypatch):
    """What apps of `tests.web.mount.host` are entered by: Flask's dispatch, then the lane; modules ask for it."""
    monkeypatch.setattr(Entry, "is_lane", request.param == "lane")
    return request.param


@pytest.fixture(params=[True, False], ids=["lane", "flask"])
def app(request):
    return make_app(endpoint(), url_prefix="/api", fast_lane=request.param)
