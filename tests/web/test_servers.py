"""Starting a server."""

import logging
import os
import socket
import threading
from types import SimpleNamespace

import pytest

from gatewayfw.settings import Settings
from gatewayfw.web import servers as module
from gatewayfw.web.servers import serve, starts_processes


@pytest.fixture
def taken():
    """A port somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("server", ["gunicorn", "waitress"])
@pytest.mark.parametrize("multi_process", [True, False])
def test_port_in_use_is_an_error(app, taken, multi_process, server):
    options = {"workers": 1, "threads": 1, "multi_process": multi_process, "settings": Settings(), "server": server}
    options["most_bytes"] = 1
    with pytest.raises(OSError, match="in use"):
        serve(app, host="127.0.0.1", port=taken, **options)


def test_a_database_of_this_process_is_served_in_it(app, monkeypatch, caplog):
    made, done = [], []
    own = SimpleNamespace(port=81, log_startup=lambda: done.append("log"), serve_forever=lambda: done.append("serve"))
    monkeypatch.setattr(module, "threaded_server", lambda *words: made.append(words) or own)
    monkeypatch.setattr(module, "init_worker", done.append)
    with caplog.at_level(logging.INFO, "gatewayfw"):
        serve(app, host="::1", port=0, workers=1, threads=1, multi_process=False, settings=Settings(), most_bytes=1)
    assert (made, done) == ([(app, "::1", 0)], ["log", app, "serve"])
    assert caplog.record_tuples == [("gatewayfw", logging.INFO, "serving in this process at http://::1:81")]


def test_a_database_that_others_share_is_served_by_processes(app, monkeypatch):
    ran = []
    monkeypatch.setattr(module, "run_gunicorn", lambda *words, **options: ran.append((words, options)))
    options = {"host": "h", "port": 1, "workers": 2, "threads": 3, "settings": Settings()}
    serve(app, multi_process=True, most_bytes=1, **options)
    assert ran == [((app,), options)]


def test_processes_are_started_from_the_main_thread_of_a_system_that_forks(monkeypatch):
    found = [starts_processes(True), starts_processes(False)]
    thread = threading.Thread(target=lambda: found.append(starts_processes(True)))
    thread.start()
    thread.join()
    monkeypatch.delattr(os, "fork")
    assert [*found, starts_processes(True)] == [True, False, False, False]


def test_waitress_starts_no_processes():
    assert not starts_processes(True, "waitress")
