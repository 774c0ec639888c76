"""Files under load and faults: large bodies, many uploads at once, killed workers."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import urllib3

from gatewayfw.client import CallError, HttpClient
from tests.faults.file_service import FOLDER, make, store_in
from tests.faults.serving import Server
from tests.waiting import wait_until
from tests.web.forms import body_part, headers, part

GIGABYTE = 10**9
#: Most MB that a worker may have in memory.
MOST_MEMORY = 256


@pytest.fixture(params=["directory", "gridfs"])
def folder(request, tmp_path):
    """Where the bytes go; empty for the database."""
    return str(tmp_path) if request.param == "directory" else ""


@pytest.fixture
def uri(mongod_uri, mongo_client):
    """A database of its own."""
    name = f"gatewayfw_files_{uuid.uuid4().hex}"
    yield mongod_uri.replace("/?", f"/{name}?")
    mongo_client.drop_database(name)


@pytest.fixture
def server(uri, folder, tmp_path_factory, monkeypatch):
    """The service behind 2 workers of 8 threads."""
    monkeypatch.setenv(FOLDER, folder)
    log = tmp_path_factory.mktemp("gunicorn") / "log"
    server = Server([], uri, "k" * 32, log, app="tests.faults.file_service:create_app()")
    yield server
    server.stop()


@pytest.fixture
def client(server):
    with HttpClient(f"http://127.0.0.1:{server.pool.port}", timeout=120) as client:
        yield client


@pytest.fixture
def here(uri, folder):
    """The same service in this process, without a server."""
    gw = make(uri, store := store_in(folder))
    yield gw, lambda: (gw.odm.model("file").count(), len(list(store.old("", -60))))
    gw.odm.storage.close()


def send_head(port, length):
    """Announce a body of so many bytes, send a little of it, and return the reply and the seconds it took."""
    head = b"POST /gateway HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += b"".join(f"{name}: {value}\r\n".encode() for name, value in headers().items())
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as sock:
        sock.sendall(head + f"Content-Length: {length}\r\n\r\n".encode() + b"--xYz\r\n")
        reply = sock.recv(4096)
    return reply, time.monotonic() - begun


@pytest.mark.slow
def test_an_announced_gigabyte_is_refused_at_once(server, report):
    send_head(server.pool.port, GIGABYTE)  # a worker has begun then
    reply, seconds = send_head(server.pool.port, GIGABYTE)
    assert reply.startswith(b"HTTP/1.1 413 ")
    report(seconds=round(seconds, 3), peak_memory=server.peak_memory())


@pytest.mark.slow
def test_a_body_without_a_length_is_refused_when_it_is_too_large(server, report, full):
    sent = 0
    size = GIGABYTE if full else 50_000_000

    def body():
        nonlocal sent
        yield b"--xYz\r\n" + body_part(model="file", act="add") + b"\r\n--xYz\r\n" + part("set.file", b"", "a")
        while sent < size:
            sent += 1_000_000
            yield b"\0" * 1_000_000

    pool = urllib3.HTTPConnectionPool("127.0.0.1", server.pool.port, retries=False)
    try:
        status = pool.urlopen("POST", "/gateway", body=body(), headers=headers(), chunked=True).status
    except urllib3.exceptions.HTTPError:  # the connection was closed while the client still sent
        status = 413
    pool.close()
    assert status == 413
    assert sent < size
    assert server.peak_memory() < MOST_MEMORY
    report(megabytes_sent=sent // 10**6, peak_memory=round(server.peak_memory()))


@pytest.mark.slow
def test_many_uploads_at_once_are_stored_whole(server, client, here, report, full):
    # More than the threads that receive large bodies.
    count, size = (20, 10_000_000) if full else (12, 1_200_000)
    contents = [os.urandom(size) for _ in range(count)]
    begun = time.monotonic()

    def send(content):
        return client.call("file", "add", set={"file": io.BytesIO(content)}, get={"_id": 1, "sha256": 1})

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(send, contents))
    seconds = time.monotonic() - begun
    assert [one["sha256"] for one in found] == [hashlib.sha256(content).hexdigest() for content in contents]
    assert here[1]() == (count, count)
    path = f"/gateway/files/{found[0]['_id']}"
    assert server.pool.request("GET", path).data == contents[0]
    assert server.peak_memory() < MOST_MEMORY
    report(
        uploads=count, megabytes_each=size / 10**6, seconds=round(seconds, 2), peak_memory=round(server.peak_memory())
    )


@pytest.mark.slow
def test_a_worker_killed_between_bytes_and_document_leaves_nothing_after_the_sweep(client, here):
    gw, stored = here
    client.call("file", "add", set={"file": io.BytesIO(b"kept")})
    with pytest.raises(CallError):
        client.call("file", "die", set={"file": io.BytesIO(b"lost")})
    assert wait_until(lambda: stored() == (1, 2))
    assert (gw.files.sweep(), stored()) == (0, (1, 2))
    assert (gw.files.sweep(-60), stored()) == (1, (1, 1))
