"""A whole Flask app for one gateway, and the servers that run it."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from flask import Flask, Response, request
from werkzeug import exceptions
from werkzeug.serving import BaseWSGIServer, make_server

from gatewayfw.environment import is_development
from gatewayfw.errors import BadRequest, DefinitionError, HttpError, NotFound, missing_extra
from gatewayfw.settings import Settings
from gatewayfw.web.endpoint import RULE, Endpoint, make_blueprint
from gatewayfw.web.lane import SUPPORTED, Lane
from gatewayfw.web.mount import NAME, is_playgrounds
from gatewayfw.web.reply import logger
from gatewayfw.web.static import StaticFiles

_BACKLOG = 128
#: What can run several workers: gunicorn comes with the package, granian with the extra of its name.
SERVERS = ("gunicorn", "granian")
#: Seconds beyond the deadline of an act that requests under way get when the server stops.
_PATIENCE = 5
#: Seconds beyond the deadline of an act before a worker that answers nothing is killed.
_MARGIN = 25
#: Connections that one worker of granian keeps, idle ones too (gunicorn's default); others wait to be taken.
_CONNECTIONS = 1000


def make_app(
    endpoint: Endpoint,
    *,
    static_path: Sequence[str | os.PathLike[str]] = (),
    url_prefix: str = "",
    fast_lane: bool = True,
) -> Flask:
    """Return an app that serves one gateway, static files at the root, and envelopes elsewhere.

    With ``fast_lane`` a WSGI callable answers the gateway's route before Flask's dispatch, while
    nothing in the app could notice: see `gatewayfw.web.lane.Lane`.

    Static files are looked for only when the routing found nothing, so they shadow no route.
    Unknown paths and methods and bad hosts answer envelopes, because this app is ours (our choice); what
    views that are added to it abort with stays as Flask makes it.

    Raises:
        DefinitionError: an option is of the wrong type, a directory does not exist, or the definitions
            are wrong.
    """
    if not isinstance(fast_lane, bool):
        raise DefinitionError("option 'fast_lane': expected true or false")
    files = StaticFiles(static_path)
    app = Flask(__name__, static_folder=None)
    app.url_map.merge_slashes = False  # It would answer a doubled slash with a redirect, in HTML.
    app.register_blueprint(make_blueprint(endpoint), url_prefix=prefix(url_prefix))

    def is_own(error: exceptions.HTTPException) -> bool:
        """Whether the error is the routing's, or a playground's, which refuses as if it were not there."""
        return request.routing_exception is error or is_playgrounds(app, request.endpoint)

    def bad_request(error: exceptions.BadRequest) -> Response | exceptions.BadRequest:
        if request.routing_exception is not error:
            return error
        return endpoint.refuse(BadRequest("the header Host is not valid"))

    def not_found(error: exceptions.NotFound) -> Response | exceptions.NotFound:
        if not is_own(error):
            return error
        reply = files.response(request.path) if request.method in ("GET", "HEAD") else None
        return endpoint.refuse(NotFound("not found")) if reply is None else endpoint.with_cors(reply)

    def not_allowed(error: exceptions.MethodNotAllowed) -> Response | exceptions.MethodNotAllowed:
        if not is_own(error):
            return error
        refusal = HttpError("method not allowed", 405)
        refusal.headers = {"Allow": ", ".join(sorted(error.valid_methods or ()))}
        return endpoint.refuse(refusal)

    app.register_error_handler(400, bad_request)
    app.register_error_handler(404, not_found)
    app.register_error_handler(405, not_allowed)
    path = (prefix(url_prefix) or "") + RULE
    if fast_lane and SUPPORTED and "<" not in path:
        app.wsgi_app = Lane(app, endpoint, f"{NAME}.gateway", path)  # type: ignore[method-assign]  # Flask's way
    return app


def prefix(url_prefix: Any) -> str | None:
    """Return a checked url_prefix as Flask wants it: None for the root.

    Raises:
        DefinitionError: not empty and not a path that starts with a slash.
    """
    if not isinstance(url_prefix, str) or (url_prefix and not url_prefix.startswith("/")):
        raise DefinitionError("option 'url_prefix': expected '' or a path like '/api'")
    return url_prefix.rstrip("/") or None


def check_server_options(host: Any, port: Any, workers: Any, threads: Any, server: Any = "gunicorn") -> None:
    """Refuse options no server can use.

    Raises:
        DefinitionError: names the option and what was expected.
    """
    if not isinstance(host, str) or not host:
        raise DefinitionError("option 'host': expected a host name or an address")
    if type(port) is not int or not 0 <= port <= 65535:
        raise DefinitionError("option 'port': expected an integer in 0..65535")
    for name, value in (("workers", workers), ("threads", threads)):
        if type(value) is not int or value < 1:
            raise DefinitionError(f"option {name!r}: expected a positive integer")
    if server not in SERVERS:
        raise DefinitionError("option 'server': expected 'gunicorn' or 'granian'")


def restrict_hosts(app: Flask, host: str, *, playground: bool, environ: Mapping[str, str]) -> None:
    """Let an app answer under `trusted_hosts` only, where that is due; in any case of letters.

    Flask compares the header Host letter by letter, so the header is put in lower case first.
    """
    names = trusted_hosts(host, playground=playground, environ=environ)
    if names is None:
        return
    app.config["TRUSTED_HOSTS"] = names
    application = app.wsgi_app

    def lowered(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if "HTTP_HOST" in environ:
            environ["HTTP_HOST"] = environ["HTTP_HOST"].lower()
        return application(environ, start_response)

    app.wsgi_app = lowered  # type: ignore[method-assign]  # Flask's way


def trusted_hosts(host: str, *, playground: bool, environ: Mapping[str, str]) -> list[str] | None:
    """Return the names under which a server may be called, as Flask's ``TRUSTED_HOSTS``; None for any.

    On a loopback address in development, or with a playground, only the names of this machine: else a
    page whose own name is bound to 127.0.0.1 anew could call acts as the developer. A guard of the
    playground changes nothing: such a page comes from the same address as the developer. Our choice.
    """
    if not (playground or is_development(environ)):
        return None
    addresses = _loopback_addresses(host)
    # werkzeug 3.1 never finds an IPv6 address in the list: a server at ::1 is called as localhost.
    return list(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", host.lower(), *addresses])) if addresses else None


def _loopback_addresses(host: str) -> list[str]:
    """Return those of a host's addresses that only this machine reaches: of ``127.1`` or its own name, too."""
    try:
        found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):  # No such host: binding fails, too, and says so.
        return []
    return sorted(address for address in found if _is_loopback(address))


