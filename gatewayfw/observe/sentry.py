"""The trackers of errors in the host app: they get Flask's signal, and one report of each error.

Sentry reports what the signal brings, and unless it is told otherwise each record of the level ERROR
as well. It would know the two for one by the exception in ``record.exc_info``. Ours has none: whoever
formats that one writes the driver's own texts into the log, which can hold documents (see
`gatewayfw.logs`). So the records of what the signal brings have a logger of their own, which Sentry is
asked to leave alone.
"""

from __future__ import annotations

import sys

from flask import current_app, got_request_exception

from gatewayfw.logs import traceback_of
from gatewayfw.web.reply import UNEXPECTED, logger


def leave_to_signal() -> None:
    """Let Sentry, where it listens to the signal, pass over the log's record of the same error.

    Needs Sentry's SDK 2; an older one makes two events. Nothing is imported for it.
    """
    sentry, logs = sys.modules.get("sentry_sdk"), sys.modules.get("sentry_sdk.integrations.logging")
    if sentry is None or logs is None:
        return
    try:
        if sentry.get_client().get_integration("flask") is not None:
            logs.ignore_logger(UNEXPECTED)
    except Exception:  # Another SDK than we know: rather two events than none, and always a reply.
        return


def send_signal(error: Exception) -> None:
    """Send Flask's `got_request_exception`; what a receiver raises is logged."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy
    try:
        got_request_exception.send(app, _async_wrapper=current_app.ensure_sync, exception=error)
    except Exception as failed:  # A host's receiver: the client still gets the envelope.
        logger.error("a receiver of got_request_exception failed\n%s", traceback_of(failed))
