"""The access log: a line for each call, where servers log ``POST /gateway``."""

import contextlib
import json
import logging
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from gatewayfw.errors import DefinitionError
from gatewayfw.observe.calls import Call

#: The name of the logger.
LOGGER = "gatewayfw.access"
#: What an address may consist of; behind ``ProxyFix`` it is text that a client may have chosen.
_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,45}")


def access_log(*, json: bool = False) -> Callable[[Call], None]:
    """Return an observer that logs each call.

    It uses the logger ``gatewayfw.access`` with level INFO. A line has address, act, code, status, time and request id:
    ``127.0.0.1 main.book.buy ok 200 3.2ms 4f1c...``. With ``json`` it is an object with ``time`` (UTC), ``address
    service model act code status seconds requestId``. If the program's logging has no handler for the logger, the lines
    go to standard error.

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
        line = written(call)
        if logger.hasHandlers():
            logger.handle(_record(line))
        elif not logger.filters or logger.filter(_record(line)):
            with contextlib.suppress(Exception):  # A full disk costs the line, as in logging.
                sys.stderr.write(f"{line}\n")  # A record, which nobody would look at, costs half of the time.

    return log


def _record(line: str) -> logging.LogRecord:
    # `Logger.info` would look for the line of the program that logs: half of the time, and always this one.
    return logging.getLogRecordFactory()(LOGGER, logging.INFO, __file__, 0, line, (), None)


def _line(call: Call) -> str:
    return f"{_address(call)} {call.names} {call.code} {call.status} {call.seconds * 1000:.1f}ms {call.request_id}"


def _object(call: Call) -> str:
    return json.dumps(
        {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "address": _address(call),
            **call.names._asdict(),
            "code": call.code,
            "status": call.status,
            "seconds": round(call.seconds, 6),
            "requestId": call.request_id,
        }
    )


def _address(call: Call) -> str:
    return call.address if _ADDRESS.fullmatch(call.address) else "-"
