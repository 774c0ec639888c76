"""How requests reach a gateway over HTTP, and what is raised when no reply comes."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import final

from gatewayfw.client.errors import NoReply
from gatewayfw.client.replies import bad_reply
from gatewayfw.wire.connections import Unreachable
from gatewayfw.wire.posting import HttpReply, NotAGateway, Posts


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
        except Unreachable as error:
            raise NoReply("the gateway is unreachable", code="unreachable") from error
        except TimeoutError as error:
            raise NoReply("the gateway took too long", code="timeout") from error
        except ssl.SSLError as error:
            raise NoReply("the secure connection to the gateway failed", code="no_reply") from error
        except OSError as error:
            raise NoReply("the connection broke before the reply was complete", code="no_reply") from error
