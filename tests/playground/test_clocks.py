"""Pages whose clock a test sets."""

from __future__ import annotations

import time

import pytest

from tests.playground.conftest import WAIT

pytestmark = pytest.mark.slow


@pytest.fixture
def contexts(browser):
    """A context of the test's own, because a clock that is set is that of all pages to come."""
    with browser.new_context() as context:
        context.set_default_timeout(WAIT)
        yield lambda options: context


@pytest.mark.parametrize("days", [-30, 30])
def test_the_clock_of_the_service_decides_when_a_token_expires(page, login, days):
    page.clock.install(time=time.time() + 86_400 * days)
    page.reload()
    login()
    account = page.get_by_role("button", name="manager@example.com")
    assert "expired" not in account.inner_text()
    assert "it expires " in account.get_attribute("title")
