"""The sample service on a database whose content is watched."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import socket
import time
import uuid
from dataclasses import dataclass

from pymongo import MongoClient

from sample_service.app import create_service
from tests.faults.nginx import Nginx
from tests.faults.serving import KEY
from tests.hostile.people import seed
from tests.sample_service.serving import Waitress

#: The hash of a collection without documents, which a first call may make.
_NOTHING = hashlib.md5(b"").hexdigest()
#: What lies beside and behind the directory of static files, and must never be served.
SECRET = "what nobody may read"


@dataclass(frozen=True)
class Reply:
    """What came back; ``headers`` as `http.client` gives them, ``seconds`` until the last byte."""

    status: int
    headers: http.client.HTTPMessage
    data: bytes
    seconds: float


class Served:
    """A running server, one connection to it that is kept while the server keeps it, and its database and log."""

    def __init__(self, port, database, log, *, receives_all, has_proxy):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._database, self._log = database, log
        self._known = {}
        self.key = KEY
        #: Whether the service sees a request only when all of it has arrived.
        self.receives_all = receives_all
        self.has_proxy = has_proxy
        #: The seconds of the slowest reply to a case, and its name.
        self.slowest = (0.0, "")

    def send(self, request):
        """Send one request; raises OSError or HTTPException when no answer comes.

        A connection that the server has closed after its last reply is opened anew.
        """
        kept = self._connection.sock is not None
        start = time.monotonic()
        try:
            reply = self._exchange(request)
        except ConnectionError:
            if not kept:
                raise
            reply = self._exchange(request)
        return Reply(*reply, time.monotonic() - start)

    def _exchange(self, request):
        connection, names = self._connection, {name.lower() for name, _ in request.headers}
        try:
            connection.putrequest(request.method, request.path, skip_host="host" in names, skip_accept_encoding=True)
            for name, value in request.headers:
                connection.putheader(name, value)
            with contextlib.suppress(ConnectionError):  # It may answer, and close, before it has read all.
                connection.endheaders(request.body)
                if request.hang_up:
                    connection.sock.shutdown(socket.SHUT_WR)
            with connection.getresponse() as response:
                data = response.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            raise
        if request.hang_up:
            connection.close()
        return response.status, response.headers, data

    def has_changed(self):
        """Whether any document, hidden parts included, was added, changed or removed since the last call."""
        hashes = self._database.command("dbHash")["collections"]
        known, self._known = self._known, {name: one for name, one in hashes.items() if one != _NOTHING}
        return self._known != known

    def logged(self):
        """Return what the server has written to its log since the last call."""
        return self._log.read().decode(errors="replace")

    def close(self):
        """Close the connection."""
        self._connection.close()


@contextlib.contextmanager
def serving(uri, folder, kind, *options, has_proxy=False):
    """Serve the people of `seed` and some static files on a kind of server, with its options, or behind nginx."""
    name = f"gatewayfw_hostile_{uuid.uuid4().hex}"
    uri = uri.replace("/?", f"/{name}?")
    service = create_service(uri, KEY)
    try:
        service.gw.odm.ready()
        seed(service)
        server = kind(options, uri, KEY, folder / "server.log", GATEWAYFW_STATIC_PATH=str(lay_out(folder)))
        try:
            with contextlib.ExitStack() as stack:
                port = server.pool.port
                if has_proxy:
                    port = stack.enter_context(Nginx(folder, port)).port
                client, log = stack.enter_context(MongoClient(uri)), stack.enter_context(server.log.open("rb"))
                served = Served(
                    port, client[name], log, receives_all=has_proxy or kind is Waitress, has_proxy=has_proxy
                )
                stack.callback(served.close)
                yield served
        finally:
            server.stop()
    finally:
        service.gw.odm.storage.close()
        with MongoClient(uri) as client:
            client.drop_database(name)


def lay_out(folder):
    """Make a directory of static files with what must stay hidden in it; gives its path."""
    files = folder / "files"
    (files / ".git").mkdir(parents=True)
    (files / "hello.txt").write_text("hello")
    for hidden in (files / ".env", files / ".git" / "config", folder / "secret.txt"):
        hidden.write_text(SECRET)
    (files / "inner.txt").symlink_to(files / ".env")
    (files / "link.txt").symlink_to(folder / "secret.txt")
    (files / "up").symlink_to(folder)
    return files
