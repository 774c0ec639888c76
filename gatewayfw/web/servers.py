"""The servers that run an app: gunicorn, waitress, or threads of this process."""

import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any, Literal, get_args

from flask import Flask
from werkzeug.serving import BaseWSGIServer, make_server

from gatewayfw.environment import is_development
from gatewayfw.errors import DefinitionError, missing_extra
from gatewayfw.settings import Settings
from gatewayfw.web.mount import init_worker
from gatewayfw.web.reply import logger

#: gunicorn comes with the package, waitress with the extra of its name.
Server = Literal["gunicorn", "waitress"]
#: Processes and threads of each, where nothing else is asked for.
WORKERS, THREADS = 2, 8
_BACKLOG = 128
#: Seconds beyond the deadline of an act that requests in progress get when the server stops.
_PATIENCE = 5
#: Seconds beyond the deadline of an act after which a worker that does not respond is killed.
_MARGIN = 25
#: Connections of waitress at a time; more wait to be accepted. A large body takes a second of the 1024 files that most
#: processes may open.
_CONNECTIONS = 400
#: Seconds without a byte after which it closes one.
_SILENCE = 10
#: Bytes of a head: those that nginx takes.
_HEAD = 32 * 1024
#: Bytes of a body for the lines of its chunks, which waitress counts, too.
_FRAMING = 64 * 1024


# -- options


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
    if server not in get_args(Server):
        raise DefinitionError("option 'server': expected 'gunicorn' or 'waitress'")


def check_worker_timeout(seconds: float, settings: Settings, option: str = "timeout") -> None:
    """Refuse a server that would kill a worker in the middle of an act.

    For `on_starting` of gunicorn and the like.

    ``seconds`` is the server's timeout, 0 for none, or, with ``option="graceful_timeout"``, the time that requests in
    progress get when it stops. `run_server` derives both from the deadline itself.

    Raises:
        DefinitionError: it is not above the deadline of an act; names both.
    """
    if seconds <= settings.deadline and (seconds or option != "timeout"):
        raise DefinitionError(
            f"the server's {option} of {seconds:g} s must be above the deadline of {settings.deadline:g} s "
            "(setting deadline)"
        )


def restrict_hosts(app: Flask, host: str, *, playground: bool, environ: Mapping[str, str]) -> None:
    """Let an app answer only under the names of this machine, where that is safer.

    That is on a loopback address in development, or with a playground: otherwise a page that binds its own host name to
    127.0.0.1 could call acts as the developer. A guard of the playground does not prevent that: such a page comes from
    the same address as the developer. Our choice.
    """
    if (playground or is_development(environ)) and (addresses := _loopback_addresses(host)):
        # werkzeug 3.1 never finds an IPv6 address in the list: a server at ::1 is called as localhost.
        names = dict.fromkeys(["localhost", "127.0.0.1", "[::1]", host.lower(), *addresses])
        app.config["TRUSTED_HOSTS"] = list(names)


def _loopback_addresses(host: str) -> list[str]:
    try:
        found = {str(address[0]) for *_, address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):  # No such host: binding fails, too, and says so.
        return []
    # Python 3.12 and earlier do not recognise an IPv4 address written as an IPv6 one.
    parsed = {text: ip_address(text) for text in found}
    return sorted(text for text, one in parsed.items() if (getattr(one, "ipv4_mapped", None) or one).is_loopback)


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OSError: the port is in use, or the host has no such address.
    """
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


# -- the servers


def starts_processes(multi_process: bool, server: Server = "gunicorn") -> bool:
    """Tell whether `serve` runs an app in processes of its own."""
    if server == "waitress":
        return False
    return multi_process and threading.current_thread() is threading.main_thread() and hasattr(os, "fork")


def serve(
    app: Flask,
    *,
    host: str,
    port: int,
    workers: int,
    threads: int,
    multi_process: bool,
    settings: Settings,
    most_bytes: int,
    server: Server = "gunicorn",
) -> None:
    """Serve an app until it is stopped; blocks.

    The options are those of `gatewayfw.core.Gateway.run_server`. One threaded server in this process serves where a
    forked worker would have its own copy of the data (not ``multi_process``); it ends at KeyboardInterrupt. waitress
    receives bodies of ``most_bytes``. The timeouts of the workers are derived from the ``deadline`` of acts, so that no
    setting can kill a worker in the middle of one.

    Raises:
        DefinitionError: waitress is asked for and not installed.
        OSError: the port is in use, or the host has no such address.
    """
    if find_spec(server) is None:
        raise missing_extra(f"option 'server': {server!r}", server, server)
    if server == "waitress":
        run_waitress(app, host=host, port=port, threads=threads, settings=settings, most_bytes=most_bytes)
        return
    if starts_processes(multi_process):
        run_gunicorn(app, host=host, port=port, workers=workers, threads=threads, settings=settings)
    else:
        own = threaded_server(app, host, port)
        logger.info("serving in this process at http://%s:%d", host, own.port)
        own.log_startup()
        init_worker(app)
        own.serve_forever()


def threaded_server(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """Return a server, bound to its port, that answers each request in a thread.

    Raises:
        OSError: the port is in use, or the host has no such address.
    """
    # Bound here, because werkzeug 3.1 prints and exits when it cannot bind.
    with open_listener(host, port) as listener:
        return make_server(host, port, app, threaded=True, fd=listener.fileno())


def gunicorn_options(*, host: str, port: int, workers: int, threads: int, deadline: float) -> dict[str, Any]:
    """Return gunicorn's settings, with timeouts above the deadline of an act."""
    return {
        "bind": [f"[{host}]:{port}" if ":" in host else f"{host}:{port}"],
        "worker_class": "gthread",
        "workers": workers,
        "threads": threads,
        "timeout": math.ceil(deadline) + _MARGIN,
        "graceful_timeout": math.ceil(deadline) + _PATIENCE,
        "forwarder_headers": "",  # a client could choose SCRIPT_NAME and PATH_INFO
        "post_worker_init": prepare_worker,
    }


