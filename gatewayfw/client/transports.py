"""How requests reach a gateway: kept connections, or a call of the WSGI app."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, final

from flask import Flask
from urllib3 import HTTPHeaderDict
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as TooSlow

from gatewayfw.client.errors import NoReply
from gatewayfw.client.replies import bad_reply
from gatewayfw.environment import IN_PROCESS
from gatewayfw.wire.posting import HttpReply, NotAGateway, Posts


class Transport(Protocol):
    """Takes requests to the gateway; clients with different tokens share it."""

    def post(self, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Return the reply to a request body."""


@final
class Http:
    """Posts to one URL, each within ``timeout`` seconds."""

    def __init__(self, target: str, timeout: float, connections: int, max_bytes: int) -> None:
        self._posts = Posts(target, max_bytes=max_bytes, connections=connections)
        self._timeout = timeout

    def close(self) -> None:
        """Close open connections."""
        self._posts.close()

    def post(self, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Return the reply to a request body.

        Raises:
            NoReply: none came, or not in time.
            BadReply: it is too large, or not from a gateway.
        """
        try:
            return self._posts.post(data, headers, connect=self._timeout, total=self._timeout)
        except NotAGateway as error:
            raise bad_reply(error) from error
        except NewConnectionError as error:  # a subclass of the time-out below
            raise NoReply("the gateway is unreachable", code="unreachable") from error
        except TooSlow as error:
            raise NoReply("the gateway took too long", code="timeout") from error
        except SSLError as error:
            raise NoReply("the secure connection to the gateway failed", code="no_reply") from error
        except HTTPError as error:
            raise NoReply("the connection broke before the reply was complete", code="no_reply") from error


@final
class InProcess:
    """Requests through the WSGI app, whose routes may stand on a subdomain."""

    def __init__(self, app: Flask, path: str, subdomain: str | None = None) -> None:
        self._app = app
        self._path = path
        self._subdomain = subdomain

    def post(self, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Return the reply to a request body; raise exceptions that the app propagates."""
        # A test client for each call: threads must not share one. With its own cookies it would drop one that is sent.
        client = self._app.test_client(use_cookies=False)
        sent = {"data": data, "headers": dict(headers), "environ_overrides": {IN_PROCESS: True}}
        with client.post(self._path, subdomain=self._subdomain, **sent) as response:
            return HttpReply(response.status_code, HTTPHeaderDict(list(response.headers)), response.get_data())
