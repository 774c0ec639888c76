"""The options that gunicorn gets."""

import io
import logging
import signal
import socket
from types import SimpleNamespace

import pytest
from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.workers.gthread import ThreadWorker

from gatewayfw.settings import Settings
from gatewayfw.web.servers import gunicorn_options, prepare_worker, run_gunicorn


@pytest.mark.parametrize(
    ("deadline", "timeout", "graceful"), [(5.0, 30, 10), (60, 85, 65), (0.5, 26, 6)], ids=["default", "long", "short"]
)
def test_workers_outlive_every_act(deadline, timeout, graceful):
    made = gunicorn_options(host="::1", port=80, workers=3, threads=4, deadline=deadline)
    assert made == {
        "bind": ["[::1]:80"],
        "worker_class": "gthread",
        "workers": 3,
        "threads": 4,
        "timeout": timeout,
        "graceful_timeout": graceful,
        "forwarder_headers": "",
        "post_worker_init": prepare_worker,
    }


def test_gunicorn_gets_the_app_and_its_options(app, monkeypatch):
    ran = []
    monkeypatch.setattr(BaseApplication, "run", lambda self: ran.append(self))
    settings = Settings(deadline=7.0)
    run_gunicorn(app, host="127.0.0.1", port=0, workers=3, threads=4, settings=settings)
    (made,) = ran
    found = {name: made.cfg.settings[name].get() for name in ("bind", "workers", "threads", "timeout")}
    assert found == {"bind": ["127.0.0.1:0"], "workers": 3, "threads": 4, "timeout": 32}
    assert (made.cfg.graceful_timeout, made.cfg.settings["forwarder_headers"].get()) == (12, [])
    assert made.cfg.settings["control_socket_disable"].get() is True
    assert made.load() == app
    assert made.cfg.worker_class is ThreadWorker


def test_a_port_that_is_taken_is_told_before_gunicorn_runs(app, monkeypatch):
    monkeypatch.setattr(BaseApplication, "run", pytest.fail)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        port = taken.getsockname()[1]
        run_gunicorn(app, host="127.0.0.1", port=port, workers=1, threads=1, settings=Settings())


@pytest.fixture
def worker(monkeypatch):
    """This process, made a worker for the test."""
    monkeypatch.setattr(logging, "raiseExceptions", True)
    before = signal.getsignal(signal.SIGINT)
    prepare_worker(SimpleNamespace(wsgi=None))
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_does_not_reach_a_worker(worker):
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_a_record_that_a_log_of_a_worker_cannot_take_is_not_printed(worker, capsys):
    full = io.StringIO()
    full.close()
    logging.StreamHandler(full).handle(logging.makeLogRecord({"msg": "token %s", "args": ("secret",)}))
    assert capsys.readouterr() == ("", "")


def test_a_worker_begins_to_serve_before_its_first_request(worker):
    told, app = [], Flask("app")
    app.extensions["gatewayfw"] = {"gateway": SimpleNamespace(init_worker=lambda: told.append(1))}
    prepare_worker(SimpleNamespace(wsgi=app))
    assert told == [1]
