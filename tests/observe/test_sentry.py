"""One report in Sentry of each error: with a stand-in for its SDK, and with the SDK in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from gatewayfw import DefinitionError
from gatewayfw.observe.calls import Names
from gatewayfw.observe.sentry import Naming, leave_to_signal, sentry
from tests.observe.calls import call

ROOT = Path(__file__).parent.parent.parent


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


TRANSACTIONS = [
    ["transaction", "main.book.list", None, None],
    ["transaction", "main.book.add", None, None],
    ["transaction", "_unknown", None, None],
    ["transaction", "_unknown", None, None],
    ["transaction", "main.book.tag", None, "a"],
    ["error", "main.book.fail", "LookupError", None],
    ["transaction", "main.book.fail", None, None],
]


def test_transactions_have_the_names_of_acts_and_an_error_is_one_event():
    command = [sys.executable, "-m", "tests.observe.sentry_service"]
    ended = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120)
    found = json.loads(ended.stdout)
    # Sentry's integration makes a transaction of a body that names nothing, too, named after the route.
    assert [item for item in found if item[1] != "gateway.gateway"] == TRANSACTIONS
    assert len(found) == len(TRANSACTIONS) + 1


def test_without_its_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    with pytest.raises(DefinitionError) as raised:
        sentry()
    assert raised.value.message == "observe.sentry() needs Sentry's SDK 2: pip install 'gatewayfw[sentry]'"


def test_the_transaction_is_named_as_the_act_begins_and_nothing_else_is_done():
    named = []
    scope = SimpleNamespace(set_transaction_name=lambda name, source: named.append((name, source)))
    observer = Naming(lambda: scope)
    ended = [observer.begin(Names("main", "book", "buy"), {}), observer]
    for end in ended:
        end(call(status=500, error=LookupError("secret")))
    assert named == [("main.book.buy", "custom")]
