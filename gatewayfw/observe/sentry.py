"""One report in Sentry for each error.

Sentry reports the signal's exception and, by default, also each log record of the level ERROR. It would recognise the
two as one by the exception in ``record.exc_info``. Our records have none: formatting it would write the driver's own
texts into the log, which can hold documents (see `gatewayfw.logs`). So errors that the signal reports have a separate
logger, which we tell Sentry to ignore.
"""

from __future__ import annotations

import sys


def leave_to_signal(logger: str) -> None:
    """Tell Sentry to ignore the records of that logger.

    Only if it listens to the signal.

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
