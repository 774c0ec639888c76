"""What the environment says about where a process runs."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from types import SimpleNamespace

import pytest

from gatewayfw.environment import (
    METRICS_VARIABLE,
    VARIABLE,
    environment,
    is_development,
    judge_memory,
    multi_worker_server,
    patched_by,
    refuse_greenlets,
)
from gatewayfw.errors import DefinitionError

TESTS = {"PYTEST_VERSION": "9.2.0"}
#: As this process is while its modules are imported, tests not yet running.
AT_COLLECTION = judge_memory(os.environ, sys.modules, "")


def test_variables_have_the_names_that_the_pages_tell():
    assert (VARIABLE, METRICS_VARIABLE) == ("GATEWAYFW_ENV", "PROMETHEUS_MULTIPROC_DIR")


@pytest.mark.parametrize(
    ("environ", "name", "development"),
    [
        ({}, "", False),
        ({"GATEWAYFW_ENV": " Development "}, "development", True),
        ({"FLASK_ENV": "development"}, "development", False),
        ({"FLASK_ENV": "Production"}, "production", False),
        ({"GATEWAYFW_ENV": "", "FLASK_ENV": "staging"}, "staging", False),
        ({"GATEWAYFW_ENV": " ", "FLASK_ENV": "production"}, "production", False),
        ({"GATEWAYFW_ENV": " ", "FLASK_ENV": "\t"}, "", False),
        ({"GATEWAYFW_ENV": "development", "FLASK_ENV": "production"}, "development", True),
    ],
    ids=str,
)
def test_the_environment_has_one_name(environ, name, development):
    assert (environment(environ), is_development(environ)) == (name, development)


@pytest.mark.parametrize(
    ("environ", "modules", "verdict", "with_workers"),
    [
        ({}, (), "warn", "refuse"),
        ({"GATEWAYFW_ENV": "staging"}, (), "warn", "refuse"),
        ({"GATEWAYFW_ENV": "development"}, (), "allow", "warn"),
        ({"FLASK_ENV": "development"}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": "1"}, (), "allow", "warn"),
        ({"FLASK_DEBUG": "0"}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": ""}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": "False"}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": "No"}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": "1", "GATEWAYFW_ENV": "staging"}, (), "warn", "refuse"),
        (TESTS, ("pytest",), "allow", "warn"),
        ({"PYTEST_CURRENT_TEST": "test_x"}, ("pytest",), "allow", "warn"),
        ({}, ("pytest",), "warn", "refuse"),
        (TESTS, (), "warn", "refuse"),
        ({"GATEWAYFW_ENV": "production"}, (), "refuse", "refuse"),
        ({"GATEWAYFW_ENV": "production", "FLASK_DEBUG": "1"}, ("pytest",), "refuse", "refuse"),
        ({**TESTS, "FLASK_ENV": "production"}, ("pytest",), "refuse", "refuse"),
    ],
    ids=str,
)
def test_data_in_memory_is_for_tests_and_development(environ, modules, verdict, with_workers):
    assert judge_memory(environ, modules, "") == verdict
    assert judge_memory(environ, modules, "granian") == with_workers


def test_a_module_of_tests_may_have_data_in_memory():
    assert AT_COLLECTION == "allow"


@pytest.mark.parametrize(
    ("environ", "modules", "process", "server"),
    [
        ({}, ("granian", "gunicorn"), "MainProcess", ""),
        ({"SERVER_SOFTWARE": "gunicorn/27.0.1"}, (), "MainProcess", "gunicorn"),
        ({"SERVER_SOFTWARE": "Werkzeug/3.1"}, (), "MainProcess", ""),
        ({}, ("granian",), "granian-worker", "granian"),
        ({}, ("uwsgi",), "MainProcess", "uwsgi"),
    ],
    ids=str,
)
def test_a_worker_knows_its_server(environ, modules, process, server):
    assert multi_worker_server(environ, modules, process) == server


MESSAGE = (
    "{} has replaced the threads of this process by greenlets: requests would share their transactions and lose each "
    "other's writes; serve with threads, by gunicorn's gthread, granian or waitress"
)


def modules(package, *patched):
    """Return loaded modules, of which a package has replaced these parts."""

    def is_patched(part):
        return part in patched

    if package == "gevent":
        return {"gevent.monkey": SimpleNamespace(is_module_patched=is_patched)}
    return {"eventlet.patcher": SimpleNamespace(is_monkey_patched=is_patched)}


@pytest.mark.parametrize("package", ["gevent", "eventlet"])
@pytest.mark.parametrize("part", ["thread", "threading", "socket"])
def test_greenlets_are_refused_in_words(package, part):
    with pytest.raises(DefinitionError) as raised:
        refuse_greenlets(modules(package, "time", part))
    assert raised.value.message == MESSAGE.format(package)


@pytest.mark.parametrize("package", ["gevent", "eventlet"])
def test_a_package_that_is_loaded_and_has_replaced_neither_is_no_harm(package):
    assert patched_by(modules(package, "time", "os")) is None


def test_a_package_that_is_being_loaded_is_no_harm():
    assert patched_by({"gevent.monkey": SimpleNamespace(), "eventlet.patcher": None}) is None


def test_this_process_has_threads():
    assert patched_by() is None
    refuse_greenlets()


SCRIPT = """
    import mongomock
    from flask import Flask

    from gatewayfw import DefinitionError, gateway, string

    def word(step):
        try:
            return step() and "" or "served"
        except DefinitionError as error:
            return error.message.partition(":")[0]

    def model_of(gw):
        gw.odm.set_db(mongomock.MongoClient().test, memory=True)
        return gw.odm.new_model("book", {"title": string()})

    from gevent import monkey
    used, unused = gateway(), gateway()
    books, others = model_of(used), model_of(unused)
    unused.acts.act("book", "ping", set={}, get=1)(lambda body: None)
    client = unused.create_app().test_client()
    monkey.patch_all()
    print(word(lambda: others.find_one({})))
    print(word(gateway().create_app))
    print(word(lambda: gateway(Flask("host"))))
    print(word(unused.init_worker))
    for path in ("healthz", "readyz", "unknown"):
        reply = client.get("/gateway/" + path)
        print(reply.status_code, reply.get_data(as_text=True))
    ping = {"model": "book", "act": "ping", "details": {"set": {}, "get": {}}}
    print(client.post("/gateway", json=ping).status_code, client.options("/gateway").status_code)
"""


def test_gevent_is_refused_where_it_comes_after_the_import():
    pytest.importorskip("gevent", reason="gevent is not installed")
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, timeout=60)
    refused = "gevent has replaced the threads of this process by greenlets"
    lines = ran.stdout.splitlines()
    assert lines[:4] == [refused] * 4, ran.stderr
    assert lines[4:6] == ['200 {"status": "ok"}', '503 {"status": "greenlets", "jobs": null, "oldestJobSeconds": null}']
    assert (lines[6][:4], lines[7:]) == ("500 ", ["500 500"])
    assert refused in ran.stderr
