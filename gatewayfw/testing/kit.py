"""What tests of a service call: acts as somebody, copies judged, a database away.

The pytest plugin has fixtures for some of them; nothing here needs pytest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypedDict, Unpack, final

from flask import Flask

from gatewayfw.acts.checks import acts_by_name, fields_of_set
from gatewayfw.acts.headers import sent_by_all
from gatewayfw.auth import Tokens
from gatewayfw.client import CallError, CallReply, InProcessClient
from gatewayfw.core import Gateway
from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.spelling import MAIN
from gatewayfw.storage import MongoStorage
from gatewayfw.token_carriers import TOKEN

#: A port on which nothing listens.
_NOWHERE = "mongodb://127.0.0.1:9/away"


class CallOptions(TypedDict, total=False):
    """Options of `InProcessClient.call`."""

    set: Mapping[str, Any] | None
    get: Any
    service: str
    headers: Mapping[str, str] | None
    retries: int
    key: str | None


@final
class GatewayClient:
    """Calls the acts of a gateway in this process, logged in as a user or not.

    ``tokens`` is the service's `Tokens`, for `as_user`. ``path`` is the path of the gateway's route, if the app has
    several.
    """

    def __init__(self, app: Flask, tokens: Tokens | None = None, *, path: str | None = None) -> None:
        """Take the app."""
        self._app, self._tokens, self._path = app, tokens, path
        self._token: str | None = None
        self._headers: Mapping[str, str] = {}
        self._role: Mapping[str, str] = {}

    def act(self, model: str, act: str, **options: Unpack[CallOptions]) -> Any:
        """Run an act and return its result.

        ``options`` are those of `InProcessClient.call`.

        Raises:
            CallError: the gateway refused; it has ``status``, ``code`` and ``errors``.
        """
        return self.send(model, act, **options).body

    def send(self, model: str, act: str, **options: Unpack[CallOptions]) -> CallReply:
        """Run an act as `act` does, and return its result with status and headers."""
        (asked,) = self._as_caller([{**options, "model": model, "act": act}])
        try:
            return self._client().send(**asked)
        except CallError as error:
            error.add_note(f"{model}.{act}: {error.status} {error.code}")
            raise

    def batch(self, requests: Iterable[Mapping[str, Any]], *, atomic: bool = False) -> list[Any]:
        """Run several acts by one request, as `InProcessClient.batch` does."""
        return self._client().batch(self._as_caller(requests), atomic=atomic)

    def as_user(self, user: Mapping[str, Any], role: str | None = None) -> GatewayClient:
        """Return a client that is logged in as a user, a document with its ``_id``.

        ``role`` is the name of one of its ``roles``, which is sent where the gateway's `Auth` looks for the active
        role, in ``set`` only to acts that take it there.

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
            other._role = {one.name: role_id for one in acts.role_carriers if one.place == "set"}
        return other

    def _client(self) -> InProcessClient:
        carrier = next(iter(self._gateway().acts.token_carriers), TOKEN)
        return InProcessClient(self._app, self._token, self._headers, token_from=carrier, path=self._path)

    def _as_caller(self, requests: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the requests with the caller's role in ``set``, if taken."""
        acts = dict(acts_by_name(self._gateway().acts))
        asked = []
        for request in requests:
            service, name = request.get("service", MAIN), f"{request['model']}.{request['act']}"
            found = acts.get(name if service == MAIN else f"{service}/{name}")
            fields = None if found is None else fields_of_set(found)
            role = {name: id_ for name, id_ in self._role.items() if fields is None or name in fields}
            asked.append({**request, "set": {**role, **(request.get("set") or {})}})
        return asked

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
    """Let the database of a gateway be away in a block: acts end with 503."""
    storage, meant = gw.odm.storage, gw.odm.database.memory_is_meant
    away = MongoStorage(_NOWHERE, settings=Settings(server_selection_timeout=0.05))
    gw.odm.set_db(away)
    try:
        yield
    finally:
        away.close()
        gw.odm.set_db(storage, memory=meant or not storage.multi_process)