def _is_loopback(address: str) -> bool:
    parsed = ip_address(address)
    # Python 3.12 and before do not look into an IPv4 address that is written as an IPv6 one.
    return (getattr(parsed, "ipv4_mapped", None) or parsed).is_loopback


def check_worker_timeout(seconds: float, settings: Settings, option: str = "timeout") -> None:
    """Refuse a server that would kill a worker in the middle of an act; for `on_starting` of gunicorn and the like.

    ``seconds`` is the server's timeout, 0 for none, or with ``option="graceful_timeout"`` what
    requests under way get when it stops. `run_server` derives both from the deadline itself.

    Raises:
        DefinitionError: it is not above the deadline of an act; names both.
    """
    if seconds <= settings.deadline and (seconds or option != "timeout"):
        raise DefinitionError(
            f"the server's {option} of {seconds:g} s must be above the deadline of {settings.deadline:g} s "
            "(setting deadline)"
        )


def serve(
    app: Flask,
    *,
    host: str,
    port: int,
    workers: int,
    threads: int,
    multi_process: bool,
    deadline: float,
    server: str = "gunicorn",
) -> None:
    """Serve an app until it is stopped; blocks.

    In the main thread, and where several processes can share the storage (``multi_process``),
    gunicorn or granian (``server``) with ``workers`` processes of ``threads`` threads; gunicorn ends
    with SystemExit, granian by returning, or with SystemExit when it failed. Else one
    threaded server in this process, because a forked worker would have its own copy of the data;
    it ends at KeyboardInterrupt. The timeouts of the workers are derived from ``deadline``, the
    seconds that an act may take, so that no setting can kill a worker in the middle of one.

    Raises:
        DefinitionError: granian is asked for and not installed.
        OSError: the port is in use, or the host has no such address.
    """
    run = {"gunicorn": _gunicorn, "granian": _granian}[server]
    if server == "granian":
        _check_granian()
    main = threading.current_thread() is threading.main_thread()
    if multi_process and main and hasattr(os, "fork"):
        run(app, host=host, port=port, workers=workers, threads=threads, deadline=deadline)
    else:
        own = threaded_server(app, host, port)
        logger.info("serving in this process at http://%s:%d", host, own.port)
        own.log_startup()
        own.serve_forever()


