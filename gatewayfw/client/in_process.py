"""The client for tests, which calls the WSGI app."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, final

from flask import Flask

from gatewayfw.client.clients import Calls
from gatewayfw.environment import IN_PROCESS
from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import TOKEN, Carrier
from gatewayfw.wire.posting import HttpReply, ReplyHeaders


class MakesApp(Protocol):
    """Anything that makes a Flask app, as a `gatewayfw.core.Gateway` does."""

    def create_app(self) -> Flask:
        """Return the app."""


@final
@dataclass(frozen=True)
class InProcess:
    """Requests through the WSGI app, whose routes may stand on a subdomain."""

    app: Flask
    path: str
    subdomain: str | None = None

    def post(self, data: bytes, headers: Mapping[str, str]) -> HttpReply:
        """Return the reply to a request body; raise exceptions that the app propagates."""
        # A test client for each call: threads must not share one. With its own cookies it would drop one that is sent.
        client = self.app.test_client(use_cookies=False)
        sent = {"data": data, "headers": dict(headers), "environ_overrides": {IN_PROCESS: True}}
        with client.post(self.path, subdomain=self.subdomain, **sent) as response:
            return HttpReply(response.status_code, ReplyHeaders(response.headers), response.get_data())


@final
class InProcessClient(Calls):
    """A client for tests: requests go through the WSGI app, without a network.

    ``served`` is a Flask app with a gateway in it, or a gateway, which then makes an app. Hooks of the app, headers,
    parsing of the body and the envelope work as on a server. `call` raises exceptions that the app propagates, as Flask
    does in tests. ``path`` is the gateway's path, such as ``/api/gateway``; an app with one gateway needs none.
    ``token_from``: as for `HttpClient`.

    Raises:
        DefinitionError: the app has no or several gateways, or a variable in their path, and
            ``path`` is missing; or another argument does not fit.
    """

    def __init__(
        self,
        served: Flask | MakesApp,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        token_from: Carrier = TOKEN,
        path: str | None = None,
    ) -> None:
        app = served if isinstance(served, Flask) else served.create_app()
        found = _path_of(app) if path is None else path
        if not found.startswith("/"):
            raise DefinitionError("path: expected one that starts with a slash")
        super().__init__(InProcess(app, found).post, found, token, headers, token_from)


def _path_of(app: Flask) -> str:
    endpoints = {f"{name}.gateway" for name in app.extensions.get("gatewayfw", {})}
    found = [rule for rule in app.url_map.iter_rules() if rule.endpoint in endpoints]
    if len(found) != 1 or found[0].arguments:
        reason = "the gateway's route has a variable" if len(found) == 1 else f"the app has {len(found)} gateway routes"
        raise DefinitionError(f"path: required, because {reason}")
    return str(found[0].rule)
