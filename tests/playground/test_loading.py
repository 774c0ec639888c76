"""Parts of the page that are loaded when they are first shown."""

from __future__ import annotations

import pytest

from tests.playground.conftest import WAIT

pytestmark = pytest.mark.slow


@pytest.fixture
def slow_page(browser):
    """A page with a clock that can be stopped: in a context of its own, because it is the clock of all its pages."""
    with browser.new_context() as context:
        context.set_default_timeout(WAIT)
        page = context.new_page()
        page.clock.install()
        yield page


def test_a_part_that_comes_while_the_next_request_is_drawn_is_shown(slow_page, service_url):
    page, held = slow_page, []
    page.route("**/assets/sides-*.js", lambda route: held.append(route))
    page.goto(f"{service_url}/playground")
    acts = page.get_by_role("navigation", name="Acts")
    acts.get_by_role("button", name="login", exact=True).wait_for()
    page.clock.pause_at(page.evaluate("Date.now() + 60_000"))
    with page.expect_request("**/assets/sides-*.js"):
        acts.get_by_role("button", name="login", exact=True).click()
        page.clock.run_for(1000)
    # What is done after drawing, at the next tick of the clock, finds the part there.
    acts.get_by_role("button", name="addCountry", exact=True).click()
    with page.expect_event("requestfinished"):
        held[0].continue_()
    page.clock.resume()
    page.get_by_role("region", name="Request").get_by_role("heading", name="addCountry").wait_for()
