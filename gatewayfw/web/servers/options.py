"""The options of servers, and their checks."""

from __future__ import annotations

from typing import Any, Literal, get_args

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings

#: gunicorn comes with the package, the others with the extras of their names.
Server = Literal["gunicorn", "granian", "waitress"]
#: Seconds beyond the deadline of an act that requests in progress get when the server stops.
PATIENCE = 5


def check_server_options(host: Any, port: Any, workers: Any, threads: Any, server: Any = "gunicorn") -> None:
    """Refuse options no server can use.

    Raises:
        DefinitionError: names the option and what was expected.
    """
    if not isinstance(host, str) or not host:
        raise DefinitionError("option 'host': expected a host name or an address")
    if type(port) is not int or not 0 <= port <= 65535:
        raise DefinitionError("option 'port': expected an integer in 0..65535")
    for name, value in (("workers", workers), ("threads", threads)):
        if type(value) is not int or value < 1:
            raise DefinitionError(f"option {name!r}: expected a positive integer")
    if server not in get_args(Server):
        raise DefinitionError("option 'server': expected 'gunicorn', 'granian' or 'waitress'")


def check_worker_timeout(seconds: float, settings: Settings, option: str = "timeout") -> None:
    """Refuse a server that would kill a worker in the middle of an act.

    For `on_starting` of gunicorn and the like.

    ``seconds`` is the server's timeout, 0 for none, or, with ``option="graceful_timeout"``, the time that requests in
    progress get when it stops. `run_server` derives both from the deadline itself.

    Raises:
        DefinitionError: it is not above the deadline of an act; names both.
    """
    if seconds <= settings.deadline and (seconds or option != "timeout"):
        raise DefinitionError(
            f"the server's {option} of {seconds:g} s must be above the deadline of {settings.deadline:g} s "
            "(setting deadline)"
        )
