"""The gateway: one object that owns its registries, and the ways to put it into an app."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, final
from uuid import uuid4

from flask import Blueprint, Flask
from flask.sansio.app import App

from gatewayfw import catalog
from gatewayfw.acts import Acts, CallerKey, ContextFns, Lifecycle, RateLimits
from gatewayfw.errors import DefinitionError
from gatewayfw.export import files
from gatewayfw.export.languages import generated
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from gatewayfw.spelling import pythonic
from gatewayfw.web import server as servers
from gatewayfw.web.blueprint import Endpoint, make_blueprint
from gatewayfw.web.cors import Cors
from gatewayfw.web.playground import Guard, Playground, check_options

Directories = Sequence[str | PathLike[str]]


def gateway(*, caller_key: CallerKey | None = None, **settings: Any) -> Gateway:
    """Return a new gateway; see `Gateway`. Source: contract, "Registration interface"."""
    return Gateway(caller_key=caller_key, **settings)


@final
@dataclass(frozen=True)
class Mount:
    """How a gateway was put into an app: the options that others may have to judge.

    Attributes:
        playground: whether it is on.
        cors: the origins that may read replies: nobody (None), everybody (``"*"``) or these.
    """

    playground: bool
    cors: frozenset[str] | str | None


@final
class Gateway:
    """Models, acts and a database, and the one endpoint that serves them.

    Two gateways share nothing, also within one app. The keywords are the settings of
    `gatewayfw.settings.Settings`; what is not given is read from the environment. ``caller_key``
    names the caller for rate limits, see `gatewayfw.acts.limits`.

    Attributes:
        settings: the settings in force.
        schemas: value kinds, models and relations, select structs.
        acts: registers and finds acts and services.
        odm: the database connection and the models.
        context_fns: the functions of the request context (`contextFns`).
        lifecycle: runs one act without HTTP.
        mounts: how it was put into apps, by the names its blueprints are registered under; of two
            apps with the same name, the later one's.

    Raises:
        DefinitionError: an unknown setting or a value that does not fit.
    """

    def __init__(self, *, caller_key: CallerKey | None = None, **settings: Any) -> None:
        """Take settings by name (``deadline=3``)."""
        self.settings = Settings.load(os.environ, **settings)
        self.schemas = Schemas(self.settings)
        self.acts = Acts(self.schemas)
        self.odm = Odm(self.schemas, self.settings)
        self.context_fns = ContextFns()
        self.lifecycle = Lifecycle(
            self.acts,
            self.context_fns,
            deadline=partial(self.odm.deadline, self.settings.deadline),
            rate_limits=RateLimits(self.settings, caller_key),
        )
        self.mounts: dict[str, Mount] = {}

    @property
    def contextFns(self) -> ContextFns:
        """The contract's spelling of `context_fns`."""
        return self.context_fns

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
    ) -> Blueprint:
        """Return a blueprint with the route ``/gateway`` for any app and url_prefix.

        ``name`` is by default different for every blueprint. ``cors`` is ``"*"`` or a list of exact
        origins, whose pages may send the ``cors_headers``, too. ``playground`` serves the playground
        below ``/playground``, to everybody, or where ``playground_guard`` says true of the request; to
        others it does not exist.
        ``static_path`` is served under ``static_prefix``, which goes with it. Nothing else in the app
        changes: its error pages, limits and routes stay.

        Raises:
            DefinitionError: an option is of the wrong type or does not go with the others.
        """
        endpoint = self._endpoint(Cors.checked(cors, cors_headers), playground, playground_guard)
        made = make_blueprint(
            endpoint,
            name or _fresh_name(),
            static_path=static_path,
            static_prefix=static_prefix,
        )
        made.record(lambda state: self._note(state.app, f"{state.name_prefix}.{state.name}".lstrip("."), endpoint))
        return made

    def init_app(self, app: Flask, url_prefix: str = "", **options: Any) -> None:
        """Register a blueprint in an app; ``options`` are those of `blueprint`.

        Raises:
            DefinitionError: as `blueprint`, or ``url_prefix`` does not start with a slash.
        """
        prefix = servers.prefix(url_prefix)
        app.register_blueprint(self.blueprint(**options), url_prefix=prefix)

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
        workers: int = 2,
        threads: int = 8,
        url_prefix: str = "",
        server: str = "gunicorn",
        fast_lane: bool = True,
    ) -> Flask:
        """Return a Flask app that serves this gateway and nothing else.

        Takes the options of `run_server`, so that one mapping fits both; ``port``, ``host``,
        ``workers``, ``threads`` and ``server`` are checked and otherwise left to the server that runs
        it. Files of the ``static_path`` directories are served at the root path. The gateway's route
        is answered before Flask's dispatch while nothing in the app could notice, see
        `gatewayfw.web.lane.Lane`; never with ``fast_lane=False``. ``type_generation`` calls
        `generate_types` for the acts that are registered by then.

        Raises:
            DefinitionError: names the option that does not fit; the types cannot be written.
        """
        servers.check_server_options(host, port, workers, threads, server)
        if not isinstance(type_generation, bool):
            raise DefinitionError("option 'type_generation': expected true or false")
        name = _fresh_name()
        endpoint = self._endpoint(Cors.checked(cors, cors_headers), playground, playground_guard)
        app = servers.make_app(endpoint, name, static_path=static_path, url_prefix=url_prefix, fast_lane=fast_lane)
        self._note(app, name, endpoint)
        if type_generation:
            self._generate_types_at_start()
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
        workers: int = 2,
        threads: int = 8,
        url_prefix: str = "",
        server: str = "gunicorn",
        fast_lane: bool = True,
    ) -> None:
        """Serve this gateway until it is stopped; blocks. Source: contract, ``runServer``.

        In the main thread, with a database that several processes can share, gunicorn with
        ``workers`` processes of ``threads`` threads runs it and ends with SystemExit; with
        ``server="granian"``, which needs the extra ``gatewayfw[granian]``, granian, which returns. On
        mongomock, without a database, or in another thread, one threaded server in this
        process does, and returns at KeyboardInterrupt. On a loopback ``host``, in development or with a
        playground that has no guard, only names of this machine may stand in the header Host.

        Raises:
            DefinitionError: names the option that does not fit.
            OSError: the port is in use, or the host has no such address.
        """
        app = self.create_app(
            port=port,
            playground=playground,
            playground_guard=playground_guard,
            type_generation=type_generation,
            static_path=static_path,
            cors=cors,
            cors_headers=cors_headers,
            host=host,
            workers=workers,
            threads=threads,
            url_prefix=url_prefix,
            server=server,
            fast_lane=fast_lane,
        )
        guarded = playground_guard is not None
        app.config["TRUSTED_HOSTS"] = servers.trusted_hosts(
            host, playground=playground, guarded=guarded, environ=os.environ
        )
        multi_process = self._shares_data_between_processes()
        servers.serve(
            app,
            host=host,
            port=port,
            workers=workers,
            threads=threads,
            multi_process=multi_process,
            deadline=self.settings.deadline,
            server=server,
        )

    def catalog(self) -> dict[str, Any]:
        """Return the description of all models and acts that exports are made from, see `gatewayfw.catalog`.

        Raises:
            DefinitionError: a select struct names what does not exist.
        """
        return catalog.build(self.schemas, self.acts)

    def generate_types(self, path: str | PathLike[str] = "declarations", lang: str = "ts") -> list[Path]:
        """Write the types of all models and acts into a folder; return the paths of the files that changed.

        ``lang``: ``ts`` gives ``gateway.ts``, with a client, ``python`` ``gateway_types.py``. A relative
        ``path`` starts at the working directory; the folder is made if it is missing.

        Raises:
            DefinitionError: another language, a wrong definition, or a symbolic link in the place of
                the file that leads out of the folder.
            OSError: the folder or the file cannot be written.
        """
        return files.write(Path(path), generated(self.catalog(), lang))

    # The contract's spellings of the methods above: one object, or the same keys as keywords.
    async def generateSchemTypes(self, path: str | PathLike[str] = "declarations") -> list[Path]:
        """Call `generate_types` for TypeScript."""
        return self.generate_types(path)

    def runServer(self, config: Mapping[str, Any] | None = None, /, **keys: Any) -> None:
        """Call `run_server` with the contract's object or keywords."""
        self.run_server(**pythonic(config, keys))

    def _note(self, app: App, name: str, endpoint: Endpoint) -> None:
        """Let the command line find this gateway, by the name its blueprint is registered under."""
        self.mounts[name] = Mount(endpoint.playground is not None, endpoint.cors.origins)
        app.extensions.setdefault("gatewayfw", {})[name] = self

    def _generate_types_at_start(self) -> None:
        try:
            self.generate_types()
        except OSError as error:
            raise DefinitionError(f"option 'type_generation': the types cannot be written: {error}") from error

    def _shares_data_between_processes(self) -> bool:
        try:
            return self.odm.storage.multi_process
        except DefinitionError:  # No database was set.
            return False

    def _endpoint(self, cors: Cors, playground: bool, guard: Guard | None) -> Endpoint:
        check_options(playground, guard, self.settings.playground_refused_in, os.environ)
        shown = Playground(self.catalog, guard) if playground else None
        return Endpoint(self.lifecycle, self.context_fns, self.settings, cors, shown)


def _fresh_name() -> str:
    return f"gateway_{uuid4().hex[:12]}"
