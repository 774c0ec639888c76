"""One report in Sentry for each error.

Sentry reports the signal's exception and, by default, also each log record of the level ERROR. It would recognise the
two as one by the exception in ``record.exc_info``. Our records have none: formatting it would write the driver's own
texts into the log, which can hold documents (see `gatewayfw.logs`). So errors that the signal reports have a separate
logger, which we tell Sentry to ignore.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, final

from gatewayfw.errors import DefinitionError
from gatewayfw.observe.calls import Call, Names, Observer, SentHeaders, ignore


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


def sentry() -> Naming:
    """Return an observer that names Sentry's transactions after the acts.

    Call ``sentry_sdk.init()`` before. Sentry's integration for Flask, which is on by default and listens to Flask's
    signals, opens the transactions and reports each unexpected error once.

    Raises:
        DefinitionError: Sentry's SDK 2 is missing; install ``gatewayfw[sentry]``.
    """
    try:
        from sentry_sdk import get_current_scope  # the SDK 2 has it
    except ImportError as error:
        raise DefinitionError("observe.sentry() needs Sentry's SDK 2: pip install 'gatewayfw[sentry]'") from error
    return Naming(get_current_scope)


@final
class Naming:
    """The observer of `sentry`."""

    def __init__(self, current_scope: Callable[[], Any]) -> None:
        self._current_scope = current_scope

    def begin(self, names: Names, _headers: SentHeaders) -> Observer:
        """Name the transaction that is open."""
        self._current_scope().set_transaction_name(str(names), source="custom")
        return ignore

    def __call__(self, call: Call) -> None:
        """Do nothing: a call that named no act keeps the name of its route."""
