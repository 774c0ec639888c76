"""The options of servers: what each may be, the names and the port that they mean."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Literal, get_args

from flask import Flask

from gatewayfw.environment import is_development
from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings

#: gunicorn comes with the package, the others with the extras of their names.
Server = Literal["gunicorn", "granian", "waitress"]
#: Processes and threads of each, where nothing else is asked for.
WORKERS, THREADS = 2, 8
_BACKLOG = 128
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


def restrict_hosts(app: Flask, host: str, *, playground: bool, environ: Mapping[str, str]) -> None:
    """Let an app answer only under `trusted_hosts`, if there are any."""
    if (names := trusted_hosts(host, playground=playground, environ=environ)) is not None:
        app.config["TRUSTED_HOSTS"] = names


def trusted_hosts(host: str, *, playground: bool, environ: Mapping[str, str]) -> list[str] | None:
    """Return Flask's ``TRUSTED_HOSTS`` for a server; None for any name.

    On a loopback address in development, or with a playground, only the names of this machine: otherwise a page that
        binds its own host name to 127.0.0.1 could call acts as the developer. A guard of the playground does not
        prevent that: such a page comes from the same address as the developer. Our choice.
    """
    if not (playground or is_development(environ)):
        return None
    addresses = _loopback_addresses(host)
    # werkzeug 3.1 never finds an IPv6 address in the list: a server at ::1 is called as localhost.
    return list(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", host.lower(), *addresses])) if addresses else None


def _loopback_addresses(host: str) -> list[str]:
    try:
        found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):  # No such host: binding fails, too, and says so.
        return []
    # Python 3.12 and earlier do not recognise an IPv4 address written as an IPv6 one.
    parsed = {text: ip_address(text) for text in found}
    return sorted(text for text, one in parsed.items() if (getattr(one, "ipv4_mapped", None) or one).is_loopback)


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OSError: the port is in use, or the host has no such address.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
