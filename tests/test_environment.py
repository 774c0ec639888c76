"""What the environment says about where a process runs."""

from __future__ import annotations

import pytest

from gatewayfw.environment import environment, is_development, judge_memory

GUNICORN = {"SERVER_SOFTWARE": "gunicorn/27.0.1"}


@pytest.mark.parametrize(
    ("environ", "name", "development"),
    [
        ({}, "", False),
        ({"GATEWAYFW_ENV": " Development "}, "development", True),
        ({"FLASK_ENV": "development"}, "development", False),
        ({"FLASK_ENV": "Production"}, "production", False),
        ({"GATEWAYFW_ENV": "", "FLASK_ENV": "staging"}, "staging", False),
        ({"GATEWAYFW_ENV": "development", "FLASK_ENV": "production"}, "development", True),
    ],
    ids=str,
)
def test_the_environment_has_one_name(environ, name, development):
    assert (environment(environ), is_development(environ)) == (name, development)


@pytest.mark.parametrize(
    ("environ", "modules", "verdict", "under_gunicorn"),
    [
        ({}, (), "warn", "refuse"),
        ({"GATEWAYFW_ENV": "staging"}, (), "warn", "refuse"),
        ({"GATEWAYFW_ENV": "development"}, (), "allow", "warn"),
        ({"FLASK_ENV": "development"}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": "1"}, (), "allow", "warn"),
        ({"FLASK_DEBUG": "0"}, (), "warn", "refuse"),
        ({"FLASK_DEBUG": "1", "GATEWAYFW_ENV": "staging"}, (), "warn", "refuse"),
        ({}, ("pytest",), "allow", "warn"),
        ({"GATEWAYFW_ENV": "production"}, (), "refuse", "refuse"),
        ({"GATEWAYFW_ENV": "production", "FLASK_DEBUG": "1"}, ("pytest",), "refuse", "refuse"),
        ({"FLASK_ENV": "production"}, ("pytest",), "refuse", "refuse"),
    ],
    ids=str,
)
def test_data_in_memory_is_for_tests_and_development(environ, modules, verdict, under_gunicorn):
    assert judge_memory(environ, modules) == verdict
    assert judge_memory({**environ, **GUNICORN}, modules) == under_gunicorn