def prepare_worker(worker: Any) -> None:
    """Make a worker safe, before its first request; for `post_worker_init`.

    It leaves Ctrl-C to its master, drops log records that cannot be written, and works on jobs.

    Raises:
        DefinitionError: greenlets have replaced its threads.
    """
    if isinstance(worker.wsgi, Flask):
        init_worker(worker.wsgi)
    # A terminal sends SIGINT to the whole process group. Together with the master's SIGQUIT it enters the worker's
    # handler twice, and gunicorn 27.0.1 then waits for a lock that it holds itself, until it is killed after 30 s.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Else a record that its log cannot take, as on a full disk, goes to stderr with all headers, tokens included.
    logging.raiseExceptions = False


def run_gunicorn(app: Flask, *, host: str, port: int, workers: int, threads: int, settings: Settings) -> None:
    """Serve an app until it is stopped; ends with SystemExit."""
    # Not importable without fork.
    from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]

    open_listener(host, port).close()  # gunicorn itself would log, retry for seconds and exit.
    options = gunicorn_options(host=host, port=port, workers=workers, threads=threads, deadline=settings.deadline)

    class Application(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
        def load_config(self) -> None:
            for name, value in options.items():
                self.cfg.set(name, value)
            if "control_socket_disable" in self.cfg.settings:  # Gunicorn 25: a socket file in the home directory.
                self.cfg.set("control_socket_disable", True)

        def load(self) -> Flask:
            return app

    Application().run()


def waitress_options(*, threads: int, most_bytes: int) -> dict[str, Any]:
    """Return waitress's settings by name, for bodies of up to ``most_bytes``."""
    return {
        "threads": threads,
        "connection_limit": _CONNECTIONS,
        "channel_timeout": _SILENCE,
        "cleanup_interval": _SILENCE // 2,
        "max_request_header_size": _HEAD,
        "max_request_body_size": most_bytes + _FRAMING,
        # `select` knows the first 1024 files only.
        "asyncore_use_poll": True,
        # A client that leaves is no fault.
        "log_socket_errors": False,
        # It trusts no proxy, and leaves their headers to the app's `ProxyFix`, as the other servers do.
        "clear_untrusted_proxy_headers": False,
    }


def run_waitress(app: Flask, *, host: str, port: int, threads: int, settings: Settings, most_bytes: int) -> None:
    """Serve an app in this process until Ctrl-C, or in the main thread SIGTERM."""
    import waitress  # type: ignore[import-untyped]  # An optional extra.

    # It logs a warning for each request that waits for a thread.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    with open_listener(host, port) as listener:
        server = waitress.create_server(
            app, sockets=[listener], **waitress_options(threads=threads, most_bytes=most_bytes)
        )
        logger.info("serving in this process at http://%s:%d", host, listener.getsockname()[1])
        init_worker(app)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _terminator(server, settings.deadline + _PATIENCE))
        server.run()


def _terminator(server: Any, seconds: float) -> Callable[..., None]:
    """Return a handler of SIGTERM.

    The first one lets requests under way be answered for so many seconds, the next one ends the server.
    """
    is_stopping = False

    def terminate(*_: object) -> None:
        nonlocal is_stopping
        if is_stopping:
            raise KeyboardInterrupt  # as Ctrl-C does; SIGINT itself may be ignored, as under nohup
        is_stopping, server.accepting = True, False
        threading.Thread(target=_stop, args=[server, time.monotonic() + seconds], daemon=True).start()

    return terminate


def _stop(server: Any, most: float) -> None:
    """Send the second SIGTERM when all requests are answered, or the time is up."""
    while time.monotonic() < most and any(
        channel.requests or channel.total_outbufs_len for channel in list(server.active_channels.values())
    ):
        time.sleep(0.05)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