def threaded_server(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """Return a server that answers each request in a thread, bound to its port already.

    Raises:
        OSError: the port is in use, or the host has no such address.
    """
    # Bound here, because werkzeug 3.1 prints and exits when it cannot bind.
    with _listener(host, port) as listener:
        return make_server(host, port, app, threaded=True, fd=listener.fileno())


def _listener(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def _leave_interrupts_to_the_master(worker: Any) -> None:
    """Ignore Ctrl-C in a worker; the master tells it to stop.

    A terminal sends SIGINT to the whole process group. Together with the master's SIGQUIT it enters
    the worker's signal handler twice, and gunicorn 27.0.1 then waits for a lock that it holds itself,
    until it is killed after 30 s.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def gunicorn_options(*, host: str, port: int, workers: int, threads: int, deadline: float) -> dict[str, Any]:
    """Return gunicorn's settings by name; its timeouts are above the deadline of an act, in seconds."""
    return {
        "bind": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
        "workers": workers,
        "threads": threads,
        "worker_class": "gthread",
        "timeout": math.ceil(deadline) + _MARGIN,
        "graceful_timeout": math.ceil(deadline) + _PATIENCE,
        "post_worker_init": _leave_interrupts_to_the_master,
        "forwarder_headers": "",  # a client could choose SCRIPT_NAME and PATH_INFO
    }


def _gunicorn(app: Flask, *, host: str, port: int, workers: int, threads: int, deadline: float) -> None:
    from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]  # Not importable without fork.

    _listener(host, port).close()  # gunicorn itself would log, retry for seconds and exit.
    options = gunicorn_options(host=host, port=port, workers=workers, threads=threads, deadline=deadline)

    class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
        def load_config(self) -> None:
            for name, value in options.items():
                self.cfg.set(name, value)
            if "control_socket_disable" in self.cfg.settings:  # Gunicorn 25: a socket file in the home directory.
                self.cfg.set("control_socket_disable", True)

        def load(self) -> Flask:
            return app

    Application().run()


def granian_options(*, host: str, port: int, workers: int, threads: int, deadline: float) -> dict[str, Any]:
    """Return granian's settings by name, those of its enumerations and of HTTP/1 as plain values.

    A worker is killed when it has not stopped some seconds after the deadline of an act, and
    one that dies is replaced. Connections beyond ``backpressure`` wait; a connection takes its place
    for as long as it is open, so that it is far more than the threads.
    """
    return {
        "address": host,
        "port": port,
        "interface": "wsgi",
        "http": "1",
        "http1_settings": {"header_read_timeout": 10_000, "max_buffer_size": 64 * 1024},  # milliseconds, bytes
        "websockets": False,
        "workers": workers,
        "blocking_threads": threads,
        "backpressure": _CONNECTIONS,
        "workers_kill_timeout": math.ceil(deadline) + _PATIENCE,
        "respawn_failed_workers": True,
    }


def _check_granian() -> None:
    try:
        import granian  # noqa: F401  # An optional extra.
    except ImportError as error:
        raise missing_extra("option 'server': 'granian'", "granian", "granian") from error


def _granian(app: Flask, *, host: str, port: int, workers: int, threads: int, deadline: float) -> None:
    from granian.constants import HTTPModes, Interfaces
    from granian.http import HTTP1Settings
    from granian.server import Server

    # Its workers bind the port each for itself, and would share it with a server that does so, too.
    with _listener(host, port) as listener:
        host, port = listener.getsockname()[:2]
    options = granian_options(host=host, port=port, workers=workers, threads=threads, deadline=deadline)
    options["interface"] = Interfaces(options["interface"])
    options["http"] = HTTPModes(options["http"])
    options["http1_settings"] = HTTP1Settings(**options["http1_settings"])
    # Workers are forked, as gunicorn's are: Python 3.14 would start them anew, without this app.
    multiprocessing.set_start_method("fork", force=True)
    Server("gatewayfw", **options).serve(target_loader=lambda: _worker_of_granian(app), wrap_loader=False)


def _worker_of_granian(app: Flask) -> Callable[..., Iterable[bytes]]:
    """Return what a new worker of granian calls, and leave Ctrl-C to the process above it.

    granian sets a handler of its own afterwards; a worker that it ended would count as one that failed.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    return without_environment(app, os.environ)


def without_environment(app: Flask, environment: Mapping[str, str]) -> Callable[..., Iterable[bytes]]:
    """Return the app without what granian 2.8 takes for headers: variables such as ``HTTP_PROXY``.

    It puts the environment of the process into that of each request.
    """
    names = [name for name in environment if name.startswith("HTTP_") or name in ("CONTENT_TYPE", "CONTENT_LENGTH")]
    given = {name: environment[name] for name in names}

    def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        for name, value in given.items():
            if environ.get(name) == value:
                del environ[name]
        return app(environ, start_response)

    return application if given else app
