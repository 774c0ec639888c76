"""A test is skipped, with its reason, where a library of an extra is missing, and only there."""

from __future__ import annotations

import pytest

from gatewayfw.errors import missing_extra
from tests import missing

MESSAGES = [
    str(missing_extra("option", "waitress", "waitress")),
    "ModuleNotFoundError: No module named 'waitress'",
    "E   ModuleNotFoundError: No module named 'waitress.server'",
]


@pytest.mark.parametrize("text", MESSAGES)
def test_a_failure_for_want_of_a_library_names_it(monkeypatch, text):
    monkeypatch.setattr(missing, "is_missing", lambda module: module == "waitress")
    assert missing.missing_in(text) == "waitress"


@pytest.mark.parametrize("text", [*MESSAGES, "No module named 'gatewayfw.lost'", "assert 1 == 2"])
def test_where_it_is_installed_the_failure_stays(monkeypatch, text):
    monkeypatch.setattr(missing, "is_missing", lambda module: False)
    assert missing.missing_in(text) is None


def test_a_part_of_a_shared_package_counts(monkeypatch):
    monkeypatch.setattr(missing, "is_missing", lambda module: module.startswith("opentelemetry"))
    assert missing.missing_in("cannot import name 'trace' from 'opentelemetry' (x)") == "opentelemetry-api"


def test_a_module_that_no_extra_has_is_a_failure():
    assert missing.missing_in("No module named 'lost'") is None
