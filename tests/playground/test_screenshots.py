"""The pictures of the docs, made anew into GATEWAYFW_SCREENSHOTS, such as docs/images; else one look is tried."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.playground.conftest import open_act, send, show_view
from tests.playground.front_end import ROOT

#: Bytes that a picture may have.
MOST = 140_000
WIDE, NARROW = {"width": 1280, "height": 640}, {"width": 390, "height": 844}


LOOKS = ["wide light", "wide dark", "narrow light", "narrow dark"]
if "GATEWAYFW_SCREENSHOTS" not in os.environ:
    del LOOKS[1:]


@pytest.fixture(params=LOOKS)
def look(request):
    """A width and a theme."""
    return request.param


@pytest.fixture
def options(look):
    """A browser of that width and theme."""
    width, theme = look.split()
    return {"viewport": WIDE if width == "wide" else NARROW, "color_scheme": theme}


@pytest.fixture
def picture(page, look, tmp_path):
    """A function that takes a picture of the page."""
    there = os.environ.get("GATEWAYFW_SCREENSHOTS")
    folder = ROOT / there if there else tmp_path

    def taken(name: str) -> Path:
        page.locator(".loading").wait_for(state="detached")
        page.locator(".notice").first.wait_for(state="detached")
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"playground-{name}-{look.replace(' ', '-')}.png"
        page.screenshot(path=path, animations="disabled", caret="hide")
        assert path.stat().st_size < MOST
        return path

    return taken


def test_pictures_of_the_views(page, login, picture):
    login()
    open_act(page, "getUsers")
    page.locator("[data-path='set.limit']").fill("2")
    page.get_by_role("button", name="Fields of units").click()
    for name in ("first_name", "units.name"):
        page.locator(f"[data-path='get.{name}']").check()
    send(page)
    picture("acts")
    page.get_by_role("tab", name="JSON").click()
    page.locator(".editor-host:not([hidden])").wait_for()
    page.locator(".cm-line").filter(has_text='"name": 1').locator("span").first.wait_for()  # coloured to its end
    picture("json")
    for view in ("schema", "sequences", "history", "downloads"):
        show_view(page, view)
        picture(view)
