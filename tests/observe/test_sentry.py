"""One report in Sentry of each error; Sentry is a stand-in with the names of its SDK."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from gatewayfw.observe.sentry import leave_to_signal


@pytest.fixture
def sdk(monkeypatch):
    """A function that puts a stand-in for the SDK in place and returns the loggers it passes over."""

    def install(*, integration=True, client=None):
        ignored = []
        found = client or SimpleNamespace(get_integration={"flask": integration}.get)
        monkeypatch.setitem(sys.modules, "sentry_sdk", SimpleNamespace(get_client=lambda: found))
        logs = SimpleNamespace(ignore_logger=ignored.append)
        monkeypatch.setitem(sys.modules, "sentry_sdk.integrations.logging", logs)
        return ignored

    return install


def test_where_sentry_listens_to_the_signal_it_passes_over_the_log(sdk):
    ignored = sdk()
    leave_to_signal("gatewayfw.errors")
    assert ignored == ["gatewayfw.errors"]


def test_where_it_does_not_the_log_is_left_to_it(sdk):
    ignored = sdk(integration=None)
    leave_to_signal("gatewayfw.errors")
    assert ignored == []


def test_another_sdk_than_we_know_does_no_harm(sdk):
    ignored = sdk(client=object())
    leave_to_signal("gatewayfw.errors")
    assert ignored == []


def test_without_sentry_nothing_is_imported(monkeypatch):
    monkeypatch.delitem(sys.modules, "sentry_sdk", raising=False)
    leave_to_signal("gatewayfw.errors")
    assert "sentry_sdk" not in sys.modules
