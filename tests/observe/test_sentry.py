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
from gatewayfw.observe.sentry import Reports, leave_to_signal, sentry
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


@pytest.mark.parametrize("way", ["alone", "flask"])
def test_transactions_have_the_names_of_acts_and_an_error_is_one_event(way):
    command = [sys.executable, "-m", "tests.observe.sentry_service", way]
    ended = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120)
    found = json.loads(ended.stdout)
    # Flask's integration makes a transaction of a body that names nothing, too, named after the route.
    assert [item for item in found if item[1] != "gateway.gateway"] == TRANSACTIONS
    assert len(found) == len(TRANSACTIONS) + (way == "flask")


def test_without_its_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    with pytest.raises(DefinitionError) as raised:
        sentry()
    assert raised.value.message == "observe.sentry() needs Sentry's SDK 2: pip install 'gatewayfw[sentry]'"


def test_the_log_of_what_an_observer_reports_is_passed_over(sdk):
    ignored = sdk()
    sys.modules["sentry_sdk"].isolation_scope = None  # as the SDK 2 has it
    sentry()
    assert ignored == ["gatewayfw.errors"]


class Sdk:
    """What the observer does with the SDK, as a list; the SDK, its client, a scope and a transaction in one."""

    def __init__(self, *, active=True, flask=None, **options):
        self.done, self.options = [], options
        self.is_active = lambda: active
        self.get_integration = {"flask": flask}.get
        self.get_client = self.get_current_scope = lambda: self

    def isolation_scope(self):
        return self._noted("isolation_scope")

    def continue_trace(self, headers, **about):
        return self._noted("continue_trace", headers, about)

    def start_transaction(self, transaction):
        return self._noted("start_transaction", transaction is self)

    def set_transaction_name(self, name, source):
        self._noted("name", name, source)

    def set_http_status(self, status):
        self._noted("status", status)

    def capture_exception(self, error):
        self._noted("capture", error)

    def _noted(self, *what):
        self.done.append(what)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._noted("exit")


ERROR = LookupError("secret")
NAMED = ("name", "main.book.buy", "custom")
OPENED = [("isolation_scope",), NAMED]
CARRIED = {"sentry-trace": "t", "baggage": "b"}
ABOUT = {"op": "http.server", "name": "main.book.buy", "source": "custom"}
TRACED = [*OPENED, ("continue_trace", CARRIED, ABOUT), ("start_transaction", True)]


@pytest.mark.parametrize(
    ("sdk", "begun", "ended"),
    [
        (Sdk(active=False), [], []),
        (Sdk(flask=object()), [NAMED], []),
        (Sdk(), OPENED, [("capture", ERROR), ("exit",)]),
        *(
            (Sdk(**option), TRACED, [("status", 500), ("capture", ERROR), ("exit",), ("exit",)])
            for option in ({"traces_sample_rate": 0.0}, {"traces_sampler": len})
        ),
    ],
    ids=["not set up", "with Flask", "errors alone", "rate", "sampler"],
)
def test_what_sentry_is_told_of_an_act(sdk, begun, ended):
    end = Reports(sdk).begin(Names("main", "book", "buy"), {**CARRIED, "token": "x"})
    assert sdk.done == begun
    end(call(status=500, error=ERROR))
    assert sdk.done == begun + ended


def test_an_act_that_went_well_has_no_error_and_a_trace_only_what_was_sent():
    sdk = Sdk(traces_sample_rate=1.0)
    Reports(sdk).begin(Names("main", "book", "buy"), {"baggage": "", "sentry-trace": "t"})(call())
    middle = [("continue_trace", {"sentry-trace": "t"}, ABOUT), ("start_transaction", True)]
    assert sdk.done == [*OPENED, *middle, ("status", 200), ("exit",), ("exit",)]


@pytest.mark.parametrize(
    ("flask", "error", "done"),
    [(None, ERROR, [*OPENED, ("capture", ERROR), ("exit",)]), (None, None, []), (object(), ERROR, [])],
    ids=["alone", "no error", "with Flask"],
)
def test_what_sentry_is_told_of_a_call_that_is_over(flask, error, done):
    sdk = Sdk(flask=flask)
    Reports(sdk)(call(error=error))
    assert sdk.done == done
