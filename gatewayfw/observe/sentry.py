"""One report in Sentry for each error.

Sentry reports the signal's exception and, by default, also each log record of the level ERROR. It would recognise the
two as one by the exception in ``record.exc_info``. Our records have none: formatting it would write the driver's own
texts into the log, which can hold documents (see `gatewayfw.logs`). So errors that the signal reports have a separate
logger, which we tell Sentry to ignore.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any, final

from gatewayfw.errors import DefinitionError
from gatewayfw.logs import UNEXPECTED
from gatewayfw.observe.calls import Call, Names, Observer, SentHeaders, ignore

#: The headers by which a caller's trace goes on here.
_CARRIED = ("sentry-trace", "baggage")


def leave_to_signal(logger: str) -> None:
    """Tell Sentry, if it listens to the signal, to ignore that logger's records.

    Needs Sentry's SDK 2; an older one makes two events. This imports nothing.
    """
    sentry, logs = sys.modules.get("sentry_sdk"), sys.modules.get("sentry_sdk.integrations.logging")
    if sentry is None or logs is None:
        return
    try:
        if sentry.get_client().get_integration("flask") is not None:
            logs.ignore_logger(logger)
    except Exception:  # An unknown SDK: two events are better than none, and the client always gets a reply.
        return


def sentry() -> Reports:
    """Return an observer that names Sentry's transactions after the acts.

    Call ``sentry_sdk.init()`` before. Sentry's integration for Flask, which listens to Flask's signals, opens the
    transactions and reports the errors itself. Without it (``disabled_integrations=[FlaskIntegration()]``) this
    observer does both, and no signal slows the requests down. Each unexpected error is reported once.

    Raises:
        DefinitionError: Sentry's SDK 2 is missing; install ``gatewayfw[sentry]``.
    """
    try:
        import sentry_sdk
        from sentry_sdk import isolation_scope  # noqa: F401  (the SDK 2 has it)
        from sentry_sdk.integrations.logging import ignore_logger
    except ImportError as error:
        raise DefinitionError("observe.sentry() needs Sentry's SDK 2: pip install 'gatewayfw[sentry]'") from error
    ignore_logger(UNEXPECTED)  # else its record would be a second event
    return Reports(sentry_sdk)


@final
class Reports:
    """The observer of `sentry`."""

    def __init__(self, sdk: Any) -> None:
        self._sdk = sdk

    def begin(self, names: Names, headers: SentHeaders) -> Observer:
        """Open a transaction, or name the one that Sentry's integration has opened."""
        sdk, client = self._sdk, self._sdk.get_client()
        if not client.is_active():
            return ignore
        name = str(names)
        if client.get_integration("flask") is not None:
            sdk.get_current_scope().set_transaction_name(name, source="custom")
            return ignore
        opened = ExitStack()
        opened.enter_context(sdk.isolation_scope()).set_transaction_name(name, source="custom")
        transaction = None
        if client.options.get("traces_sample_rate") is not None or client.options.get("traces_sampler") is not None:
            carried = {header: value for header in _CARRIED if (value := headers.get(header))}
            transaction = sdk.continue_trace(carried, op="http.server", name=name, source="custom")
            opened.enter_context(sdk.start_transaction(transaction))

        def end(call: Call) -> None:
            with opened:
                if transaction is not None:
                    transaction.set_http_status(call.status)
                if call.error is not None:
                    sdk.capture_exception(call.error)

        return end

    def __call__(self, call: Call) -> None:
        """Report the error of a call that named no act, or ran among others."""
        if call.error is not None and self._sdk.get_client().get_integration("flask") is None:
            with self._sdk.isolation_scope() as scope:
                scope.set_transaction_name(str(call.names), source="custom")
                self._sdk.capture_exception(call.error)
