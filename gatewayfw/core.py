"""The gateway: it owns its registries and mounts itself in an app."""

import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack, final
from weakref import WeakKeyDictionary

from flask import Blueprint, Flask, has_request_context
from flask.sansio.app import App

from gatewayfw import catalog
from gatewayfw.acts import Acts, ContextFns, Lifecycle
from gatewayfw.acts.checks import Checks
from gatewayfw.acts.idempotent import IdempotentRunner
from gatewayfw.acts.replies import parse_exceptions
from gatewayfw.errors import DefinitionError
from gatewayfw.export.files import generated, write
from gatewayfw.files import Files
from gatewayfw.limits import CallerKey, RateLimits
from gatewayfw.observe.calls import CallObservers, F
from gatewayfw.observe.metrics import warn_of_processes
from gatewayfw.odm import Odm
from gatewayfw.policies import Policies
from gatewayfw.schemas import Schemas
from gatewayfw.settings import GivenSettings, Settings, open_to_config, read_config
from gatewayfw.spelling import as_contract
from gatewayfw.web.batch import Batches
from gatewayfw.web.cors import Cors
from gatewayfw.web.endpoint import Endpoint
from gatewayfw.web.flask_request import FlaskGlobals, make_contexts
from gatewayfw.web.monitoring import has_page
from gatewayfw.web.mount import NAME, make_app, make_blueprint, prefix
from gatewayfw.web.playground import Guard, Playground, check_options
from gatewayfw.web.servers import (
    THREADS,
    WORKERS,
    Server,
    check_server_options,
    restrict_hosts,
    serve,
    starts_processes,
)

Directories = Sequence[str | PathLike[str]]


class BlueprintOptions(TypedDict, total=False):
    """The options of `Gateway.blueprint`."""

    name: str | None
    playground: bool
    playground_guard: Guard | None
    cors: str | Sequence[str] | None
    cors_headers: Sequence[str]
    static_path: Directories
    static_prefix: str | None
    check: bool
    probes: bool


