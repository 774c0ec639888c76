"""Options of servers: what is refused, and that workers outlive every act."""

import runpy
from types import SimpleNamespace

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.settings import Settings
from gatewayfw.web.servers import check_server_options, check_worker_timeout

OPTIONS = {"host": "127.0.0.1", "port": 8000, "workers": 2, "threads": 8, "server": "gunicorn"}
PORT = "option 'port': expected an integer in 0..65535"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("port", -1, PORT),
        ("port", 65536, PORT),
        ("port", "8000", PORT),
        ("port", True, PORT),
        ("port", None, PORT),
        ("host", "", "option 'host': expected a host name or an address"),
        ("host", None, "option 'host': expected a host name or an address"),
        ("workers", 0, "option 'workers': expected a positive integer"),
        ("threads", 1.5, "option 'threads': expected a positive integer"),
        *(("server", value, "option 'server': expected 'gunicorn' or 'waitress'") for value in ("uwsgi", "", None, 1)),
    ],
)
def test_wrong_server_option_is_named(name, value, message):
    with pytest.raises(DefinitionError) as caught:
        check_server_options(**{**OPTIONS, name: value})
    assert caught.value.message == message


@pytest.mark.parametrize("port", [0, 1, 65535])
def test_right_server_options_are_taken(port):
    check_server_options(**{**OPTIONS, "port": port})


def test_one_worker_of_one_thread_is_taken_and_gunicorn_is_the_server():
    check_server_options("::1", 80, 1, 1)
    check_server_options("::1", 80, 1, 1, "waitress")


def test_a_timeout_of_none_is_taken_where_nothing_else_is_said():
    check_worker_timeout(0, Settings(deadline=5))


@pytest.mark.parametrize(("seconds", "option"), [(5.1, "timeout"), (30, "graceful_timeout"), (0, "timeout")])
def test_timeout_above_the_deadline_or_none_is_taken(seconds, option):
    check_worker_timeout(seconds, Settings(deadline=5), option)


@pytest.mark.parametrize(
    ("seconds", "option", "said"), [(30, "timeout", "30"), (60, "timeout", "60"), (0, "graceful_timeout", "0")]
)
def test_timeout_not_above_the_deadline_is_refused_with_both_figures(seconds, option, said):
    with pytest.raises(DefinitionError) as caught:
        check_worker_timeout(seconds, Settings(deadline=60), option)
    assert caught.value.message == (
        f"the server's {option} of {said} s must be above the deadline of 60 s (setting deadline)"
    )


@pytest.mark.parametrize("option", ["timeout", "graceful_timeout"])
def test_the_sample_configuration_refuses_a_deadline_its_workers_would_not_live_to_see(monkeypatch, option):
    conf = runpy.run_path("sample_service/gunicorn.conf.py")
    master = SimpleNamespace(
        cfg=SimpleNamespace(workers=1, timeout=conf["timeout"], graceful_timeout=30, preload_app=True)
    )
    conf["on_starting"](master)
    setattr(master.cfg, option, 40)
    monkeypatch.setenv("GATEWAYFW_DEADLINE", "35")
    with pytest.raises(SystemExit) as caught:
        conf["on_starting"](master)
    other = "graceful_timeout" if option == "timeout" else "timeout"
    assert caught.value.code == f"the server's {other} of 30 s must be above the deadline of 35 s (setting deadline)"
