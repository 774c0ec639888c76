"""A TCP proxy on 127.0.0.1 that delays, drops and swallows what the server answers."""

from __future__ import annotations

import contextlib
import socket
import threading
import time


class _Connection:
    """A client's socket and the server's; ``lost`` when a reply was thrown away, for a gap never closes."""

    def __init__(self, client, server):
        self.client = client
        self.server = server
        self.lost = False

    def close(self):
        for one in (self.client, self.server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


class Proxy:
    """Passes on what comes in at ``port`` to a port given later; used inside ``with``."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._target = 0
        self._connections = set()
        self._threads = []
        self._lock = threading.Lock()
        self._delay = 0.0
        self._swallow = self._drop = False

    def __enter__(self):
        self._start(self._accept)
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop = True
        self._close(lambda connection: True)
        for thread in self._threads:
            thread.join(10)

    def connect_to(self, port):
        """Pass on to this port of 127.0.0.1 from now on."""
        self._target = port

    @contextlib.contextmanager
    def delaying(self, seconds):
        """Hold back every reply for some seconds."""
        self._delay = seconds
        try:
            yield
        finally:
            self._delay = 0.0

    @contextlib.contextmanager
    def dropping(self):
        """Close all connections, and each new one at once."""
        self._drop = True
        self._close(lambda connection: True)
        try:
            yield
        finally:
            self._drop = False

    @contextlib.contextmanager
    def swallowing(self):
        """Throw replies away while requests pass; in the end close the connections that miss some."""
        self._swallow = True
        try:
            yield
        finally:
            self._swallow = False
            self._close(lambda connection: connection.lost)

    def _close(self, wanted):
        with self._lock:
            chosen = [connection for connection in self._connections if wanted(connection)]
        for connection in chosen:
            connection.close()

    def _start(self, fn, *args):
        thread = threading.Thread(target=fn, args=args, daemon=True)
        with self._lock:
            self._threads = [one for one in self._threads if one.is_alive()] + [thread]
            thread.start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._target), 2)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            self._start(self._serve, _Connection(client, server))

    def _serve(self, connection):
        with self._lock:
            self._connections.add(connection)
        if self._drop:
            connection.close()
        up = threading.Thread(target=self._pass_requests, args=(connection,), daemon=True)
        up.start()
        with contextlib.suppress(OSError):
            self._pass_replies(connection)
        connection.close()
        up.join()
        connection.client.close()
        connection.server.close()
        with self._lock:
            self._connections.discard(connection)

    def _pass_requests(self, connection):
        with contextlib.suppress(OSError):
            while data := connection.client.recv(65536):
                connection.server.sendall(data)
        connection.close()

    def _pass_replies(self, connection):
        while data := connection.server.recv(65536):
            if self._delay:
                time.sleep(self._delay)
            if self._swallow:
                connection.lost = True
            elif connection.lost:
                return
            else:
                connection.client.sendall(data)
