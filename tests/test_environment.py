"""What the environment says about where a process runs."""

from __future__ import annotations

import os
import sys

import pytest

from gatewayfw.environment import (
    METRICS_VARIABLE,
    VARIABLE,
    environment,
    is_development,
    judge_memory,
    multi_worker_server,
)

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
