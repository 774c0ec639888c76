"""What tests of a service call: acts as somebody, copies judged, a database away.

The pytest plugin has fixtures for some of them; nothing here needs pytest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

from flask import Flask

from gatewayfw.acts.carriers import TOKEN, sent_by_all
from gatewayfw.auth import Tokens
from gatewayfw.client import CallReply, InProcessClient
from gatewayfw.core import Gateway
from gatewayfw.errors import DefinitionError
from gatewayfw.storage import MongoStorage

#: A port on which nothing listens.
_NOWHERE = "mongodb://127.0.0.1:9/away"


@final
class GatewayClient:
    """Calls the acts of a gateway in this process, as nobody or as a user.

    ``tokens`` are those of the service, for `as_user`. ``path`` is that of the gateway's route, in an app with several.
    """

    def __init__(self, app: Flask, tokens: Tokens | None = None, *, path: str | None = None) -> None:
        """Take the app."""
        self._app, self._tokens, self._path = app, tokens, path
        self._token: str | None = None
        self._headers: Mapping[str, str] = {}
        self._set: Mapping[str, Any] = {}

    def act(
        self, model: str, act: str, *, set: Mapping[str, Any] | None = None, get: Any = None, **options: Any
    ) -> Any:
        """Run an act and return its result.

        ``options`` are those of `InProcessClient.call`.

        Raises:
            CallError: the gateway refused; it has ``status``, ``code`` and ``errors``.
        """
        return self.send(model, act, set=set, get=get, **options).body

    def send(
        self, model: str, act: str, *, set: Mapping[str, Any] | None = None, get: Any = None, **options: Any
    ) -> CallReply:
        """Run an act as `act` does, and return its result with status and headers."""
        carrier = next(iter(self._gateway().acts.token_carriers), TOKEN)
        client = InProcessClient(self._app, self._token, self._headers, token_from=carrier, path=self._path)
        return client.send(model, act, set={**self._set, **(set or {})}, get=get, **options)

    def as_user(self, user: Mapping[str, Any], role: str | None = None) -> GatewayClient:
        """Return a client that is signed in as a user, a document with its ``_id``.

        ``role`` is the name of one of its ``roles``, which is sent where the gateway's `Auth` looks for the role used.

        Raises:
            DefinitionError: there are no ``tokens``, the user has no such role, or no hook looks for one.
        """
        if self._tokens is None:
            raise DefinitionError("as_user: give the client the tokens of the service: GatewayClient(app, tokens)")
        acts = self._gateway().acts
        other = GatewayClient(self._app, self._tokens, path=self._path)
        other._token = self._tokens.issue({"_id": str(user["_id"])})
        if role is not None:
            found = next((one for one in user.get("roles", ()) if one["name"] == role), None)
            if found is None:
                raise DefinitionError(f"as_user: the user has no role {role!r}")
            if not acts.role_carriers:
                raise DefinitionError("as_user: no hook looks for a role")
            role_id = str(found["roleId"])
            other._headers = sent_by_all([(one, role_id) for one in acts.role_carriers if one.place != "set"])
            other._set = {one.name: role_id for one in acts.role_carriers if one.place == "set"}
        return other

    def _gateway(self) -> Gateway:
        """Return the gateway of the app, that at the path where there are several."""
        gateways: Mapping[str, Gateway] = self._app.extensions.get("gatewayfw", {})
        rules = {name: next(self._app.url_map.iter_rules(f"{name}.gateway")).rule for name in gateways}
        found = [name for name, rule in rules.items() if self._path in (None, rule)]
        if len(found) != 1:
            raise DefinitionError(f"path: say which of {len(found)} gateways")
        return gateways[found[0]]


def assert_copies_right(gw: Gateway) -> None:
    """Fail where a copy, or a list of a reverse relation, differs from its source."""
    found = [f"{one.model} {one.id}: {one.path}: {one.reason}" for one in gw.odm.integrity.check()]
    if found:
        raise AssertionError("\n".join(["copies differ from their sources:", *found]))


@contextmanager
def database_away(gw: Gateway) -> Iterator[None]:
    """Let the database of a gateway not answer in a block: acts end with 503."""
    storage, meant = gw.odm.storage, gw.odm.memory_is_meant
    away = MongoStorage(_NOWHERE, server_selection_timeout=0.05)
    gw.odm.set_db(away)
    try:
        yield
    finally:
        away.close()
        gw.odm.set_db(storage, memory=meant or not storage.multi_process)
