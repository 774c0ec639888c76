"""Why a MongoDB server does not answer, and one log line for each outage.

`trouble_of` and `concerns_server` interpret what the driver knows; `Outages` remembers whether there is
an outage and logs its start and its end. No text contains credentials or the driver's words, which
may change and may quote what was sent.
"""

import logging
import re
import threading
import time
from collections.abc import Iterable, Mapping
from typing import final

from pymongo.errors import ConnectionFailure, NetworkTimeout, WaitQueueTimeoutError
from pymongo.server_description import ServerDescription
from pymongo.topology_description import TopologyDescription

from gatewayfw.logs import escaped
from gatewayfw.storage.mongo.errors import AUTHENTICATION_FAILED, is_unauthenticated
from gatewayfw.storage.terms import Trouble

_LOG = logging.getLogger("gatewayfw.storage")
Address = tuple[str, int | None]

#: Seconds after the end of an outage before another one is logged: a database that comes and goes,
#: such as one that refuses only new connections, must not fill the log.
_CALM = 10.0
#: Most hosts that a text names, and most characters of each.
_NAMED, _LONGEST = 8, 100

#: What the driver's words about a server mean; the first match counts. PyMongo 4.20 keeps only the words.
_REASONS = (
    (re.compile("CERTIFICATE_VERIFY_FAILED|CertificateError"), "its TLS certificate is not accepted"),
    (re.compile(r"\bSSL\b|\bTLS\b"), "the TLS handshake failed; does it use TLS?"),
    (re.compile(r"Errno -\d|getaddrinfo|Name or service|nodename nor"), "its name is unknown"),
    (re.compile("refused|WinError 10061"), "connection refused"),
    (re.compile("unreachable|No route to host"), "no route to it"),
    (re.compile("timed out"), "no answer in time"),
    (re.compile("connection closed|reset by peer"), "it closed the connection; did it end, or does it demand TLS?"),
)
_ROLES = {
    "RSSecondary": "a secondary",
    "RSArbiter": "an arbiter",
    "RSOther": "not ready",
    "RSGhost": "no initiated replica set has it as a member at this address",
}


def concerns_server(error: BaseException) -> bool:
    """Tell whether a driver's error is about the server, not about one command."""
    if isinstance(error, WaitQueueTimeoutError):  # only this process's connections are all in use
        return False
    return isinstance(error, ConnectionFailure) or is_unauthenticated(error)


def trouble_of(error: BaseException, known: TopologyDescription | None, seeds: Iterable[Address]) -> Trouble:
    """Find the reason of an error, from it and the driver's view of the servers.

    ``seeds`` are the configured hosts; the text names them if the driver dropped them all.
    """
    servers = {} if known is None else known.server_descriptions()
    hosts = _join(_name_host(address) for address in servers or seeds)
    causes = [error, *(server.error for server in servers.values() if server.error is not None)]
    if any(is_unauthenticated(cause) for cause in causes):
        failed = any(getattr(cause, "code", None) == AUTHENTICATION_FAILED for cause in causes)
        refused = "refuses the user name or the password" if failed else "demands a user name and a password"
        return Trouble("unauthenticated", f"{hosts} {refused}")
    name = None if known is None else known.replica_set_name
    if name and (not servers or any("belongs to a set named" in str(cause) for cause in causes)):
        return Trouble("wrong_set", f"{hosts}: no server there belongs to a replica set named {escaped(name)!r}")
    each = _join(f"{_name_host(address)}: {_find_reason(server)}" for address, server in servers.items()) or hosts
    if known is not None and known.known_servers and not known.has_writable_server():
        return Trouble("no_primary", f"no primary ({each})")
    return Trouble("unreachable", f"no answer ({each})")


def is_conclusive(error: BaseException, known: TopologyDescription | None) -> bool:
    """Tell whether an error alone proves that the database cannot be reached.

    A lost reply may concern a single command, and the search for a server that the driver has not met
    yet may have had too little time.
    """
    if is_unauthenticated(error):
        return True
    if known is None or isinstance(error, NetworkTimeout) or known.has_writable_server():
        return False
    servers: Mapping[Address, ServerDescription] = known.server_descriptions()
    return not servers or any(server.error is not None for server in servers.values())


@final
class Outages:
    """Records whether one process reaches its database, and logs each outage once.

    Attributes:
        suspected: whether the next use must ping the server first.
        trouble: what is wrong; None if nothing is.
    """

    def __init__(self, database: str) -> None:
        self._database = escaped(database)  # a name from a URI may contain any character
        self._lock = threading.Lock()
        self._since = 0.0
        self._logged = False
        self._ended = -_CALM
        self.suspected = False
        self.trouble: Trouble | None = None

    def begin(self, trouble: Trouble) -> None:
        """Record the reason of an outage; log it unless that is done.

        An outage that ended a moment ago counts as the same one.
        """
        now = time.monotonic()
        with self._lock:
            self.suspected = True
            if self.trouble is None:
                self._since, self._logged = now, False
            self.trouble = trouble
            if self._logged or now - self._ended < _CALM:
                return
            self._logged = True
        _LOG.error("database %s is out of reach: %s", self._database, trouble.text)

    def end(self) -> None:
        """Record that the database answered; log it if the outage is in the log."""
        with self._lock:
            logged = self.trouble is not None and self._logged
            self.suspected, self.trouble = False, None
            if not logged:
                return
            self._ended = time.monotonic()
            seconds = self._ended - self._since
        _LOG.warning("database %s answers again, after %.1f s", self._database, seconds)


def _find_reason(server: ServerDescription) -> str:
    error = server.error
    if error is None:
        return _ROLES.get(server.server_type_name, "no answer in time")
    if isinstance(error, NetworkTimeout):
        return "no answer in time"
    text = str(error)
    return next((words for pattern, words in _REASONS if pattern.search(text)), "the connection failed")


def _name_host(address: Address) -> str:
    host, port = address
    return escaped(host[:_LONGEST]) if port is None else f"{escaped(host[:_LONGEST])}:{port}"


def _join(texts: Iterable[str]) -> str:
    texts = sorted(texts)  # the driver's order varies
    more = f" and {len(texts) - _NAMED} more" if len(texts) > _NAMED else ""
    return ", ".join(texts[:_NAMED]) + more
