"""The gateway in an app: a blueprint in any app, or one in an app of its own.

The route takes every method, because a 405 of the routing never reaches a blueprint.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from os import PathLike
from typing import Any, final

import flask
from flask import Blueprint, Flask, Request, Response, abort, request
from flask.sansio.app import App
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug import exceptions
from werkzeug.exceptions import HTTPException

from gatewayfw import messages
from gatewayfw.environment import refuse_greenlets
from gatewayfw.errors import BadRequest, DefinitionError, GatewayError, HttpError, NotFound
from gatewayfw.settings import read_config
from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.files import RULE as FILE_RULE
from gatewayfw.web.files import StaticFiles, file_view
from gatewayfw.web.flask_bypass import SUPPORTED, FlaskBypass
from gatewayfw.web.monitoring import METRICS, add_probes, metrics_view, shown_of
from gatewayfw.web.playground import RULE as PLAYGROUND_RULE
from gatewayfw.web.playground import Playground

RULE = "/gateway"
#: The name of a blueprint without one; the first part of its endpoints.
NAME = "gateway"
#: The last part of the endpoints that a guard may hide.
HIDDEN_VIEWS = frozenset({"playground", "playground_page", "playground_file", "gateway_metrics"})


@final
class GatewayBlueprint(Blueprint):
    """A blueprint that checks its gateway first and finds a free name.

    It is registered as ``gateway``, where that is taken in the app as ``gateway_2`` and so on; below another blueprint
    the name is free unless that one has it. So endpoints (``gateway.gateway``) are the same at every start. A name that
    was given stays, and is an error where it is taken, as in Flask.
    """

    def __init__(self, name: str | None, import_name: str, check: Callable[[App], object]) -> None:
        super().__init__(NAME if name is None else name, import_name)
        self._is_named = name is not None
        self._check = check

    def register(self, app: App, options: dict[str, Any]) -> None:
        """Register in an app, or below another blueprint; Flask calls it.

        Raises:
            DefinitionError: the gateway cannot be served; the app is as it was.
            ValueError: the name that was given is taken.
        """
        self._check(app)
        if not self._is_named and "name" not in options:
            prefix = options.get("name_prefix", "")
            names = (NAME if number == 1 else f"{NAME}_{number}" for number in count(1))
            free = next(name for name in names if f"{prefix}.{name}".lstrip(".") not in app.blueprints)
            options = {**options, "name": free}
        super().register(app, options)


def make_blueprint(
    endpoint: Endpoint,
    name: str | None = None,
    *,
    static_path: Sequence[str | PathLike[str]] = (),
    static_prefix: str | None = None,
) -> Blueprint:
    """Return a blueprint with the route `/gateway`, for any url_prefix.

    Its options are those of `gatewayfw.core.Gateway.blueprint`. A static file that does not exist is the host's 404.

    Raises:
        DefinitionError: an option is of the wrong type or does not go with the others.
    """
    blueprint = GatewayBlueprint(name, __name__, lambda app: _begin(endpoint, app))
    _add_rule(blueprint, "gateway", RULE, endpoint.view)
    if endpoint.files is not None:
        files = endpoint.files
        _add_rule(blueprint, "gateway_file", FILE_RULE, endpoint.serving(file_view(endpoint, files)))
        blueprint.record(lambda state: files.note_mount((state.url_prefix or "").rstrip("/") + RULE))
    if (shown := shown_of(endpoint.calls)) is not None:
        view = endpoint.serving(metrics_view(shown, endpoint.readiness))
        _add_rule(blueprint, "gateway_metrics", METRICS, view, merge_slashes=False)
    if endpoint.probes and endpoint.readiness is not None:
        add_probes(blueprint, endpoint.readiness, endpoint.begin)
    if endpoint.playground is not None:
        _add_playground(blueprint, endpoint, endpoint.playground)
    if (static_prefix is not None) != bool(static_path):
        raise DefinitionError("options 'static_path' and 'static_prefix' go together")
    if static_prefix is not None:
        _add_files(blueprint, endpoint, StaticFiles(static_path), static_prefix)
    return blueprint


def init_worker(app: App) -> None:
    """Start what each gateway of an app needs in a process that serves.

    Raises:
        DefinitionError: greenlets have replaced the threads of this process.
    """
    gateways: Mapping[str, Any] = app.extensions.get("gatewayfw", {})
    for gateway in gateways.values():
        gateway.init_worker()


def is_hidden(app: App, endpoint: str | None) -> bool:
    """Tell whether an endpoint is that of a page which a guard may hide."""
    name, _, view = (endpoint or "").rpartition(".")
    return view in HIDDEN_VIEWS and isinstance(app.blueprints.get(name), GatewayBlueprint)


def _begin(endpoint: Endpoint, app: App) -> None:
    refuse_greenlets()
    read_config(endpoint.settings, app.config)
    endpoint.check()


def _add_rule(
    blueprint: Blueprint, name: str, path: str, view: Callable[..., Response], merge_slashes: bool | None = None
) -> None:
    """Add a rule for all methods: `add_url_rule` always narrows them (Flask 3.1).

    ``merge_slashes`` says whether a path with doubled slashes is redirected to it; None: as the app has it.
    Registering the blueprint raises a `DefinitionError` if another gateway has the path, as one would never be called.
    """

    def add(state: BlueprintSetupState) -> None:
        endpoint = f"{state.name_prefix}.{state.name}.{name}".lstrip(".")
        rule = state.app.url_rule_class(
            (state.url_prefix or "").rstrip("/") + path,
            endpoint=endpoint,
            methods=None,
            subdomain=state.subdomain,
            defaults=state.url_defaults,
            merge_slashes=merge_slashes,
        )
        rule.provide_automatic_options = False  # type: ignore[attr-defined]  # Flask's own mark on a rule
        for other in state.app.url_map.iter_rules():
            mounted = getattr(state.app.view_functions.get(other.endpoint), "__self__", None)
            if isinstance(mounted, Endpoint) and (other.rule, other.subdomain) == (rule.rule, rule.subdomain or ""):
                raise DefinitionError(f"another gateway is at {rule.rule} already: give one of the two a url_prefix")
        state.app.url_map.add(rule)
        state.app.view_functions[endpoint] = view

    blueprint.record(add)


def _add_playground(blueprint: Blueprint, endpoint: Endpoint, playground: Playground) -> None:
    """Add the playground for all methods: its guard decides before any refusal."""

    def view(playground_file: str | None = None, **_values: Any) -> Response:
        sent: Request = request._get_current_object()  # type: ignore[attr-defined]  # a proxy
        try:
            return playground.reply(sent, playground_file)
        except HTTPException:  # Not found, or a wrong method: the host app's own error, as for any path.
            raise
        except Exception as error:  # Of the catalog: an envelope, and in the log.
            return endpoint.refuse(error)

    rules = (("", "", view), ("_page", "/", partial(view, "")), ("_file", "/<path:playground_file>", view))
    for name, path, shown in rules:
        # A redirect from doubled slashes would come before the guard and reveal the playground.
        _add_rule(blueprint, f"playground{name}", PLAYGROUND_RULE + path, endpoint.serving(shown), merge_slashes=False)


def _add_files(blueprint: Blueprint, endpoint: Endpoint, files: StaticFiles, prefix: str) -> None:
    if not isinstance(prefix, str) or not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", prefix):
        raise DefinitionError("option 'static_prefix': expected a path like '/files'")

    def view(path: str = "", **_values: Any) -> Response:
        reply = files.response(path)
        if reply is None:
            abort(404)
        return endpoint.with_cors(reply)

    served = endpoint.serving(view)
    blueprint.add_url_rule(f"{prefix}/", "files_index", served)
    blueprint.add_url_rule(f"{prefix}/<path:path>", "files", served)


def make_app(
    endpoint: Endpoint,
    *,
    static_path: Sequence[str | PathLike[str]] = (),
    url_prefix: str = "",
    fast_lane: bool = True,
) -> Flask:
    """Return an app of one gateway, with static files at the root.

    Its options are those of `gatewayfw.core.Gateway.create_app`. Static files are looked for only when the routing
    found nothing, so they shadow no route. Unknown paths and methods and bad hosts answer envelopes, because this app
    is ours (our choice); if an added view aborts, Flask's error page stays.
    """
    if not isinstance(fast_lane, bool):
        raise DefinitionError("option 'fast_lane': expected true or false")
    files, mounted = StaticFiles(static_path), prefix(url_prefix)
    path = (mounted or "") + RULE
    app = flask.Flask(__name__, static_folder=None)  # by its name: OpenTelemetry puts another class there
    app.url_map.merge_slashes = False  # Otherwise it would redirect doubled slashes, with an HTML page.
    app.register_blueprint(make_blueprint(endpoint), url_prefix=mounted)

    def is_own(error: exceptions.HTTPException) -> bool:
        """Whether an error comes from the routing, or from a page that is hidden."""
        return request.routing_exception is error or is_hidden(app, request.endpoint)

    def refused(error: GatewayError) -> Response:
        return endpoint.serving(partial(endpoint.refuse, error))()

    @endpoint.serving
    def file() -> Response:
        reply = files.response(request.path) if request.method in ("GET", "HEAD") else None
        if reply is None:
            return endpoint.refuse(NotFound(messages.NOT_FOUND.format(path=path)))
        return endpoint.with_cors(reply)

    def bad_request(error: exceptions.BadRequest) -> Response | exceptions.BadRequest:
        if request.routing_exception is not error:
            return error
        return refused(BadRequest(messages.BAD_HOST))

    def not_found(error: exceptions.NotFound) -> Response | exceptions.NotFound:
        return file() if is_own(error) else error

    def not_allowed(error: exceptions.MethodNotAllowed) -> Response | exceptions.MethodNotAllowed:
        if not is_own(error):
            return error
        refusal = HttpError(messages.METHOD_NOT_ALLOWED, 405)
        refusal.headers = {"Allow": ", ".join(sorted(error.valid_methods or ()))}
        return refused(refusal)

    app.register_error_handler(400, bad_request)
    app.register_error_handler(404, not_found)
    app.register_error_handler(405, not_allowed)
    if fast_lane and SUPPORTED and "<" not in path:
        app.wsgi_app = FlaskBypass(app, endpoint, f"{NAME}.gateway", path)  # type: ignore[method-assign]  # Flask's way
    return app


def prefix(url_prefix: Any) -> str | None:
    """Return a checked url_prefix as Flask wants it: None for the root.

    Raises:
        DefinitionError: not empty and not a path that starts with a slash.
    """
    if not isinstance(url_prefix, str) or (url_prefix and not url_prefix.startswith("/")):
        raise DefinitionError("option 'url_prefix': expected '' or a path like '/api'")
    return url_prefix.rstrip("/") or None
