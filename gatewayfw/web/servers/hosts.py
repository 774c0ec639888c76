"""The host names that a server reachable only from this machine accepts."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from ipaddress import ip_address

from flask import Flask

from gatewayfw.environment import is_development


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
    return sorted(address for address in found if _is_loopback(address))


def _is_loopback(address: str) -> bool:
    parsed = ip_address(address)
    # Python 3.12 and earlier do not recognise an IPv4 address written as an IPv6 one.
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback
