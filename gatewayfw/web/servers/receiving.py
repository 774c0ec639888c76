"""A worker of gunicorn whose threads get requests that have arrived.

gunicorn's `gthread` gives a connection to a thread at its first byte, and the thread waits for the others: as many
clients as there are threads, each sending a byte now and then, keep everybody else waiting. Here the main loop
receives, as far as `gatewayfw.web.servers.arrival` can tell where a request ends, and a thread gets all of it.

A connection is in at most one of these:

- ``receiving``: until its request is whole, `receive_timeout` at most. Then a thread gets it, as ever.
- ``queued``: the end of the request is far, or only the parser can find it. It waits for one of half of the threads,
  for as long as `allowed_seconds` says.
- ``timed``: that thread receives the rest, for as long again.
- ``lingering``: the reply is sent, and the client has not closed the connection yet. `gthread` waits for that in its
  main loop, and serves nobody meanwhile.

Requests for the health of the process have a thread of their own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import resource
import selectors
import socket
import ssl
import time
from functools import partial
from typing import Any

from gunicorn.arbiter import Arbiter  # type: ignore[import-untyped]
from gunicorn.workers.gthread import STOP_KEEPALIVE_LINGER, ThreadWorker  # type: ignore[import-untyped]

from gatewayfw.settings import Settings
from gatewayfw.web.probes import HEALTH
from gatewayfw.web.servers.arrival import MOST_BODY
from gatewayfw.web.servers.connection import BLOCK, SPAN, Connection
from gatewayfw.web.servers.processes import free_number, leave_interrupts_to_the_master, name_metrics
from gatewayfw.web.servers.team import Team

#: Most bytes that all requests of a worker hold before they are in threads; each may have one block beyond.
_MOST_HELD = 32 * 1024 * 1024
#: Seconds and bytes that a closed connection is drained, as gunicorn does, so that its client sees the reply.
_LINGER, _MOST_DRAINED = 2.0, 65536
#: Files that a worker may have open besides its connections.
_OTHER_FILES = 128
#: The first bytes of a request for the health of the process, below any prefix.
_HEALTH = re.compile(rb"(?:GET|HEAD) [^ ?\r\n]*" + re.escape(HEALTH.encode()) + rb"[ ?]")
_CLIENT_LEFT = (ConnectionError, ssl.SSLEOFError)
_NOTHING_YET = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def allowed_seconds(receive_timeout: float, length: int | None, most: int) -> float:
    """Return the seconds that a body may take: ``receive_timeout`` for each MiB begun.

    ``length`` is what the client announced, None when it did not; more than ``most`` bytes are not waited for.
    """
    return receive_timeout * (1 + (most if length is None else min(length, most)) // MOST_BODY)


class ReceivingWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's `gthread`, whose threads get requests that have arrived.

    With HTTP/2, or uWSGI's protocol, it is `gthread`.

    Attributes:
        number: which worker it is; one that takes the place of a worker that ended has the same number.
    """

    #: The settings of the app; those of the environment where nobody sets them.
    settings: Settings | None = None

    def __init__(self, *words: Any, **names: Any) -> None:
        super().__init__(*words, **names)
        self.number = free_number(Arbiter.WORKERS.values())
        settings = self.settings or Settings.load(os.environ)
        self._timeout, self._most_bytes = settings.receive_timeout, settings.max_upload_bytes
        self._receives = self.cfg.protocol == "http" and "h2" not in self.cfg.http_protocols
        self._patience = SPAN.pack(int(self._timeout), int(self._timeout % 1 * 1_000_000))
        # More connections than it may open files would end the worker.
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self.worker_connections: int = self.cfg.worker_connections
        if files != resource.RLIM_INFINITY:
            self.worker_connections = min(self.worker_connections, max(1, files - _OTHER_FILES))
            self.max_keepalived: int = self.worker_connections - self.cfg.threads
        self._share = max(1, self.cfg.threads // 2)
        self._held = 0
        self._looked = 0.0
        # Dictionaries for their order, and because members leave them at any time.
        self.receiving: dict[Connection, None] = {}
        self.queued: dict[Connection, None] = {}
        self.timed: dict[Connection, None] = {}
        self.lingering: dict[Connection, None] = {}

    def init_process(self) -> None:
        """Begin, in the process of the worker."""
        # Else a record that its log cannot take, as on a full disk, goes to stderr with all headers, tokens included.
        logging.raiseExceptions = False
        name_metrics(f"{self.ppid}-{self.number}")
        if self._receives:
            self.cfg.set("sendfile", False)  # It would wait for a client that takes nothing, for ever.
        super().init_process()

    def init_signals(self) -> None:
        """Handle the signals of the master."""
        super().init_signals()
        leave_interrupts_to_the_master()

    def get_thread_pool(self) -> Any:
        """Return the threads for requests, and keep one more for `healthz`.

        Acts that wait for the database hold all others, and an orchestrator would end a process that only waits, too.
        """
        if not self._receives:
            return super().get_thread_pool()
        self._spare = Team(1, self._serve)
        return Team(self.cfg.threads, self._serve)

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection and receive its first request."""
        if not self._receives:
            super().accept(listener)
            return
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        self.nr_conns += 1
        # A thread gives a reply up of which the client takes nothing for so long.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, self._patience)
        self.enqueue_req(Connection(self.cfg, client, address, listener.getsockname(), self.linger))

    def enqueue_req(self, conn: Any) -> None:
        """Receive the next request of a connection."""
        if not self._receives:
            super().enqueue_req(conn)
            return
        if conn.sock.gettimeout() is None:  # As a thread left it: its parser holds bytes of this request, too.
            conn.sock.setblocking(False)
            conn.add(conn.parser.unreader.take_buffered())
        self._receive(conn)

    def _receive(self, conn: Connection, _: Any = None) -> None:
        """Receive what is there, and decide where the connection goes."""
        try:
            ended = self._read(conn)
        except _NOTHING_YET:
            if conn not in self.receiving:
                self.receiving[conn] = None
                conn.deadline = time.monotonic() + self._timeout
                self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._receive, conn))
            return
        except Exception as error:  # A certificate may be missing, and the hook `ssl_context` may raise anything.
            log = self.log.debug if isinstance(error, _CLIENT_LEFT) else self.log.warning
            log("Closing a connection of %s: %s", conn.client, error)
            self._drop(conn)
            return
        if conn in self.receiving:
            self._forget(conn, self.receiving)
        if conn.whole or (ended and conn.data):
            self._submit(conn)
        elif ended:
            self._drop(conn)
        else:
            self.queued[conn] = None
            conn.deadline = self._patience_with(conn)
            self._start_queued()

    def _read(self, conn: Connection) -> bool:
        """Read what is there, until it is decided who reads the rest.

        Returns whether the client has sent its last byte.
        """
        while not conn.decided:
            if len(conn.data) > BLOCK and self._held > _MOST_HELD:
                break
            data = conn.receive()
            if not data:
                return True
            conn.held += len(data)
            self._held += len(data)
            conn.add(data)
        return False

    def _submit(self, conn: Connection) -> None:
        """Give a request to a thread."""
        bodiless = conn.whole and not conn.sight.length
        team = self._spare if bodiless and _HEALTH.match(conn.data) else self.tpool
        conn.hand_over()
        team.give(conn)

    def _serve(self, conn: Connection) -> None:
        """Answer a request in a thread, and give the connection back to the main loop."""
        conn.kept = False
        try:
            conn.kept = bool(self.handle(conn))
        except BaseException:  # An app may raise SystemExit; the thread has others to serve.
            with contextlib.suppress(BaseException):  # So may a log.
                self.log.exception("Error handling request")
        self.method_queue.defer(self.finish_request, conn, conn)

    def _start_queued(self) -> None:
        while self.queued and len(self.timed) < self._share:
            conn = next(iter(self.queued))
            del self.queued[conn]
            self.timed[conn] = None
            conn.deadline = self._patience_with(conn)
            self._submit(conn)

    def _patience_with(self, conn: Connection) -> float:
        """Return until when a request may wait for a thread, or then for its rest."""
        return time.monotonic() + allowed_seconds(self._timeout, conn.sight.length, self._most_bytes)

    def finish_request(self, conn: Any, fs: Any) -> None:
        """Take a connection back from its thread."""
        if self._receives:
            self._release(conn)
            if conn in self.timed:
                del self.timed[conn]
                self._start_queued()
        super().finish_request(conn, fs)

    def linger(self, conn: Connection) -> None:
        """Close a connection when its client has, or after some seconds.

        A reset could cost the client the reply.
        """
        try:
            conn.sock.shutdown(socket.SHUT_WR)
            conn.sock.setblocking(False)
        except OSError:
            conn.close()
            return
        self.nr_conns += 1
        conn.deadline = time.monotonic() + _LINGER
        self._drain(conn)

    def _drain(self, conn: Connection, _: Any = None) -> None:
        try:
            data = conn.sock.recv(BLOCK)
            conn.drained += len(data)
            ended = not data or conn.drained > _MOST_DRAINED
        except _NOTHING_YET:
            ended = False
        except OSError:
            ended = True
        if ended:
            self._drop(conn)
        elif conn not in self.lingering:
            self.lingering[conn] = None
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._drain, conn))

    def murder_pending(self) -> None:
        """Give up what takes too long; called between events, at least once a second."""
        super().murder_pending()
        now = time.monotonic()
        if self.alive and now < self._looked + 1:
            return
        self._looked = now
        if not self.alive:
            for conn in (*self.receiving, *self.queued):
                conn.deadline = min(conn.deadline, now + STOP_KEEPALIVE_LINGER)
        for conn in (*self.receiving, *self.queued, *self.lingering):
            if conn.deadline <= now:
                self._drop(conn)
        for conn in self.timed:
            if conn.deadline <= now:
                conn.cut()

    def _drop(self, conn: Connection) -> None:
        """Close a connection that is in no thread."""
        for conns in (self.receiving, self.lingering):
            self._forget(conn, conns)
        self.queued.pop(conn, None)
        self._release(conn)
        self.nr_conns -= 1
        conn.close()

    def _forget(self, conn: Connection, conns: dict[Connection, None]) -> None:
        if conn in conns:
            del conns[conn]
            self.poller.unregister(conn.sock)

    def _release(self, conn: Connection) -> None:
        self._held -= conn.held
        conn.held = 0