@final
class Gateway:
    """Models, acts and a database, and the one endpoint that serves them.

    Two gateways share nothing, not even within one app. With an ``app`` it is mounted there, at the root (`init_app`).
    The keywords are the settings of `gatewayfw.settings.Settings`; missing ones are read from the config of the app in
    which it is first registered (``GATEWAYFW_DEADLINE``), then from the environment. ``caller_key`` names the caller
    for rate limits, see `gatewayfw.limits`. ``exceptions`` says which replies exceptions become, ``{SomeError: (409,
    "code", "message")}``, see `gatewayfw.acts.replies`. ``roles`` are the names that policies and rules use;
    ``policy_role`` gives the caller's by the context, by default the name of ``active_role``.

    Attributes:
        settings: the settings in force.
        schemas: value kinds, models and relations, select structs.
        acts: registers and finds acts and services.
        odm: the database connection and the models.
        policy: declares what callers of a role see and change of models; see `Policies.declare`.
        policies: knows who calls, and what is wrong with the policies.
        context_fns: the functions of the request context (`contextFns`).
        lifecycle: runs one act without HTTP.
        files: stores the files that acts take, and lets them be read.
        checks: checks the definitions; `check` raises an error for what it finds.
        mounts: its endpoints in each app, by the names that its blueprints have there.

    Raises:
        DefinitionError: an unknown setting, a value that does not fit, or ``exceptions`` that are not valid.
    """

    def __init__(
        self,
        app: Flask | None = None,
        *,
        caller_key: CallerKey | None = None,
        exceptions: Mapping[type[Exception], tuple[int, str, str]] | None = None,
        roles: Sequence[str] = (),
        policy_role: Callable[[Any], str | None] | None = None,
        **settings: Unpack[GivenSettings],
    ) -> None:
        """Take an app to be mounted in, and settings by name (``deadline=3``)."""
        self.settings = Settings.load(os.environ, **settings)
        self.schemas = Schemas(self.settings)
        limits = RateLimits(self.settings, caller_key)
        self.acts = Acts(self.schemas, limits, parse_exceptions(exceptions))
        self.odm = Odm(self.schemas, self.settings)
        self.odm.database.in_request = has_request_context
        self.context_fns = make_contexts()
        policies = Policies(self.schemas, self.context_fns, roles, policy_role)
        self.policies, self.policy = policies, policies.declare
        self.lifecycle = Lifecycle(
            self.acts,
            self.context_fns,
            self.odm.database.request_deadline,
            IdempotentRunner(self.odm.replies, self.context_fns, FlaskGlobals()),
            policies,
        )
        self._batches = Batches(self.lifecycle, self.context_fns, self.settings, self.odm)
        self._calls = CallObservers(self.acts.resolve)
        self.files = Files(self.odm, self.acts)
        found = (lambda: self.odm.database.is_set, self.files.problems, policies.problems)
        self.checks = Checks(self.schemas, self.acts, *found, roles=policies.roles)
        self.mounts: WeakKeyDictionary[App, dict[str, Endpoint]] = WeakKeyDictionary()
        open_to_config(self.settings, settings)
        if app is not None:
            self.init_app(app)

    @property
    def contextFns(self) -> ContextFns:
        """The contract's spelling of `context_fns`."""
        return self.context_fns

    def check(self) -> None:
        """Refuse wrong definitions, without asking the database.

        `create_app`, `run_server` and the registration of a blueprint call this themselves. Call it after
        ``check=False``, or in a test of definitions. It checks relations to unknown models and everything else that
        depends on another model, models without a database, and for each act the names in its select structs, the order
        of its hooks, and the field of ``set`` from which its access rules take the role.

        Raises:
            DefinitionError: names every problem with its place (``book.getBook: get: ...``), one a line.
        """
        self.checks.check()

    def init_worker(self) -> None:
        """Start what a process that serves needs: the thread of the jobs.

        `run_server`, the ``gunicorn.conf.py`` of a new service and the first request do it, too. Call it after a fork.
        Where pytest runs, only this call starts the thread; the setting ``fan_out_thread`` forbids it.

        Raises:
            DefinitionError: greenlets have replaced the threads of this process.
        """
        self.odm.database.init_worker()

    def on_call(self, observer: F) -> F:
        """Register an observer of calls, a function, and return it.

        It gets a `gatewayfw.observe.calls.Call` for each request, refused ones included, but not for CORS preflights;
        in a batch for each item instead of the batch. It runs in the thread of the request, before the reply is sent;
        what it raises is logged. See `gatewayfw.observe` for ready-made observers.

        Raises:
            DefinitionError: it is not a plain function of one argument, is registered already, or has a page and comes
                after the gateway was mounted.
        """
        if self.mounts and has_page(observer):
            raise DefinitionError("on_call: the gateway is mounted already, without the page of this observer")
        return self._calls.add(observer)

    def blueprint(
        self,
        name: str | None = None,
        *,
        playground: bool = False,
        playground_guard: Guard | None = None,
        cors: str | Sequence[str] | None = None,
        cors_headers: Sequence[str] = (),
        static_path: Directories = (),
        static_prefix: str | None = None,
        check: bool = True,
        probes: bool = False,
    ) -> Blueprint:
        """Return a blueprint with the route ``/gateway`` for any app and url_prefix.

        Without a ``name`` it is registered as ``gateway``, or the next of ``gateway_2``, ``gateway_3`` that is free in
        the app. ``cors`` is ``"*"`` or a list of exact origins, whose pages may send the ``cors_headers``, too.
        ``playground`` serves the playground below ``/playground``, to everybody, or only to requests that
        ``playground_guard`` accepts; others get 404. ``static_path`` is served under ``static_prefix``; give both or
        neither. Nothing else in the app changes: its error pages, limits and routes stay.

        When the blueprint is registered, the definitions are checked (`check`), so that an app with wrong ones does not
        start. Later definitions are checked at the next request; while one is wrong, each request is answered with 500
        and logged. ``check=False`` leaves both to ``flask gateway doctor``. ``probes`` adds ``/gateway/healthz`` and
        ``readyz``.

        Raises:
            DefinitionError: an option is of the wrong type or does not go with the others.
        """
        endpoint = self._endpoint(cors, cors_headers, playground, playground_guard, check, probes)
        made = make_blueprint(endpoint, name, static_path=static_path, static_prefix=static_prefix)
        made.record(
            lambda state: self._note_mount(state.app, f"{state.name_prefix}.{state.name}".lstrip("."), endpoint)
        )
        return made

    def init_app(self, app: Flask, url_prefix: str = "", **options: Unpack[BlueprintOptions]) -> None:
        """Register a blueprint in an app; ``options`` are those of `blueprint`.

        Raises:
            DefinitionError: as `blueprint`; ``url_prefix`` does not start with a slash; or a
                definition is wrong, see `check`.
        """
        read_config(self.settings, app.config)  # before the options, which depend on settings
        app.register_blueprint(self.blueprint(**options), url_prefix=prefix(url_prefix))

    def create_app(
        self,
        *,
        port: int = 8000,
        playground: bool = False,
        playground_guard: Guard | None = None,
        type_generation: bool = False,
        static_path: Directories = (),
        cors: str | Sequence[str] | None = None,
        cors_headers: Sequence[str] = (),
        host: str = "127.0.0.1",
        workers: int = WORKERS,
        threads: int = THREADS,
        url_prefix: str = "",
        server: Server = "gunicorn",
        fast_lane: bool = True,
        check: bool = True,
        probes: bool = True,
    ) -> Flask:
        """Return a Flask app that serves this gateway and nothing else.

        Takes the options of `run_server`, so that one mapping fits both; ``port``, ``host``, ``workers``, ``threads``
        and ``server`` are checked but used only by the server that runs the app. Files of the ``static_path``
        directories are served at the root path. The gateway's route is answered before Flask's dispatch as long as that
        makes no difference, see `gatewayfw.web.flask_bypass`; never with ``fast_lane=False``. ``type_generation`` calls
        `generate_types` for the acts that are registered by then. ``check`` and ``probes``: see `blueprint`.

        Raises:
            DefinitionError: names the option that does not fit; a definition is wrong, see `check`;
                the types cannot be written.
        """
        check_server_options(host, port, workers, threads, server)
        if not isinstance(type_generation, bool):
            raise DefinitionError("option 'type_generation': expected true or false")
        endpoint = self._endpoint(cors, cors_headers, playground, playground_guard, check, probes)
        app = make_app(endpoint, static_path=static_path, url_prefix=url_prefix, fast_lane=fast_lane)
        self._note_mount(app, NAME, endpoint)
        if type_generation:
            try:
                self.generate_types()
            except OSError as error:
                raise DefinitionError(f"option 'type_generation': the types cannot be written: {error}") from error
        return app

    def run_server(
        self,
        *,
        port: int = 8000,
        playground: bool = False,
        playground_guard: Guard | None = None,
        type_generation: bool = False,
        static_path: Directories = (),
        cors: str | Sequence[str] | None = None,
        cors_headers: Sequence[str] = (),
        host: str = "127.0.0.1",
        workers: int = WORKERS,
        threads: int = THREADS,
        url_prefix: str = "",
        server: Server = "gunicorn",
        fast_lane: bool = True,
        check: bool = True,
        probes: bool = True,
    ) -> None:
        """Serve this gateway until it is stopped; blocks.

        Source: specification 18.3.

        In the main thread, with a database that several processes can share, gunicorn serves it with ``workers``
        processes of ``threads`` threads, and ends with SystemExit. With mongomock, without a database, or in another
        thread, a threaded server in this process serves it, and returns after KeyboardInterrupt. ``server="waitress"``,
        with its extra, always serves in this process, whatever ``workers`` says, and returns. On a loopback ``host``,
        in development or with a playground, only names of this machine are accepted in the header Host; behind a proxy
        that passes another one on, serve the app of `create_app` with ``TRUSTED_HOSTS`` in its config.

        Raises:
            DefinitionError: names the option that does not fit; or a definition is wrong, see `check`.
            OSError: the port is in use, or the host has no such address.
        """
        options = {name: value for name, value in locals().items() if name != "self"}
        app = self.create_app(**options)
        restrict_hosts(app, host, playground=playground, environ=os.environ)
        multi_process = self.odm.database.is_set and self.odm.storage.multi_process
        if workers > 1 and starts_processes(multi_process, server):
            warn_of_processes(self._calls.observers, os.environ)
        serve(
            app,
            host=host,
            port=port,
            workers=workers,
            threads=threads,
            multi_process=multi_process,
            settings=self.settings,
            server=server,
            most_bytes=self.settings.max_upload_bytes if self.acts.takes_files else self.settings.max_body_bytes,
        )

    def catalog(self) -> dict[str, Any]:
        """Return the description of all models and acts; see `gatewayfw.catalog`.

        Raises:
            DefinitionError: a select struct names what does not exist.
        """
        return catalog.build(self.schemas, self.acts, self.policies.roles, self.files.opened_model)

    def generate_types(self, path: str | PathLike[str] = "declarations", lang: str = "ts") -> list[Path]:
        """Write the types of all models and acts into a folder.

        Returns the paths of the files that changed.

        ``lang``: ``ts`` gives ``gateway.ts``, with a client, ``python`` ``gateway_types.py``. A relative
        ``path`` starts at the working directory; the folder is made if it is missing.

        Raises:
            DefinitionError: another language, or a wrong definition.
            OSError: the folder or the file cannot be written.
        """
        name, text = generated(self.catalog(), lang)
        place = Path(path) / name
        return [place] if write(place, text) else []

    # The contract's spellings of the methods above: one object, or the same keys as keywords.
    async def generateSchemTypes(self, path: str | PathLike[str] = "declarations") -> list[Path]:
        """Call `generate_types` for TypeScript."""
        return self.generate_types(path)

    runServer = as_contract(run_server)

    def _note_mount(self, app: App, name: str, endpoint: Endpoint) -> None:
        """Note a mount, and tell the app, in which the command line looks for gateways."""
        self.schemas.note_restrictions()  # the app's config is known now
        self.mounts.setdefault(app, {})[name] = endpoint
        app.extensions.setdefault("gatewayfw", {})[name] = self

    def _carried_headers(self) -> list[str]:
        """Return the headers that pages may send for hooks; they can set no cookie."""
        carriers = (*self.acts.token_carriers, *self.acts.role_carriers)
        return [carrier.header for carrier in carriers if carrier.place in ("header", "bearer")]

    def _endpoint(
        self, cors: Any, cors_headers: Any, playground: bool, guard: Guard | None, check: bool, probes: bool
    ) -> Endpoint:
        for name, option in (("check", check), ("probes", probes)):
            if not isinstance(option, bool):
                raise DefinitionError(f"option {name!r}: expected true or false")
        check_options(playground, guard, self.settings.playground_refused_in, os.environ)
        shown = Playground(self.catalog, guard, self.settings) if playground else None
        checks = self.checks if check else None
        return Endpoint(
            self.lifecycle,
            self.context_fns,
            self.settings,
            Cors.checked(cors, cors_headers, self._carried_headers),
            shown,
            checks,
            self._batches,
            self.files,
            self._calls,
            self.odm.readiness,
            probes,
            self.odm.database.serve,
        )


#: Makes a new gateway: the contract's name. Source: specification 18.1.
gateway = Gateway
