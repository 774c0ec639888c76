"""The blueprint as an object: what is done when it is registered, before anything in the app changes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, final

from flask import Blueprint
from flask.sansio.app import App

#: What a blueprint is called that was given no name; the first part of its endpoints.
NAME = "gateway"
#: The last part of the playground's endpoints.
PLAYGROUND_VIEWS = frozenset({"playground", "playground_page", "playground_file"})


@final
class GatewayBlueprint(Blueprint):
    """A blueprint that looks at its gateway first, and finds a free name where it was given none.

    It is registered as ``gateway``, where that is taken in the app as ``gateway_2`` and so on; below
    another blueprint the name is free unless that one has it. So endpoints (``gateway.gateway``) are the
    same at every start. A name that was given stays, and is an error where it is taken, as in Flask.
    """

    def __init__(self, name: str | None, import_name: str, check: Callable[[], object]) -> None:
        """Take a name or None, and what raises when the gateway cannot be served."""
        super().__init__(NAME if name is None else name, import_name)
        self._is_named = name is not None
        self._check = check

    def register(self, app: App, options: dict[str, Any]) -> None:
        """Register in an app, or below another blueprint; Flask calls it.

        Raises:
            DefinitionError: the gateway cannot be served; the app is as it was.
            ValueError: the name that was given is taken.
        """
        self._check()
        if not self._is_named and "name" not in options:
            options = {**options, "name": _free_name(app, options.get("name_prefix", ""))}
        super().register(app, options)


def is_playgrounds(app: App, endpoint: str | None) -> bool:
    """Return whether an endpoint is the playground's of any gateway in an app, whatever its blueprint is called."""
    name, _, view = (endpoint or "").rpartition(".")
    return view in PLAYGROUND_VIEWS and isinstance(app.blueprints.get(name), GatewayBlueprint)


def _free_name(app: App, prefix: str) -> str:
    names = (NAME if number == 1 else f"{NAME}_{number}" for number in count(1))
    return next(name for name in names if f"{prefix}.{name}".lstrip(".") not in app.blueprints)
