"""The access log: one line for each call.

The server's own log shows each act as ``POST /gateway``.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

from gatewayfw.acts.calls import UNKNOWN, Call
from gatewayfw.errors import DefinitionError

#: The name of the logger.
LOGGER = "gatewayfw.access"
#: What an address may consist of; behind ``ProxyFix`` it is text that a client may have chosen.
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")


def access_log(*, json: bool = False) -> Callable[[Call], None]:
    """Return an observer that logs each call.

    To the logger ``gatewayfw.access``, with level INFO. As text, ``127.0.0.1 main.book.buy ok 200 3.2ms 4f1c...``:
    address, act, code, status, time, request id. With ``json`` as an object: ``time`` (UTC), ``address service model
    act code status seconds requestId``. Without a handler for it in the program's logging, the lines go to the
    standard error.

    Raises:
        DefinitionError: ``json`` is neither true nor false.
    """
    if not isinstance(json, bool):
        raise DefinitionError("access_log: json must be true or false")
    written = _object if json else _line
    logger = logging.getLogger(LOGGER)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)

    def log(call: Call) -> None:
        if not logger.isEnabledFor(logging.INFO):
            return
        if not logger.handlers and not logger.hasHandlers():
            logger.addHandler(_Handler())
        # Not `logger.info`, which looks for the line of the program that logs: half of the time, and always this one.
        logger.handle(logging.LogRecord(LOGGER, logging.INFO, __file__, 0, written(call), (), None))

    return log


def _line(call: Call) -> str:
    service, model, act, code, status, seconds, request_id, *_ = call
    name = UNKNOWN if service == UNKNOWN else f"{service}.{model}.{act}"
    return f"{_address(call)} {name} {code} {status} {seconds * 1000:.1f}ms {request_id}"


def _object(call: Call) -> str:
    return json.dumps(
        {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "address": _address(call),
            "service": call.service,
            "model": call.model,
            "act": call.act,
            "code": call.code,
            "status": call.status,
            "seconds": round(call.seconds, 6),
            "requestId": call.request_id,
        }
    )


def _address(call: Call) -> str:
    return call.address if _ADDRESS.fullmatch(call.address) else "-"


class _Handler(logging.StreamHandler[TextIO]):
    """Writes each line as it is to the standard error, which needs no flush."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self.stream.write(f"{record.msg}\n")
        except Exception:  # as every handler of logging
            self.handleError(record)
