"""One report in Sentry of each error.

Sentry reports what the signal brings, and unless it is told otherwise each record of the level ERROR
as well. It would know the two for one by the exception in ``record.exc_info``. Ours has none: whoever
formats that one writes the driver's own texts into the log, which can hold documents (see
`gatewayfw.logs`). So the records of what the signal brings have a logger of their own, which Sentry is
asked to leave alone.
"""

from __future__ import annotations

import sys


def leave_to_signal(logger: str) -> None:
    """Let Sentry pass over the records of that logger.

    Only where it listens to the signal.

    Needs Sentry's SDK 2; an older one makes two events. Nothing is imported for it.
    """
    sentry, logs = sys.modules.get("sentry_sdk"), sys.modules.get("sentry_sdk.integrations.logging")
    if sentry is None or logs is None:
        return
    try:
        if sentry.get_client().get_integration("flask") is not None:
            logs.ignore_logger(logger)
    except Exception:  # Another SDK than we know: rather two events than none, and always a reply.
        return
