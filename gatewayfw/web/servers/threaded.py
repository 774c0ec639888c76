"""The server of one process, which answers each request in a thread."""

from __future__ import annotations

import os
import socket

from flask import Flask
from werkzeug.serving import BaseWSGIServer, make_server

_BACKLOG = 128


def threaded_server(app: Flask, host: str, port: int) -> BaseWSGIServer:
    """Return a server, bound to its port, that answers each request in a thread.

    Raises:
        OSError: the port is in use, or the host has no such address.
    """
    # Bound here, because werkzeug 3.1 prints and exits when it cannot bind.
    with open_listener(host, port) as listener:
        return make_server(host, port, app, threaded=True, fd=listener.fileno())


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
