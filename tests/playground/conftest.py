"""A browser at the playground of a live sample service.

Whatever the page says on its console, breaks of its policy, and asks of another place fails the test.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.playground.service import sample_app, served

ROOT = Path(__file__).parents[2]
#: By preference: the first has no windows, which takes a fifth less time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
#: Pages that Chromium draws for its own windows, which nobody sees here; a quarter of the time of each test.
OWN_PAGES = "WebUIOmniboxPopup,WebUIOmniboxAimPopup"
ARGS = [
    f"--disable-features={OWN_PAGES}",
    # Pages that live for a second pay for machine code that they do not come to use.
    "--js-flags=--no-opt,--no-maglev",
    # A process of its own would be a sixth of the time of each page.
    "--renderer-process-limit=1",
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-lcd-text", "--force-device-scale-factor=1"),
]
#: Milliseconds that something may take to appear.
WAIT = 20_000


@pytest.fixture(scope="package")
def browser():
    """Chromium; only for the tests here, because its loop would be in the way of tests with loops of their own."""
    required = os.environ.get("GATEWAYFW_REQUIRE_BROWSER") == "1"
    if CHROMIUM is None and not required:
        pytest.skip("there is no chromium")
    assert CHROMIUM is not None, "GATEWAYFW_REQUIRE_BROWSER=1, and there is no chromium"
    sync_api = (
        pytest.importorskip("playwright.sync_api") if not required else __import__("playwright.sync_api").sync_api
    )
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def stage():
    """Serve an application at ``http://127.0.0.1:PORT``, which stays the same: ``stage(app)`` gives it.

    So the browser loads and compiles the scripts of the playground once.
    """
    shown = {}
    with served(lambda environ, start_response: shown["app"](environ, start_response)) as url:

        def show(app):
            shown["app"] = app
            return url

        yield show


@pytest.fixture
def service_url(stage):
    """Where a sample service of the test's own is."""
    return stage(sample_app())


@pytest.fixture
def options():
    """The options of the browser's context: override it for another width or theme."""
    return {"viewport": {"width": 1280, "height": 800}}


@pytest.fixture(scope="package")
def contexts(browser):
    """Give the browser's context of some options: each keeps the scripts, and forgets the rest before a test.

    Its first page is blank and stays open: the process of all its pages ends with the last of them.
    """
    kept = {}

    def context(options):
        key = json.dumps(options, sort_keys=True)
        if key not in kept:
            kept[key] = browser.new_context(**options)
            kept[key].set_default_timeout(WAIT)
            kept[key].new_page()
        return kept[key]

    return context


@pytest.fixture
def page(contexts, service_url, options):
    """A page at the playground; the catalog is there."""
    context = contexts(options)
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=service_url)
    page = context.new_page()
    kept = {"origin": service_url, "storageTypes": "cookies,local_storage"}
    context.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
    problems = watch(page, service_url)
    page.goto(f"{service_url}/playground")
    page.get_by_role("navigation", name="Views").wait_for()
    page.locator(".loading").wait_for(state="detached")
    yield page
    for one in context.pages[1:]:
        one.close()
    assert problems == []


def watch(page, origin: str) -> list[str]:
    """Return a list that grows with what a page must not do."""
    problems: list[str] = []
    page.on("console", lambda message: is_refusal(message) or problems.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    page.on("request", lambda request: is_own(request.url, origin) or problems.append(f"request: {request.url}"))
    page.expose_binding("reportViolation", lambda _source, text: problems.append(f"policy: {text}"))
    page.add_init_script(
        "addEventListener('securitypolicyviolation',"
        " (event) => reportViolation(`${event.violatedDirective} ${event.blockedURI}`))"
    )
    return problems


def is_refusal(message) -> bool:
    """Whether a message is the browser's own note that a call of an act was refused: no page can prevent it."""
    return message.text.startswith("Failed to load resource") and message.location["url"].endswith("/gateway")


def is_own(url: str, origin: str) -> bool:
    """Whether a request stays at the service; ``data:`` and ``blob:`` leave no machine."""
    return url.startswith((f"{origin}/", "data:", f"blob:{origin}/"))


@pytest.fixture
def login(page):
    """A function that logs a demo user in through the playground, by the name of the role; gives the role's id."""

    def done(role: str = "Manager") -> str:
        open_act(page, "login")
        page.get_by_label("email").fill(f"{role.lower()}@example.com")
        page.get_by_label("password").fill(f"demo-{role.lower()}")
        page.get_by_label("token", exact=True).check()
        page.get_by_label("roles", exact=True).check()
        send(page)
        page.get_by_role("button", name="Use it").click()
        page.get_by_role("button", name=f"{role.lower()}@example.com").wait_for()
        row = page.get_by_role("treeitem").filter(has_text="roleId").inner_text()
        return row.split('"')[1]

    return done


def empty(editor):
    """Remove all text of a JSON editor."""
    for _ in range(20):  # Keys that come right after the focus may meet the cursor that the focus sets.
        editor.press("Control+a")
        editor.press("Delete")
        if not editor.inner_text().strip():
            return
    raise AssertionError(editor.inner_text())


def open_act(page, act: str) -> None:
    """Open an act in a new tab."""
    toggle = page.get_by_role("button", name="All acts", exact=True)
    if toggle.is_visible() and toggle.get_attribute("aria-expanded") == "false":
        toggle.click()
    page.get_by_role("navigation", name="Acts").get_by_role("button", name=act, exact=True).click()
    page.get_by_role("region", name="Request").get_by_role("heading", name=act).wait_for()


def show_view(page, view: str) -> None:
    """Show a view, by its link in the header, and wait until it is loaded."""
    page.get_by_role("navigation", name="Views").locator(f"a[href='#/{view}']").click()
    page.locator(f".views a[href='#/{view}'][aria-current]").wait_for()
    page.locator(".loading").wait_for(state="detached")


def send(page) -> None:
    """Send the request and wait for the reply."""
    page.get_by_role("button", name="Send", exact=True).first.click()
    page.get_by_role("tree", name="Reply as a tree").wait_for()


def share(page) -> None:
    """Copy the link to the request that is open."""
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Share").click()
